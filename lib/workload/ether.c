/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordinary Ethernet frames: an open loop of each flow, and a receiver that looks at every octet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "workload/arrival.h"
#include "workload/ether_frame.h"
#include "workload/mf_workload.h"
#include "workload/sequence.h"

struct flow {
	struct arrival arrival;
	struct mf_rng choice;
	uint16_t *target;
	uint32_t targets;
	uint16_t len; /**< without FCS */
	mf_time interval;
};

struct mf_ether {
	struct mf_node *host;
	struct flow *flow;
	unsigned int flows;
	uint16_t node;
	bool waiting; /**< frame is made, of flow sending, and not sent yet */
	struct flow *sending;
	struct ether_fields fields;
	mf_time retry; /**< not before: the result must not depend on how often run() is called */
	mf_time stop, measure;
	struct mf_ether_stats stats;
	uint16_t nodes;
	uint64_t *sent_to; /**< [nodes] */
	_Alignas(8) uint8_t frame[ETHER_FRAME_MAX];
	struct sequence from[]; /**< [nodes], and then what sent_to points to */
};

static void receive(void *ctx, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct mf_ether *e = ctx;
	struct ether_fields f;
	enum ether_verdict verdict = ether_frame_get(frame, len, e->node, &f);
	enum sequence_verdict order;
	uint64_t gap;

	if (verdict == ETHER_OURS && f.sender >= e->nodes)
		verdict = ETHER_DAMAGED;
	if (verdict != ETHER_OURS) {
		e->stats.foreign += verdict == ETHER_FOREIGN;
		e->stats.damaged += verdict == ETHER_DAMAGED;
		return;
	}
	order = sequence_take(&e->from[f.sender], f.number, &gap);
	if (order == SEQUENCE_AGAIN) {
		e->stats.duplicated++;
		return;
	}
	e->stats.lost += gap;
	e->stats.lost -= order == SEQUENCE_LATE;
	e->stats.reordered += order == SEQUENCE_LATE;
	e->stats.received++;
	if (f.intended >= e->measure) {
		e->stats.octets += len + ETHER_FCS;
		if (at >= f.intended)
			mf_hist_add(&e->stats.latency, at - f.intended);
		else
			e->stats.early++;
	}
}

static int targets_copy(struct flow *w, const struct mf_ether_flow *config, uint16_t node, uint16_t nodes)
{
	w->target = calloc(config->targets_count, sizeof(*w->target));
	if (w->target == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < config->targets_count; i++) {
		if (config->targets[i] >= nodes)
			return -EINVAL;
		if (config->targets[i] != node)
			w->target[w->targets++] = config->targets[i];
	}
	return w->targets > 0 ? 0 : -EINVAL;
}

static int flow_init(struct flow *w, const struct mf_ether_config *config, unsigned int i)
{
	const struct mf_ether_flow *c = &config->flows[i];
	uint64_t number = (uint64_t)config->node << 32 | i;

	if (c->size < ETHER_FRAME_MIN + ETHER_FCS || c->size > ETHER_FRAME_MAX + ETHER_FCS)
		return -EINVAL;
	if (c->interval == 0 || c->targets == NULL || c->targets_count == 0)
		return -EINVAL;
	w->len = c->size - ETHER_FCS;
	w->interval = c->interval;
	mf_rng_init(&w->arrival.rng, config->seed, "ether.arrival", number);
	mf_rng_init(&w->choice, config->seed, "ether.choice", number);
	arrival_start(&w->arrival, config->start, c->interval, c->poisson);
	return targets_copy(w, c, config->node, config->nodes);
}

static int flows_init(struct mf_ether *e, const struct mf_ether_config *config)
{
	int err = 0;

	if (config->flows_count == 0)
		return 0;
	e->flow = calloc(config->flows_count, sizeof(*e->flow));
	if (e->flow == NULL)
		return -ENOMEM;
	for (; !err && e->flows < config->flows_count; e->flows++)
		err = flow_init(&e->flow[e->flows], config, e->flows);
	return err;
}

struct mf_ether *mf_ether_new(const struct mf_ether_config *config)
{
	struct mf_ether *e;
	int err;

	if (config->host == NULL || config->node >= config->nodes ||
	    (config->flows_count > 0 && config->flows == NULL)) {
		errno = EINVAL;
		return NULL;
	}
	/* A table: of its histogram and of the places of all nodes little is ever used. */
	e = mf_table_new(1, sizeof(*e) + config->nodes * (sizeof(e->from[0]) + sizeof(e->sent_to[0])));
	if (e == NULL)
		return NULL;
	e->nodes = config->nodes;
	e->sent_to = (uint64_t *)(e->from + e->nodes);
	e->node = config->node;
	e->stop = config->stop;
	e->measure = config->measure;
	err = flows_init(e, config);
	if (err) {
		mf_ether_free(e);
		errno = -err;
		return NULL;
	}
	e->host = config->host;
	mf_node_on_frame(e->host, receive, e);
	return e;
}

void mf_ether_free(struct mf_ether *e)
{
	if (e == NULL)
		return;
	if (e->host != NULL)
		mf_node_on_frame(e->host, NULL, NULL);
	for (unsigned int i = 0; i < e->flows; i++)
		free(e->flow[i].target);
	free(e->flow);
	mf_table_free(e);
}

/** The flow whose next frame is the earliest; NULL: there is none before stop. */
static struct flow *earliest(const struct mf_ether *e)
{
	struct flow *best = NULL;
	mf_time at = __atomic_load_n(&e->stop, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < e->flows; i++) {
		if (e->flow[i].arrival.next < at) {
			best = &e->flow[i];
			at = best->arrival.next;
		}
	}
	return best;
}

static void make(struct mf_ether *e, struct flow *w)
{
	uint16_t target = w->target[mf_rng_below(&w->choice, w->targets)];

	e->fields = (struct ether_fields){.sender = e->node,
					  .target = target,
					  .number = e->sent_to[target],
					  .intended = w->arrival.next};
	ether_frame_put(e->frame, w->len, &e->fields);
	e->sending = w;
	e->waiting = true;
}

/** @return false: no room; tried again an interval later */
static bool send(struct mf_ether *e, mf_time now, bool again)
{
	struct flow *w = e->sending;

	if (!mf_node_send_frame(e->host, now, e->frame, w->len)) {
		e->stats.refused += !again;
		e->retry = now + w->interval;
		return false;
	}
	e->sent_to[e->fields.target]++;
	e->stats.sent++;
	e->waiting = false;
	arrival_advance(&w->arrival);
	return true;
}

mf_time mf_ether_run(struct mf_ether *e, mf_time now)
{
	struct flow *w;

	if (e->waiting && (now < e->retry || !send(e, now, true)))
		return e->retry;
	for (;;) {
		w = earliest(e);
		if (w == NULL)
			return MF_NEVER;
		if (w->arrival.next > now)
			return w->arrival.next;
		make(e, w);
		if (!send(e, now, false))
			return e->retry;
	}
}

void mf_ether_stop(struct mf_ether *e, mf_time at)
{
	if (at < __atomic_load_n(&e->stop, __ATOMIC_RELAXED))
		__atomic_store_n(&e->stop, at, __ATOMIC_RELAXED);
}

bool mf_ether_finished(const struct mf_ether *e)
{
	return earliest(e) == NULL;
}

const struct mf_ether_stats *mf_ether_stats(const struct mf_ether *e)
{
	return &e->stats;
}

uint64_t mf_ether_sent_to(const struct mf_ether *e, uint16_t node)
{
	return node < e->nodes ? e->sent_to[node] : 0;
}

uint64_t mf_ether_received_from(const struct mf_ether *e, uint16_t node)
{
	return node < e->nodes ? e->from[node].received : 0;
}
