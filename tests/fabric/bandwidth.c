/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key memory.bandwidth, virtual clock: readers and writers of a memory node share it, and a message alone
 * takes longer by just its bytes at that rate.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "whole.h"

static const char *const stacks[] = {"edm", "rocev2", "cxl", "ethernet", "tcp"};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))

/* @param bandwidth  with its quotes @return the result, sound */
static json_t *run(const char *stack, unsigned int clients, const char *bandwidth, const char *duration,
		   const char *load, bool by_block)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"stack\": \"%s\", %s \"link\": {\"rate\": \"100G\"}, \"memory\": {\"bandwidth\": %s},"
		 " \"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": %u},"
		 " {\"name\": \"m\", \"role\": \"memory\"}],"
		 " \"clock\": {\"virtual\": {\"warmup\": \"50us\", \"duration\": \"%s\"}},"
		 " \"workload\": [%s]}",
		 stack, strcmp(stack, "edm") == 0 ? "\"scheduler\": {\"x\": 16}," : "", bandwidth, clients,
		 duration, load);
	return by_block ? whole_same(text) : whole_sound(text, false);
}

static double goodput(const json_t *r, const char *kind)
{
	char path[128];

	snprintf(path, sizeof(path), "operations.kinds.%s.goodput_gbps", kind);
	return whole_number(r, path);
}

/*
 * Of all clients together, Gb/s, of each kind of a mix. What is under way keeps links busy, and is served
 * before the shortest timer of a stack runs out.
 */
static double rate(const char *stack, unsigned int clients, const char *bandwidth, bool reads, bool writes)
{
	char load[256];
	double sum = 0;
	json_t *r;

	snprintf(load, sizeof(load), "{\"mix\": {%s%s%s}, \"size\": 2048, \"depth\": %u}",
		 reads ? "\"read\": 1" : "", reads && writes ? ", " : "", writes ? "\"write_ack\": 1" : "",
		 32 / clients);
	r = run(stack, clients, bandwidth, "1ms", load, false);
	if (reads)
		sum += goodput(r, "read");
	if (writes)
		sum += goodput(r, "write_ack");
	json_decref(r);
	return sum;
}

/* n clients get min(what the links carry, bandwidth), whatever they do. */
static void shared(const char *stack, bool reads, bool writes)
{
	static const unsigned int clients[] = {1, 8};
	static const double gbps[] = {20, 60};

	for (unsigned int i = 0; i < 2; i++) {
		double links = rate(stack, clients[i], "\"none\"", reads, writes);

		cr_expect_gt(links, 20, "%s", stack);
		for (unsigned int k = 0; k < 2; k++) {
			char text[32];
			double got, want = fmin(links, gbps[k]);

			snprintf(text, sizeof(text), "\"%gG\"", gbps[k]);
			got = rate(stack, clients[i], text, reads, writes);
			cr_expect_float_eq(got, want, 0.01 * want, "%s, %u clients%s%s: %.3f Gb/s of %.3f",
					   stack, clients[i], reads ? ", read" : "", writes ? ", write" : "",
					   got, want);
		}
	}
}

Test(bandwidth, readers_share_it)
{
	for (unsigned int i = 0; i < STACKS; i++)
		shared(stacks[i], true, false);
}

Test(bandwidth, writers_share_it)
{
	for (unsigned int i = 0; i < 3; i++)
		shared(stacks[i], false, true);
}

Test(bandwidth, both_directions_share_it)
{
	for (unsigned int i = 0; i < 3; i++)
		shared(stacks[i], true, true);
}

/* ps, of a client that has one operation under way. size: 0 of atomics */
static double latency(const char *stack, const char *bandwidth, const char *kind, unsigned int size)
{
	char load[256], path[128];
	double ns;
	json_t *r;

	snprintf(load, sizeof(load), "{\"mix\": {\"%s\": 1}, %s%.0u%s \"depth\": 1}", kind,
		 size != 0 ? "\"size\": " : "", size, size != 0 ? "," : "");
	r = run(stack, 1, bandwidth, "300us", load, false);
	snprintf(path, sizeof(path), "operations.kinds.%s.latency.min_ns", kind);
	ns = whole_number(r, path);
	snprintf(path, sizeof(path), "operations.kinds.%s.latency.max_ns", kind);
	cr_expect(strcmp(stack, "cxl") == 0 || ns == whole_number(r, path), "%s: it is alone", stack);
	json_decref(r);
	return round(1000 * ns);
}

/* A read is one access; an atomic reads 8 bytes and writes them; a write of one frame is one access. */
Test(bandwidth, alone_it_is_bytes_by_rate)
{
	static const struct {
		const char *bandwidth;
		double bits;
	} rates[] = {{"\"100G\"", 100e9}, {"\"51.2G\"", 51.2e9}, {"\"7G\"", 7e9}, {"\"300M\"", 300e6}};

	for (unsigned int i = 0; i < STACKS; i++)
		for (unsigned int k = 0; k < 4 && strcmp(stacks[i], "cxl") != 0; k++) {
			static const unsigned int sizes[] = {1, 4000};
			double b = rates[k].bits, more;

			for (unsigned int s = 0; s < 2; s++) {
				more = latency(stacks[i], rates[k].bandwidth, "read", sizes[s]) -
				       latency(stacks[i], "\"none\"", "read", sizes[s]);
				cr_expect_eq(more, ceil(sizes[s] * 8e12 / b), "%s: %f", stacks[i], more);
			}
			more = latency(stacks[i], rates[k].bandwidth, "cas", 0) -
			       latency(stacks[i], "\"none\"", "cas", 0);
			cr_expect_eq(more, ceil(16 * 8e12 / b), "%s: %f", stacks[i], more);
			more = latency(stacks[i], rates[k].bandwidth, "write_ack", 64) -
			       latency(stacks[i], "\"none\"", "write_ack", 64);
			cr_expect_eq(more, ceil(64 * 8e12 / b), "%s: %f", stacks[i], more);
		}
}

/* Of CXL a line may find a flit on the way, so a time is one within that of a flit (9 blocks). */
Test(bandwidth, a_line_of_cxl_alone)
{
	double more = latency("cxl", "\"300M\"", "read", 64) - latency("cxl", "\"none\"", "read", 64);

	cr_expect_float_eq(more, 64 * 8e12 / 300e6, 9 * 640, "%f", more);
}

#define RATE "1G"
#define BYTE 8000 /* ps of it at that */

/* One operation at a time; that stages add up to what was measured is part of a sound result. */
static json_t *told(const char *stack, const char *bandwidth)
{
	/* Of a stack of frames nobody tells the stages of an acknowledgement. */
	const char *ack = strcmp(stack, "edm") == 0 ? "\"write_ack\": 1," : "";
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"stack\": \"%s\", \"memory\": {\"bandwidth\": \"%s\"},"
		 " \"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		 " {\"name\": \"m\", \"role\": \"memory\"}], \"report\": {\"stages\": true},"
		 " \"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"1ms\"}},"
		 " \"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, %s \"cas\": 1},"
		 " \"size\": 64, \"loop\": \"open\", \"rate\": 60000, \"arrival\": \"constant\","
		 " \"depth\": 1}]}",
		 stack, bandwidth, ack);
	return whole_sound(text, false);
}

/* By how many ps a number of ns has grown. */
static double grown(const json_t *before, const json_t *after, const char *path)
{
	return round(1000 * whole_number(after, path)) - round(1000 * whole_number(before, path));
}

Test(bandwidth, stages_add_up)
{
	static const char *const stack[] = {"edm", "rocev2", "ethernet", "tcp"};

	for (unsigned int i = 0; i < 4; i++) {
		json_t *before = told(stack[i], "none"), *after = told(stack[i], RATE);

		cr_expect_eq(grown(before, after, "operations.kinds.read.latency.max_ns"), 64 * BYTE);
		cr_expect_eq(grown(before, after, "operations.kinds.cas.latency.max_ns"), 16 * BYTE);
		cr_expect_eq(grown(before, after, "delivery.writes.effect.max_ns"), 64 * BYTE, "%s",
			     stack[i]);
		json_decref(before);
		json_decref(after);
	}
}

/* What is new is the memory's. */
Test(bandwidth, it_is_in_the_stage_of_the_memory)
{
	static const char *const kind[] = {"read", "write", "write_ack", "atomic"};
	static const double bytes[] = {64, 64, 64, 16};
	json_t *before = told("edm", "none"), *after = told("edm", RATE);

	for (unsigned int k = 0; k < 4; k++) {
		static const char *const part[] = {"sum_ps", "dram_ps"};

		for (unsigned int i = 0; i < 2; i++) {
			char path[64];

			snprintf(path, sizeof(path), "stages.%s.sum.%s", kind[k], part[i]);
			cr_expect_eq(whole_number(after, path) - whole_number(before, path), bytes[k] * BYTE,
				     "%s", path);
		}
	}
	json_decref(before);
	json_decref(after);
}

/* Spans and blocks tell the same while accesses wait. */
Test(bandwidth, by_block)
{
	static const char load[] =
		"{\"mix\": {\"read\": 3, \"write\": 2, \"write_ack\": 1, \"fadd\": 1},"
		" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 2000}, \"depth\": 4}";

	for (unsigned int i = 0; i < STACKS; i++)
		json_decref(run(stacks[i], 4, "\"13.7G\"", "20us", load, true));
}
