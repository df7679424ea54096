/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace from its opening to its end. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "workload/trace_priv.h"

static const struct trace_format *const formats[MF_TRACE_FORMATS] = {
	[MF_TRACE_MEMFAB] = &trace_memfab, [MF_TRACE_EDM] = &trace_edm, [MF_TRACE_YCSB] = &trace_ycsb,
	[MF_TRACE_HPCC] = &trace_hpcc,     [MF_TRACE_LOG] = &trace_log,
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

const char *mf_trace_note(const struct mf_trace *t)
{
	return t->note[0] != '\0' ? t->note : NULL;
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

/** Whether a text is a line of this format. */
static bool is_of(const struct trace_format *f, const char *text)
{
	char copy[MF_TRACE_LINE], *column[TRACE_COLUMNS];

	snprintf(copy, sizeof(copy), "%s", text);
	return f->is(column, trace_cut(copy, f->separator, column));
}

/** The format of the first line, which is then a row still, or a header. */
static int detect(struct mf_trace *t)
{
	for (unsigned int i = 0; i < MF_TRACE_FORMATS; i++) {
		if (!formats[i]->loose && is_of(formats[i], t->text)) {
			t->format = formats[i];
			return 0;
		}
	}
	return mf_trace_fail(t, "this is a line of none of the formats: " MF_TRACE_FORMAT_NAMES);
}

/** A log begins with lines of any kind, so one is looked for among the first lines. */
static void detect_log(struct mf_trace *t)
{
	const char *line = t->buffer, *end = t->buffer + t->to, *next;

	for (trace_fill(t), end = t->buffer + t->to; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		char text[MF_TRACE_LINE];

		next = stop != NULL ? stop + 1 : end;
		snprintf(text, sizeof(text), "%.*s", (int)(stop != NULL ? stop - line : end - line), line);
		if (is_of(&trace_log, text)) {
			t->format = &trace_log;
			return;
		}
	}
}

/** The first line; what is a row of it is read again by the first mf_trace_next(). */
static int first(struct mf_trace *t)
{
	char *column[TRACE_COLUMNS];
	int rc;

	if (t->format == NULL)
		detect_log(t);
	rc = trace_line(t);
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

/** Before the first line; format, file and name stay. */
static void begin(struct mf_trace *t)
{
	t->from = t->to = 0;
	t->ended = t->over = t->again = t->inside = false;
	t->failed = 0;
	t->line = t->blank = t->rows = t->left = 0;
	t->promised = UINT64_MAX;
	t->width = 0;
	t->last = 0;
	t->error[0] = t->note[0] = '\0';
	XXH64_reset(t->digest, 0);
}

/** @return NULL: no memory */
static struct mf_trace *new_trace(const char *name, enum mf_trace_format format)
{
	struct mf_trace *t = malloc(sizeof(*t));

	if (t == NULL)
		return NULL;
	t->format = format < MF_TRACE_FORMATS ? formats[format] : NULL;
	t->file = NULL;
	put_name(t, name);
	t->digest = XXH64_createState();
	if (t->digest != NULL) {
		begin(t);
		return t;
	}
	free(t);
	return NULL;
}

int mf_trace_of(struct mf_trace **trace, ssize_t (*fill)(void *ctx, void *buf, size_t room), void *ctx,
		const char *name, enum mf_trace_format format, char *err, size_t errlen)
{
	struct mf_trace *t = new_trace(name, format);
	int rc;

	*trace = NULL;
	if (t == NULL) {
		snprintf(err, errlen, "%s: %s", name, strerror(ENOMEM));
		return -ENOMEM;
	}
	t->fill = fill;
	t->ctx = ctx;
	rc = first(t);
	if (rc == 0) {
		*trace = t;
		return 0;
	}
	snprintf(err, errlen, "%s", t->error);
	mf_trace_close(t);
	return rc;
}

int mf_trace_open(struct mf_trace **trace, const char *path, enum mf_trace_format format, bool again,
		  char *err, size_t errlen)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	struct trace_file *file;
	int rc = trace_file_open(&file, path, again, err, errlen);

	*trace = NULL;
	if (rc != 0)
		return rc;
	rc = mf_trace_of(trace, trace_file_read, file, name, format, err, errlen);
	if (rc == 0)
		(*trace)->file = file;
	else
		trace_file_close(file);
	return rc;
}

int mf_trace_rewind(struct mf_trace *t)
{
	int rc = trace_file_rewind(t->file);

	begin(t);
	if (rc == 0)
		return first(t);
	mf_trace_fail(t, "cannot be read again: %s", strerror(-rc));
	return rc;
}

void mf_trace_close(struct mf_trace *t)
{
	if (t == NULL)
		return;
	trace_file_close(t->file);
	XXH64_freeState(t->digest);
	free(t);
}

/** As many rows as the header says have been read: what stands after them is not looked at. */
static int enough(struct mf_trace *t)
{
	int64_t lines = trace_rest(t);

	if (lines < 0)
		return (int)lines;
	t->over = true;
	if (lines > 0)
		snprintf(t->note, sizeof(t->note),
			 "%s: the first line says %" PRIu64 " flows: %" PRId64
			 " line%s after them %s left out",
			 t->name, t->promised, lines, lines == 1 ? "" : "s", lines == 1 ? "is" : "are");
	return 0;
}

static int end(struct mf_trace *t)
{
	t->over = true;
	if (t->rows == 0)
		return mf_trace_fail(t, t->left > 0 ? "there is no message among the lines"
						    : "there is no message after this line");
	if (t->left > 0)
		snprintf(t->note, sizeof(t->note), "%s: %" PRIu64 " line%s no operation and %s left out",
			 t->name, t->left, t->left == 1 ? " is" : "s are", t->left == 1 ? "is" : "are");
	return t->format->end != NULL ? t->format->end(t) : 0;
}

/** "6" or "5 or 6" */
static const char *put_columns(char text[32], const struct trace_format *f)
{
	if (f->optional == 0)
		snprintf(text, 32, "%u", f->columns);
	else
		snprintf(text, 32, "%u or %u", f->columns, f->columns + f->optional);
	return text;
}

static int parse(struct mf_trace *t, struct mf_trace_row *row)
{
	const struct trace_format *f = t->format;
	char *column[TRACE_COLUMNS], text[32];
	unsigned int n = trace_cut(t->text, f->separator, column);
	int rc;

	if (t->width != 0 && n != t->width && n < TRACE_COLUMNS)
		return mf_trace_fail(t, "%u columns, and the first line has %u", n, t->width);
	if (n < f->columns || n > f->columns + f->optional)
		return mf_trace_fail(t, "%s%u columns, a line of format %s has %s",
				     n == TRACE_COLUMNS ? "at least " : "", n, f->name, put_columns(text, f));
	*row = (struct mf_trace_row){0};
	rc = f->row(t, column, n, row);
	if (rc != 0)
		return rc == TRACE_SKIP ? 0 : rc;
	t->rows++;
	return 1;
}

int mf_trace_next(struct mf_trace *t, struct mf_trace_row *row)
{
	if (t->over)
		return t->error[0] != '\0' ? -EINVAL : 0;
	if (t->rows == t->promised)
		return enough(t);
	for (;; t->left++) {
		int rc = t->again ? 1 : trace_line(t);

		t->again = false;
		if (rc == 0)
			return end(t);
		if (rc > 0)
			rc = parse(t, row);
		if (rc != 0)
			return rc;
	}
}

const char *mf_trace_lacks(enum mf_trace_format format, const struct mf_trace_row *row)
{
	return formats[format]->lacks(row);
}

void mf_trace_begin(struct mf_trace_out *out, FILE *file, enum mf_trace_format format, uint64_t rows,
		    bool addr)
{
	*out = (struct mf_trace_out){.file = file, .format = format};
	if (formats[format]->header)
		formats[format]->put_head(file, rows, addr);
}

void mf_trace_put(struct mf_trace_out *out, const struct mf_trace_row *row)
{
	formats[out->format]->put(out->file, out->rows++, row);
}
