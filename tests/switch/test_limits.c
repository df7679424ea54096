/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node may ask for: demands beyond its share, above its rate, of who lets grants expire. */
#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"
#include "systems/edm/switch/mf_switch_leaks.h"

#define MEMORY 3

static struct mf_switch_config config;

static void start(struct rig *r, struct mf_switch_limits limits, bool by_block)
{
	rig_config(&config, 4);
	config.limits = limits;
	config.grant_timeout = MF_US(10);
	rig_start(r, &config, by_block);
}

static void send_notify(struct rig *r, mf_time at, unsigned int port, uint8_t id, uint32_t size)
{
	const struct mf_msg m = {.kind = MF_NOTIFY, .dst = MEMORY, .id = id, .size = size};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

static void send_read(struct rig *r, mf_time at, uint16_t port, uint8_t id, uint32_t size)
{
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	unsigned int n = rig_request(r, port, MEMORY, id, size, word);

	rig_message(r, at, port, word, n);
}

/** Demands of a port, and which of them are excess: bit i is the i-th. */
static unsigned int demands_of(const struct rig *r, uint16_t port, uint64_t *excess)
{
	unsigned int n = 0;

	*excess = 0;
	for (unsigned int i = 0; i < r->msgs; i++) {
		const struct mf_sched_msg *m = &r->msg[i];

		if (m->kind != MF_SCHED_DEMAND || (m->resp ? m->dst : m->src) != port)
			continue;
		*excess |= (uint64_t)m->excess << n++;
	}
	return n;
}

static void expect_refusal(const struct rig *r, unsigned int port, unsigned int i, uint8_t id, uint8_t of)
{
	struct mf_msg m;

	cr_assert_lt(i, r->outs[port]);
	cr_assert_eq(mf_proto_get_single(r->out[port][i].word, &m), 0);
	cr_expect(m.kind == MF_ERR && m.status == MF_ERR_RESOURCE && m.of == of && m.id == id);
	cr_expect(m.src == MEMORY && m.dst == port);
}

/* Demands at line rate: those at the rate pass, the rest is answered at once. Each node has a rate. */
static void rate(bool by_block)
{
	const struct mf_switch_limits limits = {.rate = MF_NS(100), .rate_burst = 3};
	uint64_t excess;
	struct rig r;

	start(&r, limits, by_block);
	for (unsigned int i = 0; i < 10; i++)
		send_notify(&r, i * P, 0, (uint8_t)i, 64);
	for (unsigned int i = 0; i < 10; i++)
		send_read(&r, i * 2 * P, 1, (uint8_t)i, 64);
	send_notify(&r, MF_NS(100), 0, 20, 64);
	send_notify(&r, MF_NS(500), 0, 21, 64);
	rig_run(&r, MF_US(2));
	cr_expect_eq(demands_of(&r, 0, &excess), 3 + 1 + 1);
	cr_expect_eq(demands_of(&r, 1, &excess), 3);
	cr_assert_eq(r.outs[0], 7);
	cr_assert_eq(r.outs[1], 7);
	for (unsigned int i = 0; i < 7; i++) {
		expect_refusal(&r, 0, i, (uint8_t)(3 + i), MF_NOTIFY);
		expect_refusal(&r, 1, i, (uint8_t)(3 + i), MF_RREQ);
	}
	cr_expect_eq(r.out[0][0].at, 3 * P + IDENTIFY + FORWARD);
	cr_expect_eq(mf_switch_stats(r.sw)->refused_rate, 14);
	cr_expect_eq(mf_switch_stats(r.sw)->excess, 0, "there are no shares");
	rig_stop(&r);
}

Test(limits, above_the_rate_is_refused)
{
	rate(false);
	rate(true);
}

/* Each pair has a share of the memory node's link; what is beyond it is marked, and not refused. */
Test(limits, beyond_the_share_is_excess)
{
	const unsigned int blocks = 2 + 8 + 2; /* of 64 octets and of the request */
	const struct mf_switch_limits limits = {.share = 4, .burst = 2 * blocks};
	uint64_t excess;
	struct rig r;

	start(&r, limits, false);
	for (unsigned int i = 0; i < 6; i++)
		send_read(&r, i * 2 * P, 0, (uint8_t)i, 64);
	send_read(&r, 0, 1, 0, 64);
	/* The share is a fourth of the link: by now one more has its place. */
	send_read(&r, (mf_time)5 * blocks * P, 0, 6, 64);
	send_read(&r, (mf_time)5 * blocks * P + 2 * P, 0, 7, 64);
	send_read(&r, MF_US(10), 0, 8, 4096);
	send_read(&r, MF_US(10) + 2 * P, 0, 9, 64); /* a long one is paid for afterwards */
	rig_run(&r, MF_US(20));
	cr_expect_eq(demands_of(&r, 0, &excess), 10);
	cr_expect_eq(excess, 0x2b8, "%#lx", (unsigned long)excess);
	cr_expect_eq(demands_of(&r, 1, &excess), 1);
	cr_expect_eq(excess, 0, "another one's share is its own");
	cr_expect_eq(r.outs[0], 0, "nobody is refused");
	rig_stop(&r);
}

/*
 * Where links have no rate what is shared is what the memory node is asked for: who asks for less than his
 * part
 * of it never is beyond it, who asks for nearly all of it mostly is, whatever the time between demands.
 */
Test(limits, of_what_is_asked_for_where_links_have_no_rate)
{
	const unsigned int blocks = 2 + 8 + 2;
	const struct mf_switch_limits limits = {.share = 4, .burst = 2 * blocks};
	uint64_t excess;
	struct rig r;

	rig_config(&config, 4);
	config.limits = limits;
	config.window = true;
	config.requests = 256; /* the scheduler takes none of them away */
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < 40; i++)
		send_read(&r, i * MF_NS(100) * (i % 3 + 1), i % 8 == 7, (uint8_t)i, 64);
	rig_run(&r, MF_US(60));
	cr_expect_eq(demands_of(&r, 1, &excess), 5);
	cr_expect_eq(excess, 0, "an eighth is less than a fourth");
	cr_expect_eq(demands_of(&r, 0, &excess), 35);
	cr_expect_gt(__builtin_popcountll(excess), 20);
	cr_expect_lt(__builtin_popcountll(excess), 30, "some of it is within its share");
	rig_stop(&r);
}

static void grant_write(struct rig *r, mf_time at, uint16_t port, uint8_t id)
{
	struct mf_sched_grant g = rig_grant_of(at, port, MEMORY, id, false, true, 64, MF_SCHED_NO_COOKIE);

	rig_grant(r, at, &g);
}

/* Who lets a grant expire is not believed for as long, then twice as long, until a chunk comes as granted. */
Test(limits, grants_that_expire)
{
	const struct mf_switch_limits limits = {.share = 4, .burst = 1 << 20};
	uint64_t word[MF_BLOCKS_MAX], excess;
	unsigned int n;
	struct rig r;

	start(&r, limits, false);
	grant_write(&r, MF_US(1), 0, 1);
	send_notify(&r, MF_US(10), 0, 2, 64);
	send_notify(&r, MF_US(12), 0, 3, 64);
	send_read(&r, MF_US(13), 0, 4, 64);
	send_notify(&r, MF_US(13), 1, 5, 64);
	grant_write(&r, MF_US(22), 0, 6);
	send_notify(&r, MF_US(22), 0, 6, 64);
	send_notify(&r, MF_US(51), 0, 7, 64);
	send_notify(&r, MF_US(53), 0, 8, 64);
	rig_run(&r, MF_US(60));
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 2);
	cr_expect_eq(demands_of(&r, 0, &excess), 4, "2, 4, 6 and 8");
	cr_expect_eq(demands_of(&r, 1, &excess), 1);
	expect_refusal(&r, 0, 1, 3, MF_NOTIFY); /* behind the /G/ */
	expect_refusal(&r, 0, 3, 7, MF_NOTIFY);
	cr_expect_eq(mf_switch_stats(r.sw)->refused_expired, 2);

	/* As granted: it is believed as at the beginning. */
	grant_write(&r, MF_US(61), 0, 8);
	n = rig_chunk(&r, MF_WREQ, 0, MEMORY, 8, 64, word);
	rig_message(&r, MF_US(62), 0, word, n);
	grant_write(&r, MF_US(63), 0, 9);
	send_notify(&r, MF_US(74), 0, 10, 64);
	send_notify(&r, MF_US(84), 0, 11, 64);
	rig_run(&r, MF_US(90));
	cr_expect_eq(mf_switch_stats(r.sw)->refused_expired, 3);
	cr_expect_eq(demands_of(&r, 0, &excess), 5, "11, too");
	rig_stop(&r);
}

/** Whether one more demand of node 0 is taken, for whichever memory node; it has `id`. */
static bool is_taken(struct rig *r, mf_time at, uint16_t to, uint8_t id, bool read)
{
	const struct mf_msg notify = {.kind = MF_NOTIFY, .dst = to, .id = id, .size = 64};
	uint64_t before = mf_switch_stats(r->sw)->refused_outstanding, word[MF_REQUEST_BLOCKS_MAX];

	rig_message(r, at, 0, word, read ? rig_request(r, 0, to, id, 64, word) : rig_single(&notify, word));
	rig_run(r, at + MF_NS(200));
	return mf_switch_stats(r->sw)->refused_outstanding == before;
}

/** A grant of all of a demand of node 0; or of nothing. */
static void grant(struct rig *r, mf_time at, uint8_t id, bool resp, uint32_t size, bool refused,
		  uint32_t cookie)
{
	uint16_t src = resp ? MEMORY : 0, dst = resp ? 0 : MEMORY;
	struct mf_sched_grant g = rig_grant_of(at, src, dst, id, resp, true, size, cookie);

	g.last = true;
	g.refused = refused;
	rig_grant(r, at, &g);
	rig_run(r, at + MF_NS(100));
}

/* Those that are not granted in full count, reads and writes, of all memory nodes; each once. */
Test(limits, so_many_at_a_time)
{
	const struct mf_msg back = {.kind = MF_GRET, .dst = MEMORY - 1, .id = 1, .size = 64};
	struct mf_sched_msg d;
	struct rig r;
	uint64_t word;

	start(&r, (struct mf_switch_limits){.outstanding = 3}, false);
	cr_expect(is_taken(&r, MF_US(1), MEMORY, 1, false));
	cr_expect(is_taken(&r, MF_US(2), MEMORY, 1, true), "ids of reads are others");
	rig_told(&r, MF_SCHED_DEMAND, &d);
	cr_expect(is_taken(&r, MF_US(3), MEMORY - 1, 1, false));
	cr_expect(is_taken(&r, MF_US(4), MEMORY, 1, false), "it comes again");
	cr_expect_not(is_taken(&r, MF_US(5), MEMORY, 2, false));
	expect_refusal(&r, 0, r.outs[0] - 1, 2, MF_NOTIFY);

	grant(&r, MF_US(6), 1, false, 64, false, MF_SCHED_NO_COOKIE);
	cr_expect(is_taken(&r, MF_US(7), MEMORY, 2, true), "one was granted");
	cr_expect_not(is_taken(&r, MF_US(8), MEMORY, 3, true));
	rig_single(&back, &word);
	rig_message(&r, MF_US(9), 0, &word, 1);
	cr_expect(is_taken(&r, MF_US(10), MEMORY, 3, true), "one was cancelled");
	cr_expect_not(is_taken(&r, MF_US(11), MEMORY, 4, true));
	rig_told(&r, MF_SCHED_DEMAND, &d);
	cr_assert_eq(d.id, 3);
	grant(&r, MF_US(12), 3, true, 0, true, d.cookie);
	cr_expect(is_taken(&r, MF_US(13), MEMORY, 4, true), "one was beyond X");
	rig_told(&r, MF_SCHED_DEMAND, &d);
	cr_expect(is_taken(&r, MF_US(14), MEMORY, 4, true), "it comes again");
	rig_told(&r, MF_SCHED_DEMAND, &d);
	grant(&r, MF_US(15), 4, true, 0, false, d.cookie);
	cr_expect_not(is_taken(&r, MF_US(16), MEMORY, 5, true), "the first of them is there");
	rig_stop(&r);
}

/** Its ids are used again and again, and each use counts. */
Test(limits, an_id_that_is_used_again_counts_again)
{
	struct rig r;

	start(&r, (struct mf_switch_limits){.outstanding = 1}, false);
	for (unsigned int i = 0; i < 4; i++) {
		mf_time at = MF_US(1 + 2 * i); /* before the first chunk expires, and its demand with it */

		cr_expect(is_taken(&r, at, MEMORY, 1, false));
		cr_expect_not(is_taken(&r, at + MF_NS(500), MEMORY, 2, false));
		grant(&r, at + MF_US(1), 1, false, 64, false, MF_SCHED_NO_COOKIE);
	}
	rig_stop(&r);
}

/* Whose link is lost has nothing there any more, and others have a limit of their own. */
Test(limits, nothing_counts_behind_a_lost_link)
{
	struct mf_switch_held held;
	struct rig r;

	start(&r, (struct mf_switch_limits){.outstanding = 2}, false);
	send_read(&r, MF_US(1), 1, 1, 64);
	send_read(&r, MF_US(1), 0, 1, 64);
	send_notify(&r, MF_US(2), 0, 2, 64);
	rig_run(&r, MF_US(3));
	mf_switch_held(r.sw, MF_US(3), &held);
	cr_expect_eq(held.outstanding, 3);
	mf_switch_link_down(r.sw, 0, MF_US(4));
	rig_run(&r, MF_US(4) + 1);
	mf_switch_held(r.sw, MF_US(5), &held);
	cr_expect_eq(held.outstanding, 1);
	mf_switch_link_down(r.sw, MEMORY, MF_US(5));
	grant(&r, MF_US(5), 0, false, 0, false, MF_SCHED_NO_COOKIE);
	rig_grant(&r, MF_US(6), &(struct mf_sched_grant){.src = 0, .dst = 0, .last = true});
	rig_run(&r, MF_US(7));
	mf_switch_held(r.sw, MF_US(7), &held);
	cr_expect_eq(held.outstanding, 0, "nor what was asked of it");
	rig_stop(&r);
}

/* A node cannot say in the name of the switch that it refuses. */
Test(limits, a_refusal_is_of_the_switch_alone)
{
	struct mf_msg m = {.kind = MF_ERR, .src = MEMORY, .status = MF_ERR_RESOURCE, .of = MF_NOTIFY};
	struct rig r;
	uint64_t word;

	start(&r, (struct mf_switch_limits){0}, false);
	for (unsigned int i = 0; i < 2; i++) {
		rig_single(&m, &word);
		rig_message(&r, i * MF_US(1), MEMORY, &word, 1);
		rig_run(&r, (i + 1) * MF_US(1));
		cr_expect_eq(mf_switch_stats(r.sw)->drop_spoof, i, "as itself it gives up what it asked for");
		cr_expect_eq(r.outs[0], 0);
		m.src = MEMORY - 1;
	}
	rig_stop(&r);
}

Test(limits, faulty_configuration)
{
	rig_config(&config, 4);
	config.limits.rate = 1;
	cr_expect_null(mf_switch_new(&config));
	for (int i = 0; i < 8; i++) {
		rig_config(&config, 4);
		config.ports = i == 0 ? 1 : i == 1 ? MF_PORTS_MAX + 1 : config.ports;
		config.x = i == 2 ? 0 : i == 3 ? 129 : config.x;
		config.mac_table = i == 4 ? 0 : i == 5 ? 2 : i == 6 ? 48 : config.mac_table;
		config.port[3].mux.policy = i == 7 ? 99 : config.port[3].mux.policy;
		errno = 0;
		cr_expect_null(mf_switch_new(&config), "case %d", i);
		cr_expect_eq(errno, EINVAL, "case %d", i);
	}
	for (int i = 0; i < 4; i++) {
		struct mf_switch *sw;

		rig_config(&config, i == 0 ? 2 : 4);
		config.x = i == 1 ? 1 : i == 2 ? 128 : config.x;
		config.mac_table = i == 3 ? 4 : config.mac_table;
		sw = mf_switch_new(&config);
		cr_expect_not_null(sw, "case %d", i);
		mf_switch_free(sw);
	}
}
