/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Roles under the wall clock: what an lcore polls. Every call into a library goes through these
 * functions, which record it where a record is kept (D19): the same calls in the same order, replayed,
 * must give the same outputs.
 */
#ifndef MF_WALL_ROLE_H
#define MF_WALL_ROLE_H

#include "fabric/mf_fabric_state.h"

enum role_kind {
	ROLE_NODE,
	ROLE_REDUNDANT, /**< a node with links to two switches (docs/fault-tolerance.md) */
	ROLE_ENDS, /**< a node whose several ends send apart */
	ROLE_SWITCH,
	ROLE_SCHED,
	ROLE_PORT, /**< an Ethernet port: what stands at the other ends of the links that it carries */
	ROLE_SLOW, /**< the slow path of a memory node */
};

struct record;
struct wall_port;

/** A line of its own: its lcore writes it all the time. */
struct role {
	uint8_t kind; /**< enum role_kind */
	bool given; /**< something has arrived since it was run */
	uint8_t links; /**< REDUNDANT: bit n: its link to switch n is up */
	/** Its number among the nodes, switches or ports. SCHED: of its switch. SLOW: of its node */
	uint32_t index;
	struct mf_fabric *f;
	struct record *record; /**< NULL: none is kept */
	mf_time next; /**< all but PORT: when it wants to be run */
	uint32_t lcore; /**< which of the run's lcores polls it */
	uint32_t first_end; /**< of nodes and SWITCH: its ends in the graph begin there */
	union {
		struct mf_node *host; /**< of nodes */
		struct wall_port *carrier; /**< PORT */
		struct mf_sw *sw; /**< SWITCH */
		struct mf_scheduler *sched; /**< SCHED */
		struct mf_slow_path *slow; /**< SLOW */
	};
	uint64_t turns; /**< that it has had; written by its lcore, read by the watchdog */
	/** SWITCH, SCHED, SLOW, nodes with a slow path; NULL: it has none */
	const struct mf_channel *channel;
} __attribute__((aligned(64)));

static_assert(sizeof(struct role) == 64, "a line");

static inline bool role_is_node(const struct role *r)
{
	return r->kind <= ROLE_ENDS;
}

/**
 * It is still of the kind that it was: where that is known, what is done for other kinds is left out of what
 * is compiled, and nobody asks.
 */
static inline __attribute__((always_inline)) void role_is(const struct role *r, uint8_t kind)
{
	if (r->kind != kind)
		__builtin_unreachable();
}

/** "cn0", "sw0", "scheduler". */
const char *role_name(const struct role *r);

/** All roles of a fabric but ports: how many there are at most. */
static inline unsigned int role_max(const struct mf_fabric *f)
{
	return 2 * f->nodes + 2 * f->graph->switches;
}

/**
 * All roles of this process but ports, without records.
 * @param out  room for role_max()
 * @return how many
 */
unsigned int role_all(struct mf_fabric *f, struct role *out);

/** What calls of a role name as the port that has an end of it. @param end  in the graph */
static inline unsigned int role_port(const struct role *r, uint32_t end)
{
	return r->kind == ROLE_NODE ? r->index : end - r->first_end;
}

/**
 * Whether it has room for what a span may cause.
 * @param port  switch: the port; REDUNDANT, ENDS: which of its links; PORT: which of the ends that it carries
 */
bool role_can_rx(const struct role *r, unsigned int port);
/** A span arrives. @param port  as of role_can_rx(); of a node with one link it does not count */
void role_rx(struct role *r, unsigned int port, mf_time now, const struct mf_span *span);
/** Deadlines, clients, timers. */
void role_run(struct role *r, mf_time now);
#define ROLE_TX_FEW 255 /**< so many blocks fit an entry of a record */
/** @param most  blocks, 1..ROLE_TX_FEW, or MF_SPAN_MAX @return number of blocks in *out */
unsigned int role_tx(struct role *r, unsigned int port, mf_time now, unsigned int most, struct mf_span *out);

/** The same without a copy where that is possible. @return the span; NULL: there is none */
struct mf_span *role_tx_in_place(struct role *r, unsigned int port, mf_time now, struct mf_span *room);

/** The spans of a port stay short: see mf_mux_short_spans(). */
void role_short_spans(struct role *r, unsigned int port);
/** Whether there may be any: if not, asking changes nothing. */
bool role_tx_waits(const struct role *r, unsigned int port);

/** The link that it has at a port is lost: what it knows of it is of no use any more. Nodes and switch. */
void role_link_lost(struct role *r, unsigned int port, mf_time now);
/** And there again. @return false: the switch is not ready for it, ask again */
bool role_link_back(struct role *r, unsigned int port, mf_time now);

/** Switch: see mf_sw_bear(). */
void role_bear(struct role *r, unsigned int port, mf_time by, mf_time now);

/** A link of the graph, which a role has heard of. In a record there is no unused byte. */
struct role_route {
	uint32_t link;
	uint32_t up; /**< 0 or 1 */
};

/** Switch of several: a link is down, or up, for its routes. @param route  below the links of the graph */
void role_route(struct role *r, const struct role_route *route, mf_time now);

/**
 * The process of the role crashes, and all that it knew is gone. A node: see node_crash(). A switch: see
 * mf_sw_crash(); its links come back one by one, by role_link_back(). @return 0 or -ENOMEM
 */
int role_crash(struct role *r, mf_time now);
/** What its kind is. @return NULL: a port has none */
const struct mf_role_ops *role_ops(const struct role *r);
/** What role_exhaust() may take away. @return NULL: nothing */
const struct mf_pool_desc *role_pools(const struct role *r);
/**
 * Takes free room away, or gives it back.
 * @param pool  of its kind
 * @param port  whose, if each port has its own; else 0
 * @param on    it is taken away
 */
void role_exhaust(struct role *r, unsigned int pool, unsigned int port, bool on, mf_time now);

/* Switch and scheduler: items by their channel, RECORD_ITEMS_MAX at most at a time. */
#define ROLE_CHANNEL 0 /**< number of the only channel that a role has */
/**
 * Takes items.
 * @param items  n that its channel takes. A scheduler dates them anew: one that is older than its last run
 *               counts as of then.
 */
void role_give(struct role *r, mf_time now, void *items, unsigned int n);
/** Replay: whether an item that its channel takes can come now. */
bool role_may_come(const struct role *r, const void *item);
/** Gives items. Scheduler: call again while it gives max. @param out  room for max @return how many */
unsigned int role_take(struct role *r, mf_time now, void *out, unsigned int max);
/** SLOW: when it is to be asked again. */
static inline void role_slow_asked(struct role *r)
{
	r->next = mf_slow_path_next(r->slow);
}
/** Switch: the same in place. @return the first of *n, 1 if a record is kept; NULL: there is none */
void *role_peek(struct role *r, mf_time now, unsigned int *n);
/** Switch: the first n of the items that role_peek() returned have been taken. */
void role_advance(struct role *r, unsigned int n);
/**
 * Scheduler: takes items and gives the answers, see mf_scheduler_exchange(). It dates them anew.
 * @param n  of a role with a record 1
 */
unsigned int role_exchange(struct role *r, mf_time now, void *items, unsigned int n, unsigned int *given,
			   void *out, unsigned int max);
/** Scheduler: after it has run, asks it when it is to run next. */
static inline void role_matched(struct role *r)
{
	r->next = mf_scheduler_next(r->sched);
}

#endif
