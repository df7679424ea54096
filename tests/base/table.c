/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "base/mf_table.h"

#define TABLES 64
#define OCTETS ((size_t)1 << 30)
#define PAGE 4096

Test(table, zero_and_aligned_to_the_last_octet)
{
	for (size_t size = 1; size < 20000; size += 1 + size / 3) {
		uint8_t *t = mf_table_new(3, size);

		cr_assert_not_null(t);
		cr_assert_eq((uintptr_t)t % 64, 0);
		for (size_t i = 0; i < 3 * size; i++) {
			cr_assert_eq(t[i], 0, "octet %zu of %zu", i, 3 * size);
			t[i] = 0xff;
		}
		mf_table_free(t);
	}
}

Test(table, dense_ones_too)
{
	static const size_t size[] = {1, 4096, (1 << 20) - 1, 1 << 21, (5 << 20) + 3};

	for (size_t k = 0; k < sizeof(size) / sizeof(*size); k++) {
		uint8_t *t = mf_table_new_dense(3, size[k]);

		cr_assert_not_null(t);
		cr_assert_eq((uintptr_t)t % 64, 0);
		for (size_t i = 0; i < 3 * size[k]; i++) {
			cr_assert_eq(t[i], 0, "octet %zu of %zu", i, 3 * size[k]);
			t[i] = 0xff;
		}
		mf_table_free(t);
	}
	errno = 0;
	cr_assert_null(mf_table_new_dense(SIZE_MAX / 2, 4));
	cr_assert_eq(errno, ENOMEM);
}

static size_t resident(const uint8_t *t)
{
	static unsigned char in[OCTETS / PAGE];
	uint8_t *first = (uint8_t *)(((uintptr_t)t + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	size_t n = 0;

	cr_assert_eq(mincore(first, OCTETS - PAGE, in), 0);
	for (size_t i = 0; i < OCTETS / PAGE - 1; i++)
		n += in[i] & 1;
	return n;
}

Test(table, what_is_not_touched_takes_no_memory)
{
	uint8_t *t[TABLES];
	unsigned int places = 0;
	uint64_t place = 0;

	for (int i = 0; i < TABLES; i++) {
		t[i] = mf_table_new(OCTETS, 1);
		cr_assert_not_null(t[i]);
		cr_assert_eq(resident(t[i]), 0);
		t[i][OCTETS / 2] = 1;
		cr_assert_eq(resident(t[i]), 1);
		place |= UINT64_C(1) << (uintptr_t)t[i] % PAGE / 64;
	}
	for (; place != 0; place &= place - 1)
		places++;
	cr_expect_gt(places, TABLES / 4, "tables begin at %u places of a page", places);
	for (int i = 0; i < TABLES; i++)
		mf_table_free(t[i]);
}

Test(table, too_large)
{
	cr_expect_null(mf_table_new(SIZE_MAX, 2));
	cr_expect_null(mf_table_new(SIZE_MAX, 1));
	cr_expect_null(mf_table_new(SIZE_MAX / 2, 1));
	cr_expect_eq(errno, ENOMEM);
	mf_table_free(NULL);
}
