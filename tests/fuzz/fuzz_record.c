/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the records that --replay reads: behind an octet that says whether the checks are made right, a
 * file. What is read is unpacked as a replay does, which has to give what packs to the same again. By an odd
 * channel come grants, by an even one descriptors.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/mf_record.h"
#include "systems/edm/sched/mf_sched.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define CONFIG 0x12345678
#define NODES 3
#define LARGEST (1 << 16)

static char folder[] = "/tmp/fuzz_record_XXXXXX";
static char path[64];

static void require(bool good)
{
	if (!good)
		abort();
}

static void clean(void)
{
	unlink(path);
	rmdir(folder);
}

static void seal(uint8_t *file, size_t len)
{
	static struct record_buffer b;
	struct record_header h = {.magic = RECORD_MAGIC, .role = "cn0", .config = CONFIG};
	uint32_t number = 0;

	if (len < sizeof(h))
		return;
	h.check = record_header_check(&h);
	memcpy(file, &h, sizeof(h));
	for (size_t at = sizeof(h); len - at >= sizeof(b.entry); number++) {
		memcpy(&b.entry, file + at, sizeof(b.entry));
		if (b.entry.size > sizeof(b.data) || b.entry.size > len - at - sizeof(b.entry))
			return;
		memcpy(b.data, file + at + sizeof(b.entry), b.entry.size);
		b.entry.number = number;
		b.entry.check = record_check(&b);
		memcpy(file + at, &b.entry, sizeof(b.entry));
		at += sizeof(b.entry) + b.entry.size;
	}
}

static void unpack_item(const struct record_buffer *b)
{
	const struct mf_item *item = b->entry.channel & 1 ? &mf_sched_grant_item : &mf_sched_msg_item;
	static uint64_t unpacked[MF_ITEM_MAX / sizeof(uint64_t)];
	static uint8_t again[MF_ITEM_MAX];

	if (mf_item_unpack(item, b->data, b->entry.size, NODES, unpacked) == 0)
		require(mf_item_pack(item, unpacked, 1, again) == b->entry.size &&
			memcmp(again, b->data, b->entry.size) == 0);
}

static void unpack_span(const struct record_buffer *b)
{
	static struct mf_span span;
	static uint8_t again[RECORD_SPAN_MAX];
	uint32_t size = b->entry.size;

	if (record_unpack_span(b->data, size, &span) == 0)
		require(record_pack_span(&span, again) == size && memcmp(again, b->data, size) == 0);
}

/** Compared with what a run may have given: a span or items, that are whole. */
static void compare(const struct record_buffer *b)
{
	static const uint8_t zeros[RECORD_DATA_MAX];
	const struct mf_item *item = b->entry.channel & 1 ? &mf_sched_grant_item : &mf_sched_msg_item;
	uint32_t size = b->entry.size;
	char text[128] = "";

	if (b->entry.call == RECORD_TX)
		record_differ_span(zeros, size > 0 ? 16 : 0, b->data, size, text, sizeof(text));
	else
		mf_item_differ(item, zeros, size - size % item->packed, b->data, size, text, sizeof(text));
	require(strchr(text, '\n') == NULL);
}

static void unpack(const struct record_buffer *b)
{
	switch (b->entry.call) {
	case RECORD_RX:
		unpack_span(b);
		break;
	case RECORD_GIVE:
		unpack_item(b);
		break;
	case RECORD_TX:
	case RECORD_TAKE:
		compare(b);
		break;
	default:
		break;
	}
}

static void put_file(const uint8_t *octets, size_t len)
{
	FILE *out;

	if (path[0] == '\0') {
		require(mkdtemp(folder) != NULL);
		record_path(path, sizeof(path), folder, "cn0");
		atexit(clean);
	}
	out = fopen(path, "wb");
	require(out != NULL && fwrite(octets, 1, len, out) == len && fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct record_reader r;
	uint8_t *file;
	int rc;

	if (size == 0 || size > LARGEST)
		return 0;
	file = malloc(size);
	require(file != NULL);
	memcpy(file, input + 1, size - 1);
	if (input[0] & 1)
		seal(file, size - 1);
	put_file(file, size - 1);
	rc = record_reader_open(&r, folder, "cn0", CONFIG);
	if (rc == 0) {
		while ((rc = record_next(&r)) == 1)
			unpack(&r.now);
		record_reader_close(&r);
	}
	require(rc == 0 || (rc < 0 && r.err[0] != '\0' && strchr(r.err, '\n') == NULL));
	free(file);
	return 0;
}
