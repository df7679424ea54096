/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole fabrics in which cables are pulled, processes die, roles stand still, there is no room, and ports
 * send what nobody asked them to: operations end, what is read is right, and when it is over traffic goes on.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/mf_rng.h"
#include "whole.h"

#define TEXT 6000

/** All kinds of operations, verified; timers that are short, so that what is lost ends. */
static void text_with(char *text, unsigned int seed, unsigned int writes, const char *faults)
{
	snprintf(text, TEXT,
		 "{\"seed\": %u,"
		 "\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"200us\","
		 "                          \"drain\": \"20ms\"}},"
		 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 7},"
		 "            {\"name\": \"b\", \"role\": \"both\"},"
		 "            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		 "\"host\": {\"read_timeout\": \"100us\", \"write_timeout\": \"100us\"},"
		 "\"switch\": {\"grant_timeout\": \"40us\", \"hold_timeout\": \"5us\"},"
		 "\"workload\": [{\"mix\": {\"read\": 2, \"write\": %u, \"write_ack\": 2,"
		 "                          \"cas\": 1, \"fadd\": 1},"
		 "               \"size\": 300, \"depth\": 6, \"span\": \"2KiB\"}],"
		 "\"ethernet\": [{\"from\": \"c\", \"to\": \"m\", \"size\": 400, \"load\": 0.05}],"
		 "\"faults\": [%s]}",
		 seed, writes, faults);
}

static void text_of(char *text, unsigned int seed, const char *faults)
{
	text_with(text, seed, 1, faults);
}

static void sane(const json_t *result, const char *text)
{
	cr_expect_eq(whole_number(result, "phases.end.under_way"), 0, "%s", text);
	cr_expect_eq(whole_number(result, "scheduler.entries_left"), 0, "%s", text);
	cr_expect_gt(whole_number(result, "operations.verified"), 10, "%s", text);
}

static double fired(const json_t *result, const char *class)
{
	char path[64];

	snprintf(path, sizeof(path), "faults.%s", class);
	return whole_number(result, path);
}

/*
 * Those from LOSES on take what is under way, and nobody is told of a plain write (D11): the first of them by
 * the hold timer, which cuts a chunk off in the middle of which its sender stalls.
 */
#define LOSES 15
static const char *const events[][2] = {
	{"link_down",
	 "{\"class\": \"link_down\", \"link\": \"m0\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"link_down", "{\"class\": \"link_down\", \"link\": \"c3\", \"from\": \"50us\"}"},
	/* shorter than it takes to notice */
	{"link_down",
	 "{\"class\": \"link_down\", \"link\": \"*\", \"from\": \"50us\", \"until\": \"50010ns\"}"},
	{"link_down", "{\"class\": \"link_down\", \"link\": \"*\", \"from\": \"20us\", \"until\": \"180us\","
		      " \"every\": \"20us\", \"for\": \"5us\"}"},
	{"link_down", "{\"class\": \"link_down\", \"link\": [\"m0\", \"b\"], \"from\": \"20us\","
		      " \"until\": \"150us\", \"every\": \"700ns\", \"for\": \"100ns\"}"},
	{"node_crash",
	 "{\"class\": \"node_crash\", \"node\": \"m0\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"node_crash",
	 "{\"class\": \"node_crash\", \"node\": \"c3\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"node_crash",
	 "{\"class\": \"node_crash\", \"node\": \"c\", \"from\": \"50us\", \"until\": \"50001ns\"}"},
	{"node_crash", "{\"class\": \"node_crash\", \"node\": [\"m1\", \"c0\"], \"from\": \"50us\"}"},
	{"node_crash",
	 "{\"class\": \"node_crash\", \"node\": \"*\", \"from\": \"20us\", \"until\": \"150us\","
	 " \"every\": \"30us\", \"for\": \"4us\"}"},
	{"switch_crash", "{\"class\": \"switch_crash\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"switch_crash", "{\"class\": \"switch_crash\", \"from\": \"20us\", \"until\": \"150us\","
			 " \"every\": \"30us\", \"for\": \"2us\"}"},
	{"stall", "{\"class\": \"stall\", \"role\": \"switch\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"stall", "{\"class\": \"stall\", \"role\": \"scheduler\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"stall", "{\"class\": \"stall\", \"role\": \"m\", \"from\": \"50us\", \"until\": \"80us\"}"},
	{"stall",
	 "{\"class\": \"stall\", \"role\": [\"c0\", \"b\"], \"from\": \"50us\", \"until\": \"85us\"}"},
	{"flood", "{\"class\": \"flood\", \"node\": [\"c0\", \"c3\"], \"to\": \"m\", \"rate\": 1,"
		  " \"from\": \"30us\", \"until\": \"120us\"}"},
	{"flood", "{\"class\": \"flood\", \"node\": \"b\", \"to\": \"m0\", \"rate\": 0.01}"},
	{"spoof", "{\"class\": \"spoof\", \"node\": [\"c0\", \"m0\"], \"rate\": 0.2}"},
	{"garbage", "{\"class\": \"garbage\", \"node\": [\"c0\", \"m0\"], \"rate\": 0.05, \"from\": \"30us\","
		    " \"until\": \"60us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"queue\", \"node\": \"*\", \"from\": \"30us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"grants\", \"node\": \"*\", \"from\": \"30us\","
		    " \"until\": \"60us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"buffers\", \"node\": \"m\", \"from\": \"30us\","
		    " \"until\": \"60us\", \"every\": \"3us\", \"for\": \"1us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"buffers\", \"node\": \"m\", \"from\": \"30us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"room\", \"node\": \"*\", \"from\": \"30us\","
		    " \"until\": \"60us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"egress\", \"node\": \"*\", \"from\": \"30us\","
		    " \"until\": \"60us\", \"every\": \"5us\", \"for\": \"1us\"}"},
	{"exhaust",
	 "{\"class\": \"exhaust\", \"what\": \"requests\", \"from\": \"30us\", \"until\": \"40us\"}"},
	{"exhaust", "{\"class\": \"exhaust\", \"what\": \"ring\", \"node\": \"*\", \"from\": \"30us\","
		    " \"until\": \"60us\", \"every\": \"5us\", \"for\": \"1us\"}"},
	{"exhaust",
	 "{\"class\": \"exhaust\", \"what\": \"ring\", \"node\": [\"m0\", \"c1\"], \"from\": \"30us\","
	 " \"until\": \"70us\"}"},
	/* More than the scheduler has room for waits for it when it is there again. */
	{"stall", "{\"class\": \"stall\", \"role\": \"scheduler\", \"from\": \"30us\", \"until\": \"50us\"},"
		  "{\"class\": \"flood\", \"node\": [\"c1\", \"c2\"], \"to\": \"m\", \"rate\": 1,"
		  " \"from\": \"20us\"}"},
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

Test(outages, of_each_kind)
{
	for (unsigned int i = 0; i < EVENTS; i++) {
		char text[TEXT];
		json_t *result, *second;

		text_with(text, i + 1, i < LOSES, events[i][1]);
		result = whole_sound(text, false);
		sane(result, text);
		cr_expect_gt(fired(result, events[i][0]), 0, "%s", text);
		second = whole_sound(text, false);
		cr_expect(json_equal(result, second), "%s", text);
		json_decref(result);
		json_decref(second);
	}
}

Test(outages, block_by_block)
{
	for (unsigned int i = 0; i < EVENTS; i++) {
		char text[TEXT];
		json_t *result;

		text_with(text, i + 1, i < LOSES, events[i][1]);
		result = whole_sound(text, true);
		sane(result, text);
		cr_expect_gt(fired(result, events[i][0]), 0, "%s", text);
		json_decref(result);
	}
}

/** Several at random, at random times, at random places, upon what links do by themselves. */
static void several(char *faults, size_t len, unsigned int seed)
{
	static const char *const links[] = {"m0", "m1", "b", "c1", "c5", "*"};
	static const char *const rooms[] = {"queue", "grants", "buffers", "room", "egress", "ring"};
	struct mf_rng rng;
	size_t n = 0;

	mf_rng_init(&rng, seed, "events", 0);
	n += (size_t)snprintf(faults, len,
			      "{\"class\": \"lose\", \"rate\": 0.0005},"
			      "{\"class\": \"delay\", \"rate\": 0.001, \"time\": \"700ns\"}");
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int from = (unsigned int)mf_rng_below(&rng, 190000);
		unsigned int until = from + 1 + (unsigned int)mf_rng_below(&rng, 40000);
		const char *at = links[mf_rng_below(&rng, 6)];

		switch (mf_rng_below(&rng, 8)) {
		case 0:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"link_down\", \"link\": \"%s\", ", at);
			break;
		case 1:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"node_crash\", \"node\": \"%s\", ", at);
			break;
		case 2:
			n += (size_t)snprintf(faults + n, len - n, ", {\"class\": \"switch_crash\", ");
			break;
		case 3:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"flood\", \"node\": \"c2\", \"to\": \"m\","
					      " \"rate\": 0.5, ");
			break;
		case 4:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"spoof\", \"node\": \"%s\", \"rate\": 0.1, ",
					      at);
			break;
		case 5:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"garbage\", \"node\": \"%s\", \"rate\": 0.01, ",
					      at);
			break;
		case 6:
			n += (size_t)snprintf(
				faults + n, len - n,
				", {\"class\": \"exhaust\", \"what\": \"%s\", \"node\": \"%s\", ",
				rooms[from % 6], at);
			break;
		default:
			n += (size_t)snprintf(faults + n, len - n,
					      ", {\"class\": \"stall\", \"role\": \"%s\", ",
					      from % 3 == 0   ? "switch"
					      : from % 3 == 1 ? "scheduler"
							      : at);
			break;
		}
		n += (size_t)snprintf(faults + n, len - n, "\"from\": \"%uns\", \"until\": \"%uns\"}", from,
				      until);
	}
}

Test(outages, together)
{
	for (unsigned int seed = 1; seed <= 60; seed++) {
		char faults[2048], text[TEXT];
		json_t *result;

		several(faults, sizeof(faults), seed);
		text_with(text, seed, 0, faults); /* of a plain write that is lost nobody is told (D11) */
		result = whole_sound(text, seed % 8 == 0);
		cr_expect_eq(whole_number(result, "phases.end.under_way"), 0, "%s", text);
		json_decref(result);
	}
}

/** Where a role stands still for 30 of 205 us so much is not done, and no more. */
/** Who sends where a ring is full waits until it is not, on either side; nothing is lost by that. */
Test(outages, a_full_ring_holds_up)
{
	static const char *const fault[] = {
		"",
		"{\"class\": \"exhaust\", \"what\": \"ring\", \"node\": \"c\", \"from\": \"20us\","
		" \"until\": \"40us\"}",
		"{\"class\": \"exhaust\", \"what\": \"ring\", \"node\": \"m\", \"from\": \"20us\","
		" \"until\": \"40us\"}",
	};

	for (unsigned int i = 0; i < 3; i++) {
		char text[TEXT];
		json_t *result;
		double longest;

		snprintf(text, sizeof(text),
			 "{\"clock\": {\"virtual\": {\"warmup\": \"1us\", \"duration\": \"60us\"}},"
			 "\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
			 "            {\"name\": \"m\", \"role\": \"memory\"}],"
			 "\"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64, \"depth\": 1}],"
			 "\"faults\": [%s]}",
			 fault[i]);
		result = whole_run(text, false);
		longest = whole_number(result, "operations.kinds.read.latency.max_ns");
		cr_expect_eq(whole_number(result, "operations.failed_all"), 0, "%s", text);
		if (i == 0)
			cr_expect_lt(longest, 2000, "%f", longest);
		else
			cr_expect(longest > 19000 && longest < 22000, "%f: %s", longest, text);
		json_decref(result);
	}
}

Test(outages, traffic_goes_on)
{
	static const char *const roles[] = {"switch", "scheduler", "*"};
	static const char fabric[] =
		"{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"200us\","
		"                          \"drain\": \"20ms\"}},"
		"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 7},"
		"            {\"name\": \"m\", \"role\": \"memory\", \"count\": 2}],"
		"\"workload\": [{\"mix\": {\"read\": 2, \"write\": 1, \"write_ack\": 2}, \"size\": 300,"
		"               \"depth\": 6, \"span\": \"2KiB\"}],"
		"\"faults\": [{\"class\": \"stall\", \"role\": \"%s\", \"from\": \"50us\","
		"             \"until\": \"%uus\"}]}";
	char text[TEXT];
	json_t *result, *whole;
	double share;

	snprintf(text, sizeof(text), fabric, "m", 51);
	whole = whole_sound(text, false);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), fabric, roles[i], 80);
		result = whole_sound(text, false);
		share = whole_number(result, "operations.completed_all") /
			whole_number(whole, "operations.completed_all");
		cr_expect(share > 0.84 && share < 0.87, "%g of what there is without: %s", share, text);
		json_decref(result);
	}
	json_decref(whole);
}

/* What timers have ended meanwhile is over for the scheduler, too, and leaves its room to what comes next. */
Test(outages, what_is_given_up_takes_no_room)
{
	static const char text[] =
		"{\"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"400us\","
		"                          \"drain\": \"20ms\"}},"
		"\"nodes\": [{\"name\": \"c\", \"role\": \"compute\", \"count\": 3},"
		"            {\"name\": \"m\", \"role\": \"memory\"}],"
		"\"host\": {\"read_timeout\": \"30us\", \"write_timeout\": \"30us\"},"
		"\"switch\": {\"grant_timeout\": \"20us\", \"hold_timeout\": \"5us\"},"
		"\"workload\": [{\"mix\": {\"read\": 2, \"write\": 1, \"write_ack\": 2, \"cas\": 1,"
		"                       \"fadd\": 1}, \"size\": 300, \"depth\": 16, \"span\": \"64KiB\"}],"
		"\"faults\": [{\"class\": \"stall\", \"role\": \"scheduler\", \"from\": \"50us\","
		"             \"until\": \"200us\"}]}";
	json_t *result = whole_sound(text, false);

	sane(result, text);
	cr_expect_gt(whole_number(result, "operations.failed_by_cause.timeout"), 10);
	cr_expect_gt(whole_number(result, "operations.failed_by_cause.unknown"), 10);
	cr_expect_eq(whole_number(result, "operations.failed_by_cause.resource"), 0);
	json_decref(result);
}

Test(outages, a_memory_node_comes_back_empty)
{
	char text[TEXT];
	json_t *result;

	/*
	 * One client that only reads what it wrote before: after the crash it finds zeros, and knows it
	 * may.
	 */
	text_of(text, 3,
		"{\"class\": \"node_crash\", \"node\": \"m\", \"from\": \"60us\", \"until\": \"70us\"}");
	result = whole_sound(text, false);
	cr_expect_gt(whole_number(result, "operations.unverified"), 10);
	json_decref(result);
}

/** An idle fabric that waits for timers is over within a microsecond of the last, long before its drain. */
Test(outages, it_is_over_when_the_last_timer_is)
{
	json_t *r = whole_run(
		"{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"20us\", \"drain\": \"20ms\"}},"
		" \"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		"             {\"name\": \"m\", \"role\": \"memory\"}],"
		" \"host\": {\"read_timeout\": \"300us\"},"
		" \"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64, \"depth\": 1}],"
		" \"faults\": [{\"class\": \"lose\", \"rate\": 1, \"link\": \"m\", \"from\": \"10us\"}]}",
		false);
	double last = whole_number(r, "operations.last_done_ps"), ended = whole_number(r, "time.ended_ps");

	cr_expect_eq(whole_number(r, "operations.failed_all"), 1);
	cr_expect(last > 300e6 && ended >= last && ended <= last + 1e6, "%f %f", last, ended);
	json_decref(r);
}

/** ... and one that is to settle first when nothing has been under way for so long, to a microsecond. */
Test(outages, it_is_over_when_it_has_settled)
{
	const mf_time settle = MF_US(700);
	json_t *r = whole_settled(
		"{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"20us\", \"drain\": \"20ms\"}},"
		" \"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
		"             {\"name\": \"m\", \"role\": \"memory\"}],"
		" \"workload\": [{\"mix\": {\"read\": 1}, \"size\": 64, \"depth\": 1}]}",
		settle);
	double quiet = whole_number(r, "operations.last_done_ps"), ended = whole_number(r, "time.ended_ps");

	cr_expect_float_eq(ended, quiet + (double)settle, 1e6, "%f %f", quiet, ended);
	json_decref(r);
}
