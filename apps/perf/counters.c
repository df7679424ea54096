/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int counters_init(struct counters *c, unsigned int ports)
{
	*c = (struct counters){.ports = ports, .port = calloc(ports, sizeof(*c->port))};
	return c->port != NULL ? 0 : -ENOMEM;
}

void counters_fini(struct counters *c)
{
	free(c->port);
	c->port = NULL;
}

void counters_take(struct counters *c, struct mf_fabric *f, const struct mf_config *config,
		   unsigned int generation)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	c->host = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	c->fabric = mf_fabric_now(f);
	c->generation = generation;
	mf_fabric_hold(f);
	for (unsigned int p = 0; p < c->ports; p++)
		xstats_take(f, config, p, c->port[p]);
	c->stack.n = mf_fabric_stack(f, 0, 0, c->ports, c->stack.counter);
	mf_fabric_let_go(f);
	c->bridge.n = mf_fabric_bridge(f, 0, c->bridge.counter);
	c->policy.n = mf_fabric_policy(f, 0, c->policy.counter);
	mf_fabric_sched(f, &c->sched);
	mf_fabric_switch(f, &c->sw);
}

void counters_copy(struct counters *to, const struct counters *from)
{
	uint64_t(*port)[XSTATS] = to->port;

	memcpy(port, from->port, from->ports * sizeof(*port));
	*to = *from;
	to->port = port;
}
