/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole fabrics whose links are broken on purpose: whatever happens on them, operations end, what is read is
 * right, and when it is over traffic goes on. Clients count on what is begun in a pair taking effect in that
 * order (3.1.1); where a link puts messages in another order nobody can promise it, so there they have one
 * operation under way.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "whole.h"

/** Reads, acknowledged writes and atomics, verified; timers that are short, so that what is lost ends. */
static void text_of(char *text, size_t len, unsigned int seed, unsigned int depth, const char *faults)
{
	snprintf(text, len,
		 "{\"seed\": %u,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"200us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 12},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"host\": {\"read_timeout\": \"100us\", \"write_timeout\": \"100us\"},"
		 "\"switch\": {\"grant_timeout\": \"40us\", \"hold_timeout\": \"5us\"},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write_ack\": 2, \"cas\": 1}, \"size\": 300,"
		 "               \"depth\": %u, \"span\": \"2KiB\"}],"
		 "\"ethernet\": [{\"from\": \"c\", \"to\": \"m\", \"size\": 400, \"load\": 0.05}],"
		 "\"faults\": [%s]}",
		 seed, depth, faults);
}

/** Operations under way at the end; those that completed in the drain and before. */
static void sane(const json_t *result, const char *faults)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0, "%s", faults);
	cr_expect_eq(whole_number(result, "phases.end.never_begun"), 0, "%s", faults);
	cr_expect_eq(whole_number(result, "operations.mismatches"), 0, "%s", faults);
	cr_expect_gt(whole_number(result, "operations.verified"), 10, "%s", faults);
}

static const char *const classes[][2] = {
	{"bit", "{\"class\": \"bit\", \"rate\": 1e-5}"},
	{"sync", "{\"class\": \"sync\", \"rate\": 0.0005}"},
	{"type", "{\"class\": \"type\", \"rate\": 0.002}"},
	{"cut", "{\"class\": \"cut\", \"rate\": 0.0005}"},
	{"lose", "{\"class\": \"lose\", \"rate\": 0.002}"},
	{"duplicate", "{\"class\": \"duplicate\", \"rate\": 0.002}"},
	{"delay", "{\"class\": \"delay\", \"rate\": 0.005, \"time\": \"700ns\"}"},
	{"reorder", "{\"class\": \"reorder\", \"rate\": 0.005, \"time\": \"900ns\"}"},
};
#define REORDER 7
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static double fired(const json_t *result, const char *class)
{
	char path[64];

	snprintf(path, sizeof(path), "faults.%s", class);
	return whole_number(result, path);
}

Test(faults, of_each_class)
{
	for (unsigned int i = 0; i < CLASSES; i++) {
		char text[2048];
		json_t *result, *again;

		text_of(text, sizeof(text), i + 1, i == REORDER ? 1 : 6, classes[i][1]);
		result = whole_run(text, false);
		again = whole_run(text, false);
		sane(result, text);
		cr_expect_gt(fired(result, classes[i][0]), 3, "%s", text);
		cr_expect(json_equal(result, again), "%s", text);
		json_decref(result);
		json_decref(again);
	}
}

Test(faults, of_all_classes_together)
{
	char all[1024] = "", text[2048];
	size_t len = 0;

	for (unsigned int i = 0; i < CLASSES; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? ", " : "",
					classes[i][1]);
	for (unsigned int seed = 1; seed <= 20; seed++) {
		json_t *result;

		text_of(text, sizeof(text), seed, 1, all);
		result = whole_run(text, false);
		sane(result, text);
		json_decref(result);
	}
}

/** With what is lost sent again nothing fails, and nothing is done twice. */
Test(faults, none_fails_where_it_is_sent_again)
{
	static const char *const once[] = {"", "\"once\": true, "}, *const mega[] = {"", "\"mega\": 4, "};

	for (unsigned int seed = 1; seed <= 4; seed++) {
		char text[2048], host[128];
		json_t *result;
		char *at;

		text_of(text, sizeof(text), seed, 1,
			"{\"class\": \"lose\", \"rate\": 0.01}, {\"class\": \"duplicate\", \"rate\": 0.01},"
			"{\"class\": \"bit\", \"rate\": 1e-5}");
		at = strstr(text, "\"read_timeout\"");
		snprintf(host, sizeof(host), "%s%s\"retries\": 8, \"retry_timeout\": \"50us\", ",
			 once[seed & 1], mega[seed >> 1 & 1]);
		memmove(at + strlen(host), at, strlen(at) + 1);
		memcpy(at, host, strlen(host));
		result = whole_run(text, false);
		sane(result, text);
		cr_expect_eq(whole_number(result, "operations.failed_all"), 0, "%s", text);
		cr_expect_gt(fired(result, "lose"), 10, "%s", text);
		cr_expect_gt(fired(result, "duplicate"), 10, "%s", text);
		json_decref(result);
	}
}

Test(faults, end_and_traffic_goes_on)
{
	char text[2048];
	json_t *result;

	/* For 40 us nothing gets through at one node; what comes later is whole. */
	text_of(text, sizeof(text), 5, 6,
		"{\"class\": \"lose\", \"link\": \"m\", \"rate\": 1, \"from\": \"20us\","
		" \"until\": \"60us\"}");
	result = whole_run(text, false);
	sane(result, text);
	cr_expect_gt(fired(result, "lose"), 5);
	cr_expect_gt(whole_number(result, "phases.drain.messages.completed"), 0);
	json_decref(result);
}

Test(faults, count_is_of_each_link_and_direction)
{
	char text[2048];
	json_t *result;

	text_of(text, sizeof(text), 6, 6,
		"{\"class\": \"lose\", \"link\": \"c\", \"direction\": \"up\", \"rate\": 1, \"count\": 2}");
	result = whole_run(text, false);
	sane(result, text);
	cr_expect_eq(fired(result, "lose"), 12 * 2);
	json_decref(result);
}
