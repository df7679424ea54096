/* SPDX-License-Identifier: BSD-3-Clause */
/* References of one thread: memcpy, and the scrambler as textbooks have it. */
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"

#define BUFFERS 64
#define ROUNDS 16

/* memcpy of as many octets as the line beside it handles at a time */

struct copy {
	const struct bench_env *env;
	uint32_t size;
	bool gbps; /**< otherwise ns a copy */
	uint8_t *from, *to;
};

static uint64_t copy_step(void *ctx)
{
	struct copy *c = ctx;

	for (unsigned int i = 0; i < ROUNDS * BUFFERS; i++) {
		memcpy(c->to + i % BUFFERS * c->size, c->from + i % BUFFERS * c->size, c->size);
		__asm__ volatile("" : : "r"(c->to) : "memory");
	}
	return ROUNDS * BUFFERS;
}

static void copy_close(void *state)
{
	struct copy *c = state;

	free(c->from);
	free(c->to);
	free(c);
}

static void *copy_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct copy *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->env = env;
	c->size = *(const uint32_t *)line->param;
	c->gbps = line->better == BENCH_HIGHER;
	c->from = malloc((size_t)c->size * BUFFERS);
	c->to = malloc((size_t)c->size * BUFFERS);
	if (c->from == NULL || c->to == NULL) {
		snprintf(why, BENCH_REASON, "no memory");
		copy_close(c);
		return NULL;
	}
	memset(c->from, 0x5a, (size_t)c->size * BUFFERS);
	memset(c->to, 0, (size_t)c->size * BUFFERS);
	return c;
}

static int copy_run(void *state, struct bench_sample *out, char *why)
{
	struct copy *c = state;
	double copies = bench_loop(c->env, NULL, copy_step, c, out);

	(void)why;
	out->value = c->gbps ? copies * c->size * 8e-9 / out->cpu : out->cpu * 1e9 / copies;
	return 0;
}

static const struct bench_ops copy_ops = {.open = copy_open, .run = copy_run, .close = copy_close};

/*
 * The scrambler of IEEE 802.3 figure 49-8: bit by bit, and with all bits of a word at once that do not
 * depend on each other, which are the first 39, then the rest.
 */

#define WORDS 2048

struct scrambler {
	const struct bench_env *env;
	bool bits;
	uint64_t state; /**< bit 0 is the newest of the 58 */
	uint64_t word[WORDS];
};

static uint64_t by_bits(uint64_t *state, uint64_t in)
{
	uint64_t s = *state, out = 0;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t bit = (in >> i ^ s >> 38 ^ s >> 57) & 1;

		out |= bit << i;
		s = s << 1 | bit;
	}
	*state = s;
	return out;
}

/** Here the state is the word before: its bit 63 is the newest. */
static uint64_t by_words(uint64_t *state, uint64_t in)
{
	const uint64_t low = (UINT64_C(1) << 39) - 1;
	uint64_t before = *state, out;

	out = (in ^ before >> 25 ^ before >> 6) & low;
	out |= (in ^ out << 39 ^ before >> 6 ^ out << 58) & ~low;
	*state = out;
	return out;
}

static uint64_t scrambler_step(void *ctx)
{
	struct scrambler *s = ctx;
	uint64_t state = s->state;

	for (unsigned int i = 0; i < WORDS; i++)
		s->word[i] = s->bits ? by_bits(&state, s->word[i]) : by_words(&state, s->word[i]);
	s->state = state;
	return WORDS;
}

static void *scrambler_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct scrambler *s = calloc(1, sizeof(*s));
	struct mf_rng rng;

	if (s == NULL) {
		snprintf(why, BENCH_REASON, "no memory");
		return NULL;
	}
	s->env = env;
	s->bits = *(const uint32_t *)line->param;
	s->state = UINT64_MAX;
	mf_rng_init(&rng, 1, "scrambler", 0);
	for (unsigned int i = 0; i < WORDS; i++)
		s->word[i] = mf_rng_next(&rng);
	return s;
}

static int scrambler_run(void *state, struct bench_sample *out, char *why)
{
	struct scrambler *s = state;
	double words = bench_loop(s->env, NULL, scrambler_step, s, out);

	(void)why;
	out->value = words * 64e-9 / out->cpu;
	return 0;
}

static const struct bench_ops scrambler_ops = {.open = scrambler_open, .run = scrambler_run, .close = free};

static void add_copies(struct bench_suite *s)
{
	static const uint32_t size[] = {64, 1500, 4096};

	for (unsigned int i = 0; i < 2 * sizeof(size) / sizeof(size[0]); i++) {
		bool gbps = i & 1;
		struct bench_line l = {.unit = gbps ? "Gb/s" : "ns",
				       .better = gbps ? BENCH_HIGHER : BENCH_LOWER,
				       .reference = true,
				       .crosses = -1,
				       .ops = &copy_ops,
				       .param = &size[i / 2]};

		snprintf(l.name, sizeof(l.name), "reference.memcpy.%u.%s", size[i / 2], gbps ? "gbps" : "ns");
		snprintf(l.what, sizeof(l.what), "memcpy of %u octets", size[i / 2]);
		bench_add(s, &l);
	}
}

void bench_references(struct bench_suite *s)
{
	static const uint32_t bits[] = {1, 0};
	struct bench_line l = {.name = "reference.scrambler.bits",
			       .what = "textbook scrambler, bit-serial",
			       .unit = "Gb/s",
			       .better = BENCH_HIGHER,
			       .reference = true,
			       .crosses = -1,
			       .ops = &scrambler_ops,
			       .param = &bits[0]};

	bench_add(s, &l);
	snprintf(l.name, sizeof(l.name), "reference.scrambler.words");
	snprintf(l.what, sizeof(l.what), "textbook scrambler, word-wise");
	l.param = &bits[1];
	bench_add(s, &l);
	add_copies(s);
	bench_ring(s);
	bench_ucx(s);
	bench_memcached(s);
	bench_memory_references(s);
	bench_counter_references(s);
}
