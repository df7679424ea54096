/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler and the switch; or a stack above the MAC and what forwards for it. */
#include <inttypes.h>

#include "show.h"

static void put_list(FILE *out, const struct view *v, const struct counter_list *now,
		     const struct counter_list *then)
{
	for (unsigned int i = 0; i < now->n; i++) {
		const struct mf_counter *c = &now->counter[i];

		show_line(out, c->name, "%" PRIu64,
			  show_since(v, &v->clear_sched, c->merge, c->value, then->counter[i].value));
	}
}

static void put_edm(FILE *out, const struct view *v, const struct shown_table *sw)
{
	const struct mf_config_sched *c = &v->run->config->tier->sched;
	const struct shown_table sched = {.v = v,
					  .table = mf_sched_counters,
					  .now = &v->now.sched,
					  .cleared = &v->clear_sched,
					  .then = &v->clear_sched.sched};

	show_head(out, "Scheduler statistics");
	show_line(out, "policy", "%s/%s", c->policy, c->priority == MF_SCHED_SRPT ? "srpt" : "fcfs");
	show_table(out, &sched);
	put_list(out, v, &v->now.policy, &v->clear_sched.policy);
	show_end(out);
	show_head(out, "Switch statistics");
	show_table(out, sw);
	show_end(out);
}

/** Of what EDM's switch counts a switch of frames has the drops alone. */
static void put_frames(FILE *out, const struct view *v, const struct shown_table *sw)
{
	const struct mf_config *c = v->run->config;

	show_head(out, "Stack statistics");
	show_line(out, "stack", "%s", c->tier->stack.name);
	put_list(out, v, &v->now.stack, &v->clear_sched.stack);
	show_end(out);
	if (c->tier->direct)
		return;
	show_head(out, "Switch statistics");
	show_line(out, "bridge", "%s", c->tier->bridge.name);
	put_list(out, v, &v->now.bridge, &v->clear_sched.bridge);
	show_section(out, sw, "drops.switch");
	show_end(out);
}

void show_sched(FILE *out, struct view *v)
{
	const struct shown_table sw = {.v = v,
				       .table = mf_switch_counters,
				       .now = &v->now.sw,
				       .cleared = &v->clear_sched,
				       .then = &v->clear_sched.sw};

	if (!view_take(v, out))
		return;
	if (v->run->config->tier->stack_ops == NULL)
		put_edm(out, v, &sw);
	else
		put_frames(out, v, &sw);
}

void clear_sched(struct view *v)
{
	run_counters(v->run, &v->clear_sched);
}
