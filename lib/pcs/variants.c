/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "pcs/mf_block.h"
#include "pcs/pcs_variants.h"

static void get_data(void *octets, const uint64_t *word, unsigned int n)
{
	memcpy(octets, word, n * sizeof(*word));
}

static void put_data(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n)
{
	memcpy(word, octets, n * sizeof(*word));
	memset(sync, MF_SYNC_DATA, n);
}

static const struct mf_pcs_ops scalar = {
	.name = "scalar",
	.simd_bits = 0,
	.scramble = pcs_scramble_scalar,
	.descramble = pcs_descramble_scalar,
	.scramble_batch = pcs_scramble_batch_scalar,
	.put_data = put_data,
	.get_data = get_data,
	.fcs = pcs_fcs_scalar,
};

const struct mf_pcs_ops *mf_pcs_ops = &scalar;

#ifdef __x86_64__

static const struct mf_pcs_ops clmul = {
	.name = "clmul",
	.simd_bits = 128,
	.scramble = pcs_scramble_scalar,
	.descramble = pcs_descramble_scalar,
	.scramble_batch = pcs_scramble_batch_scalar,
	.put_data = put_data,
	.get_data = get_data,
	.fcs = pcs_fcs_clmul,
};

/* One link is a chain of words, for which four lanes are no gain over two words a step. */
static const struct mf_pcs_ops avx2 = {
	.name = "avx2",
	.simd_bits = 256,
	.scramble = pcs_scramble_scalar,
	.descramble = pcs_descramble_avx2,
	.scramble_batch = pcs_scramble_batch_avx2,
	.put_data = pcs_put_data_avx2,
	.get_data = pcs_get_data_avx2,
	.fcs = pcs_fcs_clmul,
};

static const struct mf_pcs_ops avx512 = {
	.name = "avx512",
	.simd_bits = 512,
	.scramble = pcs_scramble_avx512,
	.descramble = pcs_descramble_avx512,
	.scramble_batch = pcs_scramble_batch_avx512,
	.put_data = pcs_put_data_avx512,
	.get_data = pcs_get_data_avx512,
	.fcs = pcs_fcs_avx512,
};

static bool has_clmul(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

static bool has_avx2(void)
{
	return has_clmul() && __builtin_cpu_supports("avx2");
}

/** Ice Lake's and later: those before have neither and pay for 512 bits with their frequency. */
static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("vpclmulqdq");
}

const struct mf_pcs_ops *mf_pcs_variant(unsigned int i)
{
	const struct mf_pcs_ops *variant[] = {
		&scalar,
		has_clmul() ? &clmul : NULL,
		has_avx2() ? &avx2 : NULL,
		has_avx512() ? &avx512 : NULL,
	};

	/* Each has what those before it have, so there is no gap. */
	return i < sizeof(variant) / sizeof(variant[0]) ? variant[i] : NULL;
}

#else

const struct mf_pcs_ops *mf_pcs_variant(unsigned int i)
{
	return i == 0 ? &scalar : NULL;
}

#endif

void mf_pcs_select(unsigned int simd_bits)
{
	const struct mf_pcs_ops *v;

	for (unsigned int i = 0; (v = mf_pcs_variant(i)) != NULL && v->simd_bits <= simd_bits; i++)
		mf_pcs_ops = v;
}
