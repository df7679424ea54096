/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec against the vectors of others, and against itself. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "pcs_test.h"

#define FORMATS_FILE "05_block_formats_and_invalid.json"

static void assert_block(size_t i, struct mf_block got, struct mf_block want)
{
	cr_assert(got.sync == want.sync && got.word == want.word,
		  "vector %zu: %d %016" PRIx64 ", expected %d %016" PRIx64, i, got.sync, got.word, want.sync,
		  want.word);
}

static void assert_xgmii(size_t i, struct mf_xgmii got, struct mf_xgmii want)
{
	cr_assert(got.ctl == want.ctl && got.data == want.data,
		  "vector %zu: %02x %016" PRIx64 ", expected %02x %016" PRIx64, i, got.ctl, got.data,
		  want.ctl, want.data);
}

static void check_encode(const char *key, size_t count)
{
	json_t *file = vectors_load(FORMATS_FILE);
	const json_t *list = vectors_list(file, key), *v;
	size_t i;

	cr_assert_eq(json_array_size(list), count);
	json_array_foreach(list, i, v) {
		struct mf_xgmii in = vector_xgmii(v, "xgmii_data", "xgmii_ctl");
		struct mf_block out;
		bool ok = mf_codec_encode(&in, &out);

		assert_block(i, out, vector_block(v));
		cr_assert_eq(ok, !vector_int(v, "bad"), "vector %zu", i);
	}
	json_decref(file);
}

Test(codec, encodes_every_format)
{
	check_encode("encode_ok", 120);
}

Test(codec, encodes_illegal_characters_as_errors)
{
	check_encode("encode_mixed", 300);
}

Test(codec, decodes)
{
	json_t *file = vectors_load(FORMATS_FILE);
	const json_t *list = vectors_list(file, "decode"), *v;
	size_t i;

	cr_assert_eq(json_array_size(list), 1552);
	json_array_foreach(list, i, v) {
		struct mf_block in = vector_block(v);
		struct mf_xgmii out;
		bool ok = mf_codec_decode(&in, &out);

		assert_xgmii(i, out, vector_xgmii(v, "xgmii_data", "xgmii_ctl"));
		cr_assert_eq(ok, !vector_int(v, "bad"), "vector %zu", i);
	}
	json_decref(file);
}

/** The class of a block, from its decoded characters: clause 49.2.13.2.3 once more, the other way round. */
static enum mf_codec_class class_of(const struct mf_block *b)
{
	struct mf_xgmii x;
	bool error = false;

	if (!mf_codec_decode(b, &x))
		return MF_CODEC_E;
	if (x.ctl == 0)
		return MF_CODEC_D;
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t character = (uint8_t)(x.data >> 8 * i);

		if (!(x.ctl >> i & 1))
			continue;
		if (character == MF_XGMII_START)
			return MF_CODEC_S;
		if (character == MF_XGMII_TERM)
			return MF_CODEC_T;
		error |= character == MF_XGMII_ERROR;
	}
	return error && mf_block_type(b->word) == MF_BT_C ? MF_CODEC_E : MF_CODEC_C;
}

Test(codec, classifies_as_it_decodes)
{
	json_t *file = vectors_load(FORMATS_FILE);
	const json_t *v;
	unsigned int seen[MF_CODEC_T + 1] = {0};
	size_t i;

	json_array_foreach(vectors_list(file, "decode"), i, v) {
		struct mf_block b = vector_block(v);

		cr_assert_eq(mf_codec_classify(b.sync, b.word), class_of(&b), "decode %zu", i);
	}
	json_array_foreach(vectors_list(file, "encode_ok"), i, v) {
		struct mf_block b = vector_block(v);

		cr_assert_eq(mf_codec_classify(b.sync, b.word), class_of(&b), "encode_ok %zu", i);
		seen[class_of(&b)]++;
	}
	cr_assert_eq(mf_codec_classify(MF_SYNC_DATA, MF_IDLE_WORD), MF_CODEC_D);
	for (int class = 0; class <= MF_CODEC_T; class ++)
		cr_assert(seen[class] || class == MF_CODEC_D, "class %d is not among the vectors", class);
	json_decref(file);
}

/** A block with codes that are often valid: half of them 0, the others any of table 49-1 or anything. */
static struct mf_block random_block(uint64_t *rng)
{
	static const uint8_t types[] = {MF_BT_C,  MF_BT_C_O4, MF_BT_C_S4, MF_BT_O_S4, MF_BT_O_O4,
					MF_BT_S,  MF_BT_O_C,  MF_BT_T0,   MF_BT_T1,   MF_BT_T2,
					MF_BT_T3, MF_BT_T4,   MF_BT_T5,   MF_BT_T6,   MF_BT_T7,
					MF_BT_MS, MF_BT_MT,   MF_BT_MST,  MF_BT_N,    MF_BT_G};
	static const uint8_t codes[] = {0x00, 0x06, 0x1e, 0x2d, 0x33, 0x4b, 0x55, 0x66, 0x78};
	struct mf_block b = {.sync = (uint8_t)test_below(rng, 4)};

	if (test_below(rng, 4) > 0)
		b.sync = MF_SYNC_CTRL;
	for (unsigned int i = 0; i < 8; i++)
		b.word |= (uint64_t)codes[test_below(rng, sizeof(codes))] << (8 + 7 * i);
	if (test_below(rng, 2))
		b.word &= test_random(rng);
	if (test_below(rng, 8) == 0)
		b.word = test_random(rng);
	b.word = (b.word & ~UINT64_C(0xff)) | types[test_below(rng, sizeof(types))];
	return b;
}

Test(codec, random_blocks_survive_decode_and_encode)
{
	uint64_t seed = test_seed(), rng = seed;
	unsigned int good = 0, bad = 0;

	for (unsigned int i = 0; i < 200000; i++) {
		struct mf_block b = random_block(&rng), again;
		struct mf_xgmii x, back;
		bool ok = mf_codec_decode(&b, &x);

		/* Bits that the standard leaves unused are lost on the way, so compare the characters. */
		cr_assert_eq(mf_codec_encode(&x, &again), true, "seed %" PRIu64 ", block %u", seed, i);
		cr_assert_eq(mf_codec_decode(&again, &back), true);
		assert_xgmii(i, back, x);
		cr_assert_eq(mf_codec_classify(b.sync, b.word), class_of(&b), "seed %" PRIu64, seed);
		good += ok;
		bad += !ok;
	}
	cr_assert(good > 10000 && bad > 10000, "%u good, %u bad", good, bad);
}

Test(codec, memory_kinds_are_errors_to_a_standard_port)
{
	static const uint8_t kinds[] = {MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G};

	for (unsigned int i = 0; i < sizeof(kinds); i++) {
		struct mf_block b = {.word = kinds[i], .sync = MF_SYNC_CTRL};
		struct mf_xgmii x;

		cr_assert_eq(mf_codec_decode(&b, &x), false);
		cr_assert_eq(mf_codec_classify(b.sync, b.word), MF_CODEC_E);
	}
}
