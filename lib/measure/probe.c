/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cores say through their probe (mf_timing.h), and who listens. */
#include <errno.h>

#include "measure/mf_delivery.h"
#include "measure/mf_message_log.h"
#include "measure/mf_stages.h"
#include "spaces/mf_spaces.h"

static void stamp(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage, mf_time from,
		  mf_time to)
{
	const struct mf_fabric *f = ctx;

	(void)cn, (void)mn, (void)id;
	stages_stamp(f->stages, stage, from, to);
}

static void start(void *ctx, bool write)
{
	const struct mf_fabric *f = ctx;

	stages_start(f->stages, write);
}

static void begun(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint64_t user, mf_time submitted)
{
	struct mf_fabric *f = ctx;

	f->writes_begun++;
	pending_put(&f->pending, cn, mn, id, user, submitted);
}

/** A write whose first or last octet has taken effect; what is not its last piece has no end of its own. */
static void effect_of(struct mf_fabric *f, uint16_t cn, struct pending_write *w, bool begins, bool last,
		      mf_time first, mf_time done)
{
	if (begins && f->messages != NULL)
		messages_first(f->messages, cn, w->user, first);
	if (!last)
		return;
	if (w->submitted != MF_NEVER) {
		delivery_effect(f->delivery, w->submitted, done);
		if (f->messages != NULL)
			messages_effect(f->messages, cn, w->user, done);
	}
	f->writes_effective++;
	pending_take(&f->pending, w);
}

/** How long what a node sends is on links at least, until it is at another one. */
static mf_time on_links(const struct mf_fabric *f, uint16_t from, uint16_t to)
{
	const struct fabric_tier *tier = fabric_common_tier(f, from, to);
	mf_time t =
		f->link[tier->link[tier->number[from]]].delay + f->link[tier->link[tier->number[to]]].delay;

	if (!f->config->backup.on)
		return t;
	return mf_time_min(t, f->link[fabric_link(f, 1, from)].delay + f->link[fabric_link(f, 1, to)].delay);
}

/**
 * A node that was started again uses the ids of its former life, of which a chunk may still be in the switch:
 * what takes effect too soon for a write is not that write.
 */
static bool is_too_soon(const struct mf_fabric *f, uint16_t cn, uint16_t mn, const struct pending_write *w,
			mf_time first)
{
	return w->submitted != MF_NEVER && first < w->submitted + on_links(f, cn, mn);
}

static void effect(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
		   bool last, mf_time first, mf_time done)
{
	struct mf_fabric *f = ctx;
	struct pending_write *w;

	delivery_chunk(f->delivery, DELIVERY_WRITE, cn, mn, id, offset, octets, last, first, done);
	if (last || offset == 0) {
		w = pending_find(&f->pending, cn, mn, id);
		if (w != NULL && !is_too_soon(f, cn, mn, w, first))
			effect_of(f, cn, w, offset == 0, last, first, done);
	}
	if (last && f->stages != NULL)
		stages_effect(f->stages, done);
}

static void response(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
		     bool last, mf_time first, mf_time done)
{
	const struct mf_fabric *f = ctx;

	delivery_chunk(f->delivery, DELIVERY_READ, cn, mn, id, offset, octets, last, first, done);
}

/* The same of a network whose nodes have other numbers than in the fabric. */

static void tier_begun(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint64_t user, mf_time submitted)
{
	const struct fabric_tier *t = ctx;

	t->f->probe.begun(t->f->probe.ctx, t->node[cn], t->node[mn], id, user, submitted);
}

static void tier_effect(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
			bool last, mf_time first, mf_time done)
{
	const struct fabric_tier *t = ctx;

	t->f->probe.effect(t->f->probe.ctx, t->node[cn], t->node[mn], id, offset, octets, last, first, done);
}

static void tier_response(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
			  bool last, mf_time first, mf_time done)
{
	const struct fabric_tier *t = ctx;

	t->f->probe.response(t->f->probe.ctx, t->node[cn], t->node[mn], id, offset, octets, last, first,
			     done);
}

/** Of each network. */
static void init_tiers(struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->tiers; k++) {
		struct fabric_tier *t = &f->tier[k];

		t->probe = f->probe; /* stages are of a run without tiers */
		if (fabric_is_plain(f))
			continue;
		t->probe.begun = tier_begun;
		t->probe.effect = tier_effect;
		t->probe.response = tier_response;
		t->probe.ctx = t;
	}
}

/** Whether writes of all pairs take effect as they were begun. */
static bool all_ordered(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->tiers; k++) {
		const struct mf_stack_ops *stack = f->tier[k].config->stack_ops;

		if (stack != NULL && !stack->ordered)
			return false;
	}
	return true;
}

int probe_init(struct mf_fabric *f)
{
	bool ordered = all_ordered(f);

	f->delivery = delivery_new(f);
	if (f->delivery == NULL || pending_init(&f->pending, (uint16_t)f->nodes, ordered) != 0)
		return -ENOMEM;
	if (f->config->report_messages || f->config->report_normalised) {
		f->messages = messages_new(f->nodes);
		if (f->messages == NULL)
			return -ENOMEM;
	}
	f->probe = (struct mf_probe){.effect = effect, .response = response, .begun = begun, .ctx = f};
	if (f->config->report_stages) {
		f->stages = stages_new(&f->tier->timing);
		f->probe.stamp = stamp;
		f->probe.start = start;
	}
	init_tiers(f);
	return f->stages != NULL || !f->config->report_stages ? 0 : -ENOMEM;
}

uint64_t fabric_failed_writes(const struct mf_fabric *f, unsigned int i)
{
	const struct node *n = &f->node[i];
	struct mf_spaces_stats s = {.failed_writes = 0};

	if (n->layer != NULL && n->layer->ops == &mf_spaces_layer)
		mf_spaces_stats(n->layer, &s);
	return s.failed_writes + (n->client != NULL ? mf_client_stats(n->client)->failed_all : 0);
}

uint64_t fabric_lost_writes(const struct mf_fabric *f)
{
	uint64_t gone = f->writes_begun - f->writes_effective, failed = 0;

	if (f->clock != MF_CLOCK_VIRTUAL || !f->quiet)
		return 0;
	for (unsigned int i = 0; i < f->nodes; i++)
		failed += fabric_failed_writes(f, i);
	return gone > failed ? gone - failed : 0;
}
