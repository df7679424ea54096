/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a client. */
#ifndef CLIENT_PRIV_H
#define CLIENT_PRIV_H

#include <assert.h>

#include "workload/arrival.h"
#include "workload/buffers.h"
#include "workload/choose.h"
#include "workload/mf_workload.h"
#include "workload/verify.h"

/*
 *   FREE --begin--> BUSY --completion--> FREE
 *                     |                    ^
 *                     |--> SUSPECT --------|  judged when the older writes of its octets are over
 *                     '--> FORMER ---------'  of a memory node that has lost all: of no effect on the new one
 */
enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_SUSPECT, SLOT_FORMER };

#define CLIENT_LINE 64 /**< octets of the read that most workloads consist of */

#define CLIENT_DEPTH_MAX (1 << MF_CLIENT_SLOT_BITS)

/** An operation under way. Slot i has buffer i. */
struct slot {
	uint64_t user; /**< its name for the host: its number << MF_CLIENT_SLOT_BITS | its place */
	mf_time intended;
	uint64_t offset; /**< in the region */
	uint64_t expect; /**< RMW: the old value; read: hash of the octets, where it takes one */
	uint64_t len;
	uint32_t region;
	uint16_t node;
	uint8_t kind; /**< enum mf_client_kind */
	uint8_t state; /**< enum slot_state */
	bool measured;
	bool check; /**< expect counts */
	bool sure; /**< what differs from it is wrong; if not, nobody can tell */
	bool alone; /**< any order: no other write or RMW of its words was under way with it */
	/** Read of a line among writes: its octets. Copied and compared they cost a quarter of two hashes. */
	uint64_t line[CLIENT_LINE / 8] __attribute__((aligned(CLIENT_LINE)));
};
static_assert(sizeof(struct slot) == 2 * CLIENT_LINE, "without verification one cache line is touched");

struct mf_client {
	struct mf_below below; /**< what it asks */
	const struct mf_client_watch *watch; /**< or NULL */
	struct client_history *history; /**< or NULL */
	const struct mf_client_target *target; /**< the caller's: see client_target() */
	uint32_t own; /**< place of the own node among them, which is left out; UINT32_MAX: it is not there */
	uint32_t targets; /**< without the own node */
	uint64_t base; /**< of the own region behind that of a target */
	bool open; /**< loop */
	bool verify;
	bool sink; /**< regions hold mf_sink_content(): there is no shadow */
	bool constant; /**< neither writes nor RMW: regions hold what they held */
	enum mf_client_order order;
	bool lost_is_empty;
	struct churn *churn; /**< NULL: it shares no spaces */
	struct store_client *store; /**< NULL: operations are drawn or given, not queries to a store */
	uint16_t node;
	struct slot *waiting; /**< whose op is made, and was refused by a full message queue; or NULL */
	struct mf_op op; /**< only what changes is written again */
	struct chooser chooser;
	const struct mf_client_message
		*message; /**< trace: the next one, and behind the last; otherwise NULL */
	const struct mf_client_message *message_end;
	const uint64_t *address; /**< trace: of the message at message_end, backwards; NULL: they are drawn */
	uint16_t *place; /**< trace: of a node's target, [MF_NODES_MAX] */
	struct mf_rng args; /**< of RMW */
	struct arrival arrival; /**< next: in a closed loop now, or when the delay is over */
	uint32_t burst, burst_left; /**< open loop: at arrival.next so many are still to be begun */
	mf_time delay; /**< closed loop */
	struct shadow shadow; /**< none where neither verify nor CAS asks for it */
	struct slot *slot; /**< [slot_mask + 1], those from depth on are always free */
	uint32_t *free; /**< stack of slots; depth - free_count of them are taken */
	uint32_t free_count, depth;
	uint32_t used; /**< slots from here on have never been taken: the lowest are taken first */
	uint32_t slot_mask;
	uint32_t suspects;
	struct buffers buffers;
	uint64_t writer; /**< content_writer() of the node */
	uint64_t operations; /**< numbers go from 0 to stats.begun_all, and not beyond this */
	uint64_t measured; /**< 0: no limit; else operations is set when the first of them is begun */
	mf_time start; /**< closed loop: of the next operation, not before */
	mf_time stop; /**< moved forward by mf_client_stop(), perhaps of another thread */
	mf_time measure;
	mf_time warmup_end; /**< measure; MF_NEVER: that is over */
	/** Those of stats, and that of what is asked of spaces: it has no times. */
	struct mf_client_kind_stats *kind[MF_CLIENT_KINDS + 1];
	struct mf_client_kind_stats task;
	struct mf_client_stats stats;
	uint32_t *busy; /**< [slot_mask + 1], see client_set_busy() */
};

/** A target by its number, which is less than c->targets. */
static inline const struct mf_client_target *client_target(const struct mf_client *c, uint32_t number)
{
	return &c->target[number + (number >= c->own)];
}

/** Where an octet of the region at a target is in its memory. */
static inline uint64_t client_address(const struct mf_client *c, uint32_t number, uint64_t offset)
{
	return client_target(c, number)->base + c->base + offset;
}

/** Its place in the array of slots. */
static inline uint32_t client_place(const struct slot *s)
{
	return s->user & (CLIENT_DEPTH_MAX - 1);
}

static inline uint64_t client_number(const struct slot *s)
{
	return mf_client_number(s->user);
}

static inline bool client_overwrites(uint8_t kind)
{
	return kind == MF_CLIENT_WRITE || kind == MF_CLIENT_WRITE_ACK || kind == MF_CLIENT_SWAP;
}

static inline bool client_reads(uint8_t kind)
{
	return mf_client_reads((enum mf_client_kind)kind);
}

/** Reads, calls and RMW. */
static inline bool client_returns(uint8_t kind)
{
	return kind != MF_CLIENT_WRITE && kind != MF_CLIENT_WRITE_ACK;
}

static inline bool client_overlap(const struct slot *a, const struct slot *b)
{
	return a->region == b->region && a->offset / 8 <= (b->offset + b->len - 1) / 8 &&
	       b->offset / 8 <= (a->offset + a->len - 1) / 8;
}

static inline void *client_buffer(const struct mf_client *c, const struct slot *s)
{
	return buffers_at(&c->buffers, client_place(s));
}

/** Where operations may pass each other: the region of each slot that is BUSY, plus one; else 0. */
static inline void client_set_busy(const struct mf_client *c, const struct slot *s, uint32_t region)
{
	if (c->order != MF_CLIENT_IN_ORDER)
		c->busy[client_place(s)] = region;
}

/* client.c */

/** What ends from now on is of the phase of now: to be called before anything is counted. */
void client_phases(struct mf_client *c, mf_time now);

/* begin.c */

/** Begins what is due and finds room. */
void client_begin(struct mf_client *c, mf_time now);

/** Whether another operation will be begun, now or later. */
bool client_has_more(const struct mf_client *c, mf_time now);

/** When what is behind this operation or query may be begun, or is intended. */
static inline void client_next_start(struct mf_client *c)
{
	if (!c->open) {
		c->arrival.next += c->delay;
		c->start = c->arrival.next;
	} else if (c->message != NULL) {
		c->message++;
		c->arrival.next = c->message < c->message_end ? c->message->start : MF_NEVER;
	} else if (--c->burst_left == 0) {
		c->burst_left = c->burst;
		arrival_advance(&c->arrival);
	}
}

/* history.c, where it has one */
/** c->op was submitted, by s. */
void client_history_begun(struct mf_client *c, const struct slot *s, mf_time now);

/** An operation has been submitted: c->op, by s. */
static inline void client_count_begun(struct mf_client *c, const struct slot *s, mf_time now)
{
	if (__builtin_expect(c->history != NULL, 0))
		client_history_begun(c, s, now);
	if (s->measured) {
		c->kind[s->kind]->begun++;
		c->kind[s->kind]->octets_begun += s->len;
		if (__builtin_expect(c->watch != NULL, 0))
			c->watch->begun(c->watch->ctx, &c->op, (enum mf_client_kind)s->kind, s->intended,
					now);
	} else {
		c->stats.unmeasured.begun++;
		c->stats.unmeasured.octets_begun += s->len;
	}
	c->stats.begun_all++;
}

/* complete.c */

/** Whether a write or RMW that came before s, to octets of s, may still fail. */
bool client_older_write_busy(const struct mf_client *c, const struct slot *s);

/** A read has brought something else than what must have been there. */
void client_mismatch(struct mf_client *c, const struct slot *s);

/** All that is under way fails. */
void client_fail_all(struct mf_client *c, mf_time now);

/** Takes all completions that are due. */
void client_complete(struct mf_client *c, mf_time now);

/* restart.c */

/** The host says that a node is back, or that the way to it was lost: mf_node_restart_fn. */
void client_restarted(void *ctx, uint16_t node);

/** A free slot, of which there must be one. @return its place */
static inline uint32_t client_take(struct mf_client *c)
{
	uint32_t i = c->free[--c->free_count];

	if (__builtin_expect(i >= c->used, 0))
		c->used = i + 1;
	buffers_take(&c->buffers, i);
	return i;
}

#endif
