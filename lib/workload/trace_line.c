/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a file of any length, and their columns. */
#include <errno.h>
#include <string.h>

#include "base/mf_file_type.h"

#include "workload/trace_priv.h"

#define BLANK_MAX 64 /* lines */

/** What was not given out is moved to the front, and more is read after it. */
static void refill(struct mf_trace *t)
{
	ssize_t n;

	memmove(t->buffer, t->buffer + t->from, t->to - t->from);
	t->to -= t->from;
	t->from = 0;
	n = t->fill(t->ctx, t->buffer + t->to, sizeof(t->buffer) - t->to);
	t->ended = n <= 0;
	t->failed = n < 0 ? (int)n : 0;
	if (n <= 0)
		return;
	XXH64_update(t->digest, t->buffer + t->to, (size_t)n);
	t->to += (uint32_t)n;
}

void trace_fill(struct mf_trace *t)
{
	while (!t->ended && t->to - t->from < sizeof(t->buffer))
		refill(t);
}

/** All that there was has been given out. @return 0 or -errno */
static int ended(struct mf_trace *t)
{
	if (t->failed != 0)
		mf_trace_fail(t, "cannot be read: %s", strerror(-t->failed));
	return t->failed;
}

int64_t trace_rest(struct mf_trace *t)
{
	bool text = false;
	int64_t lines = 0;

	for (;; refill(t)) {
		for (; t->from < t->to; t->from++) {
			char c = t->buffer[t->from];

			lines += c == '\n' && text;
			text = c != '\n' && (text || (c != ' ' && c != '\t' && c != '\r'));
		}
		if (t->ended)
			break;
	}
	return t->failed != 0 ? ended(t) : lines + text;
}

/** Plain ASCII with blanks and tabulators. */
static int check_text(struct mf_trace *t, const char *line, size_t len)
{
	const char *other = t->line == 1 ? mf_file_type(line, len) : NULL;

	for (size_t i = 0; i < len; i++) {
		uint8_t octet = (uint8_t)line[i];

		if ((octet < ' ' && octet != '\t') || octet > '~')
			return mf_trace_fail(t, "is not text: octet 0x%02x at column %zu%s%s", octet, i + 1,
					     other != NULL ? ": " : "", other != NULL ? other : "");
	}
	return 0;
}

/** Of a loose line no more than its beginning is kept, and of that what is text. */
static void take_loose(struct mf_trace *t, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		t->text[i] = (line[i] >= ' ' && line[i] <= '~') || line[i] == '\t' ? line[i] : '?';
	t->text[len] = '\0';
}

static int take(struct mf_trace *t, const char *line, size_t len)
{
	int rc;

	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (t->format != NULL && t->format->loose) {
		take_loose(t, line, len);
		return 1;
	}
	rc = check_text(t, line, len);
	if (rc != 0)
		return rc;
	memcpy(t->text, line, len);
	t->text[len] = '\0';
	return 1;
}

/** What is no text is refused by what there is of it, however long it goes on. */
static int take_long(struct mf_trace *t, const char *line)
{
	int rc;

	if (t->format != NULL && t->format->loose) {
		t->inside = true;
		t->from += MF_TRACE_LINE - 1;
		return take(t, line, MF_TRACE_LINE - 1);
	}
	rc = check_text(t, line, MF_TRACE_LINE);
	return rc != 0 ? rc : mf_trace_fail(t, "is longer than %u octets", MF_TRACE_LINE - 1);
}

/** The rest of a line that was cut. */
static void pass_over(struct mf_trace *t)
{
	while (t->inside && (t->from < t->to || !t->ended)) {
		char *end = memchr(t->buffer + t->from, '\n', t->to - t->from);

		t->inside = end == NULL;
		t->from = end != NULL ? (uint32_t)(end + 1 - t->buffer) : t->to;
		if (t->inside && !t->ended)
			refill(t);
	}
}

/** One line, blank or not. */
static int any_line(struct mf_trace *t)
{
	pass_over(t);
	for (;;) {
		const char *line = t->buffer + t->from;
		size_t there = t->to - t->from, most = there < MF_TRACE_LINE ? there : MF_TRACE_LINE;
		const char *end = memchr(line, '\n', most);
		bool last = t->ended && t->failed == 0 && there > 0 && most < MF_TRACE_LINE;

		if (end != NULL || last) {
			size_t len = end != NULL ? (size_t)(end - line) : there;

			t->from += (uint32_t)(len + (end != NULL));
			t->line++;
			return take(t, line, len);
		}
		if (most == MF_TRACE_LINE) {
			t->line++;
			return take_long(t, line);
		}
		if (t->ended)
			return ended(t);
		refill(t);
	}
}

/** There may be blank lines at the end of a file, but not for ever. */
int trace_line(struct mf_trace *t)
{
	for (;;) {
		int rc = any_line(t);

		if (rc <= 0)
			return rc;
		if (t->text[strspn(t->text, " \t")] != '\0' || (t->format != NULL && t->format->loose))
			break;
		if (t->blank == 0)
			t->blank = t->line;
		if (t->line - t->blank == BLANK_MAX)
			break;
	}
	if (t->blank == 0)
		return 1;
	t->line = t->blank;
	return mf_trace_fail(t, "is blank");
}

static char *strip(char *s, char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return s + strspn(s, " \t");
}

unsigned int trace_cut(char *text, char separator, char *column[TRACE_COLUMNS])
{
	const char *stop = separator == ' ' ? " \t" : ",";
	unsigned int n = 0;
	char *s = text;

	if (separator == ' ')
		s = strip(s, s + strlen(s));
	while (n < TRACE_COLUMNS) {
		char *end = s + strcspn(s, stop);
		bool last = *end == '\0';

		column[n++] = strip(s, end);
		if (last)
			break;
		s = end + 1;
		if (separator == ' ')
			s += strspn(s, stop);
	}
	return n;
}
