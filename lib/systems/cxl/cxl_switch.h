/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CXL switch of one level: input-buffered, with credits by port and message class, a first-in first-out
 * queue for each ingress and virtual channel, a crossbar.
 *
 *      flit --> link end --> buffers by class --(latency)--> queue of (ingress, VC) --> crossbar --> egress
 *
 * Only the head of a queue can go. If its egress has no credit of its class, it waits, and with it all
 * that is behind it, whatever egress that is for: head-of-line blocking, as in EDM's 4.3.1. Its buffers
 * stay occupied, so the node at the ingress gets no credits back, and what it has for others waits there.
 * Heads of one egress and class go in the order in which they became heads, so ingresses take turns.
 * Responses have a virtual channel of their own, and nodes take them in whatever they do: no cycle of
 * waiting can form.
 *
 * What happens at a time has its effect one picosecond later: so nothing hangs on the order in which
 * ports are called at one time.
 *
 *      cxl_switch.c          parameters, the ops table; what happens at its time
 *      cxl_crossbar.c        buffers, queues, who is next at an egress
 *      cxl_switch_timers.c   ports by their time
 */
#ifndef SYSTEMS_CXL_CXL_SWITCH_H
#define SYSTEMS_CXL_CXL_SWITCH_H

#include "systems/cxl/cxl_link.h"
#include "systems/frames/mf_bridge.h"

#define CXL_NIL UINT32_MAX

/** A message in a buffer. */
struct cxl_entry {
	struct cxl_message message;
	mf_time at; /**< when it leaves the pipeline */
	uint32_t next; /**< in the pipeline, its queue, or the free ones */
	uint16_t ingress;
};

/** A queue of an ingress and a virtual channel: number 2 * ingress + VC. */
struct cxl_queue {
	uint32_t head, tail; /**< entries */
	uint32_t next; /**< queue whose head is for the same egress and class */
	bool asks; /**< its head stands in the list of its egress */
};

struct cxl_list {
	uint32_t head, tail;
};

/** What a port has a time for: what the timers of its link say, and a flit that is held. */
enum cxl_timer { CXL_TIMER_TELL, CXL_TIMER_REPLAY, CXL_TIMER_ASK, CXL_ARRIVAL, CXL_TIMERS };

struct cxl_timer_node {
	mf_time at; /**< MF_NEVER: not in the list */
	uint32_t prev, next;
};

struct cxl_port {
	struct cxl_link link;
	struct cxl_list heads[CXL_CLASSES]; /**< queues whose heads are for this egress */
	uint8_t has; /**< classes with such heads, a mask */
	uint8_t freeing[CXL_CLASSES]; /**< buffers that are free from later_at on */
	struct cxl_timer_node timer[CXL_TIMERS];
};

struct cxl {
	struct mf_bridge_config config;
	struct cxl_port *port;
	struct cxl_queue *queue; /**< [2 * ports] */
	struct cxl_entry *entry;
	uint32_t entries, fresh, free, inside, inside_max;
	mf_time latency;
	struct cxl_list pipeline; /**< entries, by their time */
	struct cxl_list timer[CXL_TIMERS]; /**< ports, by their time */
	/** What was taken at a time has its effect after it: MF_NEVER where nothing was. */
	mf_time later_at;
	uint64_t *later_queue, *later_port; /**< which, as bits */
	unsigned int words; /**< of later_port; later_queue has twice as many */
	uint64_t forwarded, held_back, drop_destination, drop_source;
};

/* cxl_switch_timers.c */
void cxl_timers_init(struct cxl *x);
/** Sets the time of a port; MF_NEVER: it has none. */
void cxl_timer_set(struct cxl *x, enum cxl_timer kind, unsigned int port, mf_time at);

static inline mf_time cxl_timer_first(const struct cxl *x, enum cxl_timer kind)
{
	uint32_t port = x->timer[kind].head;

	return port != CXL_NIL ? x->port[port].timer[kind].at : MF_NEVER;
}

/* cxl_crossbar.c */
extern const struct cxl_ends cxl_crossbar;
/** Out of the pipeline into its queue. */
void cxl_enqueue(struct cxl *x, uint32_t entry);
/** The head of a queue asks its egress. */
void cxl_ask(struct cxl *x, uint32_t queue);

static inline void cxl_wants(struct cxl *x, unsigned int port)
{
	x->config.wants[port / 64] |= UINT64_C(1) << port % 64;
}

#endif
