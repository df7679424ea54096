/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow files of HPCC's simulator: how many, then src dst pg dport octets start, with blanks between and the
 * start in seconds. A flow carries octets one way: it is a write.
 */
#include <inttypes.h>
#include <string.h>

#include "trace_priv.h"

enum { GROUP = 3, PORT = 100 }; /* what HPCC's own generator writes */
#define GROUP_MAX 255

static bool is(char **column, unsigned int columns)
{
	return columns == 1 && column[0][strspn(column[0], "0123456789")] == '\0';
}

static int head(struct mf_trace *t, char **column, unsigned int columns)
{
	if (columns != 1)
		return mf_trace_fail(t, "%u columns, the first line of format hpcc is the number of flows",
				     columns);
	return trace_number(t, column[0], "number of flows", 1, INT64_MAX, &t->promised);
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	uint64_t group, port;
	mf_time start = 0;
	int rc = 0;

	(void)columns;
	if (t->rows == t->promised)
		rc = mf_trace_fail(t, "the first line says %" PRIu64 " flows, this is one more", t->promised);
	row->kind = MF_CLIENT_WRITE;
	if (rc == 0)
		rc = trace_src_dst(t, column[0], column[1], row);
	if (rc == 0)
		rc = trace_number(t, column[2], "priority group", 0, GROUP_MAX, &group);
	if (rc == 0)
		rc = trace_number(t, column[3], "port", 0, UINT16_MAX, &port);
	if (rc == 0)
		rc = trace_octets(t, column[4], row);
	if (rc == 0)
		rc = trace_seconds(t, column[5], "start", &start);
	return rc != 0 ? rc : trace_start(t, start, row);
}

static int end(struct mf_trace *t)
{
	if (t->rows == t->promised)
		return 0;
	return mf_trace_fail(t, "the file ends after %" PRIu64 " of %" PRIu64 " flows", t->rows, t->promised);
}

static const char *lacks(const struct mf_trace_row *row)
{
	return row->kind == MF_CLIENT_WRITE ? NULL : "a flow of format hpcc is a write";
}

static void put_head(FILE *file, uint64_t rows)
{
	fprintf(file, "%" PRIu64 "\n", rows);
}

static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	(void)number;
	fprintf(file, "%u %u %d %d %" PRIu32 " %" PRIu64 ".%012" PRIu64 "\n", row->src, row->dst, GROUP, PORT,
		row->octets, row->start / MF_SEC(1), row->start % MF_SEC(1));
}

const struct trace_format trace_hpcc = {.name = "hpcc",
					.separator = ' ',
					.columns = 6,
					.header = true,
					.is = is,
					.head = head,
					.row = row,
					.end = end,
					.lacks = lacks,
					.put_head = put_head,
					.put = put};
