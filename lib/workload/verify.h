/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client's regions hold, by what it has submitted: requests of a pair are delivered in order
 * (EDM 3.1.1, D9), so a read returns the state that its region had when the read was submitted.
 *
 * A write or RMW that failed may have taken effect or not, or in part. The words that it covers are
 * unknown from then on, until a write that was submitted after it has completed. So are all words when the
 * memory, or writes on their way to it, may be lost.
 *
 * Unordered: reads and RMW are in order among themselves, and writes are, but the ones may pass the
 * others. A word is known while no write to it is unsettled. A write is settled once it, or a younger
 * one of its region, has been acknowledged: writes take effect in order, and without an acknowledgement
 * a write's completion says nothing about the memory. A word that an RMW and a write have raced for is
 * unknown until a write that is submitted after that RMW has completed is settled; one of which an
 * operation failed stays unknown.
 *
 * That is by direction. Where writes are in order, but the data of a read leave the memory late, reads may
 * find what RMW behind them did, too. Where nothing is in order a word is known while no write or RMW of it
 * is under way; one that two have raced for is unknown until one that overwrites it has begun and completed
 * with no other beside it.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "base/mf_rng.h"
#include "workload/lines.h"
#include "workload/mf_workload.h"

/** All zero until something of it is asked for: of regions that are not used nothing is touched. */
struct shadow_region {
	uint64_t *unknown; /**< bitmap of words; NULL: see shadow_region() */
	uint64_t unknown_words;
	uint64_t *writer; /**< unordered: of each word, number of its youngest write, plus one; 0: none */
	uint64_t settled; /**< unordered: number of the youngest acknowledged write, plus one */
	uint64_t failed; /**< number of the youngest operation that failed, plus one; 0: none */
};

struct shadow {
	struct lines lines; /**< of all regions */
	uint64_t stride; /**< in lines, from region to region */
	struct shadow_region *region; /**< see shadow_region() */
	unsigned int regions;
	uint64_t *unknown, *writer; /**< of all regions, one behind the other; writer: unordered, or NULL */
	void *map;
	size_t map_len;
	uint64_t words; /**< of a region */
};

/** @return 0, -ENOMEM */
int shadow_init(struct shadow *s, unsigned int regions, uint64_t span, bool unordered);
void shadow_fini(struct shadow *s);

/** A region is used for the first time. */
void shadow_region_begin(const struct shadow *s, uint32_t region);

static inline struct shadow_region *shadow_region(const struct shadow *s, uint32_t region)
{
	if (__builtin_expect(s->region[region].unknown == NULL, 0))
		shadow_region_begin(s, region);
	return &s->region[region];
}

/** Where a place of a region is in lines. */
static inline uint64_t shadow_at(const struct shadow *s, uint32_t region, uint64_t offset)
{
	return region * s->stride + offset;
}

/** A hint: the first octets of a region are about to be written. */
static inline void shadow_fetch(const struct shadow *s, uint32_t region)
{
	__builtin_prefetch(&s->lines.block[shadow_at(s, region, 0) >> s->lines.shift], 1);
}

/** What is at a place of lines where nothing was ever written, in any region. */
static inline const void *shadow_unwritten(const struct shadow *s, uint64_t at)
{
	return s->lines.octets + at;
}

/** Operation number failed: what it covers is unknown. */
void shadow_fail(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len);

/** All that a region holds is unknown; operations from number on may settle it. */
void shadow_lose(struct shadow *s, uint32_t region, uint64_t number);

/** A region holds nothing but zero again; operations from number on may settle what becomes unknown. */
void shadow_clear(struct shadow *s, uint32_t region, uint64_t number);

/** Operation number, which overwrites, has completed: what it covers in whole words may be known again. */
void shadow_settle(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len);

/** Unordered: an RMW and a write have raced for these words. */
void shadow_race(struct shadow_region *r, uint64_t offset, uint64_t len);

/** Unordered: write number has been submitted; races of words that it covers as a whole are over. */
void shadow_write(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len);

/** Unordered: write number has been acknowledged. */
static inline void shadow_acknowledge(struct shadow_region *r, uint64_t number)
{
	if (r->settled <= number)
		r->settled = number + 1;
}

/** Any order: operation number, which changes these words, is under way, */
void shadow_begin(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len);
/** and has completed. */
void shadow_over(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len);

bool shadow_known_slow(const struct shadow_region *r, uint64_t offset, uint64_t len);

static inline bool shadow_known(const struct shadow_region *r, uint64_t offset, uint64_t len)
{
	return (r->unknown_words == 0 && r->writer == NULL) || shadow_known_slow(r, offset, len);
}

/** Makes the arguments of an RMW on a word that holds this value. A CAS fails in one of four. */
void rmw_arguments(enum mf_client_kind kind, uint64_t value, struct mf_rng *rng, uint64_t arg[2]);

enum mf_rmw_op rmw_opcode(enum mf_client_kind kind);

/** What the word holds afterwards. */
uint64_t rmw_result(enum mf_client_kind kind, uint64_t value, const uint64_t arg[2]);

#endif
