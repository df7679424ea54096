/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incast: many nodes to one. However many there are, what waits at the egress stays within the bound that
 * follows from the fabric (D3), and nothing is dropped. And standard ports beside memory nodes (D16).
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "whole.h"

#define READS "\"read\": 1"
#define WRITES "\"write\": 1"
#define MIX "\"read\": 2, \"write\": 2, \"write_ack\": 1, \"cas\": 1"
#define FRAMES ", \"ethernet\": [{\"size\": 1000, \"load\": 0.0%u}]"

/** n nodes to one: reads pile up at the memory node as requests, writes as chunks. */
static void to_one(unsigned int n, const char *mix, const char *policy, unsigned int frames, const char *more,
		   bool by_block)
{
	char text[2048], background[128] = "";

	if (frames != 0)
		snprintf(background, sizeof(background), FRAMES, frames);
	snprintf(text, sizeof(text),
		 "{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"%uus\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": %u},"
		 "            {\"name\": \"m\", \"role\": \"memory\"}],"
		 "\"link\": {\"policy\": \"%s\"},"
		 "\"workload\": [{\"mix\": {%s}, \"size\": 1024, \"pattern\": \"incast\", \"depth\": 4}]"
		 "%s%s}",
		 by_block ? 20 : 100, n, policy, mix, background, more);
	json_decref(whole_check(text, by_block));
}

Test(incast, of_reads)
{
	to_one(16, READS, "memory-first", 0, "", true);
	to_one(64, READS, "memory-first", 0, "", false);
	to_one(16, READS, "fair", 1, "", true);
	to_one(64, READS, "fair", 1, "", false);
}

Test(incast, of_writes)
{
	to_one(16, WRITES, "memory-first", 0, "", true);
	to_one(64, WRITES, "memory-first", 0, "", false);
	to_one(16, WRITES, "fair", 1, "", true);
	to_one(64, WRITES, "fair", 1, "", false);
}

Test(incast, of_both)
{
	to_one(16, MIX, "memory-first", 0, "", true);
	to_one(64, MIX, "memory-first", 0, "", false);
	to_one(16, MIX, "fair", 1, "", true);
	to_one(64, MIX, "fair", 1, "", false);
	to_one(16, MIX, "fair", 1, ", \"switch\": {\"align\": true}", true);
	to_one(16, MIX, "memory-first", 0,
	       ", \"scheduler\": {\"policy\": \"greedy\", \"priority\": \"srpt\"}", true);
}

/** One compute node reads from many: their responses meet at its port, with its own writes' /G/ beside. */
Test(incast, of_responses)
{
	static const unsigned int counts[] = {16, 64};

	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int fair = 0; fair < 2; fair++) {
			char text[2048];

			snprintf(text, sizeof(text),
				 "{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"50us\"}},"
				 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
				 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": %u}],"
				 "\"link\": {\"policy\": \"%s\"},"
				 "\"workload\": [{\"mix\": {\"read\": 4, \"write\": 1, \"write_ack\": 1},"
				 "                \"size\": 2048, \"span\": \"512KiB\", \"depth\": 128}]%s}",
				 counts[i], fair ? "fair" : "memory-first",
				 fair ? ", \"ethernet\": [{\"to\": \"c\", \"from\": \"m\", \"size\": 700, "
					"\"load\": 0.001}]"
				      : "");
			json_decref(whole_check(text, i == 0));
		}
}

/** Frames cross between EDM nodes and standard ones, both ways, with memory traffic beside them. */
Test(incast, plain_ports)
{
	static const char text[] =
		"{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"60us\"}},"
		"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 2},"
		"            {\"name\": \"e\", \"role\": \"ethernet\", \"count\": 3},"
		"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		"\"ethernet\": [{\"from\": [\"c\", \"m\"], \"to\": \"e\", \"size\": 1500, \"load\": 0.2},"
		"               {\"from\": \"e\", \"to\": [\"c0\", \"m0\", \"m1\"], \"size\": 90,"
		"                \"load\": 0.2}],"
		"\"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, \"cas\": 1}}]}";
	json_t *r = whole_check(text, true);

	cr_expect_gt(whole_number(r, "frames.received"), 200);
	cr_expect_gt(whole_number(r, "operations.completed_all"), 200);
	cr_expect_eq(whole_number(r, "switch.addresses_learned"), 7);
	json_decref(r);
}
