/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts under the wall clock, each alone on its link: the link is lost, and comes back. */
#include <criterion/criterion.h>
#include <string.h>

#include "systems/edm/host/mf_host.h"
#include "systems/edm/proto/mf_proto_inline.h"

static struct mf_host_config config(uint16_t node)
{
	return (struct mf_host_config){
		.node = node,
		.nodes = 2,
		.compute = node == 0,
		.x = 2,
		.chunk = 256,
		.queue = 64,
		.read_timeout = MF_SEC(1),
		.write_timeout = MF_SEC(1),
		.mux = {.memory_blocks = 1024,
			.memory_items = 64,
			.frames = 4,
			.frame_bytes = 9000,
			.quantum = 16,
			.memory_enabled = true},
		.memory_enabled = true,
		.ber_window = MF_US(125),
	};
}

static void submit(struct mf_host *h, mf_time now, enum mf_op_kind kind, void *buf, uint64_t user)
{
	struct mf_op op = {.kind = kind, .node = 1, .addr = 64, .len = 600, .buf = buf, .user = user};

	cr_assert_eq(mf_host_submit(h, now, &op), 0);
}

/** @return blocks, all that it has to send */
static unsigned int send_all(struct mf_host *h, mf_time now, struct mf_span *s)
{
	unsigned int n = mf_host_tx(h, now, MF_SPAN_MAX, s);
	struct mf_span more;

	cr_assert_eq(mf_host_tx(h, now, MF_SPAN_MAX, &more), 0);
	return n;
}

static void give(struct mf_host *h, mf_time now, const uint64_t *word, unsigned int n)
{
	struct mf_span s = {.start = now};

	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	mf_host_rx(h, now, &s);
}

/** Of each kind one that has begun, and one that waits for X: those fail at once, this one goes later. */
Test(host_link, what_is_under_way_fails_and_what_waits_goes_later)
{
	struct mf_host_config c = config(0);
	struct mf_host *h = mf_host_new(&c);
	static const uint8_t data[MF_MESSAGE_MAX];
	static uint8_t buf[600];
	struct mf_msg grant = {.kind = MF_GRANT, .dst = 1, .size = 256};
	struct mf_msg late = {.kind = MF_RRES, .src = 1, .dst = 0, .size = 256};
	struct mf_completion done[16];
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_span s;
	unsigned int n;

	cr_assert_not_null(h);
	memset(buf, 0x77, sizeof(buf));
	submit(h, 1, MF_OP_READ, buf, 1);
	submit(h, 1, MF_OP_WRITE, buf, 2);
	submit(h, 1, MF_OP_WRITE_ACK, buf, 3);
	submit(h, 1, MF_OP_READ, buf, 4);
	submit(h, 1, MF_OP_READ, buf, 5); /* the third of X = 2 */
	cr_assert_eq(send_all(h, 2, &s), 2 + 1 + 1 + 2);
	grant.id = 1;
	word[0] = mf_proto_put_single(&grant);
	give(h, 3, word, 1); /* its chunk waits to be sent */
	mf_host_link_lost(h, 4);

	n = mf_host_completions(h, 4, done, 16);
	cr_assert_eq(n, 4);
	for (unsigned int i = 0; i < n; i++) {
		bool read = done[i].kind == MF_OP_READ;

		cr_expect_leq(done[i].user, 4);
		cr_expect_eq(done[i].len, 0);
		cr_expect_eq(done[i].status, read ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
	}
	cr_expect_eq(mf_host_stats(h)->link_lost, 4);
	cr_expect_eq(mf_host_outstanding(h), 1);
	cr_expect_eq(send_all(h, 5, &s), 2, "the one that waited, and nothing of before");
	cr_expect_eq(mf_proto_kind(s.word[0]), MF_RREQ);

	/* The data of the first read come after all, from a node that has not heard of it. */
	late.id = 0;
	give(h, 6, word, mf_proto_put_chunk(&c.proto, &late, data, word));
	for (unsigned int i = 0; i < sizeof(buf); i++)
		cr_assert_eq(buf[i], 0x77);
	cr_expect_eq(mf_host_completions(h, 6, done, 16), 0);
	cr_expect_gt(mf_host_stats(h)->drop_unknown, 0);
	mf_host_free(h);
}

static void read_64(struct mf_host *h, mf_time now, void *buf, uint64_t user)
{
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .addr = 64, .len = 64, .buf = buf, .user = user};
	struct mf_span s;

	cr_assert_eq(mf_host_submit(h, now, &op), 0);
	send_all(h, now, &s);
}

/** A host that had no CPU when its timers ended: what has come meanwhile counts, and what has not is over
 * soon. */
Test(host_link, who_had_no_cpu_takes_what_has_come_first)
{
	struct mf_host_config c = config(0);
	struct mf_host *h = mf_host_new(&c);
	struct mf_msg answer = {.kind = MF_RRES, .src = 1, .dst = 0, .id = 0, .size = 64, .last = true};
	struct mf_completion done[2];
	uint8_t buf[2][64] = {0}, data[64] = {1};
	uint64_t word[MF_BLOCKS_MAX];
	mf_time now = MF_SEC(3);

	cr_assert_not_null(h);
	read_64(h, 1, buf[0], 1);
	read_64(h, 2, buf[1], 2);
	give(h, now, word, mf_proto_put_chunk(&c.proto, &answer, data, word));
	mf_host_run(h, now + MF_US(1));
	cr_assert_eq(mf_host_completions(h, now + MF_US(1), done, 2), 1, "the answer that was there");
	cr_expect(done[0].user == 1 && done[0].status == MF_OK && done[0].len == 64);
	cr_expect_leq(mf_host_next(h), now + MF_MS(20));
	mf_host_run(h, now + MF_MS(20));
	cr_assert_eq(mf_host_completions(h, now + MF_MS(20), done, 2), 1, "nothing more has come");
	cr_expect(done[0].user == 2 && done[0].status == MF_ERR_TIMEOUT);
	/* And not again at once, however late it is. */
	read_64(h, now + MF_MS(30), buf[0], 3);
	mf_host_run(h, now + MF_MS(30) + MF_SEC(1) + MF_MS(1));
	cr_expect_eq(mf_host_completions(h, now + MF_SEC(2), done, 2), 1);
	mf_host_free(h);
}

/** A memory node that was about to answer, and was receiving a write in parts. */
Test(host_link, a_memory_node_forgets_what_it_owed)
{
	struct mf_memory_config mc = {.size = 4096, .numa_node = -1};
	struct mf_host_config c = config(1);
	struct mf_host *h;
	uint64_t word[MF_BLOCKS_MAX];
	uint8_t data[256];
	struct mf_msg read = {.kind = MF_RREQ, .src = 0, .dst = 1, .id = 3, .size = 600};
	struct mf_msg write = {.kind = MF_WREQ_ACK, .src = 0, .dst = 1, .id = 4, .size = 256, .last = true};
	struct mf_msg grant = {.kind = MF_GRANT, .dst = 0, .id = 3, .size = 256, .resp = true};
	struct mf_span s = {.start = 1};
	unsigned int n;

	c.memory_ops = mf_memory_find("flat");
	c.memory = c.memory_ops->create(&mc);
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	give(h, 1, word, mf_proto_put_request(&c.proto, &read, word));
	memset(data, 0xab, sizeof(data));
	n = mf_proto_put_chunk(&c.proto, &write, data, word);
	for (unsigned int i = 0; i < n / 2; i++)
		mf_span_put(&s, i == 0 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	mf_host_rx(h, 1, &s);
	mf_host_link_lost(h, 2);
	cr_expect_eq(send_all(h, 3, &s), 0);
	cr_expect_eq(mf_host_demux(h)->stats.aborts, 1);

	/* What is left of the cut write means nothing; a whole one is taken. */
	s = (struct mf_span){.start = 4};
	for (unsigned int i = n / 2; i < n; i++)
		mf_span_put(&s, i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	mf_host_rx(h, 4, &s);
	cr_expect_eq(send_all(h, 5, &s), 0);
	give(h, 6, word, n);
	cr_expect_eq(send_all(h, 7, &s), 1, "its acknowledgement");

	/* A /G/ of the old response is of no use. */
	word[0] = mf_proto_put_single(&grant);
	give(h, 8, word, 1);
	cr_expect_eq(mf_host_stats(h)->grants_returned, 1);
	mf_host_free(h);
	c.memory_ops->destroy(c.memory);
}

/* Another node's link was lost: the switch says so. */

struct restarts {
	unsigned int count;
	uint16_t node[8];
	struct mf_host *host; /**< or NULL: what goes on is not asked */
	bool own; /**< the link that was lost last */
	unsigned int going;
	uint64_t user; /**< of the last that goes on */
};

static void goes_on(void *ctx, uint64_t user)
{
	struct restarts *r = ctx;

	r->going++;
	r->user = user;
}

static void restarted(void *ctx, uint16_t node)
{
	struct restarts *r = ctx;

	cr_assert_lt(r->count, 8);
	r->node[r->count++] = node;
	if (r->host == NULL)
		return;
	r->own = mf_host_link_is_lost(r->host);
	mf_host_under_way(r->host, node, goes_on, r);
}

static void say(struct mf_host *h, mf_time now, uint16_t node, uint8_t time)
{
	const struct mf_msg m = {.kind = MF_ERR, .src = node, .id = time, .status = MF_ERR_RESTARTED};
	const uint64_t word = mf_proto_put_single(&m);

	give(h, now, &word, 1);
}

/** The switch says each time which it is, and says it several times. */
static void say_restarted(struct mf_host *h, mf_time now, uint16_t node)
{
	static uint8_t time;

	time++;
	for (int i = 0; i < 3; i++)
		say(h, now, node, time);
}

/** So many blocks from i on are those in which it says that it knows the incarnation of a node. */
static bool says_heard(const struct mf_span *s, unsigned int i, unsigned int times, uint16_t node)
{
	struct mf_msg m;

	for (unsigned int end = i + times; i < end; i++)
		if (i >= s->count || mf_proto_get_single(s->word[i], &m) != 0 || m.kind != MF_ERR ||
		    m.status != MF_ERR_INCARNATION || m.src != 0 || m.dst != node ||
		    mf_proto_incarnation(&m) == 0)
			return false;
	return true;
}

/** What is under way to it fails at once, and nothing else; what waited goes to who is there now. */
Test(host_link, another_node_was_lost)
{
	struct mf_host_config c = config(0);
	struct mf_msg res = {.kind = MF_RRES, .src = 1, .dst = 0, .id = 0, .size = 256};
	struct mf_msg grant = {.kind = MF_GRANT, .dst = 1, .id = 1, .size = 256};
	struct restarts told = {0};
	struct mf_completion done[16];
	static uint8_t buf[4][600], data[MF_MESSAGE_MAX];
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_host *h;
	struct mf_span s;
	unsigned int n;

	c.nodes = 3;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	told.host = h;
	mf_host_on_restart(h, restarted, &told);
	submit(h, 1, MF_OP_READ, buf[0], 1);
	submit(h, 1, MF_OP_WRITE, buf[1], 2);
	submit(h, 1, MF_OP_WRITE_ACK, buf[1], 3);
	submit(h, 1, MF_OP_READ, buf[2], 4);
	submit(h, 1, MF_OP_READ, buf[3], 5); /* the third of X = 2 */
	struct mf_op other = {.kind = MF_OP_READ, .node = 2, .len = 64, .buf = buf[3], .user = 6};

	cr_assert_eq(mf_host_submit(h, 1, &other), 0);
	cr_assert_gt(send_all(h, 2, &s), 0);
	give(h, 3, word, mf_proto_put_chunk(&c.proto, &res, data, word)); /* some of what was there before */
	say_restarted(h, 4, 1);
	cr_expect(told.count == 1 && told.node[0] == 1);
	cr_expect(told.going == 1 && told.user == 5 && !told.own);
	mf_host_run(h, 4);
	n = mf_host_completions(h, 4, done, 16);
	cr_assert_eq(n, 4);
	for (unsigned int i = 0; i < n; i++) {
		cr_expect_leq(done[i].user, 4);
		cr_expect_eq(done[i].len, 0);
		cr_expect_eq(done[i].status, done[i].kind == MF_OP_READ ? MF_ERR_RESTARTED : MF_ERR_UNKNOWN);
	}
	cr_expect_eq(mf_host_outstanding(h), 2);
	cr_expect_eq(send_all(h, 5, &s), 2 + 3, "the one that waited");
	cr_expect(says_heard(&s, 0, 1, 1), "in front of it: the switch takes nothing before");
	cr_expect(says_heard(&s, 3, 2, 1), "as often as it was told");
	mf_proto_peek(s.word[1], &res);
	cr_expect(res.kind == MF_RREQ && res.id > 1, "ids rest");

	/* Who is there now answers what was asked before the word came: it is of no use any more. */
	res = (struct mf_msg){.kind = MF_RRES, .src = 1, .id = 0, .size = 256, .offset = 256};
	give(h, 6, word, mf_proto_put_chunk(&c.proto, &res, data, word));
	word[0] = mf_proto_put_single(&grant);
	give(h, 6, word, 1);
	mf_host_run(h, 6);
	cr_expect_eq(mf_host_completions(h, 6, done, 16), 0);
	cr_expect_gt(mf_host_stats(h)->drop_unknown, 0);
	cr_expect_eq(mf_host_stats(h)->grants_returned, 1);

	/* What comes from elsewhere is nobody's loss; nor does a lie about oneself harm. */
	res = (struct mf_msg){.kind = MF_RRES, .src = 2, .id = 0, .size = 64, .last = true};
	give(h, 7, word, mf_proto_put_chunk(&c.proto, &res, data, word));
	cr_assert_eq(mf_host_completions(h, 7, done, 16), 1);
	cr_expect(done[0].user == 6 && done[0].status == MF_OK);
	say_restarted(h, 8, 0);
	cr_expect_eq(told.count, 1);
	cr_expect_eq(send_all(h, 9, &s), 1, "the grant that came back");
	mf_host_free(h);
}

/** What was written and not acknowledged may be lost: the client is told, and what is under way goes on. */
Test(host_link, writes_to_another_node_may_be_lost)
{
	const struct mf_msg lost = {.kind = MF_ERR, .src = 1, .status = MF_ERR_INCARNATION};
	const struct mf_msg res = {.kind = MF_RRES, .src = 1, .size = 256};
	struct mf_host_config c = config(0);
	struct mf_host *h = mf_host_new(&c);
	struct restarts told = {.host = h};
	struct mf_completion done[4];
	static uint8_t buf[600], data[MF_MESSAGE_MAX];
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_msg chunk = res;
	struct mf_span s;

	cr_assert_not_null(h);
	mf_host_on_restart(h, restarted, &told);
	submit(h, 1, MF_OP_READ, buf, 1);
	cr_assert_eq(send_all(h, 2, &s), 2);
	word[0] = mf_proto_put_single(&lost);
	give(h, 3, word, 1);
	cr_expect(told.count == 1 && told.node[0] == 1 && told.own);
	cr_expect(told.going == 1 && told.user == 1);
	cr_expect_eq(send_all(h, 3, &s), 0, "it is no life, and not answered");
	for (; chunk.offset < 600; chunk.offset += 256) {
		chunk.size = 600 - chunk.offset < 256 ? 600 - chunk.offset : 256;
		chunk.last = chunk.offset + chunk.size == 600;
		give(h, 4 + chunk.offset, word, mf_proto_put_chunk(&c.proto, &chunk, data, word));
	}
	mf_host_run(h, 1000);
	cr_assert_eq(mf_host_completions(h, 1000, done, 4), 1);
	cr_expect_eq(done[0].status, MF_OK);
	cr_expect_eq(mf_host_stats(h)->link_lost, 0);
	mf_host_free(h);
}

/** The own link: all others may have lost something. */
Test(host_link, the_own_link_is_that_of_all)
{
	struct mf_host_config c = config(0);
	struct restarts told = {0};
	struct mf_host *h;

	c.nodes = 4;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	mf_host_link_lost(h, 1); /* nobody wants to know */
	told.host = h;
	mf_host_on_restart(h, restarted, &told);
	mf_host_link_lost(h, 2);
	cr_expect(told.own && told.going == 0);
	cr_expect_not(mf_host_link_is_lost(h));
	cr_expect(told.count == 3 && told.node[0] == 1 && told.node[1] == 2 && told.node[2] == 3);
	mf_host_free(h);
}

/** A node that is both: what it owes is not the matter; one that only serves does not care. */
Test(host_link, both_roles_and_memory_only)
{
	struct mf_memory_config mc = {.size = 4096, .numa_node = -1};
	struct mf_msg read = {.kind = MF_RREQ, .src = 1, .dst = 0, .id = 3, .size = 64};
	uint64_t word[MF_BLOCKS_MAX];
	static uint8_t buf[600];

	for (int both = 0; both < 2; both++) {
		struct mf_host_config c = config(0);
		struct restarts told = {0};
		struct mf_completion done[2];
		struct mf_host *h;
		struct mf_span s;

		c.compute = both;
		c.memory_ops = mf_memory_find("flat");
		c.memory = c.memory_ops->create(&mc);
		h = mf_host_new(&c);
		cr_assert_not_null(h);
		mf_host_on_restart(h, restarted, &told);
		if (both)
			submit(h, 1, MF_OP_READ, buf, 1);
		send_all(h, 1, &s);
		give(h, 2, word, mf_proto_put_request(&c.proto, &read, word));
		say_restarted(h, 3, 1);
		mf_host_run(h, 3);
		cr_expect_eq(told.count, (unsigned int)both);
		cr_expect_eq(mf_host_completions(h, 3, done, 2), (unsigned int)both);
		cr_expect_eq(send_all(h, 4, &s), 2 + 64 / 8 + 3, "the answer that was made");
		cr_expect(says_heard(&s, 2 + 64 / 8, 3, 1), "behind it");
		mf_host_free(h);
		c.memory_ops->destroy(c.memory);
	}
}

/** What is left of an answer to an incarnation that is over is not sent to the next one, whatever is granted.
 */
Test(host_link, an_answer_to_a_former_incarnation_is_over)
{
	struct mf_memory_config mc = {.size = 4096, .numa_node = -1};
	struct mf_msg read = {.kind = MF_RREQ, .src = 1, .dst = 0, .id = 3, .size = 512}, m;
	const struct mf_msg grant = {.kind = MF_GRANT, .dst = 1, .id = 3, .size = 256, .resp = true};
	struct mf_host_config c = config(0);
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_host *h;
	struct mf_span s;

	c.compute = false;
	c.memory_ops = mf_memory_find("flat");
	c.memory = c.memory_ops->create(&mc);
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	give(h, 1, word, mf_proto_put_request(&c.proto, &read, word));
	cr_expect_eq(send_all(h, 2, &s), 2 + c.chunk / 8);
	say_restarted(h, 3, 1);
	word[0] = mf_proto_put_single(&grant);
	give(h, 4, word, 1);
	cr_assert_eq(send_all(h, 5, &s), 3 + 1);
	cr_expect(says_heard(&s, 0, 3, 1));
	cr_expect(mf_proto_get_single(s.word[3], &m) == 0 && m.kind == MF_GRET && m.resp);
	mf_host_free(h);
	c.memory_ops->destroy(c.memory);
}

/** A link that does not come back: whatever is asked for ends by its timer, also what is more than fits. */
static void dead_link(mf_time quarantine)
{
	struct mf_host_config c = config(0);
	struct mf_completion done[16];
	struct mf_host *h;
	mf_time now = 1;
	static uint8_t buf[600];
	unsigned int asked = 0, ended = 0;

	c.quarantine = quarantine;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	mf_host_link_lost(h, now);
	while (asked < 4000) {
		for (unsigned int i = 0; i < 4; i++)
			submit(h, now, i % 2 == 0 ? MF_OP_READ : MF_OP_WRITE_ACK, buf, ++asked);
		now += c.read_timeout + 1;
		mf_host_run(h, now);
		for (unsigned int n; (n = mf_host_completions(h, now, done, 16)) > 0; ended += n)
			for (unsigned int i = 0; i < n; i++)
				cr_assert_neq(done[i].status, MF_OK);
		cr_assert_leq(asked - ended, 4, "%u of %u have ended", ended, asked);
	}
	mf_host_free(h);
}

Test(host_link, what_is_asked_of_a_dead_link_ends)
{
	dead_link(0);
	dead_link(MF_MS(10));
	dead_link(MF_SEC(4));
}

/** Sends all that waits. @return how many requests, whose ids are in id */
static unsigned int sent_ids(struct mf_host *h, mf_time now, uint8_t id[16])
{
	unsigned int n = 0;
	struct mf_span s;
	struct mf_msg m;

	while (mf_host_tx(h, now, 1, &s) > 0) {
		mf_proto_look(s.word[0], &m);
		if (s.sync[0] == MF_SYNC_CTRL && m.kind == MF_RREQ && mf_block_type(s.word[0]) == MF_BT_MS)
			id[n++] = m.id;
	}
	return n;
}

/**
 * A link that takes nothing for longer than a timer and a quarantine: what was given up meanwhile goes out
 * all the same, and will be answered. Its id is another's as late as if it had been given up then.
 */
Test(host_link, an_id_rests_behind_its_request)
{
	struct mf_host_config c = config(0);
	struct mf_completion done[16];
	static uint8_t buf[600];
	uint8_t id[16], first;
	struct mf_host *h;

	c.read_timeout = MF_US(50);
	c.quarantine = MF_US(150);
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	submit(h, 1, MF_OP_READ, buf, 1);
	mf_host_run(h, MF_US(60));
	cr_assert_eq(mf_host_completions(h, MF_US(60), done, 16), 1);
	cr_assert_eq(done[0].status, MF_ERR_TIMEOUT);
	for (mf_time now = MF_US(150); now < MF_US(2000); now += MF_US(150))
		mf_host_run(h, now);
	submit(h, MF_US(2000), MF_OP_READ, buf, 2);
	cr_assert_eq(sent_ids(h, MF_US(2001), id), 2);
	first = id[0];
	cr_expect_neq(id[1], first);
	mf_host_run(h, MF_US(2100));
	submit(h, MF_US(2140), MF_OP_READ, buf, 3);
	cr_assert_eq(sent_ids(h, MF_US(2141), id), 1);
	cr_expect_neq(id[0], first);
	mf_host_run(h, MF_US(2400));
	submit(h, MF_US(2400), MF_OP_READ, buf, 4);
	cr_assert_eq(sent_ids(h, MF_US(2401), id), 1);
	cr_expect_eq(id[0], first);
	mf_host_free(h);
}

/** With reads that have no timer nothing is thrown away: all that was asked goes when the link is back. */
Test(host_link, what_has_no_timer_waits_for_the_link)
{
	struct mf_host_config c = config(0);
	struct mf_host *h;
	static uint8_t buf[600];
	mf_time now = 1;
	struct mf_span s;
	unsigned int n, blocks = 0;

	c.read_timeout = 0;
	c.x = 128;
	c.queue = 256;
	c.mux.memory_blocks = 64; /* of 256 that are asked for */
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	mf_host_link_lost(h, now);
	for (unsigned int i = 0; i < 128; i++)
		submit(h, now, MF_OP_READ, buf, i);
	now += 2 * c.write_timeout;
	mf_host_run(h, now);
	while ((n = mf_host_tx(h, ++now, MF_SPAN_MAX, &s)) > 0)
		blocks += n;
	cr_assert_eq(blocks, 128 * 2);
	mf_host_free(h);
}

/* Two links: what watches them, and what they hear, is theirs, whichever is served, in whichever incarnation.
 */

static void put_bad(struct mf_host *h, unsigned int link, mf_time now, unsigned int n)
{
	struct mf_span s = {.start = now, .period = 2560};

	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, 3, MF_IDLE_WORD);
	mf_host_rx_by(h, link, now, &s);
}

/** Whether it hears what the switch of a link says. */
static bool hears(struct mf_host *h, unsigned int link, mf_time now)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_TELL};
	uint64_t before = mf_host_stats(h)->rx[MF_TAKE];
	struct mf_span s = {.start = now, .period = 2560};

	mf_span_put(&s, MF_SYNC_CTRL, mf_proto_put_single(&m));
	mf_host_rx_by(h, link, now, &s);
	return mf_host_stats(h)->rx[MF_TAKE] > before;
}

Test(host_link, of_two_links_each_is_watched_for_itself)
{
	for (unsigned int bad = 0; bad < 2; bad++) {
		struct mf_host_config c = config(0);
		struct mf_guard g[2];
		struct mf_host *h;

		for (unsigned int i = 0; i < 2; i++)
			cr_assert_eq(mf_guard_init(&g[i], 0, 1), 0);
		c.redundant = c.begins = c.proto.ext = c.in_order = true;
		c.take_again = MF_US(10);
		c.mux.period = 2560;
		c.guard[0] = &g[0];
		c.guard[1] = &g[1];
		h = mf_host_new(&c);
		cr_assert_not_null(h);
		put_bad(h, 0, MF_US(1), 2);
		put_bad(h, 1, MF_US(2), 3);
		put_bad(h, bad, MF_US(3), 16);
		cr_expect_eq(g[0].bad, bad == 0 ? 18 : 2);
		cr_expect_eq(g[1].bad, bad == 0 ? 3 : 19);
		cr_expect(mf_guard_is_deaf(&g[bad]) && !mf_guard_is_deaf(&g[!bad]));
		cr_expect(hears(h, !bad, MF_US(4)) && !hears(h, bad, MF_US(4)));

		/* Another process at the same links. Which one was served last makes no difference. */
		hears(h, 1, MF_US(5));
		cr_assert_eq(mf_host_restart(h, MF_US(5), NULL), 0);
		put_bad(h, 0, MF_US(6), 1);
		put_bad(h, 1, MF_US(6), 1);
		cr_expect_eq(g[0].bad, bad == 0 ? 19 : 3, "%u", bad);
		cr_expect_eq(g[1].bad, bad == 0 ? 4 : 20, "%u", bad);
		mf_host_link_up(h, 0, MF_US(7));
		mf_host_link_up(h, 1, MF_US(7));
		cr_expect(hears(h, !bad, MF_US(8)) && !hears(h, bad, MF_US(8)));
		mf_host_free(h);
		for (unsigned int i = 0; i < 2; i++)
			mf_guard_fini(&g[i]);
	}
}

/** The switch asks for a chunk. @return whether the last that is sent says that it will not come */
static bool is_not_to_come(struct mf_host *h, unsigned int link, struct mf_msg m, mf_time now)
{
	struct mf_span s = {.start = now}, out;
	uint64_t last = 0;
	struct mf_msg got;

	mf_span_put(&s, MF_SYNC_CTRL, mf_proto_put_single(&m));
	mf_host_rx_by(h, link, now, &s);
	for (unsigned int n; (n = mf_host_tx(h, now + MF_US(1), MF_SPAN_MAX, &out)) > 0;
	     last = out.word[n - 1])
		mf_host_run(h, now + MF_US(1));
	return mf_proto_get_single(last, &got) == 0 && got.kind == MF_GRET && got.op == MF_GRET_ASKED &&
	       got.dst == m.dst && got.id == m.id && got.size == m.size;
}

/**
 * Two switches: the active one asks for a chunk that it has granted. The answer is behind what was granted,
 * so there is none while some of that waits for room.
 */
Test(host_link, a_grant_that_is_asked_back)
{
	struct mf_msg grant = {.kind = MF_GRANT, .dst = 1, .size = 256};
	struct mf_msg ask = {.kind = MF_GRET, .op = MF_GRET_ASKED, .dst = 1, .id = 0, .size = 256}, other;
	struct mf_host_config c = config(0);
	struct mf_span s = {.start = MF_US(20)};
	static uint8_t buf[600];
	struct mf_host *h;

	c.redundant = c.begins = c.proto.ext = c.in_order = true;
	c.take_again = MF_SEC(1);
	c.mux.memory_blocks = 64;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	submit(h, MF_US(1), MF_OP_WRITE_ACK, buf, 1);
	submit(h, MF_US(1), MF_OP_WRITE_ACK, buf, 2);
	send_all(h, MF_US(5), &s);
	cr_expect(is_not_to_come(h, 0, ask, MF_US(10)), "the grant was lost");
	cr_expect_not(is_not_to_come(h, 1, ask, MF_US(15)), "that is not the active switch");

	s = (struct mf_span){.start = MF_US(20)};
	for (unsigned int i = 0; i < 4; i++) {
		grant.id = i / 2;
		mf_span_put(&s, MF_SYNC_CTRL, mf_proto_put_single(&grant));
	}
	mf_host_rx_by(h, 0, MF_US(20), &s);
	cr_expect_not(is_not_to_come(h, 0, ask, MF_US(20)), "there is not room for all of it");
	cr_expect_eq(mf_host_stats(h)->tx[MF_WREQ_ACK], 4);
	cr_expect(is_not_to_come(h, 0, ask, MF_US(30)));

	for (unsigned int i = 0; i < 4; i++) { /* what no switch asks */
		other = ask;
		other.op = i == 0 ? MF_GRET_RETURNED : MF_GRET_ASKED;
		other.resp = i == 1;
		other.dst = i == 2 ? 0 : i == 3 ? 2 : 1;
		cr_expect_not(is_not_to_come(h, 0, other, MF_US(50 + 10 * i)), "%u", i);
	}
	cr_expect_eq(mf_host_stats(h)->drop_proto, 4);
	mf_host_free(h);
}
