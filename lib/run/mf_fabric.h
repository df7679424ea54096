/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole fabric: built from a fabric file for one of the two clocks, run, and asked for its result.
 */
#ifndef MF_FABRIC_H
#define MF_FABRIC_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mf_time.h"
#include "capture/mf_capture.h"
#include "config/mf_config.h"

struct mf_history;
struct mf_link_status;

/** The roles that a process plays. A scheduler is where its switch is. */
struct mf_part {
	bool node[MF_PORTS_MAX];
	bool sw;
	bool backup; /**< the second switch */
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
	 * Wall clock, links that go to other processes, on the thread that polls them. A link came up or went
	 * down, or a partner is refused: `node` is its node, switch_end says whose end we are. Or NULL.
	 */
	void (*say)(void *ctx, const char *node, bool switch_end, const char *port,
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
	/** Corruption has disabled a node's link to a switch: as the switch saw it, or the node. Or NULL. */
	void (*disabled)(void *ctx, const char *node, const char *sw, bool switch_end, const char *cause,
			 mf_time at);
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
	uint64_t events; /**< of the virtual clock */
	uint64_t spans;
	bool interrupted;
	unsigned int lcores;
	char placement[1024]; /**< "sched@1 sw0,cn0,...@0" */
	char error[256]; /**< of a run that failed: one line, or empty */
};

struct mf_fabric;

/**
 * Builds a fabric. The configuration must outlive it.
 * @param err  on failure: one line
 * @return NULL on failure
 */
struct mf_fabric *mf_fabric_new(const struct mf_config *config, enum mf_clock clock, char *err,
				size_t errlen);
/** The same, for a process that plays some of the roles only. @param part  NULL: all. Copied */
struct mf_fabric *mf_fabric_new_part(const struct mf_config *config, enum mf_clock clock,
				     const struct mf_part *part, char *err, size_t errlen);
void mf_fabric_free(struct mf_fabric *f);

/**
 * Whether this machine lets a process have a port, as far as can be known before anything is started: the
 * socket of a memif. Changes nothing.
 * @param root  of all absolute paths; "": this machine's
 * @param err  on failure one line
 * @return 0 or -errno
 */
int mf_port_check(const struct mf_config_port *port, const char *root, char *err, size_t errlen);

/**
 * Whether this machine lets a process have the ports of the roles that it plays: mf_port_check().
 * @param part  NULL: all roles
 * @param err  on failure one line with the key
 * @return 0 or -errno
 */
int mf_ports_check(const struct mf_config *config, const struct mf_part *part, char *err, size_t errlen);

/** Runs it to its end; once. @return 0 or -errno */
int mf_fabric_run(struct mf_fabric *f, const struct mf_run_options *options);
/** Of a run that failed: one line that says more than the error number. NULL: there is none */
const char *mf_fabric_error(const struct mf_fabric *f);

/**
 * Repeats a recorded run, role by role, through the libraries alone: no EAL, no clock, no other role.
 * Everything that a role gives is compared octet by octet with what is recorded.
 *
 * @param config  the one that the run was recorded with
 * @param dir     the folder of the record: one file for each role
 * @param out     a line for each role: what was identical, and the first difference; or why its record
 *                cannot be replayed
 * @return 0: all identical; > 0: number of outputs that differ; -ENOENT: a record is missing; -EINVAL: one
 *         is damaged, or of another configuration; or another -errno. The other roles are replayed still
 */
int mf_fabric_replay(const struct mf_config *config, const char *dir, FILE *out);

/**
 * Whether the run was sound: samples in every kind that the workload has, nothing lost, damaged or
 * mismatched.
 * @param err  the first reason why not, one line
 */
bool mf_fabric_sound(const struct mf_fabric *f, char *err, size_t errlen);

/** The result as JSON (docs/result.schema.json): "result" and "run". The caller owns it. NULL: no memory */
json_t *mf_fabric_result(const struct mf_fabric *f);

/**
 * Writes the log of messages as CSV: a line that names the columns with their units, and a line for every
 * measured message, by client, then as they began. Columns are constant; what never was is empty.
 *
 * @return 0; -ENOENT: the run had no log; or -errno of out
 */
int mf_fabric_messages(const struct mf_fabric *f, FILE *out);

/**
 * What the clients of this process began, and what came of it (mf_history.h), behind a run; the fabric's.
 * NULL: the run had no history.
 */
const struct mf_history *mf_fabric_history(const struct mf_fabric *f);

/** The report for people, made of the JSON result: the same numbers. */
void mf_fabric_report(FILE *out, const json_t *result);

/**
 * Of the results of several seeds every number, by its path: {"PATH": {"mean", "ci95", "n", "values"}}.
 * ci95 is half the 95 % interval by Student's t; null: there is one value only.
 * @param seeds  array of what mf_fabric_result() gave @return the caller's
 */
json_t *mf_fabric_over_seeds(const json_t *seeds);
/** The chief of them for people. @param json  {"seeds": ..., "over_seeds": ...} */
void mf_fabric_report_seeds(FILE *out, const json_t *json);

/** Of "run" the cycle account, a part of the report; nothing where it was not compiled in. */
void mf_fabric_report_cycles(FILE *out, const json_t *run);

#endif
