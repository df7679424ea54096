/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory node with spaces, and who tries what is not its own, message by message. What the node sends is
 * the same, bit by bit and at the same time, whatever it is that is wrong. MF_LONG: more attempts.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "alone.h"
#include "base/mf_rng.h"
#include "memory/mf_vm_timed.h"

#define SEED 0x5eed0063
#define US 0 /**< who asks, and has a space */
#define MEMORY 1
#define OTHER 2
#define ATTEMPTS 250 /* of each kind */
#define SLOT 3 /* of tasks: none has been asked there */
#define PAGE UINT64_C(4096)
#define BEGIN MF_MS(1) /* when messages come */
#define AGAIN MF_US(20) /* what is asked of spaces is asked again so much later */

#define OURS (US << 13 | 1u)
#define THEIRS (OTHER << 13 | 1u)
#define ENDED (OTHER << 13 | 2u)

/** A new memory node: what is there is always the same. */
struct world {
	struct mf_host *host;
	struct mf_vm_timed *memory;
	mf_time now;
	uint32_t number;
	uint64_t key[3][2][MF_SPACE_RIGHTS]; /* of OURS, THEIRS and ENDED, for US and OTHER */
	uint64_t at[3]; /* of each: 4 pages, the third one cannot be written, and the fifth is free */
	uint64_t large; /* of ours: a page of another class */
};

static const uint32_t space_of[3] = {OURS, THEIRS, ENDED};
static struct mf_rng rng;

static uint64_t task(struct world *w, uint32_t space, uint8_t what, uint64_t how_much, uint64_t addr,
		     uint64_t key)
{
	uint16_t node = mf_space_maker(space);
	uint64_t arg[2] = {MF_SPACE_ASK(what, 0, ++w->number), how_much}, result = 0;
	struct mf_access a = {.addr = addr, .key = key, .data = arg, .space = space, .node = node};
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; i < 1000 && status == MF_ERR_PENDING; i++) {
		a.at = w->now += MF_NS(100);
		status = mf_memory_timed.ask(mf_vm_timed_memory(w->memory), MF_RMW_SPACE, &a, &result);
	}
	cr_assert_eq(status, MF_OK, "task %u of space %x: %u", what, space, status);
	return result;
}

static void make_space(struct world *w, unsigned int s)
{
	uint64_t *key = w->key[s][mf_space_maker(space_of[s]) == OTHER];

	(void)task(w, space_of[s], MF_SPACE_MAKE, 0, 0, 0);
	for (uint8_t right = 0; right < MF_SPACE_RIGHTS; right++)
		key[right] = task(w, space_of[s], MF_SPACE_JOIN, right, 0, 0);
	w->at[s] = task(w, space_of[s], MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(4 * PAGE, 0, MF_PAGE_WRITE), 0,
			key[MF_RIGHT_WRITE]);
	(void)task(w, space_of[s], MF_SPACE_PROTECT, MF_SPACE_ALLOC(PAGE, 0, MF_PAGE_READ),
		   w->at[s] + 2 * PAGE, key[MF_RIGHT_WRITE]);
}

static void begin(struct world *w)
{
	struct mf_vm_timed_config c = {
		.vm = {.page_class = {[0] = {.shift = 12, .pages = 32}, [2] = {.shift = 14, .pages = 4}},
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
		       .answer = 256,
		       .dram = MF_NS(82),
		       .fault = MF_NS(12),
		       .secrets = {.mix = {1, 2, 3}, .tlb = 4, .key = {5, 6}}},
		.step = MF_NS(20),
		.zero = MF_NS(400),
		.crossing = MF_NS(100)};
	struct mf_host_config config = alone_config(MEMORY, 256);

	*w = (struct world){.now = MF_US(1), .memory = mf_vm_timed_new(&c)};
	config.memory_ops = &mf_memory_timed;
	config.memory = mf_vm_timed_memory(w->memory);
	for (unsigned int i = 0; i < sizeof(config.timing.cost) / sizeof(config.timing.cost[0]); i++)
		config.timing.cost[i] = i % 3 * ALONE_PERIOD;
	w->host = mf_host_new(&config);
	cr_assert(w->memory != NULL && w->host != NULL);
	for (unsigned int s = 0; s < 3; s++)
		make_space(w, s);
	w->large = task(w, OURS, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(4 * PAGE, 2, MF_PAGE_WRITE), 0,
			w->key[0][0][MF_RIGHT_WRITE]);
	(void)task(w, ENDED, MF_SPACE_END, 0, 0, w->key[2][1][MF_SPACE_OWN]);
	cr_assert_lt(w->now, BEGIN);
}

static void end(struct world *w)
{
	mf_host_free(w->host);
	mf_vm_timed_free(w->memory);
}

#define ANSWER_MAX 64

/** What came back: blocks and when each began. */
struct answer {
	unsigned int n;
	uint64_t word[ANSWER_MAX];
	uint8_t sync[ANSWER_MAX];
	mf_time at[ANSWER_MAX];
};

static void run(struct world *w, mf_time from, mf_time until, struct answer *a)
{
	struct mf_span s;

	for (mf_time now = from; now < until; now += ALONE_PERIOD) {
		while (mf_host_tx(w->host, now, MF_SPAN_MAX, &s) > 0)
			for (unsigned int i = 0; i < s.count; i++) {
				cr_assert_lt(a->n, ANSWER_MAX);
				a->word[a->n] = s.word[i];
				a->sync[a->n] = s.sync[i];
				a->at[a->n++] = mf_span_at(&s, i);
			}
		mf_host_run(w->host, now);
	}
}

static void give(struct world *w, const struct mf_msg *m, mf_time at)
{
	const struct mf_proto proto = {.ext = true};
	static const uint8_t data[256] = {1, 2, 3};
	struct mf_span s = {.start = at, .period = ALONE_PERIOD};

	if (m->kind == MF_RREQ || m->kind == MF_RMWREQ)
		s.count = (uint16_t)mf_proto_put_request(&proto, m, s.word);
	else
		s.count = (uint16_t)mf_proto_put_chunk(&proto, m, data, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx(w->host, s.start, &s);
}

/** Gives a message to a new memory node, and sees what comes back. */
static struct answer ask(const struct mf_msg *m)
{
	struct answer a = {.n = 0};
	struct world w;

	begin(&w);
	give(&w, m, BEGIN);
	run(&w, BEGIN, BEGIN + MF_US(2), &a);
	end(&w);
	return a;
}

static bool same(const struct answer *a, const struct answer *b)
{
	return a->n == b->n && memcmp(a->word, b->word, a->n * sizeof(a->word[0])) == 0 &&
	       memcmp(a->sync, b->sync, a->n) == 0 && memcmp(a->at, b->at, a->n * sizeof(a->at[0])) == 0;
}

/** Whether it is one ERR that says that it is about the key, and nothing else. */
static bool is_refusal(const struct answer *a, uint8_t of)
{
	struct mf_msg m;

	return a->n == 1 && mf_proto_get_single(a->word[0], &m) == 0 && m.kind == MF_ERR &&
	       m.status == MF_ERR_KEY && m.of == of;
}

/* ---- accesses ---- */

static uint64_t draw(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

static enum mf_right right_of(const struct mf_msg *m)
{
	if (m->kind == MF_RREQ || (m->kind == MF_RMWREQ && m->op == MF_RMW_CALL))
		return MF_RIGHT_READ;
	return m->kind == MF_RMWREQ ? MF_RIGHT_RMW : MF_RIGHT_WRITE;
}

static void make_good(const struct world *w, struct mf_msg *m)
{
	m->space = OURS;
	m->addr = w->at[0] + draw(2 * PAGE - 2048) / 8 * 8;
	m->key = w->key[0][0][right_of(m)];
}

/** One thing is wrong. @return false: it may be right all the same */
static bool make_bad(const struct world *w, struct mf_msg *m)
{
	unsigned int right = right_of(m);

	make_good(w, m);
	switch (draw(10)) {
	case 0: /* a space, with the own key */
		m->space = space_of[1 + draw(2)];
		return true;
	case 1: /* one that there is not */
		m->space ^= 1u << draw(MF_SPACE_BITS);
		return true;
	case 2:
		m->key ^= UINT64_C(1) << draw(64);
		return true;
	case 3: /* of another right, or none */
		m->key = draw(4) == 0 ? 0 : w->key[0][0][(right + 1 + draw(3)) % MF_SPACE_RIGHTS];
		return true;
	case 4: /* of another node, which sits at another port */
		m->space = THEIRS;
		m->addr = w->at[1] + draw(PAGE) / 8 * 8;
		m->key = w->key[1][1][right];
		return true;
	case 5: /* of a space that has ended */
		m->space = ENDED;
		m->addr = w->at[2] + draw(PAGE) / 8 * 8;
		m->key = w->key[2][1][right];
		return true;
	case 6: /* after the last page, or across its end */
		m->addr = w->at[0] + 4 * PAGE - draw(2) * (m->kind == MF_RMWREQ ? 0 : 8);
		return true;
	case 7: /* a page that cannot be written */
		m->addr = w->at[0] + 2 * PAGE;
		return right != MF_RIGHT_READ;
	case 8: /* the same in a class of pages that there is not, or has none there */
		m->addr += mf_remote_class_base(1 + (unsigned int)draw(MF_PAGE_CLASSES - 1));
		return m->addr >> 14 != w->large >> 14;
	default: /* a bit of the page's number */
		m->addr = w->at[0] ^ UINT64_C(1) << (14 + draw(34));
		return m->addr < w->at[0] || m->addr >= w->at[0] + 4 * PAGE;
	}
}

static void every_refusal(struct mf_msg m)
{
	unsigned int n = getenv("MF_LONG") != NULL ? 20 * ATTEMPTS : ATTEMPTS;
	struct answer first = {.n = 0};
	struct world w;

	mf_rng_init(&rng, SEED, "space access", m.kind);
	m.ext = true;
	m.src = US;
	m.dst = MEMORY;
	m.id = 9;
	m.epoch = 3;
	begin(&w);
	end(&w); /* its keys and addresses stay */
	make_good(&w, &m);
	first = ask(&m);
	cr_assert(first.n > 0 && !is_refusal(&first, m.kind), "with key and right");
	for (unsigned int i = 0; i < n; i++) {
		struct answer a;

		while (!make_bad(&w, &m))
			;
		a = ask(&m);
		cr_assert(is_refusal(&a, m.kind), "space %x, address %lx, key %lx", m.space, m.addr, m.key);
		if (i == 0)
			first = a;
		cr_assert(same(&a, &first),
			  "another answer, or at another time: space %x, address %lx, key %lx", m.space,
			  m.addr, m.key);
	}
}

Test(host_space_access, reads)
{
	every_refusal((struct mf_msg){.kind = MF_RREQ, .size = 64});
	every_refusal((struct mf_msg){.kind = MF_RREQ, .size = 2048});
}

Test(host_space_access, acknowledged_writes)
{
	every_refusal((struct mf_msg){.kind = MF_WREQ_ACK, .size = 64, .last = true});
}

Test(host_space_access, atomics)
{
	every_refusal((struct mf_msg){.kind = MF_RMWREQ, .op = MF_RMW_CAS, .arg = {0, 1}});
	every_refusal((struct mf_msg){.kind = MF_RMWREQ, .op = MF_RMW_FADD, .arg = {1}});
}

Test(host_space_access, calls)
{
	every_refusal((struct mf_msg){.kind = MF_RMWREQ,
				      .op = MF_RMW_CALL,
				      .arg = {MF_CALL_ASK(MF_CALL_ECHO, 0, 0), 64},
				      .size = mf_call_size(64)});
}

/* ---- what is asked of spaces ---- */

/** What comes back, and again later: it may be under way at first. */
static struct answer ask_twice(uint64_t what, uint64_t how_much, uint32_t space, uint64_t addr, uint64_t key)
{
	struct mf_msg m = {.kind = MF_RMWREQ,
			   .ext = true,
			   .src = US,
			   .dst = MEMORY,
			   .id = 9,
			   .epoch = 3,
			   .op = MF_RMW_SPACE,
			   .space = space,
			   .addr = addr,
			   .key = key,
			   .arg = {what, how_much}};
	struct answer a = {.n = 0};
	struct world w;

	begin(&w);
	give(&w, &m, BEGIN);
	run(&w, BEGIN, BEGIN + MF_US(2), &a);
	m.epoch++;
	give(&w, &m, BEGIN + AGAIN);
	run(&w, BEGIN + AGAIN, BEGIN + AGAIN + MF_US(2), &a);
	end(&w);
	return a;
}

static bool good_answer(const struct answer *a, uint8_t first, uint8_t second)
{
	const unsigned int answer = 2 + 2; /* words before it: an extended message */

	return a->n > 8 && a->n % 2 == 0 && (uint8_t)a->word[answer - 1] == first &&
	       (uint8_t)a->word[a->n / 2 + answer - 1] == second;
}

static const uint32_t not_ours[] = {THEIRS, ENDED, OTHER << 13 | 77, 1u << 13 | 3, MF_SPACES - 1};

/** Keys, and spaces, that nobody may have: whether there is such a space does not show. */
Test(host_space_access, joins)
{
	struct answer first = ask_twice(MF_SPACE_ASK(MF_SPACE_JOIN, SLOT, 1), MF_RIGHT_READ, THEIRS, 0, 0),
		      good;

	good = ask_twice(MF_SPACE_ASK(MF_SPACE_JOIN, SLOT, 1), MF_RIGHT_READ, OURS, 0, 0);
	cr_expect(good_answer(&good, MF_ERR_PENDING, MF_OK), "%u blocks", good.n);
	cr_expect(good_answer(&first, MF_ERR_PENDING, MF_ERR_KEY), "%u blocks", first.n);
	for (unsigned int i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
		for (uint64_t right = 0; right < 6; right++) {
			bool makes = right == 5;
			struct answer a =
				ask_twice(MF_SPACE_ASK(makes ? MF_SPACE_MAKE : MF_SPACE_JOIN, SLOT, 1),
					  makes ? 0 : right, not_ours[i], 0, right * 99);

			cr_expect(same(&a, &first), "space %x, right %lu", not_ours[i], right);
		}
}

/** Tasks that need a key are refused at once. */
Test(host_space_access, tasks)
{
	static const uint8_t tasks[] = {MF_SPACE_END,  MF_SPACE_GRANT,   MF_SPACE_ALLOCATE,
					MF_SPACE_FREE, MF_SPACE_PROTECT, MF_SPACE_FENCE};
	struct answer first = {.n = 0};
	struct world w;

	begin(&w);
	end(&w);
	for (unsigned int i = 0; i < sizeof(tasks); i++)
		for (unsigned int k = 0; k < 8; k++) {
			uint32_t space = k < 5 ? not_ours[k] : OURS;
			uint64_t key = k == 0 ? w.key[1][1][k] : k == 1 ? w.key[2][1][k] : w.key[0][0][0] ^ 1;
			struct answer a = ask_twice(MF_SPACE_ASK(tasks[i], SLOT, 1), PAGE, space,
						    w.at[k % 3] + (k == 7 ? 64 * PAGE : 0), key);

			if (first.n == 0)
				first = a;
			cr_expect(good_answer(&a, MF_ERR_KEY, MF_ERR_KEY), "task %u, space %x", tasks[i],
				  space);
			cr_expect(same(&a, &first), "task %u, space %x", tasks[i], space);
		}
}
