/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What YCSB's binding "basic" prints of each operation, among other lines of YCSB:
 *
 *   READ usertable user7 [ <all fields>]
 *   UPDATE usertable user7 [ field3=... ]
 *   SCAN usertable user7 12 [ <all fields>]
 *
 * The values of fields may be of any length, and of any octets. A READMODIFYWRITE is a READ and an UPDATE
 * there.
 */
#include <string.h>

#include "workload/trace_priv.h"

#define FIELDS "[" /* what stands in front of them */
#define KEY 2 /* columns */
#define LENGTH 3

/** Whether the first column is that of an operation, one that there is here or not. */
static bool is_operation(const char *s)
{
	return strcmp(s, "DELETE") == 0 || mf_query_kind_find(s) != MF_QUERY_KINDS;
}

static bool is(char **column, unsigned int columns)
{
	unsigned int fields = LENGTH + (strcmp(column[0], "SCAN") == 0);

	return columns > fields && is_operation(column[0]) && strcmp(column[fields], FIELDS) == 0;
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	enum mf_query_kind kind = mf_query_kind_find(column[0]);
	int rc;

	if (!is_operation(column[0]))
		return TRACE_SKIP;
	if (kind == MF_QUERY_KINDS)
		return mf_trace_fail(t, "there is no operation '%.32s'", column[0]);
	if (!is(column, columns))
		return mf_trace_fail(t, "after %s there is no table, key and [", column[0]);
	row->kind = (uint8_t)kind;
	rc = trace_key(t, column[KEY], row);
	if (rc == 0 && kind == MF_QUERY_SCAN)
		rc = trace_scan(t, column[LENGTH], row);
	return rc;
}

static const char *lacks(const struct mf_trace_row *row)
{
	(void)row;
	return "format ycsb-log is only read: write ycsb";
}

const struct trace_format trace_log = {
	.name = "ycsb-log",
	.separator = ' ',
	.columns = 1,
	.optional = TRACE_COLUMNS,
	.keyed = true,
	.loose = true,
	.is = is,
	.row = row,
	.lacks = lacks,
};
