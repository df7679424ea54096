/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace that is written. All of it is looked at first: for the number that stands in front of flows, and
 * so that what is refused leaves nothing half written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "program.h"
#include "trace.h"

/** What the row is in the other format. @return NULL, or why it is not */
static const char *change(const struct options *o, struct mf_trace_row *row)
{
	if (o->reads_as_flows && row->kind == MF_CLIENT_READ) {
		uint16_t memory = row->dst;

		row->dst = row->src;
		row->src = memory;
		row->kind = MF_CLIENT_WRITE;
		row->request = 0;
	}
	return mf_trace_lacks(o->to, row);
}

static int look(const struct options *o, struct rows *rows, uint64_t *count)
{
	int rc = rows->begin(rows), n = 0;
	struct mf_trace_row row;
	char err[ERR_LEN];

	for (*count = 0; rc == SOUND && (n = rows->next(rows, &row)) > 0; ++*count) {
		const char *lacks = change(o, &row);

		if (lacks == NULL)
			continue;
		snprintf(err, sizeof(err), "message %" PRIu64 ": %s%s", *count + 1, lacks,
			 o->to == MF_TRACE_HPCC && row.kind == MF_CLIENT_READ ? "; see --reads-as-flows"
									      : "");
		return complain(USAGE, err);
	}
	if (rc != SOUND || n < 0)
		return rc != SOUND ? rc : USAGE;
	return *count > 0 ? SOUND : complain(USAGE, "there is no message at all");
}

static int put(const struct options *o, struct rows *rows, FILE *file, uint64_t count)
{
	int rc = rows->begin(rows), n = 0;
	struct mf_trace_out out;
	struct mf_trace_row row;

	mf_trace_begin(&out, file, o->to, count);
	while (rc == SOUND && !ferror(file) && (n = rows->next(rows, &row)) > 0) {
		change(o, &row);
		mf_trace_put(&out, &row);
	}
	if (rc == SOUND && n < 0)
		rc = FAILED;
	return rc;
}

int write_trace(const struct options *o, struct rows *rows)
{
	const char *name = o->out != NULL ? o->out : "standard output";
	FILE *file = stdout;
	uint64_t count;
	int rc = look(o, rows, &count);

	if (rc != SOUND)
		return rc;
	if (o->out != NULL)
		file = fopen(o->out, "w");
	if (file == NULL) {
		char err[ERR_LEN];

		snprintf(err, sizeof(err), "%s: %s", name, strerror(errno));
		return complain(USAGE, err);
	}
	rc = put(o, rows, file, count);
	if (rc == SOUND)
		rc = complain_of(name, fflush(file) != 0 || ferror(file) ? output_error() : 0);
	if (o->out != NULL && fclose(file) != 0 && rc == SOUND)
		rc = complain_of(name, output_error());
	return rc;
}
