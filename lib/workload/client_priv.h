/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a client. */
#ifndef CLIENT_PRIV_H
#define CLIENT_PRIV_H

#include "arrival.h"
#include "choose.h"
#include "mf_workload.h"
#include "verify.h"

/*
 *   FREE --begin--> BUSY --completion--> FREE
 *                     |                    ^
 *                     '--> SUSPECT --------'  judged when the older writes of its octets have completed
 */
enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_SUSPECT };

/** An operation under way. Slot i has the buffer at i * stride. */
struct slot {
	uint64_t number; /**< of the operation */
	mf_time intended;
	uint64_t expect; /**< read: hash of the octets; RMW: the old value */
	uint64_t offset, len; /**< in the region */
	uint32_t region;
	uint8_t kind; /**< enum mf_client_kind */
	uint8_t state; /**< enum slot_state */
	bool measured;
	bool check; /**< expect counts */
};

struct mf_client {
	struct mf_host *host;
	struct mf_client_target *target;
	uint32_t targets;
	uint16_t node;
	bool open; /**< loop */
	bool verify;
	bool unordered;
	bool waiting; /**< op is made, and not submitted yet */
	bool waiting_counted;
	struct mf_op op;
	struct chooser chooser;
	struct mf_rng args; /**< of RMW */
	struct arrival arrival; /**< open loop */
	uint32_t burst, burst_left; /**< open loop: at arrival.next so many are still to be begun */
	mf_time delay; /**< closed loop */
	struct shadow shadow; /**< none where neither verify nor CAS asks for it */
	struct slot *slot; /**< [depth] */
	uint32_t *free; /**< stack of slots; depth - free_count of them are taken */
	uint32_t free_count, depth;
	unsigned int slot_bits; /**< user = number << slot_bits | slot */
	uint32_t suspects;
	uint8_t *buffers;
	uint64_t stride;
	uint64_t operations, begun; /**< numbers go from 0 */
	uint64_t measured; /**< 0: no limit; else operations is set when the first of them is begun */
	mf_time start; /**< closed loop: of the next operation, not before */
	mf_time stop; /**< moved forward by mf_client_stop(), perhaps of another thread */
	mf_time measure;
	struct mf_client_stats stats;
};

static inline bool client_overwrites(uint8_t kind)
{
	return kind == MF_CLIENT_WRITE || kind == MF_CLIENT_WRITE_ACK || kind == MF_CLIENT_SWAP;
}

static inline bool client_overlap(const struct slot *a, const struct slot *b)
{
	return a->region == b->region && a->offset / 8 <= (b->offset + b->len - 1) / 8 &&
	       b->offset / 8 <= (a->offset + a->len - 1) / 8;
}

static inline void *client_buffer(const struct mf_client *c, uint32_t slot)
{
	return c->buffers + slot * c->stride;
}

/* begin.c */

/** Begins what is due and finds room. */
void client_begin(struct mf_client *c, mf_time now);

/** Whether another operation will be begun, now or later. */
bool client_has_more(const struct mf_client *c, mf_time now);

/* complete.c */

/** Takes all completions that are due. */
void client_complete(struct mf_client *c, mf_time now);

#endif
