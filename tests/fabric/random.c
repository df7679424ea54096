/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random fabrics: whatever the number of nodes, the rates, chunks, policies and mixes, all that was begun
 * completes, every read returns what was written, nothing is dropped or left over, and a run block by
 * block gives the same result. The seed is in every message: it names the fabric.
 */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mf_rng.h"
#include "whole.h"

struct text {
	char s[8192];
	size_t n;
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, args);
	va_end(args);
	cr_assert_lt(t->n, sizeof(t->s));
}

static unsigned int below(struct mf_rng *r, unsigned int n)
{
	return (unsigned int)mf_rng_below(r, n);
}

#define ONE_OF(r, list) ((list)[below(r, sizeof(list) / sizeof((list)[0]))])

struct shape {
	unsigned int compute, memory, both, plain;
	bool loose; /**< reads and writes of a pair need not be in order */
	bool frames;
};

static void nodes(struct text *t, struct mf_rng *r, struct shape *s)
{
	s->compute = below(r, 5);
	s->memory = below(r, 4);
	s->both = below(r, 4);
	if (s->compute + s->both == 0)
		s->compute = 1;
	if (s->both < 2 && s->memory == 0)
		s->memory = 1;
	s->frames = below(r, 3) != 0;
	s->plain = s->frames ? below(r, 3) : 0;
	put(t, "\"nodes\": [");
	if (s->compute > 0)
		put(t, "{\"name\": \"c\", \"role\": \"compute\", \"count\": %u},", s->compute);
	if (s->memory > 0)
		put(t, "{\"name\": \"m\", \"role\": \"memory\", \"count\": %u},", s->memory);
	if (s->plain > 0)
		put(t, "{\"name\": \"e\", \"role\": \"ethernet\", \"count\": %u},", s->plain);
	if (s->both > 0)
		put(t, "{\"name\": \"b\", \"role\": \"both\", \"count\": %u},", s->both);
	t->n--;
	put(t, "],\n");
}

static void link_keys(struct text *t, struct mf_rng *r)
{
	static const char *const rates[] = {"10G", "25G", "100G"};
	static const char *const policies[] = {"fair", "memory-first"};
	const char *policy = ONE_OF(r, policies);

	put(t, "\"rate\": \"%s\", \"propagation\": \"%uns\", \"policy\": \"%s\", \"scramble\": %s",
	    ONE_OF(r, rates), below(r, 4) * below(r, 200), policy, below(r, 2) ? "true" : "false");
	if (policy[0] == 'f' && below(r, 2))
		put(t, ", \"quantum\": %u", 1 + below(r, 64));
}

static void links(struct text *t, struct mf_rng *r, const struct shape *s)
{
	const char *const name[] = {"c", "m", "b", "e"};
	const unsigned int count[] = {s->compute, s->memory, s->both, s->plain};

	if (below(r, 3) == 0) {
		put(t, "\"link\": {");
		link_keys(t, r);
		put(t, "},\n");
		return;
	}
	put(t, "\"links\": [");
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int k = 0; k < count[i]; k++) {
			put(t, count[i] == 1 ? "{\"node\": \"%s\", " : "{\"node\": \"%s%u\", ", name[i], k);
			link_keys(t, r);
			put(t, "},\n");
		}
	t->n -= 2;
	put(t, "],\n");
}

static void scheduler(struct text *t, struct mf_rng *r, struct shape *s)
{
	static const char *const chunks[] = {"64", "256", "512", "\"4KiB\"", "16", "1040"};
	unsigned int x = 1 + below(r, 6);
	bool srpt = below(r, 2), greedy = below(r, 3) == 0;

	s->loose = below(r, 3) == 0;
	put(t,
	    "\"scheduler\": {\"policy\": \"%s\", \"priority\": \"%s\", \"order\": \"%s\", "
	    "\"chunk\": %s%s%s, \"x\": %u",
	    greedy ? "greedy" : "pim", srpt ? "srpt" : "fcfs", s->loose ? "direction" : "pair",
	    "{\"virtual\": ", ONE_OF(r, chunks), "}", x);
	if (srpt && below(r, 2))
		put(t, ", \"srpt\": \"transfer\"");
	if (!greedy && below(r, 2))
		put(t, ", \"iterations\": %u", 1 + below(r, 4));
	if (below(r, 2))
		put(t, ", \"time\": \"asic\"");
	if (below(r, 2))
		put(t, ", \"slots\": true");
	put(t, "},\n");
}

static void switch_keys(struct text *t, struct mf_rng *r)
{
	put(t, "\"switch\": {\"align\": %s", below(r, 3) == 0 ? "true" : "false");
	if (below(r, 3) == 0)
		put(t, ", \"backlog_k\": %u", 40 + below(r, 400));
	if (below(r, 3) == 0)
		put(t, ", \"source_w\": %u", 40 + below(r, 400));
	put(t, "},\n");
}

static void workload(struct text *t, struct mf_rng *r, const struct shape *s)
{
	static const char *const kinds[] = {"read", "write", "write_ack", "cas", "fadd", "swap", "or", "and"};
	static const char *const patterns[] = {"uniform", "permutation", "all-to-all"};
	bool any = false, sized = false;
	bool open = below(r, 2);
	unsigned int how = open ? below(r, 2) * 3 : below(r, 4); /* open: many, so small */

	put(t, "\"workload\": [{\"mix\": {");
	for (unsigned int k = 0; k < 8; k++)
		if (below(r, 2) || (k == 7 && !any)) {
			put(t, "%s\"%s\": %u", any ? ", " : "", kinds[k], 1 + below(r, k < 3 ? 8 : 2));
			any = true;
			sized |= k < 3;
		}
	put(t, "}, \"pattern\": \"%s\", ", ONE_OF(r, patterns));
	if (!sized)
		put(t, "\"address\": \"zipf\"");
	else if (how == 0)
		put(t, "\"size\": %u", 1 + below(r, 2000));
	else if (how == 1)
		put(t, "\"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": %u}", 2 + below(r, 9000));
	else if (how == 2)
		put(t, "\"size\": {\"dist\": \"list\", \"values\": [64, 4096, 100000], "
		       "\"weights\": [60, 10, 1]}");
	else
		put(t, "\"size\": 64");
	/* Clients know what they should read where requests of a pair are in order, or one at a time. */
	if (s->loose && (open || below(r, 2)))
		put(t, ", \"verify\": false");
	else if (s->loose) {
		put(t, ", \"loop\": \"closed\", \"depth\": 1}]");
		return;
	}
	if (!open)
		put(t, ", \"loop\": \"closed\", \"depth\": %u", 1 + below(r, 8));
	else
		put(t, ", \"loop\": \"open\", \"load\": 0.%u", 3 + below(r, 4));
	put(t, "}]");
}

static void frames(struct text *t, struct mf_rng *r, const struct shape *s)
{
	if (!s->frames)
		return;
	put(t, ",\n\"ethernet\": [{\"size\": %u, \"load\": 0.0%u, \"arrival\": \"%s\"}]", 60 + below(r, 1500),
	    1 + below(r, 4), below(r, 2) ? "poisson" : "constant");
}

static void fabric(struct text *t, uint64_t seed)
{
	struct mf_rng r;
	struct shape s = {0};

	mf_rng_init(&r, seed, "random fabric", 0);
	t->n = 0;
	put(t, "{\"name\": \"random %llu\", \"seed\": %llu,\n", (unsigned long long)seed,
	    (unsigned long long)seed);
	put(t, "\"clock\": {\"virtual\": {\"warmup\": \"3us\", \"duration\": \"%uus\"}},\n",
	    20 + below(&r, 30));
	put(t, "\"proto\": {\"check\": %u},\n", below(&r, 2) ? 16 : 32);
	nodes(t, &r, &s);
	links(t, &r, &s);
	put(t, "\"host\": {\"mega\": %u},\n", below(&r, 2) ? 1 : 2 + below(&r, 6));
	scheduler(t, &r, &s);
	switch_keys(t, &r);
	workload(t, &r, &s);
	frames(t, &r, &s);
	put(t, "}\n");
}

Test(random, fabrics)
{
	struct text t;
	unsigned int first = 1, last = getenv("MF_LONG") ? 400 : 16;

	if (getenv("MF_SEED"))
		first = last = (unsigned int)strtoul(getenv("MF_SEED"), NULL, 10);
	for (unsigned int seed = first; seed <= last; seed++) {
		fabric(&t, seed);
		json_decref(whole_check(t.s, true));
	}
}

/** Fabrics that have once failed, as they were. */
static const char *const once[] = {
	/* The message that is being sent was left out of the bound with K. */
	"{\"seed\": 466, \"clock\": {\"virtual\": {\"warmup\": \"3us\", \"duration\": \"36us\"}},"
	"\"proto\": {\"check\": 32},"
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 3},"
	"{\"name\": \"m\", \"role\": \"memory\", \"count\": 3},"
	" {\"name\": \"e\", \"role\": \"ethernet\", \"count\": 2}],"
	"\"links\": [{\"node\": \"c0\", \"rate\": \"10G\","
	" \"propagation\": \"0ns\", \"policy\": \"memory-first\"},"
	"{\"node\": \"c1\", \"rate\": \"10G\", \"propagation\": \"291ns\", \"policy\": \"memory-first\"},"
	"{\"node\": \"c2\", \"rate\": \"100G\","
	" \"propagation\": \"0ns\", \"policy\": \"fair\", \"quantum\": 4},"
	"{\"node\": \"m0\", \"rate\": \"10G\","
	" \"propagation\": \"152ns\", \"policy\": \"fair\", \"quantum\": 7},"
	"{\"node\": \"m1\", \"rate\": \"100G\", \"propagation\": \"522ns\", \"policy\": \"memory-first\"},"
	"{\"node\": \"m2\", \"propagation\": \"0ns\", \"policy\": \"fair\"},"
	"{\"node\": \"e0\", \"propagation\": \"200ns\", \"policy\": \"memory-first\"},"
	"{\"node\": \"e1\", \"propagation\": \"48ns\", \"policy\": \"memory-first\"}],"
	"\"scheduler\": {\"order\": \"direction\", \"chunk\": {\"virtual\": 512},"
	" \"x\": 1, \"time\": \"asic\"},"
	"\"switch\": {\"backlog_k\": 406},"
	"\"workload\": [{\"mix\": {\"write\": 3, \"cas\": 1, \"fadd\": 2}, \"pattern\": \"permutation\","
	" \"size\": {\"dist\": \"list\","
	"\"values\": [64, 4096, 100000], \"weights\": [60, 10, 1]}, \"verify\": false, \"depth\": 2}],"
	"\"ethernet\": [{\"size\": 1216, \"load\": 0.04, \"arrival\": \"constant\"}]}",
	/* The /G/ of a long response behind a write took all slots of requests. */
	"{\"seed\": 22, \"clock\": {\"virtual\": {\"warmup\": \"3us\", \"duration\": \"49us\"}},"
	"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"}, {\"name\": \"m\", \"role\": \"memory\"}],"
	"\"link\": {\"rate\": \"100G\", \"propagation\": \"0ns\"},"
	"\"scheduler\": {\"policy\": \"greedy\", \"chunk\": {\"virtual\": 16}, \"x\": 2},"
	" \"switch\": {\"requests\": 4},"
	"\"workload\": [{\"mix\": {\"read\": 7, \"write_ack\": 2, \"and\": 1},"
	" \"size\": {\"dist\": \"uniform\", \"min\": 1,"
	"\"max\": 2135}, \"loop\": \"open\", \"load\": 0.6}]}",
};

/* Reads pass writes: what can be told is verified, and nothing is blamed for what cannot. */
Test(random, order_of_direction)
{
	json_t *r = whole_check(
		"{\"nodes\": [{\"name\": \"n\", \"role\": \"both\", \"count\": 5}],"
		"\"scheduler\": {\"x\": 128, \"priority\": \"srpt\", \"order\": \"direction\"},"
		"\"workload\": [{\"mix\": {\"read\": 1, \"write\": 3, \"write_ack\": 1, \"cas\": 1},"
		"\"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 700}, \"depth\": 600,"
		"\"span\": \"1MiB\"}]}",
		false);

	cr_assert_gt(whole_number(r, "operations.verified"), 0);
	cr_assert_gt(whole_number(r, "operations.unverified"), 0);
	json_decref(r);
}

Test(random, once_failed)
{
	for (unsigned int i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		json_decref(whole_check(once[i], true));
}
