/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a history. */
#ifndef LINEAR_HISTORY_H
#define LINEAR_HISTORY_H

#include "linear/mf_history.h"
#include "base/mf_rng.h"
#include "linear/mf_linear.h"

#define HISTORY_ADDR_END (UINT64_C(1) << 48)
#define HISTORY_RMW_WORDS 3 /**< two arguments, and what was found */

struct mf_history_log {
	const struct mf_history *history;
	uint64_t *word; /**< [room]: records, each with its words behind it */
	uint64_t capacity, used;
	uint64_t records;
	mf_time full; /**< what began from here on is not in it; MF_NEVER: all is */
};

struct mf_history {
	struct mf_history_config config;
	struct mf_history_clock clock; /**< .hz 0: its times are those of no clock */
	unsigned int logs;
	struct mf_history_log *log;
	void *map; /**< of all logs; NULL: they are in a copy of a file */
	size_t map_len;
	void *copy;
};

static inline bool history_is_rmw(uint8_t kind)
{
	return kind >= MF_HISTORY_CAS && kind < MF_HISTORY_OPS;
}

static inline bool history_writes(uint8_t kind)
{
	return kind == MF_HISTORY_WRITE || kind == MF_HISTORY_WRITE_ACK || kind == MF_HISTORY_ZEROED;
}

/** The word that is recorded of an aligned group: for each bit a coin that all of its half groups share. */
static inline uint64_t history_chosen(uint64_t seed, uint32_t sample, uint16_t node, uint64_t group)
{
	while (sample-- > 0)
		group = group << 1 | (mf_hash64(seed ^ mf_hash64(group << 16 | node) ^ sample) & 1);
	return group;
}

/** The words of an operation that are recorded, in their order. */
struct history_walk {
	uint64_t word, group; /**< number of the next one */
	uint64_t last;
	uint64_t seed;
	uint32_t sample;
	uint16_t node;
};

static inline void history_walk_next(struct history_walk *w)
{
	w->word = history_chosen(w->seed, w->sample, w->node, ++w->group);
}

/** Over while .word is beyond .last. */
static inline struct history_walk history_walk(const struct mf_history_config *c,
					       const struct mf_history_record *r)
{
	uint64_t first = r->addr / 8;
	struct history_walk w = {.group = (first >> c->sample) - 1,
				 .last = (r->addr + r->len - 1) / 8,
				 .seed = c->fingerprint,
				 .sample = c->sample,
				 .node = r->node};

	do
		history_walk_next(&w);
	while (w.word < first);
	return w;
}

/** Makes an array at least `n` elements long. @return 0 or -ENOMEM */
int history_grow(void *array, size_t *capacity, size_t n, size_t size);

/** How many words a record has behind it. */
uint64_t history_words(const struct mf_history_config *c, const struct mf_history_record *r);

/** The octets of a word that an operation touches. */
static inline uint64_t history_mask(const struct mf_history_record *r, uint64_t word)
{
	uint64_t mask = UINT64_MAX, at = word * 8, end = r->addr + r->len;

	if (at < r->addr)
		mask <<= 8 * (r->addr - at);
	if (end < at + 8)
		mask &= UINT64_MAX >> 8 * (at + 8 - end);
	return mask;
}

static inline const struct mf_history_record *history_at(const struct mf_history_log *l, uint64_t place)
{
	return (const void *)&l->word[place];
}

#define HISTORY_RECORD_WORDS (sizeof(struct mf_history_record) / sizeof(uint64_t))

static inline uint64_t history_next(const struct mf_history_log *l, uint64_t place)
{
	return place + HISTORY_RECORD_WORDS + history_at(l, place)->words;
}

static inline const uint64_t *history_data(const struct mf_history_record *r)
{
	return (const uint64_t *)(const void *)(r + 1);
}

/* history_word.c: the operations of a word, and whether there is an order of them. */

/** An operation's part of a word. */
struct touch {
	struct mf_history_op o;
	mf_time last; /**< it takes effect until then if it ever does */
	uint64_t arg[2]; /**< RMW */
	uint32_t log; /**< those of a log are together, by their calls */
	bool in_order; /**< those that take effect do so in this order */
};

/** A time in which what a node holds may have been lost, perhaps several times. */
struct interval {
	mf_time from, to;
};

struct word {
	const struct touch *touch;
	size_t n;
	const struct interval *cut; /**< ascending, apart from each other */
	size_t cuts;
	bool unknown; /**< nobody knows what it held at first; else 0 */
};

/** A value that was found or made, and when the find returned. */
struct seen_value {
	uint64_t value;
	mf_time ret;
};

struct word_check {
	struct mf_linear *linear;
	size_t capacity, states; /**< of linear */
	struct mf_linear_op *op; /**< [room] */
	uint32_t *of; /**< [room]: the touch that an op is of */
	uint32_t *chosen; /**< [room]: touches of a stretch */
	struct seen_value *found, *made; /**< [room]: values, ascending */
	uint64_t unread; /**< open writes that nobody can have seen */
	uint64_t across; /**< finds that lie in no life as a whole */
	/* Of the last word. */
	uint64_t initial;
	size_t bad; /**< touch */
};

void word_check_init(struct word_check *c, size_t states);
void word_check_fini(struct word_check *c);
/** @return enum mf_history_answer; WORD_PARTS; -ENOMEM */
int word_check(struct word_check *c, const struct word *w);

/** Written in part, and nobody knows what it held: it is not checked. */
#define WORD_PARTS 3

#endif
