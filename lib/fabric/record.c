/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define MAGIC "memfab record 1\n"

struct record {
	FILE *file;
	char buffer[1 << 20];
};

struct packed_span {
	mf_time start;
	uint32_t period;
	uint16_t count, flags;
	/* count words, count sync headers */
};

struct record *record_open(const char *dir, const char *role)
{
	struct record *r = malloc(sizeof(*r));
	char path[4096];

	if (r == NULL)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s.rec", dir, role);
	r->file = fopen(path, "wb");
	if (r->file == NULL) {
		free(r);
		return NULL;
	}
	setvbuf(r->file, r->buffer, _IOFBF, sizeof(r->buffer));
	fwrite(MAGIC, 1, strlen(MAGIC), r->file);
	return r;
}

int record_close(struct record *r)
{
	int err = 0;

	if (r == NULL)
		return 0;
	if (ferror(r->file))
		err = -EIO;
	if (fclose(r->file) != 0)
		err = -EIO;
	free(r);
	return err;
}

void record_call(struct record *r, enum record_call call, unsigned int count, mf_time now, const void *data,
		 size_t size)
{
	const struct record_entry e = {
		.call = (uint8_t)call, .count = (uint16_t)count, .size = (uint32_t)size, .now = now};

	fwrite(&e, sizeof(e), 1, r->file);
	if (size > 0)
		fwrite(data, 1, size, r->file);
}

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
	struct packed_span p;
	const uint8_t *from = data;

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

void record_span(struct record *r, enum record_call call, unsigned int port, mf_time now,
		 const struct mf_span *span)
{
	uint8_t packed[RECORD_SPAN_MAX];

	record_call(r, call, port, now, packed, record_pack_span(span, packed));
}

int record_next(FILE *file, struct record_entry *entry, void *data, size_t max)
{
	char magic[sizeof(MAGIC) - 1];

	if (ftell(file) == 0 && (fread(magic, 1, sizeof(magic), file) != sizeof(magic) ||
				 memcmp(magic, MAGIC, sizeof(magic)) != 0))
		return -EINVAL;
	if (fread(entry, sizeof(*entry), 1, file) != 1)
		return feof(file) ? 0 : -EIO;
	if (entry->size > max)
		return -EINVAL;
	if (fread(data, 1, entry->size, file) != entry->size)
		return -EINVAL;
	return 1;
}
