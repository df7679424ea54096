/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler of a switch. */
#include <errno.h>
#include <string.h>

#include <rte_vect.h>

#include "fabric/mf_make.h"
#include "systems/mf_systems.h"

#define PORTS_MIN 2 /* stacks of frames never use the scheduler: it gets the smallest tables */

void fabric_sched_config(const struct fabric_tier *t, struct mf_sched_config *out)
{
	const struct mf_fabric *f = t->f;
	const struct mf_config_sched *c = &t->config->sched;

	*out = (struct mf_sched_config){
		.ports = t->config->stack_ops == NULL ? t->nodes : PORTS_MIN,
		.priority = c->priority,
		.order = c->order,
		.release = f->clock == MF_CLOCK_WALL ? MF_RELEASE_WINDOW : c->release,
		.chunk = c->chunk[f->clock],
		.x = c->x,
		.window = c->window,
		.iterations = c->iterations,
		.srpt_transfer = c->srpt_transfer,
		/* the switch counts those that it has, too */
		.tells_excess = f->config->backup.on || f->config->limits.outstanding > 0,
		.slots = f->clock == MF_CLOCK_VIRTUAL && c->slots,
		.chunk_overhead = mf_proto_chunk_blocks(&t->config->proto, 0),
		.max_simd_bits = rte_vect_get_max_simd_bitwidth(),
		.param = c->param,
		.insert = f->clock == MF_CLOCK_VIRTUAL && c->timed ? c->insert : 0,
		.iteration = f->clock == MF_CLOCK_VIRTUAL && c->timed ? c->iteration : 0,
	};

	for (unsigned int i = 0; i < out->ports; i++)
		out->period[i] = f->link[t->link[i]].period;
	/* 3.1.3: the next matching, log2(N) iterations, forms while the links are busy. */
	for (unsigned int n = 1; n < t->nodes; n *= 2)
		out->ahead += out->iteration;
}

struct mf_scheduler *make_sched(const struct mf_fabric *f, unsigned int number, char *err, size_t errlen)
{
	const struct fabric_tier *t = f->sw[number].tier;
	struct mf_sched_config s;
	const struct mf_sched_ops *ops = mf_policy_find(t->config->sched.policy);
	const struct mf_role_ops *kind =
		t->config->stack_ops == NULL ? &mf_scheduler_of_demands : &mf_scheduler_of_nothing;
	struct mf_scheduler *sched = NULL;
	struct mf_sched *policy;

	fabric_sched_config(t, &s);
	policy = ops != NULL ? ops->create(&s) : NULL;
	if (policy != NULL)
		sched = mf_scheduler_new(kind, ops, policy);
	if (sched == NULL)
		make_fail(err, errlen, "scheduler: cannot set it up: %s", strerror(errno));
	return sched;
}
