/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/store_value.h"

/* The words of a field: cell, stamp, content. The last one may be cut. */
#define CONTENT_AT 2

static uint64_t key_of(uint64_t cell, uint64_t stamp)
{
	return content_key(cell, stamp);
}

void store_put(void *field, uint32_t octets, uint64_t cell, uint64_t stamp)
{
	uint64_t key = key_of(cell, stamp), head[CONTENT_AT] = {cell, stamp};
	uint8_t *at = field;

	memcpy(at, head, sizeof(head));
	for (uint32_t i = sizeof(head); i < octets; i += 8) {
		uint64_t word = content_word(key, i / 8);

		memcpy(at + i, &word, octets - i < 8 ? octets - i : 8);
	}
}

static bool is_zero(const uint8_t *at, uint32_t octets)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < octets; i++)
		any |= at[i];
	return any == 0;
}

enum store_verdict store_get(const void *field, uint32_t octets, uint64_t cell, uint64_t *stamp)
{
	const uint8_t *at = field;
	uint64_t head[CONTENT_AT], key, word;
	uint32_t i = sizeof(head);
	bool same;

	memcpy(head, at, sizeof(head));
	if (head[0] == 0 && is_zero(at, octets))
		return STORE_ABSENT;
	*stamp = head[1];
	key = key_of(cell, *stamp);
	same = head[0] == cell;
	for (; same && i < octets; i += 8) {
		word = content_word(key, i / 8);
		same = memcmp(at + i, &word, octets - i < 8 ? octets - i : 8) == 0;
	}
	return same ? STORE_WHOLE : STORE_BROKEN;
}
