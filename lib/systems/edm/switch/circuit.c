/* SPDX-License-Identifier: BSD-3-Clause */
/* Circuits: set-up, what becomes of those that end otherwise than by their chunk, K and W. */
#include <assert.h>
#include <errno.h>

#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/standby.h"
#include "systems/edm/switch/limits.h"
#include "base/mf_table.h"

#define LATE_TIMEOUTS 8 /* of grants that a late one is waited for, where some operations have no timer */

static_assert(sizeof(struct circuit) == 64, "a circuit is a cache line");
static_assert(sizeof(struct circuit_chunk) == sizeof(uint64_t), "a cookie");

int circuit_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	uint64_t n = sw->shell.ports, all = 2 * (uint64_t)config->x * n * n;
	uint32_t circuits = (uint32_t)(all < 1u << 20 ? all : 1u << 20);

	sw->requests_max = config->requests != 0 ? config->requests : circuits;
	/* Of one node: its even share, and never less than X lets it ask for. */
	sw->requests_port = sw->requests_max / sw->shell.ports;
	if (sw->requests_port < config->x * sw->shell.ports)
		sw->requests_port = config->x * sw->shell.ports;
	if (circuits < 4096)
		circuits = 4096; /* several chunks of one demand may be under way */
	sw->circuits_used = sw->shell.ports;
	sw->circuits_end = sw->circuits_used + circuits;
	sw->circuits = mf_table_new_dense(sw->circuits_end, sizeof(*sw->circuits));
	/* Those behind requests_max are for /G/ that are parked: one a circuit at most. They do not take from
	 * the requests, or a long response in small chunks would. */
	sw->parked_grants_used = sw->requests_max;
	sw->parked_grants_end = sw->requests_max + circuits;
	sw->requests = mf_table_new_dense(sw->parked_grants_end, sizeof(*sw->requests));
	sw->circuit_free = sw->request_free = sw->parked_grant_free = NONE;
	sw->pair = mf_table_new_dense(n * n, sizeof(*sw->pair));
	if (sw->circuits == NULL || sw->requests == NULL || sw->pair == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < n * n; i++)
		sw->pair[i] = (struct pair){.last_write = NONE};
	for (uint32_t i = 0; i < sw->shell.ports; i++)
		sw->circuits[i].next = sw->circuits[i].prev = i;
	sw->expire_at = MF_NEVER;
	return 0;
}

static bool is_arriving(const struct mf_switch *sw, uint32_t c)
{
	const struct port *p = &sw->port[sw->circuits[c].chunk.src];

	return (p->state == RX_STREAM || p->state == RX_COLLECT) && p->circuit == c;
}

uint32_t circuit_named(const struct mf_switch *sw, unsigned int ingress, uint16_t dst, uint8_t id, bool resp,
		       bool mega, bool own)
{
	uint32_t c = ingress;

	while (circuit_is(sw, c = sw->circuits[c].next)) {
		const struct circuit *ct = &sw->circuits[c];

		if (ct->dst != dst || ct->chunk.resp != resp || ct->chunk.id != id)
			continue;
		if (ct->mega && !mega)
			continue;
		if (own || ct->mega || !is_arriving(sw, c))
			return c;
	}
	return NONE;
}

void circuit_count_granted(struct mf_switch *sw, struct circuit *ct, mf_time now)
{
	ct->granted = ct->inbound = ct->blocks;
	sw->port[ct->chunk.src].granted += ct->blocks;
	sw->port[ct->dst].inbound += ct->blocks;
	switch_backlog(sw, ct->dst, now);
}

void circuit_count_arrived(struct mf_switch *sw, struct circuit *ct, uint32_t blocks, mf_time now)
{
	if (blocks > ct->inbound)
		blocks = ct->inbound;
	ct->inbound -= blocks;
	sw->port[ct->dst].inbound -= blocks;
	switch_backlog(sw, ct->dst, now);
}

void circuit_count_begun(struct mf_switch *sw, struct circuit *ct, mf_time now)
{
	struct port *p = &sw->port[ct->chunk.src];

	p->granted -= ct->granted;
	ct->granted = 0;
	if (p->held_src && p->granted <= p->source_w) {
		p->held_src = false;
		switch_tell(sw, &(struct mf_sched_msg){
					.at = now, .src = ct->chunk.src, .kind = MF_SCHED_UNHOLD_SRC});
	}
}

/** Gives the scheduler the window of a chunk back that will not be forwarded. */
static void forfeit(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit *ct = &sw->circuits[c];

	if (sw->window && !ct->late)
		switch_tell(sw, &(struct mf_sched_msg){
					.at = now,
					.src = ct->chunk.src,
					.dst = ct->dst,
					.kind = MF_SCHED_FORWARDED,
					.id = ct->chunk.id,
					.resp = ct->chunk.resp,
					.size = ct->chunk.octets,
				});
}

/** The youngest chunk of the same writer and reader that was granted before c and is still to come. */
static uint32_t write_before(const struct mf_switch *sw, uint32_t c)
{
	uint32_t w = c;

	while (circuit_is(sw, w = sw->circuits[w].prev)) {
		const struct circuit *ct = &sw->circuits[w];

		if (!ct->chunk.resp && !ct->queued && ct->dst == sw->circuits[c].dst)
			return w;
	}
	return NONE;
}

/** Adds the requests that wait for chunk `from` to those that wait for `to`. */
static void hand_parked(struct mf_switch *sw, struct circuit *from, struct circuit *to)
{
	if (from->parked == NONE)
		return;
	if (to->parked == NONE)
		to->parked = from->parked;
	else
		sw->requests[to->parked_last].next = from->parked;
	to->parked_last = from->parked_last;
	from->parked = NONE;
}

/**
 * A chunk of a write is through, or will not come. Where one that was granted before it is still to
 * come (a younger one was returned), whatever waits goes on waiting for that.
 */
static void write_through(struct mf_switch *sw, uint32_t c, mf_time ready)
{
	struct circuit *ct = &sw->circuits[c];
	struct pair *pair = circuit_pair(sw, ct->chunk.src, ct->dst);

	if (ct->queued)
		return;
	ct->queued = true;
	pair->write_ready = mf_time_max(pair->write_ready, ready);
	if (ct->parked == NONE && pair->last_write != c)
		return; /* nobody asks which was before it */

	uint32_t before = write_before(sw, c);

	if (before != NONE)
		hand_parked(sw, ct, &sw->circuits[before]);
	if (pair->last_write == c)
		pair->last_write = before;
}

void circuit_write_queued(struct mf_switch *sw, uint32_t c, mf_time ready, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];
	uint32_t slot;

	write_through(sw, c, ready);
	/* Behind those before it, too: one that will not come ends before the last of them is out. */
	ready = circuit_pair(sw, ct->chunk.src, ct->dst)->write_ready;
	slot = ct->parked;
	ct->parked = NONE;
	for (uint32_t next; slot != NONE; slot = next) {
		next = sw->requests[slot].next;
		sw->port[sw->requests[slot].mn].inbound -= sw->requests[slot].blocks;
		grant_let_out(sw, slot, ready, now);
	}
}

/** Blocks of what arrives that its egress was told of, and that have not come: none is the last one. */
static unsigned int blocks_ahead(const struct port *p, mf_time now)
{
	return p->ends_at > now ? (unsigned int)((p->ends_at - now - 1) / p->shell.period) : 0;
}

void circuit_kill(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct port *p = &sw->port[sw->circuits[c].chunk.src];

	if ((p->state == RX_STREAM || p->state == RX_COLLECT) && p->circuit == c) {
		if (p->state == RX_STREAM) {
			struct mf_mux *egress = sw->port[sw->circuits[c].dst].shell.mux;

			switch_dirty(sw, sw->circuits[c].dst);
			mf_mux_take_back(p->item, blocks_ahead(p, now));
			mf_mux_abort(egress, p->item);
		}
		clear_bit(sw->hold_set, sw->circuits[c].chunk.src);
		p->state = RX_DROP;
	}
	forfeit(sw, c, now);
	circuit_queued(sw, c, now, now);
	circuit_close(sw, c, now);
}

/** The rest of a chunk's demand is not wanted. */
static void cancel_rest(struct mf_switch *sw, const struct circuit *ct, mf_time now)
{
	switch_tell(sw, &(struct mf_sched_msg){
				.at = now,
				.src = ct->chunk.src,
				.dst = ct->dst,
				.kind = MF_SCHED_CANCEL,
				.id = ct->chunk.id,
				.resp = ct->chunk.resp,
				.cookie = NONE,
			});
}

/** Whether the scheduler may have a later use of the id of a chunk: what it has is not the chunk's rest. */
static bool is_used_again(const struct circuit *ct)
{
	return ct->asked_again || (ct->late && !ct->chunk.resp); /* of a late write it was cancelled then */
}

void circuit_give_up(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit ct = sw->circuits[c];

	circuit_kill(sw, c, now);
	if (!is_used_again(&ct))
		cancel_rest(sw, &ct, now);
}

void circuit_asked_again(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id)
{
	uint32_t c = mn;

	while (circuit_is(sw, c = sw->circuits[c].next)) {
		struct circuit *ct = &sw->circuits[c];

		ct->asked_again |= ct->dst == cn && ct->chunk.resp && ct->chunk.id == id;
	}
}

/** A descriptor that finds no room would leak what it gives back: the rest is for the next call. */
static bool has_room_to_tell(const struct mf_switch *sw)
{
	return sw->out_head - sw->out_tail <= sw->out_mask / 2;
}

void circuit_overtaken(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit *later = &sw->circuits[c];
	uint32_t w = sw->circuits[later->chunk.src].next;

	while (w != c && has_room_to_tell(sw)) {
		const struct circuit *ct = &sw->circuits[w];
		uint32_t next = ct->next;

		if (ct->dst == later->dst && !ct->chunk.resp) {
			sw->stats.overtaken++;
			circuit_give_up(sw, w, now);
		}
		w = next;
	}
}

/*
 * Wall clock: a chunk that does not come in time mostly comes late, since its sender had no CPU; or a fault
 * of the file has taken it. It is dropped, though the sender of a plain write takes it for done (D11). So its
 * client is told that what it has written there may be lost, before a request that waited for the write can
 * be answered. Of what is lost behind the switch nobody here knows: only an acknowledgement says that it
 * arrived.
 */
bool circuit_tell_lost(struct mf_switch *sw, uint32_t c, mf_time now)
{
	const struct circuit *ct = &sw->circuits[c];

	if (!sw->window || ct->chunk.resp)
		return true;
	return link_tell_writes_lost(sw, ct->chunk.src, ct->dst, now);
}

/*
 * With two switches a chunk that comes late is not lost: it passes by the other one, and what was asked
 * behind it must not be there before it. So the circuit stays, without a share of K, W and the window, and
 * the writer is asked whether the chunk is still to come (GRET). It comes, or the writer says that it does
 * not, behind all that it has sent. Who says nothing is waited for as long as an operation may take: then he
 * has given up.
 */

/** Whether the chunk of a circuit may pass by the other switch, though it does not come here. */
static bool may_pass_there(const struct mf_switch *sw, const struct circuit *ct)
{
	const struct standby *s = sw->standby;

	return unlikely(s != NULL) && s->in_order && !ct->chunk.resp && !link_lost(sw, ct->chunk.src);
}

static void count_expired(struct mf_switch *sw, const struct circuit *ct, mf_time now)
{
	sw->stats.expired++;
	if (unlikely(sw->limited) && !ct->chunk.resp)
		limits_expired(sw, ct->chunk.src, now);
}

/** Others want its share of what there is. */
static void give_back(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];

	forfeit(sw, c, now);
	circuit_count_begun(sw, ct, now);
	circuit_count_arrived(sw, ct, ct->inbound, now);
	ct->late = true;
}

static void becomes_late(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];
	mf_time longest = sw->standby->longest;

	count_expired(sw, ct, now);
	give_back(sw, c, now);
	cancel_rest(sw, ct, now);
	ct->until = ct->expires - sw->grant_timeout +
		    (longest != 0 ? longest : LATE_TIMEOUTS * sw->grant_timeout);
}

uint32_t circuit_number(uint32_t c)
{
	return 1 + c % MF_MESSAGE_MAX;
}

/** @return when to ask again */
static mf_time ask_writer(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];
	const struct mf_msg m = {.kind = MF_GRET,
				 .op = MF_GRET_ASKED,
				 .dst = ct->dst,
				 .id = ct->chunk.id,
				 .size = circuit_number(c)};

	sw->stats.asked_late++;
	forward_single(sw, ct->dst, ct->chunk.src, mf_proto_put_single(&m), now, now);
	ct->expires = mf_time_min(now + sw->grant_timeout, ct->until);
	return ct->expires;
}

bool circuit_may_end(struct mf_switch *sw, uint32_t c, mf_time now)
{
	return !sw->circuits[c].late || circuit_tell_lost(sw, c, now);
}

/** A response whose request waits here behind a late write has not been asked for yet. */
static bool is_behind_late(const struct mf_switch *sw, const struct circuit *response, mf_time now)
{
	uint32_t c = response->dst;

	while (response->chunk.resp && circuit_is(sw, c = sw->circuits[c].next)) {
		const struct circuit *ct = &sw->circuits[c];

		if (ct->dst == response->chunk.src && !ct->chunk.resp && !ct->queued &&
		    (ct->late || ct->expires <= now))
			return true;
	}
	return false;
}

/** The chunk of a circuit has not come in time. @return when to look again; MF_NEVER: it has ended */
static mf_time expire(struct mf_switch *sw, uint32_t c, mf_time now)
{
	struct circuit *ct = &sw->circuits[c];
	bool waits = may_pass_there(sw, ct);

	if (!has_room_to_tell(sw))
		return now;
	if ((waits || sw->hold_timeout != 0) && is_arriving(sw, c)) /* hold_timeout is for that */
		return ct->expires = now + sw->grant_timeout;
	if (waits && !ct->late)
		becomes_late(sw, c, now);
	if (waits && now < ct->until)
		return ask_writer(sw, c, now);
	if (unlikely(sw->standby != NULL) && is_behind_late(sw, ct, now)) {
		if (!ct->late)
			give_back(sw, c, now);
		return ct->expires = now + sw->grant_timeout;
	}
	if (!circuit_tell_lost(sw, c, now))
		return now;
	if (!ct->late || ct->chunk.resp) /* a late write was counted when it became so */
		count_expired(sw, ct, now);
	/* The sender does not answer: what is left of the demand would expire chunk by chunk. */
	circuit_give_up(sw, c, now);
	return MF_NEVER;
}

/** Of one ingress port. @return the next time at which one expires */
static mf_time expire_port(struct mf_switch *sw, uint32_t port, mf_time now)
{
	mf_time first = MF_NEVER;

	for (uint32_t c = sw->circuits[port].next, next; circuit_is(sw, c); c = next) {
		mf_time at = sw->circuits[c].expires;

		next = sw->circuits[c].next;
		first = mf_time_min(first, at > now ? at : expire(sw, c, now));
	}
	return first;
}

void circuit_bear(struct mf_switch *sw, unsigned int port, mf_time by)
{
	uint32_t c = port;

	while (circuit_is(sw, c = sw->circuits[c].next))
		sw->circuits[c].expires += by;
}

mf_time circuit_expire(struct mf_switch *sw, mf_time now)
{
	/* Seldom: those that were the first to expire when this was last asked have long had their chunk. */
	if (now >= sw->expire_at) {
		sw->expire_at = MF_NEVER;
		for (uint32_t i = 0; i < sw->shell.ports; i++)
			sw->expire_at = mf_time_min(sw->expire_at, expire_port(sw, i, now));
	}
	return sw->expire_at;
}
