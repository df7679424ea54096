/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives in a stretch of time, against a search for the first one each time. */
#include <criterion/criterion.h>

#include "virtual/arrivals.h"
#include "base/mf_rng.h"

#define WIRES 37
#define STRETCHES 200
#define DELAY MF_NS(58)
#define PERIOD 640
#define RATE_MAX 40 /* spans that a wire gets in a stretch, at most */

struct bench {
	struct wire wire[WIRES];
	struct wire_entry ring[WIRES * WIRE_FIRST];
	mf_time free[WIRES]; /**< of the line */
	struct flights flights;
	struct arrivals arrivals;
	struct mf_rng rng;
	mf_time now;
	uint64_t seed;
};

/** Times are coarse, so that many are equal. */
static void send(struct bench *b, unsigned int i, mf_time until)
{
	struct mf_span span = {.period = PERIOD, .count = (uint16_t)(1 + mf_rng_below(&b->rng, 11))};

	for (unsigned int n = (unsigned int)mf_rng_below(&b->rng, RATE_MAX); n > 0 && b->free[i] < until;
	     n--) {
		span.start = b->free[i] + mf_rng_below(&b->rng, 4) * PERIOD;
		b->free[i] = mf_span_at(&span, span.count);
		cr_assert_eq(wire_send(&b->wire[i], &span, 0), 0);
	}
}

/** The wire whose first span is the first to arrive, of equal ones the first wire's. */
static unsigned int first_wire(const struct bench *b)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < WIRES; i++)
		if (wire_due(&b->wire[i]) < wire_due(&b->wire[first]))
			first = i;
	return first;
}

/** Takes all that arrives up to a time. @return how many */
static unsigned int take(struct bench *b, mf_time until)
{
	mf_time from = wire_due(&b->wire[first_wire(b)]), later;
	struct arrivals *a = &b->arrivals;
	unsigned int taken = 0;
	struct mf_span span;

	if (from > until)
		return 0;
	cr_assert_eq(arrivals_find(a, b->wire, WIRES, from, until, &later), 0);
	for (; arrivals_any(a); a->next++, taken++) {
		const struct arrival *x = &a->arrival[a->next];
		unsigned int i = first_wire(b);

		cr_assert_eq(arrivals_next(a), wire_due(&b->wire[i]), "seed %lu", b->seed);
		cr_assert_eq(arrival_port(x), i, "seed %lu", b->seed);
		cr_assert_eq(arrivals_ahead(a, 0), x);
		cr_assert_eq(x->flight, wire_flight(&b->wire[i], 0)->flight);
		wire_receive(&b->wire[i], &span);
	}
	cr_assert_null(arrivals_ahead(a, 0));
	cr_assert_eq(arrivals_next(a), MF_NEVER);
	cr_assert_eq(later, wire_due(&b->wire[first_wire(b)]), "seed %lu", b->seed);
	cr_assert_gt(later, until, "seed %lu", b->seed);
	return taken;
}

static unsigned int run(uint64_t seed)
{
	static struct bench b;
	const struct link_timing timing = {.delay = DELAY, .period = PERIOD};
	unsigned int taken = 0;

	b = (struct bench){.seed = seed, .now = MF_US(10)};
	mf_rng_init(&b.rng, seed, "arrivals", 0);
	cr_assert_eq(flights_init(&b.flights, WIRES), 0);
	for (unsigned int i = 0; i < WIRES; i++)
		wire_init(&b.wire[i], &timing, &b.flights, &b.ring[i * WIRE_FIRST]);
	for (unsigned int k = 0; k < STRETCHES; k++) {
		/* Short ones and long ones, after pauses now and then. */
		mf_time length =
			1 + mf_rng_below(&b.rng, mf_rng_below(&b.rng, 8) == 0 ? MF_US(10) : 2 * DELAY);

		for (unsigned int i = 0; i < WIRES; i++) {
			b.free[i] = mf_time_max(b.free[i], b.now);
			if (mf_rng_below(&b.rng, 4) != 0)
				send(&b, i, b.now + length);
		}
		taken += take(&b, b.now + DELAY);
		b.now += length;
	}
	arrivals_fini(&b.arrivals);
	for (unsigned int i = 0; i < WIRES; i++)
		wire_fini(&b.wire[i]);
	flights_fini(&b.flights);
	return taken;
}

Test(arrivals, are_in_the_order_of_time_and_port)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		cr_assert_gt(run(seed), 10 * STRETCHES, "seed %lu", seed);
}
