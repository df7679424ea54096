/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a switch that does not schedule (docs/fault-tolerance.md).
 *
 * A pair is in the log until both of its nodes have said that they obey this switch; from then on it is the
 * scheduler's. So the same code serves a standby, whose pairs are all in the log, a switch that is taking
 * over, and, with no pair in it, an active one.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_seeded_bug.h"
#include "base/mf_table.h"
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/standby.h"

#define EARLY_MAX 64 /* of a node: responses that passed before their requests are few */
#define ENTRIES_MAX (1u << 21)

int standby_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	uint64_t n = sw->shell.ports, most = 4 * (uint64_t)config->x * n + EARLY_MAX;
	struct standby *s = calloc(1, sizeof(*s));
	bool released;
	int err;

	sw->standby = s;
	if (s == NULL)
		return -ENOMEM;
	s->in_order = config->in_order;
	s->chunk = config->chunk;
	s->longest = config->longest;
	s->free = s->oldest = s->youngest = NONE;
	s->most = (uint32_t)most;
	s->end = (uint32_t)(most * n < ENTRIES_MAX ? most * n : ENTRIES_MAX);
	err = takeover_init(sw, config);
	if (err != 0)
		return err;
	s->entry = mf_table_new(s->end, sizeof(*s->entry));
	s->pair = malloc(n * n * sizeof(*s->pair));
	if (s->entry == NULL || s->pair == NULL)
		return -ENOMEM;
	/* A fabric begins with all nodes at the primary. */
	released = config->begins && !standby_idles(s);
	for (uint64_t i = 0; i < n * n; i++)
		s->pair[i] = (struct log_pair){.head = NONE, .tail = NONE, .released = released};
	return 0;
}

void standby_fini(struct mf_switch *sw)
{
	if (sw->standby == NULL)
		return;
	mf_table_free(sw->standby->entry);
	free(sw->standby->pair);
	free(sw->standby->port);
	free(sw->standby);
}

/* ---- the log ---- */

static struct log_pair *pair_of(const struct mf_switch *sw, uint16_t src, uint16_t dst, bool resp)
{
	return resp ? standby_pair(sw, dst, src) : standby_pair(sw, src, dst);
}

static uint32_t entry_new(struct standby *s)
{
	uint32_t i = s->free;

	if (i != NONE)
		s->free = s->entry[i].next;
	else if (s->used < s->end)
		i = s->used++;
	return i;
}

/** @param by  the port that it came by: none has more than its share of them */
static struct log_entry *append(struct mf_switch *sw, struct log_pair *p, uint16_t by, mf_time at)
{
	struct standby *s = sw->standby;
	uint32_t i = s->port[by].held < s->most ? entry_new(s) : NONE;

	if (i == NONE)
		return NULL;
	s->port[by].held++;
	s->entry[i] = (struct log_entry){.at = at,
					 .next = NONE,
					 .slot = NONE,
					 .pair = (uint32_t)(p - s->pair),
					 .by = by,
					 .older = s->youngest,
					 .younger = NONE};
	if (s->youngest == NONE)
		s->oldest = i;
	else
		s->entry[s->youngest].younger = i;
	s->youngest = i;
	if (s->oldest == i && s->longest != 0)
		wake_at(sw, at + s->longest);
	if (p->tail == NONE)
		p->head = i;
	else
		s->entry[p->tail].next = i;
	p->tail = i;
	return &s->entry[i];
}

static void unlink_age(struct standby *s, const struct log_entry *e)
{
	if (e->older == NONE)
		s->oldest = e->younger;
	else
		s->entry[e->older].younger = e->younger;
	if (e->younger == NONE)
		s->youngest = e->older;
	else
		s->entry[e->younger].older = e->older;
}

/** Takes the entry behind `before` (NONE: the first) out. */
static void take_out(struct mf_switch *sw, struct log_pair *p, uint32_t before)
{
	struct standby *s = sw->standby;
	uint32_t *link = before == NONE ? &p->head : &s->entry[before].next, i = *link;

	*link = s->entry[i].next;
	if (p->tail == i)
		p->tail = before;
	if (s->entry[i].slot != NONE)
		request_release(sw, s->entry[i].slot);
	unlink_age(s, &s->entry[i]);
	s->port[s->entry[i].by].held--;
	s->entry[i].next = s->free;
	s->free = i;
}

/**
 * The entry of an id.
 * @param before  set to the one in front of it, NONE: it is the first
 * @return NONE: there is none
 */
static uint32_t find(const struct mf_switch *sw, const struct log_pair *p, uint8_t id, bool resp,
		     uint32_t *before)
{
	const struct standby *s = sw->standby;
	uint32_t i = p->head;

	*before = NONE;
	while (i != NONE && (s->entry[i].id != id || s->entry[i].resp != resp)) {
		*before = i;
		i = s->entry[i].next;
	}
	return i;
}

/**
 * What the log has of an id whose next use has come is over, whatever was lost of it. But of a response that
 * was faster than this very request it says what has passed.
 */
static bool replace(struct mf_switch *sw, struct log_pair *p, const struct mf_sched_msg *demand, uint16_t use,
		    struct log_entry *early)
{
	uint32_t before, i = find(sw, p, demand->id, demand->resp, &before);

	if (i == NONE)
		return false;
	*early = sw->standby->entry[i];
	take_out(sw, p, before);
	return early->early && early->use == use;
}

/**
 * Where its way here is longer than that by the other switch and back, the response to a later use of the id
 * may have passed before a request comes: who asks has been answered.
 */
static bool was_answered(const struct mf_switch *sw, const struct log_pair *p,
			 const struct mf_sched_msg *demand, uint16_t use)
{
	uint32_t before, i = find(sw, p, demand->id, demand->resp, &before);

	return i != NONE && sw->standby->entry[i].early && (int16_t)(use - sw->standby->entry[i].use) < 0;
}

static void log_demand(struct mf_switch *sw, struct log_pair *p, const struct mf_sched_msg *demand,
		       uint16_t use)
{
	uint16_t by = demand->resp ? demand->dst : demand->src;
	struct log_entry early = {0}, *e;
	bool passed = replace(sw, p, demand, use, &early);

	e = passed && early.passed >= demand->size ? NULL : append(sw, p, by, demand->at);
	if (e == NULL) {
		if (!passed || early.passed < demand->size)
			sw->stats.drop_room++;
		if (demand->cookie != NONE)
			request_release(sw, demand->cookie);
		return;
	}
	e->slot = demand->cookie;
	e->size = demand->size;
	e->behind = demand->behind;
	e->use = use;
	e->id = demand->id;
	e->blocks = demand->request_blocks;
	e->resp = demand->resp;
	e->mega = demand->mega;
	if (passed) {
		e->passed = early.passed;
		e->end = early.end;
		e->out = true;
	}
	sw->stats.logged++;
}

void standby_demand(struct mf_switch *sw, const struct mf_sched_msg *demand, uint16_t use)
{
	struct log_pair *p = pair_of(sw, demand->src, demand->dst, demand->resp);

	if (!was_answered(sw, p, demand, use))
		log_demand(sw, p, demand, use);
	else if (demand->cookie != NONE)
		request_release(sw, demand->cookie);
}

void standby_cancel(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp)
{
	struct log_pair *p = pair_of(sw, src, dst, resp);
	uint32_t before;

	if (find(sw, p, id, resp, &before) != NONE)
		take_out(sw, p, before);
}

/* ---- what passes ---- */

static bool send(struct mf_switch *sw, uint16_t to, uint16_t from, const uint64_t *word, unsigned int n,
		 mf_time ready, mf_time now)
{
	uint64_t *put = mf_mux_put(sw->port[to].shell.mux, ready, tie(TIE_CHUNK, from), n, 0);

	if (put == NULL) {
		sw->stats.drop_room++;
		return false;
	}
	memcpy(put, word, n * sizeof(*word));
	switch_dirty(sw, to);
	switch_backlog(sw, to, now);
	return true;
}

/**
 * A chunk of a write passes, so what its pair asked before it was granted: those requests go in front of it.
 * Else the write would be there before reads that must not see it, by this way, while the requests wait in
 * the other switch, or are lost with it.
 */
static void evidence(struct mf_switch *sw, const struct log_pair *p, uint32_t write, mf_time ready,
		     mf_time now)
{
	struct standby *s = sw->standby;

	for (uint32_t i = p->head; i != write && s->in_order; i = s->entry[i].next) {
		struct log_entry *e = &s->entry[i];

		if (e->slot == NONE)
			continue;
		const struct request *r = &sw->requests[e->slot];

		if (!e->out && e->passed == 0) {
			e->out = send(sw, r->mn, r->cn, r->word, r->blocks, ready, now);
			sw->stats.requests_forwarded += e->out;
		}
		request_release(sw, e->slot);
		e->slot = NONE;
	}
}

/**
 * The response came before its request, which is of a later use than what the log has of the id. An older
 * one may come late, too: its first copy came by the other switch, and the id has been used again.
 */
static void note_early(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m, mf_time now)
{
	uint32_t before, i = find(sw, p, m->id, true, &before);
	struct log_entry *e;

	if (i != NONE && (int16_t)(m->epoch - sw->standby->entry[i].use) < 0)
		return;
	if (i != NONE)
		take_out(sw, p, before);
	e = append(sw, p, m->src, now);
	if (e == NULL) {
		sw->stats.drop_room++;
		return;
	}
	e->early = e->resp = true;
	e->id = m->id;
	e->use = m->epoch;
	e->passed = m->size;
	e->end = m->offset + m->size;
}

/** The demand of a chunk. Messages of a mega have ids of their own, and come in their order. */
static uint32_t find_of(const struct mf_switch *sw, const struct log_pair *p, uint8_t id, bool resp,
			uint32_t *before)
{
	const struct standby *s = sw->standby;
	uint32_t i = find(sw, p, id, resp, before);

	if (i != NONE || resp)
		return i;
	*before = NONE;
	for (i = p->head; i != NONE && !s->entry[i].mega; i = s->entry[i].next)
		*before = i;
	return i;
}

/** Whether a chunk passed before: on its way here it may come twice. If not, it has now. */
static bool is_copy(struct log_entry *e, const struct mf_msg *m)
{
	uint32_t end = e->mega ? m->id + 1u : m->offset + m->size;

	if (e->mega ? end == e->end : end <= e->end)
		return true;
	e->end = end;
	return false;
}

/** A chunk of a demand, of n blocks, has passed. */
static void lower(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m, unsigned int n,
		  mf_time now)
{
	bool resp = m->kind == MF_RRES;
	uint32_t before, i = find_of(sw, p, m->id, resp, &before);
	struct log_entry *e = &sw->standby->entry[i];

	if (MF_SEEDED_BUG(stale_backup))
		return;
	if (i == NONE || (resp && e->use != m->epoch)) {
		if (resp && !standby_bars(sw, m->src, m->dst)) /* else it may be of a former incarnation */
			note_early(sw, p, m, now);
		return;
	}
	if (resp && sw->standby->in_order && e->at > p->held_at)
		p->held = false; /* asked behind the held write, and answered */
	if (is_copy(e, m))
		return;
	e->passed += e->mega ? n * 8 : m->size;
	if (!e->early && (e->passed >= e->size || (m->last && !e->mega)))
		take_out(sw, p, before);
}

/**
 * Whether the log has all that is under way of a node. If not, what passes here could overtake what the other
 * switch still has of the pair.
 */
static bool is_whole(const struct standby *s, uint16_t port, mf_time now)
{
	return s->port[port].since == 0 || now >= s->port[port].since + s->longest;
}

/**
 * Whether a chunk of a write was granted, and all writes before it have passed. It came too early, by a /G/
 * that came twice, or something is lost, if not.
 */
static bool is_next(const struct standby *s, const struct log_pair *p, uint32_t write)
{
	uint32_t i = p->head;

	while (i != NONE && i != write && s->entry[i].resp)
		i = s->entry[i].next;
	return write != NONE && i == write;
}

/**
 * A chunk of a write that did not pass here comes by the other switch alone, and may be on its way still: the
 * log was not whole, something before it was lost, or there was no room. What is behind it does not pass
 * before it is known to be there, or cannot come any more.
 */
static bool is_held(const struct standby *s, const struct log_pair *p, mf_time now)
{
	return p->held && now < p->held_at + s->longest;
}

static void hold(const struct standby *s, struct log_pair *p, const struct mf_msg *m, mf_time now)
{
	bool others = is_held(s, p, now);

	p->plain = m->kind == MF_WREQ || (p->plain && others);
	if (!others || m->again == 0) /* what is sent again is older than what was held before */
		p->held_id = m->id;
	p->held = true;
	p->held_at = now;
}

void standby_answered(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id)
{
	struct log_pair *p = standby_pair(sw, cn, mn);

	p->held &= p->held_id != id;
}

/** A chunk of a write passes. @return whether it may, with what was asked before it */
static bool write_passes(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m, mf_time ready,
			 mf_time now)
{
	struct pair *pair = circuit_pair(sw, m->src, m->dst);
	uint32_t before, i = find_of(sw, p, m->id, false, &before);

	if (!is_whole(sw->standby, m->src, now) || !is_whole(sw->standby, m->dst, now) ||
	    is_held(sw->standby, p, now) || (sw->standby->in_order && !is_next(sw->standby, p, i)))
		return false;
	evidence(sw, p, i, ready, now);
	pair->write_ready = mf_time_max(pair->write_ready, ready);
	return true;
}

/** What may be for a former incarnation passes if it is of the use that is asked for. */
static bool response_passes(const struct mf_switch *sw, const struct log_pair *p, const struct mf_msg *m)
{
	uint32_t before, i = find(sw, p, m->id, true, &before);

	return !incarnation_bar(sw, m->src, m->dst) || (i != NONE && sw->standby->entry[i].use == m->epoch);
}

static bool passes(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m, mf_time ready,
		   mf_time now)
{
	if (standby_hushes(sw, m->src, m->dst))
		return false;
	if (m->kind == MF_RRES)
		return response_passes(sw, p, m);
	return !incarnation_bar(sw, m->src, m->dst) && write_passes(sw, p, m, ready, now);
}

void standby_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word, unsigned int n,
		   mf_time at)
{
	const uint8_t *data;
	struct mf_msg m;
	int err = mf_proto_get(&sw->proto, word, n, &m, &data);
	mf_time ready = at + sw->through;
	struct log_pair *p;

	if (err != 0) {
		sw->stats.drop_check += err == -EBADMSG;
		sw->stats.drop_proto += err != -EBADMSG;
		return;
	}
	if (!test_bit(sw->reach_set, m.dst) || m.dst == port) {
		sw->stats.drop_dst++;
		if (m.kind != MF_RRES && m.dst < sw->shell.ports && m.dst != port)
			hold(sw->standby, pair_of(sw, (uint16_t)port, m.dst, false), &m, now);
		return;
	}
	p = pair_of(sw, (uint16_t)port, m.dst, m.kind == MF_RRES);
	if (passes(sw, p, &m, ready, now) && send(sw, m.dst, (uint16_t)port, word, n, ready, now)) {
		sw->stats.chunks++;
		sw->stats.chunk_blocks += n;
	} else if (m.kind != MF_RRES) {
		hold(sw->standby, p, &m, now);
	}
	lower(sw, p, &m, n, now);
}

/* ---- the scheduler's, and nobody's ---- */

/**
 * The first chunk of a response is on its way, or will be: its request was let out, and that is its grant.
 */
static void expect_first(struct mf_switch *sw, uint16_t cn, uint16_t mn, struct log_entry *e, mf_time now)
{
	struct mf_sched_grant g = {.at = now,
				   .since = e->at,
				   .src = mn,
				   .dst = cn,
				   .id = e->id,
				   .resp = true,
				   .first = true,
				   .size = e->size < sw->standby->chunk ? e->size : sw->standby->chunk,
				   .cookie = NONE};

	if (circuit_open(sw, now, &g) != NONE)
		e->passed = g.size;
}

static void release_entry(struct mf_switch *sw, uint16_t cn, uint16_t mn, struct log_entry *e, mf_time now)
{
	if (e->early)
		return;
	if (e->out && e->passed == 0)
		expect_first(sw, cn, mn, e, now);
	if (e->passed >= e->size || (e->mega && e->passed > 0)) /* which is sent as a whole */
		return;
	if (e->passed > 0 && e->slot != NONE) { /* it has been executed: the rest is granted by /G/ */
		request_release(sw, e->slot);
		e->slot = NONE;
	}
	switch_tell(sw, &(struct mf_sched_msg){
				.at = e->at,
				.src = e->resp ? mn : cn,
				.dst = e->resp ? cn : mn,
				.kind = MF_SCHED_DEMAND,
				.id = e->id,
				.resp = e->resp,
				.mega = e->mega,
				.request_blocks = e->slot != NONE ? e->blocks : 1,
				.behind = e->behind,
				.size = e->size - e->passed,
				.cookie = e->slot,
			});
	if (e->slot != NONE)
		sw->requests[e->slot].next = REQUEST_ASKED;
	e->slot = NONE; /* the scheduler's */
}

/** Whether all of a pair can be told to the scheduler, with some left for what arrives. */
static bool can_tell(const struct mf_switch *sw, const struct log_pair *p)
{
	uint32_t room = (sw->out_mask + 1) / 2, told = sw->out_head - sw->out_tail;

	for (uint32_t i = p->head; i != NONE && told <= room; i = sw->standby->entry[i].next)
		told += !sw->standby->entry[i].early;
	return told <= room;
}

/**
 * What was held came by the other switch alone, which may be dead. Whoever waits for an answer has a timer;
 * who does not is told.
 */
static void writes_lost(struct mf_switch *sw, uint16_t cn, uint16_t mn, struct log_pair *p, mf_time now)
{
	if (is_held(sw->standby, p, now) && p->plain && test_bit(sw->reach_set, cn))
		link_say(sw, cn, mn, MF_ERR_INCARNATION, 0, TOLD_TIMES, now);
	p->held = false;
}

bool standby_release(struct mf_switch *sw, uint16_t cn, uint16_t mn, mf_time now)
{
	struct log_pair *p = standby_pair(sw, cn, mn);

	if (p->released)
		return true;
	if (!can_tell(sw, p))
		return false;
	p->released = true;
	writes_lost(sw, cn, mn, p, now);
	while (p->head != NONE) {
		release_entry(sw, cn, mn, &sw->standby->entry[p->head], now);
		take_out(sw, p, NONE);
	}
	return true;
}

void standby_unlog(struct mf_switch *sw, struct log_pair *p)
{
	while (p->head != NONE)
		take_out(sw, p, NONE);
}

void standby_was_former(struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	struct standby *s = sw->standby;

	for (uint32_t i = standby_pair(sw, cn, mn)->head; i != NONE; i = s->entry[i].next)
		s->entry[i].former = true;
}

void standby_unlog_former(struct mf_switch *sw, struct log_pair *p)
{
	const struct standby *s = sw->standby;

	while (p->head != NONE && s->entry[p->head].former) /* they are in the order in which they came */
		take_out(sw, p, NONE);
}

/**
 * When the link is there again its node may obey the other switch, and have asked that one for what is not
 * known here: what it asks here would go in front. So its pairs are the log's until it tells what it obeys.
 */
void standby_link_down(struct mf_switch *sw, unsigned int port)
{
	struct standby *s = sw->standby;

	clear_bit(s->took, port);
	clear_bit(s->told, port);
	s->port[port].lone = MF_NEVER;
	for (uint16_t i = 0; i < sw->shell.ports; i++) {
		standby_unlog(sw, standby_pair(sw, (uint16_t)port, i));
		standby_pair(sw, (uint16_t)port, i)->released = false;
		standby_pair(sw, i, (uint16_t)port)->released = false;
	}
}

/** The oldest of all is of an operation that is over. */
static void forget_oldest(struct mf_switch *sw)
{
	struct standby *s = sw->standby;
	struct log_pair *p = &s->pair[s->entry[s->oldest].pair];
	uint32_t before = NONE;

	for (uint32_t i = p->head; i != s->oldest; i = s->entry[i].next)
		before = i;
	sw->stats.log_expired++;
	take_out(sw, p, before);
}

/** What passed, but was lost on this way, is in the log for as long as its operation may take. */
mf_time standby_run(struct mf_switch *sw, mf_time now)
{
	struct standby *s = sw->standby;
	mf_time next;

	while (s->longest != 0 && s->oldest != NONE && s->entry[s->oldest].at + s->longest <= now)
		forget_oldest(sw);
	next = takeover_run(sw, now); /* may take out all there is */
	if (s->longest == 0 || s->oldest == NONE)
		return next;
	return mf_time_min(s->entry[s->oldest].at + s->longest, next);
}
