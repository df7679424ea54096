/* SPDX-License-Identifier: BSD-3-Clause */
/* pFabric's queue against the paper's words: a list that is looked through. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/mf_rng.h"
#include "systems/frames/mf_bridge.h"
#include "systems/mf_systems.h"
#include "systems/pfabric/pfabric_wire.h"

#define PORTS 3
#define ROOM 4000
#define NAIVE_MAX 256

struct naive_packet {
	uint32_t priority, flow, number;
	unsigned int ingress;
	uint16_t len;
};

/** In the order of their arrival. */
struct naive {
	struct naive_packet p[NAIVE_MAX];
	unsigned int n;
	uint64_t octets, arriving, lowest;
};

static void naive_remove(struct naive *q, unsigned int i)
{
	q->octets -= q->p[i].len + 4U;
	memmove(&q->p[i], &q->p[i + 1], (--q->n - i) * sizeof(q->p[i]));
}

static void naive_put(struct naive *q, const struct naive_packet *p)
{
	while (q->octets + p->len + 4 > ROOM) {
		unsigned int worst = 0;

		for (unsigned int i = 1; i < q->n; i++)
			if (q->p[i].priority >= q->p[worst].priority)
				worst = i;
		if (p->priority >= q->p[worst].priority) {
			q->arriving++;
			return;
		}
		naive_remove(q, worst);
		q->lowest++;
	}
	q->octets += p->len + 4U;
	q->p[q->n++] = *p;
}

static bool naive_take(struct naive *q, struct naive_packet *p)
{
	unsigned int best = 0, i = 0;

	if (q->n == 0)
		return false;
	for (unsigned int k = 1; k < q->n; k++)
		if (q->p[k].priority < q->p[best].priority)
			best = k;
	while (q->p[i].ingress != q->p[best].ingress || q->p[i].flow != q->p[best].flow)
		i++;
	*p = q->p[i];
	naive_remove(q, i);
	return true;
}

static struct mf_bridge *make(uint64_t *wants, double queue)
{
	static const bool up[PORTS] = {true, true, true};
	static const uint32_t period[PORTS] = {640, 640, 640};
	static const mf_time delay[PORTS] = {MF_NS(60), MF_NS(60), MF_NS(60)};
	double param[] = {1 << 20, 1500, queue};
	struct mf_bridge_config c = {.ports = PORTS,
				     .up = up,
				     .period = period,
				     .delay = delay,
				     .param = param,
				     .l2_latency = MF_NS(400),
				     .wants = wants};
	struct mf_bridge *b;

	c.timing.cost[MF_STAGE_PROTOCOL] = 666200;
	c.timing.cost[MF_STAGE_MAC] = 7680;
	b = mf_bridge_find("pfabric")->create(&c);
	cr_assert_not_null(b);
	return b;
}

static uint64_t counter(const struct mf_bridge *b, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];
	unsigned int n = mf_bridge_find("pfabric")->counters(b, c);

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert(false, "no counter %s", name);
	return 0;
}

static void offer(struct mf_bridge *b, mf_time at, const struct naive_packet *p)
{
	uint8_t frame[1600] = {0};
	struct mf_pfabric_header h = {.remaining = rte_cpu_to_be_32(p->priority),
				      .flow = rte_cpu_to_be_32(p->flow),
				      .segment = rte_cpu_to_be_32(p->number)};
	const struct mf_bridge_ops *ops = mf_bridge_find("pfabric");

	mf_packet_ipv4(frame, (uint16_t)p->ingress, 2, MF_PFABRIC_PROTOCOL, 0, MF_ECN_NOT,
		       (uint16_t)(p->len - 34));
	memcpy(frame + MF_PACKET_L4, &h, sizeof(h));
	ops->frame(b, p->ingress, at, frame, p->len);
	ops->run(b, at + MF_US(1));
}

static void compare(uint64_t seed)
{
	const struct mf_bridge_ops *ops = mf_bridge_find("pfabric");
	struct naive q = {0};
	struct mf_rng rng;
	uint64_t wants = 0, sent = 0;
	struct mf_bridge *b = make(&wants, ROOM);
	mf_time at = 0;

	mf_rng_init(&rng, seed, "queue", 0);
	for (uint32_t k = 0; k < 4000; k++) {
		struct naive_packet p = {.priority = (uint32_t)mf_rng_below(&rng, 20),
					 .flow = (uint32_t)mf_rng_below(&rng, 6),
					 .number = k,
					 .ingress = (unsigned int)mf_rng_below(&rng, 2),
					 .len = (uint16_t)(64 + mf_rng_below(&rng, seed % 2 ? 100 : 1400))};
		struct mf_pfabric_header h;
		const uint8_t *frame;
		uint16_t len;

		at += MF_US(2);
		if (mf_rng_below(&rng, 100) < (k / 500 % 2 ? 35 : 60)) {
			offer(b, at, &p);
			naive_put(&q, &p);
			continue;
		}
		len = ops->pull(b, 2, at, &frame);
		cr_assert_eq(len != 0, naive_take(&q, &p), "seed %" PRIu64 ", step %u", seed, k);
		if (len == 0)
			continue;
		sent++;
		cr_assert(mf_pfabric_peek(frame, len, &h));
		cr_assert_eq(rte_be_to_cpu_32(h.segment), p.number, "seed %" PRIu64 ", step %u", seed, k);
	}
	cr_assert_eq(counter(b, "drop_arriving"), q.arriving);
	cr_assert_eq(counter(b, "drop_lowest"), q.lowest);
	cr_assert_gt(q.arriving, 0);
	cr_assert_gt(q.lowest, 0);
	cr_assert_gt(sent, 1000);
	cr_assert_leq(counter(b, "queue_max_octets"), ROOM);
	ops->destroy(b);
}

Test(queue_pfabric, as_in_the_paper)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		compare(seed);
}

/* Twice the bandwidth-delay product; frames of others are the first to be dropped. */
Test(queue_pfabric, room_and_strangers)
{
	const struct mf_bridge_ops *ops = mf_bridge_find("pfabric");
	uint64_t wants = 0, room;
	struct mf_bridge *b = make(&wants, 0);
	uint8_t frame[1514] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	mf_time rtt = 2 * (MF_NS(2 * 60 + 400) + 2 * 7680) + 4 * (666200 + 7680) + 2 * (192 + 10) * 640;
	const uint8_t *out;

	room = counter(b, "queue_octets");
	cr_assert_float_eq((double)room, 2.0 * (double)rtt / 80, 100, "%" PRIu64, room);
	for (unsigned int i = 0; i < room / 1518; i++) {
		ops->frame(b, 1, i, frame, sizeof(frame));
		ops->run(b, MF_US(10));
	}
	cr_assert_eq(counter(b, "drop_lowest") + counter(b, "drop_arriving"), 0);
	offer(b, MF_US(20), &(struct naive_packet){.priority = UINT32_MAX - 1, .ingress = 0, .len = 1514});
	cr_assert_eq(counter(b, "drop_lowest"), 1);
	cr_assert_eq(ops->pull(b, 2, MF_US(30), &out), 1514);
	cr_assert_eq(out[11], 0, "it goes before all of them");
	cr_assert_eq(ops->pull(b, 2, MF_US(30), &out), 1514);
	cr_assert_eq(out[11], 1);
	ops->destroy(b);
}
