/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client does next: kind, target, size and address, drawn from one stream. No division. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "base/mf_zipf.h"
#include "workload/mf_workload.h"

#define CHOOSE_ALIGN 64 /**< of reads and writes in their region */

struct choice {
	enum mf_client_kind kind;
	uint32_t target;
	uint64_t offset; /**< in the region */
	uint64_t len; /**< octets; RMW: 8 */
};

struct choose_point {
	double cum, size;
	double slope; /**< octets per probability on the way to this point */
};

/** Where the next sequential access of a region goes. */
struct choose_cursor {
	uint64_t data, word;
};

/** The kinds of distributions. */
struct choose_shape {
	enum mf_client_size size;
	enum mf_client_pattern pattern;
	enum mf_client_address address;
};

/** The commonest shape, that of a file which says nothing else. */
#define CHOOSE_UNIFORM \
	((struct choose_shape){MF_CLIENT_SIZE_FIXED, MF_CLIENT_TO_UNIFORM, MF_CLIENT_AT_UNIFORM})

struct chooser {
	struct mf_rng rng;
	uint64_t kind_limit[MF_CLIENT_KINDS]; /**< cumulative weights, of 2^64 */
	unsigned int kind_last; /**< the last one that has a weight */

	struct choose_shape shape;
	bool uniform; /**< shape is CHOOSE_UNIFORM */

	uint64_t size_min, size_range;
	uint64_t size_unit; /**< octets of the unit that the points are in */
	struct choose_point *point;
	unsigned int points;

	uint32_t targets, target_next;
	struct mf_zipf target_zipf;

	uint64_t span;
	uint64_t units; /**< span in units of CHOOSE_ALIGN */
	uint64_t words; /**< span in words */
	uint64_t stride; /**< octets between slots where all have the same size or AT_ZIPF; otherwise 0 */
	uint64_t slots;
	struct mf_zipf slot_zipf, word_zipf;
	uint64_t salt; /**< which slots are hot */
	struct choose_cursor *cursor; /**< [targets] */
};

static inline bool choose_is_rmw(enum mf_client_kind kind)
{
	return kind >= MF_CLIENT_CAS && kind <= MF_CLIENT_AND;
}

/** Whether the mix has reads, writes or calls; whether it has RMW. */
bool choose_has_data(const struct mf_client_config *config);
bool choose_has_rmw(const struct mf_client_config *config);

/** Whether nothing in the mix changes what the regions hold. */
bool choose_reads_only(const struct mf_client_config *config);

/** Largest read or write. */
uint64_t choose_size_max(const struct mf_client_config *config);

/**
 * @param targets  how many there are, without the own node
 * @param first    for TO_ROUND
 * @return 0, -EINVAL, -ENOMEM
 */
int choose_init(struct chooser *ch, const struct mf_client_config *config, uint32_t targets, uint32_t first);
void choose_fini(struct chooser *ch);

/* The parts of a choice, each a draw or none; the state of rng stays in registers. */

static inline uint64_t choose_round_up(uint64_t octets)
{
	return (octets + CHOOSE_ALIGN - 1) & ~(uint64_t)(CHOOSE_ALIGN - 1);
}

static inline enum mf_client_kind choose_kind(const struct chooser *ch, struct mf_rng *rng)
{
	uint64_t r = mf_rng_next(rng);
	unsigned int k = 0;

	while (k < ch->kind_last && r >= ch->kind_limit[k])
		k++;
	return (enum mf_client_kind)k;
}

static inline uint32_t choose_target(struct chooser *ch, const struct choose_shape shape, struct mf_rng *rng)
{
	uint32_t target;

	switch (shape.pattern) {
	case MF_CLIENT_TO_UNIFORM:
		return (uint32_t)mf_rng_below(rng, ch->targets);
	case MF_CLIENT_TO_ZIPF:
		return (uint32_t)mf_zipf_item(&ch->target_zipf, mf_rng_double(rng));
	case MF_CLIENT_TO_ONE:
		return ch->target_next;
	default:
		target = ch->target_next++;
		if (ch->target_next == ch->targets)
			ch->target_next = 0;
		return target;
	}
}

/** Size of probability u. */
uint64_t choose_cdf_size(const struct chooser *ch, double u);

static inline uint64_t choose_size(const struct chooser *ch, const struct choose_shape shape,
				   struct mf_rng *rng)
{
	switch (shape.size) {
	case MF_CLIENT_SIZE_FIXED:
		return ch->size_min;
	case MF_CLIENT_SIZE_UNIFORM:
		return ch->size_min + mf_rng_below(rng, ch->size_range);
	default:
		return choose_cdf_size(ch, mf_rng_double(rng));
	}
}

/** The cursor's place, or the region's start when len does not fit there. */
static inline uint64_t choose_sequential(uint64_t *cursor, uint64_t len, uint64_t step, uint64_t span)
{
	uint64_t at = len <= span && *cursor <= span - len ? *cursor : 0;

	*cursor = at + step;
	return at;
}

static inline uint64_t choose_zipf(const struct chooser *ch, const struct mf_zipf *z, struct mf_rng *rng)
{
	return mf_zipf_scramble(z, mf_zipf_item(z, mf_rng_double(rng)), ch->salt);
}

static inline uint64_t choose_word(struct chooser *ch, const struct choose_shape shape, struct mf_rng *rng,
				   uint32_t target)
{
	switch (shape.address) {
	case MF_CLIENT_AT_SEQUENTIAL:
		return choose_sequential(&ch->cursor[target].word, 8, 8, ch->span);
	case MF_CLIENT_AT_ZIPF:
		return choose_zipf(ch, &ch->word_zipf, rng) * 8;
	default:
		return mf_rng_below(rng, ch->words) * 8;
	}
}

static inline uint64_t choose_place(struct chooser *ch, const struct choose_shape shape, struct mf_rng *rng,
				    uint32_t target, uint64_t len)
{
	uint64_t units = choose_round_up(len) / CHOOSE_ALIGN;

	if (shape.address == MF_CLIENT_AT_SEQUENTIAL)
		return choose_sequential(&ch->cursor[target].data, len, units * CHOOSE_ALIGN, ch->span);
	if (shape.address == MF_CLIENT_AT_ZIPF)
		return choose_zipf(ch, &ch->slot_zipf, rng) * ch->stride;
	if (shape.size == MF_CLIENT_SIZE_FIXED)
		return mf_rng_below(rng, ch->slots) * ch->stride;
	return ch->units <= units ? 0 : mf_rng_below(rng, ch->units - units + 1) * CHOOSE_ALIGN;
}

/** For a chooser of this shape: where the caller's constants are, nothing is left to be decided. */
static inline __attribute__((always_inline)) struct choice choose_by(struct chooser *ch,
								     const struct choose_shape shape)
{
	struct mf_rng rng = ch->rng;
	struct choice x;

	x.kind = choose_kind(ch, &rng);
	x.target = choose_target(ch, shape, &rng);
	if (__builtin_expect(choose_is_rmw(x.kind), 0)) {
		x.len = 8;
		x.offset = choose_word(ch, shape, &rng, x.target);
	} else {
		x.len = choose_size(ch, shape, &rng);
		x.offset = choose_place(ch, shape, &rng, x.target, x.len);
	}
	ch->rng = rng;
	return x;
}

/** For a chooser of any shape. */
struct choice choose_any(struct chooser *ch);

/** Where an operation goes that is given by itself. */
struct choice choose_given(struct chooser *ch, enum mf_client_kind kind, uint32_t target, uint64_t len);

static inline struct choice choose_next(struct chooser *ch)
{
	if (ch->uniform)
		return choose_by(ch, CHOOSE_UNIFORM);
	return choose_any(ch);
}

#endif
