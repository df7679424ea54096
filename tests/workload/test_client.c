/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops, limits and times of a client. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client_test.h"

Test(client, names)
{
	cr_assert_str_eq(mf_client_kind_name(MF_CLIENT_READ), "read");
	cr_assert_str_eq(mf_client_kind_name(MF_CLIENT_AND), "and");
	cr_assert_str_eq(mf_client_kind_name(MF_CLIENT_KINDS), "?");
}

/* Everything mixed, in every pattern and address distribution: all data as it should be. */
Test(client, everything_verifies)
{
	for (int i = 0; i < 36; i++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;
		uint64_t returns;

		test_mix_all(&config);
		config.pattern = (enum mf_client_pattern)(i % 4);
		config.address = (enum mf_client_address)(i / 4 % 3);
		config.size_dist = i < 12 ? MF_CLIENT_SIZE_FIXED : MF_CLIENT_SIZE_UNIFORM;
		config.size_min = i < 24 ? 64 : 1;
		config.size_max = 700;
		config.first = 1;
		config.operations = 3000;
		config.seed = (uint64_t)i;
		s = test_run(&config);
		returns = s->kind[MF_CLIENT_READ].completed;
		for (int k = MF_CLIENT_CAS; k < MF_CLIENT_KINDS; k++)
			returns += s->kind[k].completed;
		cr_assert_eq(s->begun_all, 3000, "run %d", i);
		cr_assert_eq(s->completed_all, 3000);
		cr_assert_eq(s->verified, returns);
		cr_assert_eq(s->mismatches + s->unverified + s->stray + s->failed_all, 0, "run %d", i);
		cr_assert_eq(h->busy_max, 8);
		free(s);
		free(h);
	}
}

Test(client, transfers_larger_than_a_message)
{
	static const struct mf_client_target target = {5, 0};
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	config.targets = &target;
	config.targets_count = 1;
	config.mix[MF_CLIENT_WRITE] = 1;
	config.span = FAKE_MEMORY;
	config.size_min = 200001;
	config.operations = 50;
	s = test_run(&config);
	cr_assert_eq(s->completed_all, 50);
	cr_assert_eq(s->mismatches, 0);
	cr_assert_gt(s->verified, 5);
	cr_assert_eq(s->kind[MF_CLIENT_READ].octets, s->kind[MF_CLIENT_READ].completed * 200001);
	free(s);
	free(h);
}

Test(client, closed_loop_keeps_its_depth)
{
	for (unsigned int depth = 1; depth <= 100; depth += 33) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;

		config.depth = depth;
		config.start = MF_US(1);
		config.measure = MF_US(2);
		config.stop = MF_US(4);
		s = test_run(&config);
		/* Begun at start, and again whenever the ones before complete, 300 ns later. */
		cr_assert_eq(s->begun_all, depth * 10);
		cr_assert_eq(s->kind[MF_CLIENT_READ].begun, depth * 6);
		cr_assert_eq(s->kind[MF_CLIENT_READ].completed, depth * 6);
		cr_assert_eq(s->kind[MF_CLIENT_READ].latency.count, depth * 6);
		cr_assert_eq(s->kind[MF_CLIENT_READ].latency.min, MF_NS(300));
		cr_assert_eq(s->kind[MF_CLIENT_READ].latency.max, MF_NS(300));
		cr_assert_eq(s->kind[MF_CLIENT_READ].first.max, MF_NS(150));
		cr_assert_eq(mf_client_intended(s, MF_CLIENT_READ)->count, 0);
		cr_assert_eq(s->kind[MF_CLIENT_READ].octets, depth * 6 * 64);
		cr_assert_eq(s->last_done, MF_US(4));
		cr_assert_eq(h->busy_max, depth);
		free(s);
		free(h);
	}
}

/* Whether or when responses begin to come in pieces: each has its first block in the histogram once. */
Test(client, first_blocks)
{
	for (uint64_t whole = 0; whole <= 100; whole += 50) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		const struct mf_hist *first;
		struct mf_client_stats *s;

		h->whole = whole;
		config.operations = 100;
		s = test_run(&config);
		first = mf_client_first(s, MF_CLIENT_READ);
		cr_assert_eq(first->count, 100);
		cr_assert_eq(first->max, whole > 0 ? MF_NS(300) : MF_NS(150));
		cr_assert_eq(first->min, whole < 100 ? MF_NS(150) : MF_NS(300));
		cr_assert_eq(first->bucket[mf_hist_index(MF_NS(300))], whole);
		cr_assert_eq(s->kind[MF_CLIENT_READ].latency.min, MF_NS(300));
		cr_assert_eq(mf_client_first(s, MF_CLIENT_WRITE)->count, 0);
		free(s);
		free(h);
	}
}

Test(client, finished)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;

	config.stop = MF_US(1);
	c = mf_client_new(&config);
	cr_assert(!mf_client_finished(c, 0));
	cr_assert_eq(mf_client_run(c, 0), MF_NEVER);
	cr_assert(!mf_client_finished(c, 0));
	test_drive(c, h, 0, MF_NS(600));
	cr_assert(!mf_client_finished(c, MF_US(1)));
	test_drive(c, h, MF_NS(900), MF_US(2));
	cr_assert(mf_client_finished(c, MF_US(2)));
	mf_client_free(c);

	config.operations = 3;
	c = mf_client_new(&config);
	mf_client_run(c, 0);
	cr_assert(!mf_client_finished(c, 0));
	mf_client_run(c, MF_NS(300));
	cr_assert(mf_client_finished(c, MF_NS(300)));
	cr_assert_eq(mf_client_stats(c)->begun_all, 3);
	mf_client_free(c);
	free(h);
}

Test(client, starts_at_start)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;

	config.start = MF_US(3);
	c = mf_client_new(&config);
	cr_assert_eq(mf_client_run(c, 0), MF_US(3));
	cr_assert_eq(h->submitted, 0);
	cr_assert_eq(mf_client_run(c, MF_US(3)), MF_NEVER);
	cr_assert_eq(h->submitted, 8);
	mf_client_free(c);
	free(h);
}

/* The host's queue is smaller than the depth: operations wait, and none is lost or made twice. */
Test(client, waits_for_room_in_the_host)
{
	for (int open = 0; open < 2; open++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;

		h->queue = 3;
		test_mix_all(&config);
		config.interval = open ? MF_NS(10) : 0;
		config.operations = 2000;
		s = test_run(&config);
		cr_assert_eq(s->completed_all, 2000);
		cr_assert_eq(s->mismatches, 0);
		cr_assert_gt(s->refused, 500);
		cr_assert_leq(s->refused, 2000);
		cr_assert_eq(h->busy_max, 3);
		free(s);
		free(h);
	}
}

Test(client, open_loop_keeps_its_rate)
{
	for (int poisson = 0; poisson < 2; poisson++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;

		config.interval = MF_NS(50);
		config.poisson = poisson;
		config.depth = 64;
		config.start = MF_US(10);
		config.measure = MF_US(110);
		config.stop = MF_US(1010);
		s = test_run(&config);
		if (poisson) { /* 20,000 and 18,000, their deviation the root of it; four of them */
			cr_assert_float_eq((double)s->begun_all, 20000, 4 * sqrt(20000));
			cr_assert_float_eq((double)s->kind[MF_CLIENT_READ].begun, 18000, 4 * sqrt(18000));
			cr_assert_neq(s->begun_all, 20000);
		} else {
			cr_assert_eq(s->begun_all, 20000);
			cr_assert_eq(s->kind[MF_CLIENT_READ].begun, 18000);
		}
		cr_assert_eq(mf_client_intended(s, MF_CLIENT_READ)->count, s->kind[MF_CLIENT_READ].completed);
		cr_assert_eq(mf_client_intended(s, MF_CLIENT_READ)->max, MF_NS(300));
		free(s);
		free(h);
	}
}

static uint64_t longer_than(const struct mf_hist *h, mf_time t)
{
	uint64_t n = 0;

	for (unsigned int i = mf_hist_index(t) + 1; i < MF_HIST_BUCKETS; i++)
		n += h->bucket[i];
	return n;
}

/*
 * A host that stalls for 10 us: 100 operations are due in the meantime, depth are under way. What was
 * submitted hardly shows the stall; what was intended does (coordinated omission).
 */
Test(client, a_stall_shows_in_the_intended_latency)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	h->stall_from = MF_US(20);
	h->stall_to = MF_US(30);
	config.interval = MF_NS(100);
	config.depth = 4;
	config.stop = MF_US(100);
	s = test_run(&config);
	cr_assert_eq(s->begun_all, 1000);
	cr_assert_eq(s->kind[MF_CLIENT_READ].completed, 1000);
	cr_assert_leq(longer_than(&s->kind[MF_CLIENT_READ].latency, MF_US(1)), 4);
	cr_assert_geq(longer_than(mf_client_intended(s, MF_CLIENT_READ), MF_US(1)), 90);
	/* At 4 in 300 ns they catch up: the backlog of 100 lasts 30 us, so about half of 10 us means 50. */
	cr_assert_geq(longer_than(mf_client_intended(s, MF_CLIENT_READ), MF_US(5)), 50);
	cr_assert_leq(mf_client_intended(s, MF_CLIENT_READ)->max, MF_US(11));
	free(s);
	free(h);
}

/* Intended before stop, begun after it: still part of the run. */
Test(client, open_loop_ends_with_its_backlog)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;

	config.interval = MF_NS(10);
	config.depth = 1;
	config.stop = MF_US(1);
	c = mf_client_new(&config);
	test_drive(c, h, 0, MF_US(2));
	cr_assert(!mf_client_finished(c, MF_US(2)));
	test_drive(c, h, MF_US(2), MF_NEVER);
	cr_assert(mf_client_finished(c, MF_US(40)));
	cr_assert_eq(mf_client_stats(c)->completed_all, 100);
	mf_client_free(c);
	free(h);
}

static struct mf_client_stats *seeded(uint64_t seed, bool often)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s = malloc(sizeof(*s));
	struct mf_client *c;
	mf_time now = 0;

	test_mix_all(&config);
	config.seed = seed;
	config.interval = MF_NS(40);
	config.poisson = true;
	config.operations = 2000;
	h->queue = 6;
	c = mf_client_new(&config);
	while (!mf_client_finished(c, now)) {
		mf_time next = mf_time_min(mf_client_run(c, now), fake_host_next(h));

		for (mf_time t = now + 100; often && t < next; t += MF_NS(7))
			mf_client_run(c, t);
		now = mf_time_min(next, MF_SEC(1));
	}
	*s = *mf_client_stats(c);
	mf_client_free(c);
	free(h);
	return s;
}

/* A result is a function of the seed, and not of how often the client is called. */
Test(client, the_seed_decides)
{
	struct mf_client_stats *a = seeded(1, false), *b = seeded(1, true), *other = seeded(2, false);

	cr_assert_eq(memcmp(a, b, sizeof(*a)), 0);
	cr_assert_neq(memcmp(a, other, sizeof(*a)), 0);
	cr_assert_gt(a->refused, 0);
	free(a);
	free(b);
	free(other);
}

static int failure(const struct mf_client_config *config)
{
	struct mf_client *c = mf_client_new(config);
	int err = c == NULL ? errno : 0;

	mf_client_free(c);
	return err;
}

Test(client, refuses_bad_configurations)
{
	static const struct mf_client_target own = {TEST_NODE, 0}, far = {1, MF_ADDR_MAX - 100}, odd = {1, 4},
					     twice[] = {{1, 0}, {3, 0}, {1, 8192}};
	struct mf_node *h = fake_host_new();
	const struct mf_client_config good = test_config(h);
	struct mf_client_config c = good;

	cr_assert_eq(failure(&c), 0);
	c.targets = NULL;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.depth = 0;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.depth = 65537;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.span = 0;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.size_min = TEST_SPAN + 1;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.first = 4;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.pattern = MF_CLIENT_TO_ONE, c.first = 2;
	cr_assert_eq(failure(&c), EINVAL, "the one target is the client itself");
	c = good, c.targets = &own, c.targets_count = 1;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.targets = &far, c.targets_count = 1;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.targets = twice, c.targets_count = 3;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.targets = &odd, c.targets_count = 1;
	cr_assert_eq(failure(&c), 0);
	c.mix[MF_CLIENT_CAS] = 1;
	cr_assert_eq(failure(&c), EINVAL);
	c = good, c.targets_count = 1, c.span = UINT64_C(1) << 48, c.size_min = c.span, c.depth = 65536;
	cr_assert_eq(failure(&c), ENOMEM, "buffers of 2^64 octets");
	free(h);
}

/* What the host will never take ends the client, and does not hang it. */
Test(client, a_submission_that_cannot_succeed)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c = mf_client_new(&config);

	test_drive(c, h, 0, MF_US(1));
	h->refuse = -EPERM;
	test_drive(c, h, MF_US(1), MF_NEVER);
	cr_assert(mf_client_finished(c, MF_US(2)));
	cr_assert_eq(mf_client_stats(c)->submit_error, -EPERM);
	cr_assert_eq(mf_client_stats(c)->begun_all, mf_client_stats(c)->completed_all);
	mf_client_free(c);
	free(h);
}

/* Drawn without a host, messages are what a run does; given as a trace, they are done again. */
Test(client, messages)
{
	static struct mf_client_message drawn[500];
	static struct mf_op done[2][500];
	struct mf_client_config c = {0};
	unsigned int n = 0;

	for (int round = 0; round < 2; round++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_stats *s;
		struct mf_client *draws;

		c = test_config(h);
		test_mix_all(&c);
		c.size_dist = MF_CLIENT_SIZE_UNIFORM;
		c.size_max = 1000;
		c.pattern = MF_CLIENT_TO_ZIPF;
		c.interval = MF_NS(100);
		c.poisson = true;
		c.operations = 500;
		c.depth = 3;
		if (round == 0) {
			c.host = NULL;
			draws = mf_client_new(&c);
			while (mf_client_draw(draws, &drawn[n], NULL))
				cr_assert(++n <= 500);
			cr_assert_eq(n, 500);
			mf_client_free(draws);
			c.host = h;
		} else {
			c.messages = drawn;
			c.messages_count = n;
			c.interval = 0;
			c.operations = 0;
		}
		h->log = done[round];
		s = test_run(&c);
		cr_assert_eq(s->completed_all, 500);
		cr_assert_eq(s->mismatches, 0);
		cr_assert_eq(s->first_begun, drawn[0].start);
		free(s);
		free(h);
	}
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(done[0][i].node, drawn[i].node);
		cr_assert_eq(done[0][i].len, drawn[i].octets);
		cr_assert_eq(done[0][i].node, done[1][i].node);
		cr_assert_eq(done[0][i].kind, done[1][i].kind);
		cr_assert_eq(done[0][i].len, done[1][i].len);
	}
}

#define GIVEN 600

/** Reads, writes and atomics of few lines, from any octet on. */
static void give_addresses(struct mf_client_message *m, uint64_t *address)
{
	static const uint8_t kinds[] = {MF_CLIENT_READ,      MF_CLIENT_READ, MF_CLIENT_READ, MF_CLIENT_WRITE,
					MF_CLIENT_WRITE_ACK, MF_CLIENT_CAS,  MF_CLIENT_FADD, MF_CLIENT_OR};
	struct mf_rng r;

	mf_rng_init(&r, 3, "addresses", 0);
	for (unsigned int i = 0; i < GIVEN; i++) {
		uint8_t kind = kinds[mf_rng_below(&r, 8)];
		uint32_t octets = mf_rng_below(&r, 2) ? 64 : 1 + (uint32_t)mf_rng_below(&r, 300);

		m[i] = (struct mf_client_message){.start = MF_NS(100) * i,
						  .octets = kind >= MF_CLIENT_CAS ? 8 : octets,
						  .node = mf_rng_below(&r, 2) ? 1 : 3,
						  .kind = kind};
		address[i] = mf_rng_below(&r, 600);
		if (kind >= MF_CLIENT_CAS)
			address[i] -= address[i] % 8;
	}
}

static void flip_some(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	unsigned int *n = ctx;

	f->flip = op->kind == MF_OP_READ && op->addr % 64 != 0 && op->len > 1 && ++*n == 20;
}

/* What a trace says is where it is asked, and what is there is known, whatever octet it begins at. */
Test(client, messages_with_addresses)
{
	static struct mf_client_message m[GIVEN];
	static uint64_t address[GIVEN];
	static struct mf_op log[GIVEN];

	give_addresses(m, address);
	for (int round = 0; round < 2; round++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config c = test_config(h);
		struct mf_client_stats *s;
		unsigned int reads = 0;

		test_mix_all(&c);
		c.size_dist = MF_CLIENT_SIZE_UNIFORM;
		c.size_min = 1;
		c.size_max = 300;
		c.span = 900;
		c.depth = 8;
		c.interval = 0;
		c.operations = 0;
		c.messages = m;
		c.addresses = address;
		c.messages_count = GIVEN;
		h->log = log;
		h->hook = round == 1 ? flip_some : NULL;
		h->hook_ctx = &reads;
		s = test_run(&c);
		cr_assert_eq(s->completed_all, GIVEN);
		cr_assert_gt(s->verified, GIVEN / 2);
		cr_assert_eq(s->mismatches, (uint64_t)round, "%" PRIu64, s->mismatches);
		for (unsigned int i = 0; i < GIVEN; i++)
			for (unsigned int t = 0; t < c.targets_count; t++)
				if (c.targets[t].node == m[i].node)
					cr_assert_eq(log[i].addr, c.targets[t].base + address[i]);
		free(s);
		free(h);
	}
}

Test(client, refuses_bad_addresses)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config c = test_config(h);
	struct mf_client_message m = {.octets = 64, .node = 1};
	uint64_t address = c.span - 64;
	struct mf_client *client;

	c.mix[MF_CLIENT_CAS] = 1;
	c.size_max = 64;
	c.interval = 0;
	c.messages = &m;
	c.addresses = &address;
	c.messages_count = 1;
	client = mf_client_new(&c);
	cr_assert_not_null(client);
	mf_client_free(client);
	address++;
	cr_assert_null(mf_client_new(&c), "beyond the span");
	address = UINT64_MAX;
	cr_assert_null(mf_client_new(&c), "far beyond it");
	m = (struct mf_client_message){.octets = 8, .node = 1, .kind = MF_CLIENT_CAS};
	address = 4;
	cr_assert_null(mf_client_new(&c), "an atomic at half a word");
	free(h);
}

Test(client, refuses_bad_messages)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config c = test_config(h);
	struct mf_client_message m[2] = {{.start = 5, .octets = 64, .node = 1},
					 {.start = 5, .octets = 64, .node = 3}};

	c.messages = m;
	c.messages_count = 2;
	c.size_max = 64;
	cr_assert_eq(failure(&c), 0);
	m[1].start = 4;
	cr_assert_eq(failure(&c), EINVAL);
	m[1].start = 5, m[1].node = 5;
	cr_assert_eq(failure(&c), EINVAL);
	m[1].node = TEST_NODE;
	cr_assert_eq(failure(&c), EINVAL);
	m[1].node = 3, m[1].kind = MF_CLIENT_WRITE;
	cr_assert_eq(failure(&c), EINVAL, "the mix has no writes");
	m[1].kind = MF_CLIENT_READ, m[1].octets = 65;
	cr_assert_eq(failure(&c), EINVAL);
	m[1].octets = 0;
	cr_assert_eq(failure(&c), EINVAL);
	free(h);
}
