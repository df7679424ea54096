/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of a fabric: the roles that this process plays, what is asked of the run, and how it went. */
#ifndef MF_RUN_H
#define MF_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"
#include "capture/mf_capture.h"
#include "config/mf_config.h"

struct mf_fabric;
struct mf_node;
struct mf_link_status;

/** The roles that a process plays. A scheduler is where its switch is. */
struct mf_process_roles {
	bool node[MF_NODES_MAX];
	bool recorded; /**< its nodes have no incarnations (mf_stack_config.incarnation), as those of a replay
			  have none */
	/** With their schedulers; of two that mirror each other, 1 is the backup. */
	bool sw[MF_CONFIG_SWITCH_LIST_MAX];
};

/** A role that gets no turns, see `watchdog` of the fabric's file; or gets them again. */
struct mf_stall {
	const char *role;
	unsigned int lcore; /**< that polls it */
	mf_time time; /**< without a turn */
	bool asleep; /**< its thread waits in the kernel; else it has a CPU, and is lost in what it does */
	bool over; /**< it has had a turn again */
	bool replaced; /**< the watchdog has cut its switch off, and the other one of two goes on */
};

struct mf_run_options {
	/** Virtual clock: every block is a span of its own (D18). Slow; gives the identical result. */
	bool block_by_block;
	/** Set by a signal handler: the run ends early, with the report of what was measured. May be NULL. */
	const atomic_bool *interrupt;
	/** Called about once a second on the calling thread: share of the run that is done, 0..1. Or NULL. */
	void (*progress)(void *ctx, double done, mf_time now);
	void *progress_ctx;
	/**
	 * Called on the calling thread while there is load: each tick_period under the virtual clock, about
	 * every 20 ms under the wall clock, between polls. Or NULL.
	 */
	void (*tick)(void *ctx, mf_time now);
	void *tick_ctx;
	mf_time tick_period; /**< virtual clock; 0: no ticks */
	/** Virtual clock: the run does not end before so long behind its load: timers may run out. */
	mf_time settle;
	/**
	 * Wall clock: folder into which each role's inputs and outputs are recorded (D19); made where it is
	 * not there. NULL: none.
	 */
	const char *record;
	/**
	 * Wall clock, links that go to other processes, on the thread that polls them. A link came up or
	 * went down, or a partner is refused. `link` names it, as "cn0" or "leaf0 and spine1". `end` says
	 * whose end we are: "node", "switch", or one of these two switches. Or NULL.
	 */
	void (*say)(void *ctx, const char *link, const char *end, const char *port,
		    const struct mf_link_status *status);
	/**
	 * The same thread, and the one that makes the ports: what has become of the interface that a port's
	 * device stands on, as "is gone", "is down"; or that its MTU is lower than the port's. Or NULL.
	 */
	void (*device)(void *ctx, const char *port, const char *device, const char *what);
	/** Now and then while partners are not there: "mn0 at port b, ...". Or NULL. */
	void (*waiting)(void *ctx, const char *whom);
	/** On a thread of its own, wall clock: a role is stalled, or is no more. Or NULL. */
	void (*stalled)(void *ctx, const struct mf_stall *stall);
	void *say_ctx;
	/**
	 * Corruption has disabled a link: the names of its ends, the node first, and which of them saw
	 * it: "node", "switch", or the name of one of two switches. Or NULL.
	 */
	void (*disabled)(void *ctx, const char *one, const char *other, const char *seen_by,
			 const char *cause, mf_time at);
	void *disabled_ctx;
	/**
	 * Links that go to other processes: another run of this one follows. Partners are not told that it is
	 * done, so those that serve it stay; its links come back with the next run.
	 */
	bool stay;
	/** Files that get what is sent on the links (mf_capture.h), for this run alone. NULL: none. */
	struct mf_captures *captures;
	uint64_t history; /**< octets of room for mf_fabric_history(), 0: none */
};

/** How the run went on this machine: not a function of file and seed. */
struct mf_run_info {
	double host_seconds; /**< wall time that it took */
	double cpu_seconds;
	uint64_t steps; /**< of the virtual clock */
	uint64_t spans;
	bool interrupted;
	unsigned int lcores;
	char placement[1024]; /**< "sched@1 sw0,cn0,...@0" */
	char error[256]; /**< of a run that failed: one line, or empty */
};

/**
 * Whoever uses a node from outside: takes the place of the workload that the file may have for it. The
 * program's own structure has one of these in it.
 */
struct mf_embedded_client {
	/**
	 * In each turn of the node, on the thread that turns: submits to the host what there is, takes what
	 * has completed or arrived. It never waits.
	 * @return how much work it found
	 */
	unsigned int (*run)(struct mf_embedded_client *g, struct mf_node *host, mf_time now);
	struct mf_layer *layer; /**< over the host, to be asked instead; NULL: there is none; the engine's */
	struct mf_embedded_client *next; /**< at the same node; the engine's */
};

#endif
