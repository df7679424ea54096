/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <string.h>

#include "base/mf_crc_row.h"
#include "systems/edm/proto/crc16_clmul.h"
#include "systems/edm/proto/mf_proto.h"

const uint16_t mf_crc16_row[8][256] = {
	MF_CRC_ROW(MF_X23, MF_X22, MF_X21, MF_X20, MF_X19, MF_X18, MF_X17, MF_X16),
	MF_CRC_ROW(MF_X31, MF_X30, MF_X29, MF_X28, MF_X27, MF_X26, MF_X25, MF_X24),
	MF_CRC_ROW(MF_X39, MF_X38, MF_X37, MF_X36, MF_X35, MF_X34, MF_X33, MF_X32),
	MF_CRC_ROW(MF_X47, MF_X46, MF_X45, MF_X44, MF_X43, MF_X42, MF_X41, MF_X40),
	MF_CRC_ROW(MF_X55, MF_X54, MF_X53, MF_X52, MF_X51, MF_X50, MF_X49, MF_X48),
	MF_CRC_ROW(MF_X63, MF_X62, MF_X61, MF_X60, MF_X59, MF_X58, MF_X57, MF_X56),
	MF_CRC_ROW(MF_X71, MF_X70, MF_X69, MF_X68, MF_X67, MF_X66, MF_X65, MF_X64),
	MF_CRC_ROW(MF_X79, MF_X78, MF_X77, MF_X76, MF_X75, MF_X74, MF_X73, MF_X72),
};

/* The low octet of the seed 16 bits later, then the high one: see MF_CRC16_SEED. */
#define LOW(v) MF_CRC_OCTET(v, MF_X31, MF_X30, MF_X29, MF_X28, MF_X27, MF_X26, MF_X25, MF_X24)
#define HIGH(v) MF_CRC_OCTET(v, MF_X23, MF_X22, MF_X21, MF_X20, MF_X19, MF_X18, MF_X17, MF_X16)
static_assert((LOW(MF_CRC16_SEED & 0xff) ^ HIGH(MF_CRC16_SEED >> 8)) == 0xffff, "seed");

static uint16_t table_words(const uint64_t *word, unsigned int n)
{
	uint16_t crc = MF_CRC16_SEED;

	for (unsigned int i = 0; i < n; i++)
		crc = mf_crc16_step(crc, word[i]);
	return crc;
}

static uint16_t table_one(uint64_t word)
{
	return mf_crc16_step(MF_CRC16_SEED, word);
}

static uint16_t table_two(uint64_t first, uint64_t second)
{
	return mf_crc16_step(mf_crc16_step(MF_CRC16_SEED, first), second);
}

static uint16_t table_copy(uint64_t *word, const void *data, unsigned int n, uint64_t last)
{
	memcpy(word + 1, data, n * sizeof(*word));
	return mf_crc16_step(table_words(word, n + 1), last);
}

static const struct mf_crc16_ops table = {
	.name = "table",
	.words = table_words,
	.one = table_one,
	.two = table_two,
	.copy = table_copy,
};

const struct mf_crc16_ops *mf_crc16_ops = &table;

const struct mf_crc16_ops *mf_crc16_variant(unsigned int i)
{
	const struct mf_crc16_ops *variant[] = {&table, mf_crc16_clmul(), mf_crc16_avx512()};

	/* Each needs what those before it need, so there is no gap. */
	return i < sizeof(variant) / sizeof(variant[0]) ? variant[i] : NULL;
}

void mf_proto_select(unsigned int simd_bits)
{
	const struct mf_crc16_ops *v;

	for (unsigned int i = 0; (v = mf_crc16_variant(i)) != NULL && v->simd_bits <= simd_bits; i++)
		mf_crc16_ops = v;
}
