/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the engine of the virtual clock. It calls groups of roles: a node, or a switch with its
 * scheduler. Groups know of each other by the wires alone: a span that is sent at time t reaches the
 * other end of its link at t + ahead at the earliest. The groups are divided into two classes, without a
 * link within a class where the graph allows that (topology/mf_classes.h). So each class is run far
 * ahead of the other, as long as nothing can reach it that it should have known; and each group of it
 * for as long, by itself.
 *
 *     star        class 0: all nodes; class 1: the switch, or both switches
 */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "capture/mf_tap.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_stages.h"
#include "virtual/arrivals.h"
#include "virtual/tournament.h"
#include "virtual/wire.h"

#define VIRTUAL_AHEAD_MAX MF_SEC(1)

/** What a group is called for, in the order in which that is done at one time. */
enum virtual_call { VIRTUAL_RX, VIRTUAL_TX, VIRTUAL_RUN };

struct virtual_class;
struct virtual_outages;
struct switch_events;

/** A node. */
struct virtual_node {
	mf_time tx, run; /**< when it wants to be called, apart from what arrives */
	struct wire *in; /**< [ends]: what comes to it, by port */
	struct wire *out; /**< what it sends by its first end */
	struct wire *mirror; /**< the same, by its second end (1+1 protection); NULL: it has no such end */
	uint32_t ends;
	bool apart; /**< several ends, and each sends what is its own: ends.c */
	struct virtual_class *class;
} __attribute__((aligned(64)));

/** A switch with its scheduler. */
struct virtual_switch {
	struct virtual *v;
	struct mf_sw *sw;
	struct mf_scheduler *sched;
	unsigned int number; /**< among the switches */
	unsigned int ports;
	unsigned int class;
	struct wire *in; /**< [ports]: what comes by each of them */
	struct wire **out; /**< [ports]: what each of them sends */
	struct tournament queue; /**< of its actors */
	struct arrivals arrivals; /**< of the stretch under way */
	mf_time arrives; /**< the first that there is */
	struct tournament step; /**< ahead is 0: what arrives at each port */
	struct switch_events *outages; /**< NULL: there are none */
	bool whole; /**< it collects what comes: the other one of two is active, and will be */
	bool reviving; /**< it was demoted, and some of its ports are not yet up again */
	mf_time revive_at; /**< that is looked at then */
};

/** One of two classes. */
struct virtual_class {
	mf_time done; /**< its events up to and at this time are done */
	mf_time nodes_next; /**< the first of its nodes' next events */
	uint32_t *node; /**< [nodes]: which */
	uint32_t *sw; /**< [switches] */
	unsigned int nodes, switches;
};

struct virtual
{
	struct mf_fabric *f;
	const struct mf_topology *graph;
	const struct mf_run_options *options;
	struct mf_captures *captures; /**< NULL: nothing is captured */
	bool observed; /**< what is sent is captured, or goes into a series */
	struct virtual_node *node; /**< [nodes] */
	mf_time *next; /**< [nodes]: of its next event */
	struct virtual_switch *sw; /**< [switches] */
	unsigned int switches;
	bool redundant; /**< one of two switches is active, and each node sends to both */
	/** Either of two such switches may become active, or be demoted, by the next block that it gets. */
	bool unsettled;
	struct wire *wire; /**< [graph->ends]: what arrives at each of them */
	struct wire **outs; /**< of all switches' ports */
	struct flights flights; /**< of all wires */
	struct wire_entry *rings; /**< of all wires */
	mf_time late; /**< a span that is sent at t may start so long before it */
	struct mf_span span; /**< the one that is sent or received */
	struct mf_span copy; /**< of what goes by a mirror */
	unsigned int max; /**< blocks a span */
	mf_time now; /**< of the event under way */
	/** What is sent at t arrives at t + ahead at the earliest. 0: all groups are called in step. */
	mf_time ahead;
	mf_time within; /**< the same of links within a class; MF_NEVER: there is none */
	struct virtual_class class[2];
	uint32_t *members; /**< of both classes */
	/** ahead is 0: what each node is called for. */
	struct tournament step;
	/* monitor */
	mf_time monitor_next; /**< the earlier of look_next and the end of a step of f->series */
	mf_time look_next; /**< when the snapshots and the end are looked for */
	mf_time quiet_from; /**< behind the load: when something was under way last; 0: not looked at yet */
	bool over;
	/* faults */
	struct mf_fault_region *region; /**< [f->regions], what forgers know of them; NULL: nobody forges */
	bool *claimable; /**< [f->regions]: it has no owner in the file */
	bool forging; /**< somebody forges, so stages are told what comes to their nodes */
	/* ... that are not of a link's stage */
	struct virtual_outages *outages; /**< NULL: there are none */
	mf_time outage_next;
};

/** The wire of the other direction of a link. */
static inline struct wire *virtual_back(const struct virtual *v, const struct wire *w)
{
	return &v->wire[v->graph->end[w->end].peer];
}

/** The link of a wire. */
static inline uint32_t virtual_link(const struct virtual *v, const struct wire *w)
{
	return v->graph->end[w->end].link;
}

/* outages.c: what breaks at a time. All others are called only where v->events is there. */
/** @return 0 or -ENOMEM */
int virtual_outage_init(struct virtual *v);
void virtual_outage_fini(struct virtual *v);
/** The run ends at v->now: so do test patterns. */
void virtual_tests_end(struct virtual *v);
/** Does what is due at v->outage_next. @return 0 or -errno */
int virtual_outage(struct virtual *v);
/** Looks whether it is known again which switch is active. */
void virtual_outage_settle(struct virtual *v);

/** Hands over what of frames' spans has arrived at v->now, when something breaks. */
void virtual_node_part(struct virtual *v, unsigned int i);
void virtual_port_part(struct virtual_switch *s, unsigned int i);

/* link_state.c */
/** What arrived by a wire at v->now may have shown too much corruption. */
void virtual_link_look(struct virtual *v, const struct wire *w);

/* stall.c: who is called when, and what is dated by when, where somebody is stalled or gone */
/** What a node that would be called at t is called at: later, or never. */
mf_time virtual_outage_node(const struct virtual *v, unsigned int i, mf_time t);
/**
 * When a sender that would send at t may do so: a node by one of its links, or a port of a switch. MF_NEVER:
 * not yet
 */
mf_time virtual_outage_node_sends(const struct virtual *v, unsigned int i, const struct wire *w, mf_time t);
mf_time virtual_outage_port_sends(const struct virtual_switch *s, unsigned int i, mf_time t);
/**
 * How many blocks the sender of a wire that may send at v->now may give out at once: as many as go before
 * anything can happen to them, which is where a span ends.
 */
unsigned int virtual_outage_blocks(const struct virtual *v, const struct wire *w);
/**
 * What is sent on a wire: it starts when its sender is awake, and arrives when its receiver is.
 * @return how many of its blocks follow the first one without a gap: the others are dated by themselves
 */
unsigned int virtual_outage_date(const struct virtual *v, const struct wire *w, struct mf_span *span);

/** The scheduler, by whose clock it wants to be called at t: when it is. */
mf_time virtual_outage_sched_next(const struct virtual_switch *s, mf_time t);
/** It is stalled now: until then. 0: it is not */
mf_time virtual_outage_sched_stalled(const struct virtual_switch *s);
/**
 * What arrives by then is known to: nothing breaks before, and while the switch has nothing left to tell its
 * scheduler, which does not stand still, that does not close it.
 */
mf_time virtual_outage_open(const struct virtual_switch *s);
/** Nothing arrives at the switch before. */
void virtual_outage_close(struct virtual_switch *s, mf_time until);
/** What it is given, by its clock. @param items  n that its channel takes */
void virtual_outage_date_in(const struct virtual_switch *s, void *items, unsigned int n);
/** Lets it run. @param out  room for max that its channel gives @return how many it gave */
unsigned int virtual_outage_sched_run(const struct virtual_switch *s, void *out, unsigned int max);

/* impair.c */
/** A span is sent, with what happens to it. @return 0 or -ENOMEM */
int virtual_impair_send(struct virtual *v, struct wire *w, struct mf_span *span);
/** What is held back and due at v->now goes. @return the same */
int virtual_fault_release(struct virtual *v, struct wire *w);
int virtual_fault_init(struct virtual *v);
/** v->span comes to a node: its stage is told, which may forge. */
void virtual_fault_hear(struct virtual *v, unsigned int node);
/** Counts what has happened. */
void virtual_fault_fini(struct virtual *v);

/** virtual.c: a span is sent on a wire, and captured or counted. */
void virtual_observe(struct virtual *v, const struct wire *w, const struct mf_span *span);

/** What the class of the receiver of a wire has done: it is not called for what lies before. */
static inline mf_time virtual_done(const struct virtual *v, const struct wire *w)
{
	return v->class[w->class].done;
}

/** Sends a span: v->span, or v->copy. @return number of blocks, or -errno */
static inline int virtual_send(struct virtual *v, struct wire *w, struct mf_span *span)
{
	int err, n = span->count;

	if (__builtin_expect(v->observed, 0))
		virtual_observe(v, w, span);
	if (v->f->stages != NULL)
		stages_link(v->f->stages, w->timing, span, (enum stage_place)w->from_place,
			    (enum stage_place)w->to_place);
	if (__builtin_expect(w->impaired, 0)) {
		err = virtual_impair_send(v, w, span);
		return err < 0 ? err : n;
	}
	err = wire_send(w, span, virtual_done(v, w));
	v->f->info.spans++;
	return err < 0 ? err : n;
}

/**
 * Takes what comes next by a wire, as far as it is known that it arrives: a block that comes behind the next
 * event may be lost, and may find another state at its receiver than those before it.
 */
static inline void virtual_receive(const struct virtual *v, struct wire *w, mf_time known,
				   struct mf_span *span)
{
	if (__builtin_expect(v->outages != NULL, 0))
		wire_receive_until(w, known, span);
	else
		wire_receive(w, span);
}

/* set_up.c */
/** Makes what the engine has of v->f and v->options. @return 0 or -errno */
int virtual_set_up(struct virtual *v);
void virtual_tear_down(struct virtual *v);

/* nodes.c */
/** Calls the nodes of a class for all that is due until then. @return 0 or -errno */
int virtual_nodes(struct virtual *v, struct virtual_class *c, mf_time until);
/** Calls the first node that is due at v->now for this. @return 1, 0: there is none, or -errno */
int virtual_node_one(struct virtual *v, enum virtual_call what);
/** @return 0 or -ENOMEM */
int virtual_nodes_init(struct virtual *v);
/** Something is under way to node i, by a wire. */
void virtual_node_hears(struct virtual *v, unsigned int i, const struct wire *w);
/** Blocks of frames are given out late: those that node i has begun by v->now go. @return 0 or -errno */
int virtual_node_begun(struct virtual *v, unsigned int i);
/** It was called, or heard something: sets when it is to be called again. */
void virtual_node_after(struct virtual *v, unsigned int i);

/* ends.c: a node whose ends send apart */
/** When one of its ends may send, or what a fault held back goes. */
mf_time virtual_ends_next(const struct virtual *v, unsigned int i);
/** When something arrives by one of them. @param end  set to the first such end */
mf_time virtual_ends_arrive(const struct virtual *v, unsigned int i, unsigned int *end);
/** What is due of one of them at v->now. @return number of blocks, or -errno */
int virtual_ends_tx(struct virtual *v, unsigned int i);
/** What each of them has begun by v->now goes. @return 0 or -errno */
int virtual_ends_begun(struct virtual *v, unsigned int i);
/** It may have sent something by each of them. */
void virtual_ends_tell(struct virtual *v, unsigned int i);
/** Node i was changed by who is no event of its own. */
void virtual_node_changed(struct virtual *v, unsigned int i);

/* switch.c */
/** Of two switches, whether it is known now which one is active until the next event. */
void virtual_switches_settle(struct virtual *v, bool settled);
/** @return 0 or -ENOMEM */
int virtual_switch_init(struct virtual_switch *s);
void virtual_switch_fini(struct virtual_switch *s);
/** Calls the switch and the scheduler for all that is due until then. @return 0 or -errno */
int virtual_switch(struct virtual_switch *s, mf_time until);
/** Does what comes first at v->now, if it is no other than an arrival or RUN is given. @return as above */
int virtual_switch_one(struct virtual_switch *s, enum virtual_call what);
/** What port i has to send at v->now. @return number of blocks, or -errno */
int virtual_port_tx(struct virtual_switch *s, unsigned int i);
/** The switch was changed by who is no event of its own. */
void virtual_switch_changed(struct virtual_switch *s);
/** Where there are events: when the switch, or its scheduler, that would be called at t is called. */
mf_time virtual_outage_switch(const struct virtual_switch *s, mf_time t);

/** When the first actor is called. */
static inline mf_time virtual_actor_next(struct virtual_switch *s)
{
	mf_time t = tournament_next(&s->queue);

	return __builtin_expect(s->outages != NULL, 0) ? virtual_outage_switch(s, t) : t;
}

/** Where there are events: whether the link of a wire is whole. */
bool virtual_outage_whole(const struct virtual *v, const struct wire *w);

/** Time of the switch's next event. */
static inline mf_time virtual_switch_next(struct virtual_switch *s)
{
	mf_time arrives = __builtin_expect(s->v->ahead == 0, 0) ? tournament_next(&s->step) : s->arrives;

	return mf_time_min(arrives, virtual_actor_next(s));
}

/** Something may be under way to port i. */
static inline void virtual_switch_hears(struct virtual_switch *s, unsigned int i)
{
	if (s->v->ahead == 0)
		tournament_set(&s->step, i, wire_due(&s->in[i]));
	else
		s->arrives = mf_time_min(s->arrives, wire_due(&s->in[i]));
}

/** Whether this process plays the role at the other end of a port. */
static inline bool virtual_port_is_used(const struct virtual_switch *s, unsigned int i)
{
	const struct wire *w = s->out[i];

	return w->to != NULL || s->v->f->node[w->number].host != NULL;
}

/** Something may be under way by a wire. */
static inline void virtual_hears(struct virtual *v, const struct wire *w)
{
	if (w->to != NULL)
		virtual_switch_hears(w->to, w->number);
	else
		virtual_node_hears(v, w->number, w);
}

#endif
