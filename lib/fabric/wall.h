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
	bool odd; /**< it is captured, or something may happen to it */
	struct capture_tap *tap; /**< the sender's; NULL: it is not captured */
	struct wall_harm *harm; /**< NULL: nothing happens to it; wall_fault.h */
	struct mf_scrambler scrambler; /**< the sender's */
	struct mf_scrambler descrambler __rte_cache_aligned; /**< the receiver's */
	struct crossing *in; /**< the receiver's: the same crossing; NULL: nothing is taken from it */
} __rte_cache_aligned;

/** A link of two switches whose ends are in this process: it goes down, and comes up again (wall_twin.c). */
struct wall_twin {
	unsigned int cuts; /**< those that the node knows: its lcore's */
	/* What both have done about which cut, in this order: */
	atomic_uint dry __rte_cache_aligned; /**< the node has thrown away what was sent before */
	atomic_uint whole __rte_cache_aligned; /**< the switch has the link up */
} __rte_cache_aligned;

/** A switch, and what goes to it: there are two where the file has "backup". */
struct wall_net {
	struct role *sched, *sw; /**< NULL: of another process */
	struct wall_link *up, *down; /**< [ports] */
	struct crossing *to_sched, *to_switch; /**< NULL: one lcore polls switch and scheduler */
	uint16_t *crossed_port; /**< those whose links up cross lcores */
	unsigned int crossed;
	struct wall_twin *twin; /**< [ports]; NULL: there is one switch */
	atomic_uint cuts; /**< times that all links to it were cut: by the watchdog */
	/* The switch's: */
	atomic_uint crashed; /**< the cut that it knows: it has forgotten all, and sends nothing */
	atomic_bool reviving; /**< some of its links are not up again yet */
	uint64_t deposed; /**< times that it has begun again, since another one had taken over */
};

struct wall_lcore {
	struct role **role;
	unsigned int roles;
	unsigned int id;
	struct mf_span *span; /**< on its way from role to role */
	struct mf_span *mirror; /**< on its way to the second switch; NULL: there is none */
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
	struct wall_net net[MF_CONFIG_SWITCHES];
	unsigned int nets;
	struct role *role; /**< all */
	unsigned int roles;
	/* Links to other processes: wall_meet.c */
	struct wall_port *port; /**< [config->ports] */
	struct gate_fabric *gate; /**< wall_gate.h; NULL: no port needs it */
	uint64_t port_tsc0; /**< when the time of the ports began */
	uint64_t epoch; /**< of this process */
	bool carries; /**< some link goes over a port */
	atomic_bool met; /**< all partners have been there, and the run is not over */
	bool over; /**< the roles' run is: they hear of nothing any more */
	mf_time alone; /**< two switches: then one is enough to begin */
	mf_time next_waiting; /**< when it is said again whom this process waits for */
	bool loads; /**< this process has clients, or sends frames */
	bool limited; /**< its clients stop by themselves, after so many operations */
	bool turned; /**< from outside, by one thread at a time: all roles are in one place */
	bool finished; /**< own clients are done, and nobody else needs this process */
	struct wall_lcore *lcore;
	unsigned int lcores;
	struct watch *watch; /**< watch.h; NULL: there is none */
	struct wall_faults *faults; /**< wall_fault.h; NULL: nothing is broken on purpose */
	int err; /**< why a role has stopped the run; 0: none has */
	/** On the watchdog's thread: a role does not get on. @return whether another one takes its place. */
	bool (*fail_over)(struct wall *w, const struct role *r);
	atomic_bool stop;
	mf_time next_look;
	uint64_t work_seen;
	unsigned int quiet_looks;
	mf_time busy; /**< when somebody was last seen who had not ended */
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
/** Whether there is room for a span; and sends one, whose words may be changed by it. */
bool wall_can_send(struct wall_link *l);
void wall_send(struct wall_link *l, struct mf_span *span, mf_time now);
/** Throws away what has crossed. */
void wall_drain(struct wall_link *l, struct mf_span *scratch);

/* wall_harm.c */
/** The same where something may happen to it. */
bool wall_harm_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
		    mf_time now, unsigned int *work);

/* wall_event.c; all but the first are called only where w->faults is there */
/** What the file's faults need, if it has any. wall_fault_tear_down() always follows. @return 0, -errno */
int wall_fault_set_up(struct wall *w);
/** Counts what has happened. */
void wall_fault_tear_down(struct wall *w);
/**
 * Before a role's turn: what breaks of it, or is mended.
 * @param now   then by the role's own clock
 * @param work  what it had to do with that is added
 * @return false: it has no turn
 */
bool wall_fault_turn(struct wall *w, struct role *role, mf_time *now, unsigned int *work);
/** What a role's clock shows. */
mf_time wall_fault_clock(const struct wall *w, const struct role *r, mf_time now);

/* wall_sched.c: the scheduler has an lcore of its own */
/** The switch's part. @return grants taken */
unsigned int wall_take_grants(struct wall_net *net, struct role *r, mf_time now);
void wall_tell_sched(struct wall_net *net, struct role *r, mf_time now);
/** The scheduler's turn. @return how much work it found */
unsigned int wall_poll_sched(struct wall_net *net, struct role *r, mf_time now);

/* wall_twin.c: two switches */
/** Of a node, before and behind its own turn: what comes by both links, what goes to both. @return spans */
unsigned int twin_take(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);
unsigned int twin_give(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);
/** Of a switch: links that were cut, or are there again; whether it was deposed. Before its own turn. */
void twin_look(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);
/** Whether the link of a port is up for the switch: else what comes is not taken, and what goes is lost. */
bool twin_whole(const struct wall_net *net, unsigned int port);
/** What a switch would send on a link that is not. */
void twin_discard(struct role *sw, unsigned int port, struct mf_span *scratch, mf_time now);
/** The same as a dead switch: all its links are cut, and it has to begin again. Any thread. */
void twin_cut(struct wall_net *net);
/** wall.fail_over, where there are two switches. */
bool twin_fail_over(struct wall *w, const struct role *r);
/** @return 0 or -ENOMEM */
int twin_set_up(struct wall *w);
void twin_tear_down(struct wall *w);

/* wall_meet.c */
/** Whether a link to switch `net` is carried by ports at this process' ends. */
bool meet_carried(const struct wall *w, unsigned int net, unsigned int node);
/** The role of the port that an end of a link is at. @param number  of the end there */
struct role *meet_port_role(struct wall *w, unsigned int net, unsigned int node, enum mf_link_end end,
			    unsigned int *number);

/* wall_poll.c */
/** A turn of a role. @return how much work it found */
unsigned int wall_poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);

#endif
