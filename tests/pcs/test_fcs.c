/* SPDX-License-Identifier: BSD-3-Clause */
/* The FCS against the vectors of others; no EAL is running. */
#include <criterion/criterion.h>

#include "mf_frame.h"
#include "pcs_test.h"

TestSuite(fcs, .timeout = 60);

static void check_vectors(void)
{
	json_t *file = vectors_load("11_fcs.json");
	const json_t *list = vectors_list(file, "vectors"), *v;
	size_t i;

	cr_assert_eq(json_array_size(list), 15);
	json_array_foreach(list, i, v) {
		static uint8_t data[16384];
		uint8_t wire[MF_FCS_LEN];
		size_t len = vector_octets(v, "data", data, sizeof(data));
		uint32_t fcs = mf_fcs(data, len);

		if (json_object_get(v, "crc32"))
			cr_assert_eq(fcs, strtoul(vector_text(v, "crc32"), NULL, 16), "vector %zu", i);
		cr_assert_eq(vector_octets(v, "fcs_wire_bytes", wire, sizeof(wire)), sizeof(wire));
		for (unsigned int k = 0; k < sizeof(wire); k++)
			cr_assert_eq(wire[k], (uint8_t)(fcs >> 8 * k), "vector %zu", i);
	}
	json_decref(file);
}

Test(fcs, scalar)
{
	mf_fcs_init(false);
	check_vectors();
}

/* Without EAL there is no SIMD width, and it has to fall back. */
Test(fcs, simd_where_eal_is_not_running)
{
	mf_fcs_init(true);
	check_vectors();
}

Test(fcs, without_a_choice)
{
	check_vectors();
}
