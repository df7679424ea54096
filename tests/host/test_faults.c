/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers, quarantine, refusals and lost messages. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "script.h"

#define READ_TIMEOUT (8000 * NET_PERIOD)
#define WRITE_TIMEOUT (12000 * NET_PERIOD)
#define QUARANTINE (160000 * NET_PERIOD)

static void config(struct net_config *nc)
{
	net_config_default(nc);
	nc->host.read_timeout = READ_TIMEOUT;
	nc->host.write_timeout = WRITE_TIMEOUT;
	nc->host.quarantine = QUARANTINE;
}

/** Each kind of operation, each kind of message of it lost. */
Test(host_faults, every_loss_ends_in_its_timer)
{
	static const struct {
		uint8_t op, lost, status;
		mf_time timeout;
	} loss[] = {{MF_OP_READ, MF_RREQ, MF_ERR_TIMEOUT, READ_TIMEOUT},
		    {MF_OP_READ, MF_RRES, MF_ERR_TIMEOUT, READ_TIMEOUT},
		    {MF_OP_RMW, MF_RMWREQ, MF_ERR_UNKNOWN, READ_TIMEOUT},
		    {MF_OP_RMW, MF_RRES, MF_ERR_UNKNOWN, READ_TIMEOUT},
		    {MF_OP_WRITE, MF_NOTIFY, MF_ERR_UNKNOWN, WRITE_TIMEOUT},
		    {MF_OP_WRITE_ACK, MF_NOTIFY, MF_ERR_UNKNOWN, WRITE_TIMEOUT},
		    {MF_OP_WRITE_ACK, MF_WREQ_ACK, MF_ERR_UNKNOWN, WRITE_TIMEOUT},
		    {MF_OP_WRITE_ACK, MF_ACK, MF_ERR_UNKNOWN, WRITE_TIMEOUT}};
	uint8_t buf[600] = {0};

	for (size_t i = 0; i < sizeof(loss) / sizeof(*loss); i++) {
		struct mf_op op = {.kind = loss[i].op, .node = 1, .addr = 64, .len = sizeof(buf), .buf = buf};
		struct mf_completion c;
		struct net_config nc;
		struct script *s;

		config(&nc);
		s = script_new(&nc);
		s->kind = loss[i].lost;
		s->fate = NET_DROP;
		c = script_do(s, 0, &op);
		cr_assert_eq(c.status, loss[i].status, "loss %zu: %s", i, mf_status_name(c.status));
		cr_assert_eq(c.len, 0);
		cr_assert_eq(c.done, c.submitted + loss[i].timeout);
		cr_assert_eq(mf_host_stats(s->net->host[0])->timeouts, 1);
		cr_assert_eq(mf_host_stats(s->net->host[0])->quarantined, 1);
		cr_assert_eq(mf_host_outstanding(s->net->host[0]), 0);
		cr_assert_geq(s->net->now, c.done + QUARANTINE, "the quarantine ended at %lu", s->net->now);
		/* The fabric is as good as before. */
		s->kind = MF_KIND_NONE;
		cr_assert_eq(script_do(s, 0, &op).status, MF_OK);
		script_free(s);
	}
}

static void scribble(struct script *s, const struct mf_completion *c)
{
	(void)s;
	memset((void *)(uintptr_t)c->user, 0x77, 600);
}

static uint8_t last_id(struct script *s)
{
	const struct net_pair *p = s->net->pair[0][1];

	return p->demand[(p->tail - 1) % NET_PAIR_DEMANDS].m.id;
}

/** What comes after the timer is not written, and its end ends the quarantine. */
Test(host_faults, late_response_touches_nothing)
{
	for (int mode = 0; mode < 2; mode++) {
		uint8_t buf[600], other[8];
		struct mf_op late = {
			.kind = MF_OP_READ, .node = 1, .len = 600, .buf = buf, .user = (uintptr_t)buf};
		struct mf_op next = {.kind = MF_OP_READ, .node = 1, .len = 8, .buf = other};
		struct net_config nc;
		struct script *s;

		config(&nc);
		nc.block_mode = mode;
		s = script_new(&nc);
		s->kind = MF_RRES;
		s->fate = MF_US(50);
		s->on_completion = scribble;
		cr_assert_eq(script_op(s, 0, &late), 0);
		net_run(s->net, READ_TIMEOUT + MF_US(5));
		cr_assert_eq(s->count, 1);
		cr_assert_eq(s->done[0].status, MF_ERR_TIMEOUT);
		cr_assert_eq(s->done[0].done, READ_TIMEOUT);
		s->on_completion = NULL;
		s->kind = MF_KIND_NONE;
		cr_assert_eq(script_op(s, 0, &next), 0);
		cr_assert_eq(last_id(s), 0, "not at the switch yet");
		net_run(s->net, MF_US(100));
		cr_assert_eq(last_id(s), 1, "the id of the late one rests");
		for (size_t i = 0; i < sizeof(buf); i++)
			cr_assert_eq(buf[i], 0x77);
		cr_assert_gt(mf_host_stats(s->net->host[0])->drop_unknown, 0);
		cr_assert_lt(s->net->now, QUARANTINE);
		script_do(s, 0, &next);
		cr_assert_eq(last_id(s), 0, "the late one is over");
		script_free(s);
	}
}

Test(host_faults, refusals)
{
	static const struct {
		struct mf_op op;
		uint8_t status;
		bool err; /**< an ERR is sent */
	} bad[] = {
		{{.kind = MF_OP_READ, .addr = 1 << 20, .len = 1}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_READ, .addr = (1 << 20) - 5000, .len = 5001}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_READ, .addr = MF_ADDR_MAX, .len = 1}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_READ, .addr = 0, .len = (1 << 20) + 1}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_RMW, .addr = 12}, MF_ERR_ALIGN, true},
		{{.kind = MF_OP_RMW, .addr = 1 << 20}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_WRITE_ACK, .addr = 1 << 20, .len = 100}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_WRITE_ACK, .addr = 1 << 20, .len = 3000}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_WRITE_ACK, .addr = (1 << 20) - 300, .len = 3000}, MF_ERR_RANGE, true},
		{{.kind = MF_OP_WRITE, .addr = 1 << 20, .len = 100}, MF_OK, false},
		{{.kind = MF_OP_WRITE, .addr = 1 << 20, .len = 3000}, MF_OK, false},
	};
	uint8_t *buf = calloc(1, (1 << 20) + 1);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct mf_op op = bad[i].op, good = {.kind = MF_OP_READ, .node = 1, .len = 5000, .buf = buf};
		struct mf_completion c;
		struct net_config nc;
		struct script *s;
		uint64_t refused;

		net_config_default(&nc); /* no timers: a refusal needs none */
		s = script_new(&nc);
		op.node = 1;
		op.buf = buf;
		c = script_do(s, 0, &op);
		cr_assert_eq(c.status, bad[i].status, "case %zu: %s", i, mf_status_name(c.status));
		cr_assert_eq(c.len, c.status == MF_OK ? op.len : 0);
		refused = mf_host_stats(s->net->host[1])->refused[MF_ERR_RANGE] +
			  mf_host_stats(s->net->host[1])->refused[MF_ERR_ALIGN];
		cr_assert_gt(refused, 0);
		cr_assert_eq(s->net->errors > 0, bad[i].err, "case %zu", i);
		cr_assert_eq(script_do(s, 0, &good).status, MF_OK, "case %zu", i);
		script_free(s);
	}
	free(buf);
}

/** A node without memory refuses; so does one that is none. */
Test(host_faults, no_memory_there)
{
	for (uint8_t kind = 0; kind < MF_OP_CALL; kind++) {
		uint8_t buf[8] = {0};
		struct mf_op op = {.kind = kind, .node = 1, .len = 8, .buf = buf};
		struct net_config nc;
		struct script *s;

		net_config_default(&nc);
		nc.hosts = 3;
		s = script_new(&nc);
		cr_assert_eq(script_do(s, 0, &op).status, kind == MF_OP_WRITE ? MF_OK : MF_ERR_RANGE);
		script_free(s);
	}
}

Test(host_faults, submissions_refused)
{
	uint8_t buf[8];
	const struct mf_op good = {.kind = MF_OP_READ, .node = 1, .len = 8, .buf = buf};
	struct net_config nc;
	struct script *s;
	struct mf_op op;

	net_config_default(&nc);
	nc.host.queue = 4;
	s = script_new(&nc);
	for (int i = 0; i < 6; i++) {
		op = good;
		op.kind = i == 0 ? MF_OPS : op.kind;
		op.len = i == 1 ? 0 : op.len;
		op.addr = i == 2 ? MF_ADDR_MAX - 6 : op.addr;
		op.addr = i == 3 ? UINT64_MAX : op.addr;
		op.node = i == 4 ? 2 : i == 5 ? 0 : op.node;
		cr_assert_eq(script_op(s, 0, &op), -EINVAL, "case %d", i);
	}
	op = (struct mf_op){.kind = MF_OP_RMW, .rmw = MF_RMW_ALL, .node = 1};
	cr_assert_eq(script_op(s, 0, &op), -EINVAL);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(script_op(s, 0, &good), 0);
	cr_assert_eq(script_op(s, 0, &good), -EAGAIN);
	cr_assert_eq(mf_host_outstanding(s->net->host[0]), 4);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 4);
	script_free(s);

	nc.host.memory_enabled = false;
	s = script_new(&nc);
	cr_assert_eq(script_op(s, 0, &good), -EPERM);
	script_free(s);
}

Test(host_faults, bad_configs)
{
	struct mf_host_config good, c;
	struct net_config nc;

	net_config_default(&nc);
	good = nc.host;
	good.nodes = 2;
	for (int i = 0; i < 14; i++) {
		c = good;
		c.nodes = i == 0 ? 0 : i == 1 ? 513 : c.nodes;
		c.node = i == 2 ? 2 : c.node;
		c.x = i == 3 ? 0 : i == 4 ? 129 : c.x;
		c.chunk = i == 5 ? 0 : i == 6 ? 65552 : i == 7 ? 100 : c.chunk;
		c.queue = i == 8 ? 0 : i == 9 ? 65537 : c.queue;
		c.memory_ops = i == 10 ? &mf_memory_flat : NULL;
		c.mux.memory_blocks = i == 11 ? 100 : c.mux.memory_blocks;
		c.chunk = i == 12 ? 65536 : c.chunk;
		c.mux.memory_blocks = i == 12 ? 8192 : c.mux.memory_blocks;
		c.mux.policy = i == 13 ? 99 : c.mux.policy;
		errno = 0;
		cr_assert_null(mf_host_new(&c), "case %d", i);
		cr_assert_eq(errno, EINVAL, "case %d", i);
	}
	mf_host_free(NULL);
}

/** Random losses and delays: everything ends, ids rest, and both modes agree. */
Test(host_faults, losses_and_delays)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct client_config cc = {.ops = 400,
					   .depth = 24,
					   .size_max = 5000,
					   .think = MF_US(3),
					   .weight = {4, 3, 3, 3},
					   .may_fail = true,
					   .seed = seed,
					   .lost = 15,
					   .late = 4,
					   .lateness = 9000 * NET_PERIOD};
		struct clients *cs[2];
		struct net_config nc;
		unsigned int host, index;
		uint64_t failed = 0;

		config(&nc);
		nc.hosts = 3;
		nc.memory_nodes = 2;
		nc.host.mega = seed % 2 * 3;
		for (int mode = 0; mode < 2; mode++) {
			struct net_hooks hooks;

			nc.block_mode = mode;
			cs[mode] = clients_new(&cc);
			hooks = clients_hooks(cs[mode]);
			clients_start(cs[mode], net_new(&nc, &hooks));
			net_run(cs[mode]->net, MF_SEC(1));
			cr_assert(clients_done(cs[mode]), "seed %lu", seed);
			cr_assert_eq(cs[mode]->mismatches, 0, "seed %lu", seed);
			cr_assert_eq(cs[mode]->net->id_reuse, 0, "seed %lu", seed);
			cr_assert_gt(cs[mode]->faults, 0);
		}
		/* What began just before the time of its operation ended is still on its way then. */
		cr_assert_geq(cs[0]->net->id_rest_min, QUARANTINE - WRITE_TIMEOUT, "seed %lu: %lu", seed,
			      cs[0]->net->id_rest_min);
		cr_assert_neq(cs[0]->net->id_rest_min, MF_NEVER, "seed %lu: no id came back", seed);
		cr_assert(clients_same(cs[0], cs[1], &host, &index), "seed %lu host %u completion %u", seed,
			  host, index);
		for (unsigned int i = 0; i < nc.hosts; i++) {
			failed += cs[0]->client[i].failed[MF_ERR_TIMEOUT];
		}
		cr_assert_gt(failed, 0);
		for (int mode = 0; mode < 2; mode++) {
			struct net *n = cs[mode]->net;

			clients_free(cs[mode]);
			net_free(n);
		}
	}
}

/* The same where each step is taken at once: whatever was waiting for it begins within the step. */
Test(host_faults, losses_under_the_wall_clock)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct client_config cc = {.ops = 400,
					   .depth = 24,
					   .size_max = 5000,
					   .think = MF_US(3),
					   .weight = {4, 3, 3, 3},
					   .may_fail = true,
					   .seed = seed,
					   .lost = 15,
					   .late = 4,
					   .lateness = 9000 * NET_PERIOD};
		struct clients *cs = clients_new(&cc);
		struct net_hooks hooks = clients_hooks(cs);
		uint64_t timeouts = 0, quarantined = 0;
		struct net_config nc;
		struct net *n;

		config(&nc);
		nc.host.mux.period = 0;
		nc.hosts = 3;
		nc.memory_nodes = 2;
		nc.host.mega = seed % 2 * 3;
		n = net_new(&nc, &hooks);
		clients_start(cs, n);
		net_run(n, MF_SEC(1));
		cr_assert(clients_done(cs), "seed %lu", seed);
		cr_assert_eq(cs->mismatches, 0, "seed %lu", seed);
		cr_assert_eq(n->id_reuse, 0, "seed %lu", seed);
		/* Senders keep no pace here: what is dropped may have waited until its timer had ended. */
		cr_assert_geq(n->id_rest_min, QUARANTINE - WRITE_TIMEOUT, "seed %lu: %lu", seed,
			      n->id_rest_min);
		for (unsigned int i = 0; i < nc.hosts; i++) {
			cr_assert_eq(mf_host_outstanding(n->host[i]), 0);
			timeouts += mf_host_stats(n->host[i])->timeouts;
			quarantined += mf_host_stats(n->host[i])->quarantined;
		}
		cr_assert(timeouts > 0 && quarantined > 0, "seed %lu", seed);
		clients_free(cs);
		net_free(n);
	}
}

/** Three requesters of a memory node that has a data buffer of each size. */
static void config_buffers(struct net_config *nc)
{
	config(nc);
	nc->hosts = 4;
	nc->host.buffers_small = 1;
	nc->host.buffers_large = 1;
}

/** Two requesters' responses without grants hold all data buffers: long reads of others are refused, short
 * ones need none. */
Test(host_faults, data_buffers_run_out)
{
	enum { OPS = 48 };
	static uint8_t buf[OPS][3000];
	struct net_config nc;
	struct script *s;
	unsigned int count[MF_STATUSES] = {0};

	config_buffers(&nc);
	nc.host.x = OPS;
	s = script_new(&nc);
	s->net->lose_grants = true;
	memset(net_memory_at(s->net, 3, 0, 3000), 0x3c, 3000);
	for (int i = 0; i < OPS; i++) {
		uint32_t len = i % 2 ? 3000 : 200;
		struct mf_op op = {
			.kind = MF_OP_READ, .node = 3, .len = len, .buf = buf[i], .user = (uint64_t)i};

		cr_assert_eq(script_op(s, i < 4 ? i / 2 : 2, &op), 0);
	}
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, OPS);
	for (int i = 0; i < OPS; i++) {
		const struct mf_completion *c = &s->done[i];

		count[c->status]++;
		cr_assert_eq(c->status == MF_OK, c->user % 2 == 0);
		cr_assert(c->status != MF_OK || buf[c->user][199] == 0x3c);
	}
	cr_assert_eq(count[MF_ERR_TIMEOUT], 2);
	cr_assert_eq(count[MF_ERR_RESOURCE], OPS / 2 - 2);
	cr_assert_eq(mf_host_stats(s->net->host[3])->refused[MF_ERR_RESOURCE], OPS / 2 - 2);
	script_free(s);
}

/** Grants that never come do not keep data buffers for ever. */
Test(host_faults, data_buffers_are_reclaimed)
{
	static uint8_t buf[3000];
	struct mf_op op = {.kind = MF_OP_READ, .node = 3, .len = 3000, .buf = buf};
	struct net_config nc;
	struct script *s;

	config_buffers(&nc);
	s = script_new(&nc);
	s->net->lose_grants = true;
	for (unsigned int host = 0; host < 3; host++)
		cr_assert_eq(script_op(s, host, &op), 0);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 3);
	cr_assert_eq(mf_host_stats(s->net->host[3])->refused[MF_ERR_RESOURCE], 1);
	s->net->lose_grants = false;
	cr_assert_eq(script_do(s, 1, &op).status, MF_OK);
	cr_assert_geq(s->net->now, QUARANTINE);
	cr_assert_eq(mf_host_stats(s->net->host[3])->reclaimed, 1);
	script_free(s);
}

/** A response without grants that has something newer of its pair behind it gives its buffer. */
Test(host_faults, what_was_passed_gives_its_buffer)
{
	static uint8_t buf[3000];
	struct mf_op op = {.kind = MF_OP_READ, .node = 3, .len = 3000, .buf = buf};
	const struct mf_host_stats *st;
	struct net_config nc;
	struct script *s;

	config_buffers(&nc);
	nc.host.read_timeout = 0; /* so nothing is given up for its age */
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[3]);
	s->net->lose_grants = true;
	for (int i = 0; i < 2; i++)
		cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, MF_MS(1));
	s->net->lose_grants = false;
	cr_assert_eq(script_do(s, 2, &op).status, MF_OK,
		     "the older of two gives its buffer to whom it may be");
	cr_assert_eq(st->reclaimed, 1);
	s->net->lose_grants = true;
	cr_assert_eq(script_op(s, 2, &op), 0);
	net_run(s->net, MF_MS(5));
	s->net->lose_grants = false;
	cr_assert_eq(script_do(s, 1, &op).status, MF_ERR_RESOURCE, "the newest of two pairs keep theirs");
	cr_assert_eq(script_do(s, 2, &op).status, MF_OK, "and what is asked for is the newest itself");
	cr_assert_eq(st->reclaimed, 2);
	script_free(s);
}

/** ... but not while chunks of it that were granted wait for room. */
Test(host_faults, what_is_granted_keeps_its_buffer)
{
	static uint8_t buf[3000];
	struct mf_op op = {.kind = MF_OP_READ, .node = 3, .len = 3000, .buf = buf};
	const struct mf_host_stats *st;
	struct net_config nc;
	unsigned int refused = 0;
	struct script *s;

	config_buffers(&nc);
	nc.host.mux.memory_blocks = 256;
	nc.host.buffers_small = 2;
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[3]);
	for (int i = 0; i < 3; i++)
		for (unsigned int host = 0; host < 3; host++)
			cr_assert_eq(script_op(s, host, &op), 0);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 9);
	for (unsigned int i = 0; i < s->count; i++) {
		refused += s->done[i].status == MF_ERR_RESOURCE;
		cr_assert(s->done[i].status == MF_OK || s->done[i].status == MF_ERR_RESOURCE, "%u: %s", i,
			  mf_status_name(s->done[i].status));
	}
	cr_assert_gt(refused, 0);
	cr_assert_eq(refused, st->refused[MF_ERR_RESOURCE]);
	cr_assert_eq(st->reclaimed, 0);
	script_free(s);
}

/** A new request with the id of a response that never ended takes its place. */
Test(host_faults, response_replaced)
{
	static uint8_t buf[3000];
	struct mf_op op = {.kind = MF_OP_READ, .node = 1, .len = 3000, .buf = buf};
	const struct mf_host_stats *st;
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.buffers_small = 4;
	nc.host.buffers_large = 4;
	s = script_new(&nc);
	st = mf_host_stats(s->net->host[1]);
	s->net->lose_grants = true;
	for (int i = 0; i < 20; i++)
		cr_assert_eq(script_do(s, 0, &op).status, MF_ERR_TIMEOUT);
	cr_assert_eq(st->refused[MF_ERR_RESOURCE], 0);
	cr_assert_eq(st->reclaimed, 0);
	s->net->lose_grants = false;
	cr_assert_eq(script_do(s, 0, &op).status, MF_OK);
	script_free(s);
}

/** A transfer of several messages ends with the first that fails; what is behind it goes on. */
Test(host_faults, failed_transfer_stops)
{
	uint8_t *buf = calloc(1, 300000);

	for (uint8_t kind = MF_OP_READ; kind <= MF_OP_WRITE_ACK; kind++) {
		struct mf_op op = {.kind = kind, .node = 1, .len = 300000, .buf = buf};
		struct mf_op next = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
		const struct mf_host_stats *st;
		struct net_config nc;
		struct script *s;
		uint64_t started;
		mf_time later;

		config(&nc);
		nc.host.x = 1;
		s = script_new(&nc);
		st = mf_host_stats(s->net->host[0]);
		s->kind = kind == MF_OP_READ ? MF_RREQ : MF_NOTIFY;
		s->fate = NET_DROP;
		cr_assert_eq(script_op(s, 0, &op), 0);
		later = kind == MF_OP_READ ? READ_TIMEOUT / 2 : WRITE_TIMEOUT / 4 * 3;
		net_run(s->net, later);
		s->net->now = later; /* nothing happened since */
		s->kind = MF_KIND_NONE;
		op.len = 64;
		cr_assert_eq(script_op(s, 0, &op), 0);
		cr_assert_eq(script_op(s, 0, &next), 0);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(s->count, 3, "kind %d: %u", kind, s->count);
		started = st->tx[MF_RREQ] + st->tx[MF_NOTIFY];
		cr_assert_eq(started, 3, "kind %d: %lu messages", kind, started);
		for (unsigned int i = 0; i < 3; i++)
			cr_assert_eq(s->done[i].status == MF_OK, s->done[i].len == 64);
		script_free(s);
	}
	free(buf);
}

/** D10: an acknowledged write counts as active until it was sent, not until its ACK. */
Test(host_faults, unanswered_writes_do_not_count)
{
	uint8_t buf[64] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE_ACK, .node = 1, .len = 64, .buf = buf};
	struct net_config nc;
	struct script *s;

	config(&nc);
	nc.host.x = 1;
	s = script_new(&nc);
	s->kind = MF_ACK;
	s->fate = NET_DROP;
	for (int i = 0; i < 3; i++)
		cr_assert_eq(script_op(s, 0, &op), 0);
	net_run(s->net, WRITE_TIMEOUT / 2);
	cr_assert_eq(s->count, 0);
	cr_assert_eq(mf_host_stats(s->net->host[1])->tx[MF_ACK], 3);
	net_run(s->net, MF_SEC(1));
	cr_assert_eq(s->count, 3);
	script_free(s);
}

/** Grants of a long read that was refused may still come: its id rests; that of a short one does not. */
Test(host_faults, ids_of_refused_requests)
{
	for (int large = 0; large < 2; large++) {
		uint8_t buf[5000];
		struct mf_op bad = {
			.kind = MF_OP_READ, .node = 1, .addr = 1 << 20, .len = large ? 5000 : 64, .buf = buf};
		struct mf_op next = {.kind = MF_OP_READ, .node = 1, .len = 64, .buf = buf};
		struct net_config nc;
		struct script *s;

		config(&nc);
		s = script_new(&nc);
		cr_assert_eq(script_op(s, 0, &bad), 0);
		net_run(s->net, READ_TIMEOUT);
		cr_assert_eq(s->done[0].status, MF_ERR_RANGE);
		cr_assert_eq(script_op(s, 0, &next), 0);
		net_run(s->net, 2 * READ_TIMEOUT);
		cr_assert_eq(last_id(s), large);
		net_run(s->net, MF_SEC(1));
		cr_assert_eq(script_do(s, 0, &next).status, MF_OK);
		cr_assert_eq(last_id(s), 0);
		script_free(s);
	}
}

/** The timer of an operation is for all of it: what has been granted, and is being sent, may or may not
 * arrive. */
Test(host_faults, granted_writes_expire)
{
	uint8_t *buf = calloc(1, MF_MESSAGE_MAX);
	struct mf_op op = {.kind = MF_OP_WRITE, .node = 1, .len = MF_MESSAGE_MAX, .buf = buf};
	struct net_config nc;
	struct mf_completion c;
	struct script *s;

	net_config_default(&nc);
	nc.host.write_timeout = MF_MESSAGE_MAX / 16 * NET_PERIOD;
	s = script_new(&nc);
	c = script_do(s, 0, &op);
	cr_assert_eq(c.status, MF_ERR_UNKNOWN);
	cr_assert_eq(c.done - c.submitted, nc.host.write_timeout);
	script_free(s);
	free(buf);
}
