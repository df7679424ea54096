/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items cross a channel from one role to another. They are plain data of a fixed size, such as descriptors
 * and grants of a scheduler. The table of its fields alone says how an item is packed (the fields in the
 * order of the table, little endian, without padding), unpacked, checked and compared.
 *
 * Tables are constant, and their owner keeps them as long as the program runs. Nothing here allocates,
 * changes a table or keeps a pointer to what it was called with, so any thread may call.
 */
#ifndef MF_ITEM_H
#define MF_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/mf_time.h"

/** Which values a field may have. */
enum mf_item_check {
	MF_ITEM_ANY,
	MF_ITEM_BOOL, /**< 0 or 1 */
	MF_ITEM_NODE, /**< the number of a node: below the number of nodes of the fabric */
	MF_ITEM_TIME, /**< any; a time in ps, 8 bytes. An engine may set the first one of an item anew */
};

struct mf_item_field {
	const char *name; /**< NULL ends a table */
	uint16_t offset; /**< in the item, in bytes */
	uint8_t size; /**< 1 to 8 bytes: an unsigned integer, a bool or an enumeration */
	uint8_t check; /**< enum mf_item_check */
};

/**
 * Each field stands in the table once: what an item has beside them is padding. An item begins with its time
 * (MF_ITEM_TIME): when it crosses.
 */
struct mf_item {
	const char *name; /**< of one, "grant"; several are "grants" */
	uint16_t size; /**< bytes in memory, at most MF_ITEM_MAX */
	uint16_t packed; /**< bytes of all fields */
	const struct mf_item_field *field;
};

/** What crosses the channel of a role. */
struct mf_channel {
	const struct mf_item *in, *out; /**< what the role takes, what it gives; NULL: nothing */
};

/** Bytes of the largest item, in memory and packed. None is aligned to more than 8. */
#define MF_ITEM_MAX 64
#define MF_ITEM_WORDS (MF_ITEM_MAX / 8)

/** Of items that stand one after the other: the time of number i, which is what each begins with. */
static inline mf_time *mf_item_time(const struct mf_item *item, void *items, unsigned int i)
{
	return (mf_time *)(void *)((uint8_t *)items + (size_t)i * item->size);
}

/** Dates n items anew. */
static inline void mf_item_date(const struct mf_item *item, void *items, unsigned int n, mf_time at)
{
	for (unsigned int i = 0; i < n; i++)
		*mf_item_time(item, items, i) = at;
}

/** A field of a table. */
#define MF_ITEM_FIELD(type, field, check)                                              \
	{                                                                              \
#field, offsetof(type, field), sizeof(((const type *)0)->field), check \
	}

/**
 * @param items  n of them, one after the other as in an array. All fields are set; padding is not read
 * @param out    room for n * item->packed
 * @return bytes written: n * item->packed
 */
size_t mf_item_pack(const struct mf_item *item, const void *items, unsigned int n, void *out);

/**
 * Unpacks one item, whatever the bytes are.
 * @param size   of what is packed
 * @param nodes  of the fabric
 * @param out    room for item->size, aligned as the item is; padding becomes 0
 * @return 0; -EINVAL: `size` is not that of one item, or a field has a value that the table forbids. Then
 *         nothing is written
 */
int mf_item_unpack(const struct mf_item *item, const void *packed, size_t size, unsigned int nodes,
		   void *out);

/**
 * Says in what packed items differ from others: "grant 0: size is 64, was 128", of the first field of the
 * first item that differs; or how many they are, and were.
 * @param is    whole items
 * @param was   any bytes
 * @param text  one line; empty where nothing differs
 * @param len   of text, at least 1
 */
void mf_item_differ(const struct mf_item *item, const void *is, size_t is_size, const void *was,
		    size_t was_size, char *text, size_t len);

#endif
