/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a variant, by the instructions that the file which includes this is compiled for. */
#ifndef VECTORS_BODY_H
#define VECTORS_BODY_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "workload/vectors.h"

static uint64_t hash(const void *octets, uint64_t len)
{
	return XXH3_64bits(octets, len);
}

static void put(uint64_t *word, size_t n, uint64_t key)
{
	content_put(word, n, key);
}

static bool is(const void *octets, size_t n, uint64_t key)
{
	return content_is(octets, n, key);
}

#define VECTORS(variant, bits)                     \
	const struct vectors vectors_##variant = { \
		.name = #variant, .simd_bits = bits, .hash = hash, .put = put, .is = is}

#endif
