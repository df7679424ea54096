/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans as they stand in the data of an entry, and in what two of them differ. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/mf_record.h"

/** Behind it count words, then count sync headers. */
struct packed_span {
	mf_time start;
	uint32_t period;
	uint16_t count, flags;
};

static_assert(sizeof(struct packed_span) + MF_SPAN_MAX * 9 == RECORD_SPAN_MAX, "without padding");

size_t record_pack_span(const struct mf_span *span, void *out)
{
	const struct packed_span p = {span->start, span->period, span->count, span->flags};
	uint8_t *to = out;

	memcpy(to, &p, sizeof(p));
	memcpy(to + sizeof(p), span->word, span->count * sizeof(span->word[0]));
	memcpy(to + sizeof(p) + span->count * sizeof(span->word[0]), span->sync, span->count);
	return sizeof(p) + span->count * 9U;
}

int record_unpack_span(const void *data, size_t size, struct mf_span *span)
{
	const uint8_t *from = data;
	struct packed_span p;

	if (size < sizeof(p))
		return -EINVAL;
	memcpy(&p, from, sizeof(p));
	if (p.count > MF_SPAN_MAX || size != sizeof(p) + p.count * 9U)
		return -EINVAL;
	span->start = p.start;
	span->period = p.period;
	span->count = p.count;
	span->flags = p.flags;
	memcpy(span->word, from + sizeof(p), p.count * sizeof(span->word[0]));
	memcpy(span->sync, from + sizeof(p) + p.count * sizeof(span->word[0]), p.count);
	return 0;
}

/* What comes before the blocks, as an item. */

#define FIELD(field) MF_ITEM_FIELD(struct packed_span, field, MF_ITEM_ANY)
static const struct mf_item_field of_head[] = {FIELD(start), FIELD(period), FIELD(count), FIELD(flags), {0}};
static const struct mf_item head = {"span", sizeof(struct packed_span), sizeof(struct packed_span), of_head};

void record_differ_span(const void *is, size_t is_size, const void *was, size_t was_size, char *text,
			size_t len)
{
	struct mf_span a = {0}, b = {0};
	unsigned int i = 0;

	if (was_size > 0 && record_unpack_span(was, was_size, &b) != 0) {
		snprintf(text, len, "what is recorded is no span");
		return;
	}
	if (is_size > 0)
		record_unpack_span(is, is_size, &a);
	if (a.count != b.count || is_size == 0 || was_size == 0) {
		snprintf(text, len, "%u blocks, were %u", a.count, b.count);
		return;
	}
	mf_item_differ(&head, is, head.packed, was, head.packed, text, len);
	if (text[0] != '\0')
		return;
	while (i + 1u < a.count && a.word[i] == b.word[i] && a.sync[i] == b.sync[i])
		i++;
	snprintf(text, len, "block %u is %u:%016" PRIx64 ", was %u:%016" PRIx64, i, a.sync[i], a.word[i],
		 b.sync[i], b.word[i]);
}
