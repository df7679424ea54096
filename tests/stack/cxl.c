/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CXL.mem: nodes at a switch, in a rig that steps through time block by block, whose nodes can be kept from
 * sending and whose lines damage flits; and whole fabrics.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../fabric/whole.h"
#include "base/mf_rng.h"
#include "systems/cxl/cxl_link.h"
#include "systems/edm/host/mf_host.h"
#include "systems/frames/mf_bridge.h"
#include "systems/mf_systems.h"

#define NODES 4
#define PERIOD 640
#define MEMORY (1 << 16)
#define FLIGHTS 64

struct flight {
	mf_time at; /* when its last block is there */
	unsigned int n;
	uint64_t word[CXL_FLIT_WORDS];
};

struct line {
	struct flight flight[FLIGHTS];
	unsigned int head, tail;
	mf_time free;
};

struct rig {
	const struct mf_stack_ops *ops;
	const struct mf_bridge_ops *bridge_ops;
	struct mf_stack *node[NODES];
	struct mf_memory *memory[NODES];
	struct mf_bridge *bridge;
	struct line up[NODES], down[NODES];
	bool stuck[NODES]; /* sends nothing */
	double damage;
	struct mf_rng rng;
	uint64_t wants;
	mf_time now;
	struct mf_completion done[64];
	unsigned int completed;
};

static struct rig rig;

static void defaults(const struct mf_param *p, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		param[i] = p[i].value;
}

static void set_param(const struct mf_param *p, double *param, const char *key, double value)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		if (strcmp(p[i].key, key) == 0)
			param[i] = value;
}

static void set_up(double flit, double credits, mf_time timeout)
{
	static const char *const keys[] = {"credits_req", "credits_rwd", "credits_ndr", "credits_drs"};
	static const bool up[NODES] = {true, true, true, true};
	static const uint32_t period[NODES] = {PERIOD, PERIOD, PERIOD, PERIOD};
	static const mf_time delay[NODES] = {MF_NS(10), MF_NS(10), MF_NS(10), MF_NS(10)};
	double param[2][MF_PARAMS_MAX];
	struct mf_stack_config c = {.nodes = NODES,
				    .compute = true,
				    .memory_ops = &mf_memory_flat,
				    .queue = 64,
				    .read_timeout = timeout,
				    .write_timeout = timeout,
				    .period = PERIOD,
				    .param = param[0]};
	struct mf_bridge_config b = {
		.ports = NODES, .up = up, .period = period, .delay = delay, .param = param[1]};
	const struct mf_memory_config m = {.size = MEMORY, .numa_node = -1, .dram = MF_NS(82)};

	memset(&rig, 0, sizeof(rig));
	mf_rng_init(&rig.rng, 1, "rig", 0);
	rig.ops = mf_stack_find("cxl");
	rig.bridge_ops = mf_bridge_find("cxl");
	defaults(rig.ops->params, param[0]);
	defaults(rig.bridge_ops->params, param[1]);
	for (unsigned int i = 0; i < 4; i++) {
		set_param(rig.ops->params, param[0], keys[i], credits);
		set_param(rig.bridge_ops->params, param[1], keys[i], credits);
	}
	set_param(rig.ops->params, param[0], "flit", flit);
	set_param(rig.bridge_ops->params, param[1], "flit", flit);
	b.wants = &rig.wants;
	rig.bridge = rig.bridge_ops->create(&b);
	cr_assert_not_null(rig.bridge);
	for (uint16_t i = 0; i < NODES; i++) {
		rig.memory[i] = mf_memory_flat.create(&m);
		c.node = i;
		c.memory = rig.memory[i];
		rig.node[i] = rig.ops->create(&c);
		cr_assert_not_null(rig.node[i]);
	}
}

static void tear_down(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		rig.ops->destroy(rig.node[i]);
		mf_memory_flat.destroy(rig.memory[i]);
	}
	rig.bridge_ops->destroy(rig.bridge);
}

static struct flight *place(struct line *l)
{
	cr_assert_lt(l->tail - l->head, FLIGHTS);
	return &l->flight[l->tail % FLIGHTS];
}

static void sent(struct line *l, unsigned int n)
{
	struct flight *f = place(l);

	if (n == 0)
		return;
	f->n = n;
	f->at = rig.now + MF_NS(10) + (n - 1) * PERIOD;
	l->free = rig.now + n * PERIOD;
	if (mf_rng_double(&rig.rng) < rig.damage)
		f->word[1 + mf_rng_below(&rig.rng, n - 3)] ^= UINT64_C(1) << mf_rng_below(&rig.rng, 64);
	l->tail++;
}

static struct flight *arrived(struct line *l)
{
	struct flight *f = &l->flight[l->head % FLIGHTS];

	if (l->head == l->tail || f->at > rig.now)
		return NULL;
	l->head++;
	return f;
}

static void step(void)
{
	struct flight *f;

	for (uint16_t i = 0; i < NODES; i++) {
		while ((f = arrived(&rig.up[i])) != NULL)
			rig.bridge_ops->message(rig.bridge, i, f->at, f->word, f->n);
		while ((f = arrived(&rig.down[i])) != NULL)
			rig.ops->message(rig.node[i], f->at, f->word, f->n);
	}
	rig.bridge_ops->run(rig.bridge, rig.now);
	for (uint16_t i = 0; i < NODES; i++) {
		rig.ops->run(rig.node[i], rig.now);
		if (!rig.stuck[i] && rig.up[i].free <= rig.now && rig.ops->ready(rig.node[i]) <= rig.now)
			sent(&rig.up[i],
			     rig.ops->pull_message(rig.node[i], rig.now, place(&rig.up[i])->word));
		if (rig.down[i].free <= rig.now)
			sent(&rig.down[i],
			     rig.bridge_ops->pull_message(rig.bridge, i, rig.now, place(&rig.down[i])->word));
		rig.completed += rig.ops->completions(rig.node[i], rig.now, rig.done + rig.completed,
						      64 - rig.completed);
	}
	rig.now += PERIOD;
}

static void run_for(mf_time time)
{
	for (mf_time end = rig.now + time; rig.now < end;)
		step();
}

static void submit(uint16_t from, uint8_t kind, uint16_t to, uint64_t addr, uint64_t len, void *buf,
		   uint64_t user)
{
	const struct mf_op op = {
		.kind = kind, .node = to, .addr = addr, .len = len, .buf = buf, .user = user};

	cr_assert_eq(rig.ops->submit(rig.node[from], rig.now, &op), 0);
}

static const struct mf_completion *done(uint64_t user)
{
	for (unsigned int i = 0; i < rig.completed; i++)
		if (rig.done[i].user == user)
			return &rig.done[i];
	return NULL;
}

/** -1: not yet. */
static int status(uint64_t user)
{
	const struct mf_completion *c = done(user);

	return c != NULL ? c->status : -1;
}

static uint64_t result(uint64_t user)
{
	const struct mf_completion *c = done(user);

	return c != NULL ? c->result : UINT64_MAX;
}

static uint64_t counter(unsigned int n, const struct mf_counter *c, const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert(false, "no counter %s", name);
	return 0;
}

static uint64_t of_bridge(const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return counter(rig.bridge_ops->counters(rig.bridge, c), c, name);
}

static uint64_t of_node(unsigned int i, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return counter(rig.ops->counters(rig.node[i], c), c, name);
}

/** Nothing is sent without a credit, at any end; checked by the receivers. */
static void no_credit_missing(void)
{
	cr_assert_eq(of_bridge("drop_credit"), 0);
	for (unsigned int i = 0; i < NODES; i++)
		cr_assert_eq(of_node(i, "drop_credit"), 0);
}

/** Octets of any place and length are written and read back. */
static void moves(double flit, double credits, double damage)
{
	static uint8_t to[8][4000], back[8][4000];
	struct mf_rng rng;

	set_up(flit, credits, 0);
	rig.damage = damage;
	mf_rng_init(&rng, (uint64_t)credits, "moves", 0);
	for (unsigned int round = 0; round < 3; round++) {
		uint64_t len[8];

		rig.completed = 0;
		for (unsigned int i = 0; i < 8; i++) {
			len[i] = 1 + mf_rng_below(&rng, round == 0 ? 130 : 4000);
			for (unsigned int k = 0; k < len[i]; k++)
				to[i][k] = (uint8_t)mf_rng_next(&rng);
			submit((uint16_t)(i % 3), MF_OP_WRITE, 3, i * 5000 + i, len[i], to[i], i);
		}
		run_for(MF_US(300));
		cr_assert_eq(rig.completed, 8, "%u", rig.completed);
		rig.completed = 0;
		for (unsigned int i = 0; i < 8; i++)
			submit((uint16_t)((i + 1) % 3), MF_OP_READ, 3, i * 5000 + i, len[i], back[i],
			       100 + i);
		run_for(MF_US(300));
		cr_assert_eq(rig.completed, 8, "%u", rig.completed);
		for (unsigned int i = 0; i < 8; i++) {
			cr_assert_eq(status(100 + i), MF_OK);
			cr_assert_arr_eq(to[i], back[i], len[i]);
		}
	}
	no_credit_missing();
	cr_assert(damage == 0 || (of_bridge("drop_crc") != 0 && of_bridge("replayed") != 0));
	cr_assert(damage != 0 || (of_bridge("replayed") == 0 && of_node(0, "replayed") == 0));
	tear_down();
}

Test(stack_cxl, moves_octets)
{
	moves(68, 64, 0);
	moves(256, 64, 0);
	moves(68, 1, 0);
	moves(256, 3, 0);
}

Test(stack_cxl, damage_is_repaired)
{
	moves(68, 64, 0.03);
	moves(256, 64, 0.03);
	moves(68, 1, 0.03);
}

/**
 * Node 1 takes nothing: what node 0 has for it fills the buffers on the way. Then node 0's write to node 2,
 * whose port is idle, waits behind; node 3's does not. With a queue for each egress neither would.
 */
Test(stack_cxl, head_of_line)
{
	static uint8_t data[8192];

	set_up(68, 8, 0);
	run_for(MF_US(1));
	rig.stuck[1] = true;
	submit(0, MF_OP_WRITE, 1, 0, sizeof(data), data, 1);
	run_for(MF_US(5));
	submit(0, MF_OP_WRITE, 2, 0, 64, data, 2);
	submit(3, MF_OP_WRITE, 2, 64, 64, data, 3);
	run_for(MF_US(20));
	cr_assert_null(done(1));
	cr_assert_null(done(2), "not held up");
	cr_assert_not_null(done(3));
	cr_assert_gt(of_bridge("held_back"), 0);
	no_credit_missing();
	rig.stuck[1] = false;
	run_for(MF_US(30));
	cr_assert_eq(status(1), MF_OK);
	cr_assert_eq(status(2), MF_OK);
	tear_down();
}

/** Responses pass requests that are held up: their virtual channel is their own. */
Test(stack_cxl, responses_pass)
{
	static uint8_t data[8192], back[64];

	set_up(68, 4, 0);
	run_for(MF_US(1));
	rig.stuck[1] = true;
	submit(0, MF_OP_WRITE, 1, 0, sizeof(data), data, 1);
	run_for(MF_US(5));
	submit(2, MF_OP_READ, 0, 0, 64, back, 2); /* its answer goes the way of the held up writes */
	run_for(MF_US(5));
	cr_assert_null(done(1));
	cr_assert_eq(status(2), MF_OK);
	tear_down();
}

/** What is never answered fails in its time, and nothing of it is left in the way. */
Test(stack_cxl, ends_in_its_time)
{
	static uint8_t data[8192], back[8192];

	set_up(68, 4, MF_US(10));
	rig.stuck[1] = true;
	submit(0, MF_OP_WRITE, 1, 0, sizeof(data), data, 1);
	submit(0, MF_OP_READ, 1, 0, sizeof(back), back, 2);
	run_for(MF_US(11));
	cr_assert_eq(status(1), MF_ERR_UNKNOWN);
	cr_assert_eq(status(2), MF_ERR_TIMEOUT);
	rig.stuck[1] = false;
	run_for(MF_US(10));
	submit(0, MF_OP_READ, 1, 0, 64, back, 3);
	run_for(MF_US(5));
	cr_assert_eq(status(3), MF_OK);
	cr_assert_gt(of_node(0, "drop_unknown"), 0);
	tear_down();
}

Test(stack_cxl, refusals_and_atomics)
{
	static uint8_t data[128];
	struct mf_op cas = {
		.kind = MF_OP_RMW, .rmw = MF_RMW_CAS, .node = 1, .addr = 8, .arg = {0, 77}, .user = 4};

	set_up(68, 64, 0);
	submit(0, MF_OP_READ, 1, MEMORY - 64, 128, data, 1);
	submit(0, MF_OP_WRITE, 1, MEMORY - 1, 2, data, 2);
	submit(0, MF_OP_WRITE, 1, MEMORY - 1, 1, data, 3);
	cr_assert_eq(rig.ops->submit(rig.node[0], rig.now, &cas), 0);
	run_for(MF_US(3));
	cas.user = 5;
	cr_assert_eq(rig.ops->submit(rig.node[2], rig.now, &cas), 0);
	cas.user = 6;
	cas.addr = 12;
	cr_assert_eq(rig.ops->submit(rig.node[2], rig.now, &cas), 0);
	run_for(MF_US(3));
	cr_assert_eq(status(1), MF_ERR_RANGE);
	cr_assert_eq(status(2), MF_ERR_RANGE);
	cr_assert_eq(status(3), MF_OK);
	cr_assert(status(4) == MF_OK && result(4) == 0);
	cr_assert(status(5) == MF_OK && result(5) == 77);
	cr_assert_eq(status(6), MF_ERR_ALIGN);
	tear_down();
}

/** Sound flits with messages of chance: to nowhere, from others, answers that nobody asked for. */
Test(stack_cxl, garbage)
{
	uint64_t word[CXL_FLIT_WORDS];
	union cxl_flit f;

	set_up(68, 64, 0);
	run_for(MF_US(1));
	for (unsigned int n = 0; n < 4000; n++) {
		for (unsigned int i = 0; i < CXL_FLIT_WORDS; i++)
			f.word[i] = mf_rng_next(&rig.rng);
		cxl_put_id(&f, CXL_PROTOCOL, n / 2);
		for (unsigned int i = 0; i < 4; i++) { /* node numbers that are, or nearly */
			uint8_t *slot = cxl_slot(&f, i) + (i == 0 ? CXL_LINK_HEADER : 0);

			slot[3] &= 7;
			slot[4] &= 0x70;
			slot[5] = 0;
		}
		cxl_seal(&cxl_format_68, &f);
		cxl_to_blocks(&cxl_format_68, &f, word);
		if (n % 2)
			rig.bridge_ops->message(rig.bridge, 0, rig.now, word, 9);
		else
			rig.ops->message(rig.node[1], rig.now, word, 9);
		run_for(MF_NS(20));
	}
	cr_assert_gt(of_bridge("drop_destination"), 0);
	cr_assert_gt(of_bridge("drop_source"), 0);
	cr_assert_gt(of_node(1, "drop_bad"), 0);
	tear_down();
}

/* Whole fabrics */

static json_t *fabric(const char *stack, const char *nodes, const char *load, const char *duration,
		      bool by_block)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"seed\": 5, \"stack\": %s,"
		 " \"clock\": {\"virtual\": {\"warmup\": \"5us\", \"duration\": \"%s\"}},"
		 " \"nodes\": [%s], \"link\": {\"rate\": \"100G\"}, \"workload\": [%s]}",
		 stack, duration, nodes, load);
	return whole_run(text, by_block);
}

static void sound(const json_t *r)
{
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0);
	cr_assert_gt(whole_number(r, "operations.completed_all"), 0);
	cr_assert_eq(whole_number(r, "operations.completed_all"), whole_number(r, "operations.begun_all"));
	cr_assert_eq(whole_number(r, "stack.counters.drop_credit"), 0);
	cr_assert_eq(whole_number(r, "bridge.counters.drop_credit"), 0);
	cr_assert_eq(whole_number(r, "stack.counters.replayed"), 0);
	cr_assert_eq(whole_number(r, "bridge.counters.replayed"), 0);
}

#define BOTH "{\"name\": \"b\", \"role\": \"both\", \"count\": 6}"
#define MIX                                                                    \
	"{\"mix\": {\"read\": 3, \"write\": 2, \"write_ack\": 1, \"cas\": 1}," \
	" \"size\": {\"dist\": \"uniform\", \"min\": 1, \"max\": 2000}, \"depth\": 8}"

/** The same result block by block, and again. */
Test(stack_cxl, blocks_and_spans_are_the_same)
{
	static const char *const stack[] = {
		"\"cxl\"", "{\"name\": \"cxl\", \"flit\": 256}",
		("{\"name\": \"cxl\", \"credits_req\": 1, \"credits_rwd\": 1,"
		 " \"credits_ndr\": 1, \"credits_drs\": 1}"),
		"{\"name\": \"cxl\", \"depth\": 2, \"tags\": 5, \"tell_delay\": \"0\"}"};

	for (unsigned int i = 0; i < 4; i++) {
		json_t *a = fabric(stack[i], BOTH, MIX, "20us", false);
		json_t *b = fabric(stack[i], BOTH, MIX, "20us", true);
		json_t *c = fabric(stack[i], BOTH, MIX, "20us", false);

		sound(a);
		cr_assert(json_equal(a, b), "%s: block by block differs", stack[i]);
		cr_assert(json_equal(a, c));
		cr_assert(i != 3 || whole_number(a, "stack.counters.waited_depth") > 0);
		json_decref(a);
		json_decref(b);
		json_decref(c);
	}
}

#define PAIR "{\"name\": \"c\", \"role\": \"compute\"}, {\"name\": \"m\", \"role\": \"memory\"}"

/** Alone, a long operation has the line but for the slots of headers and the flits' own octets. */
static void line_rate(const char *stack, const char *kind, double blocks, double slots_flit,
		      double slots_line)
{
	char load[256], path[128];
	double rate;
	json_t *r;

	snprintf(load, sizeof(load),
		 "{\"mix\": {\"%s\": 1}, \"size\": 1048576, \"span\": \"16MiB\", \"depth\": 1}", kind);
	r = fabric(stack, PAIR, load, "400us", false);
	sound(r);
	snprintf(path, sizeof(path), "operations.kinds.%s.latency.min_ns", kind);
	rate = 1048576 * 8 / whole_number(r, path);
	cr_assert_float_eq(rate, 64 * 8 / (slots_line / slots_flit * blocks * 0.64), 0.01 * rate, "%s %s: %f",
			   stack, kind, rate);
	json_decref(r);
}

Test(stack_cxl, line_rate_alone)
{
	line_rate("\"cxl\"", "read", 9, 4, 4.5);
	line_rate("\"cxl\"", "write", 9, 4, 5);
	line_rate("{\"name\": \"cxl\", \"flit\": 256}", "read", 33, 15, 4.5);
	line_rate("{\"name\": \"cxl\", \"flit\": 256}", "write", 33, 15, 5);
}

/** The victim writes now and then to three nodes in turn; two of them have no other load. */
static double victim(const char *others)
{
	char load[1024];
	double p50;
	json_t *r;

	snprintf(load, sizeof(load),
		 "{\"nodes\": \"v\", \"targets\": [\"m0\", \"m1\", \"m2\"], \"mix\": {\"write_ack\": 1},"
		 " \"size\": 1024,"
		 " \"pattern\": \"all-to-all\", \"loop\": \"open\", \"rate\": 2000000, \"depth\": 64}%s",
		 others);
	r = fabric("\"cxl\"",
		   "{\"name\": \"v\", \"role\": \"compute\"},"
		   "{\"name\": \"c\", \"role\": \"compute\", \"count\": 8},"
		   "{\"name\": \"m\", \"role\": \"memory\", \"count\": 3}",
		   load, "100us", false);
	sound(r);
	p50 = whole_number(r, "operations.kinds.write_ack.latency.p50_ns");
	json_decref(r);
	return p50;
}

/** An incast to one memory node slows down what goes to the others, by the ingress that they share. */
Test(stack_cxl, an_incast_has_victims)
{
	double alone = victim("");
	double beside =
		victim(", {\"nodes\": \"c\", \"targets\": \"m0\", \"mix\": {\"write\": 1}, \"size\": 4096,"
		       " \"depth\": 8}");
	double elsewhere =
		victim(", {\"nodes\": \"c\", \"targets\": \"m0\", \"mix\": {\"write\": 1}, \"size\": 64,"
		       " \"depth\": 1}");

	cr_assert_gt(beside, 3 * alone, "%f ns, alone %f ns", beside, alone);
	cr_assert_lt(elsewhere, 1.2 * alone, "%f ns, alone %f ns", elsewhere, alone);
}
