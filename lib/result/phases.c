/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result: warm-up, steady state and drain apart, and what had not ended when the run did. So every
 * operation that was offered is completed, failed, under way, or was never begun, and is counted as that.
 */
#include "fabric/mf_fabric_state.h"
#include "measure/mf_drain.h"
#include "result/mf_result.h"

/** An operation is offered when it is intended, in a closed loop when it begins: in the warm-up or after. */
struct offered {
	uint64_t messages, octets; /**< octets: of those that have begun */
	uint64_t not_begun;
};

static void add_totals(struct mf_client_totals *sum, const struct mf_client_totals *t)
{
	sum->begun += t->begun;
	sum->completed += t->completed;
	sum->failed += t->failed;
	sum->octets_begun += t->octets_begun;
	sum->octets_completed += t->octets_completed;
	sum->octets_failed += t->octets_failed;
}

static void add_offered(const struct mf_fabric *f, unsigned int i, struct offered *warmup,
			struct offered *steady)
{
	mf_time measure = node_clock(f, i, mf_time_min(f->measure, f->stop)),
		ended = node_clock(f, i, f->ended);
	const struct mf_client *c = f->node[i].client;
	const struct mf_client_stats *s = mf_client_stats(c);

	warmup->messages += s->unmeasured.begun;
	warmup->octets += s->unmeasured.octets_begun;
	for (int k = 0; k < MF_CLIENT_KINDS; k++) {
		steady->messages += s->kind[k].begun;
		steady->octets += s->kind[k].octets_begun;
	}
	warmup->not_begun += mf_client_not_begun(c, 0, mf_time_min(measure, ended));
	steady->not_begun += mf_client_not_begun(c, measure, ended);
}

static json_t *side_json(uint64_t offered, uint64_t begun, uint64_t completed, uint64_t failed)
{
	json_t *o = json_object();

	result_count(o, "offered", offered);
	result_count(o, "begun", begun);
	result_count(o, "completed", completed);
	result_count(o, "failed", failed);
	return o;
}

static json_t *phase_json(const struct mf_client_totals *t, const struct offered *offered, mf_time from,
			  mf_time to)
{
	json_t *o = json_object();

	result_count(o, "from_ps", from);
	result_count(o, "to_ps", to);
	json_object_set_new(
		o, "messages",
		side_json(offered->messages + offered->not_begun, t->begun, t->completed, t->failed));
	json_object_set_new(
		o, "octets",
		side_json(offered->octets, t->octets_begun, t->octets_completed, t->octets_failed));
	return o;
}

/** All clients together. */
struct phases {
	struct mf_client_totals phase[MF_CLIENT_PHASES], all;
	struct offered offered[MF_CLIENT_PHASES]; /**< nothing in the drain */
};

static void phases_of(const struct mf_fabric *f, struct phases *p)
{
	*p = (struct phases){0};
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_client *c = f->node[i].client;

		if (c == NULL)
			continue;
		for (unsigned int k = 0; k < MF_CLIENT_PHASES; k++) {
			struct mf_client_totals t =
				mf_client_totals(mf_client_stats(c), (enum mf_client_phase)k);

			add_totals(&p->phase[k], &t);
			add_totals(&p->all, &t);
		}
		add_offered(f, i, &p->offered[MF_CLIENT_WARMUP], &p->offered[MF_CLIENT_STEADY]);
	}
}

static json_t *end_json(const struct mf_fabric *f, const struct phases *p)
{
	const struct mf_client_totals *t = &p->all;
	const struct drain d = drain_of(f);
	uint64_t not_reached = 0;
	json_t *o = json_object();

	result_count(o, "under_way", t->begun - t->completed - t->failed);
	result_count(o, "octets_under_way", t->octets_begun - t->octets_completed - t->octets_failed);
	result_count(o, "never_begun",
		     p->offered[MF_CLIENT_WARMUP].not_begun + p->offered[MF_CLIENT_STEADY].not_begun);
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL)
			not_reached += mf_client_not_reached(f->node[i].client);
	result_count(o, "not_reached", not_reached);
	result_count(o, "late_writes", d.late_writes);
	if (d.enough > 0)
		result_count(o, "drain_enough_ps", d.enough);
	return o;
}

json_t *phases_json(const struct mf_fabric *f)
{
	static const char *const name[MF_CLIENT_PHASES] = {"warmup", "steady", "drain"};
	const mf_time end[MF_CLIENT_PHASES] = {mf_time_min(f->measure, f->stop), f->stop, f->ended};
	json_t *o = json_object();
	mf_time from = 0, to;
	struct phases p;

	phases_of(f, &p);
	for (unsigned int k = 0; k < MF_CLIENT_PHASES; k++, from = to) {
		to = mf_time_min(end[k], f->ended);
		json_object_set_new(o, name[k], phase_json(&p.phase[k], &p.offered[k], from, to));
	}
	json_object_set_new(o, "end", end_json(f, &p));
	return o;
}

/** Nothing is known of those that have not begun: the mean of the others. */
static uint64_t mean_octets(const struct offered *o)
{
	return o->messages > 0 ? o->octets / o->messages : 0;
}

void result_steady(const struct mf_fabric *f, struct result_flow *messages, struct result_flow *octets)
{
	const struct mf_client_totals *before, *t;
	const struct offered *warmup, *steady;
	struct phases p;

	phases_of(f, &p);
	before = &p.phase[MF_CLIENT_WARMUP];
	t = &p.phase[MF_CLIENT_STEADY];
	warmup = &p.offered[MF_CLIENT_WARMUP];
	steady = &p.offered[MF_CLIENT_STEADY];
	*messages = (struct result_flow){
		.waiting = warmup->messages + warmup->not_begun - before->completed - before->failed,
		.offered = steady->messages + steady->not_begun,
		.completed = t->completed,
		.over = t->completed + t->failed,
	};
	*octets = (struct result_flow){
		.waiting = warmup->octets - before->octets_completed - before->octets_failed,
		.offered = steady->octets + mean_octets(steady) * steady->not_begun,
		.completed = t->octets_completed,
		.over = t->octets_completed + t->octets_failed,
	};
}
