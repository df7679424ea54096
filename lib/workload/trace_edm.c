/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traces of EDM's artifact: id,type,src,dst,octets,request octets,start slot. Type 1 is a read, which
 * src asks for and dst answers, 3 a write from src to dst; a write's request is -1. No header.
 */
#include <inttypes.h>
#include <string.h>

#include "trace_priv.h"

enum { TYPE_READ = 1, TYPE_WRITE = 3 };

static bool is(char **column, unsigned int columns)
{
	(void)column;
	return columns == 7;
}

static int read_type(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	if (strcmp(s, "1") != 0 && strcmp(s, "3") != 0)
		return mf_trace_fail(t, "type '%.32s' is neither 1 (read) nor 3 (write)", s);
	row->kind = *s == '1' ? MF_CLIENT_READ : MF_CLIENT_WRITE;
	return 0;
}

static int read_request(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	uint64_t request = 0;
	int rc;

	if (row->kind == MF_CLIENT_WRITE)
		return strcmp(s, "-1") == 0
			       ? 0
			       : mf_trace_fail(t, "request size '%.32s' of a write is not -1", s);
	rc = trace_number(t, s, "request size", 0, UINT32_MAX, &request);
	row->request = (uint32_t)request;
	return rc;
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	uint64_t id, slot = 0;
	int rc = trace_number(t, column[0], "id", 0, UINT64_MAX, &id);

	(void)columns;
	if (rc == 0)
		rc = read_type(t, column[1], row);
	if (rc == 0)
		rc = trace_src_dst(t, column[2], column[3], row);
	if (rc == 0)
		rc = trace_octets(t, column[4], row);
	if (rc == 0)
		rc = read_request(t, column[5], row);
	if (rc == 0)
		rc = trace_number(t, column[6], "start slot", 0, INT64_MAX / MF_TRACE_SLOT, &slot);
	return rc != 0 ? rc : trace_start(t, slot * MF_TRACE_SLOT, row);
}

static const char *lacks(const struct mf_trace_row *row)
{
	return row->kind == MF_CLIENT_READ || row->kind == MF_CLIENT_WRITE
		       ? NULL
		       : "format edm has nothing but read and write";
}

static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	bool read = row->kind == MF_CLIENT_READ;

	fprintf(file, "%" PRIu64 ",%d,%u,%u,%" PRIu32 ",%" PRId64 ",%" PRIu64 "\n", number,
		read ? TYPE_READ : TYPE_WRITE, row->src, row->dst, row->octets,
		read ? (int64_t)row->request : -1, row->start / MF_TRACE_SLOT);
}

const struct trace_format trace_edm = {
	.name = "edm", .separator = ',', .columns = 7, .is = is, .row = row, .lacks = lacks, .put = put};
