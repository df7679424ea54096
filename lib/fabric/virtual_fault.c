/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the links under the virtual clock: between what is sent and the wire. */
#include <errno.h>
#include <stdlib.h>

#include "config_internal.h"
#include "virtual.h"

/** Who takes what the stage lets out. */
struct taker {
	struct virtual *v;
	struct wire *wire;
	mf_time after;
	int err;
};

static void take(void *ctx, struct mf_span *s)
{
	struct taker *t = ctx;
	int err;

	if (t->wire->cut)
		return;
	if (t->v->events != NULL)
		virtual_event_date(t->v, t->wire, s);
	err = wire_send(t->wire, s, t->after);
	t->v->f->info.spans++;
	if (err < 0)
		t->err = err;
}

int virtual_odd_send(struct virtual *v, struct wire *w, mf_time after)
{
	struct taker t = {.v = v, .wire = w, .after = after};

	if (w->cut)
		return 0;
	if (w->fault != NULL)
		mf_fault_send(w->fault, &v->span, take, &t);
	else
		take(&t, &v->span);
	return t.err;
}

int virtual_fault_release(struct virtual *v, struct wire *w, mf_time after)
{
	struct taker t = {.v = v, .wire = w, .after = after};

	mf_fault_run(w->fault, v->now, take, &t);
	return t.err;
}

/** The rules of one direction of a link, and which of the file's they are. */
static unsigned int rules_of(const struct mf_config *config, unsigned int sw, unsigned int node, bool up,
			     struct mf_fault_rule *rule, uint16_t *which)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++) {
		const struct mf_config_fault *f = &config->fault[i];

		if (f->class >= MF_FAULT_STAGE_CLASSES || f->sw != sw || !cfg_set_has(&f->link, node) ||
		    f->direction == (up ? MF_CONFIG_DOWN : MF_CONFIG_UP) ||
		    (f->class >= MF_FAULT_FLOOD && !up))
			continue;
		which[n] = (uint16_t)i;
		rule[n++] = (struct mf_fault_rule){
			.class = (uint8_t)f->class,
			.rate = f->rate,
			.from = f->from,
			.until = f->until,
			.time = f->time,
			.count = f->count,
			.to = f->to.node,
			.to_count = f->to.n,
		};
	}
	return n;
}

static int make(const struct virtual *v, unsigned int node, bool up, struct wire *w)
{
	const struct mf_config *config = v->f->config;
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	struct mf_fault_config c = {
		.rule = rule,
		.rules = rules_of(config, v->number, node, up, rule, which),
		.period = v->link[node].period,
		.seed = config->seed,
		.number = 2 * (uint64_t)node + !up + ((uint64_t)v->number << 32),
		.proto = config->stack_ops == NULL ? &config->proto : NULL,
		.node = (uint16_t)node,
		.nodes = (uint16_t)v->f->nodes,
	};

	if (c.rules == 0)
		return 0;
	for (unsigned int i = 0; i < c.rules; i++) /* it is load, and ends with that */
		if (rule[i].class >= MF_FAULT_FLOOD)
			rule[i].until = mf_time_min(rule[i].until, mf_time_max(v->f->stop, rule[i].from + 1));
	w->fault = mf_fault_new(&c);
	w->odd = true;
	return w->fault != NULL ? 0 : -errno;
}

int virtual_fault_init(struct virtual *v)
{
	int err = 0;

	if (v->f->config->faults == 0)
		return 0;
	for (unsigned int i = 0; i < v->f->nodes && err == 0; i++) {
		if (v->f->node[i].host == NULL)
			continue;
		err = make(v, i, true, &v->up[i]);
		if (err == 0)
			err = make(v, i, false, &v->down[i]);
	}
	return err;
}

/** What has fired, by the file's rules. */
static void count(struct virtual *v, unsigned int node, bool up, const struct mf_fault *fault)
{
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	unsigned int n = fault != NULL ? rules_of(v->f->config, v->number, node, up, rule, which) : 0;

	for (unsigned int i = 0; i < n; i++)
		v->f->fault_fired[which[i]] += mf_fault_fired(fault, i);
	if (n > 0 && mf_fault_witness(fault) != NULL)
		mf_witness_add(&v->f->witness, mf_fault_witness(fault));
}

void virtual_fault_fini(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		count(v, i, true, v->up[i].fault);
		count(v, i, false, v->down[i].fault);
		mf_fault_free(v->up[i].fault);
		mf_fault_free(v->down[i].fault);
	}
}
