/* SPDX-License-Identifier: BSD-3-Clause */
/* What a line says of its fabric: nodes, pairs, X, chunk, window, scrambling. */
#include <string.h>

#include "bench.h"
#include "config/mf_config.h"

/** Compute and memory nodes that talk to each other. */
static unsigned int pairs(const struct mf_config *c)
{
	unsigned int n = 0;

	for (unsigned int w = 0; w < c->workloads; w++)
		for (unsigned int i = 0; i < c->workload[w].clients.n; i++)
			for (unsigned int k = 0; k < c->workload[w].targets.n; k++)
				n += c->workload[w].clients.node[i] != c->workload[w].targets.node[k];
	return n;
}

static bool scrambles(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->slots; i++)
		if (c->node[i].up && c->node[i].link.scramble)
			return true;
	return false;
}

json_t *bench_fabric_info(const char *path, bool virtual_clock)
{
	enum mf_clock clock = virtual_clock ? MF_CLOCK_VIRTUAL : MF_CLOCK_WALL;
	const char *slash = strrchr(path, '/');
	struct mf_config c;
	char err[BENCH_REASON];
	json_t *o;

	if (mf_config_load(path, &c, err, sizeof(err)) != 0)
		return NULL;
	o = json_pack("{s:s, s:i, s:i, s:i, s:i, s:b}", "file", slash != NULL ? slash + 1 : path, "nodes",
		      (int)c.nodes, "pairs", (int)pairs(&c), "x", (int)c.tier->sched.x, "chunk_octets",
		      (int)c.tier->sched.chunk[clock], "scrambling", scrambles(&c));
	if (!virtual_clock)
		json_object_set_new(o, "window_octets", json_integer(c.tier->sched.window));
	mf_config_free(&c);
	return o;
}
