/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are sent again (once.h), message by message: what was sent again rests, and of what comes in
 * other pieces than before each octet counts once.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "alone.h"

TestSuite(host_once, .timeout = 60);

#define SIZE 4096
#define US 0
#define MEMORY 1
#define OTHER 2
#define RETRY MF_US(10)
#define TIMEOUT MF_US(20)
#define QUARANTINE MF_US(100)

static const struct mf_proto proto = {.ext = true};

struct bench {
	struct mf_host *host;
	struct mf_memory *memory;
	mf_time now;
	struct mf_msg sent; /**< the last message of several blocks that it sent */
	unsigned int messages; /**< how many */
	unsigned int acks;
	unsigned int refusals; /**< of its own */
	unsigned int passed_on; /**< that a demand was refused, or is given up */
	unsigned int passed_behind; /**< so many messages */
	uint8_t asked; /**< id of the last /N/ */
};

static void begin_with(struct bench *b, uint16_t node, bool twin, unsigned int retries)
{
	const struct mf_memory_config memory = {.size = SIZE, .numa_node = -1};
	struct mf_host_config config = alone_config(node, 64);

	config.compute = node == US || twin;
	config.read_timeout = config.write_timeout = TIMEOUT;
	config.quarantine = QUARANTINE;
	config.retries = retries;
	config.retry_timeout = RETRY;
	config.twin = config.begins = twin;
	config.in_order = true;
	config.take_again = MF_US(10);
	config.timing.cost[MF_STAGE_MAKE_REQUEST] = MF_US(1) / 100;
	*b = (struct bench){.now = MF_US(1)};
	if (node == MEMORY) {
		b->memory = mf_memory_flat.create(&memory);
		config.memory_ops = &mf_memory_flat;
		config.memory = b->memory;
	}
	b->host = mf_host_new(&config);
	cr_assert_not_null(b->host);
}

static void begin(struct bench *b, uint16_t node, bool twin)
{
	begin_with(b, node, twin, 2);
}

static void start(struct bench *b, uint16_t node)
{
	begin(b, node, false);
}

static void stop(struct bench *b)
{
	mf_host_free(b->host);
	if (b->memory != NULL)
		mf_memory_flat.destroy(b->memory);
}

/** What a span that was sent says: whole messages. */
static void see(struct bench *b, const struct mf_span *s)
{
	const uint8_t *data;
	struct mf_msg m;

	for (unsigned int i = 0, from = 0; i < s->count; i++) {
		uint8_t type = (uint8_t)s->word[i];

		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MST &&
		    mf_proto_get_single(s->word[i], &m) == 0) {
			b->acks += m.kind == MF_ACK;
			b->refusals += m.kind == MF_ERR && m.src == MEMORY && m.status != MF_ERR_LIFE;
			if (m.kind == MF_ERR && m.of == MF_NOTIFY && m.src == US) {
				b->passed_on++;
				b->passed_behind = b->messages;
			}
		}
		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_N && mf_proto_get_single(s->word[i], &m) == 0)
			b->asked = m.id;
		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MS)
			from = i;
		if (s->sync[i] != MF_SYNC_CTRL || type != MF_BT_MT)
			continue;
		cr_assert_eq(mf_proto_get(&proto, s->word + from, i + 1 - from, &b->sent, &data), 0);
		b->messages++;
	}
}

static void run(struct bench *b, mf_time until)
{
	struct mf_span s;

	for (; b->now < until; b->now += ALONE_PERIOD) {
		mf_host_run(b->host, b->now);
		while (mf_host_tx(b->host, b->now, MF_SPAN_MAX, &s) > 0)
			see(b, &s);
	}
}

static void give_by(struct bench *b, unsigned int link, const struct mf_msg *m, const void *data)
{
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD};

	s.count = (uint16_t)mf_proto_put_chunk(&proto, m, data, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx_by(b->host, link, s.start, &s);
	run(b, b->now + MF_US(1));
}

static void give(struct bench *b, const struct mf_msg *m, const void *data)
{
	give_by(b, 0, m, data);
}

/** Reads 64 octets, which is answered when the request was sent so often. @return its id */
static uint8_t read_with(struct bench *b, unsigned int sendings)
{
	static const uint8_t data[64];
	uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done;
	struct mf_msg answer;
	unsigned int before = b->messages;

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	while (b->messages < before + sendings)
		run(b, b->now + MF_US(1));
	answer = (struct mf_msg){.kind = MF_RRES,
				 .src = MEMORY,
				 .dst = US,
				 .id = b->sent.id,
				 .ext = true,
				 .epoch = b->sent.epoch,
				 .size = sizeof(data),
				 .last = true};
	give(b, &answer, data);
	cr_assert_eq(mf_host_completions(b->host, b->now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	return answer.id;
}

/**
 * Each sending of a request may be granted and answered, and a /G/ does not say which use of the id it is
 * for: the id of what was sent again rests, also where it ended well. One that was sent once does not.
 */
Test(host_once, what_was_sent_again_rests)
{
	for (unsigned int sendings = 1; sendings <= 3; sendings++) {
		uint8_t id, next;
		struct bench b;

		start(&b, US);
		id = read_with(&b, sendings);
		next = read_with(&b, 1);
		cr_assert_eq(next == id, sendings == 1, "sent %u times: ids %u, then %u", sendings, id, next);
		cr_assert_eq(mf_host_stats(b.host)->quarantined, sendings > 1);
		run(&b, b.now + QUARANTINE + MF_US(1));
		cr_assert_eq(read_with(&b, 1), id, "the lowest one that is free");
		stop(&b);
	}
}

/** Writes 8 octets in one chunk, which is granted. @return its id */
static uint8_t write_one(struct bench *b)
{
	uint8_t data[8] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = MEMORY, .len = sizeof(data), .buf = data};
	struct mf_completion done;
	struct mf_span grant = {.period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_msg m;

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	run(b, b->now + MF_US(1));
	m = (struct mf_msg){.kind = MF_GRANT, .dst = MEMORY, .id = b->asked, .size = sizeof(data)};
	grant.start = b->now;
	grant.word[0] = mf_proto_put_single(&m);
	mf_host_rx(b->host, b->now, &grant);
	run(b, b->now + MF_US(1));
	cr_assert_eq(mf_host_completions(b->host, b->now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	return m.id;
}

/**
 * A plain write is over when it is sent. If it is lost on the way, the switch waits for it behind those that
 * come before its next chunk: none of all other ids is used twice in between.
 */
Test(host_once, writes_take_ids_in_turn)
{
	struct bench b;

	start(&b, US);
	for (unsigned int i = 0; i < 3 * MF_IDS; i++) {
		uint8_t id = write_one(&b);

		cr_assert_eq(id, i % MF_IDS, "write %u has id %u", i, id);
		if (i % 16 == 0)
			cr_assert_eq(read_with(&b, 1), 0, "a read takes the lowest");
	}
	stop(&b);
}

/** Begins to read. @return the request */
static struct mf_msg ask(struct bench *b)
{
	static uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	run(b, b->now + MF_US(1));
	return b->sent;
}

/** A request is refused, by way of a switch. @return operations that have failed with that */
static unsigned int refuse_by(struct bench *b, unsigned int link, const struct mf_msg *request)
{
	const struct mf_msg err = {.kind = MF_ERR,
				   .src = MEMORY,
				   .dst = US,
				   .id = request->id,
				   .epoch = request->epoch & ((1 << MF_ERR_USE_BITS) - 1),
				   .status = MF_ERR_KEY,
				   .of = MF_RREQ};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_completion done[16];
	unsigned int n;

	s.word[0] = mf_proto_put_single(&err);
	mf_host_rx_by(b->host, link, b->now, &s);
	run(b, b->now + MF_US(1));
	n = mf_host_completions(b->host, b->now, done, 16);
	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(done[i].status, MF_ERR_KEY);
	return n;
}

/**
 * Two switches, and a long cable to one of them: the second copy of a refusal comes when four others have
 * been refused. It says two bits of the use of its id, so the id rests until it is there.
 */
Test(host_once, a_refusal_comes_by_both_switches)
{
	struct mf_msg m[5], next;
	struct bench b;

	begin(&b, US, true);
	for (unsigned int i = 0; i < 4; i++) {
		m[i] = ask(&b);
		cr_assert_eq(refuse_by(&b, 1, &m[i]), 1);
	}
	m[4] = ask(&b);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(refuse_by(&b, 0, &m[i]), 0,
			     "copy %u is taken for a refusal of what is asked now", i);
	cr_expect_eq(refuse_by(&b, 0, &m[4]), 1);
	cr_expect_eq(refuse_by(&b, 1, &m[4]), 0);
	next = ask(&b);
	cr_expect_eq(next.id, m[0].id, "all copies are there: the lowest id is free");
	mf_host_link_down(b.host, 1, b.now);
	cr_expect_eq(refuse_by(&b, 0, &next), 1);
	cr_expect_neq(ask(&b).id, next.id, "the link may be there again when the copy comes");
	stop(&b);
}

static void expect(const struct bench *b, unsigned int from, unsigned int to, uint8_t value)
{
	uint8_t found[SIZE];

	cr_assert_eq(mf_memory_flat.read(b->memory, 0, SIZE, found), MF_OK);
	for (unsigned int i = from; i < to; i++)
		cr_assert_eq(found[i], value, "octet %u is %u, should be %u", i, found[i], value);
}

static struct mf_msg chunk(uint16_t src, uint8_t id, uint32_t offset, uint32_t size, bool last)
{
	return (struct mf_msg){.kind = MF_WREQ_ACK,
			       .src = src,
			       .dst = MEMORY,
			       .id = id,
			       .ext = true,
			       .epoch = 7,
			       .addr = offset,
			       .offset = offset,
			       .size = size,
			       .last = last};
}

/**
 * A write is sent again and granted in other pieces: what of it was applied before has been overwritten by
 * somebody since, and stays so.
 */
Test(host_once, octets_of_a_write_are_applied_once)
{
	uint8_t first[64], second[64];
	struct mf_msg m = chunk(US, 3, 0, 32, false);
	struct bench b;

	memset(first, 1, sizeof(first));
	memset(second, 2, sizeof(second));
	start(&b, MEMORY);
	give(&b, &m, first);
	expect(&b, 0, 32, 1);
	m = chunk(OTHER, 3, 0, 32, true);
	give(&b, &m, second);
	expect(&b, 0, 32, 2);
	cr_assert_eq(b.acks, 1);
	m = chunk(US, 3, 0, 64, true);
	m.again = 1;
	give(&b, &m, first);
	expect(&b, 0, 32, 2);
	expect(&b, 32, 64, 1);
	cr_assert_eq(b.acks, 2, "it is there as a whole");
	cr_assert_eq(mf_host_stats(b.host)->rx_octets, 96);
	stop(&b);
}

/** The same of a response: what comes again in a longer piece is taken from where it is new. */
Test(host_once, octets_of_a_response_are_taken_once)
{
	uint8_t data[64], buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done;
	struct mf_msg m;
	struct bench b;

	start(&b, US);
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	run(&b, b.now + MF_US(1));
	m = (struct mf_msg){.kind = MF_RRES,
			    .src = MEMORY,
			    .dst = US,
			    .id = b.sent.id,
			    .ext = true,
			    .epoch = b.sent.epoch,
			    .size = 32};
	memset(data, 1, sizeof(data));
	give(&b, &m, data);
	m.size = 64;
	m.last = true;
	memset(data, 2, sizeof(data));
	give(&b, &m, data);
	cr_assert_eq(mf_host_completions(b.host, b.now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	for (unsigned int i = 0; i < 64; i++)
		cr_assert_eq(buf[i], i < 32 ? 1 : 2, "octet %u", i);
	cr_assert_eq(mf_host_stats(b.host)->rx_octets, 64);
	stop(&b);
}

/** A request to the memory node. */
static void request_by(struct bench *b, unsigned int link, const struct mf_msg *m)
{
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD};

	s.count = (uint16_t)mf_proto_put_request(&proto, m, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx_by(b->host, link, s.start, &s);
}

/** What comes behind the first half of a write, by the switch that is obeyed. */
static void give_read(struct bench *b)
{
	const struct mf_msg m = {.kind = MF_RREQ, .src = US, .dst = MEMORY, .id = 9, .ext = true, .size = 64};

	request_by(b, 0, &m);
	run(b, b->now + MF_US(1));
}

/**
 * Two switches. By the first one half of a write came, and what is behind it in the order of their pair: the
 * other half was lost there. It comes by the second one, too late for the order. When it is sent again it is
 * applied: what is sent again has no place in the order.
 */
static void half_comes_late(bool read, bool rest)
{
	struct mf_msg first = chunk(US, 3, 0, 32, false), second = chunk(US, 3, 32, 32, true);
	struct mf_msg other = chunk(US, 4, 0, 32, true);
	uint8_t data[32], later[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	memset(later, 2, sizeof(later));
	other.addr = 32;
	begin(&b, MEMORY, true);
	give_by(&b, 0, &first, data);
	if (read)
		give_read(&b);
	else
		give_by(&b, 0, &other, later);
	if (rest)
		give_by(&b, 1, &first, data);
	give_by(&b, 1, &second, data);
	expect(&b, 0, 32, 1);
	expect(&b, 32, 64, read ? 0 : 2);
	cr_expect_eq(b.acks, !read, "of what was written as a whole");
	cr_expect_eq(mf_host_stats(b.host)->gaps, 1);
	cr_expect_eq(mf_host_stats(b.host)->copies, rest);
	second.again = 1;
	give_by(&b, 1, &second, data);
	expect(&b, 32, 64, 1);
	cr_expect_eq(b.acks, !read + 1u);
	stop(&b);
}

Test(host_once, a_copy_does_not_overtake)
{
	for (unsigned int i = 0; i < 4; i++)
		half_comes_late(i & 1, i & 2);
}

/** A switch of two refuses a demand. @return operations that have failed with that */
static unsigned int refuse_demand(struct bench *b, unsigned int link, uint8_t id)
{
	const struct mf_msg err = {.kind = MF_ERR,
				   .src = MEMORY,
				   .dst = US,
				   .id = id,
				   .status = MF_ERR_RESOURCE,
				   .of = MF_NOTIFY};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_completion done;
	unsigned int n;

	s.word[0] = mf_proto_put_single(&err);
	mf_host_rx_by(b->host, link, b->now, &s);
	run(b, b->now + MF_US(1));
	n = mf_host_completions(b->host, b->now, &done, 1);
	cr_expect(n == 0 || done.status == MF_ERR_RESOURCE);
	return n;
}

/** The active switch refuses what is asked too often, reads, too. The other one is told, and is not heard. */
Test(host_once, the_active_switch_refuses)
{
	const unsigned int last_sending = 2; /* of RETRY each */
	struct mf_msg m;
	struct bench b;

	begin(&b, US, true);
	m = ask(&b);
	run(&b, b.now + last_sending * RETRY);
	cr_expect_eq(refuse_demand(&b, 1, m.id), 0, "it is not the active one");
	cr_expect_eq(b.passed_on, 0);
	cr_expect_eq(refuse_demand(&b, 0, m.id), 1);
	cr_expect_eq(b.passed_on, 1);
	stop(&b);
}

/** A switch tells its epoch. */
static void tell_epoch(struct bench *b, unsigned int link, uint16_t epoch)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_HEARD, .epoch = epoch};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx_by(b->host, link, b->now, &s);
	run(b, b->now + MF_US(1));
}

/**
 * The other switch is the active one, which may have let reads out behind a write: what the deposed one sent
 * of that comes too late. When it says that it knows, all of that has come.
 */
Test(host_once, what_a_deposed_switch_sent_is_not_applied)
{
	struct mf_msg m = chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	begin(&b, MEMORY, true);
	tell_epoch(&b, 1, 1);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	give_by(&b, 0, &m, data);
	expect(&b, 0, 32, 0);
	cr_expect_eq(mf_host_stats(b.host)->drop_fenced, 1);
	tell_epoch(&b, 0, 1);
	give_by(&b, 0, &m, data);
	expect(&b, 0, 32, 1);
	stop(&b);
}

/** A switch died: what the other one passed before it knows is not lost. */
Test(host_once, what_the_other_switch_sends_is_applied)
{
	struct mf_msg m = chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	begin(&b, MEMORY, true);
	mf_host_link_down(b.host, 0, b.now);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	give_by(&b, 1, &m, data);
	expect(&b, 0, 32, 1);
	stop(&b);
}

static void count_restart(void *ctx, uint16_t node)
{
	unsigned int *n = ctx;

	*n += node == US;
}

/** A switch says, once, which life the other node has: US or MEMORY. */
static void tell_life_as(struct bench *b, uint16_t node, unsigned int link, uint16_t life,
			 enum mf_status status)
{
	const struct mf_msg m = {.kind = MF_ERR,
				 .src = node,
				 .dst = node == US ? MEMORY : US,
				 .id = (uint8_t)life,
				 .epoch = life >> 8,
				 .status = (uint8_t)status};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx_by(b->host, link, b->now, &s);
}

static void tell_life_of(struct bench *b, uint16_t node, unsigned int link, uint16_t life)
{
	tell_life_as(b, node, link, life, MF_ERR_RESTARTED);
}

static void tell_life(struct bench *b, unsigned int link, uint16_t life)
{
	tell_life_of(b, US, link, life);
}

static void begin_told(struct bench *b, unsigned int *restarts)
{
	begin(b, MEMORY, true);
	*restarts = 0;
	mf_host_on_restart(b->host, count_restart, restarts);
	tell_epoch(b, 0, 0);
	tell_epoch(b, 1, 0);
}

/** Both switches tell of each life: it begins with the first word, whichever that is by. */
Test(host_once, a_life_is_told_by_both_switches)
{
	static const struct {
		unsigned int link;
		uint16_t life;
		unsigned int restarts;
	} word[] = {{1, 700, 1}, {1, 700, 1}, {0, 700, 1}, {0, 701, 2}, {0, 702, 3},
		    {1, 701, 3}, {1, 702, 3}, {1, 703, 4}, {0, 703, 4}};
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		tell_life(&b, word[i].link, word[i].life);
		cr_expect_eq(restarts, word[i].restarts, "word %u: %u", i, restarts);
		if (i == 1)
			tell_epoch(&b, 1, 1); /* another switch is obeyed: lives are the same */
	}
	stop(&b);
}

/** A slow switch tells a node that has just begun of an older life first: both tell of the right one last. */
Test(host_once, a_life_that_was_older)
{
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	cr_assert_eq(mf_host_restart(b.host, b.now, b.memory), 0);
	tell_life_as(&b, US, 0, 701, MF_ERR_LIFE);
	tell_life_as(&b, US, 1, 700, MF_ERR_LIFE);
	cr_expect_eq(restarts, 1);
	tell_life_as(&b, US, 1, 701, MF_ERR_RESTARTED);
	cr_expect_eq(restarts, 2, "it has the right one, and takes what comes of that");
	tell_life_as(&b, US, 0, 701, MF_ERR_RESTARTED);
	tell_life_as(&b, US, 1, 701, MF_ERR_RESTARTED);
	cr_expect_eq(restarts, 2);
	stop(&b);
}

/**
 * A switch that was not there before knows which life a node has, but not whether that is news: who knows of
 * another one takes it for news, and who knows of none does not.
 */
Test(host_once, a_life_that_is_no_news)
{
	static const struct {
		uint16_t life;
		enum mf_status as;
		unsigned int restarts[2]; /**< for who does not know of a life; who knows of 1 */
	} word[] = {{700, MF_ERR_LIFE, {0, 1}}, {700, MF_ERR_RESTARTED, {0, 1}}, {700, MF_ERR_LIFE, {0, 1}},
		    {701, MF_ERR_LIFE, {1, 2}}, {702, MF_ERR_RESTARTED, {2, 3}}, {701, MF_ERR_LIFE, {2, 3}}};

	for (unsigned int knows = 0; knows < 2; knows++) {
		unsigned int restarts;
		struct bench b;

		begin_told(&b, &restarts);
		if (knows == 0)
			cr_assert_eq(mf_host_restart(b.host, b.now, b.memory), 0);
		for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
			tell_life_as(&b, US, 0, word[i].life, word[i].as);
			cr_expect_eq(restarts, word[i].restarts[knows], "%u, %u: %u", knows, i, restarts);
		}
		stop(&b);
	}
}

/**
 * What was executed for a life is forgotten with the word of the next one. What comes of it later, by the
 * other link, is not executed a second time.
 */
Test(host_once, a_former_life_is_not_executed_again)
{
	struct mf_msg old = chunk(US, 3, 0, 32, true), new = chunk(US, 4, 0, 32, true);
	uint8_t data[32];
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	memset(data, 1, sizeof(data));
	give_by(&b, 0, &old, data);
	expect(&b, 0, 32, 1);
	tell_life(&b, 0, 2);
	memset(data, 2, sizeof(data));
	give_by(&b, 0, &new, data);
	expect(&b, 0, 32, 2);
	memset(data, 1, sizeof(data));
	give_by(&b, 1, &old, data);
	expect(&b, 0, 32, 2);
	cr_expect_eq(mf_host_stats(b.host)->drop_fenced, 1);
	tell_life(&b, 1, 2);
	give_by(&b, 1, &old, data);
	expect(&b, 0, 32, 1);
	stop(&b);
}

/** The word may be lost, and nothing would pass by that link for ever: so no longer than operations take. */
Test(host_once, a_former_life_is_over_in_time)
{
	struct mf_msg m = chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	unsigned int restarts;
	struct bench b;

	begin_told(&b, &restarts);
	memset(data, 1, sizeof(data));
	tell_life(&b, 0, 2);
	give_by(&b, 1, &m, data);
	expect(&b, 0, 32, 0);
	run(&b, b.now + TIMEOUT);
	give_by(&b, 1, &m, data);
	expect(&b, 0, 32, 1);
	stop(&b);
}

/**
 * The standby may have what the requester gives up, and would let it out behind what is asked next; a switch
 * that stood still has its demand, and no room for the next. They are told, and behind the request, which may
 * have begun just before.
 */
Test(host_once, what_is_given_up_is_passed_on)
{
	static uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done[4];

	static const uint16_t life[] = {0, 700};

	for (unsigned int i = 0; i < 4; i++) {
		struct bench b;

		begin(&b, US, i < 3);
		cr_expect_eq(mf_host_submit(b.host, b.now, &op), 0);
		if (i >= 2) /* its timer ends, with two switches and with one */
			run(&b, b.now + 4 * TIMEOUT);
		else
			tell_life_of(&b, MEMORY, 0, life[i]);
		run(&b, b.now + MF_US(1));
		cr_expect_eq(mf_host_completions(b.host, b.now, done, 4), 1);
		cr_expect_eq(b.passed_on, 1, "%u: %u", i, b.passed_on);
		cr_expect_eq(b.passed_behind, b.messages, "%u: in front of the request", i);
		stop(&b);
	}
}

/** A read beyond the end of the memory, sent so often before. */
static void ask_beyond(struct bench *b, unsigned int link, uint8_t again)
{
	const struct mf_msg m = {.kind = MF_RREQ,
				 .src = US,
				 .dst = MEMORY,
				 .id = 9,
				 .ext = true,
				 .again = again,
				 .addr = SIZE,
				 .size = 64};

	request_by(b, link, &m);
	run(b, b->now + MF_US(1));
}

/* What was refused is so again when it is sent again, and not for a copy of that by the other switch. */
Test(host_once, each_sending_is_refused_once)
{
	struct bench b;

	begin(&b, MEMORY, true);
	ask_beyond(&b, 0, 0);
	cr_assert_geq(b.refusals, 1);
	b.refusals = 0;
	ask_beyond(&b, 1, 0);
	cr_expect_eq(b.refusals, 0, "a copy");
	ask_beyond(&b, 0, 1);
	cr_expect_geq(b.refusals, 1, "sent again");
	b.refusals = 0;
	ask_beyond(&b, 1, 1);
	cr_expect_eq(b.refusals, 0, "a copy of what was sent again");
	stop(&b);
}

/** A request while there is neither a data buffer nor room in the multiplexer. */
static void ask_without_room(struct bench *b, const struct mf_msg *m)
{
	mf_host_exhaust(b->host, MF_HOST_BUFFERS, true);
	mf_host_exhaust(b->host, MF_HOST_MUX, true);
	request_by(b, 0, m);
	mf_host_exhaust(b->host, MF_HOST_MUX, false);
	mf_host_exhaust(b->host, MF_HOST_BUFFERS, false);
	run(b, b->now + MF_US(1));
}

/** What was not executed for want of room is executed when it is sent again; an atomic that was is not. */
Test(host_once, what_had_no_room_is_tried_again)
{
	struct mf_msg read = {.kind = MF_RREQ, .src = US, .dst = MEMORY, .id = 3, .ext = true, .size = 64};
	struct mf_msg add = {.kind = MF_RMWREQ, .src = US, .dst = MEMORY, .id = 4, .ext = true};
	struct bench b;

	add.op = MF_RMW_FADD;
	add.arg[0] = 5;
	start(&b, MEMORY);
	ask_without_room(&b, &read);
	ask_without_room(&b, &add);
	expect(&b, 0, 8, 0);
	cr_expect_eq(b.refusals, 2);
	cr_expect_eq(b.messages, 0);
	request_by(&b, 0, &read);
	run(&b, b.now + MF_US(1));
	cr_expect_eq(b.refusals, 3, "a copy is answered as before");
	read.again = add.again = 1;
	request_by(&b, 0, &read);
	run(&b, b.now + MF_US(1));
	cr_expect_eq(b.messages, 1);
	cr_expect_eq(b.sent.kind, MF_RRES);
	for (; add.again <= 2; add.again++) {
		request_by(&b, 0, &add);
		run(&b, b.now + MF_US(1));
		cr_expect_eq(b.messages, 1u + add.again);
		cr_expect_eq(b.sent.kind, MF_RRES);
		expect(&b, 0, 1, 5);
	}
	cr_expect_eq(b.refusals, 3);
	stop(&b);
}

/** Time passes, and the line takes nothing. */
static void hold(struct bench *b, mf_time time)
{
	for (mf_time until = b->now + time; b->now < until; b->now += MF_US(1))
		mf_host_run(b->host, b->now);
}

static unsigned int failed(struct bench *b)
{
	struct mf_completion done[16];
	unsigned int n = mf_host_completions(b->host, b->now, done, 16);

	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(done[i].status, MF_ERR_UNKNOWN);
	return n;
}

/** A part of the write that has this id is granted. */
static void grant_part(struct bench *b, uint8_t id, uint32_t size)
{
	const struct mf_msg m = {.kind = MF_GRANT, .dst = MEMORY, .id = id, .size = size};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx(b->host, b->now, &s);
}

/**
 * The first chunk of a write stands in front of a line that takes nothing until the write has failed, and its
 * id is that of another write. When it goes at last it is not that one which has begun.
 */
Test(host_once, a_chunk_that_goes_late_is_of_its_own_use)
{
	static uint8_t data[128];
	const struct mf_op op = {.kind = MF_OP_WRITE, .node = MEMORY, .len = sizeof(data), .buf = data};
	struct mf_completion done;
	struct bench b;
	mf_time gone;

	begin_with(&b, US, false, 1); /* the line has room for all that is said */
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	run(&b, b.now + MF_US(1));
	cr_assert_eq(b.asked, 0);
	grant_part(&b, 0, 64);
	for (unsigned int i = 1; i <= MF_IDS; i++) {
		hold(&b, RETRY + TIMEOUT + MF_US(2));
		cr_assert_eq(failed(&b), 1, "write %u", i);
		cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	}
	cr_assert_eq(b.messages, 0);
	run(&b, b.now + MF_US(5));
	cr_assert_eq(b.messages, 1, "the chunk has gone");
	cr_assert_eq(b.asked, 0, "the last one has its id");
	gone = b.now;
	for (unsigned int i = 0; i < 2; i++) {
		grant_part(&b, 0, 64);
		run(&b, b.now + MF_US(1));
	}
	cr_assert_eq(mf_host_completions(b.host, b.now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	cr_expect_geq(done.first, gone);
	stop(&b);
}
