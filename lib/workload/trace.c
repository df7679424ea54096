/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace from its opening to its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_priv.h"

static const struct trace_format *const formats[MF_TRACE_FORMATS] = {
	[MF_TRACE_MEMFAB] = &trace_memfab,
	[MF_TRACE_EDM] = &trace_edm,
	[MF_TRACE_YCSB] = &trace_ycsb,
	[MF_TRACE_HPCC] = &trace_hpcc,
};

const struct trace_format *trace_format_at(enum mf_trace_format format)
{
	return formats[format];
}

const char *mf_trace_format_name(enum mf_trace_format format)
{
	return (unsigned int)format < MF_TRACE_FORMATS ? formats[format]->name : NULL;
}

enum mf_trace_format mf_trace_format_find(const char *name)
{
	unsigned int i = 0;

	while (i < MF_TRACE_FORMATS && strcmp(formats[i]->name, name) != 0)
		i++;
	return (enum mf_trace_format)i;
}

bool mf_trace_keyed(enum mf_trace_format format)
{
	return formats[format]->keyed;
}

int mf_trace_fail(struct mf_trace *t, const char *format, ...)
{
	size_t n;
	va_list args;

	n = (size_t)snprintf(t->error, sizeof(t->error), "%s:%llu: ", t->name, (unsigned long long)t->line);
	va_start(args, format);
	vsnprintf(t->error + n, sizeof(t->error) - n, format, args);
	va_end(args);
	t->over = true;
	return -EINVAL;
}

const char *mf_trace_error(const struct mf_trace *t)
{
	return t->error;
}

enum mf_trace_format mf_trace_format(const struct mf_trace *t)
{
	unsigned int i = 0;

	while (formats[i] != t->format)
		i++;
	return (enum mf_trace_format)i;
}

uint64_t mf_trace_line(const struct mf_trace *t)
{
	return t->line;
}

uint64_t mf_trace_digest(const struct mf_trace *t)
{
	return XXH64_digest(t->digest);
}

/** The format of the first line, which is then a row still, or a header. */
static int detect(struct mf_trace *t)
{
	char copy[MF_TRACE_LINE], *column[TRACE_COLUMNS];

	for (unsigned int i = 0; i < MF_TRACE_FORMATS; i++) {
		const struct trace_format *f = formats[i];

		memcpy(copy, t->text, sizeof(copy));
		if (f->is(column, trace_cut(copy, f->separator, column))) {
			t->format = f;
			return 0;
		}
	}
	return mf_trace_fail(t, "this is a line of none of the formats: memfab, edm, ycsb, hpcc");
}

/** The first line; what is a row of it is read again by the first mf_trace_next(). */
static int first(struct mf_trace *t)
{
	char *column[TRACE_COLUMNS];
	int rc = trace_line(t);

	if (rc == 0) {
		t->line = 1;
		return mf_trace_fail(t, "the file is empty");
	}
	if (rc > 0)
		rc = t->format == NULL ? detect(t) : 0;
	if (rc < 0)
		return rc;
	t->again = !t->format->header;
	if (!t->format->header)
		return 0;
	return t->format->head(t, column, trace_cut(t->text, t->format->separator, column));
}

/** The name of a file may say what it likes. */
static void put_name(struct mf_trace *t, const char *name)
{
	snprintf(t->name, sizeof(t->name), "%s", name);
	for (char *c = t->name; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

int mf_trace_of(struct mf_trace **trace, ssize_t (*fill)(void *ctx, void *buf, size_t room), void *ctx,
		const char *name, enum mf_trace_format format, char *err, size_t errlen)
{
	struct mf_trace *t = malloc(sizeof(*t));
	int rc = -ENOMEM;

	*trace = NULL;
	if (t != NULL) {
		memset(t, 0, offsetof(struct mf_trace, error));
		t->fill = fill;
		t->ctx = ctx;
		t->fd = -1;
		t->promised = UINT64_MAX;
		t->format = format < MF_TRACE_FORMATS ? formats[format] : NULL;
		t->error[0] = '\0';
		put_name(t, name);
		t->digest = XXH64_createState();
	}
	if (t == NULL || t->digest == NULL) {
		snprintf(err, errlen, "%s: %s", name, strerror(ENOMEM));
	} else {
		XXH64_reset(t->digest, 0);
		rc = first(t);
		if (rc != 0)
			snprintf(err, errlen, "%s", t->error);
	}
	if (rc != 0)
		mf_trace_close(t);
	else
		*trace = t;
	return rc;
}

static ssize_t read_file(void *ctx, void *buf, size_t room)
{
	ssize_t n;

	do
		n = read(*(const int *)ctx, buf, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/** A regular file: nothing that blocks, and it can be read twice. @return descriptor or -errno */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) != 0 ? -errno : 0;
	if (rc == 0 && !S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

int mf_trace_open(struct mf_trace **trace, const char *path, enum mf_trace_format format, char *err,
		  size_t errlen)
{
	int fd = open_file(path), rc;

	*trace = NULL;
	if (fd < 0) {
		snprintf(err, errlen, "%s: %s", path,
			 fd == -EINVAL ? "is not a regular file" : strerror(-fd));
		return fd;
	}
	rc = mf_trace_of(trace, read_file, &fd, path, format, err, errlen);
	if (rc != 0) {
		close(fd);
		return rc;
	}
	(*trace)->fd = fd;
	(*trace)->ctx = &(*trace)->fd;
	return 0;
}

void mf_trace_close(struct mf_trace *t)
{
	if (t == NULL)
		return;
	if (t->fd >= 0)
		close(t->fd);
	XXH64_freeState(t->digest);
	free(t);
}

static int end(struct mf_trace *t)
{
	t->over = true;
	if (t->rows == 0)
		return mf_trace_fail(t, "there is no message behind this line");
	return t->format->end != NULL ? t->format->end(t) : 0;
}

static int parse(struct mf_trace *t, struct mf_trace_row *row)
{
	const struct trace_format *f = t->format;
	char *column[TRACE_COLUMNS];
	unsigned int n = trace_cut(t->text, f->separator, column);
	int rc;

	if (n < f->columns || n > f->columns + f->optional)
		return mf_trace_fail(t, "%s%u columns, a line of format %s has %u",
				     n == TRACE_COLUMNS ? "at least " : "", n, f->name, f->columns);
	*row = (struct mf_trace_row){0};
	rc = f->row(t, column, n, row);
	if (rc != 0)
		return rc;
	t->rows++;
	return 1;
}

int mf_trace_next(struct mf_trace *t, struct mf_trace_row *row)
{
	int rc;

	if (t->over)
		return t->error[0] != '\0' ? -EINVAL : 0;
	rc = t->again ? 1 : trace_line(t);
	t->again = false;
	if (rc < 0)
		return rc;
	return rc == 0 ? end(t) : parse(t, row);
}

const char *mf_trace_lacks(enum mf_trace_format format, const struct mf_trace_row *row)
{
	return formats[format]->lacks(row);
}

void mf_trace_begin(struct mf_trace_out *out, FILE *file, enum mf_trace_format format, uint64_t rows)
{
	*out = (struct mf_trace_out){.file = file, .format = format};
	if (formats[format]->header)
		formats[format]->put_head(file, rows);
}

void mf_trace_put(struct mf_trace_out *out, const struct mf_trace_row *row)
{
	formats[out->format]->put(out->file, out->rows++, row);
}
