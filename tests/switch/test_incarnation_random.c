/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes begin lives and lose links at random, switches crash, words are lost and find no room. When all is
 * well again every node has told its incarnation, every other one has heard it, and all that they answer
 * passes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "redundant_rig.h"

#define TURNS 200
#define CALM 1500 /* turns: some pauses at their longest */
#define TURN MF_US(2)

/** A node, as far as TAKE and lives go. */
struct end {
	bool up, heard;
	uint16_t incarnation;
	mf_time again; /**< its TAKE is said again then, if it is not heard */
	unsigned int seen; /**< blocks that it has looked at */
};

static bool is_lost(struct mf_rng *rng, unsigned int percent)
{
	return mf_rng_below(rng, 100) < percent;
}

static void look(struct rig *r, uint16_t port, struct end *e, uint64_t word, struct mf_rng *rng)
{
	struct mf_msg m, heard = {.kind = MF_ERR, .src = port, .status = MF_ERR_INCARNATION};

	if (mf_proto_get_single(word, &m) != 0)
		return;
	if (m.kind == MF_TAKE && m.op != MF_TAKE_LOST) {
		e->heard = m.op == MF_TAKE_HEARD;
		e->again = 0;
	} else if (m.kind == MF_ERR && mf_proto_of_incarnation(m.status) && mf_proto_incarnation(&m) != 0) {
		heard.dst = m.src;
		mf_proto_set_incarnation(&heard, mf_proto_incarnation(&m));
		rig_single(&heard, &word);
		rig_message(r, r->now + 1 + mf_rng_below(rng, MF_US(1)), port, &word, 1);
	}
}

/** Both ways so many words of a hundred are lost. */
static void turn(struct rig *r, struct end *end, struct mf_rng *rng, unsigned int percent)
{
	for (uint16_t i = 0; i < PORTS; i++) {
		struct end *e = &end[i];

		for (; e->seen < r->outs[i]; e->seen++)
			if (e->up && !is_lost(rng, 2 * percent))
				look(r, i, e, r->out[i][e->seen].word, rng);
		if (!e->up || e->heard || r->now < e->again)
			continue;
		e->again = r->now + AGAIN;
		if (!is_lost(rng, percent))
			redundant_say(r, r->now + 1, i, MF_TAKE_TELL, 0, e->incarnation);
	}
	rig_run(r, r->now + TURN);
}

static void flushed(struct rig *r, uint16_t port)
{
	rig_run(r, r->now + 1);
	rig_grant(r, r->now + 1, &(struct mf_sched_grant){.src = port, .dst = port});
	rig_run(r, r->now + 2);
}

static void up(struct rig *r, uint16_t port, struct end *e)
{
	if (!e->up && mf_switch_link_up(r->sw, port, r->now))
		*e = (struct end){.up = true, .incarnation = e->incarnation, .seen = e->seen};
}

static void down(struct rig *r, uint16_t port, struct end *e, bool new_incarnation)
{
	if (!e->up)
		return;
	mf_switch_link_down(r->sw, port, r->now);
	flushed(r, port);
	e->up = e->heard = false;
	e->incarnation += new_incarnation;
}

static void crash(struct rig *r, struct end *end)
{
	mf_switch_crash(r->sw, r->now);
	for (uint16_t i = 0; i < PORTS; i++) {
		if (end[i].up)
			flushed(r, i);
		end[i].up = end[i].heard = false;
	}
}

/** What the other switch told one of another one's incarnation, that says here, too. */
static void overhear(struct rig *r, const struct end *end, uint16_t port, uint16_t of)
{
	if (port != of && end[port].up)
		redundant_hears(r, r->now + 1, port, of, (uint8_t)end[of].incarnation);
}

static void happen(struct rig *r, struct end *end, struct mf_rng *rng)
{
	uint16_t port = (uint16_t)mf_rng_below(rng, PORTS);

	switch (mf_rng_below(rng, 12)) {
	case 0:
		down(r, port, &end[port], mf_rng_below(rng, 2));
		break;
	case 1:
		overhear(r, end, (uint16_t)mf_rng_below(rng, PORTS), port);
		break;
	case 2:
		if (mf_rng_below(rng, 10) == 0)
			crash(r, end);
		break;
	case 3:
		mf_switch_close(r->sw, port, mf_rng_below(rng, 2));
		break;
	case 4:
	case 5:
	case 6:
		up(r, port, &end[port]);
		break;
	default:
		break;
	}
}

/** @return ACKs that pass, of all from each to each */
static uint64_t answers(struct rig *r)
{
	uint64_t before = mf_switch_stats(r->sw)->singles, word;

	for (uint16_t i = 0; i < PORTS; i++)
		for (uint16_t k = 0; k < PORTS; k++) {
			const struct mf_msg ack = {.kind = MF_ACK, .src = i, .dst = k};

			rig_single(&ack, &word);
			if (i != k)
				rig_message(r, r->now + 1 + k * MF_NS(10), i, &word, 1);
		}
	rig_run(r, r->now + MF_US(1));
	return mf_switch_stats(r->sw)->singles - before;
}

static void play(uint64_t seed)
{
	struct end end[PORTS];
	struct mf_rng rng;
	struct rig r;

	mf_rng_init(&rng, seed, "lives", 0);
	redundant_start_patient(&r, seed & 1);
	for (uint16_t i = 0; i < PORTS; i++)
		end[i] = (struct end){.up = true, .heard = true, .incarnation = 1};
	for (unsigned int i = 0; i < TURNS; i++) {
		happen(&r, end, &rng);
		turn(&r, end, &rng, seed % 3 * 20);
	}
	for (uint16_t i = 0; i < PORTS; i++)
		mf_switch_close(r.sw, i, false);
	for (unsigned int i = 0; i < CALM; i++) {
		for (uint16_t k = 0; k < PORTS; k++)
			up(&r, k, &end[k]);
		turn(&r, end, &rng, 0);
	}
	for (uint16_t i = 0; i < PORTS; i++)
		cr_expect(end[i].up && end[i].heard, "seed %lu, node %u", seed, i);
	cr_expect_eq(answers(&r), PORTS * (PORTS - 1), "seed %lu", seed);
	rig_stop(&r);
}

Test(incarnations_random, all_is_heard_in_the_end)
{
	uint64_t seeds = getenv("MF_LONG") != NULL ? 10000 : 2000;

	for (uint64_t seed = 0; seed < seeds; seed++)
		play(seed);
}
