/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/mman.h>

#include "base/mf_table.h"
#include "workload/verify.h"

#define WORD 8
#define WORDS_BITMAP 64 /* words a bitmap word stands for */

/** Octets that a region needs of each table. */
struct room {
	uint64_t octets, line, block, unknown, writer;
};

static struct room room_of(const struct shadow *s, uint64_t span, bool unordered)
{
	return (struct room){
		.octets = s->stride,
		.line = s->stride / LINE_OCTETS * sizeof(uint64_t),
		.block = (s->stride >> s->lines.shift) * sizeof(uint64_t),
		.unknown = ((span - 1) / (WORD * WORDS_BITMAP) + 1) * sizeof(uint64_t),
		.writer = unordered ? ((span - 1) / WORD + 1) * sizeof(uint64_t) : 0,
	};
}

static void *carve(uint8_t **at, uint64_t octets)
{
	uint8_t *part = *at;

	*at += octets;
	return part;
}

/* All of a kind one after the other: those of short regions share pages. */
static void carve_all(struct shadow *s, const struct room *room)
{
	uint8_t *at = s->map;

	s->lines.octets = carve(&at, s->regions * room->octets);
	s->lines.line = carve(&at, s->regions * room->line);
	s->lines.block = carve(&at, s->regions * room->block);
	s->unknown = carve(&at, s->regions * room->unknown);
	s->writer = room->writer > 0 ? carve(&at, s->regions * room->writer) : NULL;
}

void shadow_region_begin(const struct shadow *s, uint32_t region)
{
	struct shadow_region *r = &s->region[region];

	r->unknown = s->unknown + region * ((s->words - 1) / WORDS_BITMAP + 1);
	if (s->writer != NULL)
		r->writer = s->writer + region * s->words;
}

int shadow_init(struct shadow *s, unsigned int regions, uint64_t span, bool unordered)
{
	struct room room;

	*s = (struct shadow){
		.regions = regions, .lines.shift = lines_shift(span), .words = (span - 1) / WORD + 1};
	s->stride = (((span - 1) >> s->lines.shift) + 1) << s->lines.shift;
	room = room_of(s, span, unordered);
	if (__builtin_mul_overflow(room.octets + room.line + room.block + room.unknown + room.writer,
				   (uint64_t)regions, &s->map_len) ||
	    s->map_len / LINE_OCTETS > LINES_NUMBERS)
		return -ENOMEM;
	s->region = mf_table_new(regions, sizeof(*s->region));
	if (s->region == NULL)
		return -ENOMEM;
	/* A fabric's regions may be more than the memory; what counts is what is touched. */
	s->map = mmap(NULL, s->map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		shadow_fini(s);
		return -ENOMEM;
	}
	carve_all(s, &room);
	return 0;
}

void shadow_fini(struct shadow *s)
{
	if (s->map != NULL)
		munmap(s->map, s->map_len);
	mf_table_free(s->region);
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

void shadow_lose(struct shadow *s, uint32_t region, uint64_t number)
{
	struct shadow_region *r = shadow_region(s, region);
	uint64_t whole = s->words / WORDS_BITMAP, rest = s->words % WORDS_BITMAP;

	memset(r->unknown, 0xff, whole * sizeof(*r->unknown));
	if (rest > 0)
		r->unknown[whole] = (UINT64_C(1) << rest) - 1;
	r->unknown_words = s->words;
	if (r->failed < number)
		r->failed = number;
}

void shadow_clear(struct shadow *s, uint32_t region, uint64_t number)
{
	struct shadow_region *r = shadow_region(s, region);

	lines_clear(&s->lines, shadow_at(s, region, 0), s->stride);
	memset(r->unknown, 0, ((s->words - 1) / WORDS_BITMAP + 1) * sizeof(*r->unknown));
	r->unknown_words = 0;
	r->failed = number;
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
