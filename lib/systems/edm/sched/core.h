/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that the policies share. Private to this room.
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
 *
 * A policy is compiled as a whole, with the parts that it shares with the others as headers:
 *
 *   inbox.h    messages that are to take effect          queue.h  demand queues and candidates
 *   list.h     the ordered lists of 3.1.2, of keys       ports.h  ports that are busy, held, free
 *   scan.h     what is looked for in arrays and bitmaps  leave.h  grants that are to leave
 *   issue.h    grants of an iteration                    repeat_matching.h  matchings that repeat themselves
 *   intake.h   messages take effect                      run.h    steps from event to event
 *   burst.h    demands that are granted as they come      slot.h   chunks that end together
 *
 * So it can be compiled again for a wider CPU, in a file of its own: see pim.c, pim_avx2.c, pim_avx512.c.
 */
#ifndef MF_SCHED_CORE_H
#define MF_SCHED_CORE_H

#include <assert.h>
#include <stddef.h>

#include "systems/edm/sched/inbox.h"
#include "systems/edm/sched/key.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/edm/sched/tail.h"

#define SCHED_PORTS_MAX 512
#define SCHED_WORDS_MAX (SCHED_PORTS_MAX / 64)
#define SCHED_SIZE_MAX 65536
#define SCHED_X_MAX 128

enum sched_side { SCHED_SRC, SCHED_DST };

/** A bitmap of ports. */
struct sched_map {
	uint64_t word[SCHED_WORDS_MAX];
} __attribute__((aligned(64)));

#define SCHED_LIST (SCHED_PORTS_MAX + 32) /* entries of a list that scan_ports() makes */

#define SCHED_NOBODY SCHED_PORTS_MAX /* the request of nobody: see pim.h */

#define SCHED_GROUP 16 /* ports whose times have their earliest noted */

/** Times of ports, and the earliest of each group: that one or an earlier one. */
struct sched_times {
	mf_time *at; /* [port], rounded up to a word of 64; MF_NEVER: none */
	mf_time group[SCHED_PORTS_MAX / SCHED_GROUP] __attribute__((aligned(64)));
	mf_time first; /* of all groups */
};

/** An entry of the demand notification queue. */
struct sched_demand {
	mf_time since;
	uint32_t remaining;
	uint32_t cookie;
	uint32_t next; /* of its pair: first in, first out (3.1.1, property 5). 0: none */
	uint16_t behind;
	uint8_t id;
	uint8_t flags; /* and wire blocks of the request: queue_request() */
};
#define SCHED_RESP 1
#define SCHED_MEGA 2
#define SCHED_STARTED 4
#define SCHED_BLOCKS 8
#define SCHED_EXCESS 128

static_assert(sizeof(struct sched_demand) == 24, "demand");

/** A port. */
struct sched_port {
	uint32_t debt; /* WIRE: blocks of requests and /G/ that the destination has not been charged yet */
	uint32_t period; /* ps a block */
};

#define SCHED_FEW 3
#define SCHED_NAMED 28

/**
 * The candidates of a destination, in order: see list.h. Who looks for a free source among many reads the
 * second line alone. What is elsewhere is so many keys from here.
 */
struct sched_list {
	sched_key few[SCHED_FEW]; /* the first of them */
	uint32_t room; /* of the others; behind it their sources are likewise */
	uint32_t size; /* keys that fit there */
	uint32_t count;
	uint16_t src[SCHED_NAMED]
		__attribute__((aligned(64))); /* of the first keys, if there are more than a few */
	uint16_t more; /* count, if there are more than a few; or 0 */
	uint16_t named; /* of those, in src */
	uint32_t front; /* where the first key would be if the few were in the room, too */
} __attribute__((aligned(64)));

static_assert(sizeof(struct sched_list) == 128, "two cache lines");

struct sched_charge {
	mf_time at;
	uint32_t blocks;
	uint16_t dst;
};

/** What a destination asks a source for: its best eligible candidate, with its place in the list. */
struct sched_request {
	uint64_t low, high; /* halves of the key */
	uint32_t demand; /* of one that is granted: at first the number of its queue */
	uint16_t at;
	uint16_t iteration;
} __attribute__((aligned(8)));

static_assert(sizeof(struct sched_request) == 24, "request");

#define sched_rarely(x) __builtin_expect(x, 0)

/** Ports, and a place of each. */
struct scan_places {
	uint16_t *port, *place;
};

/** A part that has registers of its own: called once for many. */
#define SCHED_PART static __attribute__((noinline, unused))

/** Requests that are granted, in the order of iterations and sources: see issue.h. */
struct sched_issues {
	struct sched_request request[SCHED_PORTS_MAX];
	unsigned int n; /* that are to be issued */
	unsigned int found; /* of them, those whose demands are known */
	unsigned int written; /* of these, those whose grants are where they leave */
	uint64_t octets; /* that these are for */
	unsigned int done, left;
	bool alone; /* what ended had no other candidate beside it, at its source or destination */
	uint16_t done_of[SCHED_PORTS_MAX]; /* requests whose demands are granted in full now */
	uint16_t left_of[SCHED_PORTS_MAX]; /* the others */
	uint16_t behind[SCHED_PORTS_MAX]; /* of these, those that are not the first in their lists */
};

struct mf_sched {
	/* run() of the policy, for this CPU */
	unsigned int (*run)(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max);
	mf_time clock; /* of the last step, or the end of its matching: nothing is done before it */
	mf_time now; /* of the last run() */
	unsigned int ports, words; /* N, and the words of a bitmap of N */
	bool window; /* release WINDOW */
	bool prompt; /* and scheduling takes no time */
	uint32_t chunk_blocks; /* wire blocks of a whole chunk */

	struct mf_sched_grant *out; /* of the run() under way */
	unsigned int given, max;

	uint64_t active_any; /* not 0: active may not be empty */
	struct sched_map active;
	struct sched_map free[2]; /* by side: not busy, not held */
	struct sched_map all; /* ports that there are */
	struct sched_map held[2]; /* D3 */
	struct sched_map before[2]; /* free when the matching began, or its iteration: ports_begin() */
	struct sched_map full[2]; /* WINDOW: all of the window is outstanding */
	struct sched_map tight[2]; /* WINDOW: less than a chunk is left of it, or a candidate did not fit */
	bool any_tight; /* false: there is none */
	uint32_t roomy; /* WINDOW: with so much outstanding a port still has room for a chunk */
	uint32_t outstanding[2][SCHED_PORTS_MAX]; /* WINDOW: octets granted, not forwarded */
	struct sched_times release[2]; /* WIRE, PAPER: of busy ports */
	mf_time releases; /* the first of both */
	mf_time *until[2]; /* WIRE, PAPER: [port], a word of 64 whole: when its last chunk is over */
	struct sched_port *port;
	mf_time period; /* of all ports; 0: they differ */
	struct sched_charge *charge; /* of the iteration under way */
	unsigned int charges;

	/*
	 * The order arrays of 3.1.2, by resp: destinations that each source has a candidate for. The
	 * hardware keeps them sorted; here the lists have the order, and the bits say whom to wake.
	 */
	uint64_t *order_array[2]; /* [source][word] */
	unsigned int order_shift; /* words of a source: 2 to the power of it */
	struct sched_map wanted; /* destinations that have a candidate */
	struct sched_list *list; /* [destination] */

	uint32_t *queue; /* [c][m], or [resp][c][m]: first demand, of those that have a candidate */
	struct sched_tail *tail; /* the same, of queues that have more than one */
	uint32_t direction; /* queues between [0] and [1] of resp: 0 with MF_ORDER_PAIR */
	struct sched_demand *demand; /* pool of 2 * X * N^2, and 0 is none */
	uint32_t demand_free, demand_used;
	uint32_t *depth; /* [destination]: demands held */
	uint32_t megas; /* held */
	uint32_t followers; /* demands behind another one in their queues */

	struct inbox inbox;
	struct forwards forwards;
	uint32_t (*instant)[2]; /* [port]: first and last message by origin, of an instant */

	mf_time leaves; /* when the next grant does */
	struct sched_times leaving; /* grants that leave later: one of each source at most */
	struct mf_sched_grant *grant; /* [source] */
	uint32_t *serial; /* [source]: order in which they were issued */
	uint32_t issued;
	mf_time going_at;
	uint16_t going[SCHED_LIST]; /* sources whose grants are the next to leave, at going_at */
	unsigned int going_first, going_end;
	struct mf_sched_grant *dismissed; /* ring: demands that ended without a grant */
	uint32_t dismissed_room, dismissed_head, dismissed_count;
	bool flushing; /* a flush has come, and its answer has not left */
	mf_time flushed_at; /* when the answer leaves; MF_NEVER: none waits */
	uint16_t flushed; /* the port of it */

	struct mf_sched_config config;
	struct mf_sched_stats stats;
	void *block[24], *table[8]; /* all that was allocated */
	unsigned int blocks, tables;
	struct sched_issues issues;
};

static inline void sched_set(struct sched_map *map, unsigned int i)
{
	map->word[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void sched_clear(struct sched_map *map, unsigned int i)
{
	map->word[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool sched_test(const struct sched_map *map, unsigned int i)
{
	return map->word[i / 64] >> i % 64 & 1;
}

static inline bool sched_map_equal(const struct sched_map *a, const struct sched_map *b)
{
	uint64_t differ = 0;

	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		differ |= a->word[w] ^ b->word[w];
	return !differ;
}

static inline bool sched_map_any(const struct sched_map *map)
{
	uint64_t any = 0;

	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		any |= map->word[w];
	return any;
}

/** A source's row of an order array. */
static inline uint64_t *sched_order(const struct mf_sched *s, bool resp, unsigned int src)
{
	return s->order_array[resp] + ((size_t)src << s->order_shift);
}

static inline void sched_times_set(struct sched_times *t, unsigned int port, mf_time time)
{
	t->at[port] = time;
	t->group[port / SCHED_GROUP] = mf_time_min(t->group[port / SCHED_GROUP], time);
	t->first = mf_time_min(t->first, time);
}

static inline void sched_activate(struct mf_sched *s, unsigned int w, uint64_t dsts)
{
	s->active.word[w] |= dsts;
	s->active_any |= dsts;
}

/** Number of the queue of a pair, or of a pair and direction. A branch on resp could not be foretold. */
static inline uint32_t sched_queue(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	unsigned int turned = (src ^ dst) & -(unsigned int)resp, c = src ^ turned, m = dst ^ turned;

	return (s->direction & -(uint32_t)resp) + c * s->ports + m;
}

/** l of step (4): what the next grant of a demand is for. */
static inline uint32_t sched_next_size(const struct mf_sched *s, const struct sched_demand *e)
{
	uint32_t limit = e->flags & SCHED_MEGA ? UINT32_MAX : s->config.chunk;

	return e->remaining < limit ? e->remaining : limit;
}

/** When there is something to do next. A release matters only to demands that wait. */
static inline mf_time sched_next_step(const struct mf_sched *s)
{
	mf_time t = mf_time_min(s->inbox.first, s->forwards.first);

	if (s->active_any)
		return s->clock;
	if (s->stats.entries)
		t = mf_time_min(t, s->releases);
	return mf_time_max(t, s->clock);
}

/* create.c */
/** @return a scheduler of that size, which starts with a struct mf_sched; NULL with errno */
void *mf_sched_new(const struct mf_sched_config *config, size_t size);
void mf_sched_destroy(struct mf_sched *s);
/** @return zeroed memory that mf_sched_destroy() frees, or NULL */
void *mf_sched_alloc(struct mf_sched *s, size_t n, size_t size);

/* sched.c: the functions of the ops table that are the same in every policy */
int mf_sched_input(struct mf_sched *s, const struct mf_sched_msg *msg);
unsigned int mf_sched_inputs(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n);
unsigned int mf_sched_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max);
unsigned int mf_sched_offer(struct mf_sched *s, const struct mf_sched_msg *msg, mf_time now,
			    struct mf_sched_grant *grants, unsigned int max);
mf_time mf_sched_next(const struct mf_sched *s);
void mf_sched_get_stats(const struct mf_sched *s, struct mf_sched_stats *out);

#define MF_SCHED_CORE_OPS                                                                \
	.destroy = mf_sched_destroy, .input = mf_sched_input, .inputs = mf_sched_inputs, \
	.run = mf_sched_run, .offer = mf_sched_offer, .next = mf_sched_next, .stats = mf_sched_get_stats

#endif
