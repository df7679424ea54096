/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the wall clock: what its files share. */
#ifndef WALL_H
#define WALL_H

#include <sys/types.h>
#include <time.h>

#include <rte_cycles.h>

#include "capture.h"
#include "crossing.h"
#include "fabric_priv.h"
#include "role.h"

/**
 * One direction of a link. Where one lcore polls both ends, what is sent is handed to the receiver at
 * once; else it crosses in cells.
 */
struct wall_link {
	struct crossing *crossing; /**< NULL: handed over */
	struct role *to; /**< the receiver, and the port that it has this link at */
	unsigned int port;
	bool scramble;
	struct capture_tap *tap; /**< the sender's; NULL: it is not captured */
	struct mf_scrambler scrambler; /**< the sender's */
	struct mf_scrambler descrambler __rte_cache_aligned; /**< the receiver's */
} __rte_cache_aligned;

struct wall_lcore {
	struct role **role;
	unsigned int roles;
	unsigned int id;
	struct mf_span *span; /**< on its way from role to role */
	/* written by its lcore, read by the main one */
	uint64_t work __rte_cache_aligned;
	unsigned int unfinished; /**< nodes that have something under way, or to begin */
	double cpu; /**< seconds, at the end */
	/* For the watchdog: its thread, from the moment on when it runs */
	atomic_bool runs;
	pid_t tid;
	clockid_t cpu_clock;
	mf_time cpu_seen; /**< the watchdog's own: CPU time at its last look */
} __rte_cache_aligned;

struct wall {
	struct mf_fabric *f;
	const struct mf_run_options *options;
	uint64_t tsc0, ps_mult; /**< ps = cycles * ps_mult >> 32 */
	struct wall_link *up, *down; /**< [ports] */
	struct crossing *to_sched, *to_switch; /**< NULL: one lcore polls switch and scheduler */
	struct role *role, *sched, *sw; /**< all; two of them, NULL: of another process */
	unsigned int roles;
	uint16_t *crossed_port; /**< those whose links up cross lcores */
	unsigned int crossed;
	/* Links to other processes: wall_meet.c */
	struct wall_port *port; /**< [config->ports] */
	struct port_gate *gate; /**< wall_gate.h; NULL: no port needs it */
	uint64_t port_tsc0; /**< when the time of the ports began */
	uint64_t epoch; /**< of this process */
	bool carries; /**< some link goes over a port */
	atomic_bool met; /**< all partners have been there, and the run is not over */
	bool over; /**< the roles' run is: they hear of nothing any more */
	mf_time next_waiting; /**< when it is said again whom this process waits for */
	bool loads; /**< this process has clients, or sends frames */
	bool limited; /**< its clients stop by themselves, after so many operations */
	bool turned; /**< from outside, by one thread at a time: all roles are in one place */
	bool finished; /**< own clients are done, and nobody else needs this process */
	struct wall_lcore *lcore;
	unsigned int lcores;
	struct watch *watch; /**< watch.h; NULL: there is none */
	/** On the watchdog's thread: a role does not get on, and something may take its place. Or NULL */
	void (*fail_over)(struct wall *w, const struct role *r);
	atomic_bool stop;
	mf_time next_look;
	uint64_t work_seen;
	unsigned int quiet_looks;
	bool measured, stopped;
	double shown;
};

static inline mf_time wall_now(const struct wall *w)
{
	return (mf_time)((unsigned __int128)(rte_rdtsc() - w->tsc0) * w->ps_mult >> 32);
}

/* wall.c */
void wall_init(struct wall *w, struct mf_fabric *f, const struct mf_run_options *options);
/** Now and then, between polls: the tick, and counters as they are at the ends of what is measured. */
void wall_look(struct wall *w, mf_time now);

/** Before anybody is met: what crosses ports until then is captured, too. @return 0 or -errno */
int wall_capture(struct wall *w);
/** Time 0 of the run is now. */
void wall_begin(struct wall *w);

/* wall_place.c */
/** Links, roles and records, and who polls what. wall_tear_down() always follows. @return 0, -errno */
int wall_set_up(struct wall *w);
/** @return 0, or -EIO where a record could not be written */
int wall_tear_down(struct wall *w);

/* wall_link.c */
/**
 * Takes a burst of what has crossed, on a link from another lcore.
 * @return spans taken
 */
unsigned int wall_take(struct wall_link *l, struct mf_span *scratch, mf_time now);
/**
 * Sends what a role has for a link, a burst at most.
 * @param port  of the sender
 * @param work  the spans that were sent are added
 * @return false: there may be more, and it has to wait
 */
bool wall_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
	       mf_time now, unsigned int *work);

/* wall_sched.c: the scheduler has an lcore of its own */
/** The switch's part. @return grants taken */
unsigned int wall_take_grants(struct wall *w, struct role *r, mf_time now);
void wall_tell_sched(struct wall *w, struct role *r, mf_time now);
/** The scheduler's turn. @return how much work it found */
unsigned int wall_poll_sched(struct wall *w, struct role *r, mf_time now);

/* wall_meet.c */
/** Whether a link is carried by ports at this process' ends. */
bool meet_carried(const struct wall *w, unsigned int node);
/** The role of the port that an end of a link is at. @param number  of the end there */
struct role *meet_port_role(struct wall *w, unsigned int node, enum mf_link_end end, unsigned int *number);

/* wall_poll.c */
/** A turn of a role. @return how much work it found */
unsigned int wall_poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);

#endif
