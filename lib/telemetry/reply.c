/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON as DPDK's telemetry has it. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "telemetry/telemetry.h"

#define REPLY_MAX (15 * 1024) /* DPDK's is 16 KiB, with the command; it cuts off what is longer */

static void fill(const json_t *from, struct rte_tel_data *to);

/** Without the characters that DPDK refuses in a name. */
static void make_name(const char *key, char out[RTE_TEL_MAX_STRING_LEN])
{
	snprintf(out, RTE_TEL_MAX_STRING_LEN, "%s", key);
	for (char *c = out; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '/')
			*c = '_';
}

/** What does not fit is left out, whole characters of UTF-8 at a time. */
static void make_text(const char *text, char out[RTE_TEL_MAX_STRING_LEN])
{
	size_t len = strlen(text);

	if (len >= RTE_TEL_MAX_STRING_LEN)
		for (len = RTE_TEL_MAX_STRING_LEN - 1; len > 0 && (text[len] & 0xc0) == 0x80; len--)
			;
	memcpy(out, text, len);
	out[len] = '\0';
}

static void make_real(double value, char out[RTE_TEL_MAX_STRING_LEN])
{
	json_t *real = json_real(value);
	size_t len =
		json_dumpb(real, out, RTE_TEL_MAX_STRING_LEN - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

	out[len < RTE_TEL_MAX_STRING_LEN ? len : 0] = '\0';
	json_decref(real);
}

static void add_container(struct rte_tel_data *to, const char *name, const json_t *value)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (inner == NULL)
		return;
	fill(value, inner);
	if (rte_tel_data_add_dict_container(to, name, inner, 0) != 0)
		rte_tel_data_free(inner);
}

static void add_value(struct rte_tel_data *to, const char *key, const json_t *value)
{
	char name[RTE_TEL_MAX_STRING_LEN], text[RTE_TEL_MAX_STRING_LEN];

	make_name(key, name);
	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		add_container(to, name, value);
		return;
	case JSON_INTEGER:
		rte_tel_data_add_dict_u64(to, name, (uint64_t)json_integer_value(value));
		return;
	case JSON_REAL:
		make_real(json_real_value(value), text);
		rte_tel_data_add_dict_string(to, name, text);
		return;
	case JSON_STRING:
		make_text(json_string_value(value), text);
		rte_tel_data_add_dict_string(to, name, text);
		return;
	default:
		rte_tel_data_add_dict_int(to, name, json_is_true(value));
	}
}

/** All elements are of the type of the first. */
static void fill_array(const json_t *from, struct rte_tel_data *to)
{
	bool texts = json_is_string(json_array_get(from, 0));
	char text[RTE_TEL_MAX_STRING_LEN];
	const json_t *value;
	size_t i;

	rte_tel_data_start_array(to, texts ? RTE_TEL_STRING_VAL : RTE_TEL_U64_VAL);
	json_array_foreach(from, i, value) {
		if (!texts) {
			rte_tel_data_add_array_u64(to, (uint64_t)json_integer_value(value));
			continue;
		}
		make_text(json_string_value(value), text);
		rte_tel_data_add_array_string(to, text);
	}
}

static void fill(const json_t *from, struct rte_tel_data *to)
{
	const char *key;
	json_t *value;

	if (json_is_array(from)) {
		fill_array(from, to);
		return;
	}
	rte_tel_data_start_dict(to);
	json_object_foreach((json_t *)(uintptr_t)from, key, value)
		add_value(to, key, value);
}

int telemetry_reply(const json_t *answer, struct rte_tel_data *out)
{
	size_t len = json_dumpb(answer, NULL, 0, JSON_COMPACT);

	if (len == 0)
		return -ENOMEM;
	if (len > REPLY_MAX)
		return -E2BIG;
	fill(answer, out);
	return 0;
}
