/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "pcs/mf_pcs.h"
#include "pcs_test.h"

void test_fill(uint64_t *state, uint8_t *octets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		octets[i] = (uint8_t)(test_random(state) >> 56);
}

void test_widest(void)
{
	mf_pcs_select(UINT_MAX);
}

json_t *vectors_load(const char *name)
{
	const char *dir = getenv("MF_VECTORS");
	char path[4096];
	json_error_t error;
	json_t *file;

	cr_assert_not_null(dir, "MF_VECTORS names the folder of the vectors");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = json_load_file(path, 0, &error);
	cr_assert_not_null(file, "%s: %s", path, error.text);
	return file;
}

const json_t *vectors_list(const json_t *file, const char *key)
{
	const json_t *list = json_object_get(file, key);

	cr_assert_gt(json_array_size(list), 0, "no vectors %s", key);
	return list;
}

const char *vector_text(const json_t *v, const char *key)
{
	const char *text = json_string_value(json_object_get(v, key));

	cr_assert_not_null(text, "no text %s", key);
	return text;
}

int vector_int(const json_t *v, const char *key)
{
	const json_t *number = json_object_get(v, key);

	cr_assert(json_is_integer(number), "no number %s", key);
	return (int)json_integer_value(number);
}

size_t vector_octets(const json_t *v, const char *key, uint8_t *octets, size_t max)
{
	const char *text = vector_text(v, key);
	size_t n = strlen(text) / 2;

	cr_assert_leq(n, max);
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(sscanf(text + 2 * i, "%2hhx", &octets[i]), 1);
	return n;
}

struct mf_block vector_block(const json_t *v)
{
	const char *sync = vector_text(v, "sync");

	return (struct mf_block){
		.word = strtoull(vector_text(v, "payload"), NULL, 16),
		.sync = (uint8_t)((sync[0] - '0') | (sync[1] - '0') << 1),
	};
}

struct mf_xgmii vector_xgmii(const json_t *v, const char *data, const char *ctl)
{
	struct mf_xgmii x = {.ctl = (uint8_t)vector_int(v, ctl)};
	uint8_t lane[8];

	cr_assert_eq(vector_octets(v, data, lane, sizeof(lane)), 8);
	for (unsigned int i = 0; i < 8; i++)
		x.data |= (uint64_t)lane[i] << 8 * i;
	return x;
}
