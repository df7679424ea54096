/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the policies share: demand queues, candidates, ports. Private to lib/sched.
 *
 * The head of a pair's queue is its candidate. Between a source s and a destination d there are two
 * at most: a write of the pair (c = s, m = d) and a response of the pair (c = d, m = s). So bitmaps
 * and keys come in two planes, told apart by resp.
 *
 *   demand --> queue of (c, m) --head--> candidate: bit s in wanted[d], bit d in order_array[s], key
 *                                            |
 *   free source and free destination --------+--> active[d] --> policy --> grant
 *
 * active has every destination that may have an eligible candidate. A policy clears a bit when it
 * finds none; after that only a new candidate or a port that opens can make one, and both set it.
 */
#ifndef MF_SCHED_CORE_H
#define MF_SCHED_CORE_H

#include <assert.h>

#include "agenda.h"
#include "mf_sched.h"

#define SCHED_PORTS_MAX 512
#define SCHED_WORDS_MAX (SCHED_PORTS_MAX / 64)
#define SCHED_SIZE_MAX 65536
#define SCHED_X_MAX 128
#define SCHED_NO_PORT 0xffff

/**
 * The priority of a candidate: the lowest goes first, no two are equal.
 *
 *   SRPT: octets (33 bits) | at (64) | source (9) | id (8) | resp (1) | destination (9)
 *   FCFS: 0
 */
typedef unsigned __int128 sched_key;
#define SCHED_KEY_NONE (~(sched_key)0)
#define SCHED_KEY_AT 27
#define SCHED_KEY_OCTETS 91

static inline unsigned int sched_key_src(sched_key key)
{
	return key >> 18 & 0x1ff;
}

static inline bool sched_key_resp(sched_key key)
{
	return key >> 9 & 1;
}

static inline unsigned int sched_key_dst(sched_key key)
{
	return key & 0x1ff;
}

/** An entry of the demand notification queue. */
struct sched_demand {
	mf_time since;
	uint32_t remaining;
	uint32_t cookie;
	uint32_t next; /* 0: none */
	uint8_t id;
	uint8_t exponent;
	uint8_t request_blocks;
	bool resp : 1;
	bool mega : 1;
	bool started : 1;
};
static_assert(sizeof(struct sched_demand) == 24, "demand");

/** Queue of a pair, or of a pair and direction: first in, first out (3.1.1, property 5). */
struct sched_queue {
	mf_time left; /* when its last grant leaves: the next one does not leave before */
	uint32_t head, tail; /* 0: empty */
	uint8_t held[2]; /* demands, by resp: at most X of each */
};

enum sched_side { SCHED_SRC, SCHED_DST };

/** A port as source or as destination: links are full duplex. */
struct sched_port {
	mf_time until; /* WIRE, PAPER: when its last chunk is over */
	mf_time left; /* ... and when the grant of that left */
	uint32_t debt; /* WIRE: blocks of requests and /G/ that have not been charged yet */
	uint64_t outstanding; /* WINDOW: octets granted, not forwarded */
	bool busy; /* WIRE, PAPER: waits in the heap of releases. WINDOW: in the matching under way */
	bool held; /* D3 */
};

struct sched_release {
	mf_time time;
	uint16_t port[2]; /* by side, or SCHED_NO_PORT */
};

struct sched_charge {
	mf_time at;
	uint16_t dst;
	uint8_t blocks;
};

struct mf_sched {
	void (*match)(struct mf_sched *s); /* the policy: makes the matching that begins at clock */
	mf_time clock; /* of the last step, or the end of its matching: nothing is done before it */
	mf_time now; /* of the last run() */
	uint32_t chunk_blocks; /* wire blocks of a whole chunk */
	unsigned int ports, words; /* N, and the words of a bitmap of N */

	uint64_t active[SCHED_WORDS_MAX];
	uint64_t active_words; /* words of active that are not 0 */
	uint64_t free[2][SCHED_WORDS_MAX]; /* by side: not busy, not held */
	uint64_t *wanted; /* [destination][words][resp]: sources that have a candidate for it */
	/*
	 * The order arrays of 3.1.2, [source][words][resp]: destinations that it has a candidate for. The
	 * hardware keeps them sorted; here the keys have the order, and the bits say whom to look at.
	 */
	uint64_t *order_array;
	sched_key *key; /* [destination][source][resp] */

	struct sched_queue *queue; /* [c][m], or [resp][c][m] */
	uint32_t direction; /* queues between [0] and [1] of resp: 0 with MF_ORDER_PAIR */
	struct sched_demand *demand; /* pool of 2 * X * N^2, and 0 is none */
	uint32_t demand_free, demand_used;
	uint32_t *depth; /* [destination]: demands held */

	struct sched_port *port[2]; /* by side */
	struct sched_release *release; /* heap by time: at most one entry for each port and side */
	unsigned int releases;
	struct sched_charge *charge; /* of the iteration under way */
	unsigned int charges;
	uint16_t (*matched)[2]; /* WINDOW: by side, of the matching under way */
	unsigned int matches;

	struct agenda pending; /* messages that are to take effect */
	struct mf_sched_msg *msg; /* ... by slot */
	struct agenda leaving; /* grants that are to leave */
	struct mf_sched_grant *grant; /* ... by slot */

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

/** The row of a port in wanted or order_array: words of writes and of responses in turn. */
static inline uint64_t *sched_row(const struct mf_sched *s, uint64_t *map, unsigned int port)
{
	return map + 2 * port * s->words;
}

static inline void sched_candidate_set(struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	sched_row(s, s->wanted, dst)[src / 64 * 2 + resp] |= UINT64_C(1) << src % 64;
	sched_row(s, s->order_array, src)[dst / 64 * 2 + resp] |= UINT64_C(1) << dst % 64;
}

static inline void sched_candidate_clear(struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	sched_row(s, s->wanted, dst)[src / 64 * 2 + resp] &= ~(UINT64_C(1) << src % 64);
	sched_row(s, s->order_array, src)[dst / 64 * 2 + resp] &= ~(UINT64_C(1) << dst % 64);
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

static inline sched_key *sched_key_at(const struct mf_sched *s, unsigned int dst, unsigned int src, bool resp)
{
	return s->key + 2 * ((size_t)dst * s->ports + src) + resp;
}

static inline struct sched_queue *sched_queue(const struct mf_sched *s, unsigned int src, unsigned int dst,
					      bool resp)
{
	unsigned int c = resp ? dst : src, m = resp ? src : dst;

	return s->queue + (resp ? s->direction : 0) + c * s->ports + m;
}

/** l of step (4): what the next grant of a demand is for. */
static inline uint32_t sched_next_size(const struct mf_sched *s, const struct sched_demand *e)
{
	return e->mega || e->remaining < s->config.chunk ? e->remaining : s->config.chunk;
}

/* queue.c */
void mf_sched_queue_add(struct mf_sched *s, const struct mf_sched_msg *msg);
void mf_sched_queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg);
/** Takes a candidate's next grant from its queue; all but at and iteration. @return its request's blocks */
uint8_t mf_sched_queue_grant(struct mf_sched *s, sched_key key, struct mf_sched_grant *g);

/* ports.c */
/** When a grant decided now leaves at the earliest: not before its ports are released (ahead). */
mf_time mf_sched_ports_at(const struct mf_sched *s, unsigned int src, unsigned int dst, mf_time decided);
void mf_sched_ports_take(struct mf_sched *s, const struct mf_sched_grant *g);
/**
 * What tells a source to send takes its link in the other direction: the forwarded request, or the one
 * block of a /G/. Charges it to the port as destination, at settle() (D2).
 */
void mf_sched_ports_charge(struct mf_sched *s, unsigned int dst, mf_time at, uint8_t blocks);
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
/** The eligible candidate of a destination that has the highest priority, or SCHED_KEY_NONE. */
sched_key mf_sched_best(const struct mf_sched *s, unsigned int dst);
/** Steps (4) and (5) of 3.1.1 for a candidate. */
void mf_sched_issue(struct mf_sched *s, sched_key key, unsigned int iteration);
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
