/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the engine of the virtual clock. The two sides, the nodes and the switch, know of each other by
 * the wires alone: a span that one side sends at time t reaches the other at t + ahead at the earliest. So
 * each is run far ahead of the other, as long as nothing can reach it that it should have known; and
 * a node, which no other one can reach, for as long, all by itself.
 */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "capture/mf_tap.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_stages.h"
#include "virtual/arrivals.h"
#include "virtual/tournament.h"
#include "virtual/wire.h"

/** What a side is called for, in the order in which that is done at one time. */
enum virtual_call { VIRTUAL_RX, VIRTUAL_TX, VIRTUAL_RUN };

struct virtual_events;

/** When a node wants to be called, apart from what arrives. */
struct virtual_turn {
	mf_time tx, run;
};

/**
 * Where there are two switches there is one of these for each, with the wires to it: the second one has no
 * nodes of its own. They know of each other by the nodes alone.
 */
struct virtual
{
	struct mf_fabric *f;
	struct mf_sw *sw;
	struct mf_scheduler *sched;
	const struct link_timing *link; /**< [nodes]: of the links to it */
	unsigned int number; /**< of the switch */
	struct virtual *twin; /**< of the first switch: that of the second one; NULL: there is none */
	struct virtual *nodes; /**< who has the nodes: the first one */
	bool whole; /**< the switch collects what comes: the other one is active, and will be */
	/** Of two switches either one may become active, or be deposed, by the next block that it gets. */
	bool unsettled;
	bool reviving; /**< the switch was deposed, and some of its ports are not yet up again */
	mf_time revive_at; /**< that is looked at then */
	const struct mf_run_options *options;
	struct wire *up, *down; /**< [nodes]: from the node, to the node */
	struct flights flights; /**< of all wires */
	struct wire_entry *rings; /**< of all wires */
	struct mf_captures *captures; /**< NULL: nothing is captured */
	mf_time late; /**< a span that is sent at t may start so long before it */
	struct mf_span span; /**< the one that is sent or received */
	unsigned int max; /**< blocks a span */
	mf_time now; /**< of the event under way */
	/** What is sent at t arrives at t + ahead at the earliest. 0: the sides are called in step. */
	mf_time ahead;
	/* nodes */
	struct virtual_turn *turn; /**< [nodes] */
	mf_time *next; /**< [nodes]: of its next event */
	mf_time nodes_next; /**< the first of those */
	mf_time nodes_done; /**< their events up to and at this time are done */
	/** ahead is 0: what arrives at each port of the switch, then what each node is called for. */
	struct event_queue step;
	/* switch */
	struct event_queue queue; /**< of its actors */
	struct arrivals arrivals; /**< of the stretch under way */
	mf_time arrives; /**< the first that there is */
	mf_time switch_done;
	/* monitor */
	mf_time monitor_next;
	mf_time quiet_from; /**< behind the load: when something was under way last; 0: not looked at yet */
	bool over;
	/* faults */
	struct mf_fault_region *region; /**< [f->regions], what forgers know of them; NULL: nobody forges */
	bool *claimable; /**< [f->regions]: it has no owner in the file */
	bool forging; /**< somebody forges, so stages are told what comes to their nodes */
	/* ... that are not of a link's stage */
	struct virtual_events *events; /**< NULL: there are none */
	mf_time event_next;
};

/* outages.c: what breaks at a time. All others are called only where v->events is there. */
/** @return 0 or -ENOMEM */
int virtual_event_init(struct virtual *v);
void virtual_event_fini(struct virtual *v);
/** The run ends at v->now: so do test patterns. */
void virtual_tests_end(struct virtual *v);
/** Does what is due at v->event_next. @return 0 or -errno */
int virtual_event(struct virtual *v);
/** Looks whether it is known again which switch is active. */
void virtual_event_settle(struct virtual *v);

/** Who has the nodes: hands over what of frames' spans has arrived at v->now, when something breaks. */
void virtual_node_part(struct virtual *v, unsigned int i);
void virtual_port_part(struct virtual *v, unsigned int i);

/* link_state.c */
/** Where there are guards: node i or its port of the switch was given what came. */
void virtual_link_look(struct virtual *v, unsigned int i);

/* stall.c: who is called when, and what is dated by when, where somebody is stalled or gone */
/** What a node that would be called at t is called at: later, or never. */
mf_time virtual_event_node(const struct virtual *v, unsigned int i, mf_time t);
/** When a sender that would send at t may do so: a node, or a port of the switch. MF_NEVER: not yet */
mf_time virtual_event_up(const struct virtual *v, unsigned int i, mf_time t);
mf_time virtual_event_down(const struct virtual *v, unsigned int i, mf_time t);
/**
 * How many blocks a sender that may send at v->now may give out at once: a node, or a port of the switch. As
 * many as go before anything can happen to them, which is where a span ends.
 */
unsigned int virtual_event_up_blocks(const struct virtual *v, unsigned int i, mf_time now);
unsigned int virtual_event_down_blocks(const struct virtual *v, unsigned int i);
/**
 * What is sent on a wire: it starts when its sender is awake, and arrives when its receiver is.
 * @return how many of its blocks follow the first one without a gap: the others are dated by themselves
 */
unsigned int virtual_event_date(const struct virtual *v, const struct wire *w, struct mf_span *span);

/** The scheduler, by whose clock it wants to be called at t: when it is. */
mf_time virtual_event_sched_next(const struct virtual *v, mf_time t);
/** It is stalled now: until then. 0: it is not */
mf_time virtual_event_sched_stalled(const struct virtual *v);
/**
 * What arrives by then is known to: nothing breaks before, and while the switch has nothing left to tell its
 * scheduler, which does not stand still, that does not close it.
 */
mf_time virtual_event_open(const struct virtual *v);
/** Nothing arrives at the switch before. */
void virtual_event_close(struct virtual *v, mf_time until);
/** What it is given, by its clock. @param items  n that its channel takes */
void virtual_event_date_in(const struct virtual *v, void *items, unsigned int n);
/** Lets it run. @param out  room for max that its channel gives @return how many it gave */
unsigned int virtual_event_sched_run(const struct virtual *v, void *out, unsigned int max);

/* impair.c */
/** v->span is sent, with what happens to it. @return 0 or -ENOMEM */
int virtual_odd_send(struct virtual *v, struct wire *w, mf_time after);
/** What is held back and due at v->now goes. @return the same */
int virtual_fault_release(struct virtual *v, struct wire *w, mf_time after);
int virtual_fault_init(struct virtual *v);
/** v->span comes to a node: its stage is told, which may forge. */
void virtual_fault_hear(struct virtual *v, unsigned int node);
/** Counts what has happened. */
void virtual_fault_fini(struct virtual *v);

/** virtual.c: v->span is sent on a wire. */
void virtual_capture(struct virtual *v, const struct wire *w);

/**
 * Sends v->span.
 * @param after  what the receiver's side has done: it is not called for what lies before
 * @return number of blocks, or -errno
 */
static inline int virtual_send(struct virtual *v, struct wire *w, mf_time after, enum stage_place from,
			       enum stage_place to)
{
	int err, n = v->span.count;

	if (__builtin_expect(v->captures != NULL, 0))
		virtual_capture(v, w);
	if (v->f->stages != NULL)
		stages_link(v->f->stages, w->timing, &v->span, from, to);
	if (__builtin_expect(w->odd, 0)) {
		err = virtual_odd_send(v, w, after);
		return err < 0 ? err : n;
	}
	err = wire_send(w, &v->span, after);
	v->f->info.spans++;
	return err < 0 ? err : n;
}

static inline enum stage_place virtual_place(const struct virtual *v, unsigned int node)
{
	return v->f->node[node].memory != NULL ? PLACE_MEMORY : PLACE_COMPUTE;
}

/**
 * Takes what comes next by a wire, as far as it is known that it arrives: a block that comes behind the next
 * event may be lost, and may find another state at its receiver than those before it.
 */
static inline void virtual_receive(const struct virtual *v, struct wire *w, mf_time known,
				   struct mf_span *span)
{
	if (__builtin_expect(v->events != NULL, 0))
		wire_receive_until(w, known, span);
	else
		wire_receive(w, span);
}

/* nodes.c */
/** Calls the nodes for all that is due until then. @return 0 or -errno */
int virtual_nodes(struct virtual *v, mf_time until);
/** Calls the first node that is due at v->now for this. @return 1, 0: there is none, or -errno */
int virtual_node_one(struct virtual *v, enum virtual_call what);
/** Where ahead is 0: time of the nodes' next event. */
mf_time virtual_nodes_first(struct virtual *v);
/** @return 0 or -ENOMEM */
int virtual_nodes_init(struct virtual *v);
/** Something is under way to node i. */
void virtual_node_hears(struct virtual *v, unsigned int i);
/** What node i has to send at v->now. @return number of blocks, or -errno */
int virtual_node_tx(struct virtual *v, unsigned int i);
/** Node i was changed by who is no event of its own. */
void virtual_node_changed(struct virtual *v, unsigned int i);

/* switch.c */
/** Of two switches, whether it is known now which one is active until the next event. */
void virtual_switch_settles(struct virtual *v, bool settled);
/** @return 0 or -ENOMEM */
int virtual_switch_init(struct virtual *v);
/** Calls the switch and the scheduler for all that is due until then. @return 0 or -errno */
int virtual_switch(struct virtual *v, mf_time until);
/** Does what comes first at v->now, if it is no other than an arrival or RUN is given. @return as above */
int virtual_switch_one(struct virtual *v, enum virtual_call what);
/** What port i has to send at v->now. @return number of blocks, or -errno */
int virtual_port_tx(struct virtual *v, unsigned int i);
/** The switch was changed by who is no event of its own. */
void virtual_switch_changed(struct virtual *v);
/** Where there are events: when the switch, or its scheduler, that would be called at t is called. */
mf_time virtual_event_switch(const struct virtual *v, mf_time t);

/** When the first actor is called. */
static inline mf_time virtual_actor_next(struct virtual *v)
{
	mf_time t = event_next(&v->queue);

	return __builtin_expect(v->events != NULL, 0) ? virtual_event_switch(v, t) : t;
}

/** Where there are events: whether the link of node i is whole. */
bool virtual_event_whole(const struct virtual *v, unsigned int i);

/** Time of the switch's next event. */
static inline mf_time virtual_switch_next(struct virtual *v)
{
	return mf_time_min(v->arrives, virtual_actor_next(v));
}

/** The node of port i may have sent something. */
static inline void virtual_switch_hears(struct virtual *v, unsigned int i)
{
	if (v->ahead == 0)
		event_set(&v->step, i, wire_due(&v->up[i]));
	else
		v->arrives = mf_time_min(v->arrives, wire_due(&v->up[i]));
	if (__builtin_expect(v->twin != NULL, 0))
		virtual_switch_hears(v->twin, i);
}

#endif
