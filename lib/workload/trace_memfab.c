/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own format, which loses nothing: a header, then start_ps,kind,src,dst,octets,request_octets[,addr]. */
#include <inttypes.h>
#include <string.h>

#include "workload/trace_priv.h"

#define ATOMIC 8 /* octets of an RMW */

#define COLUMNS 6 /* and one more where it says where */

static const char *const header[] = {"start_ps", "kind", "src", "dst", "octets", "request_octets", "addr"};

static bool is(char **column, unsigned int columns)
{
	return (columns == COLUMNS || columns == COLUMNS + 1) && strcmp(column[0], header[0]) == 0;
}

static int head(struct mf_trace *t, char **column, unsigned int columns)
{
	bool same = columns == COLUMNS || columns == COLUMNS + 1;

	for (unsigned int i = 0; same && i < columns; i++)
		same = strcmp(column[i], header[i]) == 0;
	t->width = columns;
	return same ? 0
		    : mf_trace_fail(t, "the first line is not start_ps,kind,src,dst,octets,request_octets, "
				       "perhaps with ,addr");
}

static int read_addr(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	int rc = trace_number(t, s, "address", 0, MF_ADDR_MAX, &row->addr);

	row->has_addr = true;
	if (rc != 0)
		return rc;
	if (row->octets - 1 > MF_ADDR_MAX - row->addr)
		return mf_trace_fail(t, "%" PRIu64 " octets at address %" PRIu64 " end beyond 48 bits",
				     row->octets, row->addr);
	if (row->kind >= MF_CLIENT_CAS && row->addr % ATOMIC != 0)
		return mf_trace_fail(t, "address %" PRIu64 " of an atomic operation is no multiple of %d",
				     row->addr, ATOMIC);
	return 0;
}

static int read_kind(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	for (unsigned int k = 0; k < MF_CLIENT_CALL; k++) { /* traces have flat addresses, and so no calls */
		if (strcmp(s, mf_client_kind_name((enum mf_client_kind)k)) == 0) {
			row->kind = (uint8_t)k;
			return 0;
		}
	}
	return mf_trace_fail(t, "there is no kind '%.32s'", s);
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	uint64_t start, request = 0;
	int rc = trace_number(t, column[0], "start", 0, INT64_MAX, &start);

	if (rc == 0)
		rc = read_kind(t, column[1], row);
	if (rc == 0)
		rc = trace_src_dst(t, column[2], column[3], row);
	if (rc == 0)
		rc = trace_octets(t, column[4], row);
	if (rc == 0 && row->kind >= MF_CLIENT_CAS && row->octets != ATOMIC)
		rc = mf_trace_fail(t, "size %" PRIu64 " of an atomic operation is not %d", row->octets,
				   ATOMIC);
	if (rc == 0)
		rc = trace_number(t, column[5], "request size", 0, UINT32_MAX, &request);
	if (rc == 0 && columns > COLUMNS)
		rc = read_addr(t, column[COLUMNS], row);
	if (rc != 0)
		return rc;
	row->request = (uint32_t)request;
	return trace_start(t, start, row);
}

static const char *lacks(const struct mf_trace_row *row)
{
	return row->kind == MF_CLIENT_CALL ? "format memfab has no calls" : NULL;
}

static void put_head(FILE *file, uint64_t rows, bool addr)
{
	unsigned int columns = addr ? COLUMNS + 1 : COLUMNS;

	(void)rows;
	for (unsigned int i = 0; i < columns; i++)
		fprintf(file, "%s%c", header[i], i + 1 < columns ? ',' : '\n');
}

static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	(void)number;
	fprintf(file, "%" PRIu64 ",%s,%u,%u,%" PRIu64 ",%" PRIu32, row->start,
		mf_client_kind_name((enum mf_client_kind)row->kind), row->src, row->dst, row->octets,
		row->request);
	if (row->has_addr)
		fprintf(file, ",%" PRIu64, row->addr);
	fputc('\n', file);
}

const struct trace_format trace_memfab = {.name = "memfab",
					  .separator = ',',
					  .columns = COLUMNS,
					  .optional = 1,
					  .header = true,
					  .is = is,
					  .head = head,
					  .row = row,
					  .lacks = lacks,
					  .put_head = put_head,
					  .put = put};
