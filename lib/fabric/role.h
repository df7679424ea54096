/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Roles under the wall clock: what an lcore polls. Every call into a library goes through these
 * functions, which record it where a record is kept (D19): the same calls in the same order, replayed,
 * must give the same outputs.
 */
#ifndef ROLE_H
#define ROLE_H

#include "fabric_priv.h"

enum role_kind {
	ROLE_NODE,
	ROLE_TWIN, /**< a node with links to two switches (docs/fault-tolerance.md) */
	ROLE_SWITCH,
	ROLE_SCHED,
	ROLE_PORT, /**< an Ethernet port: what stands at the other ends of the links that it carries */
};

struct record;
struct wall_port;

/** A line of its own: its lcore writes it all the time. */
struct role {
	enum role_kind kind;
	unsigned int index; /**< NODE, TWIN, PORT: its number */
	struct mf_fabric *f;
	struct record *record; /**< NULL: none is kept */
	mf_time next; /**< NODE, TWIN, SWITCH, SCHED: when it wants to be run */
	unsigned int lcore; /**< which of the run's lcores polls it */
	bool given; /**< something has arrived since it was run */
	uint8_t net; /**< SWITCH, SCHED: 0, or 1: of the backup */
	uint8_t links; /**< TWIN: those that are up, a bit each */
	union {
		struct wall_port *carrier; /**< PORT */
		struct mf_switch *sw; /**< SWITCH */
		struct mf_sched *sched; /**< SCHED */
	};
	uint64_t turns; /**< that it has had; written by its lcore, read by the watchdog */
} __attribute__((aligned(64)));

static inline bool role_is_node(const struct role *r)
{
	return r->kind <= ROLE_TWIN;
}

/** "cn0", "sw0", "scheduler". */
const char *role_name(const struct role *r);

#define ROLES_BESIDE 4 /**< the nodes: switches and schedulers */

/**
 * All roles of this process but ports, without records.
 * @param out  room for f->nodes + ROLES_BESIDE
 * @return how many
 */
unsigned int role_all(struct mf_fabric *f, struct role *out);

/**
 * Whether it has room for what a span may cause. The ports of a port are the ends of links that it carries,
 * those of a node with two links are these.
 */
bool role_can_rx(const struct role *r, unsigned int port);
/** A span arrives; port does not count for a node with one link. */
void role_rx(struct role *r, unsigned int port, mf_time now, const struct mf_span *span);
/** Deadlines, clients, timers. */
void role_run(struct role *r, mf_time now);
/** @return number of blocks in *out */
unsigned int role_tx(struct role *r, unsigned int port, mf_time now, struct mf_span *out);

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

/**
 * The process of the role is gone, and with it what it knew: a node as by node_crash(), a switch but for its
 * links, which are told one by one. @return 0 or -ENOMEM
 */
int role_crash(struct role *r, mf_time now);
#define ROLE_REQUESTS UINT16_MAX
/**
 * There is no more of something, or there is again.
 * @param what  node: enum mf_host_room; switch: a port, whose egress has no room, or ROLE_REQUESTS
 */
void role_exhaust(struct role *r, unsigned int what, bool on, mf_time now);

/** Switch: descriptors out, at most RECORD_ITEMS_MAX; grants in. */
unsigned int role_to_sched(struct role *r, mf_time now, struct mf_sched_msg *out, unsigned int max);
/** The same in place; mf_switch_sched_advance() follows. @return the first of *n; NULL: there is none */
struct mf_sched_msg *role_sched_peek(struct role *r, mf_time now, unsigned int *n);
void role_grant(struct role *r, mf_time now, const struct mf_sched_grant *grant);

/**
 * Scheduler: descriptors in; grants out, at most RECORD_ITEMS_MAX. A descriptor that is older than the
 * last run counts as of then.
 */
void role_input(struct role *r, mf_time now, struct mf_sched_msg *msg);
unsigned int role_match(struct role *r, mf_time now, struct mf_sched_grant *out, unsigned int max);

#endif
