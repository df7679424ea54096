/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace that is written. All of it is looked at first: for the number that stands in front of flows, and
 * so that what is refused leaves nothing half written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "file/mf_files.h"
#include "output.h"
#include "program.h"
#include "trace.h"

/** What stands before the first line. */
struct about {
	uint64_t count; /**< messages */
	bool addr; /**< each has an address */
};

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

static int look(const struct options *o, struct rows *rows, struct about *a)
{
	int rc = rows->begin(rows), n = 0;
	struct mf_trace_row row;
	char err[ERR_LEN];

	for (*a = (struct about){0}; rc == SOUND && (n = rows->next(rows, &row)) > 0; a->count++) {
		const char *lacks = change(o, &row);

		if (a->count == 0)
			a->addr = row.has_addr;
		if (lacks == NULL && row.has_addr != a->addr)
			lacks = "some messages have an address, and some have none";
		if (lacks == NULL)
			continue;
		snprintf(err, sizeof(err), "message %" PRIu64 ": %s%s", a->count + 1, lacks,
			 o->to == MF_TRACE_HPCC && row.kind == MF_CLIENT_READ ? "; see --reads-as-flows"
									      : "");
		return complain(USAGE, err);
	}
	if (rc != SOUND || n < 0)
		return rc != SOUND ? rc : USAGE;
	return a->count > 0 ? SOUND : complain(USAGE, "there is no message at all");
}

/** @return exit status */
static int put(const struct options *o, struct rows *rows, struct output *to, const struct about *a)
{
	FILE *file = output_file(to);
	int rc = rows->begin(rows), n = 0;
	struct mf_trace_out out;
	struct mf_trace_row row;

	mf_trace_begin(&out, file, o->to, a->count, a->addr);
	while (rc == SOUND && (n = rows->next(rows, &row)) > 0) {
		change(o, &row);
		errno = 0;
		mf_trace_put(&out, &row);
		if (ferror(file))
			rc = output_written(to, output_error());
	}
	if (rc != SOUND || n < 0)
		return FAILED;
	errno = 0;
	return output_written(to, fflush(file) != 0 || ferror(file) ? output_error() : 0);
}

int compare_files(const struct options *o, const struct mf_config *config)
{
	struct mf_files files = {.n = 0};
	char err[ERR_LEN];

	mf_files_streams(&files);
	if (config != NULL)
		mf_config_files(config, o->file, &files);
	else
		mf_files_input(&files, "TRACE", o->file);
	mf_files_written(&files, "--output", o->out);
	mf_files_written(&files, "--json", o->json);
	return mf_files_check(&files, err, sizeof(err)) == 0 ? SOUND : complain(USAGE, err);
}

int write_trace(const struct options *o, struct rows *rows)
{
	struct output out;
	struct about a;
	int rc = look(o, rows, &a), closed;

	if (rc == SOUND)
		rc = output_open(&out, o->out != NULL ? o->out : "-");
	if (rc != SOUND)
		return rc;
	if (o->out == NULL)
		out.name = "standard output";
	rc = put(o, rows, &out, &a);
	closed = output_close(&out);
	return rc != SOUND ? rc : closed;
}
