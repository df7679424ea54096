/* SPDX-License-Identifier: BSD-3-Clause */
/* Items: packed, unpacked, checked and compared by the table of their fields. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mf_rng.h"
#include "role/mf_item.h"

/* With padding inside and at the end. */
struct task {
	uint8_t kind;
	uint64_t at;
	bool last;
	uint16_t node;
	uint32_t size;
	bool first;
};

#define FIELD(field, check) MF_ITEM_FIELD(struct task, field, check)

/* Not in the order of the structure. */
static const struct mf_item_field of_task[] = {
	FIELD(node, MF_ITEM_NODE),
	FIELD(at, MF_ITEM_ANY),
	FIELD(kind, MF_ITEM_ANY),
	FIELD(last, MF_ITEM_BOOL),
	FIELD(size, MF_ITEM_ANY),
	FIELD(first, MF_ITEM_BOOL),
	{0},
};

#define PACKED 17
static const struct mf_item task = {"task", sizeof(struct task), PACKED, of_task};

/* Where fields stand when they are packed. */
#define NODE 0
#define LAST 11
#define FIRST 16

#define NODES 300
#define MANY 32

static const struct task example = {
	.kind = 7, .at = 0x1122334455667788, .last = true, .node = 0x0102, .size = 0xa1a2a3a4};
static const uint8_t packed_example[PACKED] = {0x02, 0x01, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
					       0x11, 7,    1,    0xa4, 0xa3, 0xa2, 0xa1, 0};

static struct task random_task(struct mf_rng *rng)
{
	struct task t;

	memset(&t, (int)mf_rng_below(rng, 256), sizeof(t)); /* padding is not read */
	t.kind = (uint8_t)mf_rng_next(rng);
	t.at = mf_rng_next(rng);
	t.last = mf_rng_below(rng, 2);
	t.node = (uint16_t)mf_rng_below(rng, NODES);
	t.size = (uint32_t)mf_rng_next(rng);
	t.first = mf_rng_below(rng, 2);
	return t;
}

static bool equal(const struct task *a, const struct task *b)
{
	return a->kind == b->kind && a->at == b->at && a->last == b->last && a->node == b->node &&
	       a->size == b->size && a->first == b->first;
}

Test(item, fields_in_the_order_of_the_table)
{
	uint8_t out[PACKED + 1];

	memset(out, 0xee, sizeof(out));
	cr_assert_eq(mf_item_pack(&task, &example, 1, out), PACKED);
	cr_assert_arr_eq(out, packed_example, PACKED);
	cr_assert_eq(out[PACKED], 0xee, "no byte after it is written");
	cr_assert_eq(mf_item_pack(&task, &example, 0, out), 0);
}

Test(item, what_is_packed_comes_back)
{
	static struct task many[MANY];
	static uint8_t packed[MANY * PACKED];
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "items", 0);
	for (unsigned int round = 0; round < 1000; round++) {
		unsigned int n = 1 + (unsigned int)mf_rng_below(&rng, MANY);

		for (unsigned int i = 0; i < n; i++)
			many[i] = random_task(&rng);
		cr_assert_eq(mf_item_pack(&task, many, n, packed), n * PACKED);
		for (unsigned int i = 0; i < n; i++) {
			uint8_t again[PACKED];
			struct task t;

			memset(&t, 0xee, sizeof(t));
			cr_assert_eq(mf_item_unpack(&task, packed + i * PACKED, PACKED, NODES, &t), 0);
			cr_assert(equal(&t, &many[i]), "round %u, item %u", round, i);
			mf_item_pack(&task, &t, 1, again);
			cr_assert_arr_eq(again, packed + i * PACKED, PACKED);
		}
	}
}

/* The same bytes in memory, whatever was there: padding becomes 0. */
Test(item, no_byte_is_left_to_chance)
{
	struct task a, b;

	memset(&a, 0xff, sizeof(a));
	memset(&b, 0, sizeof(b));
	cr_assert_eq(mf_item_unpack(&task, packed_example, PACKED, NODES, &a), 0);
	cr_assert_eq(mf_item_unpack(&task, packed_example, PACKED, NODES, &b), 0);
	cr_assert_arr_eq((const uint8_t *)&a, (const uint8_t *)&b, sizeof(a));
}

/* @return of mf_item_unpack(), which writes nothing where it refuses */
static int unpack(const uint8_t *packed, size_t size, unsigned int nodes)
{
	uint8_t untouched[sizeof(struct task)];
	struct task t;
	int rc;

	memset(&t, 0xee, sizeof(t));
	memset(untouched, 0xee, sizeof(untouched));
	rc = mf_item_unpack(&task, packed, size, nodes, &t);
	if (rc != 0)
		cr_assert_arr_eq((const uint8_t *)&t, untouched, sizeof(t));
	return rc;
}

Test(item, each_forbidden_value_is_refused)
{
	uint8_t packed[PACKED];

	memcpy(packed, packed_example, PACKED);
	for (unsigned int at = LAST; at <= FIRST; at += FIRST - LAST)
		for (unsigned int v = 0; v < 256; v++) {
			packed[at] = (uint8_t)v;
			cr_assert_eq(unpack(packed, PACKED, NODES), v <= 1 ? 0 : -EINVAL, "%u is %u", at, v);
			packed[at] = packed_example[at];
		}
	for (unsigned int v = 0; v <= UINT16_MAX; v++) {
		packed[NODE] = (uint8_t)v;
		packed[NODE + 1] = (uint8_t)(v >> 8);
		cr_assert_eq(unpack(packed, PACKED, NODES), v < NODES ? 0 : -EINVAL, "node %u", v);
	}
}

Test(item, a_wrong_size_is_refused)
{
	uint8_t packed[2 * PACKED] = {0};

	for (size_t size = 0; size <= sizeof(packed); size++)
		cr_assert_eq(unpack(packed, size, NODES), size == PACKED ? 0 : -EINVAL, "%zu bytes", size);
	cr_assert_eq(unpack(packed, PACKED, 1), 0, "node 0 is there");
	cr_assert_eq(unpack(packed, PACKED, 0), -EINVAL, "no node is");
}

static void says(size_t is_size, const uint8_t *was, size_t was_size, const char *text)
{
	uint8_t is[2 * PACKED];
	char out[64];

	memcpy(is, packed_example, PACKED);
	memcpy(is + PACKED, packed_example, PACKED);
	memset(out, 'x', sizeof(out));
	mf_item_differ(&task, is, is_size, was, was_size, out, sizeof(out));
	cr_assert_str_eq(out, text);
}

Test(item, in_what_two_differ)
{
	uint8_t was[3 * PACKED];

	for (unsigned int i = 0; i < 3; i++)
		memcpy(was + i * PACKED, packed_example, PACKED);
	says(2 * PACKED, was, 2 * PACKED, "");
	says(PACKED, was, 3 * PACKED, "1 tasks, were 3");
	says(0, was, PACKED, "0 tasks, were 1");
	says(PACKED, was, 0, "1 tasks, were 0");
	says(PACKED, was, PACKED - 1, "the record has no whole tasks");
	was[PACKED + FIRST] = 2; /* is not checked: it is only compared */
	says(2 * PACKED, was, 2 * PACKED, "task 1: first is 0, was 2");
	was[PACKED + LAST] = 0;
	says(2 * PACKED, was, 2 * PACKED, "task 1: last is 1, was 0");
	was[9] = 0xff;
	says(2 * PACKED, was, 2 * PACKED, "task 0: at is 1234605616436508552, was 18384312997463357320");
	was[NODE] = 0xff;
	says(2 * PACKED, was, 2 * PACKED, "task 0: node is 258, was 511");
}

/* A text that is cut off is a text. */
Test(item, a_short_text)
{
	uint8_t was[PACKED] = {0};
	char out[8] = "xxxxxxx";

	mf_item_differ(&task, packed_example, PACKED, was, PACKED, out, 5);
	cr_assert_str_eq(out, "task");
	cr_assert_eq(out[5], 'x');
	mf_item_differ(&task, packed_example, PACKED, was, PACKED, out, 1);
	cr_assert_str_eq(out, "");
}
