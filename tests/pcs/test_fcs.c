/* SPDX-License-Identifier: BSD-3-Clause */
/* The FCS against the vectors of others, and its variants against each other. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "pcs/mf_frame.h"
#include "pcs/mf_pcs.h"
#include "pcs_test.h"

static void check_vectors(const struct mf_pcs_ops *variant)
{
	json_t *file = vectors_load("11_fcs.json");
	const json_t *list = vectors_list(file, "vectors"), *v;
	size_t i;

	cr_assert_eq(json_array_size(list), 15);
	json_array_foreach(list, i, v) {
		static uint8_t data[16384];
		uint8_t wire[MF_FCS_LEN];
		size_t len = vector_octets(v, "data", data, sizeof(data));
		uint32_t fcs = variant->fcs(data, len);

		if (json_object_get(v, "crc32"))
			cr_assert_eq(fcs, strtoul(vector_text(v, "crc32"), NULL, 16), "vector %zu", i);
		cr_assert_eq(vector_octets(v, "fcs_wire_bytes", wire, sizeof(wire)), sizeof(wire));
		for (unsigned int k = 0; k < sizeof(wire); k++)
			cr_assert_eq(wire[k], (uint8_t)(fcs >> 8 * k), "vector %zu, %s", i, variant->name);
	}
	json_decref(file);
}

Test(fcs, vectors)
{
	const struct mf_pcs_ops *v;

	for (unsigned int i = 0; (v = mf_pcs_variant(i)) != NULL; i++)
		check_vectors(v);
}

/** Straight from 3.2.9, a bit at a time. */
static uint32_t fcs_bits(const uint8_t *data, size_t len)
{
	uint32_t state = UINT32_MAX;

	for (size_t i = 0; i < 8 * len; i++) {
		uint32_t bit = (state ^ data[i / 8] >> i % 8) & 1;

		state = state >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~state;
}

/** In memory of its own, so that the sanitizers see what is read in front of it or behind it. */
static void check_len(uint64_t *rng, size_t len, uint64_t seed)
{
	const struct mf_pcs_ops *v;
	uint8_t *data = malloc(len + 1);
	uint32_t want;

	test_fill(rng, data, len);
	want = fcs_bits(data, len);
	for (unsigned int i = 0; (v = mf_pcs_variant(i)) != NULL; i++)
		cr_assert_eq(v->fcs(data, len), want, "%s, %zu octets, seed %" PRIu64, v->name, len, seed);
	free(data);
}

Test(fcs, every_variant_is_the_bit_serial_one)
{
	uint64_t seed = test_seed(), rng = seed;

	for (size_t len = 0; len <= 1600; len++)
		check_len(&rng, len, seed);
	for (unsigned int i = 0; i < 20; i++)
		check_len(&rng, test_below(&rng, MF_FRAME_MAX), seed);
	check_len(&rng, MF_FRAME_MAX, seed);
}

Test(fcs, uses_what_was_chosen)
{
	const uint8_t text[] = "123456789";

	for (unsigned int bits = 0; bits <= 512; bits += 64) {
		mf_pcs_select(bits);
		cr_assert_leq(mf_pcs_ops->simd_bits, bits);
		cr_assert_eq(mf_fcs(text, 9), 0xcbf43926, "%s", mf_pcs_ops->name);
	}
}
