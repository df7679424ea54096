/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole fabrics of every stack whose memory nodes have pages (../memory/paged.h): all that is read is
 * verified, over the ends of pages, while pages move. At the end nothing is held, whatever broke on the way.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../fabric/whole.h"
#include "../memory/paged.h"

/* In the place of the list of kinds: every fabric of this program has memory of pages. */
const struct mf_memory_ops *mf_memory_find(const char *name)
{
	(void)name;
	return &mf_memory_paged;
}

static const char *const above[] = {"ethernet", "tcp",     "dctcp", "rocev2",
				    "pfc",      "pfabric", "ird",   "fastpass"};
#define ABOVE (sizeof(above) / sizeof(above[0]))

#define NODES                                                     \
	"{\"name\": \"c\", \"role\": \"compute\", \"count\": 3}," \
	"{\"name\": \"m\", \"role\": \"memory\", \"count\": 2}"

/* No plain writes: those that a fault takes are lost, and what is read then is not known. */
static json_t *run(const char *stack, const char *duration, unsigned int max, const char *more)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"seed\": 7, \"stack\": \"%s\", \"nodes\": [" NODES "], \"memory\": {\"size\": \"1MiB\"},"
		 " \"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"%s\"}},"
		 " \"workload\": [{\"mix\": {\"read\": 4, \"write_ack\": 3, \"fadd\": 1, \"cas\": 1},"
		 " \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": %u},"
		 " \"span\": \"64KiB\", \"depth\": 8}]%s}",
		 stack, duration, max, more);
	return whole_run(text, false);
}

static void nothing_is_held(const char *stack)
{
	const struct paged_counts *n = &paged_counts;

	cr_expect_gt(n->made, 0, "%s", stack);
	cr_expect_eq(n->made, n->destroyed, "%s", stack);
	cr_expect_eq(n->left_held, 0, "%s: %lu places are held at the end", stack, n->left_held);
	cr_expect_eq(n->strange, 0, "%s: %lu places are let go that are not held", stack, n->strange);
}

/* Each mechanism of the memory was met. */
static void all_was_met(const char *stack)
{
	const struct paged_counts *n = &paged_counts;

	cr_expect(n->reads > 100 && n->writes > 100 && n->atomics > 50, "%s: %lu %lu %lu", stack, n->reads,
		  n->writes, n->atomics);
	cr_expect_gt(n->crossings, 20, "%s", stack);
	cr_expect(n->hits > 0 && n->misses > 0 && n->faults > 0 && n->moved > 100, "%s", stack);
}

static void verified(const char *stack, uint32_t page, unsigned int max)
{
	json_t *r;

	paged_reset(page);
	r = run(stack, "150us", max, "");
	cr_expect_eq(whole_number(r, "operations.mismatches"), 0, "%s", stack);
	cr_expect_eq(whole_number(r, "operations.failed_all"), 0, "%s", stack);
	cr_expect_gt(whole_number(r, "operations.completed_all"), 200, "%s", stack);
	json_decref(r);
	nothing_is_held(stack);
	all_was_met(stack);
}

Test(stack_paged, edm_reads_over_pages)
{
	verified("edm", 1004, 1000);
	cr_expect_eq(paged_counts.held_max, 0, "its host copies what it does not send at once");
}

Test(stack_paged, stacks_of_frames_hold_what_they_send)
{
	for (unsigned int i = 0; i < ABOVE; i++) {
		verified(above[i], 3004, 3000);
		cr_expect_gt(paged_counts.held_max, 0, "%s", above[i]);
		cr_expect_gt(paged_counts.let_go, 100, "%s", above[i]);
	}
}

Test(stack_paged, lines_of_cxl_cross_pages)
{
	verified("cxl", 204, 2000);
	cr_expect_gt(paged_counts.held_max, 0);
}

/* Words that are in two pages. */
Test(stack_paged, atomics_cross_pages)
{
	static const char *const stack[] = {"edm", "ethernet", "tcp", "rocev2", "pfabric", "cxl"};

	for (unsigned int i = 0; i < 6; i++) {
		json_t *r;

		paged_reset(strcmp(stack[i], "cxl") == 0 ? 68 : 12);
		r = run(stack[i], "60us", 8, "");
		cr_expect_eq(whole_number(r, "operations.mismatches"), 0, "%s", stack[i]);
		cr_expect_gt(whole_number(r, "operations.verified"), 30, "%s", stack[i]);
		cr_expect_gt(paged_counts.atomic_crossings, 5, "%s", stack[i]);
		json_decref(r);
		nothing_is_held(stack[i]);
	}
}

/* Reads in turn over so many bytes, one after the other. */
static double latency(const char *stack, const char *span)
{
	char text[1024];
	double ns;
	json_t *r;

	snprintf(text, sizeof(text),
		 "{\"stack\": \"%s\", \"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		 " {\"name\": \"m\", \"role\": \"memory\"}],"
		 " \"clock\": {\"virtual\": {\"warmup\": \"10us\", \"duration\": \"200us\"}},"
		 " \"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64, \"span\": %s,"
		 " \"address\": \"sequential\", \"depth\": 1}]}",
		 stack, span);
	r = whole_sound(text, false);
	ns = whole_number(r, "operations.kinds.read.latency.min_ns");
	json_decref(r);
	return ns;
}

/* A miss is in the latency. Eight pages stay in the cache, those of a longer turn never do. */
Test(stack_paged, a_miss_takes_its_time)
{
	static const char *const stack[] = {"edm", "rocev2", "ethernet", "cxl"};

	for (unsigned int i = 0; i < 4; i++) {
		double hit, miss;

		paged_reset(64); /* no read crosses an end */
		hit = latency(stack[i], "512");
		miss = latency(stack[i], "65536");
		/* An answer of CXL may find a flit on the line: 9 blocks of 2.56 ns. */
		cr_expect_float_eq(miss - hit, PAGED_MISS / 1000.0, i == 3 ? 23.05 : 0.001, "%s: %f, and %f",
				   stack[i], hit, miss);
	}
}

/* Links that are cut and lose frames, nodes that crash, operations that time out. */
static double broken(const char *stack, const char *faults)
{
	char more[1024];
	double failed;
	json_t *r;

	snprintf(more, sizeof(more),
		 ", \"host\": {\"read_timeout\": \"12us\", \"write_timeout\": \"12us\"}, \"faults\": [%s]",
		 faults);
	paged_reset(1004);
	r = run(stack, "60us", 1000, more);
	cr_expect_eq(whole_number(r, "operations.mismatches"), 0, "%s", stack);
	cr_expect_gt(whole_number(r, "operations.completed_all"), 20, "%s", stack);
	failed = whole_number(r, "operations.failed_all");
	json_decref(r);
	nothing_is_held(stack);
	return failed;
}

#define CUT                                                                                   \
	"{\"class\": \"link_down\", \"link\": \"m\", \"from\": \"8us\", \"until\": \"50us\"," \
	" \"every\": \"15us\", \"for\": \"6us\"}"
#define LOSE "{\"class\": \"lose\", \"rate\": 0.03, \"link\": \"m\"}"
#define CRASH                                                                         \
	"{\"class\": \"node_crash\", \"node\": [\"c0\", \"m1\"], \"from\": \"20us\"," \
	" \"until\": \"25us\"}"

Test(stack_paged, nothing_is_held_when_links_are_cut)
{
	double failed = broken("edm", CUT);

	for (unsigned int i = 0; i < ABOVE; i++)
		failed += broken(above[i], CUT);
	cr_expect_gt(failed, 100);
}

Test(stack_paged, nothing_is_held_when_frames_are_lost)
{
	double failed = broken("edm", LOSE);

	for (unsigned int i = 0; i < ABOVE; i++)
		failed += broken(above[i], LOSE);
	cr_expect_gt(failed, 10);
}

Test(stack_paged, nodes_of_edm_crash)
{
	cr_expect_gt(broken("edm", CRASH), 0);
	cr_expect_gt(broken("edm", CRASH ", " LOSE), 0);
}
