/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: any octets at all are either refused in one line, or what they say can be written and read again.
 * The first octet says the format that is asked for, and in what pieces the others come.
 */
#include <stdlib.h>
#include <string.h>

#include "workload/mf_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *data;
	size_t left, piece;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static ssize_t fill(void *ctx, void *buf, size_t room)
{
	struct source *s = ctx;
	size_t n = s->left < room ? s->left : room;

	n = n < s->piece ? n : s->piece;
	if (n > 0)
		memcpy(buf, s->data, n);
	s->data += n;
	s->left -= n;
	return (ssize_t)n;
}

static void check(const struct mf_trace_row *row, enum mf_trace_format format, mf_time last)
{
	if (mf_trace_keyed(format)) {
		require(row->kind < MF_QUERY_KINDS);
		return;
	}
	require(row->kind < MF_CLIENT_KINDS && row->octets > 0 && row->src != row->dst);
	require(row->start >= last && row->start <= INT64_MAX && row->octets <= MF_TRACE_OCTETS);
	require(mf_trace_lacks(format, row) == NULL);
	require(!row->has_addr || (row->addr + row->octets <= UINT64_C(1) << 48 &&
				   (row->kind < MF_CLIENT_CAS || row->addr % 8 == 0)));
}

/** @return whether all of it was read; what was, in *text if that is not NULL */
static bool read_all(struct source s, enum mf_trace_format format, char **text, size_t *len)
{
	char err[MF_TRACE_ERROR] = "";
	struct mf_trace_out out;
	struct mf_trace_row row;
	struct mf_trace *t;
	mf_time last = 0;
	FILE *file;
	bool addr;
	int rc;

	if (mf_trace_of(&t, fill, &s, "fuzz", format, err, sizeof(err)) != 0) {
		require(strncmp(err, "fuzz:", 5) == 0 && strchr(err, '\n') == NULL);
		return false;
	}
	file = open_memstream(text, len);
	require(file != NULL);
	/* A log is written as keys. */
	format = mf_trace_format(t) == MF_TRACE_LOG ? MF_TRACE_YCSB : mf_trace_format(t);
	rc = mf_trace_next(t, &row);
	addr = rc > 0 && row.has_addr;
	mf_trace_begin(&out, file, format, UINT64_MAX, addr);
	for (; rc > 0; rc = mf_trace_next(t, &row)) {
		require(row.has_addr == addr);
		check(&row, mf_trace_format(t), last);
		last = row.start;
		mf_trace_put(&out, &row);
	}
	require(fclose(file) == 0);
	require(rc == 0 || strncmp(mf_trace_error(t), "fuzz:", 5) == 0);
	mf_trace_close(t);
	if (rc != 0)
		free(*text);
	return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source s = {.data = data + 1, .left = size - 1};
	enum mf_trace_format format;
	char *once, *twice;
	size_t len, again;

	if (size == 0)
		return 0;
	format = (enum mf_trace_format)(data[0] % (MF_TRACE_FORMATS + 1));
	s.piece = 1 + data[0] / 8;
	if (!read_all(s, format, &once, &len))
		return 0;
	s = (struct source){.data = (uint8_t *)once, .left = len, .piece = 64};
	/* The number of flows stands in front, and was not known. */
	if (memcmp(once, "18446744073709551615\n", len < 21 ? len : 21) != 0) {
		require(read_all(s, MF_TRACE_AUTO, &twice, &again));
		require(len == again && memcmp(once, twice, len) == 0);
		free(twice);
	}
	free(once);
	return 0;
}
