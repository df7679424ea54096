/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a CXL link, of a node or of a switch: packs messages into flits and takes them out, with
 * credits by message class, acknowledgement and replay.
 *
 * Credits. A credit is room for one message of its class, with its data, in the buffers of the other end.
 * What is told of them is how many buffers have been freed since the beginning, modulo 256; all of them are
 * free at first, so the first flit of each end advertises them. So a flit that is lost, or comes twice,
 * neither loses nor makes credits. PROTOCOL flits tell the counts of two classes; a CONTROL flit tells all,
 * and is sent when enough is to be told, or after a while. An end that has had no credit of a class for the
 * time of the replay timer asks.
 *
 * Retry. PROTOCOL and DATA flits are numbered and kept until they are acknowledged. A flit that is
 * damaged, or not the next, is thrown away and answered once by a CONTROL flit with NAK: the other end
 * sends again from there (go back N); so it does when nothing is acknowledged for the time of its timer.
 * CONTROL flits have no number: what they tell is absolute.
 *
 * Packing. The first slot of a PROTOCOL flit has room for messages, behind the link header; in the others
 * data go first, those of the messages before, in their order; a slot without data to carry has messages:
 * one request or two responses. While a whole flit of data waits, DATA flits go.
 *
 *      cxl_link.c      the whole, credits, timers, counters
 *      cxl_link_tx.c   what is sent
 *      cxl_link_rx.c   what comes
 *
 * Sans-I/O; nothing is allocated after init.
 */
#ifndef CXL_LINK_H
#define CXL_LINK_H

#include "base/mf_time.h"
#include "systems/cxl/cxl_flit.h"

#define CXL_CREDITS_MAX 127 /* half of what is counted modulo 256 */
#define CXL_REPLAY_MAX 1024 /* flits: a quarter of the sequence numbers */
#define CXL_PENDING 32 /* slots, a power of two: less than a flit's, and two lines */

/** Where the messages come from and go to: of the link's owner. */
struct cxl_ends {
	/** Classes that have a message that may go at now, as a mask. */
	unsigned int (*has)(void *ctx, unsigned int port, mf_time now);
	/** Takes the next one of a class of these. */
	void (*take)(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m);
	/** A message has come; its buffer is held until cxl_link_freed(). */
	void (*deliver)(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m);
};

struct cxl_link_config {
	const struct cxl_format *format;
	const struct cxl_ends *ends;
	void *ctx;
	unsigned int port;
	uint32_t replay; /**< flits that may wait for their acknowledgement: a power of two */
	mf_time replay_timeout;
	mf_time tell_delay; /**< after which acknowledgements and credits go without a message */
	uint8_t buffers[CXL_CLASSES]; /**< of this end, 1..CXL_CREDITS_MAX */
};

struct cxl_link_stats {
	uint64_t flits, data_flits, control_flits; /**< sent; replayed ones not counted */
	uint64_t received; /**< of all kinds, good or bad */
	uint64_t replayed, replays, timeouts, naks, asked;
	uint64_t drop_crc, drop_sequence, duplicates;
	uint64_t drop_message; /**< of an unknown kind, or data without a message */
	uint64_t drop_credit; /**< came without a credit: never, unless the other end errs */
	uint64_t messages[CXL_CLASSES]; /**< sent */
	uint64_t starved; /**< times that the last credit of a class was spent */
};

struct cxl_link {
	struct cxl_link_config config;
	/* sending */
	uint16_t next, acked, resend; /**< sequence numbers; resend == next: nothing is sent again */
	uint8_t avail[CXL_CLASSES]; /**< credits */
	uint8_t seen[CXL_CLASSES]; /**< the other end's counts */
	uint8_t may; /**< classes with credits, a mask */
	uint8_t turn; /**< class that is looked at first */
	bool nak, ask; /**< to be told by a CONTROL flit at once */
	uint32_t pending_head, pending; /**< slots of data whose messages have been sent */
	uint64_t *replay; /**< [config.replay][format->words] */
	mf_time replay_at, ask_at; /**< timers; MF_NEVER: off */
	/* receiving */
	uint16_t expected;
	bool nak_sent; /**< for the flit that is expected */
	bool untold_flits; /**< something has come that was not acknowledged */
	uint32_t unacked;
	uint8_t held[CXL_CLASSES], freed[CXL_CLASSES], told[CXL_CLASSES];
	mf_time tell_at; /**< when a CONTROL flit is due; MF_NEVER: nothing is to be told */
	uint32_t coming_head, coming; /**< messages whose data are to come */
	uint32_t have; /**< slots of the first of them */
	mf_time arrival; /**< of what is held; MF_NEVER: nothing is */
	bool sound; /**< what is held is a flit: */
	union cxl_flit held_flit;
	struct cxl_link_stats stats;
	uint8_t slot[CXL_PENDING][CXL_SLOT] __attribute__((aligned(16)));
	struct cxl_message expects[CXL_PENDING];
};

/** @return 0 or -ENOMEM */
int cxl_link_init(struct cxl_link *l, const struct cxl_link_config *config);
void cxl_link_fini(struct cxl_link *l);

/** Blocks have come that should be a flit. They are held, one at a time, until cxl_link_arrive(). */
void cxl_link_hold(struct cxl_link *l, mf_time at, const uint64_t *word, unsigned int n);
/** What is held is taken, at its time. */
void cxl_link_arrive(struct cxl_link *l);
/** A buffer of a class is free again. */
void cxl_link_freed(struct cxl_link *l, enum cxl_class class, mf_time now);

/** The next flit to send at now, as blocks. @return their number, or 0 */
unsigned int cxl_link_pull(struct cxl_link *l, mf_time now, uint64_t *word);

/** There is room in the replay buffer. */
static inline bool cxl_link_open(const struct cxl_link *l)
{
	return (uint16_t)((l->next - l->acked) & (CXL_SEQUENCES - 1)) < l->config.replay;
}

/** Classes of which a message can be sent. */
static inline unsigned int cxl_link_may(const struct cxl_link *l)
{
	return cxl_link_open(l) ? l->may : 0;
}

/**
 * When cxl_link_pull() has something to send, whatever messages there are: those of cxl_link_may() are
 * what it sends besides.
 */
static inline mf_time cxl_link_ready(const struct cxl_link *l)
{
	if (l->nak || l->ask || l->resend != l->next || (l->pending != 0 && cxl_link_open(l)))
		return 0;
	return l->tell_at;
}

/** When cxl_link_run() has something to do. */
static inline mf_time cxl_link_next(const struct cxl_link *l)
{
	return mf_time_min(l->replay_at, l->ask_at);
}

/** Does what its timers say. */
void cxl_link_run(struct cxl_link *l, mf_time now);

/** What both ends have in common as counters, the same in stack and bridge; summed. @return how many */
struct mf_counter;
void cxl_link_add(struct cxl_link_stats *sum, const struct cxl_link_stats *one);
unsigned int cxl_link_counters(const struct cxl_link_stats *s, struct mf_counter *out);

#endif
