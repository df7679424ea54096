/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the policies share: demand queues, candidates, ports. Private to lib/sched.
 *
 * The head of a pair's queue is its candidate. Between a source s and a destination d there are two
 * at most: a write of the pair (c = s, m = d) and a response of the pair (c = d, m = s).
 *
 *   demand --> queue of (c, m) --head--> candidate: key in list[d], bit d in order_array[s]
 *                                            |
 *   free source and free destination --------+--> active[d] --> policy --> grant
 *
 * active has every destination that may have an eligible candidate. A policy clears a bit when it
 * finds none; after that only a new candidate or a port that opens can make one, and both set it.
 */
#ifndef MF_SCHED_CORE_H
#define MF_SCHED_CORE_H

#include <assert.h>

#include "calendar.h"
#include "inbox.h"
#include "list.h"
#include "mf_sched.h"

#define SCHED_PORTS_MAX 512
#define SCHED_WORDS_MAX (SCHED_PORTS_MAX / 64)
#define SCHED_SIZE_MAX 65536
#define SCHED_X_MAX 128

/** An entry of the demand notification queue. */
struct sched_demand {
	mf_time since;
	uint32_t remaining;
	uint32_t cookie;
	uint32_t next; /* of its pair: first in, first out (3.1.1, property 5). 0: none */
	uint8_t id;
	uint8_t exponent;
	uint8_t request_blocks;
	bool resp : 1;
	bool mega : 1;
	bool started : 1;
};
static_assert(sizeof(struct sched_demand) == 24, "demand");

enum sched_side { SCHED_SRC, SCHED_DST };

/** A port, by side: links are full duplex, so it is a source and a destination. */
struct sched_port {
	mf_time until[2]; /* WIRE, PAPER: when its last chunk is over */
	mf_time left[2]; /* ... and when the grant of that left */
	uint64_t outstanding[2]; /* WINDOW: octets granted, not forwarded */
	uint32_t debt; /* WIRE: blocks of requests and /G/ that the destination has not been charged yet */
	uint32_t period; /* ps a block */
	bool busy[2]; /* WIRE, PAPER: waits for its release. WINDOW: in the matching under way */
	bool held[2]; /* D3 */
	bool tight[2]; /* WINDOW: has been too full for a candidate since it was last opened */
} __attribute__((aligned(64)));
static_assert(sizeof(struct sched_port) == 64, "a cache line");

struct sched_charge {
	mf_time at;
	uint32_t blocks;
	uint16_t dst;
};

/** The request of a destination: its best eligible candidate and the place of that in the list. */
struct sched_request {
	sched_key key; /* SCHED_KEY_NONE: there is none */
	uint32_t at;
};

struct mf_sched {
	void (*match)(struct mf_sched *s); /* the policy: makes the matching that begins at clock */
	mf_time clock; /* of the last step, or the end of its matching: nothing is done before it */
	mf_time now; /* of the last run() */
	unsigned int ports, words; /* N, and the words of a bitmap of N */
	bool window; /* WINDOW */
	uint32_t chunk_blocks; /* wire blocks of a whole chunk */

	struct mf_sched_grant *out; /* of the run() under way */
	unsigned int given, max;

	uint64_t active_words; /* words of active that are not 0 */
	uint64_t active[SCHED_WORDS_MAX];
	uint64_t free[2][SCHED_WORDS_MAX] __attribute__((aligned(64))); /* by side: not busy, not held */
	/*
	 * The order arrays of 3.1.2, [source][words][resp]: destinations that it has a candidate for. The
	 * hardware keeps them sorted; here the keys have the order, and the bits say whom to wake.
	 */
	uint64_t *order_array;
	struct sched_list *list; /* [destination] */
	struct sched_port *port;

	uint32_t *queue; /* [c][m], or [resp][c][m]: first demand, 0: none */
	mf_time *queue_left; /* ... when its last grant leaves: the next does not leave before. NULL: ever */
	uint32_t direction; /* queues between [0] and [1] of resp: 0 with MF_ORDER_PAIR */
	struct sched_demand *demand; /* pool of 2 * X * N^2, and 0 is none */
	uint32_t demand_free, demand_used;
	uint32_t *depth; /* [destination]: demands held */

	struct calendar release; /* entry 1 + s: s and peer[s]. Entry 1 + N + d: d */
	uint16_t *peer; /* [source]: whom it sends to */
	struct sched_charge *charge; /* of the iteration under way */
	unsigned int charges;
	uint16_t (*matched)[2]; /* WINDOW: by side, of the matching under way */
	unsigned int matches;

	struct inbox inbox;
	uint32_t (*instant)[2]; /* [port]: first and last message by origin, of an instant */
	struct calendar leaving; /* grants that are to leave */
	struct mf_sched_grant *grant; /* ... by entry */
	uint32_t grant_free, grant_used, grant_room;

	struct mf_sched_config config;
	struct mf_sched_stats stats;
	void *block[24]; /* all that was allocated */
	unsigned int blocks;
};

static inline void sched_set(uint64_t *map, unsigned int i)
{
	map[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void sched_clear(uint64_t *map, unsigned int i)
{
	map[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool sched_test(const uint64_t *map, unsigned int i)
{
	return map[i / 64] >> i % 64 & 1;
}

/** A source's order array: words of writes and of responses in turn. */
static inline uint64_t *sched_order_array(const struct mf_sched *s, unsigned int src)
{
	return s->order_array + 2 * src * s->words;
}

static inline void sched_activate(struct mf_sched *s, unsigned int w, uint64_t dsts)
{
	s->active[w] |= dsts;
	s->active_words |= (uint64_t) !!dsts << w;
}

static inline void sched_deactivate(struct mf_sched *s, unsigned int dst)
{
	sched_clear(s->active, dst);
	if (!s->active[dst / 64])
		sched_clear(&s->active_words, dst / 64);
}

/** Destinations of a word that are active and free. The others need not be looked at. */
static inline uint64_t sched_active(struct mf_sched *s, unsigned int w)
{
	uint64_t dsts = s->active[w] &= s->free[SCHED_DST][w];

	if (!dsts)
		sched_clear(&s->active_words, w);
	return dsts;
}

/** Number of the queue of a pair, or of a pair and direction. */
static inline uint32_t sched_queue(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	unsigned int c = resp ? dst : src, m = resp ? src : dst;

	return (resp ? s->direction : 0) + c * s->ports + m;
}

/** l of step (4): what the next grant of a demand is for. */
static inline uint32_t sched_next_size(const struct mf_sched *s, const struct sched_demand *e)
{
	return e->mega || e->remaining < s->config.chunk ? e->remaining : s->config.chunk;
}

/* queue.c */
void mf_sched_queue_add(struct mf_sched *s, const struct mf_sched_msg *msg);
void mf_sched_queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg);
/**
 * Takes a candidate's next grant from its queue; all but at and iteration.
 * @return wire blocks of what tells the source to send
 */
uint32_t mf_sched_queue_grant(struct mf_sched *s, const struct sched_request *r, uint32_t queue,
			      struct mf_sched_grant *g);

/* ports.c */
/** The chunk of a candidate fits the windows of both its ports (D4). If not, they are tight. */
bool mf_sched_ports_fit(const struct mf_sched *s, sched_key key);
void mf_sched_ports_take(struct mf_sched *s, const struct mf_sched_grant *g);
/**
 * What tells a source to send takes its link in the other direction: the forwarded request, or the one
 * block of a /G/. Charges it to the port as destination, at settle() (D2).
 */
void mf_sched_ports_charge(struct mf_sched *s, unsigned int dst, mf_time at, uint32_t blocks);
void mf_sched_ports_settle(struct mf_sched *s);
void mf_sched_ports_release(struct mf_sched *s); /**< what is due at clock */
void mf_sched_ports_reopen(struct mf_sched *s); /**< WINDOW: the matching is over */
void mf_sched_ports_forwarded(struct mf_sched *s, const struct mf_sched_msg *msg);
void mf_sched_ports_hold(struct mf_sched *s, enum sched_side side, unsigned int port, bool held);

/* create.c */
/** @return a scheduler of that size, which starts with a struct mf_sched; NULL with errno */
void *mf_sched_new(const struct mf_sched_config *config, size_t size, void (*match)(struct mf_sched *s));
void mf_sched_destroy(struct mf_sched *s);
/** @return zeroed memory that mf_sched_destroy() frees, or NULL */
void *mf_sched_alloc(struct mf_sched *s, size_t n, size_t size);

/* sched.c: for policies */
/** Steps (4) and (5) of 3.1.1. */
void mf_sched_issue(struct mf_sched *s, const struct sched_request *r, unsigned int iteration);
/** Ends a matching of so many iterations, all of which granted something. */
void mf_sched_matched(struct mf_sched *s, unsigned int iterations, uint64_t grants);

/** A demand ends without a grant: gives its cookie back, as a grant of nothing. */
void mf_sched_dismiss(struct mf_sched *s, const struct mf_sched_msg *msg, uint32_t cookie);

/* sched.c: the functions of the ops table that are the same in every policy */
int mf_sched_input(struct mf_sched *s, const struct mf_sched_msg *msg);
unsigned int mf_sched_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max);
mf_time mf_sched_next(const struct mf_sched *s);
void mf_sched_get_stats(const struct mf_sched *s, struct mf_sched_stats *out);

#define MF_SCHED_CORE_OPS                                                                                 \
	.destroy = mf_sched_destroy, .input = mf_sched_input, .run = mf_sched_run, .next = mf_sched_next, \
	.stats = mf_sched_get_stats

#endif
