/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client does next: kind, target, size and address, drawn from one stream. No division. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "mf_workload.h"
#include "mf_zipf.h"

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

struct chooser {
	struct mf_rng rng;
	uint64_t kind_limit[MF_CLIENT_KINDS]; /**< cumulative weights, of 2^64 */
	unsigned int kind_last; /**< the last one that has a weight */

	enum mf_client_size size_dist;
	uint64_t size_min, size_range;
	struct choose_point *point;
	unsigned int points;

	enum mf_client_pattern pattern;
	uint32_t targets, target_next;
	struct mf_zipf target_zipf;

	enum mf_client_address address;
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
	return kind >= MF_CLIENT_CAS;
}

/** Whether the mix has reads or writes; whether it has RMW. */
bool choose_has_data(const struct mf_client_config *config);
bool choose_has_rmw(const struct mf_client_config *config);

/** Largest read or write. */
uint64_t choose_size_max(const struct mf_client_config *config);

/**
 * @param targets  how many there are, without the own node
 * @param first    for TO_ROUND
 * @return 0, -EINVAL, -ENOMEM
 */
int choose_init(struct chooser *ch, const struct mf_client_config *config, uint32_t targets, uint32_t first);
void choose_fini(struct chooser *ch);

void choose_next(struct chooser *ch, struct choice *out);

#endif
