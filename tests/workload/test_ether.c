/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "fake_host.h"
#include "workload/ether_frame.h"
#include "workload/mf_workload.h"
#include "workload/sequence.h"

static const uint16_t one[] = {3}, some[] = {1, 2, 3, 4};

/** A sender, node 1, and a receiver, node 3. */
struct pair {
	struct mf_node *tx_host, *rx_host;
	struct mf_ether *tx, *rx;
};

static struct mf_ether_config config(struct mf_node *h, const struct mf_ether_flow *flow)
{
	return (struct mf_ether_config){.host = h,
					.node = 1,
					.nodes = 16,
					.flows = flow,
					.flows_count = 1,
					.seed = 5,
					.stop = MF_US(100)};
}

static struct pair pair_new(uint16_t size)
{
	struct mf_ether_flow flow = {.targets = one, .targets_count = 1, .size = size, .interval = MF_US(1)};
	struct pair p = {.tx_host = fake_host_new(), .rx_host = fake_host_new()};
	struct mf_ether_config c = config(p.tx_host, &flow);

	p.tx = mf_ether_new(&c);
	c = (struct mf_ether_config){.host = p.rx_host, .node = 3, .nodes = 16, .measure = MF_US(50)};
	p.rx = mf_ether_new(&c);
	cr_assert_not_null(p.tx);
	cr_assert_not_null(p.rx);
	return p;
}

static void pair_free(struct pair *p)
{
	mf_ether_free(p->tx);
	mf_ether_free(p->rx);
	cr_assert_null(p->rx_host->frame_fn);
	free(p->tx_host);
	free(p->rx_host);
}

static mf_time drive(struct mf_ether *e, mf_time from, mf_time until)
{
	mf_time now = from, next;

	while ((next = mf_ether_run(e, now)) <= until)
		now = next;
	return next;
}

static void deliver(struct pair *p, unsigned int i, mf_time at)
{
	p->rx_host->frame_fn(p->rx_host->frame_ctx, at, p->tx_host->frame[i], p->tx_host->frame_len[i]);
}

Test(ether, every_size_arrives)
{
	for (unsigned int size = 64; size <= 9004; size += size < 200 ? 1 : 149) {
		struct pair p = pair_new((uint16_t)size);

		cr_assert_eq(drive(p.tx, 0, MF_SEC(1)), MF_NEVER);
		cr_assert(mf_ether_finished(p.tx));
		cr_assert_eq(p.tx_host->frames, 100);
		for (unsigned int i = 0; i < 100; i++) {
			cr_assert_eq(p.tx_host->frame_len[i], size - 4);
			deliver(&p, i, MF_US(200));
		}
		cr_assert_eq(mf_ether_stats(p.tx)->sent, 100);
		cr_assert_eq(mf_ether_sent_to(p.tx, 3), 100);
		cr_assert_eq(mf_ether_received_from(p.rx, 1), 100);
		cr_assert_eq(mf_ether_received_from(p.rx, 2), 0);
		cr_assert_eq(mf_ether_stats(p.rx)->received, 100);
		cr_assert_eq(mf_ether_stats(p.rx)->octets, 50 * size);
		cr_assert_eq(mf_ether_stats(p.rx)->latency.count, 50);
		cr_assert_gt(mf_ether_stats(p.rx)->latency.min, MF_US(100));
		cr_assert_leq(mf_ether_stats(p.rx)->latency.max, MF_US(150));
		cr_assert_eq(mf_ether_stats(p.rx)->lost + mf_ether_stats(p.rx)->damaged, 0);
		pair_free(&p);
	}
}

/* Every single bit of a frame that is flipped is noticed; nothing cut or longer passes. */
Test(ether, every_bit_counts)
{
	struct pair p = pair_new(131);
	const struct mf_ether_stats *s = mf_ether_stats(p.rx);
	uint8_t *frame = p.tx_host->frame[0];

	drive(p.tx, 0, MF_SEC(1));
	for (unsigned int bit = 0; bit < 127 * 8; bit++) {
		frame[bit / 8] ^= 1 << bit % 8;
		deliver(&p, 0, MF_US(200));
		frame[bit / 8] ^= 1 << bit % 8;
	}
	cr_assert_eq(s->received, 0);
	cr_assert_eq(s->foreign, (6 + 2) * 8, "another destination or EtherType");
	cr_assert_eq(s->damaged, 127 * 8 - s->foreign);
	for (unsigned int len = 0; len < 140; len++)
		if (len != 127)
			p.rx_host->frame_fn(p.rx_host->frame_ctx, MF_US(200), frame, (uint16_t)len);
	cr_assert_eq(s->received, 0);
	deliver(&p, 0, MF_US(200));
	cr_assert_eq(s->received, 1);
	pair_free(&p);
}

Test(ether, loss_duplicates_and_reordering)
{
	struct pair p = pair_new(64);
	const struct mf_ether_stats *s = mf_ether_stats(p.rx);

	drive(p.tx, 0, MF_SEC(1));
	for (unsigned int i = 0; i < 100; i++)
		if (i % 10 != 7 && i != 20 && i != 21)
			deliver(&p, i, MF_US(200));
	cr_assert_eq(s->lost, 12);
	cr_assert_eq(s->received, 88);
	deliver(&p, 37, MF_US(200)); /* late */
	cr_assert_eq(s->lost, 11);
	cr_assert_eq(s->reordered, 1);
	deliver(&p, 37, MF_US(200)); /* and again */
	deliver(&p, 99, MF_US(200));
	cr_assert_eq(s->duplicated, 2);
	cr_assert_eq(s->lost, 11);
	cr_assert_eq(s->received, 89);
	cr_assert_eq(mf_ether_sent_to(p.tx, 3) - mf_ether_received_from(p.rx, 1), 11);
	pair_free(&p);
}

/* Against a plain record of what has come, with gaps smaller and larger than the window. */
Test(ether, sequence_equals_a_record)
{
	enum { NUMBERS = 30000 };
	struct sequence s = {0};
	bool *seen = calloc(NUMBERS, sizeof(*seen));
	uint64_t top = 0, gap, received = 0;
	struct mf_rng r;

	mf_rng_init(&r, 77, "test", 0);
	for (int i = 0; i < 100000 && top < NUMBERS - 4000; i++) {
		uint64_t reach = mf_rng_below(&r, 50) == 0 ? 3000 : 20;
		uint64_t back = mf_rng_below(&r, 200) == 0 ? 1500 : 15;
		uint64_t n = top + mf_rng_below(&r, reach), next = top;
		enum sequence_verdict v;

		n -= n < back ? 0 : back;
		v = sequence_take(&s, n, &gap);
		if (n >= next) {
			cr_assert_eq(v, SEQUENCE_NEW);
			cr_assert_eq(gap, n - next);
			top = n + 1;
		} else if (next - n > MF_ETHER_WINDOW || seen[n]) {
			cr_assert_eq(v, SEQUENCE_AGAIN);
			continue;
		} else {
			cr_assert_eq(v, SEQUENCE_LATE);
		}
		seen[n] = true;
		cr_assert_eq(s.received, ++received);
	}
	cr_assert_gt(top, 5000);
	free(seen);
}

/* No room: sent later, once, in order; the intended time stays. */
Test(ether, waits_for_room)
{
	struct pair p = pair_new(64);
	const struct mf_ether_stats *s = mf_ether_stats(p.tx);
	mf_time retry;

	p.tx_host->frame_room = 10;
	drive(p.tx, 0, MF_US(60));
	cr_assert_eq(s->sent, 10);
	cr_assert_eq(s->refused, 1);
	p.tx_host->frame_room = 256;
	retry = mf_ether_run(p.tx, MF_US(60) + 1);
	cr_assert_eq(s->sent, 10, "an additional call changes nothing");
	cr_assert_eq(mf_ether_run(p.tx, retry - 1), retry);
	cr_assert_eq(s->sent, 10);
	cr_assert_eq(drive(p.tx, MF_US(61), MF_SEC(1)), MF_NEVER);
	cr_assert_eq(s->sent, 100);
	cr_assert_eq(s->refused, 1);
	for (unsigned int i = 0; i < 100; i++)
		deliver(&p, i, MF_US(100));
	cr_assert_eq(mf_ether_stats(p.rx)->received, 100);
	cr_assert_eq(mf_ether_stats(p.rx)->lost, 0);
	pair_free(&p);
}

/* Two flows: their rates, their targets, never itself; the pairs' sequence numbers run through both. */
Test(ether, flows)
{
	struct mf_ether_flow flow[] = {
		{.targets = some, .targets_count = 4, .size = 100, .interval = MF_NS(500), .poisson = true},
		{.targets = one, .targets_count = 1, .size = 200, .interval = MF_US(1), .poisson = true},
	};
	struct mf_node *h = fake_host_new();
	struct mf_ether_config c = config(h, flow);
	unsigned int size[2] = {0}, to[5] = {0};
	uint64_t next[5] = {0}, sent = 0;
	struct mf_ether *e;
	mf_time now = 0, last = 0;

	c.flows_count = 2;
	c.stop = MF_US(2000);
	e = mf_ether_new(&c);
	while (now != MF_NEVER) {
		now = mf_ether_run(e, now);
		for (unsigned int i = 0; i < h->frames; i++) {
			struct ether_fields f;
			uint16_t node = h->frame[i][5];

			cr_assert_eq(ether_frame_get(h->frame[i], h->frame_len[i], node, &f), ETHER_OURS);
			cr_assert(node != 1 && node <= 4);
			cr_assert_eq(f.number, next[node]++);
			cr_assert_geq(f.intended, last);
			last = f.intended;
			size[h->frame_len[i] == 196]++;
			to[node]++;
			sent++;
		}
		h->frames = 0;
	}
	cr_assert_lt(last, MF_US(2000));
	cr_assert_eq(mf_ether_stats(e)->sent, sent);
	cr_assert_float_eq((double)size[0], 4000, 4 * sqrt(4000));
	cr_assert_float_eq((double)size[1], 2000, 4 * sqrt(2000));
	cr_assert_float_eq((double)to[2], 4000 / 3.0, 4 * sqrt(4000 / 3.0));
	cr_assert_float_eq((double)to[3], 4000 / 3.0 + 2000, 4 * sqrt(4000 / 3.0 + 2000));
	mf_ether_free(e);
	free(h);
}

static int failure(const struct mf_ether_config *c)
{
	struct mf_ether *e = mf_ether_new(c);
	int err = e == NULL ? errno : 0;

	mf_ether_free(e);
	return err;
}

Test(ether, refuses_bad_configurations)
{
	static const uint16_t own[] = {1}, far[] = {512};
	const struct mf_ether_flow good = {.targets = one, .targets_count = 1, .size = 64, .interval = 1};
	struct mf_ether_flow f = good;
	struct mf_node *h = fake_host_new();
	struct mf_ether_config c = config(h, &f);

	cr_assert_eq(failure(&c), 0);
	f.size = 63;
	cr_assert_eq(failure(&c), EINVAL);
	f.size = 9005;
	cr_assert_eq(failure(&c), EINVAL);
	f = good, f.interval = 0;
	cr_assert_eq(failure(&c), EINVAL);
	f = good, f.targets = own;
	cr_assert_eq(failure(&c), EINVAL);
	f = good, f.targets = far;
	cr_assert_eq(failure(&c), EINVAL);
	f = good, f.targets_count = 0;
	cr_assert_eq(failure(&c), EINVAL);
	f = good, c.node = 512;
	cr_assert_eq(failure(&c), EINVAL);
	c = config(NULL, &f);
	cr_assert_eq(failure(&c), EINVAL);
	free(h);
}
