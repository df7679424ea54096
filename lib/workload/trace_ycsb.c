/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on keys as YCSB's tools write them: idx,OP,key, and for a SCAN perhaps its length. A key is a
 * number, with "user" in front as YCSB names its records, or without.
 */
#include <inttypes.h>
#include <string.h>

#include "workload/trace_priv.h"

static bool is(char **column, unsigned int columns)
{
	return (columns == 3 || columns == 4) && mf_query_kind_find(column[1]) != MF_QUERY_KINDS;
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	enum mf_query_kind kind = mf_query_kind_find(column[1]);
	uint64_t number;
	int rc = trace_number(t, column[0], "idx", 0, UINT64_MAX, &number);

	if (rc == 0 && kind == MF_QUERY_KINDS)
		rc = mf_trace_fail(t, "there is no operation '%.32s'", column[1]);
	if (rc == 0)
		rc = trace_key(t, column[2], row);
	if (rc == 0 && columns == 4 && kind != MF_QUERY_SCAN)
		rc = mf_trace_fail(t, "only a SCAN has a length");
	if (rc == 0 && columns == 4)
		rc = trace_scan(t, column[3], row);
	row->kind = (uint8_t)kind;
	return rc;
}

static const char *lacks(const struct mf_trace_row *row)
{
	(void)row;
	return NULL;
}

static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	fprintf(file, "%" PRIu64 ",%s,%" PRIu64, number, mf_query_kind_name((enum mf_query_kind)row->kind),
		row->key);
	if (row->octets > 0)
		fprintf(file, ",%" PRIu64, row->octets);
	fputc('\n', file);
}

const struct trace_format trace_ycsb = {.name = "ycsb",
					.separator = ',',
					.columns = 3,
					.optional = 1,
					.keyed = true,
					.is = is,
					.row = row,
					.lacks = lacks,
					.put = put};
