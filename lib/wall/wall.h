/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the wall clock: what its files share. */
#ifndef WALL_H
#define WALL_H

#include <sys/types.h>
#include <time.h>

#include <rte_cycles.h>

#include "capture/mf_tap.h"
#include "fabric/mf_fabric_state.h"
#include "role/mf_cell_ring.h"
#include "wall/mf_wall_role.h"

/**
 * One direction of a link. Where one lcore polls both ends, what is sent is handed to the receiver at
 * once; else it crosses in cells.
 */
struct wall_link {
	struct crossing *crossing; /**< NULL: handed over */
	struct role *to; /**< the receiver, and the port that it has this link at */
	unsigned int port;
	bool scramble;
	bool slow_path; /**< it is captured, or has `impair` or `shaper` */
	struct capture_tap *tap; /**< the sender's; NULL: it is not captured */
	struct wall_impair *impair; /**< NULL: nothing happens to it; outages.h */
	struct wall_shaper *shaper; /**< NULL: it has no rate; shape.h */
	struct mf_scrambler scrambler; /**< the sender's */
	struct mf_scrambler descrambler __rte_cache_aligned; /**< the receiver's */
	struct crossing *in; /**< the receiver's: `crossing`, or NULL while nothing is to be taken from it */
} __rte_cache_aligned;

/** A switch and its scheduler. Two mirror each other where the file has "backup". */
struct wall_switch {
	struct wall *w;
	struct role *sched, *sw; /**< NULL: of another process, or there is no scheduler */
	struct crossing *to_sched, *to_switch; /**< NULL: one lcore polls switch and scheduler */
	uint32_t first_end; /**< its ends in the graph: port p is end first_end + p */
	unsigned int ports;
	unsigned int depth; /**< of several: links to the nearest node that asks */
	struct wall_link **crossed; /**< directions that end at it and cross lcores */
	unsigned int crosses;
	/* Any thread: */
	atomic_uint cuts; /**< how often all links to it were cut, by the watchdog */
	atomic_uint news; /**< how often something was told of its links' ends, cuts included */
	/* Written by the switch's lcore: */
	atomic_uint crashed; /**< the last cut that it knows of, for which it has forgotten all */
	atomic_bool reviving; /**< it is gone, or some links that nobody has broken are not up again yet */
	unsigned int gone; /**< outages in force that it is gone by */
	unsigned int news_seen;
	bool calm; /**< its links are all up */
	uint64_t demoted; /**< how often it has begun again since the other one had taken over */
	unsigned int routes_seen; /**< of several: w->route_news that its routes know of */
};

/** A memory node and its slow path. */
struct wall_memory {
	struct role *node, *slow; /**< NULL: it has none, or is of another process */
	struct crossing *to_slow, *to_node; /**< NULL: one lcore polls both */
	const struct mf_vm_queue *asked; /**< by the node, where one lcore polls both; else NULL */
	unsigned int waited; /**< turns in which others of its lcore had work, since the slow path went on */
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
	struct wall_switch *sw; /**< [switches], then one of what links between nodes have in its place */
	unsigned int switches;
	struct wall_memory *memory; /**< [nodes]; NULL: none has a slow path */
	bool redundant; /**< each node has a link to each of two switches, which mirror each other */
	/* By end of the graph: */
	const struct mf_end *graph_end;
	struct wall_link *line; /**< what the end sends */
	struct wall_end *end; /**< link_end.h */
	atomic_uint route_news; /**< several switches: how often an end was lost or came back; any thread */
	struct role *role; /**< all */
	unsigned int roles;
	/* Links to other processes: rendezvous.c */
	struct wall_port *port; /**< [config->ports] */
	struct memif_sync_fabric *memif_sync; /**< memif_sync.h; NULL: no port needs it */
	uint64_t port_tsc0; /**< when the time of the ports began */
	uint64_t epoch; /**< of this process */
	bool carries; /**< some link goes over a port */
	atomic_bool met; /**< all partners have been there, and the run is not over */
	bool over; /**< the roles' run is: they hear of nothing any more */
	/* Of a process with switches, see reach.c: */
	uint16_t reach_all; /**< who reaches so far knows all */
	uint16_t reach_ready, reach_done;
	/** Until when links between switches are waited for, all of which were up before; 0: not told so */
	mf_time reach_wait;
	mf_time alone; /**< two switches: from then on one of them is enough to begin */
	mf_time next_waiting; /**< when it is said again whom this process waits for */
	bool loads; /**< this process has clients, or sends frames */
	bool turned; /**< from outside, by one thread at a time: all roles are in one place */
	bool finished; /**< own clients are done, and nobody else needs this process */
	struct wall_lcore *lcore;
	unsigned int lcores;
	struct watch *watch; /**< mf_watchdog.h; NULL: there is none */
	struct wall_faults *faults; /**< outages.h; NULL: nothing is broken on purpose */
	int err; /**< why a role has stopped the run; 0: none has */
	/** By the watchdog, of a role without turns. @return another takes its place. NULL: none can */
	bool (*fail_over)(struct wall *w, const struct role *r);
	atomic_bool stop;
	mf_time next_look; /**< the earlier of look_due and the end of a step of f->series */
	mf_time look_due; /**< when the snapshots, the screen and the end are looked for */
	int timer, wake; /**< turned from outside: a timerfd, and an epoll of it and ports, and 1; 0: none */
	mf_time worked; /**< turned from outside: the last turn that found work */
	uint64_t work_seen;
	unsigned int quiet_looks;
	mf_time busy; /**< when a role was last seen that had not ended */
	double shown;
};

static inline mf_time wall_now(const struct wall *w)
{
	return (mf_time)((unsigned __int128)(rte_rdtsc() - w->tsc0) * w->ps_mult >> 32);
}

/** What arrives at an end, where no port carries the link. */
static inline struct wall_link *wall_in(const struct wall *w, uint32_t end)
{
	return &w->line[w->graph_end[end].peer];
}

/* wall.c */
void wall_init(struct wall *w, struct mf_fabric *f, const struct mf_run_options *options);
/** Now and then, between polls: the tick, and counters as they are at the ends of what is measured. */
void wall_look(struct wall *w, mf_time now);

/** Before anybody is met: what crosses ports until then is captured, too. @return 0 or -errno */
int wall_capture(struct wall *w);
/** Time 0 of the run is now. */
void wall_begin(struct wall *w);

/* placement.c */
/** Links, roles and records, and who polls what. wall_tear_down() always follows. @return 0, -errno */
int wall_set_up(struct wall *w);
/** @param rc  of the run: records of one that failed are given up @return rc, or what went wrong here */
int wall_tear_down(struct wall *w, int rc);

/* link.c */
unsigned int wall_take_crossed(struct wall_link *l, struct mf_span *scratch, mf_time now);
/**
 * Takes a burst of what has crossed, on a link from another lcore.
 * @return spans taken
 */
static inline unsigned int wall_take(struct wall_link *l, struct mf_span *scratch, mf_time now)
{
	return l->in != NULL ? wall_take_crossed(l, scratch, now) : 0;
}
/**
 * Sends what a role has for a link, a burst at most.
 * @param port  of the sender
 * @param work  the spans that were sent are added
 * @return false: there may be more, and it has to wait
 */
bool wall_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
	       mf_time now, unsigned int *work);
/**
 * How many blocks may be sent now, where some wait: 0, or MF_SPAN_MAX, or what a line with a rate has had the
 * time for, ROLE_TX_FEW at most. And sends a span of so many at most, which may be changed by that (scrambled
 * in place).
 */
unsigned int wall_may_send(struct wall_link *l, mf_time now);
void wall_send(struct wall_link *l, struct mf_span *span, mf_time now);

/* impair.c */
/** wall_give() where something may happen to what is given. */
bool wall_impair_give(struct wall_link *l, struct role *from, unsigned int port, struct mf_span *scratch,
		      mf_time now, unsigned int *work);
/** wall_can_send() and wall_send() there. */
bool wall_impair_can_send(struct wall_link *l);
void wall_impair_send(struct wall_link *l, struct mf_span *s);

/* outages.c, clock.c; wall_fault_turn() and wall_fault_clock() only where there is w->faults */
/** Makes what the file's faults need, if any. wall_fault_tear_down() always follows. @return 0 or -errno */
int wall_fault_set_up(struct wall *w);
/** Counts what has happened, and frees w->faults. */
void wall_fault_tear_down(struct wall *w);
/**
 * Before a role's turn: breaks, or mends, what is due.
 * @param now   in: time of the run; out: what the role's clock shows
 * @param work  what there was to do is added
 * @return false: the role is stalled or gone, and has no turn
 */
bool wall_fault_turn(struct wall *w, struct role *role, mf_time *now, unsigned int *work);
/** What a role's clock shows at `now`. */
mf_time wall_fault_clock(const struct wall *w, const struct role *r, mf_time now);

/* shape.c */
/** Makes a link's shaper, of which `f` has the rate; one without: nothing. @return 0 or -ENOMEM */
int wall_shape(const struct mf_fabric *f, uint32_t link, struct wall_link *l);
/** Cells of a crossing of a link with a rate, for all that is under way. */
uint32_t wall_shape_cells(const struct link_timing *t);

/* descriptors.c: the scheduler has an lcore of its own */
/** The switch's part. @return grants taken */
unsigned int wall_take_grants(struct wall_switch *s, struct role *r, mf_time now);
void wall_tell_sched(struct wall_switch *s, struct role *r, mf_time now);
/** The scheduler's turn. @return how much work it found */
unsigned int wall_poll_sched(struct wall_switch *s, struct role *r, mf_time now);

/* slow_path.c: of memory nodes */
/** The node's part, where its slow path is on another lcore. @return items that crossed */
unsigned int wall_exchange_memory(struct wall *w, struct role *r, mf_time now);
/** The slow path's turn. @param busy  others of its lcore have work. @return how much work it found */
unsigned int wall_poll_slow(struct wall *w, struct role *r, mf_time now, bool busy);

/* redundancy.c: two switches */
/** Before and behind a node's own turn: takes from its links, and gives to them. @return spans */
unsigned int redundancy_take(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);
unsigned int redundancy_give(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);
/** Before a switch's own turn: whether its links were cut or it was demoted; brings links up again. */
void redundancy_look(struct wall *w, struct role *r, mf_time now);
/** Throws away what a switch would send on a link that is not up. */
void redundancy_discard(struct role *sw, unsigned int port, struct mf_span *scratch, mf_time now);
/** Cuts all links of a switch, as if it had died; it begins again with nothing. Any thread. */
void redundancy_cut(struct wall_switch *s);
/** wall.fail_over of two switches: cuts off the one whose switch or scheduler gets no turn. */
bool redundancy_fail_over(struct wall *w, const struct role *r);
/** Where there are two switches: the watchdog may cut one off. And counts what was. */
void redundancy_set_up(struct wall *w);
void redundancy_tear_down(struct wall *w);

/* routes.c: several switches */
/** A link has gone down or come up at one of its ends. Any thread. */
void wall_routes_news(struct wall *w);
/** In the turn of a switch: its routes go over the links that are up at all ends of this process. */
void wall_routes_look(struct wall *w, struct wall_switch *s, mf_time now);

/* rendezvous.c */
/**
 * The role of the port that an end of a link is at.
 * @param side    which of the two ends of the link
 * @param number  of the end there
 */
struct role *rendezvous_port_role(struct wall *w, uint32_t link, enum mf_link_end side, unsigned int *number);

/* sleep.c: turned from outside, all partners have been there */
/**
 * When the next turn is due, if nothing comes by a port that can say so. Behind a turn that found no work.
 * @return time of the run; MF_NEVER: nothing is to be done until something is asked of it
 */
mf_time wall_next(const struct wall *w, mf_time now);
/** The thread that turns it is about to sleep for `by`: that is no time for which its links had no turn. */
void wall_sleep(struct wall *w, mf_time by);
/**
 * A descriptor that is readable when wall_alarm() is over, and when something has come by a port that can say
 * so. Made at the first call. @return -errno: there is none
 */
int wall_wake_fd(struct wall *w);
void wall_wake_end(struct wall *w);
/** What comes by ports from now on is said there. */
void wall_wake_arm(struct wall *w);
/** It is readable in so long, and not before; MF_NEVER: by ports alone. */
void wall_alarm(struct wall *w, mf_time by);

/* turn.c */
/** A turn of each role of an lcore. @return how much work they found */
unsigned int wall_turn(struct wall *w, struct wall_lcore *l, mf_time now);

#endif
