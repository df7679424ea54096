/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is done to whole contents: made, compared, hashed. One source, compiled for the instructions of each
 * variant; all give the same. mf_workload_select() chooses, once for the process.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include "workload/content.h"

struct vectors {
	const char *name;
	uint16_t simd_bits; /**< of its widest vectors; 0: those of any CPU that the program runs on */
	/** XXH3, which is the same by vectors of any width. */
	uint64_t (*hash)(const void *octets, uint64_t len);
	void (*put)(uint64_t *word, size_t n, uint64_t key);
	bool (*is)(const void *octets, size_t n, uint64_t key);
};

/** The one in use: the first one until mf_workload_select(), its only writer. */
extern const struct vectors *vectors;

/** @return variant i of those that this CPU can run, the narrowest first; NULL behind the last */
const struct vectors *vectors_variant(unsigned int i);

extern const struct vectors vectors_any, vectors_avx2, vectors_avx512;

/** Words first..first + n - 1 of the content. */
static inline void content_fill(uint64_t *word, size_t n, uint64_t key, uint64_t first)
{
	vectors->put(word, n, content_word(key, first));
}

#endif
