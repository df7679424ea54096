/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing records, and what reading them shares. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file/mf_output.h"
#include "pcs/mf_frame.h"
#include "record/mf_record.h"

struct record {
	struct mf_output output;
	FILE *file; /**< its stream */
	int error; /**< the first -errno of writing */
	uint32_t number;
	struct record_buffer now;
	char buffer[1 << 20];
};

void record_path(char *path, size_t len, const char *dir, const char *role)
{
	snprintf(path, len, "%s/%s.rec", dir, role);
}

uint32_t record_header_check(const struct record_header *h)
{
	return mf_fcs(h, offsetof(struct record_header, check));
}

static bool is_output(uint8_t call)
{
	return call == RECORD_TX || call == RECORD_TAKE;
}

uint32_t record_check(const struct record_buffer *b)
{
	struct record_entry head = b->entry;
	uint32_t check;

	head.check = 0;
	check = mf_fcs(&head, sizeof(head));
	return is_output(head.call) || head.size == 0 ? check : check ^ mf_fcs(b->data, head.size);
}

int record_folder(const char *dir)
{
	return mkdir(dir, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

static void put(struct record *r, const void *octets, size_t size)
{
	if (fwrite(octets, size, 1, r->file) != 1 && r->error == 0)
		r->error = errno != 0 ? -errno : -EIO;
}

static void write_header(struct record *r, const char *role, uint32_t config)
{
	struct record_header h = {.magic = RECORD_MAGIC, .config = config};

	strncpy(h.role, role, sizeof(h.role) - 1);
	h.check = record_header_check(&h);
	put(r, &h, sizeof(h));
}

struct record *record_open(const char *dir, const char *role, uint32_t config)
{
	struct record *r = calloc(1, sizeof(*r));
	char path[4096];
	int rc;

	if (r == NULL)
		return NULL;
	record_path(path, sizeof(path), dir, role);
	rc = mf_output_open(&r->output, path);
	if (rc != 0) {
		free(r);
		errno = -rc;
		return NULL;
	}
	r->file = r->output.file;
	setvbuf(r->file, r->buffer, _IOFBF, sizeof(r->buffer));
	write_header(r, role, config);
	return r;
}

int record_end(struct record *r)
{
	if (r == NULL)
		return 0;
	record_call(r, RECORD_END, 0, 0, NULL, 0);
	if (fflush(r->file) != 0 && r->error == 0)
		r->error = errno != 0 ? -errno : -EIO;
	return r->error;
}

int record_close(struct record *r, int rc)
{
	if (r == NULL)
		return rc;
	rc = mf_output_close(&r->output, rc);
	free(r); /* with the buffer of its stream */
	return rc;
}

/** @param size  of the data, which is there already */
static void put_entry(struct record *r, enum record_call call, unsigned int channel, unsigned int count,
		      mf_time now, size_t size)
{
	r->now.entry = (struct record_entry){
		.call = (uint8_t)call,
		.channel = (uint8_t)channel,
		.count = (uint16_t)count,
		.size = (uint32_t)size,
		.now = now,
		.number = r->number++,
	};
	r->now.entry.check = record_check(&r->now);
	put(r, &r->now, sizeof(r->now.entry) + size);
}

static void put_data(struct record *r, enum record_call call, unsigned int channel, unsigned int count,
		     mf_time now, const void *data, size_t size)
{
	assert(size <= sizeof(r->now.data));
	if (size > 0)
		memcpy(r->now.data, data, size);
	put_entry(r, call, channel, count, now, size);
}

void record_call(struct record *r, enum record_call call, unsigned int count, mf_time now, const void *data,
		 size_t size)
{
	put_data(r, call, 0, count, now, data, size);
}

void record_tx(struct record *r, unsigned int most, unsigned int port, mf_time now, const void *span,
	       size_t size)
{
	put_data(r, RECORD_TX, most, port, now, span, size);
}

void record_items(struct record *r, enum record_call call, unsigned int channel, unsigned int count,
		  mf_time now, const struct mf_item *item, const void *items, unsigned int n)
{
	assert(n <= RECORD_ITEMS_MAX && item->packed <= MF_ITEM_MAX);
	put_entry(r, call, channel, count, now, mf_item_pack(item, items, n, r->now.data));
}

void record_pool(struct record *r, enum record_call call, unsigned int pool, unsigned int port, mf_time now)
{
	put_entry(r, call, pool, port, now, 0);
}
