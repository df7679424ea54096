/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever is lost, doubled, damaged, held up or overtaken on the links: what completed was executed once,
 * what failed at most once, no acknowledged write is lost, and nothing of an old one takes effect behind a
 * new one. With retries all operations complete.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"

static const struct {
	const char *name;
	struct mf_fault_rule rule;
} faults[] = {
	{"lose", {.class = MF_FAULT_LOSE, .rate = 0.01}},
	{"duplicate", {.class = MF_FAULT_DUPLICATE, .rate = 0.05}},
	{"bit", {.class = MF_FAULT_BIT, .rate = 1e-5}},
	{"cut", {.class = MF_FAULT_CUT, .rate = 0.0003}},
	{"sync", {.class = MF_FAULT_SYNC, .rate = 0.0003}},
	{"type", {.class = MF_FAULT_TYPE, .rate = 0.003}},
	{"delay", {.class = MF_FAULT_DELAY, .rate = 0.01, .time = MF_US(20)}},
	{"reorder", {.class = MF_FAULT_REORDER, .rate = 0.02, .time = MF_US(25)}},
};
#define FAULTS (sizeof(faults) / sizeof(*faults))
#define REORDER (FAULTS - 1)

static struct clients_config config_of(uint64_t seed)
{
	struct clients_config c = {.rig = {.once = true,
					   .retries = 40,
					   .retry_timeout = MF_US(40),
					   .timeout = MF_US(200),
					   .mega = 1,
					   .chunk = 256,
					   .x = 3,
					   .seed = seed},
				   .depth = 4,
				   .ops = 150,
				   .plain = true,
				   .large = true};

	return c;
}

static void add(struct clients_config *c, unsigned int fault, double share)
{
	struct mf_fault_rule *rule = &c->rig.rule[c->rig.rules++];

	*rule = faults[fault].rule;
	rule->rate *= share;
	rule->until = MF_NEVER;
	c->plain &= fault != REORDER;
}

/** Nothing is wrong; what completed and failed is added up. */
static void expect_sound(struct clients *cs, const char *name, uint64_t seed)
{
	const struct clients_found *f = clients_found(cs);

	cr_assert_eq(f->wrong, 0, "%s, seed %lu: %lu found what should not be there", name, seed, f->wrong);
	cr_assert_eq(f->lost, 0, "%s, seed %lu: %lu atomics were lost", name, seed, f->lost);
	cr_assert_eq(f->twice, 0, "%s, seed %lu: %lu atomics twice", name, seed, f->twice);
	cr_assert_eq(f->under_way, 0, "%s, seed %lu: %lu did not end", name, seed, f->under_way);
	cr_assert_eq(f->demands, 0, "%s, seed %lu: %lu demands left", name, seed, f->demands);
	cr_assert_gt(f->ok, 0, "%s, seed %lu", name, seed);
}

static struct clients *run(const struct clients_config *c, const char *name)
{
	struct clients *cs = clients_new(c);

	clients_start(cs);
	clients_finish(cs);
	expect_sound(cs, name, c->rig.seed);
	return cs;
}

static uint64_t sum(struct clients *cs, size_t counter)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < RIG_NODES; i++)
		n += *(const uint64_t *)((uintptr_t)mf_host_stats(clients_rig(cs)->host[i]) + counter);
	return n;
}
#define SUM(cs, counter) sum(cs, offsetof(struct mf_host_stats, counter))

Test(once, all_complete_with_retries)
{
	for (unsigned int i = 0; i < FAULTS; i++) {
		uint64_t fired = 0, retried = 0, again = 0;

		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct clients_config c = config_of(seed);
			struct clients *cs;

			add(&c, i, 1);
			c.rig.mega = seed % 3 == 0 ? 4 : 1;
			cs = run(&c, faults[i].name);
			cr_expect_eq(clients_found(cs)->failed, 0, "%s, seed %lu: %lu failed", faults[i].name,
				     seed, clients_found(cs)->failed);
			fired += clients_rig(cs)->fired[0];
			retried += SUM(cs, retried);
			again += SUM(cs, again);
			clients_free(cs);
		}
		cr_expect_gt(fired, 20, "%s", faults[i].name);
		cr_log_info("%s: fired %lu, sent again %lu, answered again %lu", faults[i].name, fired,
			    retried, again);
	}
}

Test(once, all_faults_together)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct clients_config c = config_of(seed);
		struct clients *cs;

		for (unsigned int i = 0; i < FAULTS; i++)
			add(&c, i, 0.5);
		c.large = false; /* of 64 KiB many chunks would be lost each time that they are sent */
		c.rig.mega = seed % 2 ? 4 : 1;
		cs = run(&c, "all");
		cr_expect_eq(clients_found(cs)->failed, 0, "seed %lu: %lu failed", seed,
			     clients_found(cs)->failed);
		clients_free(cs);
	}
}

Test(once, at_most_once_without_retries)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct clients_config c = config_of(seed);

		for (unsigned int i = 0; i < FAULTS; i++)
			add(&c, i, 0.3);
		c.rig.retries = 0;
		clients_free(run(&c, "no retries"));
	}
}

/** Timers that are far too short: nearly everything is sent again without need. */
Test(once, needless_retries)
{
	uint64_t again = 0, copies = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct clients_config c = config_of(seed);
		struct clients *cs;

		c.rig.retries = 100;
		c.rig.retry_timeout = MF_NS(seed * 130);
		c.large = false;
		cs = run(&c, "needless");
		cr_expect_eq(clients_found(cs)->failed, 0, "seed %lu: %lu failed", seed,
			     clients_found(cs)->failed);
		again += SUM(cs, again);
		copies += SUM(cs, copies);
		clients_free(cs);
	}
	cr_expect_gt(again, 100);
	cr_expect_gt(copies, 100);
}

static void cut_and_go_on(unsigned int node, bool restart)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct clients_config c = config_of(seed);
		struct clients *cs;

		c.ops = 400;
		c.plain = c.large = false;
		add(&c, 0, 0.5);
		add(&c, 1, 1);
		cs = clients_new(&c);
		clients_start(cs);
		for (unsigned int i = 1; i <= 8; i++) {
			rig_run(clients_rig(cs), i * MF_US(15) + seed * MF_NS(373));
			rig_cut(clients_rig(cs), node, MF_US(2), restart);
			if (restart && node != RIG_MEMORY)
				clients_restarted(cs, node);
		}
		clients_finish(cs);
		expect_sound(cs, restart ? "restart" : "cut", seed);
		cr_expect_gt(clients_found(cs)->ok, 6 * clients_found(cs)->failed, "seed %lu: %lu, %lu", seed,
			     clients_found(cs)->ok, clients_found(cs)->failed);
		clients_free(cs);
	}
}

/** Uses go on behind a link that was lost; the memory node has nothing that hinders them. */
Test(once, links_lost)
{
	cut_and_go_on(0, false);
	cut_and_go_on(RIG_MEMORY, false);
}

/** A process that was started again begins anywhere, and so does a memory node that knows nothing. */
Test(once, restarts)
{
	cut_and_go_on(0, true);
	cut_and_go_on(RIG_MEMORY, true);
}

/* ---- one memory node, and what it is given by hand ---- */

#define ID 7

static void give(struct rig *r, const struct mf_msg *m, const void *data)
{
	const struct mf_proto proto = {.ext = true};
	struct mf_span s = {.start = r->now, .period = RIG_PERIOD};
	unsigned int n;

	n = m->kind == MF_RMWREQ ? mf_proto_put_request(&proto, m, s.word)
				 : mf_proto_put_chunk(&proto, m, data, s.word);
	memset(s.sync, MF_SYNC_DATA, n);
	s.sync[0] = s.sync[n - 1] = MF_SYNC_CTRL;
	s.count = (uint16_t)n;
	mf_host_rx(r->host[RIG_MEMORY], r->now, &s);
	r->now += MF_US(1);
}

static void give_write(struct rig *r, uint16_t use, uint8_t value)
{
	const struct mf_msg m = {.kind = MF_WREQ_ACK,
				 .dst = RIG_MEMORY,
				 .id = ID,
				 .ext = true,
				 .epoch = use,
				 .last = true,
				 .size = 1,
				 .addr = 64};

	give(r, &m, &value);
}

static void give_fadd(struct rig *r, uint16_t use, uint8_t again)
{
	const struct mf_msg m = {.kind = MF_RMWREQ,
				 .dst = RIG_MEMORY,
				 .id = ID,
				 .ext = true,
				 .epoch = use,
				 .again = again,
				 .op = MF_RMW_FADD,
				 .addr = 64,
				 .arg = {1}};

	give(r, &m, NULL);
}

static uint8_t held(const struct rig *r)
{
	return *(const uint8_t *)mf_memory_flat.at(r->memory, 64, 1);
}

/** Nothing of an older use takes effect behind a newer one, also where the numbers begin anew. */
Test(once, old_uses_do_nothing)
{
	struct clients_config c = config_of(1);
	struct rig *r = rig_new(&c.rig);
	const struct mf_host_stats *stats = mf_host_stats(r->host[RIG_MEMORY]);

	give_write(r, 65535, 10);
	give_write(r, 0, 20);
	cr_expect_eq(held(r), 20);
	give_write(r, 65535, 10);
	give_fadd(r, 65535, 1);
	cr_expect_eq(held(r), 20, "an older use has taken effect");
	cr_expect_eq(stats->old, 2);
	give_fadd(r, 3, 0);
	give_fadd(r, 3, 0);
	give_fadd(r, 3, 1);
	give_fadd(r, 3, 1);
	cr_expect_eq(held(r), 21, "it was executed more than once");
	cr_expect_eq(stats->again, 1);
	cr_expect_eq(stats->copies, 2);
	give_write(r, 3, 30);
	give_write(r, 0, 30);
	cr_expect_eq(held(r), 21);
	rig_free(r);
}

/** A source that was started again may use lower numbers. */
Test(once, a_restarted_source_is_forgotten)
{
	struct clients_config c = config_of(2);
	struct rig *r = rig_new(&c.rig);
	struct mf_span s = {.start = 0, .period = RIG_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	give_write(r, 500, 10);
	give_write(r, 100, 20);
	cr_expect_eq(held(r), 10);
	s.start = r->now;
	s.word[0] = mf_proto_put_single(
		&(struct mf_msg){.kind = MF_ERR, .dst = RIG_MEMORY, .id = 1, .status = MF_ERR_RESTARTED});
	mf_host_rx(r->host[RIG_MEMORY], r->now, &s);
	give_write(r, 100, 20);
	cr_expect_eq(held(r), 20);
	rig_free(r);
}
