/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/mf_workload.h"
#include "workload/vectors_body.h"

VECTORS(any, 0);

const struct vectors *vectors = &vectors_any;

#ifdef __x86_64__

/** Ice Lake's and later: those before pay for 512 bits with their frequency. */
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vbmi2");
}

const struct vectors *vectors_variant(unsigned int i)
{
	bool avx2 = __builtin_cpu_supports("avx2");
	const struct vectors *variant[] = {
		&vectors_any,
		avx2 ? &vectors_avx2 : NULL,
		avx2 && has_avx512() ? &vectors_avx512 : NULL,
	};

	return i < sizeof(variant) / sizeof(variant[0]) ? variant[i] : NULL;
}

#else

const struct vectors *vectors_variant(unsigned int i)
{
	return i == 0 ? &vectors_any : NULL;
}

#endif

void mf_workload_select(unsigned int simd_bits)
{
	const struct vectors *v;

	for (unsigned int i = 0; (v = vectors_variant(i)) != NULL && v->simd_bits <= simd_bits; i++)
		vectors = v;
}
