/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading records: nothing of a damaged one is handed on. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/mf_record.h"

static int refuse(struct record_reader *r, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct record_reader *r, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->err, sizeof(r->err), format, args);
	va_end(args);
	return err;
}

/** The first line of a file is not that of a record of this program. */
static int refuse_magic(struct record_reader *r, const char *magic)
{
	const size_t number = sizeof(RECORD_MAGIC) - 3; /* two digits are the end of it */
	char digits[3];
	size_t n;

	snprintf(digits, sizeof(digits), "%.2s", magic + number);
	n = strcspn(digits, "\n"); /* formats of one digit had the end of a line behind it */
	digits[n] = '\0';
	if (memcmp(magic, RECORD_MAGIC, number) != 0 || n == 0 || strspn(digits, "0123456789") != n)
		return refuse(r, -EINVAL, "is no record");
	return refuse(r, -EINVAL, "is a record in format %s, of another version of memfab: this one has %s",
		      digits, &RECORD_MAGIC[number]);
}

/** Whether the name of its role may be shown: the file may be anybody's. */
static bool is_name(const struct record_header *h)
{
	size_t n = 0;

	while (n < sizeof(h->role) && isgraph((unsigned char)h->role[n]))
		n++;
	return n > 0 && n < sizeof(h->role) && h->role[n] == '\0';
}

static int read_header(struct record_reader *r, const char *role, uint32_t config)
{
	struct record_header h;

	if (fread(&h, sizeof(h), 1, r->file) != 1)
		return refuse(r, -EINVAL, "is no record");
	if (memcmp(h.magic, RECORD_MAGIC, sizeof(h.magic)) != 0)
		return refuse_magic(r, h.magic);
	if (h.check != record_header_check(&h))
		return refuse(r, -EINVAL, "its header is damaged");
	if (strncmp(h.role, role, sizeof(h.role)) != 0)
		return is_name(&h) ? refuse(r, -EINVAL, "is the record of %s", h.role)
				   : refuse(r, -EINVAL, "is the record of another role");
	if (h.config != config)
		return refuse(r, -EINVAL,
			      "was recorded with another fabric file, --duration, --warmup or --seed");
	return 0;
}

int record_reader_open(struct record_reader *r, const char *dir, const char *role, uint32_t config)
{
	char path[4096];
	int err;

	record_path(path, sizeof(path), dir, role);
	r->number = 0;
	r->file = fopen(path, "rb");
	if (r->file == NULL) {
		err = errno;
		return refuse(r, -err, "cannot be read: %s", strerror(err));
	}
	err = read_header(r, role, config);
	if (err != 0)
		record_reader_close(r);
	return err;
}

void record_reader_close(struct record_reader *r)
{
	if (r->file != NULL)
		fclose(r->file);
	r->file = NULL;
}

static int cut_off(struct record_reader *r)
{
	if (ferror(r->file))
		return refuse(r, -EIO, "entry %" PRIu64 " cannot be read", r->number);
	return refuse(r, -EINVAL, "is cut off at entry %" PRIu64, r->number);
}

int record_next(struct record_reader *r)
{
	struct record_entry *e = &r->now.entry;

	if (fread(e, sizeof(*e), 1, r->file) != 1)
		return cut_off(r);
	if (e->size > sizeof(r->now.data))
		return refuse(r, -EINVAL, "entry %" PRIu64 " is damaged: %" PRIu32 " octets of data",
			      r->number, e->size);
	if (e->size > 0 && fread(r->now.data, e->size, 1, r->file) != 1)
		return cut_off(r);
	if (e->check != record_check(&r->now) || e->number != (uint32_t)r->number)
		return refuse(r, -EINVAL, "entry %" PRIu64 " is damaged", r->number);
	if (e->call == RECORD_END) {
		if (fgetc(r->file) != EOF)
			return refuse(r, -EINVAL, "goes on behind its end");
		return 0;
	}
	r->number++;
	return 1;
}
