/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the Memory Latency Checker. Its MB has 1,000,000 octets. */
#include "hist_summary.h"
#include "table.h"

#define MB 1e6
#define COLUMN 12

void mlc_loaded_head(FILE *out, const struct run *r)
{
	int probe = plan_probe(&r->test, r->config);

	fprintf(out,
		"Measuring Loaded Latencies for the fabric\n"
		"Using Read-only traffic type, %u octets\n",
		test_size(&r->test));
	if (probe >= 0)
		fprintf(out,
			"Latency is of %s, which probes alone at depth 1; Bandwidth is of the load, "
			"clients: %u\n",
			r->config->node[probe].name, test_clients(&r->test, r->config));
	else
		fprintf(out,
			"Latency is of the load itself: all compute nodes make it, none is left to probe\n");
	fputs("Delay is from the start of an operation to the start of its client's next, in ns\n"
	      "Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n"
	      "Inject\tLatency\tBandwidth\n"
	      "Delay\t(ns)\tMB/sec\n"
	      "==========================\n",
	      out);
}

void mlc_loaded_line(FILE *out, const struct outcome *o)
{
	const struct mf_hist *h = outcome_latency(o, MF_MIX_READ, LATENCY_ROUND_TRIP);

	if (h != NULL)
		fprintf(out, " %05u\t%.2f\t%9.1f\n", (unsigned int)(o->point.delay / MF_NS(1)),
			hist_summary_of(h).mean, outcome_bandwidth(o) / MB);
}

static const struct outcome *find(const struct run *r, int compute, int memory)
{
	for (int i = 0; i < r->done; i++)
		if (r->outcome[i].point.compute == compute && r->outcome[i].point.memory == memory)
			return &r->outcome[i];
	return NULL;
}

void mlc_matrix(FILE *out, const struct run *r)
{
	uint16_t compute[MF_NODES_MAX], memory[MF_NODES_MAX];
	unsigned int memories = test_memory_nodes(r->config, memory);

	test_compute_nodes(r->test.plays, r->config, compute);
	fprintf(out,
		"Measuring Memory Bandwidths between nodes within the fabric\n"
		"Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n"
		"Using Read-only traffic type, %u octets, depth %u, each pair alone\n"
		"%*s\tMemory node\n%-*s",
		test_size(&r->test), test_depth(&r->test), COLUMN, "", COLUMN, "Compute node");
	for (unsigned int m = 0; m < memories; m++)
		fprintf(out, "\t%*s", COLUMN, r->config->node[memory[m]].name);
	fputc('\n', out);
	for (unsigned int c = 0; c < test_clients(&r->test, r->config); c++) {
		fprintf(out, "%*s", COLUMN, r->config->node[compute[c]].name);
		for (unsigned int m = 0; m < memories; m++) {
			const struct outcome *o = find(r, compute[c], memory[m]);

			if (o != NULL)
				fprintf(out, "\t%*.1f", COLUMN, outcome_bandwidth(o) / MB);
			else
				fprintf(out, "\t%*s", COLUMN, "-");
		}
		fputc('\n', out);
	}
}
