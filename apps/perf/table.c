/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <inttypes.h>
#include <math.h>

#include "hist_summary.h"
#include "setting.h"

#define US 1000.0 /* ns */
#define MIB 1048576.0
#define TEXT 256

static const char dashes[] =
	"---------------------------------------------------------------------------------------------------";

/* The tables of perftest */

static void latency_columns(FILE *out)
{
	fprintf(out, " %-9s %-12s %12s %12s %16s %12s %14s %22s %24s\n", "#bytes", "#iterations",
		"t_min[usec]", "t_max[usec]", "t_typical[usec]", "t_avg[usec]", "t_stdev[usec]",
		"99% percentile[usec]", "99.9% percentile[usec]");
}

static void latency_line(FILE *out, uint32_t size, const struct mf_hist *h)
{
	struct hist_summary f = hist_summary_of(h);

	fprintf(out, " %-9u %-12" PRIu64 " %12.3f %12.3f %16.3f %12.3f %14.3f %22.3f %24.3f\n", size, f.count,
		f.min / US, f.max / US, f.p50 / US, f.mean / US, f.stdev / US, f.p99 / US, f.p99_9 / US);
}

static void bandwidth_columns(FILE *out, bool gbits)
{
	const char *unit = gbits ? "Gb" : "MiB";
	char peak[TEXT], average[TEXT];

	snprintf(peak, sizeof(peak), "BW peak[%s/sec]", unit);
	snprintf(average, sizeof(average), "BW average[%s/sec]", unit);
	fprintf(out, " %-9s %-12s %18s %21s %15s\n", "#bytes", "#iterations", peak, average, "MsgRate[Mpps]");
}

static void bandwidth_line(FILE *out, const struct outcome *o, bool gbits)
{
	double unit = gbits ? 1e9 / 8 : MIB;

	fprintf(out, " %-9u %-12" PRIu64 " %18.3f %21.3f %15.6f\n", o->point.size, o->iterations,
		o->peak / unit, outcome_bandwidth(o) / unit, outcome_rate(o) / 1e6);
}

/** The kind of operation and latency that the first table of a latency test shows. */
static void first_series(const struct run *r, enum mf_mix *kind, enum latency *l)
{
	*kind = test_info(r->test.kind)->mix;
	*l = LATENCY_ROUND_TRIP;
	if (*kind == MF_MIX_WRITE && test_unacknowledged(&r->test, r->clock)) {
		*l = LATENCY_EFFECT;
	} else if (*kind == MF_MIX_WRITE) {
		*kind = MF_MIX_WRITE_ACK;
		*l = LATENCY_ACKNOWLEDGED;
	}
	if (r->test.rate > 0)
		*l = LATENCY_INTENDED;
}

/** A table of one kind, where it has anything. */
static void latency_table(FILE *out, const struct run *r, enum mf_mix kind, enum latency l)
{
	bool begun = false;

	for (int i = 0; i < r->done; i++) {
		const struct mf_hist *h = outcome_latency(&r->outcome[i], kind, l);

		if (h == NULL)
			continue;
		if (!begun)
			fprintf(out, "\n Latency of %s under this load: %s\n", mf_config_mix_name(kind),
				latency_meaning(l));
		if (!begun)
			latency_columns(out);
		begun = true;
		latency_line(out, kind >= MF_MIX_CAS && kind <= MF_MIX_AND ? 8 : r->outcome[i].point.size, h);
	}
}

/* Head */

static void put_setting(FILE *out, const struct run *r, const char *name, enum setting s)
{
	char text[TEXT];

	fprintf(out, " %-16s : %s\n", name,
		setting_put(&r->test, s, r->config, r->clock, text, sizeof(text)));
}

static void put_fabric(FILE *out, const struct run *r)
{
	const struct mf_config *c = r->config;
	uint16_t node[MF_NODES_MAX];
	unsigned int compute = test_compute_nodes(NULL, c, node), memory = test_memory_nodes(c, node);

	if (mf_config_switch_count(c) == 0) {
		fprintf(out, " %-16s : %s, a link between two nodes, stack %s\n", "Fabric",
			c->name[0] != '\0' ? c->name : "unnamed", c->tier->stack.name);
		fprintf(out, " %-16s : %" PRIu64 "\n", "Seed", c->seed);
		return;
	}
	if (c->switches > 0) {
		fprintf(out, " %-16s : %s, %u compute and %u memory nodes, %u switches, stack %s\n", "Fabric",
			c->name[0] != '\0' ? c->name : "unnamed", compute, memory, c->switches,
			c->tier->stack.name);
		fprintf(out, " %-16s : %" PRIu64 "\n", "Seed", c->seed);
		return;
	}
	fprintf(out, " %-16s : %s, %u compute and %u memory nodes, switch of %u ports, %s/%s, chunk %u B\n",
		"Fabric", c->name[0] != '\0' ? c->name : "unnamed", compute, memory, c->slots,
		c->tier->sched.policy, c->tier->sched.priority == MF_SCHED_SRPT ? "srpt" : "fcfs",
		c->tier->sched.chunk[r->clock]);
	fprintf(out, " %-16s : %" PRIu64 "\n", "Seed", c->seed);
}

/** What this process plays of it. */
static void put_roles(FILE *out, const struct run *r)
{
	const char *comma = "";

	fprintf(out, " %-16s : ", "This process");
	for (unsigned int i = 0; i < r->config->slots; i++)
		if (r->test.plays->node[i]) {
			fprintf(out, "%s%s", comma, r->config->node[i].name);
			comma = ", ";
		}
	for (unsigned int k = 0; k < mf_config_switch_count(r->config); k++)
		if (r->test.plays->sw[k]) {
			fprintf(out, "%s%s", comma, mf_config_switch_name(r->config, k));
			comma = ", ";
			if (mf_config_sched_name(r->config, k) != NULL)
				fprintf(out, ", %s", mf_config_sched_name(r->config, k));
		}
	fputc('\n', out);
}

/** Which latency is meant: nothing is halved, and nothing is called what it is not. */
static void put_meaning(FILE *out, const struct run *r)
{
	enum mf_mix kind;
	enum latency l;

	first_series(r, &kind, &l);
	if (test_info(r->test.kind)->latency || r->test.kind == TEST_MIXED)
		fputs(" Nothing is divided by two: READ and ATOMIC latency is the full round trip.\n", out);
	if (r->test.kind == TEST_WRITE_LAT || r->test.kind == TEST_MIXED)
		fprintf(out, " WRITE latency is %s.\n",
			test_unacknowledged(&r->test, r->clock) ? latency_meaning(LATENCY_EFFECT)
								: latency_meaning(LATENCY_ACKNOWLEDGED));
	if (test_info(r->test.kind)->latency && l == LATENCY_INTENDED)
		fprintf(out, " Open loop: the first table is %s.\n", latency_meaning(l));
	if (r->test.kind == TEST_WRITE_BW && test_unacknowledged(&r->test, r->clock))
		fputs(" WRITE is not acknowledged: it is over for its client when it has left the node.\n",
		      out);
}

void table_head(FILE *out, const struct run *r, bool gbits)
{
	char title[TEXT];
	int len = snprintf(title, sizeof(title), "%s (%s clock)", test_info(r->test.kind)->title,
			   r->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall");

	fprintf(out, "%s\n%*s\n", dashes, (int)(sizeof(dashes) - 1 + (size_t)len) / 2, title);
	fprintf(out, " %-16s : %s\n", "Clock",
		r->clock == MF_CLOCK_VIRTUAL ? "virtual: what the modelled hardware does"
					     : "wall: what this software does on this machine");
	put_fabric(out, r);
	if (r->test.plays != NULL)
		put_roles(out, r);
	put_setting(out, r, "Clients", SETTING_CLIENTS);
	put_setting(out, r, "Depth", SETTING_DEPTH);
	put_setting(out, r, "Loop", SETTING_RATE);
	if (r->test.kind != TEST_BANDWIDTH_MATRIX)
		put_setting(out, r, "Pattern", SETTING_PATTERN);
	put_setting(out, r, "Operations", SETTING_MIX);
	put_meaning(out, r);
	fprintf(out, "%s\n", dashes);
	if (r->test.kind == TEST_LOADED_LATENCY)
		mlc_loaded_head(out, r);
	else if (test_info(r->test.kind)->latency)
		latency_columns(out);
	else if (!test_info(r->test.kind)->matrix)
		bandwidth_columns(out, gbits);
	fflush(out);
}

void table_line(FILE *out, const struct run *r, const struct outcome *o, bool gbits)
{
	const struct mf_hist *h;
	enum mf_mix kind;
	enum latency l;

	first_series(r, &kind, &l);
	h = outcome_latency(o, kind, l);
	if (r->test.kind == TEST_LOADED_LATENCY)
		mlc_loaded_line(out, o);
	else if (test_info(r->test.kind)->latency && h != NULL)
		latency_line(out, o->point.size, h);
	else if (!test_info(r->test.kind)->latency && !test_info(r->test.kind)->matrix)
		bandwidth_line(out, o, gbits);
	fflush(out);
}

/* End */

/** The latencies that the first table has not shown. */
static void put_latencies(FILE *out, const struct run *r)
{
	enum mf_mix kind, k;
	enum latency first, l;

	first_series(r, &kind, &first);
	for (k = 0; k < MF_MIXES; k++)
		for (l = 0; l < LATENCIES; l++)
			if (!test_info(r->test.kind)->latency || k != kind || l != first)
				latency_table(out, r, k, l);
}

/** What was asked for, beside what was done. */
static void put_offered(FILE *out, const struct run *r)
{
	for (int i = 0; i < r->done; i++) {
		const struct outcome *o = &r->outcome[i];

		fprintf(out, " %-9u offered %.6f Mpps, done %.6f Mpps, %.1f %%%s\n", o->point.size,
			o->offered / 1e6, outcome_rate(o) / 1e6, outcome_rate(o) / o->offered * 100,
			outcome_saturated(o) ? ": saturated" : "");
	}
}

static void put_verdict(FILE *out, const struct run *r)
{
	uint64_t iterations = 0, verified = 0, unverified = 0, mismatches = 0, failed = 0;
	bool interrupted = false;
	double share = 1;

	for (int i = 0; i < r->done; i++) {
		const struct outcome *o = &r->outcome[i];

		iterations += o->iterations;
		verified += o->verified;
		unverified += o->unverified;
		mismatches += o->mismatches;
		failed += o->failed;
		interrupted |= o->interrupted;
		if (json_is_true(json_object_get(o->run, "oversubscribed")))
			share = fmin(share, json_number_value(json_object_get(o->run, "cpu_share")));
	}
	fprintf(out,
		" %" PRIu64 " operations measured, %" PRIu64 " failed; %" PRIu64 " results verified, %" PRIu64
		" of them wrong, %" PRIu64 " not verifiable\n",
		iterations, failed, verified, mismatches, unverified);
	if (r->wrote && r->test.unverified)
		fputs(" not verified: memory of other processes holds what an earlier run has written\n",
		      out);
	if (share < 1)
		fprintf(out,
			" oversubscribed: its lcores had %.1f %% of their CPUs' time; latencies are those of "
			"waiting for a CPU\n",
			share * 100);
	if (interrupted || r->done < r->points)
		fprintf(out, " interrupted: %d of %d runs%s\n", r->done, r->points,
			interrupted ? ", the last one not to its end" : "");
}

void table_end(FILE *out, const struct run *r)
{
	if (r->test.kind == TEST_BANDWIDTH_MATRIX)
		mlc_matrix(out, r);
	else if (r->test.kind != TEST_LOADED_LATENCY)
		put_latencies(out, r);
	fprintf(out, "%s\n", dashes);
	if (r->test.rate > 0)
		put_offered(out, r);
	put_verdict(out, r);
	fflush(out);
}

void table_all(FILE *out, const struct run *r, bool gbits)
{
	table_head(out, r, gbits);
	for (int i = 0; i < r->done; i++)
		table_line(out, r, &r->outcome[i], gbits);
	table_end(out, r);
}
