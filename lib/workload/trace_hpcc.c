/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow files of HPCC's simulator and those that were made of it (PowerTCP, SRNIC, ConWeave): how many, then
 * src dst pg dport octets start, with blanks between and the start in seconds. ConWeave's rows have no dport.
 * A flow carries octets one way: it is a write.
 *
 * As in those simulators only as many rows are read as the first line says. After them there may stand more
 * of them, or an explanation of the format.
 */
#include <inttypes.h>
#include <string.h>

#include "workload/trace_priv.h"

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

/** Older simulators of the family have packets, start and end there, and do not say how long a packet is. */
static int check_packets(struct mf_trace *t, char **column)
{
	if (strchr(column[4], '.') == NULL)
		return 0;
	return mf_trace_fail(
		t,
		"column 5, '%.32s', is not a size in bytes: a row that ends with packets, start and "
		"end does not say how long a packet is",
		column[4]);
}

static int row(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row)
{
	unsigned int octets = columns - 2;
	uint64_t group, port;
	mf_time start = 0;
	int rc = trace_src_dst(t, column[0], column[1], row);

	row->kind = MF_CLIENT_WRITE;
	if (rc == 0)
		rc = trace_number(t, column[2], "priority group", 0, GROUP_MAX, &group);
	if (rc == 0 && octets == 4)
		rc = check_packets(t, column);
	if (rc == 0 && octets == 4)
		rc = trace_number(t, column[3], "port", 0, UINT16_MAX, &port);
	if (rc == 0)
		rc = trace_octets(t, column[octets], row);
	if (rc == 0)
		rc = trace_seconds(t, column[octets + 1], "start", &start);
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
	if (row->has_addr)
		return "format hpcc has no addresses";
	return row->kind == MF_CLIENT_WRITE ? NULL : "a flow of format hpcc is a write";
}

static void put_head(FILE *file, uint64_t rows, bool addr)
{
	(void)addr;
	fprintf(file, "%" PRIu64 "\n", rows);
}

static void put(FILE *file, uint64_t number, const struct mf_trace_row *row)
{
	(void)number;
	fprintf(file, "%u %u %d %d %" PRIu64 " %" PRIu64 ".%012" PRIu64 "\n", row->src, row->dst, GROUP, PORT,
		row->octets, row->start / MF_SEC(1), row->start % MF_SEC(1));
}

const struct trace_format trace_hpcc = {.name = "hpcc",
					.separator = ' ',
					.columns = 5,
					.optional = 1,
					.header = true,
					.is = is,
					.head = head,
					.row = row,
					.end = end,
					.lacks = lacks,
					.put_head = put_head,
					.put = put};
