/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the data of an entry, and in what two of them differ. */
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

struct packed_msg {
	mf_time at;
	uint16_t src, dst;
	uint8_t kind, id, resp, mega;
	uint8_t request_blocks, excess;
	uint16_t behind;
	uint32_t size, cookie, zeros;
};

struct packed_grant {
	mf_time at, since;
	uint16_t src, dst;
	uint8_t id, resp, first, last;
	uint8_t mega, refused;
	uint16_t iteration;
	uint32_t size, cookie, zeros;
};

static_assert(sizeof(struct packed_span) + MF_SPAN_MAX * 9 == RECORD_SPAN_MAX, "without padding");
static_assert(sizeof(struct packed_msg) == RECORD_MSG, "without padding");
static_assert(sizeof(struct packed_grant) == RECORD_GRANT_SIZE, "without padding");

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

size_t record_pack_msgs(const struct mf_sched_msg *msg, unsigned int n, void *out)
{
	uint8_t *to = out;

	for (unsigned int i = 0; i < n; i++) {
		const struct mf_sched_msg *m = &msg[i];
		const struct packed_msg p = {
			.at = m->at,
			.src = m->src,
			.dst = m->dst,
			.kind = m->kind,
			.id = m->id,
			.resp = m->resp,
			.mega = m->mega,
			.request_blocks = m->request_blocks,
			.excess = m->excess,
			.behind = m->behind,
			.size = m->size,
			.cookie = m->cookie,
		};

		memcpy(to + i * sizeof(p), &p, sizeof(p));
	}
	return n * sizeof(struct packed_msg);
}

int record_unpack_msg(const void *data, size_t size, struct mf_sched_msg *msg)
{
	struct packed_msg p;

	if (size != sizeof(p))
		return -EINVAL;
	memcpy(&p, data, sizeof(p));
	*msg = (struct mf_sched_msg){
		.at = p.at,
		.src = p.src,
		.dst = p.dst,
		.kind = p.kind,
		.id = p.id,
		.resp = p.resp != 0,
		.mega = p.mega != 0,
		.request_blocks = p.request_blocks,
		.excess = p.excess != 0,
		.behind = p.behind,
		.size = p.size,
		.cookie = p.cookie,
	};
	return 0;
}

size_t record_pack_grants(const struct mf_sched_grant *grant, unsigned int n, void *out)
{
	uint8_t *to = out;

	for (unsigned int i = 0; i < n; i++) {
		const struct mf_sched_grant *g = &grant[i];
		const struct packed_grant p = {
			.at = g->at,
			.since = g->since,
			.src = g->src,
			.dst = g->dst,
			.id = g->id,
			.resp = g->resp,
			.first = g->first,
			.last = g->last,
			.mega = g->mega,
			.refused = g->size == 0 && g->refused,
			.iteration = g->iteration,
			.size = g->size,
			.cookie = g->cookie,
		};

		memcpy(to + i * sizeof(p), &p, sizeof(p));
	}
	return n * sizeof(struct packed_grant);
}

int record_unpack_grant(const void *data, size_t size, struct mf_sched_grant *grant)
{
	struct packed_grant p;

	if (size != sizeof(p))
		return -EINVAL;
	memcpy(&p, data, sizeof(p));
	*grant = (struct mf_sched_grant){
		.at = p.at,
		.since = p.since,
		.src = p.src,
		.dst = p.dst,
		.id = p.id,
		.resp = p.resp != 0,
		.first = p.first != 0,
		.last = p.last != 0,
		.mega = p.mega != 0,
		.refused = p.refused != 0,
		.iteration = p.iteration,
		.size = p.size,
		.cookie = p.cookie,
	};
	return 0;
}

/* Differences */

struct field {
	const char *name;
	uint8_t at, size;
};

#define FIELD(type, name)                                                     \
	{                                                                     \
#name, offsetof(type, name), sizeof(((const type *)0)->name), \
	}

static const struct field span_fields[] = {
	FIELD(struct packed_span, start),
	FIELD(struct packed_span, period),
	FIELD(struct packed_span, flags),
	{0},
};

static const struct field msg_fields[] = {
	FIELD(struct packed_msg, kind),
	FIELD(struct packed_msg, src),
	FIELD(struct packed_msg, dst),
	FIELD(struct packed_msg, id),
	FIELD(struct packed_msg, resp),
	FIELD(struct packed_msg, mega),
	FIELD(struct packed_msg, size),
	FIELD(struct packed_msg, cookie),
	FIELD(struct packed_msg, at),
	FIELD(struct packed_msg, behind),
	FIELD(struct packed_msg, excess),
	{"request_blocks", offsetof(struct packed_msg, request_blocks), 1},
	{0},
};

static const struct field grant_fields[] = {
	FIELD(struct packed_grant, src),       FIELD(struct packed_grant, dst),
	FIELD(struct packed_grant, id),        FIELD(struct packed_grant, resp),
	FIELD(struct packed_grant, size),      FIELD(struct packed_grant, cookie),
	FIELD(struct packed_grant, first),     FIELD(struct packed_grant, last),
	FIELD(struct packed_grant, mega),      FIELD(struct packed_grant, refused),
	FIELD(struct packed_grant, at),        FIELD(struct packed_grant, since),
	FIELD(struct packed_grant, iteration), {0},
};

static uint64_t value(const uint8_t *data, const struct field *f)
{
	uint64_t v = 0;

	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "any field as 64 bits");
	memcpy(&v, data + f->at, f->size);
	return v;
}

/** @return whether there is such a field */
static bool differ_fields(const struct field *f, const char *what, unsigned int number, const uint8_t *is,
			  const uint8_t *was, char *text, size_t len)
{
	for (; f->name != NULL; f++) {
		if (value(is, f) == value(was, f))
			continue;
		snprintf(text, len, "%s %u: %s is %" PRIu64 ", was %" PRIu64, what, number, f->name,
			 value(is, f), value(was, f));
		return true;
	}
	return false;
}

static void differ_span(const uint8_t *is, size_t is_size, const uint8_t *was, size_t was_size, char *text,
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
	if (a.count != b.count) {
		snprintf(text, len, "%u blocks, were %u", a.count, b.count);
		return;
	}
	if (is_size == 0 || was_size == 0 || differ_fields(span_fields, "span", 0, is, was, text, len))
		return;
	while (i + 1u < a.count && a.word[i] == b.word[i] && a.sync[i] == b.sync[i])
		i++;
	snprintf(text, len, "block %u is %u:%016" PRIx64 ", was %u:%016" PRIx64, i, a.sync[i], a.word[i],
		 b.sync[i], b.word[i]);
}

static void differ_items(const struct field *fields, const char *what, size_t size, const uint8_t *is,
			 size_t is_size, const uint8_t *was, size_t was_size, char *text, size_t len)
{
	if (is_size != was_size) {
		snprintf(text, len, "%zu %ss, were %zu", is_size / size, what, was_size / size);
		return;
	}
	for (size_t i = 0; i < is_size / size; i++)
		if (differ_fields(fields, what, (unsigned int)i, is + i * size, was + i * size, text, len))
			return;
	snprintf(text, len, "what is recorded is no %s", what);
}

void record_differ(enum record_call call, const void *is, size_t is_size, const void *was, size_t was_size,
		   char *text, size_t len)
{
	if (call == RECORD_TX)
		differ_span(is, is_size, was, was_size, text, len);
	else if (call == RECORD_TO_SCHED)
		differ_items(msg_fields, "descriptor", RECORD_MSG, is, is_size, was, was_size, text, len);
	else
		differ_items(grant_fields, "grant", RECORD_GRANT_SIZE, is, is_size, was, was_size, text, len);
}
