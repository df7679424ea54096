/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends and the wires between them in virtual time. What is sent are numbered blocks, which say the
 * process and connection that they are of; what comes is compared with what has to come: the blocks of one
 * connection from the first on, none missing and none twice, and of no connection that was there before.
 */
#ifndef RIG_H
#define RIG_H

#include <stdbool.h>

#include "link/mf_impair.h"
#include "link/mf_link.h"

/** Of who uses it: what is held against the ends must hold; otherwise it does not return. */
void rig_hold(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define RIG_NODE 0
#define RIG_SWITCH 1
#define RIG_QUEUE 8192

struct rig_frame {
	mf_time at;
	uint64_t order;
	uint32_t len;
	uint8_t *octets;
};

struct rig;
/** Looks at a frame before it goes, and may change it. @return false: it is lost */
typedef bool rig_filter(struct rig *r, int from, struct mf_link_head *h);

struct rig_end {
	struct mf_link_config config;
	struct mf_link *link; /**< NULL: its process does not run */
	uint16_t process; /**< how often it was started */
	mf_time paused; /**< its process is away until then, */
	mf_time away; /**< and since then; 0: it is not */
	/* what it sends */
	uint64_t to_put; /**< blocks; UINT64_MAX: without end */
	uint64_t put; /**< in this connection */
	unsigned int burst; /**< blocks of a span, 1..; 0: by chance */
	mf_time line_free;
	struct mf_impair impair;
	bool impaired;
	/* what comes */
	struct rig_frame *queue; /**< [RIG_QUEUE], by time */
	unsigned int queued;
	bool holds; /**< takes nothing */
	const struct mf_span *taken; /**< the last span: must stay as it is until the next one is taken */
	uint64_t taken_word;
	uint16_t taken_count;
	uint64_t from, got; /**< connection that blocks come of, and how many have come */
	uint64_t delivered; /**< of all connections */
	struct mf_link_status status;
	unsigned int ups;
};

struct rig {
	struct rig_end end[2];
	struct mf_rng rng;
	uint64_t seed;
	mf_time now, delay, jitter; /**< jitter: up to so much more, which reorders */
	mf_time octet; /**< of the line; 0: takes no time */
	rig_filter *filter;
	uint64_t count; /**< for the filter */
	uint64_t order;
};

/** Default configurations; a test may change them before rig_start(). */
struct rig *rig_new(uint64_t seed);
void rig_start(struct rig *r, int end);
/** The process ends without a word. */
void rig_kill(struct rig *r, int end);
void rig_free(struct rig *r);

void rig_run(struct rig *r, mf_time until);
/** Runs until both are up. @return how long it took; asserts that it is not longer than within */
mf_time rig_until_up(struct rig *r, mf_time within);
/** Runs until all that was put has come. */
void rig_until_delivered(struct rig *r, mf_time within);
/** new, both started, up */
struct rig *rig_up(uint64_t seed);

/** A frame for an end, as if it came from the other one. Sealed here. */
void rig_inject(struct rig *r, int to, const struct mf_link_head *h, const void *body, uint16_t length);
/** The header that an end would send: with its tag. */
struct mf_link_head rig_head(struct rig *r, int from, uint8_t type);

static inline const struct mf_link_stats *rig_stats(const struct rig *r, int end)
{
	return mf_link_stats(r->end[end].link);
}

/** Both are up, in the same connection. */
static inline bool rig_is_up(const struct rig *r)
{
	const struct mf_link_status *a = &r->end[0].status, *b = &r->end[1].status;

	return r->end[0].link != NULL && r->end[1].link != NULL && a->up && b->up &&
	       a->partner_epoch == b->epoch && b->partner_epoch == a->epoch;
}

#endif
