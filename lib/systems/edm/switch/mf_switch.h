/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The EDM switch (EDM 3.2.2): takes in /N/ and requests as demands, sets circuits by grants, forwards
 * blocks along them, and switches ordinary frames on layer 2.
 *
 * Sans-I/O; one thread calls. It exchanges descriptors with the scheduler, which may be polled by
 * another lcore; the blocks of buffered requests stay here (D19). Port p belongs to node p.
 */
#ifndef MF_SWITCH_H
#define MF_SWITCH_H

#include "base/mf_counter.h"
#include "base/mf_timing.h"
#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "role/mf_role.h"
#include "systems/edm/proto/mf_proto.h"
#include "systems/edm/sched/mf_sched.h"

struct mf_switch_port_config {
	bool up; /**< something is connected */
	bool memory_enabled; /**< false: a standard Ethernet port (D16) */
	struct mf_mux_config mux;
	mf_time ber_window;
	struct mf_guard *guard; /**< told of what is bad on the link; or NULL */
	uint32_t backlog_k; /**< K: hold the egress with more granted towards it or waiting; 0: off (D3) */
	uint32_t source_w; /**< W: hold the source with more blocks granted and not arrived; 0: off (D3) */
};

/** What each node may ask for; all 0: whatever it likes. See docs/systems/edm.md. */
struct mf_switch_limits {
	/**
	 * N: the Nth part of a memory node's link is every compute node's own, for reads and writes
	 * together. Under the wall clock, whose links have no rate, it is the Nth part of what the node is
	 * asked for. What is asked for beyond it is served behind what others ask for. 0: no shares
	 */
	uint32_t share;
	uint32_t burst; /**< blocks that may be asked for at once within the share */
	mf_time rate; /**< from one demand of a port to the next; what comes sooner is refused. 0: none */
	uint32_t rate_burst; /**< demands that may come at once all the same, 1.. */
	uint32_t outstanding; /**< demands of a node that are not granted in full, of all it asks. 0: any */
};

struct mf_switch_config {
	unsigned int ports; /**< 2..512 */
	struct mf_switch_port_config port[MF_PORTS_MAX];
	struct mf_proto proto;
	struct mf_timing timing;
	uint32_t x; /**< X, to size the request buffer */
	uint32_t answer; /**< octets of the answer to a call, at most: 0..MF_CALL_MAX; 0: calls are refused */
	/**
	 * Room for buffered requests; 0: 2 * X * ports * ports, at most 2^20. Of one port there are never
	 * more than its even share, or X * ports where that is more: what is beyond is dropped, and counts as
	 * drop_room.
	 */
	uint32_t requests;
	bool window; /**< wall clock: tell the scheduler what was forwarded (D4) */
	mf_time grant_timeout; /**< a granted chunk that does not come expires; 0: never (D5) */
	mf_time hold_timeout; /**< a message whose next block does not come is aborted; 0: never (D14) */
	mf_time align[MF_PORTS_MAX]; /**< delay of a write's /G/ to this port, so that arrivals do not overlap
				      */
	/* layer 2 */
	unsigned int mac_table; /**< entries of the learning table: a power of two */
	mf_time l2_latency; /**< parse, match, packet manager, crossbar: Table 1 */
	const struct mf_probe *probe;
	struct mf_switch_limits limits;
	mf_time take_again; /**< TAKE and what is said of incarnations are said again after so long, ps; 0:
			       never */
	/* one of two switches, see docs/fault-tolerance.md; take_again is 1.. */
	bool redundant;
	uint8_t number; /**< which one, 0 or 1 */
	uint16_t epoch; /**< switch epoch % 2 is active */
	bool epoch_known; /**< false: the nodes will say what it is, and until then it is standby */
	bool begins; /**< the fabric begins: all nodes know the epoch, and all links are up */
	bool in_order; /**< MF_ORDER_PAIR */
	uint32_t chunk; /**< c: the first grant of a response */
	mf_time longest; /**< ps: no operation takes longer, with all retries; 0: some have no timer */
};

struct mf_switch_stats {
	uint64_t notifications, requests; /**< demands taken in */
	uint64_t grants, requests_forwarded;
	mf_time waited; /**< virtual clock: demands, from arrival at the scheduler to the first grant */
	uint64_t chunks, chunk_blocks; /**< forwarded along circuits */
	uint64_t singles; /**< ACK, ERR forwarded */
	uint64_t control_blocks; /**< /N/ in and /G/ out */
	uint64_t returns, errors; /**< GRET, ERR seen */
	/* dropped, by cause */
	uint64_t drop_check, drop_proto, drop_spoof, drop_dst, drop_ungranted, drop_room, drop_cut;
	uint64_t expired; /**< circuits whose chunk did not come in time */
	uint64_t asked_late; /**< times that a writer was asked where its chunk stays, see circuit.c */
	uint64_t overtaken; /**< those that were known for it when a later one of the pair came */
	uint64_t drop_descriptor; /**< the engine did not empty mf_switch_to_sched() */
	uint64_t drop_link; /**< for a port whose link is lost, or from it, or for its incarnation before */
	uint64_t refused_x; /**< demands beyond X of their pair, answered with an error */
	/* limits */
	uint64_t excess; /**< demands beyond the share of their pair */
	uint64_t refused_rate; /**< demands that came too fast, and were answered with an error */
	uint64_t refused_outstanding; /**< ... that were more than a node may have at a time */
	uint64_t refused_expired; /**< ... of who had let its grants expire */
	uint64_t parked; /**< requests that waited for an earlier write of their pair */
	uint64_t logged, takes; /**< one of two: demands taken down; times that it became the active one */
	uint64_t renewed; /**< times that it stayed the active one, in a newer epoch that a node asked for */
	uint64_t drop_take; /**< TAKEs of epochs that cannot be, and of incarnations that follow too fast */
	uint64_t log_expired; /**< demands taken down that were too old to be under way still */
	uint64_t drop_standby; /**< frames, while it was not */
	/* layer 2 */
	uint64_t frames, flooded, learned, drop_frame_room, drop_frame_self;
};

/** Counters of struct mf_switch_stats by the names of the result. */
extern const struct mf_counter_desc mf_switch_counters[];

struct mf_switch;
/** It as a role; see role/mf_role.h. */
extern const struct mf_role_ops mf_switch_role;

/** @return NULL with errno: EINVAL, ENOMEM */
struct mf_switch *mf_switch_new(const struct mf_switch_config *config);
void mf_switch_free(struct mf_switch *sw);

/**
 * Whether a span may be given, or blocks taken: there is room for the descriptors that may come of it.
 * Where the scheduler falls behind, the links push back, and no demand is lost.
 */
bool mf_switch_can_rx(const struct mf_switch *sw);

/** Takes a span from the link of a port. */
void mf_switch_rx(struct mf_switch *sw, unsigned int port, mf_time now, const struct mf_span *span);

/**
 * Descriptors for the scheduler, in order and in place: an engine that dates them anew may. They stay
 * where they are, whatever is called meanwhile, until mf_switch_sched_advance().
 * @param n  how many: of those at the end of the ring those at its start are told by the next call
 * @return the first; NULL: there is none, *n is 0
 */
struct mf_sched_msg *mf_switch_sched_peek(struct mf_switch *sw, unsigned int *n);
/** The first n of those told by mf_switch_sched_peek() have been taken. */
void mf_switch_sched_advance(struct mf_switch *sw, unsigned int n);
/** The same, copied out. @return number written */
unsigned int mf_switch_to_sched(struct mf_switch *sw, struct mf_sched_msg *out, unsigned int max);

/** Takes a grant: sets a circuit and makes the /G/, or lets the buffered request out. */
void mf_switch_grant(struct mf_switch *sw, mf_time now, const struct mf_sched_grant *grant);
/**
 * Whether a grant can come now: mf_switch_grant() takes no other. A scheduler gives none; a record that was
 * made by hand may have some.
 * @param grant  its nodes are below `ports`
 */
bool mf_switch_possible(const struct mf_switch *sw, const struct mf_sched_grant *grant);

/**
 * The link of a port is lost: what is arriving is cut, what was granted from it or to it ends, its demands
 * are dropped, here and in the scheduler, over the next calls of mf_switch_run(). What it has to send stays
 * with it, and is the engine's to take and throw away. Nothing is taken from it or for it until it is up.
 */
void mf_switch_link_down(struct mf_switch *sw, unsigned int port, mf_time now);
/**
 * The link is there again, perhaps to another partner than before. All other ports are told so, several
 * times, by MF_ERR with MF_ERR_RESTARTED, behind what came from it before and in front of all that comes from
 * now on; and again every take_again until each node has answered it (MF_ERR_INCARNATION), before which
 * nothing of that passes that answers this one, or, with one switch, asks it (incarnation.h). Where there are
 * two switches the node says which incarnation it is.
 * @return false: not yet: the scheduler has not answered, some memory message of before is still to be thrown
 * away, or some port has no room for the word
 */
bool mf_switch_link_up(struct mf_switch *sw, unsigned int port, mf_time now);

/**
 * The node of a port could not do anything for so long, though it lives: what was granted to it, and a
 * message of it that is half here, are not late by that. One of two switches has its own way for what is
 * late.
 */
void mf_switch_bear(struct mf_switch *sw, unsigned int port, mf_time by);

/** For tests of what happens then: an egress has no room for memory; no request can be buffered. */
void mf_switch_close(struct mf_switch *sw, unsigned int port, bool closed);
void mf_switch_no_requests(struct mf_switch *sw, bool none);
/**
 * Whether n more requests by a port find room in the buffer, and as many by each of the others. Where that is
 * not so it matters which comes first, and what is let out between two of them.
 */
bool mf_switch_has_requests(const struct mf_switch *sw, unsigned int port, unsigned int n);
/* One of two switches: */
/**
 * The node of a port obeys switch epoch % 2 from now on: what TAKE says. Or a watchdog says that it should.
 */
void mf_switch_take(struct mf_switch *sw, unsigned int port, uint16_t epoch, mf_time now);
/**
 * Another one has taken over, and what this one has is of no use any more. Its nodes have been told, and
 * behind that it takes nothing and lets nothing out. The engine calls mf_switch_crash(), and
 * mf_switch_link_up() for the ports whose links live; then it knows nothing but the epoch.
 */
bool mf_switch_demoted(const struct mf_switch *sw);
/** Whether it schedules; and, of two, in which epoch. */
bool mf_switch_active(const struct mf_switch *sw, uint16_t *epoch);

/**
 * The switch is gone, and will be there again with nothing of what it knew: the links of all its ports are
 * lost (mf_switch_link_down()), and addresses and frames that it had.
 */
void mf_switch_crash(struct mf_switch *sw, mf_time now);

/**
 * Does what is due: timers, frames that come out of the layer-2 pipeline.
 * @return the next time that it wants to be called (TX of ports not included), or MF_NEVER
 */
mf_time mf_switch_run(struct mf_switch *sw, mf_time now);

/** The next time at which mf_switch_run() may have something to do: cheap, for after each rx or grant. */
mf_time mf_switch_next(const struct mf_switch *sw);

/**
 * Ports whose TX may have something new, a bit each; (ports + 63) / 64 words. The engine clears the bit of
 * a port before it takes what there is, or leaves it where that has to wait.
 */
uint64_t *mf_switch_tx_set(struct mf_switch *sw);
/**
 * The same, taken out of the set.
 * @return number written to out[0..max)
 */
unsigned int mf_switch_tx_ports(struct mf_switch *sw, uint16_t *out, unsigned int max);

/** Whether frames are inside: in the layer-2 pipeline, or before it, behind their /T/. */
bool mf_switch_has_frames(const struct mf_switch *sw);

/** Next blocks of a port; see mf_mux_pull(). */
unsigned int mf_switch_tx(struct mf_switch *sw, unsigned int port, mf_time now, unsigned int max,
			  struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_switch_tx_in_place(struct mf_switch *sw, unsigned int port, mf_time now,
				      struct mf_span *room);
/** See mf_mux_short_spans(). */
void mf_switch_short_spans(struct mf_switch *sw, unsigned int port);
/** See mf_mux_waits(). */
bool mf_switch_tx_waits(const struct mf_switch *sw, unsigned int port);
/** See mf_mux_next(). */
mf_time mf_switch_tx_next(const struct mf_switch *sw, unsigned int port, mf_time now);
/** See mf_mux_next_block(). */
mf_time mf_switch_tx_next_block(const struct mf_switch *sw, unsigned int port, mf_time now);

/*
 * Hints, which change nothing: a message will soon arrive at a port, and what it looks at is fetched into the
 * caches. Each of them looks itself at what the one above it has fetched.
 */
/** @param word  the first of the message */
void mf_switch_fetch(const struct mf_switch *sw, unsigned int port, uint64_t word);
void mf_switch_fetch_mux(const struct mf_switch *sw, unsigned int port, uint64_t word);
void mf_switch_fetch_items(const struct mf_switch *sw, unsigned int port, uint64_t word);
/** The same for what a port will send, in two steps. */
void mf_switch_fetch_tx(const struct mf_switch *sw, unsigned int port);
void mf_switch_fetch_head(const struct mf_switch *sw, unsigned int port);

const struct mf_switch_stats *mf_switch_stats(const struct mf_switch *sw);
const struct mf_mux_stats *mf_switch_mux_stats(const struct mf_switch *sw, unsigned int port);
/** See mf_mux_ahead(). */
uint32_t mf_switch_ahead(const struct mf_switch *sw, unsigned int port, mf_time now);
const struct mf_demux *mf_switch_demux(const struct mf_switch *sw, unsigned int port);

#endif
