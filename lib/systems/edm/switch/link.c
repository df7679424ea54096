/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port whose link is lost, and comes back to a partner that may know nothing of what was before. Whatever
 * the switch and the scheduler hold of the port ends first, so that nothing of the old can be taken for new:
 *
 *              down                     no circuits                   answered
 *     LINK_UP ------> LINK_SWEEP ---------------------> LINK_FLUSH -------------> LINK_DOWN
 *        ^            its circuits end,                 the scheduler             |
 *        |            as there is room to tell          drops its demands         |
 *        +----------------------------------- up --------------------------------+
 *
 * Until it is up again nothing that comes for the port or from it is taken, and grants of it that were on
 * their way are refused. The scheduler flushes one port at a time.
 *
 * When it comes back all others are told, before anything passes: unacknowledged writes that have completed
 * for their sender (D11) may be lost, and who comes back may be a memory node with nothing in it.
 */
#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/incarnation.h"
#include "systems/edm/switch/standby.h"

#define INCARNATIONS 255 /* that a switch counts: what is told next must not be taken for the same */

/** The message and the frame that were arriving. */
static void cut(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct mf_span s;

	mf_span_no_signal(&s, now);
	rx_span(sw, port, now, &s);
}

static void lose(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct port *p = &sw->port[port];

	if (p->link != LINK_UP)
		return;
	p->link = LINK_SWEEP;
	p->reborn = false;
	sw->shell.links_lost++;
	clear_bit(sw->reach_set, port);
	cut(sw, port, now); /* what waits for a write that does not go on is let out no more (grant.c) */
	if (sw->standby != NULL)
		standby_link_down(sw, port);
	wake_at(sw, now);
}

/* Its log is not whole: what was asked before a link came up is known to the other switch alone. */
void link_begin_down(struct mf_switch *sw)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (sw->port[i].shell.up) {
			sw->port[i].link = LINK_DOWN;
			sw->shell.links_lost++;
			clear_bit(sw->reach_set, i);
		}
}

void mf_switch_link_down(struct mf_switch *sw, unsigned int port, mf_time now)
{
	lose(sw, port, now);
	if (sw->standby != NULL)
		clear_bit(sw->standby->coming, port);
}

void mf_switch_crash(struct mf_switch *sw, mf_time now)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (sw->port[i].shell.up)
			lose(sw, i, now);
	l2_forget(sw);
	if (sw->standby != NULL)
		standby_forget(sw);
}

bool link_tell_writes_lost(struct mf_switch *sw, uint16_t to, uint16_t of, mf_time now)
{
	return !test_bit(sw->reach_set, to) || link_say(sw, to, of, MF_ERR_RESTARTED, 0, 1, now);
}

/**
 * That goes for all that the others had for it. Nobody is told before all seem to have room: who is told asks
 * anew, and nothing is taken for that node before its link is up.
 * @return false: there is no room for all: again, later, from the first on: what was asked meanwhile is over
 */
static bool all_writes_lost(struct mf_switch *sw, uint16_t of, mf_time now)
{
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (i != of && test_bit(sw->reach_set, i) && !mf_mux_room(sw->port[i].shell.mux, TOLD_TIMES))
			return false;
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (i != of && test_bit(sw->reach_set, i) &&
		    !link_say(sw, i, of, MF_ERR_RESTARTED, 0, TOLD_TIMES, now))
			return false;
	return true;
}

/** Nothing of before can come of a node whose link was lost, but others may have answers for it. */
static void begin_incarnation(struct mf_switch *sw, uint16_t port, mf_time now)
{
	if (sw->port[port].reborn)
		return;
	sw->port[port].reborn = true;
	incarnation_cut(sw, port);
	incarnation_begin(sw, port, sw->incarnations->of[port].number % INCARNATIONS + 1, true, now);
}

/** What the others are told before anything passes. @return false: there is no room for all: again, later */
static bool announce(struct mf_switch *sw, uint16_t port, mf_time now)
{
	if (!sw->port[port].shell.up || !sw->port[port].shell.memory_enabled)
		return true;
	if (sw->standby != NULL) /* a node with two links says itself which incarnation it is */
		return standby_idle(sw) || all_writes_lost(sw, port, now);
	begin_incarnation(sw, port, now);
	return incarnation_tell(sw, port, now);
}

bool mf_switch_link_up(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct port *p = &sw->port[port];

	if (p->link == LINK_UP)
		return true;
	if (p->link != LINK_DOWN || mf_mux_backlog(p->shell.mux, now) > 0)
		return false;
	if (!announce(sw, (uint16_t)port, now))
		return false;
	p->link = LINK_UP;
	sw->shell.links_lost--;
	if (p->shell.up && p->shell.memory_enabled)
		set_bit(sw->reach_set, port);
	if (sw->standby != NULL)
		standby_link_up(sw, port, now);
	else
		incarnation_doubt(sw, (uint16_t)port, now);
	wake_at(sw, now);
	return true;
}

/** Descriptors that can be told for a circuit's end, with some left for what arrives. */
static bool can_tell(const struct mf_switch *sw)
{
	return sw->out_head - sw->out_tail <= sw->out_mask / 2;
}

/** Circuits from `ingress` that begin or end at a port. @return false: no room to end all of them */
static bool sweep_ring(struct mf_switch *sw, unsigned int ingress, unsigned int port, mf_time now)
{
	uint32_t c = sw->circuits[ingress].next;

	while (circuit_is(sw, c)) {
		uint32_t next = sw->circuits[c].next;

		if (ingress == port || sw->circuits[c].dst == port) {
			if (!can_tell(sw))
				return false;
			circuit_kill(sw, c, now);
		}
		c = next;
	}
	return true;
}

static bool sweep(struct mf_switch *sw, unsigned int port, mf_time now)
{
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (!sweep_ring(sw, i, port, now))
			return false;
	return true;
}

mf_time link_run(struct mf_switch *sw, mf_time now)
{
	for (unsigned int i = 0; i < sw->shell.ports && !sw->flushing; i++) {
		if (sw->port[i].link != LINK_SWEEP)
			continue;
		if (!sweep(sw, i, now) || !can_tell(sw))
			return now; /* when the scheduler has taken what it was told */
		sw->flushing = true;
		sw->port[i].link = LINK_FLUSH;
		/* Behind what has arrived and is being looked at: that is still told as a demand. */
		switch_tell(sw, &(struct mf_sched_msg){.at = now + sw->identify,
						       .src = (uint16_t)i,
						       .dst = (uint16_t)i,
						       .kind = MF_SCHED_FLUSH});
	}
	return MF_NEVER;
}

void link_flushed(struct mf_switch *sw, unsigned int port, mf_time now)
{
	sw->port[port].link = LINK_DOWN;
	sw->flushing = false;
	wake_at(sw, now);
}
