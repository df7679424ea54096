/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a look at a key takes says nothing of the key: valgrind's memcheck is told that keys are not
 * initialised, so it reports each branch and each address that depends on one (Langley, ctgrind). What comes
 * of it, one bit, is told to whoever asked, and is no secret.
 */
#include <stdio.h>

#include "memory/mf_memory.h"
#include "memory/mf_region.h"
#include "memory/mf_space.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

#define SIZE 4096

#ifdef VALGRIND_MAKE_MEM_UNDEFINED

static bool draw(void *ctx, uint64_t *out, unsigned int words)
{
	static uint64_t last = 0x0123456789abcdef;

	(void)ctx;
	for (unsigned int i = 0; i < words; i++)
		out[i] = last += 0x9e3779b97f4a7c15;
	return true;
}

/** What a node that has this key is told: it may be known. */
static uint8_t look(struct mf_regions *r, uint64_t key)
{
	uint8_t status;

	VALGRIND_MAKE_MEM_UNDEFINED(&key, sizeof(key));
	status = mf_regions_check(r, 0, MF_RIGHT_READ, 64, 8, key);
	VALGRIND_MAKE_MEM_DEFINED(&status, sizeof(status));
	return status;
}

static bool all_are_told(struct mf_regions *r)
{
	uint64_t key;

	if (mf_regions_attach(r, 0, MF_RIGHT_READ, 0, &key) != MF_OK || look(r, key) != MF_OK)
		return false;
	for (unsigned int bit = 0; bit < 64; bit++)
		if (look(r, key ^ UINT64_C(1) << bit) != MF_ERR_KEY)
			return false;
	return true;
}

/** The same of a key of a space: here the secret is one, too. */
static bool opens(uint64_t key)
{
	uint64_t secret[2] = {1, 2}, opens;

	VALGRIND_MAKE_MEM_UNDEFINED(secret, sizeof(secret));
	VALGRIND_MAKE_MEM_UNDEFINED(&key, sizeof(key));
	opens = mf_space_opens(1, mf_space_key(secret, mf_space_what(5, 1, 3, MF_RIGHT_READ)), key);
	VALGRIND_MAKE_MEM_DEFINED(&opens, sizeof(opens));
	return opens;
}

static bool each_space_bit_counts(void)
{
	const uint64_t secret[2] = {1, 2};
	uint64_t key = mf_space_key(secret, mf_space_what(5, 1, 3, MF_RIGHT_READ));

	for (unsigned int bit = 0; bit < 64; bit++)
		if (opens(key ^ UINT64_C(1) << bit))
			return false;
	return opens(key);
}

int main(void)
{
	const struct mf_memory_config m = {.size = SIZE, .numa_node = -1};
	const struct mf_region_config region = {.at = 0, .size = SIZE, .owner = 0};
	struct mf_regions_config c = {
		.region = &region, .regions = 1, .memory_ops = &mf_memory_flat, .draw = draw};
	struct mf_regions *r;
	unsigned long before, seen;
	bool told;

	if (!RUNNING_ON_VALGRIND) {
		printf("1..0 # SKIP not below valgrind\n");
		return 0;
	}
	c.memory = mf_memory_flat.create(&m);
	r = mf_regions_new(&c);
	if (r == NULL)
		return 1;
	before = VALGRIND_COUNT_ERRORS;
	told = all_are_told(r) && each_space_bit_counts();
	seen = VALGRIND_COUNT_ERRORS - before;
	printf("1..2\n%s 1 - each wrong bit is found\n", told ? "ok" : "not ok");
	printf("%s 2 - no branch and no address depends on a key (%lu do)\n", seen == 0 ? "ok" : "not ok",
	       seen);
	mf_regions_free(r);
	mf_memory_flat.destroy(c.memory);
	return 0;
}

#else

int main(void)
{
	printf("1..0 # SKIP valgrind/memcheck.h was not there at build time\n");
	return 0;
}

#endif
