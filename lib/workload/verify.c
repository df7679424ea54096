/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "verify.h"

#define WORD 8
#define LINE 64
#define WORDS_BITMAP 64 /* words a bitmap word stands for */

int shadow_init(struct shadow *s, unsigned int regions, uint64_t span, bool unordered)
{
	/* Every region's octets start at a line of their own, its bitmap at a word. */
	uint64_t bitmap = (span - 1) / (WORD * WORDS_BITMAP) + 1;
	uint64_t octets = (span + LINE - 1) / LINE * LINE, total;

	*s = (struct shadow){.regions = regions};
	if (__builtin_mul_overflow((unordered ? 2 : 1) * octets + bitmap * WORD, (uint64_t)regions, &total))
		return -ENOMEM;
	s->region = calloc(regions, sizeof(*s->region));
	if (s->region == NULL)
		return -ENOMEM;
	/* A fabric's regions may be more than the memory; what counts is what is touched. */
	s->map_len = total;
	s->map =
		mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		shadow_fini(s);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < regions; i++) {
		s->region[i].octets = (uint8_t *)s->map + i * octets;
		s->region[i].unknown = (uint64_t *)s->map + regions * octets / sizeof(uint64_t) + i * bitmap;
		if (unordered) /* a number for each word takes as much as the octets */
			s->region[i].writer =
				(uint64_t *)s->map + regions * (octets / WORD + bitmap) + i * (octets / WORD);
	}
	return 0;
}

void shadow_fini(struct shadow *s)
{
	if (s->map != NULL)
		munmap(s->map, s->map_len);
	free(s->region);
	*s = (struct shadow){0};
}

void shadow_race(struct shadow_region *r, uint64_t offset, uint64_t len)
{
	for (uint64_t w = offset / WORD; w <= (offset + len - 1) / WORD; w++) {
		uint64_t bit = UINT64_C(1) << w % WORDS_BITMAP;

		r->unknown_words += !(r->unknown[w / WORDS_BITMAP] & bit);
		r->unknown[w / WORDS_BITMAP] |= bit;
	}
}

static void clear_whole(struct shadow_region *r, uint64_t offset, uint64_t len)
{
	for (uint64_t w = (offset + WORD - 1) / WORD; w < (offset + len) / WORD; w++) {
		uint64_t bit = UINT64_C(1) << w % WORDS_BITMAP;

		r->unknown_words -= !!(r->unknown[w / WORDS_BITMAP] & bit);
		r->unknown[w / WORDS_BITMAP] &= ~bit;
	}
}

void shadow_begin(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len)
{
	for (uint64_t w = offset / WORD; w <= (offset + len - 1) / WORD; w++)
		if (r->writer[w] != UINT64_MAX)
			r->writer[w] = number + 1;
}

void shadow_write(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len)
{
	clear_whole(r, offset, len);
	shadow_begin(r, number, offset, len);
}

void shadow_fail(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len)
{
	shadow_race(r, offset, len);
	for (uint64_t w = offset / WORD; r->writer != NULL && w <= (offset + len - 1) / WORD; w++)
		r->writer[w] = UINT64_MAX; /* no write settles what may pass it */
	if (r->failed <= number)
		r->failed = number + 1;
}

void shadow_over(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len)
{
	for (uint64_t w = offset / WORD; w <= (offset + len - 1) / WORD; w++)
		if (r->writer[w] == number + 1)
			r->writer[w] = 0;
}

/*
 * Looked at for the whole region, not for each word: an operation that is older than some failed one
 * settles nothing, even where it could.
 */
void shadow_settle(struct shadow_region *r, uint64_t number, uint64_t offset, uint64_t len)
{
	if (r->unknown_words == 0 || number < r->failed)
		return;
	clear_whole(r, offset, len);
}

bool shadow_known_slow(const struct shadow_region *r, uint64_t offset, uint64_t len)
{
	for (uint64_t w = offset / WORD; w <= (offset + len - 1) / WORD; w++)
		if ((r->unknown[w / WORDS_BITMAP] >> w % WORDS_BITMAP & 1) ||
		    (r->writer != NULL && r->writer[w] > r->settled))
			return false;
	return true;
}

/* Masks with an eighth of their bits set, or cleared: OR and AND keep each other from running out of work. */
void rmw_arguments(enum mf_client_kind kind, uint64_t value, struct mf_rng *rng, uint64_t arg[2])
{
	uint64_t sparse;

	arg[0] = mf_rng_next(rng);
	arg[1] = 0;
	switch (kind) {
	case MF_CLIENT_CAS:
		arg[1] = mf_rng_next(rng);
		arg[0] = arg[0] % 4 != 0 ? value : arg[0];
		break;
	case MF_CLIENT_OR:
	case MF_CLIENT_AND:
		sparse = arg[0] & mf_rng_next(rng);
		sparse &= mf_rng_next(rng);
		arg[0] = kind == MF_CLIENT_OR ? sparse : ~sparse;
		break;
	default:
		break;
	}
}

enum mf_rmw_op rmw_opcode(enum mf_client_kind kind)
{
	switch (kind) {
	case MF_CLIENT_CAS:
		return MF_RMW_CAS;
	case MF_CLIENT_FADD:
		return MF_RMW_FADD;
	case MF_CLIENT_SWAP:
		return MF_RMW_SWAP;
	case MF_CLIENT_OR:
		return MF_RMW_FOR;
	default:
		return MF_RMW_FAND;
	}
}

uint64_t rmw_result(enum mf_client_kind kind, uint64_t value, const uint64_t arg[2])
{
	switch (kind) {
	case MF_CLIENT_CAS:
		return value == arg[0] ? arg[1] : value;
	case MF_CLIENT_FADD:
		return value + arg[0];
	case MF_CLIENT_SWAP:
		return arg[0];
	case MF_CLIENT_OR:
		return value | arg[0];
	default:
		return value & arg[0];
	}
}
