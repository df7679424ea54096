/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks in the middle of a message: under the virtual clock a span ends where its wire does, so a run
 * gives the same whether blocks go one by one or in spans, whatever breaks, and when. Random small fabrics
 * with random faults, the log of all messages included; the seed is in every message. MF_SEED runs one,
 * MF_SEEDS=FIRST-LAST many; MF_PRINT prints their files.
 */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "whole.h"

#define SEEDS 48 /* of each kind, where none are asked for; and of those that once differed: */
static const unsigned int differed[] = {74,  128, 151, 161, 171, 186, 200,  208,  221,  225,  241,  252,
					255, 257, 259, 833, 900, 994, 1220, 1266, 1271, 1593, 1698, 2012};

#define TEXT 8192
#define ONE_OF(r, list) ((list)[below(r, sizeof(list) / sizeof((list)[0]))])

struct text {
	char s[TEXT];
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

static const char *truth(struct mf_rng *r)
{
	return below(r, 2) ? "true" : "false";
}

struct shape {
	unsigned int compute, memory;
	bool backup;
	bool frames;
	bool stages; /**< links harm what they carry, too */
	unsigned int rate; /**< of links, by number */
};

/* Of links, and by how much they are faster: what lasts 36 us at the lowest takes so much less at others. */
static const char *const rates[] = {"10G", "25G", "100G"};
static const unsigned int faster[] = {1, 2, 6};
#define RATES (sizeof(rates) / sizeof(*rates))

/** One node, or all of a kind. */
static void who(struct text *t, struct mf_rng *r, const struct shape *s)
{
	bool memory = below(r, 2);
	unsigned int n = memory ? s->memory : s->compute;

	if (below(r, 5) == 0)
		put(t, "\"*\"");
	else
		put(t, n == 1 ? "\"%c\"" : "\"%c%u\"", memory ? 'm' : 'c', below(r, n));
}

static void on_switch(struct text *t, struct mf_rng *r, const struct shape *s)
{
	if (s->backup && below(r, 2))
		put(t, ", \"switch\": 1");
}

/** Once, or again and again. */
static void when(struct text *t, struct mf_rng *r, const struct shape *s, bool again)
{
	unsigned int by = faster[s->rate], from = (2000 + below(r, 28000)) / by,
		     length = 1 + below(r, below(r, 2) ? 200 : 12000 / by);

	if (again && below(r, 4) == 0)
		put(t, ", \"from\": \"%uns\", \"until\": \"%uns\", \"every\": \"%uns\", \"for\": \"%uns\"",
		    from, 40000 / by, 4000 / by + length, 40 + length / 4);
	else if (below(r, 4) == 0 && again)
		put(t, ", \"from\": \"%uns\"", from);
	else
		put(t, ", \"from\": \"%uns\", \"until\": \"%uns\"", from, from + length);
}

static void events(struct text *t, struct mf_rng *r, const struct shape *s)
{
	static const char *const rooms[] = {"queue",  "grants", "buffers", "room",
					    "egress", "ring",   "requests"};
	static const char *const roles[] = {"switch", "scheduler"};
	const char *what;

	switch (below(r, 6)) {
	case 0:
	case 1:
		put(t, "{\"class\": \"link_down\", \"link\": ");
		who(t, r, s);
		on_switch(t, r, s);
		when(t, r, s, true);
		break;
	case 2:
		put(t, "{\"class\": \"node_crash\", \"node\": ");
		who(t, r, s);
		when(t, r, s, true);
		break;
	case 3:
		put(t, "{\"class\": \"switch_crash\"");
		on_switch(t, r, s);
		when(t, r, s, true);
		break;
	case 4:
		put(t, "{\"class\": \"stall\", \"role\": ");
		if (below(r, 2)) {
			who(t, r, s);
		} else {
			put(t, "\"%s\"", ONE_OF(r, roles));
			on_switch(t, r, s);
		}
		when(t, r, s, false);
		break;
	default:
		what = ONE_OF(r, rooms);
		put(t, "{\"class\": \"exhaust\", \"what\": \"%s\"", what);
		if (what[0] != 'r' || what[1] != 'e') {
			put(t, ", \"node\": ");
			who(t, r, s);
		}
		if (what[0] == 'e' || (what[0] == 'r' && what[1] != 'o'))
			on_switch(t, r, s);
		when(t, r, s, what[0] != 'r' || what[1] != 'i');
		break;
	}
	put(t, "}");
}

static void stage(struct text *t, struct mf_rng *r, const struct shape *s)
{
	static const char *const classes[] = {"bit", "sync", "type", "cut", "lose", "duplicate", "delay"};
	static const char *const chances[] = {"2e-5", "1e-3", "1e-3", "1e-3", "5e-3", "5e-3", "5e-3"};
	unsigned int i = below(r, 7);

	put(t, "{\"class\": \"%s\", \"rate\": %s, \"link\": ", classes[i], chances[i]);
	who(t, r, s);
	on_switch(t, r, s);
	if (i == 6)
		put(t, ", \"time\": \"%uns\"", 1 + below(r, 900));
	if (i < 3)
		put(t, ", \"idle\": %s", truth(r));
	put(t, "}");
}

static void faults(struct text *t, struct mf_rng *r, const struct shape *s)
{
	unsigned int n = 1 + below(r, 3);

	put(t, "\"faults\": [");
	for (unsigned int i = 0; i < n; i++) {
		if (i > 0)
			put(t, ", ");
		if (i > 0 && s->stages)
			stage(t, r, s);
		else
			events(t, r, s);
	}
	put(t, "],\n");
}

static void links(struct text *t, struct mf_rng *r, const struct shape *s)
{
	static const char *const policies[] = {"fair", "memory-first"};

	put(t, "\"link\": {\"rate\": \"%s\", \"propagation\": \"%uns\", \"policy\": \"%s\", \"scramble\": %s",
	    rates[s->rate], below(r, 4) * below(r, 100), ONE_OF(r, policies), truth(r));
	if (below(r, 4) == 0)
		put(t, ", \"disable\": {\"bad\": %u, \"within\": \"10us\", \"repair\": \"%uus\"}",
		    1 + below(r, 4), 2 + below(r, 6));
	put(t, "},\n");
}

static void workload(struct text *t, struct mf_rng *r, const struct shape *s)
{
	static const char *const sizes[] = {
		"8",
		"64",
		"300",
		"2000",
		"{\"dist\": \"uniform\", \"min\": 1, \"max\": 1500}",
		"{\"dist\": \"list\", \"values\": [64, 4096, 20000], \"weights\": [20, 4, 1]}"};

	put(t,
	    "\"workload\": [{\"mix\": {\"read\": 2, \"write\": %u, \"write_ack\": 2,"
	    "                        \"cas\": 1, \"fadd\": 1},"
	    " \"size\": %s, \"span\": \"1MiB\", \"verify\": false, ",
	    below(r, 2), ONE_OF(r, sizes));
	if (below(r, 3) == 0)
		put(t, "\"loop\": \"open\", \"load\": 0.%u}],\n", 2 + below(r, 5));
	else
		put(t, "\"depth\": %u}],\n", 1 + below(r, 8));
	if (s->frames)
		put(t, "\"ethernet\": [{\"from\": \"c\", \"to\": \"m\", \"size\": %u, \"load\": 0.%u}],\n",
		    60 + below(r, 1450), 1 + below(r, 3));
}

static void fabric(struct text *t, struct shape *s, uint64_t seed, bool stages)
{
	static const char *const chunks[] = {"64", "256", "512", "\"4KiB\""};
	struct mf_rng r;

	mf_rng_init(&r, seed, "cuts", 0);
	*s = (struct shape){.compute = 1 + below(&r, 4),
			    .memory = 1 + below(&r, 2),
			    .backup = below(&r, 2),
			    .frames = below(&r, 3) == 0,
			    .stages = stages,
			    .rate = below(&r, RATES)};
	t->n = 0;
	put(t, "{\"name\": \"cuts %llu\", \"seed\": %llu,\n", (unsigned long long)seed,
	    (unsigned long long)seed);
	put(t,
	    "\"clock\": {\"virtual\": {\"warmup\": \"%uns\", \"duration\": \"%uns\", \"drain\": \"3ms\"}},\n",
	    2000 / faster[s->rate], 36000 / faster[s->rate]);
	put(t,
	    "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": %u},"
	    " {\"name\": \"m\", \"role\": \"memory\", \"count\": %u}],\n",
	    s->compute, s->memory);
	links(t, &r, s);
	put(t, "\"host\": {\"mega\": %u, \"read_timeout\": \"30us\", \"write_timeout\": \"30us\"%s},\n",
	    below(&r, 3) == 0 ? 4 : 1, !s->backup && below(&r, 3) == 0 ? ", \"once\": true" : "");
	put(t, "\"switch\": {\"grant_timeout\": \"10us\", \"hold_timeout\": \"%uus\"},\n", 1 + below(&r, 4));
	put(t, "\"scheduler\": {\"chunk\": {\"virtual\": %s}},\n", ONE_OF(&r, chunks));
	if (s->backup)
		put(t, "\"backup\": {\"propagation\": \"%uns\"},\n", 1 + below(&r, 120));
	workload(t, &r, s);
	faults(t, &r, s);
	put(t, "\"report\": {\"messages\": true}}\n");
}

static void compare_one(unsigned int seed, bool stages)
{
	struct shape s;
	struct text t;

	fabric(&t, &s, seed, stages);
	if (getenv("MF_PRINT") != NULL)
		puts(t.s);
	json_decref(whole_same(t.s));
}

static void compare(bool stages)
{
	const char *one = getenv("MF_SEED"), *many = getenv("MF_SEEDS");
	unsigned int first = 1, last = SEEDS;

	if (one != NULL)
		first = last = (unsigned int)strtoul(one, NULL, 10);
	if (many != NULL)
		cr_assert_eq(sscanf(many, "%u-%u", &first, &last), 2);
	for (unsigned int seed = first; seed <= last; seed++)
		compare_one(seed, stages);
	for (unsigned int i = 0; i < sizeof(differed) / sizeof(*differed) && one == NULL && many == NULL; i++)
		compare_one(differed[i], stages);
}

/* Cables, processes, switches, stalls, pools that are exhausted. */
Test(cuts, by_events)
{
	compare(false);
}

/* ... upon what links do to blocks and messages, and links that are disabled for it. */
Test(cuts, by_events_and_on_links)
{
	compare(true);
}

/* In the middle of chunks: more operations were told of than there were. */
Test(cuts, two_switches_of_which_one_dies)
{
	double cut = 0;

	for (unsigned int from = 20000; from < 20060; from += 7) {
		struct text t = {.n = 0};
		json_t *r;

		put(&t,
		    "{\"nodes\": [{\"name\": \"a\", \"role\": \"compute\", \"count\": 2},"
		    "{\"name\": \"b\", \"role\": \"memory\", \"count\": 2}], \"backup\": {},"
		    "\"faults\": [{\"class\": \"switch_crash\", \"from\": \"%uns\"}],"
		    "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"40us\"}},"
		    "\"workload\": [{\"mix\": {\"read\": 1, \"write_ack\": 1}, \"size\": 64,"
		    "\"depth\": 8}], \"report\": {\"messages\": true}}",
		    from);
		r = whole_same(t.s);
		cut += whole_number(r, "drops.switch.cut");
		json_decref(r);
	}
	cr_expect_gt(cut, 0);
}

/** The shortest read, ns, where links take 3 us. */
static double shortest(const char *fault)
{
	struct text t = {.n = 0};
	double ns;
	json_t *r;

	put(&t,
	    "{\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"}, {\"name\": \"m\", \"role\": \"memory\"}],"
	    " \"link\": {\"propagation\": \"3us\"},"
	    " \"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"100us\"}},"
	    " \"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64, \"depth\": 4}],"
	    " \"faults\": [%s], \"report\": {\"messages\": true}}",
	    fault);
	r = whole_same(t.s);
	cr_expect_gt(whole_number(r, "operations.kinds.read.completed"), 10);
	ns = whole_number(r, "operations.kinds.read.latency.min_ns");
	json_decref(r);
	return ns;
}

/* A link that is cut sooner than it takes: what came next over it was dated to before it was sent. */
Test(cuts, none_is_faster_than_its_links)
{
	static const char *const faults[] = {
		"{\"class\": \"link_down\", \"link\": \"m\", \"from\": \"1us\", \"until\": \"1500ns\"}",
		"{\"class\": \"node_crash\", \"node\": \"m\", \"from\": \"1us\", \"until\": \"1500ns\"}",
		"{\"class\": \"switch_crash\", \"from\": \"1us\", \"until\": \"1500ns\"}"};
	double whole = shortest("");

	cr_expect_gt(whole, 4 * 3000);
	for (unsigned int i = 0; i < 3; i++)
		cr_expect_geq(shortest(faults[i]), whole, "%s", faults[i]);
}

/* What the scheduler does not take waits on the links; frames stand between what floods it. */
Test(cuts, a_scheduler_that_pushes_back)
{
	static const char *const scheduler[] = {
		("{}, \"faults\": [{\"class\": \"stall\", \"role\": \"scheduler\", \"from\": \"5us\","
		 " \"until\": \"9us\"},"),
		"{\"time\": \"asic\", \"insert\": 200}, \"faults\": [",
		"{\"time\": \"asic\", \"insert\": 900}, \"faults\": ["};

	for (unsigned int i = 0; i < 6; i++) {
		struct text t = {.n = 0};

		put(&t,
		    "{\"seed\": %u, \"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 4},"
		    "{\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		    "\"clock\": {\"virtual\": {\"warmup\": \"1us\", \"duration\": \"12us\","
		    "\"drain\": \"3ms\"}},"
		    "\"host\": {\"read_timeout\": \"30us\", \"write_timeout\": \"30us\"},"
		    "\"switch\": {\"grant_timeout\": \"10us\", \"hold_timeout\": \"3us\"},"
		    "\"link\": {\"rate\": \"25G\", \"propagation\": \"30ns\"},"
		    "\"workload\": [{\"mix\": {\"read\": 2, \"write\": 1, \"write_ack\": 2}, \"size\": 300,"
		    "\"span\": \"1MiB\", \"verify\": false, \"depth\": 8}],"
		    "\"ethernet\": [{\"from\": \"c\", \"to\": \"m\", \"size\": 500, \"load\": %s}],"
		    "\"report\": {\"messages\": true}, \"scheduler\": %s"
		    "{\"class\": \"flood\", \"node\": [\"c0\", \"c1\", \"c2\"], \"to\": \"m\", \"rate\": 1,"
		    " \"from\": \"3us\", \"until\": \"8us\"}]}",
		    i + 1, i < 3 ? "0.2" : "0.01", scheduler[i % 3]);
		json_decref(whole_same(t.s));
	}
}
