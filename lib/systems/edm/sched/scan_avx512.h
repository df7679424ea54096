/* SPDX-License-Identifier: BSD-3-Clause */
/* What is looked for in arrays and bitmaps: as in scan_scalar.h, eight at a time. */
#ifndef MF_SCHED_SCAN_AVX512_H
#define MF_SCHED_SCAN_AVX512_H

#include <immintrin.h>

#include "systems/edm/sched/core.h"

#define SCAN_NAMES 32 /* sources that are looked at at a time */
#define SCAN_FAR 64 /* ... behind the line of names */

/**
 * The keys of a list's own line, and the map's 8 words, fit a register each. A source's word is looked up by
 * the upper bits of its number, and its bit is turned to the lowest place.
 */
static inline uint32_t scan_few(const sched_key *few, uint32_t n, uint32_t from, const struct sched_map *free)
{
	__m512i src = _mm512_srli_epi64(_mm512_load_si512(few), SCHED_KEY_SRC);
	__m512i word = _mm512_permutexvar_epi64(_mm512_srli_epi64(src, 6), _mm512_load_si512(free));
	uint32_t hit = _mm512_test_epi64_mask(_mm512_rorv_epi64(word, src), _mm512_set1_epi64(1));
	uint32_t end = n < SCHED_FEW ? n : SCHED_FEW;

	hit = (_bzhi_u32(hit & 0x15, 2 * end) >> 2 * from) << 2 * from;
	return hit ? (uint32_t)__builtin_ctz(hit) / 2 : n;
}

/** So do SCAN_NAMES ports, and as many words of the map of 16 bits. @return which are in the map */
static inline uint32_t scan_in(__m512i ports, const struct sched_map *map)
{
	__m512i word = _mm512_permutexvar_epi16(_mm512_srli_epi16(ports, 4), _mm512_load_si512(map));
	__m512i bit = _mm512_sllv_epi16(_mm512_set1_epi16(1), _mm512_and_si512(ports, _mm512_set1_epi16(15)));

	return _mm512_test_epi16_mask(word, bit);
}

/** @return place of the first of n, not before `from`, whose source is in the map; SCAN_NAMES: there is none
 */
static inline uint32_t scan_named(const uint16_t *src, uint32_t n, uint32_t from,
				  const struct sched_map *free)
{
	uint32_t hit = _bzhi_u32(scan_in(_mm512_loadu_si512(src), free), n);

	return _tzcnt_u32(hit & ~_bzhi_u32(UINT32_MAX, from));
}

/** @return place of the first of n <= SCAN_FAR whose source is in the map; SCAN_FAR: there is none */
static inline uint32_t scan_far(const uint16_t *src, uint32_t n, const struct sched_map *free)
{
	uint64_t low = scan_in(_mm512_loadu_si512(src), free);
	uint64_t high = scan_in(_mm512_loadu_si512(src + SCAN_NAMES), free);

	return _tzcnt_u64(_bzhi_u64(high << SCAN_NAMES | low, n));
}

/**
 * Lists the ports of a map, without a branch on how many there are.
 * @param list room for SCHED_LIST ports
 */
static inline unsigned int scan_ports(const struct sched_map *map, unsigned int words, uint16_t *list)
{
	static const uint16_t first[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
					   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
	__m512i port = _mm512_loadu_si512(first);
	unsigned int n = 0;

	for (unsigned int w = 0; w < words; w++) {
		uint32_t low = map->word[w], high = map->word[w] >> 32;

		_mm512_storeu_si512(list + n, _mm512_maskz_compress_epi16(low, port));
		n += __builtin_popcount(low);
		port = _mm512_add_epi16(port, _mm512_set1_epi16(32));
		_mm512_storeu_si512(list + n, _mm512_maskz_compress_epi16(high, port));
		n += __builtin_popcount(high);
		port = _mm512_add_epi16(port, _mm512_set1_epi16(32));
	}
	return n;
}

/**
 * Sources that were asked: they are not free any more, and nobody's from now on.
 * @param best [source]: the best request
 * @param won  those requests, by source; room for SCHED_LIST
 * @return how many
 */
static inline unsigned int scan_won(uint16_t *best, unsigned int words, uint16_t *won, struct sched_map *free)
{
	const __m512i nobody = _mm512_set1_epi16(SCHED_NOBODY);
	unsigned int n = 0;

	for (unsigned int w = 0; w < words; w++, best += 64) {
		__m512i low = _mm512_load_si512(best), high = _mm512_load_si512(best + 32);
		uint32_t in_low = _mm512_cmpneq_epi16_mask(low, nobody);
		uint32_t in_high = _mm512_cmpneq_epi16_mask(high, nobody);

		_mm512_store_si512(best, nobody);
		_mm512_store_si512(best + 32, nobody);
		_mm512_storeu_si512(won + n, _mm512_maskz_compress_epi16(in_low, low));
		n += __builtin_popcount(in_low);
		_mm512_storeu_si512(won + n, _mm512_maskz_compress_epi16(in_high, high));
		n += __builtin_popcount(in_high);
		free->word[w] &= ~((uint64_t)in_high << 32 | in_low);
	}
	return n;
}

/**
 * Of n ports those that are in the map, with the next places.
 * @param to room for SCHED_LIST
 * @return how many
 */
static inline unsigned int scan_keep(struct scan_places from, unsigned int n, const struct sched_map *map,
				     struct scan_places to)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i += SCAN_NAMES) {
		__m512i ports = _mm512_loadu_si512(from.port + i);
		__m512i places = _mm512_add_epi16(_mm512_loadu_si512(from.place + i), _mm512_set1_epi16(1));
		uint32_t in = _bzhi_u32(scan_in(ports, map), n - i > SCAN_NAMES ? SCAN_NAMES : n - i);

		_mm512_storeu_si512(to.port + kept, _mm512_maskz_compress_epi16(in, ports));
		_mm512_storeu_si512(to.place + kept, _mm512_maskz_compress_epi16(in, places));
		kept += __builtin_popcount(in);
	}
	return kept;
}

/** Ports of a map have this time, in an array that is a word of 64 whole. */
static inline void scan_fill(mf_time *at, const struct sched_map *map, unsigned int words, mf_time time)
{
	const __m512i all = _mm512_set1_epi64((long long)time);

	for (unsigned int w = 0; w < words; w++)
		for (unsigned int i = 0; i < 64; i += 8)
			_mm512_mask_store_epi64(at + w * 64 + i, (__mmask8)(map->word[w] >> i), all);
}

/** Adds destinations that a source has a candidate for. */
static inline void scan_join(struct sched_map *to, const struct mf_sched *s, unsigned int src)
{
	const __mmask8 row = _bzhi_u32(0xff, s->words);
	__m512i order = _mm512_or_si512(_mm512_maskz_loadu_epi64(row, sched_order(s, 0, src)),
					_mm512_maskz_loadu_epi64(row, sched_order(s, 1, src)));

	_mm512_store_si512(to, _mm512_or_si512(_mm512_load_si512(to), order));
}

/**
 * Puts a key in its place among n < SCHED_FEW: those that go before it are counted, the others make way. An
 * upper half decides unless it is equal.
 */
static inline void scan_insert(sched_key *few, uint32_t n, sched_key key)
{
	const __m512i k = _mm512_broadcast_i64x2(_mm_set_epi64x((long long)(key >> 64), (long long)key));
	__m512i old = _mm512_load_si512(few);
	uint32_t below = _mm512_cmplt_epu64_mask(old, k), equal = _mm512_cmpeq_epi64_mask(old, k);
	uint32_t before = (below | (equal & below << 1)) & _bzhi_u32(0xaa, 2 * n);
	__mmask8 others = ~(UINT32_C(3) << 2 * __builtin_popcount(before));

	_mm512_store_si512(few, _mm512_mask_mov_epi64(old, 0x3f, _mm512_mask_expand_epi64(k, others, old)));
}

/** Takes out one of SCHED_FEW. */
static inline void scan_remove(sched_key *few, uint32_t at)
{
	__mmask8 others = ~(UINT32_C(3) << 2 * at);

	__m512i line = _mm512_load_si512(few);

	_mm512_store_si512(few, _mm512_mask_mov_epi64(line, 0x3f, _mm512_maskz_compress_epi64(others, line)));
}

/** Moves keys by one place, towards the end or towards the start of a list. */
static inline void scan_shift_up(sched_key *keys, uint32_t n)
{
	for (; n > 4; n -= 4)
		_mm512_storeu_si512(keys + n - 3, _mm512_loadu_si512(keys + n - 4));
	_mm512_mask_storeu_epi64(keys + 1, _bzhi_u32(0xff, 2 * n),
				 _mm512_maskz_loadu_epi64(_bzhi_u32(0xff, 2 * n), keys));
}

static inline void scan_shift_down(sched_key *keys, uint32_t n)
{
	for (; n > 4; n -= 4, keys += 4)
		_mm512_storeu_si512(keys - 1, _mm512_loadu_si512(keys));
	_mm512_mask_storeu_epi64(keys - 1, _bzhi_u32(0xff, 2 * n),
				 _mm512_maskz_loadu_epi64(_bzhi_u32(0xff, 2 * n), keys));
}

/** ... their sources. */
static inline void scan_names_up(uint16_t *src, uint32_t n)
{
	for (; n > 32; n -= 32)
		_mm512_storeu_si512(src + n - 31, _mm512_loadu_si512(src + n - 32));
	_mm512_mask_storeu_epi16(src + 1, _bzhi_u32(UINT32_MAX, n), _mm512_loadu_si512(src));
}

static inline void scan_names_down(uint16_t *src, uint32_t n)
{
	for (; n > 32; n -= 32, src += 32)
		_mm512_storeu_si512(src - 1, _mm512_loadu_si512(src));
	_mm512_mask_storeu_epi16(src - 1, _bzhi_u32(UINT32_MAX, n), _mm512_loadu_si512(src));
}

/** A source comes at a place of SCHED_NAMED, and the last one goes. */
static inline void scan_name(uint16_t *src, uint32_t at, uint16_t name)
{
	const __m512i one = _mm512_set1_epi16((short)name);

	const __mmask32 named = (UINT32_C(1) << SCHED_NAMED) - 1;
	__m512i line = _mm512_load_si512(src),
		all = _mm512_mask_expand_epi16(one, ~(UINT32_C(1) << at), line);

	_mm512_store_si512(src, _mm512_mask_mov_epi16(line, named, all));
}

/** The one at a place goes, and another comes at the end. */
static inline void scan_forget(uint16_t *src, uint32_t at, uint16_t name)
{
	const __m512i one = _mm512_set1_epi16((short)name);
	const __mmask32 named = (UINT32_C(1) << SCHED_NAMED) - 1;
	__m512i line = _mm512_load_si512(src), all = _mm512_mask_mov_epi16(one, named, line);

	all = _mm512_maskz_compress_epi16(~(UINT32_C(1) << at), all);
	_mm512_store_si512(src, _mm512_mask_mov_epi16(line, named, all));
}

#endif
