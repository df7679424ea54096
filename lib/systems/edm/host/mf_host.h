/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's EDM network stack (EDM 3.2.1): message queue, message state table, grant queue, data
 * buffers, read timers; the receiving side of a memory node.
 *
 * Sans-I/O: spans and operations come in with the time, spans and completions go out. One thread
 * calls. A node may be compute node, memory node or both (D10).
 *
 * At one time of the virtual clock: first mf_host_rx(), then mf_host_tx(), mf_host_run(),
 * mf_host_completions(), and what the client submits; tx and run again while they have something. In
 * this order spans and single blocks give the same result. Under the wall clock everything is dated by
 * the time of the call, not by the span.
 */
#ifndef MF_HOST_H
#define MF_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_counter.h"
#include "base/mf_timing.h"
#include "memory/mf_memory.h"
#include "memory/mf_region.h"
#include "op/mf_op.h"
#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "role/mf_role.h"
#include "systems/edm/proto/mf_proto.h"

/** A region of a memory node, as who asks knows it. */
struct mf_host_region {
	uint64_t at, size;
	uint16_t node;
};

struct mf_host_config {
	uint16_t node; /**< own number = port of the switch, 0..511 */
	uint16_t nodes; /**< how many there are, 1..512 */
	bool compute; /**< may submit operations */
	const struct mf_memory_ops
		*memory_ops; /**< NULL: not a memory node. One that can be asked needs proto.ext */
	struct mf_memory *memory; /**< the caller's, must outlive the host */
	uint8_t end; /**< which end of its node this is: hosts of several ends may share the memory */
	const struct mf_host_region *region; /**< of all nodes, by node and address; the caller's, likewise */
	uint32_t regions; /**< how many; compute nodes: their keys are asked for. Needs proto.ext */
	uint32_t x; /**< X: active notifications a pair, writes and reads apart (3.1.2): 1..128 */
	uint32_t chunk; /**< c of the scheduler: the first grant of a response */
	uint32_t mega; /**< M: WREQs of a pair that one notification may stand for; 0, 1: none (D8) */
	uint32_t queue; /**< room of the message queue: operations, 1..65536 */
	uint32_t answer; /**< bytes of the answer to a call, at most: 0..MF_CALL_MAX; 0: no calls are asked */
	/**
	 * From the submission of an operation, whatever it waits for; with retries their times come to it.
	 * One of more than MF_MESSAGE_MAX has the time again with each piece that completes. What has not
	 * begun by then ends with MF_ERR_TIMEOUT, and nothing of it has happened.
	 */
	mf_time read_timeout; /**< an RREQ or RMWREQ without its whole response; 0: never */
	mf_time write_timeout; /**< a WREQ not sent in full, or not acknowledged; 0: never */
	/**
	 * How long the id of a timed-out request stays unused; 0: 10 timeouts. With proto.ext, where none is
	 * free, another use may have it: of a write when a tenth of this has passed, of others at once.
	 */
	mf_time quarantine;
	uint32_t buffers_small; /**< data buffers of 4 KiB for the rest of responses; 0: 4 a node */
	uint32_t buffers_large; /**< data buffers of 64 KiB; 0: 2 a node */
	/**
	 * proto.ext: messages say the number of the use of their id, so requests are executed at most once,
	 * and of what comes twice the first copy counts
	 */
	struct mf_proto proto;
	uint16_t use; /**< with proto.ext: uses are numbered from behind it; another one at each start */
	uint32_t retries; /**< with proto.ext: how often a request is sent again at most: 0..255 */
	mf_time retry_timeout; /**< with retries: after which time, each time */
	struct mf_timing timing; /**< of the virtual clock; under the wall clock nothing is added */
	struct mf_mux_config mux;
	bool leaves_ids; /**< the upper quarter of ids is not its own: somebody else sends with them */
	bool memory_enabled; /**< false: a plain Ethernet node; submits are refused */
	mf_time ber_window;
	struct mf_guard *guard[2]; /**< by link: told of what is bad on it; or NULL */
	bool redundant; /**< two links to two switches, see docs/fault-tolerance.md */
	/** redundant: it begins with the fabric: both links are up, and all know that epoch 0 begins */
	bool begins;
	uint16_t incarnation; /**< redundant, and it does not: which of its incarnations this is; 0: any that
				 was not before */
	bool in_order; /**< MF_ORDER_PAIR: not writes alone, requests are granted in their order, too */
	mf_time take_again; /**< redundant: retransmission interval of a TAKE without an answer, ps, 1.. */
	const struct mf_probe *probe; /**< or NULL */
};

struct mf_host_stats {
	uint64_t submitted[MF_OPS], completed[MF_OPS], failed[MF_OPS];
	uint64_t rx[MF_KINDS], tx[MF_KINDS]; /**< messages (chunks for WREQ, RRES) by kind */
	uint64_t rx_octets, tx_octets; /**< payload of WREQ and RRES */
	mf_time waited; /**< of all operations together, from submission to their first message */
	uint64_t control_blocks; /**< /N/, /G/ sent and received, for 3.1.4 */
	uint64_t megas, mega_messages;
	uint64_t timeouts, quarantined;
	uint64_t drop_check, drop_proto, drop_unknown, drop_dst; /**< received and thrown away, by cause */
	uint64_t
		drop_room; /**< received and thrown away: no room in the grant queue, or for a result again */
	uint64_t grants_returned;
	uint64_t refused[MF_STATUSES]; /**< requests refused, by status; an unacknowledged WREQ gets no ERR */
	uint64_t stalls; /**< times that a destination waited for room in the multiplexer */
	uint64_t link_lost; /**< messages that failed with a link, the own one or that of their node */
	uint64_t attaches; /**< requests for keys */
	uint64_t calls, calls_pending; /**< answered; answered that they are under way, or have not begun */
	/* two links */
	uint64_t takes; /**< times that it obeyed another switch */
	uint64_t ignored_grants; /**< of a switch that was not obeyed */
	uint64_t drop_fenced; /**< requests of a switch that does not know the epoch */
	uint64_t reclaimed; /**< responses given up for their data buffer: their grants never came */
	uint64_t retried; /**< timers that ended with retries left: sent again, where there was room */
	/* with proto.ext: */
	uint64_t again; /**< requests and chunks that had been executed, sent again: answered once more */
	uint64_t copies; /**< messages that came before, by the same sending */
	uint64_t old; /**< messages of an older use of their id: dropped */
	uint64_t gaps; /**< dropped: what is behind a chunk that did not come, and what was overtaken */
};

/**
 * Counters of struct mf_host_stats by the names of the result. Telemetry has section "host", which shows
 * single nodes; the result reads two of its counters.
 */
extern const struct mf_counter_desc mf_host_counters[];

struct mf_host;
/** It as a role; see role/mf_role.h. */
extern const struct mf_role_ops mf_host_role;

/** Allocates a host. @return NULL with errno: EINVAL for a bad config, ENOMEM */
struct mf_host *mf_host_new(const struct mf_host_config *config);
void mf_host_free(struct mf_host *h);

/**
 * Submits an operation.
 * @return 0; -EAGAIN: the message queue is full; -EINVAL: size 0, address beyond 48 bits, node out of
 *         range or the own one, unknown opcode; -EPERM: not a compute node
 */
int mf_host_submit(struct mf_host *h, mf_time now, const struct mf_op *op);

/**
 * Takes completions that are due at now, in the order of their time.
 * @return number written to out[0..max)
 */
unsigned int mf_host_completions(struct mf_host *h, mf_time now, struct mf_completion *out, unsigned int max);

/** Sends an ordinary frame (from destination address on, without FCS). @return false: no room */
bool mf_host_send_frame(struct mf_host *h, mf_time now, const uint8_t *frame, uint16_t len);

/** Where received frames go. Called from within mf_host_rx() and mf_host_run(). */
typedef mf_node_frame_fn mf_host_frame_fn;
void mf_host_on_frame(struct mf_host *h, mf_host_frame_fn fn, void *ctx);

/**
 * A node's link was lost and is there again, or the own one is lost, and with it what was on its way to any
 * node: messages to it that had begun have failed, reads with MF_ERR_RESTARTED (own link: MF_ERR_TIMEOUT).
 * What has completed may be lost, too: unacknowledged writes, and all that a memory node held that was
 * started again. Where there are two switches nothing may have failed, and only such writes be lost. What is
 * submitted from now on goes to who is there now, behind what waits. Responses that
 * came before the word are completed as ever, even if they are taken later. Called from within mf_host_rx()
 * and mf_host_link_down().
 */
typedef mf_node_restart_fn mf_host_restart_fn;
void mf_host_on_restart(struct mf_host *h, mf_host_restart_fn fn, void *ctx);

/* Within mf_host_restart_fn: */
/** Whether the way to the node is what was lost: the own link, or writes that the switch has given up. */
bool mf_host_link_is_lost(const struct mf_host *h);
/**
 * Tells which operations go to the node that is there now, in no order: those that waited. What was under way
 * at the old one has failed, or its response is there, even if it has not been taken.
 */
void mf_host_under_way(const struct mf_host *h, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx);

/**
 * Whether mf_host_rx() has room for what a whole span may cause. Wall clock: leave spans in the ring
 * while it has not.
 */
bool mf_host_can_rx(const struct mf_host *h);

/** Takes a span from the link. */
void mf_host_rx(struct mf_host *h, mf_time now, const struct mf_span *span);

/**
 * The link is lost: messages that have begun fail as by their timers, unacknowledged writes among them; what
 * waited to be sent is thrown away, and responses of a memory node with it. What has not begun waits. Not
 * before the engine has a link again may it take what the host sends from now on.
 */
void mf_host_link_lost(struct mf_host *h, mf_time now);

enum mf_host_pool {
	MF_HOST_QUEUE, /**< of the message queue */
	MF_HOST_GRANTS, /**< of the grant queue */
	MF_HOST_BUFFERS, /**< data buffers */
	MF_HOST_MUX, /**< of the multiplexer, for memory */
};

/** Takes away what is free of it, or gives that back: for tests of what happens then. */
void mf_host_exhaust(struct mf_host *h, enum mf_host_pool what, bool on);
/** Takes a span from one of two links. */
void mf_host_rx_by(struct mf_host *h, unsigned int link, mf_time now, const struct mf_span *span);

/**
 * A link is lost, or there again. Where there are two and the other one lives nothing is lost: the host obeys
 * the switch at its end from now on, if it did not. With the last one goes what goes with an only one.
 */
void mf_host_link_down(struct mf_host *h, unsigned int link, mf_time now);
void mf_host_link_up(struct mf_host *h, unsigned int link, mf_time now);

/** Two links: switch epoch % 2 is obeyed. */
uint16_t mf_host_epoch(const struct mf_host *h);
/**
 * Whether the host knows which switch to obey: both have told it the same epoch once, or one has and the
 * other was waited for as long as a read may take. What is begun before that may fail, since others may
 * know of a newer epoch. With one link: always.
 */
bool mf_host_has_primary(const struct mf_host *h);
/** Of two switches: whether one of them may yet be told by this node that another one is to be active. */
bool mf_host_tells(const struct mf_host *h);

/**
 * The process of the node is gone, and there again: a new host in the place of this one, which knows nothing
 * of what was. What was submitted ends without a completion. Where frames and news of restarts go stays, and
 * what is counted goes on.
 * @param memory  of the new incarnation
 * @return 0 or -ENOMEM: of no use but to be freed
 */
int mf_host_restart(struct mf_host *h, mf_time now, struct mf_memory *memory);

/**
 * Does what is due: message queue, timers, frames behind whose /T/ nothing came.
 * @return mf_host_next()
 */
mf_time mf_host_run(struct mf_host *h, mf_time now);

/**
 * When mf_host_run() or mf_host_completions() next has something to do, TX not included; MF_NEVER:
 * nothing. A time that has passed means at once.
 */
mf_time mf_host_next(const struct mf_host *h);

/** When mf_host_tx() next has something to give; see mf_mux_next(). */
mf_time mf_host_tx_next(const struct mf_host *h, mf_time now);

/** Next blocks for the link; see mf_mux_pull(). */
unsigned int mf_host_tx(struct mf_host *h, mf_time now, unsigned int max, struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_host_tx_in_place(struct mf_host *h, mf_time now, struct mf_span *room);

const struct mf_host_stats *mf_host_stats(const struct mf_host *h);
/** The receiver of the link that something came by last. */
const struct mf_demux *mf_host_demux(const struct mf_host *h);
/** That of a link, 0 or 1; NULL: it has no such link. Not while another thread calls the host. */
const struct mf_demux *mf_host_demux_of(const struct mf_host *h, unsigned int link);

/*
 * Hints, which change nothing: what is named will soon be looked at, and is fetched into the caches. What
 * one of them looks at itself is what those above it have fetched.
 */
/** The host. */
void mf_host_fetch(const struct mf_host *h);
/** What the submission of an operation to this node looks at. */
void mf_host_fetch_peer(const struct mf_host *h, uint16_t node);
/**
 * What a message will look at when it arrives.
 * @param first, last  its first and its last block
 * @return the node whose write it is; UINT16_MAX: it is none
 */
uint16_t mf_host_fetch_message(const struct mf_host *h, uint64_t first, uint64_t last);
/** What is known of that. */
void mf_host_fetch_state(const struct mf_host *h, uint64_t first);
/** The operation that it belongs to. */
void mf_host_fetch_op(const struct mf_host *h, uint64_t first);
/** The operation's buffer. @return user of the operation; 0: it belongs to none */
uint64_t mf_host_fetch_data(const struct mf_host *h, uint64_t first);

/** Operations that are queued or under way. */
uint32_t mf_host_outstanding(const struct mf_host *h);

#endif
