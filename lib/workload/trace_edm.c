/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traces of EDM's artifact: id,type,src,dst,message bytes,read bytes,start slot. No header. Type 1 is a
 * read, which src asks for and dst answers: the message is the request, and the read bytes are its data. Type
 * 3 is a write from src to dst: the message is its data, and the read bytes are -1.
 */
#include <inttypes.h>
#include <string.h>

#include "workload/trace_priv.h"

enum { TYPE_READ = 1, TYPE_WRITE = 3 };
enum { REQUEST = 16 }; /* bytes of each request in what EDM's own generator writes */

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

/** memfab once wrote the data of a read as its message, and the request as the read bytes. */
static int read_sizes(struct mf_trace *t, char **column, struct mf_trace_row *row)
{
	uint64_t request;
	int rc = trace_number(t, column[4], "request size", 1, UINT32_MAX, &request);

	if (rc == 0 && request > REQUEST)
		rc = mf_trace_fail(t,
				   "column 5 of a read is its request: %" PRIu64
				   " bytes are more than %d. memfab "
				   "once wrote columns 5 and 6 of reads exchanged; to exchange them: "
				   "awk -F, -v OFS=, '$2==1{t=$5;$5=$6;$6=t}1' OLD >NEW",
				   request, REQUEST);
	if (rc != 0)
		return rc;
	row->request = (uint32_t)request;
	return trace_octets(t, column[5], row);
}

static int write_sizes(struct mf_trace *t, char **column, struct mf_trace_row *row)
{
	if (strcmp(column[5], "-1") != 0)
		return mf_trace_fail(t, "read bytes '%.32s' of a write are not -1", column[5]);
	return trace_octets(t, column[4], row);
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
		rc = row->kind == MF_CLIENT_READ ? read_sizes(t, column, row) : write_sizes(t, column, row);
	if (rc == 0)
		rc = trace_number(t, column[6], "start slot", 0, INT64_MAX / MF_TRACE_SLOT, &slot);
	return rc != 0 ? rc : trace_start(t, slot * MF_TRACE_SLOT, row);
}

static const char *lacks(const struct mf_trace_row *row)
{
	if (row->has_addr)
		return "format edm has no addresses";
	if (row->kind != MF_CLIENT_READ && row->kind != MF_CLIENT_WRITE)
		return "format edm has nothing but read and write";
	return row->request > REQUEST ? "a request of format edm has at most 16 bytes" : NULL;
}

/** A request whose size the trace does not say has that of EDM's generator. */
static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	uint64_t slot = row->start / MF_TRACE_SLOT;

	fprintf(file, "%" PRIu64 ",%d,%u,%u,", number, row->kind == MF_CLIENT_READ ? TYPE_READ : TYPE_WRITE,
		row->src, row->dst);
	if (row->kind == MF_CLIENT_READ)
		fprintf(file, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n",
			row->request > 0 ? row->request : REQUEST, row->octets, slot);
	else
		fprintf(file, "%" PRIu64 ",-1,%" PRIu64 "\n", row->octets, slot);
}

const struct trace_format trace_edm = {
	.name = "edm", .separator = ',', .columns = 7, .is = is, .row = row, .lacks = lacks, .put = put};
