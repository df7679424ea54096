/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers run from the submission of an operation: it ends in its time, whatever it waits for (EDM 3.3), and
 * ids that rest hold up nobody whose uses tell what comes late (D10).
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alone.h"
#include "script.h"

#define READ_TIMEOUT MF_US(20)
#define WRITE_TIMEOUT MF_US(30)

static void config(struct net_config *nc)
{
	net_config_default(nc);
	nc->host.read_timeout = READ_TIMEOUT;
	nc->host.write_timeout = WRITE_TIMEOUT;
	nc->host.queue = 2048;
}

static mf_time time_of(uint8_t kind)
{
	return kind == MF_OP_READ || kind == MF_OP_RMW ? READ_TIMEOUT : WRITE_TIMEOUT;
}

/** Submits so many, one each step. */
static void submit(struct script *s, struct mf_op *op, unsigned int count, mf_time step)
{
	for (unsigned int i = 0; i < count; i++) {
		op->user = s->count + i;
		cr_assert_eq(script_op(s, 0, op), 0);
		s->net->now += step;
	}
}

/** What was submitted has failed, in its time; of it so many have begun, and the rest has not happened. */
static void expect_failed(const struct script *s, unsigned int from, unsigned int count, unsigned int begun)
{
	unsigned int untouched = 0;

	cr_assert_eq(s->count, from + count, "%u", s->count);
	for (unsigned int i = from; i < s->count; i++) {
		const struct mf_completion *c = &s->done[i];

		cr_assert_eq(c->done - c->submitted, time_of(c->kind), "%u: %lu", i, c->done - c->submitted);
		cr_assert_eq(c->len, 0);
		untouched += c->status == MF_ERR_TIMEOUT;
		cr_assert(c->status == MF_ERR_TIMEOUT ||
			  (c->status == MF_ERR_UNKNOWN && c->kind != MF_OP_READ));
	}
	if (s->done[from].kind != MF_OP_READ) /* one that has begun has read nothing, too */
		cr_assert_eq(untouched, count - begun);
}

static uint64_t begun(const struct script *s)
{
	const struct mf_host_stats *st = mf_host_stats(s->net->host[0]);

	return st->tx[MF_RREQ] + st->tx[MF_NOTIFY] + st->tx[MF_RMWREQ];
}

static void dead_node(uint8_t kind, mf_time step)
{
	static const uint8_t request[MF_OPS] = {MF_RREQ, MF_NOTIFY, MF_NOTIFY, MF_RMWREQ};
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = kind, .rmw = MF_RMW_SWAP, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	s = script_new(&nc);
	s->kind = request[kind];
	s->fate = NET_DROP;
	submit(s, &op, 1000, step);
	net_run(s->net, MF_SEC(1));
	expect_failed(s, 0, 1000, (unsigned int)begun(s));
	cr_assert_geq(begun(s), nc.host.x);
	if (step == 0)
		cr_assert_eq(begun(s), nc.host.x, "none begins when its time is over");
	cr_assert_eq(mf_host_outstanding(s->net->host[0]), 0);
	s->kind = MF_KIND_NONE;
	s->net->now = MF_SEC(2);
	cr_assert_eq(script_do(s, 0, &op).status, MF_OK, "it lives again");
	script_free(s);
}

/** A node that is dead: X of each sort are asked for, and all end in their time. */
Test(host_timers, dead_node)
{
	for (uint8_t kind = 0; kind < MF_OP_CALL; kind++) {
		dead_node(kind, 0);
		dead_node(kind, MF_NS(1));
	}
}

/** The same under the wall clock: they end when they are looked at. */
Test(host_timers, dead_node_under_the_wall_clock)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	memset(&nc.host.timing, 0, sizeof(nc.host.timing));
	nc.host.mux.period = 0;
	s = script_new(&nc);
	s->kind = MF_RREQ;
	s->fate = NET_DROP;
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 1000);
	cr_assert_eq(begun(s), nc.host.x, "%lu", begun(s));
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(s->done[i].done - s->done[i].submitted, READ_TIMEOUT);
	script_free(s);
}

/** All ids rest: what waits for one ends in its time, too. */
Test(host_timers, ids_run_out)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.x = 128;
	nc.host.quarantine = MF_MS(100);
	s = script_new(&nc);
	s->kind = MF_RREQ;
	s->fate = NET_DROP;
	for (unsigned int round = 0; round < 4; round++) {
		submit(s, &op, 200, 0);
		net_run(s->net, s->net->now + 2 * READ_TIMEOUT);
		expect_failed(s, round * 200, 200, 0);
		cr_assert_eq(begun(s), round == 0 ? 128 : 256);
	}
	script_free(s);
}

/** Reads wait behind writes that have more time, and the other way round: each ends in its own. */
Test(host_timers, the_shorter_one_is_behind)
{
	uint8_t buf[64] = {0};
	struct mf_op op[2] = {{.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf},
			      {.kind = MF_OP_WRITE_ACK, .node = 1, .len = 64, .buf = buf}};

	for (unsigned int first = 0; first < 2; first++) {
		struct net_config nc;
		struct script *s;

		config(&nc);
		nc.host.x = 1;
		s = script_new(&nc);
		s->kind = MF_NOTIFY;
		s->fate = NET_DROP;
		for (unsigned int i = 0; i < 9; i++)
			submit(s, &op[(first + i) % 2], 1, MF_NS(1));
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(s->count, 9);
		for (unsigned int i = 0; i < 9; i++) {
			const struct mf_completion *c = &s->done[i];

			if (c->status != MF_OK)
				cr_assert_eq(c->done - c->submitted, time_of(c->kind));
			cr_assert(i == 0 || c->done >= s->done[i - 1].done);
		}
		s->kind = MF_KIND_NONE;
		cr_assert_eq(script_do(s, 0, &op[0]).status, MF_OK);
		script_free(s);
	}
}

/** Nothing takes what the host sends: what finds no room ends in its time. */
Test(host_timers, no_room)
{
	static struct mf_completion done[16];
	struct mf_host_config c = alone_config(0, 256);
	uint8_t buf[64];
	struct mf_host *h;
	unsigned int n;

	c.compute = true;
	c.proto.ext = false;
	c.x = 128;
	c.mux.memory_items = 8;
	c.read_timeout = READ_TIMEOUT;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	for (unsigned int i = 0; i < 16; i++) {
		struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf, .user = i};

		cr_assert_eq(mf_host_submit(h, MF_NS(i), &op), 0);
	}
	cr_assert_eq(mf_host_submit(h, MF_NS(16), &(struct mf_op){.node = 1, .len = 64, .buf = buf}),
		     -EAGAIN);
	cr_assert_gt(mf_host_stats(h)->stalls, 0);
	mf_host_run(h, READ_TIMEOUT - 1);
	cr_assert_eq(mf_host_completions(h, READ_TIMEOUT - 1, done, 16), 0);
	for (unsigned int i = 0; i < 16; i++) {
		cr_assert_leq(mf_host_next(h), READ_TIMEOUT + MF_NS(i));
		mf_host_run(h, READ_TIMEOUT + MF_NS(i));
		n = mf_host_completions(h, READ_TIMEOUT + MF_NS(i), done, 16);
		cr_assert_eq(n, 1);
		cr_assert_eq(done[0].user, i);
		cr_assert_eq(done[0].status, MF_ERR_TIMEOUT);
	}
	cr_assert_eq(mf_host_outstanding(h), 0);
	mf_host_free(h);
}

/** A key that nobody gives: who asks for it ends in its time, and the next one asks again. */
Test(host_timers, no_key)
{
	static const struct mf_host_region region[] = {{.at = 0, .size = 4096, .node = 1}};
	static struct mf_completion done[16];
	struct mf_host_config c = alone_config(0, 256);
	uint8_t buf[64];
	struct mf_host *h;

	c.compute = true;
	c.read_timeout = READ_TIMEOUT;
	c.write_timeout = WRITE_TIMEOUT;
	c.region = region;
	c.regions = 1;
	h = mf_host_new(&c);
	cr_assert_not_null(h);
	for (unsigned int i = 0; i < 8; i++) {
		struct mf_op op = {.kind = i % 2 ? MF_OP_WRITE_ACK : MF_OP_READ,
				   .node = 1,
				   .len = 64,
				   .buf = buf,
				   .user = i};

		cr_assert_eq(mf_host_submit(h, MF_US(i), &op), 0);
	}
	for (mf_time now = MF_US(8); now < MF_US(80); now += MF_NS(100)) {
		unsigned int n;

		mf_host_run(h, now);
		n = mf_host_completions(h, now, done, 16);
		for (unsigned int i = 0; i < n; i++) {
			cr_assert_eq(done[i].done - done[i].submitted, time_of(done[i].kind));
			cr_assert_eq(done[i].status, MF_ERR_TIMEOUT, "nothing of it was sent");
		}
	}
	cr_assert_eq(mf_host_outstanding(h), 0);
	cr_assert_gt(mf_host_stats(h)->attaches, 1);
	cr_assert_eq(mf_host_stats(h)->tx[MF_RREQ] + mf_host_stats(h)->tx[MF_NOTIFY], 0);
	mf_host_free(h);
}

/** With retries the times of all sendings come to it, for what waits, too. */
Test(host_timers, retries)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.proto.ext = true;
	nc.host.retries = 3;
	nc.host.retry_timeout = MF_US(5);
	nc.host.x = 1;
	s = script_new(&nc);
	s->kind = MF_RREQ;
	s->fate = NET_DROP;
	submit(s, &op, 10, 0);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 10);
	cr_assert_eq(begun(s), 4);
	for (int i = 0; i < 10; i++)
		cr_assert_eq(s->done[i].done - s->done[i].submitted, READ_TIMEOUT + 3 * MF_US(5));
	script_free(s);
}

/** A transfer that is cut has the time again with each piece. */
Test(host_timers, long_transfers)
{
	uint32_t len = 10 * MF_MESSAGE_MAX;
	uint8_t *buf = calloc(1, len);

	for (uint8_t kind = MF_OP_READ; kind <= MF_OP_WRITE_ACK; kind++) {
		struct mf_op op = {.kind = kind, .node = 1, .len = len, .buf = buf};
		struct net_config nc;
		struct mf_completion c;
		struct script *s;

		config(&nc);
		nc.host.x = 1;
		nc.host.read_timeout = nc.host.write_timeout = MF_US(60); /* a piece takes 22 us at least */
		s = script_new(&nc);
		c = script_do(s, 0, &op);
		cr_assert_eq(c.status, MF_OK);
		cr_assert_gt(c.done - c.submitted, 2 * nc.host.read_timeout);
		s->kind = kind == MF_OP_READ ? MF_RREQ : MF_NOTIFY;
		s->fate = NET_DROP;
		c = script_do(s, 0, &op);
		cr_assert_eq(c.done - c.submitted, nc.host.read_timeout);
		script_free(s);
	}
	free(buf);
}

/**
 * Where uses are told apart an id that rests holds up nobody: reads, whose ids all rest, go on as soon as the
 * node answers again; what comes late for the uses before is no answer.
 */
Test(host_timers, other_uses_of_ids_that_rest)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
	const struct mf_host_stats *st;
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.proto.ext = true;
	nc.host.x = 64;
	nc.host.quarantine = MF_SEC(10);
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[0]);
	s->kind = MF_RREQ;
	s->fate = NET_DROP;
	for (unsigned int round = 0; round < 8; round++) {
		submit(s, &op, 64, 0);
		net_run(s->net, s->net->now + 2 * READ_TIMEOUT);
		cr_assert_eq(begun(s), (round + 1) * 64, "the node is asked all the same");
	}
	s->kind = MF_KIND_NONE;
	for (uint8_t kind = 0; kind < MF_OP_CALL; kind++) {
		uint64_t rests = st->quarantined;

		op.kind = kind;
		op.rmw = MF_RMW_SWAP;
		for (int i = 0; i < 300; i++)
			cr_assert_eq(script_do(s, 0, &op).status, MF_OK, "kind %u", kind);
		cr_assert_eq(st->quarantined, rests + 300, "and its id goes on resting");
	}
	script_free(s);
}

/** After writes that have failed /G/ may come, which say no use: their ids are taken a tenth of the time
 * later. */
Test(host_timers, ids_of_writes_rest_first)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE_ACK, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.proto.ext = true;
	nc.host.x = 128;
	nc.host.write_timeout = MF_US(80);
	nc.host.quarantine = 10 * MF_US(100);
	s = script_new(&nc);
	s->kind = MF_NOTIFY;
	s->fate = NET_DROP;
	for (unsigned int round = 0; round < 2; round++) {
		submit(s, &op, 128, 0);
		net_run(s->net, s->net->now + MF_US(80));
	}
	cr_assert_eq(begun(s), 256);
	s->kind = MF_KIND_NONE;
	submit(s, &op, 1, 0);
	net_run(s->net, s->net->now + MF_US(1));
	cr_assert_eq(s->count, 256, "no id");
	net_run(s->net, s->net->now + MF_US(100));
	cr_assert_eq(s->count, 257);
	cr_assert_eq(s->done[256].status, MF_OK);
	script_free(s);
}
