/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a switch that does not schedule, and take-over (docs/fault-tolerance.md).
 *
 * A pair is in the log until both of its nodes have said that they obey this switch; from then on it is the
 * scheduler's. So the same code serves a standby, whose pairs are all in the log, a switch that is taking
 * over, and, with no pair in it, an active one.
 */
#include <errno.h>
#include <stdlib.h>

#include "circuit.h"
#include "mf_plant.h"
#include "mf_proto_inline.h"
#include "mf_table.h"
#include "standby.h"

#define ENTRIES_MIN 1024 /* responses that passed before their requests are few, but not counted by X */

int standby_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	uint64_t n = sw->ports, all = 4 * (uint64_t)config->x * n * n + ENTRIES_MIN;
	struct standby *s = calloc(1, sizeof(*s));
	bool released;

	sw->standby = s;
	if (s == NULL)
		return -ENOMEM;
	s->epoch = config->epoch;
	s->number = config->number;
	s->knows = config->epoch_known;
	s->in_order = config->in_order;
	s->chunk = config->chunk;
	s->free = NONE;
	s->end = (uint32_t)(all < 1u << 21 ? all : 1u << 21);
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
	free(sw->standby);
}

/* ---- the log ---- */

static struct log_pair *pair_of(const struct mf_switch *sw, uint16_t src, uint16_t dst, bool resp)
{
	return resp ? standby_pair(sw, dst, src) : standby_pair(sw, src, dst);
}

static struct log_entry *append(struct mf_switch *sw, struct log_pair *p)
{
	struct standby *s = sw->standby;
	uint32_t i = s->free;

	if (i != NONE)
		s->free = s->entry[i].next;
	else if (s->used < s->end)
		i = s->used++;
	else
		return NULL;
	s->entry[i] = (struct log_entry){.next = NONE, .slot = NONE};
	if (p->tail == NONE)
		p->head = i;
	else
		s->entry[p->tail].next = i;
	p->tail = i;
	return &s->entry[i];
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

void standby_demand(struct mf_switch *sw, const struct mf_sched_msg *demand, uint16_t use, bool ext)
{
	struct log_pair *p = pair_of(sw, demand->src, demand->dst, demand->resp);
	struct log_entry early = {0}, *e;
	bool passed = replace(sw, p, demand, use, &early);

	e = passed && early.passed >= demand->size ? NULL : append(sw, p);
	if (e == NULL) {
		if (!passed || early.passed < demand->size)
			sw->stats.drop_room++;
		if (demand->cookie != NONE)
			request_release(sw, demand->cookie);
		return;
	}
	e->at = demand->at;
	e->slot = demand->cookie;
	e->size = demand->size;
	e->behind = demand->behind;
	e->use = use;
	e->id = demand->id;
	e->blocks = demand->request_blocks;
	e->resp = demand->resp;
	e->ext = ext;
	if (passed) {
		e->passed = early.passed;
		e->out = true;
	}
	sw->stats.logged++;
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
	uint64_t *put = mf_mux_put(sw->port[to].mux, ready, tie(TIE_CHUNK, from), n, 0);

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

/** The response came before its request. */
static void note_early(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m)
{
	uint32_t before, i = find(sw, p, m->id, true, &before);
	struct log_entry *e;

	if (i != NONE && sw->standby->entry[i].early)
		take_out(sw, p, before);
	e = append(sw, p);
	if (e == NULL)
		return;
	e->early = e->resp = true;
	e->id = m->id;
	e->use = m->epoch;
	e->passed = m->size;
}

/** So many octets of a demand have passed. */
static void lower(struct mf_switch *sw, struct log_pair *p, const struct mf_msg *m)
{
	bool resp = m->kind == MF_RRES;
	uint32_t before, i = find(sw, p, m->id, resp, &before);
	struct log_entry *e = &sw->standby->entry[i];

	if (MF_PLANTED(stale_backup))
		return;
	if (i == NONE || (resp && e->use != m->epoch)) {
		if (resp)
			note_early(sw, p, m);
		return;
	}
	e->passed += m->size;
	if (!e->early && (e->passed >= e->size || m->last))
		take_out(sw, p, before);
}

void standby_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word, unsigned int n,
		   mf_time at)
{
	const uint8_t *data;
	struct mf_msg m;
	int err = mf_proto_get(&sw->proto, word, n, &m, &data);
	mf_time ready = at + sw->through;
	struct log_pair *p;
	uint32_t before;

	if (err != 0) {
		sw->stats.drop_check += err == -EBADMSG;
		sw->stats.drop_proto += err != -EBADMSG;
		return;
	}
	if (!test_bit(sw->reach_set, m.dst) || m.dst == port) {
		sw->stats.drop_dst++;
		return;
	}
	p = pair_of(sw, (uint16_t)port, m.dst, m.kind == MF_RRES);
	if (m.kind != MF_RRES) {
		uint32_t i = find(sw, p, m.id, false, &before);
		struct pair *pair = circuit_pair(sw, (uint16_t)port, m.dst);

		if (i != NONE)
			evidence(sw, p, i, ready, now);
		pair->write_ready = mf_time_max(pair->write_ready, ready);
	}
	if (send(sw, m.dst, (uint16_t)port, word, n, ready, now)) {
		sw->stats.chunks++;
		sw->stats.chunk_blocks += n;
	}
	lower(sw, p, &m);
}

/* ---- take-over ---- */

static void tell_epoch(struct mf_switch *sw, unsigned int port, mf_time now)
{
	const struct mf_msg m = {.kind = MF_TAKE, .epoch = sw->standby->epoch};
	uint64_t *word;

	if (!test_bit(sw->reach_set, port) || !sw->standby->knows)
		return;
	word = mf_mux_put(sw->port[port].mux, now, tie(TIE_GRANT, 0), 1, 0);
	if (word == NULL) { /* its node hears of it from others */
		sw->stats.drop_room++;
		return;
	}
	*word = mf_proto_put_single(&m);
	switch_dirty(sw, port);
	switch_backlog(sw, port, now);
}

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
	if (e->passed >= e->size)
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
				.request_blocks = e->slot != NONE ? e->blocks : 1,
				.behind = e->behind,
				.size = e->size - e->passed,
				.cookie = e->slot,
			});
	e->slot = NONE; /* the scheduler's */
}

/**
 * All that was sent by grants of before has passed: what is left of the pair's demands goes to the
 * scheduler.
 */
static void release(struct mf_switch *sw, uint16_t cn, uint16_t mn, mf_time now)
{
	struct log_pair *p = standby_pair(sw, cn, mn);

	if (p->released)
		return;
	p->released = true;
	while (p->head != NONE) {
		release_entry(sw, cn, mn, &sw->standby->entry[p->head], now);
		take_out(sw, p, NONE);
	}
}

/** A node obeys this switch: so do others, and pairs of which both do are released. */
static void took(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct standby *s = sw->standby;

	set_bit(s->took, port);
	for (uint16_t i = 0; i < sw->ports; i++)
		if (i != port && test_bit(s->took, i)) {
			release(sw, i, port, now);
			release(sw, port, i, now);
		}
}

/** The epoch is a newer one. */
static void enter(struct mf_switch *sw, uint16_t epoch, mf_time now)
{
	struct standby *s = sw->standby;
	bool was_active = !standby_idles(s);

	s->epoch = epoch;
	s->knows = true;
	memset(s->took, 0, sizeof(s->took));
	s->deposed = was_active;
	if (s->deposed)
		return;
	sw->stats.takes += !standby_idles(s);
	for (unsigned int i = 0; i < sw->ports; i++)
		tell_epoch(sw, i, now);
}

void standby_take(struct mf_switch *sw, unsigned int port, uint16_t epoch, mf_time now, mf_time at)
{
	struct standby *s = sw->standby;
	int16_t newer = (int16_t)(epoch - s->epoch);

	now = mf_time_max(now, at + sw->identify);
	if (s->deposed)
		return;
	if (!s->knows || newer > 0)
		enter(sw, epoch, now);
	else if (newer < 0)
		tell_epoch(sw, port, now);
	if (!s->deposed && epoch == s->epoch && !standby_idles(s))
		took(sw, (uint16_t)port, now);
}

void mf_switch_take(struct mf_switch *sw, unsigned int port, uint16_t epoch, mf_time now)
{
	standby_take(sw, port, epoch, now, now - mf_time_min(now, sw->identify));
}

bool mf_switch_deposed(const struct mf_switch *sw)
{
	return sw->standby != NULL && sw->standby->deposed;
}

bool mf_switch_active(const struct mf_switch *sw, uint16_t *epoch)
{
	if (sw->standby == NULL)
		return true;
	*epoch = sw->standby->epoch;
	return !standby_idles(sw->standby);
}

void standby_link_down(struct mf_switch *sw, unsigned int port)
{
	clear_bit(sw->standby->took, port);
	for (uint16_t mn = 0; mn < sw->ports; mn++) {
		struct log_pair *p = standby_pair(sw, (uint16_t)port, mn);

		while (p->head != NONE)
			take_out(sw, p, NONE);
	}
}

void standby_link_up(struct mf_switch *sw, unsigned int port, mf_time now)
{
	tell_epoch(sw, port, now);
}

void standby_forget(struct mf_switch *sw)
{
	struct standby *s = sw->standby;

	for (uint32_t i = 0; i < sw->ports * sw->ports; i++) {
		while (s->pair[i].head != NONE)
			take_out(sw, &s->pair[i], NONE);
		s->pair[i].released = false;
	}
	memset(s->took, 0, sizeof(s->took));
	s->knows = s->deposed;
	s->deposed = false;
}
