/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link that is lost and comes back: by hand, and at random times under random traffic with a scheduler and
 * nodes that answer every grant, where nothing may leak or be taken for what it is not, and who gets
 * something of a node that was lost has been told of that.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "rig.h"
#include "systems/edm/proto/mf_proto_inline.h"

static struct mf_switch_config config;
static uint64_t word[MF_BLOCKS_MAX];

static struct mf_sched_grant answer(uint16_t port, mf_time at)
{
	return (struct mf_sched_grant){
		.at = at, .src = port, .dst = port, .last = true, .cookie = MF_SCHED_NO_COOKIE};
}

/** Grants to and from port 1, one of them in the midst of its chunk; one that has nothing to do with it. */
Test(link, what_was_granted_ends)
{
	struct rig r;
	struct mf_sched_grant from = rig_grant_of(MF_US(1), 1, 0, 1, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_sched_grant to = rig_grant_of(MF_US(1), 0, 1, 2, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_sched_grant other = rig_grant_of(MF_US(1), 0, 2, 3, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_sched_grant late = rig_grant_of(MF_US(5), 0, 1, 4, false, true, 64, MF_SCHED_NO_COOKIE);
	struct mf_msg heard = {.kind = MF_ERR, .src = 0, .dst = 1, .status = MF_ERR_INCARNATION};
	struct mf_sched_msg d;
	unsigned int n, before;

	rig_config(&config, 3);
	config.window = true;
	rig_start(&r, &config, false);
	rig_grant(&r, from.at, &from);
	rig_grant(&r, to.at, &to);
	rig_grant(&r, other.at, &other);
	n = rig_chunk(&r, MF_WREQ, 1, 0, 1, 256, word);
	rig_cut(&r, MF_US(3), 1, word, n / 2);
	rig_run(&r, MF_US(4));
	mf_switch_link_down(r.sw, 1, MF_US(4));
	mf_switch_link_down(r.sw, 1, MF_US(4)); /* once is enough */
	rig_grant(&r, late.at, &late);
	rig_run(&r, MF_US(6));
	cr_expect_eq(rig_told(&r, MF_SCHED_FLUSH, &d), 1);
	cr_expect(d.src == 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_FORWARDED, NULL), 3, "both of port 1, and the late one");
	cr_expect_eq(mf_switch_mux_stats(r.sw, 0)->aborted, 1, "what had begun ends with a bad check");
	cr_expect_eq(mf_switch_stats(r.sw)->drop_link, 1);
	cr_expect_not(mf_switch_link_up(r.sw, 1, MF_US(6)), "the scheduler has not answered");

	rig_message(&r, MF_US(7), 0, word, rig_chunk(&r, MF_WREQ, 0, 1, 2, 256, word));
	rig_message(&r, MF_US(8), 0, word, rig_chunk(&r, MF_WREQ, 0, 2, 3, 256, word));
	rig_message(&r, MF_US(9), 0, word, rig_request(&r, 0, 1, 9, 64, word));
	rig_message(&r, MF_US(9) + MF_NS(500), 0, word, rig_request(&r, 0, 2, 9, 64, word));
	before = r.outs[1];
	rig_run(&r, MF_US(10));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 1);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_link, 2);
	cr_expect_eq(r.outs[1], before);
	cr_expect(rig_sent(&r, 2, 0, MF_US(8) + IDENTIFY + FORWARD, word, 0));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	cr_expect(d.src == 2 && d.dst == 0);

	from = answer(1, MF_US(11));
	rig_grant(&r, from.at, &from);
	rig_run(&r, MF_US(12));
	cr_expect(mf_switch_link_up(r.sw, 1, MF_US(12)));
	mf_proto_set_incarnation(&heard, 1);
	rig_message(&r, MF_US(12) + MF_NS(500), 0, word, rig_single(&heard, word));
	rig_message(&r, MF_US(13), 0, word, rig_request(&r, 0, 1, 9, 64, word));
	rig_message(&r, MF_US(13), 1, word, rig_request(&r, 1, 2, 9, 64, word));
	rig_run(&r, MF_US(14));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, NULL), 3);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_link, 2);
	rig_stop(&r);
}

/** Two ports at once: one after the other is flushed. */
Test(link, one_flush_at_a_time)
{
	struct rig r;
	struct mf_sched_grant g;

	rig_config(&config, 4);
	rig_start(&r, &config, false);
	rig_run(&r, MF_US(1));
	mf_switch_link_down(r.sw, 3, MF_US(1));
	mf_switch_link_down(r.sw, 2, MF_US(1));
	rig_run(&r, MF_US(1) + 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_FLUSH, NULL), 1);
	g = answer(2, MF_US(2));
	rig_grant(&r, g.at, &g);
	rig_run(&r, MF_US(2));
	cr_expect_eq(rig_told(&r, MF_SCHED_FLUSH, NULL), 2);
	cr_expect(mf_switch_link_up(r.sw, 2, MF_US(2)));
	cr_expect_not(mf_switch_link_up(r.sw, 3, MF_US(2)));
	g = answer(3, MF_US(3));
	rig_grant(&r, g.at, &g);
	rig_run(&r, MF_US(3));
	cr_expect(mf_switch_link_up(r.sw, 3, MF_US(3)));
	rig_stop(&r);
}

/* Who comes back is announced. Wall clock, unless a test says something else. */

#define ROOM 1024 /* blocks */

static struct mf_switch *new_switch(unsigned int ports, uint32_t room)
{
	struct mf_switch *sw;

	rig_config(&config, ports);
	for (unsigned int i = 0; i < ports; i++) {
		config.port[i].mux.period = 0;
		config.port[i].mux.memory_blocks = room;
	}
	memset(&config.timing, 0, sizeof(config.timing));
	config.window = true;
	sw = mf_switch_new(&config);
	cr_assert_not_null(sw);
	return sw;
}

static void arrives(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *w, unsigned int n)
{
	struct mf_span s = {.start = now};

	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, w[i]);
	mf_switch_rx(sw, port, now, &s);
}

static void arrives_single(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_msg *m)
{
	rig_single(m, word);
	arrives(sw, port, now, word, 1);
}

/** A chunk of a response from port 1 to port 0, as granted. */
static void response(struct mf_switch *sw, mf_time now, uint8_t id)
{
	static const uint8_t data[256];
	const struct mf_sched_grant g = rig_grant_of(now, 1, 0, id, true, false, 256, MF_SCHED_NO_COOKIE);
	const struct mf_msg m = {.kind = MF_RRES, .src = 1, .id = id, .size = 256, .last = true};

	mf_switch_grant(sw, now, &g);
	arrives(sw, 1, now, word, mf_proto_put_chunk(&config.proto, &m, data, word));
}

/** Takes all that a port has. @return messages written to m, of their first blocks */
static unsigned int all_messages(struct mf_switch *sw, unsigned int port, mf_time now, struct mf_msg *m)
{
	struct mf_span s;
	unsigned int n = 0;

	while (mf_switch_tx(sw, port, now, MF_SPAN_MAX, &s) > 0)
		for (unsigned int i = 0; i < s.count; i++) {
			if (s.sync[i] != MF_SYNC_CTRL || mf_block_type(s.word[i]) == MF_BT_MT)
				continue;
			if (mf_block_type(s.word[i]) == MF_BT_MS)
				mf_proto_peek(s.word[i], &m[n++]);
			else
				cr_assert_eq(mf_proto_get_single(s.word[i], &m[n++]), 0);
		}
	return n;
}

/** The same, with a word of a restart that is repeated taken for one. */
static unsigned int messages(struct mf_switch *sw, unsigned int port, mf_time now, struct mf_msg *m)
{
	unsigned int all = all_messages(sw, port, now, m), n = 0;

	for (unsigned int i = 0; i < all; i++)
		if (n == 0 || m[i].status != MF_ERR_RESTARTED || memcmp(&m[i], &m[n - 1], sizeof(m[i])) != 0)
			m[n++] = m[i];
	return n;
}

/** The link is lost, the scheduler knows nothing of the port any more, what waits there is thrown away. */
static void lose(struct mf_switch *sw, unsigned int port, mf_time now)
{
	const struct mf_sched_grant flushed = answer((uint16_t)port, now);
	struct mf_sched_msg m;
	struct mf_msg gone[ROOM];

	mf_switch_link_down(sw, port, now);
	mf_switch_run(sw, now);
	while (mf_switch_to_sched(sw, &m, 1) > 0)
		;
	mf_switch_grant(sw, now, &flushed);
	messages(sw, port, now, gone);
}

static bool says_restarted(const struct mf_msg *m, uint16_t to, uint16_t node)
{
	return m->kind == MF_ERR && m->status == MF_ERR_RESTARTED && m->src == node && m->dst == to;
}

/** Everything at one instant: behind what came before, in front of what comes from now on. */
Test(link, others_are_told_in_order)
{
	struct mf_switch *sw = new_switch(4, ROOM);
	struct mf_msg m[8];
	mf_time now = MF_US(1);

	response(sw, now, 1);
	lose(sw, 1, now);
	cr_assert(mf_switch_link_up(sw, 1, now));
	cr_assert(mf_switch_link_up(sw, 1, now), "once is enough");
	response(sw, now, 2);
	cr_assert_eq(messages(sw, 0, now, m), 3);
	cr_expect(m[0].kind == MF_RRES && m[0].id == 1);
	cr_expect(says_restarted(&m[1], 0, 1));
	cr_expect(m[2].kind == MF_RRES && m[2].id == 2);
	for (uint16_t i = 2; i < 4; i++) {
		cr_expect_eq(messages(sw, i, now, m), 1);
		cr_expect(says_restarted(&m[0], i, 1));
	}
	mf_switch_free(sw);
}

/** A word that is lost would be fatal: it comes several times, and says which time it is. */
Test(link, others_are_told_several_times)
{
	struct mf_switch *sw = new_switch(3, ROOM);
	struct mf_msg m[16];

	for (unsigned int incarnation = 1; incarnation < 600; incarnation++) {
		lose(sw, 1, incarnation);
		cr_assert(mf_switch_link_up(sw, 1, incarnation));
		for (uint16_t to = 0; to < 3; to += 2) {
			cr_assert_eq(all_messages(sw, to, incarnation, m), 3);
			for (unsigned int i = 0; i < 3; i++)
				cr_assert(says_restarted(&m[i], to, 1) &&
					  m[i].id == (incarnation - 1) % 255 + 1);
		}
	}
	mf_switch_free(sw);
}

/** In the midst of a chunk of another node the word may stand, but not in front of its own old ones. */
Test(link, the_word_stays_behind_a_message_that_waits)
{
	struct mf_switch *sw = new_switch(3, ROOM);
	const struct mf_sched_grant g = rig_grant_of(1, 2, 0, 9, true, false, 256, MF_SCHED_NO_COOKIE);
	const struct mf_msg other = {.kind = MF_RRES, .src = 2, .id = 9, .size = 256, .last = true};
	static const uint8_t data[256];
	uint64_t chunk[MF_BLOCKS_MAX];
	struct mf_span s = {.start = 1};
	struct mf_msg m[8];
	unsigned int n = mf_proto_put_chunk(&config.proto, &other, data, chunk);

	mf_switch_grant(sw, 1, &g);
	for (unsigned int i = 0; i < n / 2; i++)
		mf_span_put(&s, i == 0 ? MF_SYNC_CTRL : MF_SYNC_DATA, chunk[i]);
	mf_switch_rx(sw, 2, 1, &s);
	cr_assert_eq(messages(sw, 0, 1, m), 1); /* it holds the link */
	response(sw, 2, 1);
	lose(sw, 1, 2);
	cr_assert(mf_switch_link_up(sw, 1, 2));
	cr_expect_eq(messages(sw, 0, 2, m), 0);
	s = (struct mf_span){.start = 3};
	for (unsigned int i = n / 2; i < n; i++)
		mf_span_put(&s, i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, chunk[i]);
	mf_switch_rx(sw, 2, 3, &s);
	cr_assert_eq(messages(sw, 0, 3, m), 2);
	cr_expect(m[0].kind == MF_RRES && m[0].src == 1);
	cr_expect(says_restarted(&m[1], 0, 1));
	mf_switch_free(sw);
}

/** Where some port has no room the link stays down, and each port is told once all the same. */
Test(link, no_room_for_the_word)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = 2};
	struct mf_switch *sw = new_switch(4, 64);
	struct mf_msg m[ROOM];
	unsigned int n;

	while (mf_switch_stats(sw)->drop_room == 0)
		arrives_single(sw, 2, 1, &ack);
	lose(sw, 1, 2);
	cr_assert_not(mf_switch_link_up(sw, 1, 2));
	cr_assert_not(mf_switch_link_up(sw, 1, 3));
	n = messages(sw, 0, 4, m);
	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(m[i].kind, MF_ACK);
	cr_assert(mf_switch_link_up(sw, 1, 5));
	for (uint16_t i = 0; i < 4; i++) {
		cr_assert_eq(messages(sw, i, 5, m), i != 1);
		cr_expect(i == 1 || says_restarted(&m[0], i, 1));
	}
	cr_expect_eq(mf_switch_stats(sw)->drop_room, 1);
	mf_switch_free(sw);
}

/** A port whose own link is lost learns of others by that; what waits for it is gone before it is back. */
Test(link, who_is_down_is_not_told)
{
	struct mf_switch *sw = new_switch(3, ROOM);
	struct mf_msg m[8];

	const struct mf_sched_grant flushed = answer(0, 2);

	response(sw, 1, 1);
	mf_switch_link_down(sw, 0, 2);
	mf_switch_run(sw, 2);
	mf_switch_grant(sw, 2, &flushed);
	lose(sw, 1, 2);
	cr_expect(mf_switch_link_up(sw, 1, 2));
	cr_expect_not(mf_switch_link_up(sw, 0, 2), "a chunk waits for who was there");
	cr_expect_eq(messages(sw, 0, 3, m), 1, "thrown away by the engine");
	cr_expect(mf_switch_link_up(sw, 0, 3));
	cr_expect_eq(messages(sw, 0, 3, m), 0);
	cr_expect_eq(messages(sw, 1, 3, m), 1);
	cr_expect(says_restarted(&m[0], 1, 0));
	cr_expect_eq(messages(sw, 2, 3, m), 2);
	cr_expect(says_restarted(&m[0], 2, 1) && says_restarted(&m[1], 2, 0));
	mf_switch_free(sw);
}

static void hears(struct mf_switch *sw, uint16_t port, uint16_t of, uint16_t incarnation, mf_time now)
{
	struct mf_msg m = {.kind = MF_ERR, .src = port, .dst = of, .status = MF_ERR_INCARNATION};

	mf_proto_set_incarnation(&m, incarnation);
	arrives_single(sw, port, now, &m);
}

/** A read, and the notification of a write. @return how many of both were taken for demands */
static unsigned int asks(struct mf_switch *sw, uint16_t port, uint16_t of, mf_time now)
{
	const struct mf_msg read = {.kind = MF_RREQ, .src = port, .dst = of, .id = 1, .size = 64};
	const struct mf_msg write = {.kind = MF_NOTIFY, .dst = of, .id = 2, .size = 64};
	struct mf_sched_msg m;
	unsigned int n = 0;

	arrives(sw, port, now, word, mf_proto_put_request(&config.proto, &read, word));
	word[0] = mf_proto_put_single(&write);
	arrives(sw, port, now, word, 1);
	while (mf_switch_to_sched(sw, &m, 1) > 0)
		n += m.kind == MF_SCHED_DEMAND;
	return n;
}

/**
 * What was asked of a node before its link was lost may have been done, and be asked again by who has not
 * heard of that yet: nothing passes to the node until its asker has. Who has lost its own link since knows
 * nothing.
 */
Test(link, what_was_asked_of_a_former_incarnation)
{
	struct mf_switch *sw = new_switch(3, ROOM);
	const struct mf_switch_stats *st = mf_switch_stats(sw);

	cr_expect_eq(asks(sw, 0, 1, 1), 2);
	lose(sw, 1, 2);
	cr_assert(mf_switch_link_up(sw, 1, 2));
	cr_expect_eq(asks(sw, 0, 1, 3), 0);
	cr_expect_eq(st->drop_link, 2);
	cr_expect_eq(asks(sw, 1, 0, 3), 2, "what it asks itself is new");
	cr_expect_eq(asks(sw, 0, 2, 3), 2, "of another one");
	hears(sw, 0, 1, 7, 4);
	cr_expect_eq(asks(sw, 0, 1, 4), 0, "another life");
	hears(sw, 0, 1, 1, 5);
	cr_expect_eq(asks(sw, 0, 1, 5), 2);
	cr_expect_eq(asks(sw, 2, 1, 5), 0, "who has not heard");
	lose(sw, 2, 6);
	cr_assert(mf_switch_link_up(sw, 2, 6));
	cr_expect_eq(asks(sw, 2, 1, 6), 2, "who has forgotten");
	cr_expect_eq(st->drop_link, 6);
	mf_switch_free(sw);
}

/** No node can say it, of itself or of another one; nor does it end what is granted. */
Test(link, a_node_cannot_say_it)
{
	struct mf_switch *sw = new_switch(3, ROOM);
	struct mf_msg say = {.kind = MF_ERR, .src = 1, .dst = 0, .status = MF_ERR_RESTARTED}, m[8];
	struct mf_sched_msg told;

	arrives_single(sw, 1, 1, &say);
	say.src = 2;
	arrives_single(sw, 1, 1, &say);
	cr_expect_eq(mf_switch_stats(sw)->drop_spoof, 2);
	cr_expect_eq(mf_switch_stats(sw)->errors, 0);
	cr_expect_eq(messages(sw, 0, 1, m), 0);
	cr_expect_eq(mf_switch_to_sched(sw, &told, 1), 0);
	mf_switch_free(sw);
}

/* Wall clock, random traffic. Nodes answer every grant, and remember nothing. */

#define PORTS 6
#define CHUNK 256
#define WINDOW 1024
#define X 3
#define CABLE 512 /* messages */
#define AGAIN MF_US(40)

/** What a node has sent, and has not arrived. */
struct cable {
	struct {
		unsigned int n;
		uint64_t word[CHUNK / 8 + 8];
	} message[CABLE];
	unsigned int head, tail;
};

struct play {
	struct mf_switch *sw;
	const struct mf_sched_ops *ops;
	struct mf_sched *sched;
	struct mf_rng rng;
	mf_time now;
	bool lost[PORTS];
	bool soon[PORTS]; /**< once lost, the link is back while answers are under way */
	bool calm; /**< no link is lost any more */
	uint8_t id[PORTS];
	uint64_t sent, got; /**< chunks */
	uint8_t said[PORTS][PORTS]; /**< which time, to whom, of whom */
	uint8_t incarnation[PORTS]; /**< how often its link was lost; in what it sends */
	uint8_t known[PORTS][PORTS]; /**< by who is told: the incarnation that a port is known to be in */
	uint8_t first_of[PORTS]; /**< a chunk that leaves here, and its data are next: its source, plus one */
	bool answers[PORTS]; /**< that chunk is of a response */
	uint64_t compared,
		answered; /**< chunks whose incarnation was looked at, of senders and of who had asked */
	struct cable cable[PORTS];
};

static unsigned int below(struct play *p, unsigned int n)
{
	return (unsigned int)mf_rng_below(&p->rng, n);
}

/** The link of a port is lost: it will come back as another one. */
static void down(struct play *p, unsigned int port)
{
	p->lost[port] = true;
	p->incarnation[port]++;
	p->cable[port].head = p->cable[port].tail;
	mf_switch_link_down(p->sw, port, p->now);
}

/** It comes back, if it may, and knows that all may be others by now; who is lost yet it will be told of. */
static void up(struct play *p, unsigned int port)
{
	p->lost[port] = !mf_switch_link_up(p->sw, port, p->now);
	p->first_of[port] = 0;
	for (unsigned int i = 0; i < PORTS && !p->lost[port]; i++)
		p->known[port][i] = (uint8_t)(p->incarnation[i] - p->lost[i]);
}

static void arrive(struct play *p, unsigned int port, unsigned int n)
{
	struct mf_span s = {.start = p->now};

	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	if (n > 2 && below(p, 4) == 0) { /* in two parts, and the link may be lost between them */
		struct mf_span rest = s;

		s.count = (uint16_t)(1 + below(p, n - 1));
		rest.count = (uint16_t)(n - s.count);
		memmove(rest.word, rest.word + s.count, rest.count * sizeof(rest.word[0]));
		memmove(rest.sync, rest.sync + s.count, rest.count);
		mf_switch_rx(p->sw, port, p->now, &s);
		if (!p->calm && below(p, 20) == 0) {
			down(p, port);
		} else {
			mf_switch_rx(p->sw, port, p->now, &rest);
		}
		return;
	}
	mf_switch_rx(p->sw, port, p->now, &s);
}

/** What is in a word now is on its way. */
static void send(struct play *p, unsigned int port, unsigned int n)
{
	struct cable *c = &p->cable[port];

	cr_assert_lt(c->tail - c->head, CABLE);
	c->message[c->tail % CABLE].n = n;
	memcpy(c->message[c->tail++ % CABLE].word, word, n * sizeof(word[0]));
}

/** What is on its way arrives, at last. */
static bool arrivals(struct play *p, unsigned int port)
{
	struct cable *c = &p->cable[port];
	bool any = c->head != c->tail;

	for (bool long_way = below(p, 4) != 0; c->head != c->tail && !long_way;) {
		unsigned int n = c->message[c->head % CABLE].n;

		memcpy(word, c->message[c->head++ % CABLE].word, n * sizeof(word[0]));
		arrive(p, port, n);
	}
	return any;
}

static void demand(struct play *p, unsigned int port)
{
	struct mf_msg m = {.kind = below(p, 2) ? MF_RREQ : MF_NOTIFY,
			   .src = (uint16_t)port,
			   .dst = (uint16_t)((port + 1 + below(p, PORTS - 1)) % PORTS),
			   .id = p->id[port]++,
			   .size = 2 + 2 * below(p, 2 * CHUNK)}; /* room for both lives in each chunk */

	if (m.kind == MF_RREQ)
		send(p, port, mf_proto_put_request(&config.proto, &m, word));
	else
		send(p, port, rig_single(&m, word));
}

/** Sends the chunk of a grant, most of the time. */
static void chunk(struct play *p, unsigned int port, uint16_t dst, uint8_t id, bool resp, uint32_t size)
{
	static uint8_t data[CHUNK];
	struct mf_msg m = {.kind = resp ? MF_RRES : MF_WREQ,
			   .src = (uint16_t)port,
			   .dst = dst,
			   .id = id,
			   .size = size,
			   .last = true};

	p->sent++;
	data[0] = p->incarnation[port];
	data[1] = p->known[port][dst];
	send(p, port, mf_proto_put_chunk(&config.proto, &m, data, word));
}

/** Behind all that was sent before; that may be lost. */
static void say_heard(struct play *p, unsigned int port, const struct mf_msg *m)
{
	const struct mf_msg heard = {.kind = MF_ERR,
				     .src = (uint16_t)port,
				     .dst = m->src,
				     .id = m->id,
				     .status = MF_ERR_INCARNATION};

	if (below(p, 4) != 0)
		send(p, port, rig_single(&heard, word));
}

/** A port is told that another one is back: by then it is, and has not been told of before. */
static void told(struct play *p, unsigned int port, const struct mf_msg *m)
{
	cr_assert_eq(m->status, MF_ERR_RESTARTED);
	say_heard(p, port, m);
	if (p->said[port][m->src] == m->id)
		return;
	p->said[port][m->src] = m->id;
	p->known[port][m->src]++;
	cr_assert_eq(p->known[port][m->src], (uint8_t)(p->incarnation[m->src] - p->lost[m->src]));
}

/**
 * The first data of a chunk: it is from an incarnation that the port has been told of, and from no former
 * one. What answers is for no former one.
 */
static void compare(struct play *p, unsigned int port, uint64_t data)
{
	if (p->first_of[port] == 0)
		return;
	cr_assert_eq(data & 0xff, p->known[port][p->first_of[port] - 1]);
	if (p->answers[port])
		cr_assert_eq(data >> 8 & 0xff, p->incarnation[port]);
	p->answered += p->answers[port];
	p->first_of[port] = 0;
	p->compared++;
}

/** What leaves at a port is thrown away where its link is lost. */
static bool deliver(struct play *p, unsigned int port)
{
	struct mf_span s;
	struct mf_msg m;
	unsigned int n = mf_switch_tx(p->sw, port, p->now, MF_SPAN_MAX, &s);

	for (unsigned int i = 0; i < n && !p->lost[port]; i++) {
		if (s.sync[i] != MF_SYNC_CTRL) {
			compare(p, port, s.word[i]);
		} else if (mf_block_type(s.word[i]) == MF_BT_MST) {
			cr_assert_eq(mf_proto_get_single(s.word[i], &m), 0);
			if (m.status != MF_ERR_RESOURCE) /* beyond X: who asks does not count here */
				told(p, port, &m);
		} else if (mf_block_type(s.word[i]) == MF_BT_MT) {
			p->first_of[port] = 0;
		} else if (mf_block_type(s.word[i]) == MF_BT_G) {
			cr_assert_eq(mf_proto_get_single(s.word[i], &m), 0);
			chunk(p, port, m.dst, m.id, m.resp, m.size);
		} else if (mf_block_type(s.word[i]) == MF_BT_MS && mf_proto_kind(s.word[i]) == MF_RREQ) {
			cr_assert_eq(mf_proto_get_rreq(&config.proto, &s.word[i], 2, &m), 0);
			chunk(p, port, m.src, m.id, true, m.size < CHUNK ? m.size : CHUNK);
		} else if (mf_block_type(s.word[i]) == MF_BT_MS) {
			mf_proto_peek(s.word[i], &m);
			p->first_of[port] = (uint8_t)(m.src + 1);
			p->answers[port] = m.kind == MF_RRES;
			p->got++;
		}
	}
	return n > 0;
}

static bool turn(struct play *p)
{
	struct mf_sched_grant g[16];
	struct mf_sched_msg msg;
	unsigned int n;
	bool work = false;

	mf_switch_run(p->sw, p->now);
	while (mf_switch_to_sched(p->sw, &msg, 1) > 0) {
		cr_assert_eq(p->ops->input(p->sched, &msg), 0);
		work = true;
	}
	while ((n = p->ops->run(p->sched, p->now, g, 16)) > 0)
		for (unsigned int i = 0; i < n; i++) {
			mf_switch_grant(p->sw, p->now, &g[i]);
			work = true;
		}
	for (unsigned int i = 0; i < PORTS; i++)
		work |= deliver(p, i);
	for (unsigned int i = 0; i < PORTS; i++)
		work |= !p->lost[i] && arrivals(p, i);
	return work;
}

static void change_links(struct play *p)
{
	unsigned int port = below(p, PORTS);

	if (below(p, 48) == 0 && !p->lost[port])
		down(p, port);
	for (unsigned int i = 0; i < PORTS; i++)
		if (p->lost[i] && below(p, p->soon[i] ? 3 : 48) == 0) {
			up(p, i);
			p->soon[i] = below(p, 2);
			p->id[i] -= (uint8_t)below(p, 8); /* it has forgotten what was under way */
		}
}

/** All links come back, and what is owed is paid or expires. */
static void settle(struct play *p)
{
	for (unsigned int quiet = 0; quiet < 1000; quiet++) {
		p->now += MF_US(1);
		for (unsigned int i = 0; i < PORTS; i++)
			if (p->lost[i])
				up(p, i);
		if (turn(p))
			quiet = 0;
	}
	for (unsigned int i = 0; i < PORTS; i++)
		cr_assert_not(p->lost[i]);
}

static void one_seed(uint64_t seed)
{
	struct mf_sched_config sc = {.ports = PORTS,
				     .priority = seed % 2 ? MF_SCHED_SRPT : MF_SCHED_FCFS,
				     .release = MF_RELEASE_WINDOW,
				     .chunk = CHUNK,
				     .x = X,
				     .window = WINDOW,
				     .chunk_overhead = 2};
	struct play p = {.now = MF_US(1), .ops = seed % 4 < 2 ? &mf_sched_pim : &mf_sched_greedy};
	struct mf_sched_stats st;

	mf_rng_init(&p.rng, seed, "link", 0);
	rig_config(&config, PORTS);
	for (unsigned int i = 0; i < PORTS; i++)
		config.port[i].mux.period = 0;
	config.window = true;
	config.requests = 2 * X * PORTS * PORTS;
	config.grant_timeout = MF_US(300);
	config.hold_timeout = MF_US(100);
	config.take_again = AGAIN;
	memset(&config.timing, 0, sizeof(config.timing));
	p.sw = mf_switch_new(&config);
	p.sched = p.ops->create(&sc);
	cr_assert(p.sw && p.sched);
	for (unsigned int round = 0; round < 2000; round++) {
		p.now += MF_US(1);
		for (unsigned int i = 0; i < PORTS; i++)
			if (!p.lost[i] && below(&p, 3) == 0)
				demand(&p, i);
		change_links(&p);
		turn(&p);
	}
	p.calm = true;
	settle(&p);
	cr_assert_gt(p.compared, 0);
	cr_assert_gt(p.answered, 0);
	for (unsigned int i = 0; i < PORTS * PORTS; i++)
		cr_assert(i % PORTS == i / PORTS || p.known[i / PORTS][i % PORTS] == p.incarnation[i % PORTS],
			  "seed %lu: %u was not told of %u", seed, i / PORTS, i % PORTS);
	p.ops->stats(p.sched, &st);
	cr_assert_eq(st.entries, 0, "seed %lu: %lu demands left", seed, st.entries);
	cr_assert_gt(st.flushed, 0);
	cr_assert_eq(mf_switch_stats(p.sw)->drop_descriptor, 0, "seed %lu", seed);
	cr_assert_eq(mf_switch_stats(p.sw)->drop_room, 0, "seed %lu: a slot has leaked", seed);

	/* All windows are back: a demand of a whole window from every port is granted at once. */
	for (unsigned int i = 0; i < PORTS; i++) {
		struct mf_msg m = {.kind = MF_NOTIFY,
				   .src = (uint16_t)i,
				   .dst = (uint16_t)((i + 1) % PORTS),
				   .id = 99,
				   .size = WINDOW};
		struct mf_span s = {.start = p.now};

		rig_single(&m, word);
		mf_span_put(&s, MF_SYNC_CTRL, word[0]);
		mf_switch_rx(p.sw, i, p.now, &s);
	}
	for (uint64_t before = p.sent; p.sent < before + PORTS * WINDOW / CHUNK;)
		cr_assert(turn(&p), "seed %lu: a window has leaked", seed);
	p.ops->destroy(p.sched);
	mf_switch_free(p.sw);
}

Test(link, nothing_leaks_at_random_times)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		one_seed(seed);
}
