/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls, message by message: what a memory node answers, and what a compute node takes for the answer. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "alone.h"
#include "memory/mf_vm_timed.h"

#define US 0
#define MEMORY 1
#define CHUNK 256
#define PAGE UINT64_C(4096)
#define SPACE (US << 13 | 1u)
#define ANSWER 1024
#define SEEN_MAX 8
#define OCTETS_MAX 2048

/** A message that a host has sent. */
struct seen {
	struct mf_msg m;
	uint8_t data[OCTETS_MAX];
};

/** A host by itself, a memory node or one that computes. */
struct world {
	struct mf_host *host;
	struct mf_vm_timed *memory;
	mf_time now;
	uint64_t key[MF_RIGHTS], at;
	uint32_t number;
	struct seen seen[SEEN_MAX];
	unsigned int seens;
	uint64_t word[MF_BLOCKS_MAX]; /* of a message that is not whole yet */
	unsigned int words;
};

static struct world w;
static const struct mf_proto proto = {.ext = true};

static uint64_t task(uint8_t what, uint64_t how_much, uint64_t addr, uint64_t key)
{
	uint64_t arg[2] = {MF_SPACE_ASK(what, 0, ++w.number), how_much}, result = 0;
	struct mf_access a = {.addr = addr, .key = key, .data = arg, .space = SPACE, .node = US};
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; i < 1000 && status == MF_ERR_PENDING; i++) {
		a.at = w.now += MF_NS(100);
		status = mf_memory_timed.ask(mf_vm_timed_memory(w.memory), MF_RMW_SPACE, &a, &result);
	}
	cr_assert_eq(status, MF_OK, "task %u: %u", what, status);
	return result;
}

static void make_memory(void)
{
	const struct mf_vm_timed_config c = {.vm = {.page_class = {[0] = {.shift = 12, .pages = 32}},
						    .slots = 2,
						    .bucket = 8,
						    .tlb_sets = 1,
						    .tlb_ways = 4,
						    .ring = 8,
						    .pins = 8,
						    .tasks = 8,
						    .node_tasks = 4,
						    .spaces = 8,
						    .ranges = 64,
						    .retries_max = 20,
						    .answer = ANSWER,
						    .secrets = {.mix = {1, 2, 3}, .tlb = 4, .key = {5, 6}}},
					     .step = MF_NS(20),
					     .crossing = MF_NS(100)};

	w.memory = mf_vm_timed_new(&c);
	cr_assert_not_null(w.memory);
	(void)task(MF_SPACE_MAKE, 0, 0, 0);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		w.key[right] = task(MF_SPACE_JOIN, right, 0, 0);
	w.at = task(MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(4 * PAGE, 0, MF_PAGE_WRITE), 0, w.key[MF_RIGHT_WRITE]);
}

static struct mf_host_config config_of(uint16_t node)
{
	struct mf_host_config c = alone_config(node, CHUNK);

	if (node == MEMORY) {
		c.memory_ops = &mf_memory_timed;
		c.memory = mf_vm_timed_memory(w.memory);
	} else {
		c.compute = true;
		c.answer = ANSWER;
		c.read_timeout = MF_US(100);
		c.retries = 2;
		c.retry_timeout = MF_US(20);
	}
	return c;
}

static void begin(uint16_t node)
{
	struct mf_host_config c;

	w = (struct world){.now = MF_US(1)};
	if (node == MEMORY)
		make_memory();
	c = config_of(node);
	w.host = mf_host_new(&c);
	cr_assert_not_null(w.host);
	w.now = MF_MS(1);
}

static void end(void)
{
	mf_host_free(w.host);
	mf_vm_timed_free(w.memory);
}

static void take_block(uint64_t word, uint8_t sync)
{
	struct seen *s = &w.seen[w.seens % SEEN_MAX];
	const uint8_t *data = NULL;
	bool ends;

	w.word[w.words++] = word;
	ends = sync == MF_SYNC_CTRL && (w.words > 1 || mf_block_type(word) != MF_BT_MS);
	if (!ends)
		return;
	if (w.words == 1)
		cr_assert_eq(mf_proto_get_single(word, &s->m), 0);
	else
		cr_assert_eq(mf_proto_get(&proto, w.word, w.words, &s->m, &data), 0);
	if (data != NULL)
		memcpy(s->data, data, s->m.size);
	w.words = 0;
	w.seens++;
}

static void run(mf_time lasts)
{
	mf_time until = w.now + lasts;
	struct mf_span s;

	for (; w.now < until; w.now += ALONE_PERIOD) {
		while (mf_host_tx(w.host, w.now, MF_SPAN_MAX, &s) > 0)
			for (unsigned int i = 0; i < s.count; i++)
				if (!(s.sync[i] == MF_SYNC_CTRL && mf_block_type(s.word[i]) == MF_BT_C))
					take_block(s.word[i], s.sync[i]);
		mf_host_run(w.host, w.now);
	}
}

static void give(const struct mf_msg *m, const void *data)
{
	struct mf_span s = {.start = w.now, .period = ALONE_PERIOD};

	if (m->kind == MF_RMWREQ)
		s.count = (uint16_t)mf_proto_put_request(&proto, m, s.word);
	else if (m->kind == MF_RRES)
		s.count = (uint16_t)mf_proto_put_chunk(&proto, m, data, s.word);
	else
		s = (struct mf_span){
			.start = w.now, .period = ALONE_PERIOD, .count = 1, .word = {mf_proto_put_single(m)}};
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx(w.host, s.start, &s);
	run(MF_US(2));
}

/* ---- the memory node ---- */

static void fill(uint64_t addr, uint32_t len)
{
	static uint8_t data[OCTETS_MAX];
	const struct mf_access a = {.addr = addr,
				    .len = len,
				    .at = w.now,
				    .data = data,
				    .right = MF_RIGHT_WRITE,
				    .space = SPACE,
				    .key = w.key[MF_RIGHT_WRITE]};
	struct mf_answer out;

	for (unsigned int i = 0; i < len; i++)
		data[i] = (uint8_t)(i + 1);
	cr_assert_eq(mf_memory_timed.access(mf_vm_timed_memory(w.memory), &a, &out), MF_OK);
}

/** A call of this many octets; each is a new use of its id. */
static struct mf_msg call_of(uint8_t which, uint64_t len)
{
	static uint16_t use = 1;

	return (struct mf_msg){.kind = MF_RMWREQ,
			       .op = MF_RMW_CALL,
			       .src = US,
			       .dst = MEMORY,
			       .id = 3,
			       .ext = true,
			       .key = w.key[MF_RIGHT_READ],
			       .epoch = use++,
			       .space = SPACE,
			       .addr = w.at,
			       .arg = {MF_CALL_ASK(which, which == MF_CALL_ECHO_FENCED, 0), len},
			       .size = mf_call_size(len)};
}

static uint64_t head(const struct seen *s, unsigned int word)
{
	uint64_t value;

	memcpy(&value, s->data + 8 * word, sizeof(value));
	return value;
}

/** Gives a request, and expects one message. */
static const struct seen *ask(const struct mf_msg *m)
{
	unsigned int before = w.seens;

	give(m, NULL);
	cr_assert_eq(w.seens, before + 1, "%u messages", w.seens - before);
	return &w.seen[before % SEEN_MAX];
}

static void expect_echo(const struct seen *s, const struct mf_msg *m)
{
	uint64_t len = m->arg[1];

	cr_assert(s->m.kind == MF_RRES && s->m.last && s->m.offset == 0 && s->m.id == m->id);
	cr_expect_eq(s->m.epoch, m->epoch);
	cr_assert_eq(s->m.size, m->size, "the size that the switch has granted, and no other");
	cr_expect(head(s, 0) == MF_OK && head(s, 1) == len, "%lu, %lu", head(s, 0), head(s, 1));
	for (uint64_t i = 0; i + MF_CALL_HEAD < m->size; i++)
		cr_expect_eq(s->data[MF_CALL_HEAD + i], i < len ? (uint8_t)(i + 1) : 0, "octet %lu", i);
}

static void expect_refused(const struct mf_msg *m, uint8_t status, const char *why)
{
	const struct seen *s = ask(m);

	cr_expect(s->m.kind == MF_ERR && s->m.of == MF_RMWREQ, "%s", why);
	cr_expect_eq(s->m.status, status, "%s: %u", why, s->m.status);
}

Test(host_call, the_memory_node_answers)
{
	static const uint64_t lens[] = {1, 8, 15, 16, 17, 100, CHUNK - MF_CALL_HEAD};

	begin(MEMORY);
	fill(w.at, 300);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		const struct mf_msg m = call_of(MF_CALL_ECHO, lens[i]);

		expect_echo(ask(&m), &m);
	}
	end();
}

/* The request is the grant of the first chunk; what is behind it is granted. */
Test(host_call, a_long_answer_waits_for_its_grants)
{
	struct mf_msg m, grant = {.kind = MF_GRANT, .dst = US, .id = 3, .size = CHUNK, .resp = true};
	struct seen whole = {.m = {.kind = MF_RRES, .id = 3, .last = true}};

	begin(MEMORY);
	fill(w.at, 600);
	m = call_of(MF_CALL_ECHO, 600);
	give(&m, NULL);
	give(&grant, NULL);
	give(&grant, NULL);
	cr_assert_eq(w.seens, 3);
	for (unsigned int i = 0; i < 3; i++) {
		const struct seen *s = &w.seen[i];

		cr_assert(s->m.kind == MF_RRES && s->m.last == (i == 2) && s->m.offset == i * CHUNK);
		memcpy(whole.data + s->m.offset, s->data, s->m.size);
		whole.m.size = s->m.offset + s->m.size;
		whole.m.epoch = s->m.epoch;
	}
	expect_echo(&whole, &m);
	end();
}

Test(host_call, the_memory_node_refuses)
{
	struct mf_msg m;

	begin(MEMORY);
	m = call_of(MF_CALLS, 64);
	expect_refused(&m, MF_ERR_OPCODE, "no such call");
	m = call_of(MF_CALL_ECHO, 64);
	m.key ^= 4;
	expect_refused(&m, MF_ERR_KEY, "wrong key");
	m = call_of(MF_CALL_ECHO, 64);
	m.space++;
	expect_refused(&m, MF_ERR_KEY, "another space");
	m = call_of(MF_CALL_ECHO, 64);
	m.addr += 4 * PAGE - 32;
	expect_refused(&m, MF_ERR_KEY, "beyond the space");
	m = call_of(MF_CALL_ECHO, 64);
	m.size = MF_CALL_HEAD;
	expect_refused(&m, MF_ERR_RANGE, "an answer of no octet");
	m = call_of(MF_CALL_ECHO, 64);
	m.size = mf_call_size(ANSWER + 1);
	expect_refused(&m, MF_ERR_RANGE, "an answer beyond the limit");
	m = call_of(MF_CALL_ECHO, 64);
	m.size = MF_CALL_HEAD + 48;
	expect_refused(&m, MF_ERR_RANGE, "an answer that is longer than its response");
	cr_expect_eq(mf_host_stats(w.host)->refused[MF_ERR_RANGE], 3);
	end();
}

Test(host_call, one_that_is_late_is_pending)
{
	struct mf_msg m;
	const struct seen *s;

	begin(MEMORY);
	fill(w.at, 64);
	m = call_of(MF_CALL_ECHO_FENCED, 64);
	s = ask(&m);
	cr_assert(s->m.kind == MF_RRES && s->m.size == m.size);
	cr_expect_eq(head(s, 0), MF_ERR_PENDING);
	cr_expect_eq(head(s, 1), m.arg[0], "the ticket");
	for (unsigned int i = MF_CALL_HEAD; i < m.size; i++)
		cr_expect_eq(s->data[i], 0);
	m.epoch++;
	expect_echo(ask(&m), &m);
	cr_expect(mf_host_stats(w.host)->calls == 1 && mf_host_stats(w.host)->calls_pending == 1);
	end();
}

/* From any place that the beginning of its response may have come to. */
Test(host_call, the_rest_of_an_answer)
{
	struct mf_msg m;

	begin(MEMORY);
	fill(w.at, 200);
	m = call_of(MF_CALL_ECHO, 200);
	expect_echo(ask(&m), &m);
	for (uint32_t from = 16; from < mf_call_size(200); from += 16) {
		const struct seen *s;

		m.again++;
		m.offset = from;
		m.size = mf_call_size(200) - from;
		s = ask(&m);
		cr_assert(s->m.kind == MF_RRES && s->m.last && s->m.offset == from && s->m.size == m.size);
		for (uint32_t i = 0; i < m.size; i++) {
			uint32_t at = from - MF_CALL_HEAD + i;

			cr_expect_eq(s->data[i], at < 200 ? (uint8_t)(at + 1) : 0, "from %u: %u", from, i);
		}
	}
	end();
}

/* host.once: its response was lost. */
Test(host_call, a_call_that_is_sent_again_is_answered_again)
{
	struct mf_msg m;

	begin(MEMORY);
	fill(w.at, 64);
	m = call_of(MF_CALL_ECHO, 64);
	expect_echo(ask(&m), &m);
	m.again = 1;
	expect_echo(ask(&m), &m);
	cr_expect_eq(mf_host_stats(w.host)->again, 1);
	m = call_of(MF_CALL_ECHO_FENCED, 64);
	cr_expect_eq(head(ask(&m), 0), MF_ERR_PENDING);
	m.again = 1; /* by then it is done */
	expect_echo(ask(&m), &m);
	m = call_of(MF_CALL_ECHO, 64);
	m.key ^= 1;
	expect_refused(&m, MF_ERR_KEY, "wrong key");
	m.again = 1;
	expect_refused(&m, MF_ERR_KEY, "again");
	m = call_of(MF_CALL_ECHO, 64);
	expect_echo(ask(&m), &m);
	(void)task(MF_SPACE_FREE, PAGE, w.at, w.key[MF_RIGHT_WRITE]);
	m.again = 1;
	expect_refused(&m, MF_ERR_KEY, "its page is gone");
	end();
}

/* Who may not do it hears that, room or not. */
Test(host_call, without_a_buffer_there_is_no_room)
{
	struct mf_msg m;

	begin(MEMORY);
	fill(w.at, 64);
	mf_host_exhaust(w.host, MF_HOST_BUFFERS, true);
	m = call_of(MF_CALL_ECHO, 64);
	expect_refused(&m, MF_ERR_RESOURCE, "no buffer");
	m = call_of(MF_CALL_ECHO, 64);
	m.key ^= 1;
	expect_refused(&m, MF_ERR_KEY, "no buffer, wrong key");
	m = call_of(MF_CALL_ECHO_FENCED, 64);
	expect_refused(&m, MF_ERR_RESOURCE, "no buffer: its fence has not begun");
	mf_host_exhaust(w.host, MF_HOST_BUFFERS, false);
	m = call_of(MF_CALL_ECHO, 64);
	expect_echo(ask(&m), &m);
	end();
}

/* ---- who asks ---- */

static uint8_t buffer[ANSWER + 64];

static struct mf_op op_of(uint64_t len)
{
	memset(buffer, 0xee, sizeof(buffer));
	return (struct mf_op){.kind = MF_OP_CALL,
			      .node = MEMORY,
			      .addr = 0x1000,
			      .len = len,
			      .buf = buffer,
			      .arg = {MF_CALL_ASK(MF_CALL_ECHO, 0, 0), 50},
			      .user = 77,
			      .key = 5,
			      .space = SPACE};
}

/** Submits it. @return its request */
static struct mf_msg submit(uint64_t len)
{
	const struct mf_op op = op_of(len);

	cr_assert_eq(mf_host_submit(w.host, w.now, &op), 0);
	run(MF_US(1));
	return w.seen[(w.seens - 1) % SEEN_MAX].m;
}

static struct mf_completion completion(void)
{
	struct mf_completion c = {.status = MF_STATUS_WORDS};

	cr_assert_eq(mf_host_completions(w.host, w.now, &c, 1), 1);
	cr_assert(c.user == 77 && c.kind == MF_OP_CALL);
	return c;
}

/** A response of these octets behind a head, from an offset on. */
static void respond(const struct mf_msg *request, uint64_t status, uint64_t result, uint32_t from,
		    uint32_t to)
{
	static uint8_t data[OCTETS_MAX];
	const uint64_t words[2] = {status, result};
	const struct mf_msg m = {.kind = MF_RRES,
				 .src = MEMORY,
				 .dst = US,
				 .id = request->id,
				 .ext = true,
				 .epoch = request->epoch,
				 .offset = from,
				 .size = to - from,
				 .last = to == request->size};

	memcpy(data, words, sizeof(words));
	for (unsigned int i = MF_CALL_HEAD; i < to; i++)
		data[i] = (uint8_t)(i - MF_CALL_HEAD + 1);
	give(&m, data + from);
}

/** That so many octets have come, and nothing else was written. */
static void expect_octets(uint64_t room)
{
	for (uint64_t i = 0; i < sizeof(buffer); i++)
		cr_expect_eq(buffer[i], i < room ? (uint8_t)(i + 1) : 0xee, "octet %lu", i);
}

Test(host_call, what_is_no_call_is_not_asked)
{
	struct mf_op op = op_of(64);

	begin(US);
	op.len = 0;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "no room for an answer");
	op.len = ANSWER + 1;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "more than the limit");
	op = op_of(64);
	op.node = US;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "the own node");
	op.node = 3;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "no node");
	op = op_of(64);
	op.addr = MF_ADDR_MAX + 1;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "no address");
	op = op_of(8);
	op.kind = MF_OP_RMW;
	op.rmw = MF_RMW_CALL;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "the opcode alone is none");
	op.kind = MF_OPS;
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL, "no kind");
	cr_expect_eq(w.seens, 0);
	end();
}

Test(host_call, without_a_limit_there_are_none)
{
	struct mf_host_config c;
	const struct mf_op op = op_of(16);

	w = (struct world){.now = MF_US(1)};
	c = config_of(US);
	c.answer = 0;
	w.host = mf_host_new(&c);
	cr_expect_eq(mf_host_submit(w.host, w.now, &op), -EINVAL);
	c.answer = MF_CALL_MAX + 1;
	cr_expect_null(mf_host_new(&c), "longer than the wire can say");
	end();
}

Test(host_call, an_answer_fills_the_room_and_no_more)
{
	static const uint64_t rooms[] = {1, 16, 50, 63, 100, 500};

	begin(US);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		const struct mf_msg m = submit(rooms[i]);
		struct mf_completion c;

		cr_assert(m.kind == MF_RMWREQ && m.op == MF_RMW_CALL && m.space == SPACE && m.key == 5);
		cr_assert(m.addr == 0x1000 && m.arg[0] == MF_CALL_ECHO && m.arg[1] == 50);
		cr_assert_eq(m.size, mf_call_size(rooms[i]));
		for (uint32_t at = 0; at < m.size; at += 64)
			respond(&m, MF_OK, 1, at, at + 64 < m.size ? at + 64 : m.size);
		c = completion();
		cr_expect(c.status == MF_OK && c.result == 1 && c.len == 1);
		expect_octets(rooms[i]);
	}
	cr_expect_eq(mf_host_stats(w.host)->completed[MF_OP_CALL], sizeof(rooms) / sizeof(rooms[0]));
	end();
}

/* The room is not a whole number of units: the answer may be longer all the same. */
Test(host_call, an_answer_that_is_longer_than_the_room)
{
	struct mf_msg m;

	begin(US);
	m = submit(60);
	respond(&m, MF_OK, 61, 0, m.size);
	cr_expect_eq(completion().status, MF_ERR_RANGE);
	for (unsigned int i = 60; i < sizeof(buffer); i++)
		cr_expect_eq(buffer[i], 0xee);
	m = submit(60);
	respond(&m, MF_OK, 65, 0, m.size);
	cr_expect_eq(completion().status, MF_ERR_UNKNOWN, "more than has come");
	end();
}

/* A memory node may answer anything: it is believed no more than fits. */
Test(host_call, heads_of_all_kinds)
{
	static const struct {
		uint64_t status, result;
		uint8_t told;
		bool failed;
	} heads[] = {{MF_OK, 0, MF_OK, false},
		     {MF_OK, 64, MF_OK, false},
		     {MF_OK, 65, MF_ERR_UNKNOWN, true},
		     {MF_OK, UINT64_MAX, MF_ERR_UNKNOWN, true},
		     {MF_ERR_PENDING, 0x1234567, MF_ERR_PENDING, false},
		     {MF_ERR_BUSY, 0, MF_ERR_BUSY, false},
		     {MF_ERR_KEY, 0, MF_ERR_UNKNOWN, true},
		     {MF_STATUS_WORDS, 0, MF_ERR_UNKNOWN, true},
		     {UINT64_C(1) << 32 | MF_ERR_PENDING, 0, MF_ERR_UNKNOWN, true},
		     {UINT64_C(1) << 63, 0, MF_ERR_UNKNOWN, true}};
	uint64_t failed = 0;

	begin(US);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const struct mf_msg m = submit(64);
		struct mf_completion c;

		respond(&m, heads[i].status, heads[i].result, 0, m.size);
		c = completion();
		failed += heads[i].failed;
		cr_expect_eq(c.status, heads[i].told, "head %zu: %u", i, c.status);
		cr_expect_eq(c.len, c.status == MF_OK ? heads[i].result : 0);
		if (c.status == MF_ERR_PENDING)
			cr_expect_eq(c.result, heads[i].result, "the ticket");
		cr_expect_eq(mf_host_stats(w.host)->failed[MF_OP_CALL], failed, "head %zu", i);
	}
	end();
}

Test(host_call, a_refusal_ends_it)
{
	struct mf_msg m,
		err = {.kind = MF_ERR, .src = MEMORY, .dst = US, .status = MF_ERR_OPCODE, .of = MF_RMWREQ};
	struct mf_completion c;

	begin(US);
	m = submit(64);
	err.id = m.id;
	err.epoch = m.epoch & ((1 << MF_ERR_USE_BITS) - 1);
	give(&err, NULL);
	c = completion();
	cr_expect(c.status == MF_ERR_OPCODE && c.len == 0);
	expect_octets(0);
	end();
}

/* What has not come is asked for again, as of a read. */
Test(host_call, what_is_lost_is_asked_again)
{
	struct mf_msg m, again;

	begin(US);
	m = submit(300);
	respond(&m, MF_OK, 300, 0, 64);
	run(MF_US(25));
	cr_assert_eq(w.seens, 2);
	again = w.seen[1].m;
	cr_expect(again.again == 1 && again.epoch == m.epoch && again.id == m.id);
	cr_expect(again.offset == 64 && again.size == m.size - 64);
	cr_expect(again.addr == m.addr && again.key == m.key && again.space == m.space);
	cr_expect(again.arg[0] == m.arg[0] && again.arg[1] == m.arg[1]);
	respond(&m, MF_OK, 0, 128, 192); /* of the first sending, behind a gap */
	respond(&m, MF_ERR_BUSY, 0, 0, 128);
	respond(&m, MF_OK, 0, 128, m.size);
	cr_expect_eq(completion().status, MF_OK, "the first head counts");
	expect_octets(300);
	end();
}

Test(host_call, without_an_answer_its_outcome_is_not_known)
{
	begin(US);
	(void)submit(64);
	run(MF_US(200));
	cr_assert_eq(w.seens, 4);
	for (unsigned int i = 0; i < 3; i++)
		cr_expect(w.seen[i].m.kind == MF_RMWREQ && w.seen[i].m.again == i);
	cr_expect(w.seen[3].m.kind == MF_ERR && w.seen[3].m.src == US, "it is given up");
	cr_expect_eq(completion().status, MF_ERR_UNKNOWN);
	end();
}
