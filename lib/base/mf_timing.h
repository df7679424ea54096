/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each stage of EDM's data path costs under the virtual clock (3.2.1, 3.2.2, Table 1), and the
 * probe through which every stage stamps the message that passes it.
 *
 * The cores add these costs to the times that they are given; under the wall clock all are 0.
 */
#ifndef MF_TIMING_H
#define MF_TIMING_H

#include <stdbool.h>

#include "base/mf_time.h"

/** Stages. Up to MF_STAGE_PROPAGATION they make up the paper's fabric latency. */
enum mf_stage {
	/* host, TX */
	MF_STAGE_MESSAGE_QUEUE, /**< read the message queue */
	MF_STAGE_MAKE_REQUEST, /**< make the /N/ or the RREQ, write the message state table in parallel */
	MF_STAGE_GRANT_QUEUE, /**< cross the RX and TX clock domains: read the grant queue, or an answer */
	MF_STAGE_STATE_TABLE, /**< read the message state table */
	MF_STAGE_DATA_BUFFER, /**< read the data buffer */
	MF_STAGE_MAKE_DATA, /**< make the block */
	/* host, RX */
	MF_STAGE_GRANT_PARSE,
	MF_STAGE_GRANT_ENQUEUE,
	MF_STAGE_RREQ_PARSE, /**< of an RREQ or RMWREQ: parse and add to the grant queue */
	MF_STAGE_MEMORY_CONTROLLER, /**< send it to the memory controller */
	MF_STAGE_DATA_PARSE, /**< of a block of an RRES or WREQ */
	MF_STAGE_DATA_ADDRESS, /**< find its memory address */
	MF_STAGE_DATA_DELIVER, /**< send it to the application or the memory controller */
	/* switch */
	MF_STAGE_IDENTIFY, /**< look at the block type */
	MF_STAGE_MAKE_GRANT, /**< make the /G/, or let the buffered request out as the first grant */
	MF_STAGE_FORWARD, /**< from the RX to the TX clock domain */
	/* each crossing of a port */
	MF_STAGE_PCS_TX,
	MF_STAGE_PCS_RX,
	MF_STAGE_MAC, /**< of stacks above it, TX or RX */
	MF_STAGE_PMA, /**< PMA, PMD and transceiver */
	MF_STAGE_PROTOCOL, /**< of a stack above the MAC, TX or RX */
	MF_STAGE_L2, /**< layer-2 forwarding of a frame; its cost belongs to the switch */
	MF_STAGE_PROPAGATION, /**< of a link */
	/* what the paper's sum leaves out */
	MF_STAGE_SERIALISATION, /**< from the first to the last data block of a message */
	MF_STAGE_CHECK, /**< waiting for the block that carries the check before acting */
	MF_STAGE_SCHEDULER,
	MF_STAGE_DRAM,
	MF_STAGE_LINE, /**< waiting until the link is free; 0 in an idle fabric */
	MF_STAGES
};

/** Cost of every stage, ps. SERIALISATION, CHECK, SCHEDULER, DRAM, LINE are measured, not set. */
struct mf_timing {
	mf_time cost[MF_STAGE_PROPAGATION]; /**< propagation belongs to the link */
};

static inline mf_time mf_timing_sum(const struct mf_timing *t, enum mf_stage first, enum mf_stage last)
{
	mf_time sum = 0;

	for (int i = first; i <= (int)last; i++)
		sum += t->cost[i];
	return sum;
}

/** /G/ received -> in the grant queue. */
static inline mf_time mf_timing_grant_rx(const struct mf_timing *t)
{
	return mf_timing_sum(t, MF_STAGE_GRANT_PARSE, MF_STAGE_GRANT_ENQUEUE);
}

/** Known at a receiver -> the block that answers it made: it crosses to the TX clock domain, as a grant does.
 */
static inline mf_time mf_timing_answer_tx(const struct mf_timing *t)
{
	return t->cost[MF_STAGE_GRANT_QUEUE] + t->cost[MF_STAGE_MAKE_DATA];
}

/** In the grant queue -> first data block made. */
static inline mf_time mf_timing_data_tx(const struct mf_timing *t)
{
	return mf_timing_sum(t, MF_STAGE_GRANT_QUEUE, MF_STAGE_MAKE_DATA);
}

/**
 * Where stamps go: "between from and to this message was in this stage".
 *
 * A message is named by compute node, memory node and id; MF_PROBE_ANY where the stage cannot know
 * (a link). Probes are for measuring; a core works the same without one.
 */
#define MF_PROBE_ANY 0xffff
struct mf_probe {
	/** NULL: stages are not stamped. */
	void (*stamp)(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage, mf_time from,
		      mf_time to);
	/**
	 * With stamp: an operation begins, the only one under way, of a stack above the MAC. Of the stamps
	 * that follow those count that begin where the last one ended: others are beside its path.
	 */
	void (*start)(void *ctx, bool write);
	/** A chunk of a write has taken effect at the memory node: first block processed, check passed. */
	void (*effect)(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
		       bool last, mf_time first, mf_time done);
	/** A chunk of a read's response has been delivered at the compute node. As effect(). */
	void (*response)(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint32_t offset, uint32_t octets,
			 bool last, mf_time first, mf_time done);
	/**
	 * A write leaves the message queue, before any of it takes effect. Another one of its pair may have
	 * its id only if it takes effect later. user: of its operation. submitted: when that was; MF_NEVER
	 * for a piece of a long transfer that is not the last.
	 */
	void (*begun)(void *ctx, uint16_t cn, uint16_t mn, uint32_t id, uint64_t user, mf_time submitted);
	void *ctx;
};

/** Name as in the paper. */
const char *mf_stage_name(enum mf_stage stage);

#endif
