/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fastpass: nodes and their arbiter over a network of a fixed delay that loses what it is told to; and whole
 * fabrics.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fabric/whole.h"
#include "base/mf_rng.h"
#include "config/mf_config.h"
#include "net/mf_packet.h"
#include "pcs/mf_frame.h"
#include "systems/edm/host/mf_host.h"
#include "systems/mf_systems.h"

#define NODES 5
#define ARBITER 4
#define PERIOD 640
#define SLOT 123040 /* 1538 octets at 100 Gb/s */
#define DELAY MF_US(1)
#define MEMORY (1 << 20)
#define RTO_MIN MF_US(60) /* some round trips of this network */
#define FLIGHTS 4096
#define CONTROL 0x58 /* low octet of the UDP port */

struct flight {
	mf_time at;
	uint16_t to, len;
	uint8_t frame[1600];
};

struct rig {
	const struct mf_stack_ops *ops;
	struct mf_stack *node[NODES];
	struct mf_memory *memory[NODES];
	mf_time free[NODES];
	struct flight flight[FLIGHTS];
	unsigned int head, tail;
	double lose_control, lose_data;
	struct mf_rng rng;
	mf_time now;
	struct mf_completion done[64];
	unsigned int completed;
	uint64_t lost;
	int last_from[NODES];
	uint64_t last_slot[NODES]; /* that a node was sent to in, and by whom */
	unsigned int clashes;
};

static struct rig *rig;

static void set_up(mf_time timeout)
{
	const struct mf_memory_config m = {.size = MEMORY, .numa_node = -1, .dram = MF_NS(82)};
	double param[MF_PARAMS_MAX];
	struct mf_stack_config c = {.nodes = NODES,
				    .compute = true,
				    .queue = 64,
				    .read_timeout = timeout,
				    .write_timeout = timeout,
				    .period = PERIOD,
				    .rtt = 2 * DELAY,
				    .server = ARBITER,
				    .slowest = PERIOD,
				    .param = param};

	rig = calloc(1, sizeof(*rig));
	mf_rng_init(&rig->rng, 1, "rig", 0);
	rig->ops = mf_stack_find("fastpass");
	for (size_t i = 0; rig->ops->params[i].key != NULL; i++)
		param[i] =
			strcmp(rig->ops->params[i].key, "rto_min") != 0 ? rig->ops->params[i].value : RTO_MIN;
	for (uint16_t i = 0; i < NODES; i++) {
		rig->memory[i] = mf_memory_flat.create(&m);
		rig->last_from[i] = -1;
		c.node = i;
		c.memory_ops = i != ARBITER ? &mf_memory_flat : NULL;
		c.memory = i != ARBITER ? rig->memory[i] : NULL;
		rig->node[i] = rig->ops->create(&c);
		cr_assert_not_null(rig->node[i]);
	}
}

static void tear_down(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		rig->ops->destroy(rig->node[i]);
		mf_memory_flat.destroy(rig->memory[i]);
	}
	free(rig);
}

/** Two nodes never send to a third in the same slot. */
static void watch(uint16_t from, uint16_t to)
{
	uint64_t slot = rig->now / SLOT;

	if (rig->last_from[to] >= 0 && rig->last_from[to] != from && rig->last_slot[to] == slot)
		rig->clashes++;
	rig->last_from[to] = from;
	rig->last_slot[to] = slot;
}

static void transmit(uint16_t i)
{
	struct flight *f = &rig->flight[rig->tail % FLIGHTS];
	bool control;

	if (rig->free[i] > rig->now || rig->ops->ready(rig->node[i]) > rig->now)
		return;
	f->len = rig->ops->pull(rig->node[i], rig->now, f->frame);
	if (f->len == 0)
		return;
	cr_assert_lt(rig->tail - rig->head, FLIGHTS);
	control = f->frame[37] == CONTROL;
	f->to = (uint16_t)mf_packet_node(f->frame);
	f->at = rig->now + DELAY;
	rig->free[i] = rig->now + (8u + 16u + (f->len < 60 ? 60u : f->len)) * PERIOD / 8;
	if (!control)
		watch(i, f->to);
	if (mf_rng_double(&rig->rng) < (control ? rig->lose_control : rig->lose_data))
		rig->lost++;
	else
		rig->tail++;
}

static void run_for(mf_time time)
{
	for (mf_time end = rig->now + time; rig->now < end; rig->now += PERIOD) {
		for (; rig->head != rig->tail; rig->head++) {
			struct flight *f = &rig->flight[rig->head % FLIGHTS];

			if (f->at > rig->now)
				break;
			rig->ops->frame(rig->node[f->to], f->at, f->frame, f->len);
		}
		for (uint16_t i = 0; i < NODES; i++) {
			if (rig->ops->next(rig->node[i]) <= rig->now)
				rig->ops->run(rig->node[i], rig->now);
			transmit(i);
			rig->completed += rig->ops->completions(
				rig->node[i], rig->now, rig->done + rig->completed, 64 - rig->completed);
		}
	}
}

static void submit(uint16_t from, uint8_t kind, uint16_t to, uint64_t addr, uint64_t len, void *buf)
{
	const struct mf_op op = {.kind = kind, .node = to, .addr = addr, .len = len, .buf = buf};

	cr_assert_eq(rig->ops->submit(rig->node[from], rig->now, &op), 0);
}

static uint64_t counter(unsigned int node, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];
	unsigned int n = rig->ops->counters(rig->node[node], c);

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert(false, "no counter %s", name);
	return 0;
}

static uint64_t sum(const char *name)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < NODES; i++)
		all += counter(i, name);
	return all;
}

static unsigned int succeeded(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rig->completed; i++)
		n += rig->done[i].status == MF_OK;
	return n;
}

static uint8_t to[16][40000], back[16][40000];

static double lost_data;

/** All write to all, and read back. */
static void moves(double lose_control)
{
	mf_time time = lost_data != 0 ? MF_MS(8) : lose_control != 0 ? MF_MS(2) : MF_US(60);

	set_up(0);
	rig->lose_control = lose_control;
	rig->lose_data = lost_data;
	for (unsigned int i = 0; i < 12; i++)
		for (unsigned int k = 0; k < sizeof(to[i]); k++)
			to[i][k] = (uint8_t)mf_rng_next(&rig->rng);
	for (unsigned int i = 0; i < 12; i++)
		submit((uint16_t)(i % 4), MF_OP_WRITE_ACK, (uint16_t)((i % 4 + i / 4 + 1) % 4), i * 50000,
		       3000 * i + 1, to[i]);
	run_for(time);
	cr_assert_eq(succeeded(), 12, "%u", succeeded());
	rig->completed = 0;
	for (unsigned int i = 0; i < 12; i++)
		submit((uint16_t)((i + 1) % 4), MF_OP_READ,
		       (uint16_t)((i % 4 + i / 4 + 1) % 4 == (i + 1) % 4 ? (i % 4 + i / 4 + 2) % 4
									 : (i % 4 + i / 4 + 1) % 4),
		       i * 50000, 3000 * i + 1, back[i]);
	run_for(time);
	cr_assert_eq(succeeded(), 12, "%u", succeeded());
	for (unsigned int i = 0; i < 12; i++)
		if ((i % 4 + i / 4 + 1) % 4 != (i + 1) % 4)
			cr_assert_arr_eq(to[i], back[i], 3000 * i + 1);
}

Test(stack_fastpass, slots_do_not_clash)
{
	moves(0);
	cr_assert_eq(sum("slots_late"), 0);
	cr_assert_eq(rig->clashes, 0);
	cr_assert_eq(sum("requests_again"), 0);
	cr_assert_eq(sum("arbiter_put_back"), 0);
	cr_assert_eq(sum("slots_wasted"), 0);
	cr_assert_eq(sum("slots"), sum("arbiter_demanded"));
	tear_down();
}

Test(stack_fastpass, lost_control_frames_are_made_up_for)
{
	moves(0.1);
	cr_assert_gt(rig->lost, 0);
	cr_assert_gt(sum("requests_again"), 0);
	cr_assert_gt(sum("arbiter_put_back"), 0);
	tear_down();
}

/** Two long messages of one node, to different ones: neither waits for the other's end. */
Test(stack_fastpass, destinations_share_a_source)
{
	static uint8_t data[400000];
	mf_time first;

	set_up(0);
	submit(0, MF_OP_WRITE, 1, 0, sizeof(data), data);
	submit(0, MF_OP_WRITE, 2, 0, sizeof(data), data);
	while (rig->completed == 0 && rig->now < MF_MS(1))
		run_for(SLOT);
	first = rig->now;
	while (rig->completed == 1 && rig->now < MF_MS(1))
		run_for(SLOT);
	cr_assert_eq(succeeded(), 2);
	cr_assert_gt(first, rig->now / 10 * 9, "%lu and %lu ps", (unsigned long)first,
		     (unsigned long)rig->now);
	tear_down();
}

/** Data are lost: what is not answered goes again until it is, and all of it arrives as it was. */
Test(stack_fastpass, lost_data_go_again)
{
	struct mf_op add = {.kind = MF_OP_RMW, .node = 1, .addr = 900000, .rmw = MF_RMW_FADD, .arg = {1}};
	uint64_t sum_of = 0;

	lost_data = 0.05;
	moves(0);
	cr_expect_gt(rig->lost, 5);
	cr_expect_gt(sum("operations_again"), 5);
	cr_expect_gt(sum("drop_order"), 0, "what is behind a gap");
	/* Each atomic is done once, though its answer may be lost. */
	rig->completed = 0;
	for (unsigned int i = 0; i < 40; i++)
		cr_assert_eq(rig->ops->submit(rig->node[i % 3 == 0 ? 0 : i % 3 + 1], rig->now, &add), 0);
	run_for(MF_MS(8));
	cr_expect_eq(succeeded(), 40);
	for (unsigned int i = 0; i < 40; i++)
		sum_of += rig->done[i].result;
	cr_expect_eq(sum_of, 40 * 39 / 2, "each has found another number");
	tear_down();
}

/** A plain write is not over before it has come. */
Test(stack_fastpass, a_plain_write_is_answered)
{
	set_up(0);
	rig->lose_data = 1;
	submit(0, MF_OP_WRITE, 1, 0, 9000, to[0]);
	run_for(MF_US(100));
	cr_expect_eq(rig->completed, 0);
	rig->lose_data = 0;
	run_for(MF_US(500));
	cr_expect_eq(succeeded(), 1);
	cr_expect_arr_eq(mf_memory_flat.at(rig->memory[1], 0, 9000), to[0], 9000);
	tear_down();
}

/** Where none arrive the operation fails in time, and others go on. */
Test(stack_fastpass, lost_data_fail_in_time)
{
	set_up(MF_US(200));
	rig->lose_data = 1;
	submit(0, MF_OP_READ, 1, 0, 64, back[0]);
	submit(0, MF_OP_WRITE_ACK, 1, 0, 9000, to[0]);
	run_for(MF_US(201));
	cr_assert_eq(rig->completed, 2);
	cr_assert_eq(succeeded(), 0);
	rig->lose_data = 0;
	submit(0, MF_OP_READ, 1, 0, 64, back[0]);
	run_for(MF_US(20));
	cr_assert_eq(succeeded(), 1);
	tear_down();
}

/** An arbiter that is not heard of: operations end, and go again when it is. */
Test(stack_fastpass, without_the_arbiter)
{
	set_up(MF_US(300));
	rig->lose_control = 1;
	submit(0, MF_OP_WRITE, 1, 0, 9000, to[0]);
	submit(2, MF_OP_READ, 1, 0, 9000, back[0]);
	run_for(MF_US(301));
	cr_assert_eq(rig->completed, 2);
	cr_assert_eq(succeeded(), 0);
	rig->lose_control = 0;
	submit(0, MF_OP_WRITE_ACK, 1, 0, 9000, to[0]);
	run_for(MF_US(150));
	cr_assert_eq(succeeded(), 1);
	tear_down();
}

/** Frames cut, damaged, of chance: counted, and nothing else. */
Test(stack_fastpass, garbage)
{
	uint8_t frame[1600];

	set_up(0);
	submit(0, MF_OP_WRITE, 1, 0, 3000, to[0]);
	for (unsigned int n = 0; n < 20000; n++) {
		const struct flight *f = &rig->flight[mf_rng_below(&rig->rng, 32)];
		uint16_t len = f->len, at = (uint16_t)mf_rng_below(&rig->rng, NODES);

		if (n % 500 == 0)
			run_for(MF_NS(500));
		if (len == 0)
			continue;
		memcpy(frame, f->frame, len);
		for (unsigned int i = 0; i < n % 4; i++)
			frame[mf_rng_below(&rig->rng, len)] ^= (uint8_t)mf_rng_next(&rig->rng);
		if (n % 5 == 0)
			len = (uint16_t)mf_rng_below(&rig->rng, len);
		rig->ops->frame(rig->node[at], rig->now, frame, len);
	}
	cr_assert_gt(sum("drop_bad"), 0);
	run_for(MF_US(100));
	submit(2, MF_OP_WRITE_ACK, 3, 0, 3000, to[0]);
	run_for(MF_US(300));
	cr_assert_gt(succeeded(), 0);
	tear_down();
}

/* Whole fabrics */

static json_t *fabric(const char *stack, unsigned int count, const char *load, const char *duration,
		      bool by_block)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"seed\": 5, \"stack\": %s,"
		 " \"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"%s\"}},"
		 " \"nodes\": [{\"name\": \"b\", \"role\": \"both\", \"count\": %u}],"
		 " \"link\": {\"rate\": \"100G\"}, \"workload\": [%s]}",
		 stack, duration, count, load);
	return whole_run(text, by_block);
}

static void sound(const json_t *r)
{
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0);
	cr_assert_gt(whole_number(r, "operations.completed_all"), 0);
	cr_assert_eq(whole_number(r, "operations.completed_all"), whole_number(r, "operations.begun_all"));
	cr_assert_eq(whole_number(r, "bridge.counters.drop_buffer"), 0);
	cr_assert_eq(whole_number(r, "stack.counters.requests_again"), 0);
	cr_assert_eq(whole_number(r, "stack.counters.arbiter_put_back"), 0);
	cr_assert_eq(whole_number(r, "stack.counters.drop_slot"), 0);
}

Test(stack_fastpass, blocks_and_spans_are_the_same)
{
	static const char *const load =
		"{\"mix\": {\"read\": 3, \"write\": 2, \"write_ack\": 1, \"cas\": 1},"
		" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 9000}, \"depth\": 8}";
	static const char *const stack[] = {"\"fastpass\"", "{\"name\": \"fastpass\", \"batch\": 1}"};

	for (unsigned int i = 0; i < 2; i++) {
		json_t *a = fabric(stack[i], 6, load, "30us", false),
		       *b = fabric(stack[i], 6, load, "30us", true);
		json_t *c = fabric(stack[i], 6, load, "30us", false);

		sound(a);
		cr_assert(json_equal(a, b));
		cr_assert(json_equal(a, c));
		json_decref(a);
		json_decref(b);
		json_decref(c);
	}
}

Test(stack_fastpass, line_rate_alone)
{
	static const char *const kinds[] = {"read", "write"};
	double slots = 4194304 / 1448.0 * SLOT / 1000;

	for (unsigned int i = 0; i < 2; i++) {
		char load[256], path[128];
		json_t *r;

		snprintf(load, sizeof(load),
			 "{\"nodes\": \"b0\", \"targets\": \"b1\", \"mix\": {\"%s\": 1}, \"size\": 4194304,"
			 " \"span\": \"16MiB\", \"depth\": 1}",
			 kinds[i]);
		r = fabric("\"fastpass\"", 2, load, "1ms", false);
		sound(r);
		snprintf(path, sizeof(path), "operations.kinds.%s.latency.min_ns", kinds[i]);
		cr_assert_float_eq(whole_number(r, path), slots, 0.02 * slots, "%s: %f ns, %f of slots",
				   kinds[i], whole_number(r, path), slots);
		json_decref(r);
	}
}

/** Of short messages at a high rate the arbiter's link is full, and no other; of long ones the others are. */
Test(stack_fastpass, where_the_bottleneck_is)
{
	json_t *s = fabric("{\"name\": \"fastpass\", \"batch\": 1}", 32,
			   "{\"mix\": {\"write\": 1}, \"size\": 64, \"depth\": 32, \"span\": \"8KiB\"}",
			   "40us", false);
	json_t *l = fabric("{\"name\": \"fastpass\", \"batch\": 1}", 32,
			   "{\"mix\": {\"write\": 1}, \"size\": 16384, \"depth\": 8, \"span\": \"128KiB\"}",
			   "60us", false);
	double busiest = whole_number(s, "links.to_switch.utilisation_busiest"),
	       mean = whole_number(s, "links.to_switch.utilisation_mean");

	sound(s);
	sound(l);
	cr_assert_gt(busiest, 0.9, "%f", busiest);
	cr_assert_lt(mean, 0.4, "%f", mean);
	cr_assert_gt(whole_number(l, "links.to_switch.utilisation_mean"), 2 * mean);
	json_decref(s);
	json_decref(l);
}

/* Its node in the configuration */

static int parse(const char *text, struct mf_config *config, char *err)
{
	return mf_config_parse(text, strlen(text), "test", config, err, 256);
}

#define FILE_OF(nodes, more) "{\"stack\": \"fastpass\", \"nodes\": [" nodes "]" more "}"
#define BOTH(n) "{\"name\": \"b\", \"role\": \"both\", \"count\": " n "}"

Test(stack_fastpass, the_arbiter_is_added)
{
	struct mf_config config, again;
	char err[256] = "", *text;
	json_t *json;

	cr_assert_eq(parse(FILE_OF(BOTH("3"), ", \"link\": {\"rate\": \"25G\"}"), &config, err), 0, "%s",
		     err);
	cr_assert(config.slots == 4 && config.tier->server == 3 && config.nodes == 4);
	cr_assert_str_eq(config.node[3].name, "arbiter");
	cr_assert(config.node[3].link.period == 640 && config.node[0].link.period == 2560);
	cr_assert(!config.node[3].compute && !config.node[3].memory);
	json = mf_config_to_json(&config);
	text = json_dumps(json, 0);
	cr_assert_eq(parse(text, &again, err), 0, "%s\n%s", err, text);
	cr_assert(again.nodes == 4 && again.tier->server == 3 && again.node[3].link.period == 640);
	free(text);
	json_decref(json);
	mf_config_free(&config);
	mf_config_free(&again);

	cr_assert_eq(parse(FILE_OF(BOTH("2") ", {\"name\": \"a\", \"role\": \"server\"}",
				   ", \"links\": [{\"node\": \"a\", \"rate\": \"10G\", \"port\": 0},"
				   " {\"node\": \"*\"}]"),
			   &config, err),
		     0, "%s", err);
	cr_assert(config.tier->server == 0 && config.slots == 3 && config.node[0].link.period == 6400);
	mf_config_free(&config);
}

Test(stack_fastpass, as_many_ports_as_there_are)
{
	struct mf_config config;
	char err[256] = "";

	cr_assert_eq(parse(FILE_OF(BOTH("4095"), ""), &config, err), 0, "%s", err);
	cr_assert(config.slots == 4096 && config.tier->server == 4095);
	mf_config_free(&config);
	cr_assert_neq(parse(FILE_OF(BOTH("4096"), ""), &config, err), 0);
	cr_assert_neq(parse(FILE_OF(BOTH("3"), ", \"switch\": {\"ports\": 3}"), &config, err), 0);
	cr_assert_neq(parse(FILE_OF(BOTH("3") ", {\"name\": \"a\", \"role\": \"server\", \"count\": 2}", ""),
			    &config, err),
		      0);
	cr_assert_neq(
		parse("{\"nodes\": [" BOTH("3") ", {\"name\": \"a\", \"role\": \"server\"}]}", &config, err),
		0);
	cr_assert_neq(
		parse(FILE_OF(BOTH("3") ", {\"name\": \"arbiter\", \"role\": \"memory\"}", ""), &config, err),
		0);
}
