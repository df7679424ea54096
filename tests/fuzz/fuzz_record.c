/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the records that --replay reads: behind an octet that says whether the checks are made right, a
 * file. What is read is unpacked as a replay does, which has to give what packs to the same again.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/mf_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define CONFIG 0x12345678
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

static void unpack(const struct record_buffer *b)
{
	static struct mf_span span;
	static uint8_t again[RECORD_DATA_MAX];
	struct mf_sched_msg msg;
	struct mf_sched_grant grant;
	uint32_t size = b->entry.size;

	switch (b->entry.call) {
	case RECORD_RX:
		if (record_unpack_span(b->data, size, &span) == 0)
			require(record_pack_span(&span, again) == size && memcmp(again, b->data, size) == 0);
		break;
	case RECORD_INPUT:
		if (record_unpack_msg(b->data, size, &msg) == 0)
			require(record_pack_msgs(&msg, 1, again) == size);
		break;
	case RECORD_GRANT:
		if (record_unpack_grant(b->data, size, &grant) == 0)
			require(record_pack_grants(&grant, 1, again) == size);
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
