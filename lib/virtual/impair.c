/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the links under the virtual clock: between what is sent and the wire. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/mf_link_fault.h"
#include "memory/mf_region.h"
#include "virtual/virtual.h"

/** Who takes what the stage lets out. */
struct taker {
	struct virtual *v;
	struct wire *wire;
	mf_time after;
	int err;
};

/** What is sent on a wire at t arrives at t and this at the earliest, unless it is dated back. */
static mf_time ahead_of(const struct virtual *v, const struct wire *w)
{
	bool within = v->ahead != 0 && virtual_back(v, w)->class == w->class;

	return within ? v->within : v->ahead;
}

/**
 * Idle that is damaged comes late, but no sooner than anything that is sent now: so it does not matter what
 * the other side has done already. It is not put off as other spans are: who stands still does not look.
 * @return false: nobody sees it
 */
static bool date_idle(struct taker *t, struct mf_span *s)
{
	mf_time start = s->start;

	if (t->v->outages != NULL)
		virtual_outage_date(t->v, t->wire, s);
	if (s->start != start)
		return false;
	s->flags = MF_SPAN_FRAME;
	t->after = mf_time_max(t->after, t->v->now + ahead_of(t->v, t->wire));
	return true;
}

/** What is sent behind damaged idle comes behind it: a frame that waited for the link, too, dated back. */
static mf_time not_before(const struct taker *t)
{
	uint32_t n = wire_flights(t->wire);

	return n > 0 ? mf_time_max(t->after, wire_flight(t->wire, n - 1)->due) : t->after;
}

static void send(struct taker *t, struct mf_span *s)
{
	int err = wire_send(t->wire, s, not_before(t));

	t->v->f->info.spans++;
	if (err < 0)
		t->err = err;
}

/** Those behind the first n blocks of a span, which start at a time of their own. */
static void rest(struct mf_span *s, unsigned int n, mf_time start)
{
	s->count = (uint16_t)(s->count - n);
	s->start = start;
	memmove(s->word, s->word + n, s->count * sizeof(*s->word));
	memmove(s->sync, s->sync + n, s->count);
}

/** In pieces, where one of the ends comes to a stand meanwhile, or block by block. */
static void take(void *ctx, struct mf_span *s)
{
	struct taker *t = ctx;
	unsigned int left = s->count, n;
	mf_time start = s->start;

	if (t->wire->cut || (s->flags & MF_SPAN_IDLE && !date_idle(t, s)))
		return;
	while (left > 0) {
		n = t->v->outages != NULL ? virtual_outage_date(t->v, t->wire, s) : left;
		n = n < t->v->max ? n : t->v->max;
		s->count = (uint16_t)n;
		send(t, s);
		s->count = (uint16_t)left;
		left -= n;
		start += (mf_time)n * s->period;
		rest(s, n, start);
	}
}

int virtual_impair_send(struct virtual *v, struct wire *w, struct mf_span *span)
{
	struct taker t = {.v = v, .wire = w, .after = virtual_done(v, w)};

	if (w->cut)
		return 0;
	if (w->fault != NULL)
		mf_fault_send(w->fault, span, take, &t);
	else
		take(&t, span);
	return t.err;
}

int virtual_fault_release(struct virtual *v, struct wire *w)
{
	struct taker t = {.v = v, .wire = w, .after = virtual_done(v, w)};

	mf_fault_run(w->fault, v->now, take, &t);
	return t.err;
}

/* ---- what those know who forge ---- */

static struct mf_fault_secret look(void *ctx, unsigned int region, uint16_t node, unsigned int right)
{
	const struct virtual *v = ctx;
	const struct mf_fault_region *r = &v->region[region];
	struct mf_region_view view =
		mf_regions_look(v->f->node[r->node].regions, node, (enum mf_right)right, r->at);

	return (struct mf_fault_secret){.key = view.key,
					.may = view.may,
					.owns = view.owner == node,
					.claimable = v->claimable[region],
					.free = view.owner == MF_REGION_FREE};
}

static bool somebody_forges(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->faults; i++)
		if (c->fault[i].class == MF_FAULT_FORGE)
			return true;
	return false;
}

static int forge_init(struct virtual *v)
{
	const struct mf_fabric *f = v->f;

	if (!somebody_forges(f->config))
		return 0;
	v->region = calloc(f->regions, sizeof(*v->region));
	v->claimable = calloc(f->regions, sizeof(*v->claimable));
	if (v->region == NULL || v->claimable == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->regions; i++) {
		struct mf_fault_region *r = &v->region[i];

		*r = (struct mf_fault_region){
			.at = f->region[i].at, .size = f->region[i].size, .node = f->region[i].node};
		v->claimable[i] = mf_regions_look(f->node[r->node].regions, 0, MF_RIGHT_READ, r->at).owner ==
				  MF_REGION_FREE;
	}
	v->forging = true;
	return 0;
}

void virtual_fault_hear(struct virtual *v, unsigned int node)
{
	struct mf_fault *fault = v->node[node].out->fault;

	if (fault != NULL)
		mf_fault_hear(fault, &v->span);
}

/* ---- stages ---- */

/** One direction of a link: what an end of it sends. */
static int make(struct virtual *v, uint32_t link, unsigned int end)
{
	const struct mf_fault_secrets secrets = {
		.region = v->region, .regions = v->f->regions, .look = look, .ctx = v};
	struct wire *w = &v->wire[v->graph->link[link].end[!end]];
	int err = link_fault_new(v->f, link, end, v->f->link[link].period, &secrets, &w->fault);

	w->impaired |= w->fault != NULL;
	return err;
}

int virtual_fault_init(struct virtual *v)
{
	int err;

	if (v->f->config->faults == 0)
		return 0;
	err = forge_init(v);
	for (uint32_t i = 0; i < v->graph->links && err == 0; i++) {
		const struct mf_vertex *r = &v->graph->role[v->graph->end[v->graph->link[i].end[0]].role];

		if (r->kind == MF_VERTEX_NODE && v->f->node[r->number].host == NULL)
			continue;
		err = make(v, i, 0);
		if (err == 0)
			err = make(v, i, 1);
	}
	return err;
}

void virtual_fault_fini(struct virtual *v)
{
	for (uint32_t i = 0; i < v->graph->links; i++)
		for (unsigned int end = 0; end < 2; end++)
			link_fault_over(v->f, i, end, v->wire[v->graph->link[i].end[!end]].fault);
	free(v->region);
	free(v->claimable);
}
