/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "role/mf_item.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a field is packed as it stands in memory");

size_t mf_item_pack(const struct mf_item *item, const void *items, unsigned int n, void *out)
{
	const uint8_t *from = items;
	uint8_t *to = out;

	for (unsigned int i = 0; i < n; i++, from += item->size)
		for (const struct mf_item_field *f = item->field; f->name != NULL; to += f->size, f++)
			memcpy(to, from + f->offset, f->size);
	return n * (size_t)item->packed;
}

/** A packed field. */
static uint64_t value(const uint8_t *packed, const struct mf_item_field *f)
{
	uint64_t v = 0;

	memcpy(&v, packed, f->size);
	return v;
}

static bool may_be(const struct mf_item_field *f, uint64_t v, unsigned int nodes)
{
	switch (f->check) {
	case MF_ITEM_BOOL:
		return v <= 1;
	case MF_ITEM_NODE:
		return v < nodes;
	default:
		return true;
	}
}

int mf_item_unpack(const struct mf_item *item, const void *packed, size_t size, unsigned int nodes, void *out)
{
	const uint8_t *from = packed;
	uint8_t *to = out;

	if (size != item->packed)
		return -EINVAL;
	for (const struct mf_item_field *f = item->field; f->name != NULL; from += f->size, f++)
		if (!may_be(f, value(from, f), nodes))
			return -EINVAL;
	memset(to, 0, item->size);
	from = packed;
	for (const struct mf_item_field *f = item->field; f->name != NULL; from += f->size, f++)
		memcpy(to + f->offset, from, f->size);
	return 0;
}

/** Says in which field two packed items differ. @return whether they do */
static bool differ_one(const struct mf_item *item, size_t number, const uint8_t *is, const uint8_t *was,
		       char *text, size_t len)
{
	for (const struct mf_item_field *f = item->field; f->name != NULL;
	     is += f->size, was += f->size, f++) {
		if (value(is, f) == value(was, f))
			continue;
		snprintf(text, len, "%s %zu: %s is %" PRIu64 ", was %" PRIu64, item->name, number, f->name,
			 value(is, f), value(was, f));
		return true;
	}
	return false;
}

void mf_item_differ(const struct mf_item *item, const void *is, size_t is_size, const void *was,
		    size_t was_size, char *text, size_t len)
{
	const uint8_t *a = is, *b = was;
	size_t packed = item->packed;

	text[0] = '\0';
	if (was_size % packed != 0) {
		snprintf(text, len, "the record has no whole %ss", item->name);
		return;
	}
	if (is_size != was_size) {
		snprintf(text, len, "%zu %ss, were %zu", is_size / packed, item->name, was_size / packed);
		return;
	}
	for (size_t i = 0; i < is_size / packed; i++)
		if (differ_one(item, i, a + i * packed, b + i * packed, text, len))
			return;
}
