/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "program.h"
#include "trace.h"

/** A trace as rows. */
struct from_file {
	const struct options *o;
	struct mf_trace *trace;
};

static int open_trace(struct from_file *f)
{
	char err[ERR_LEN];
	int rc = mf_trace_open(&f->trace, f->o->file, f->o->from, true, err, sizeof(err));

	if (rc != 0)
		fprintf(stderr, "%s\n", err);
	return rc;
}

/* The line names the file itself, as compilers do. */
static int begin(struct rows *r)
{
	struct from_file *f = r->ctx;
	int rc;

	if (f->trace != NULL) {
		rc = mf_trace_rewind(f->trace);
		if (rc != 0)
			fprintf(stderr, "%s\n", mf_trace_error(f->trace));
		return rc == 0 ? SOUND : FAILED;
	}
	rc = open_trace(f);
	if (rc != 0)
		return rc == -ENOMEM ? FAILED : USAGE;
	if (mf_trace_keyed(mf_trace_format(f->trace)) != mf_trace_keyed(f->o->to)) {
		mf_trace_fail(f->trace, "operations on keys and messages are not each other's: memfab-trace "
					"gen makes messages of a store");
		fprintf(stderr, "%s\n", mf_trace_error(f->trace));
		return USAGE;
	}
	return SOUND;
}

static int next(struct rows *r, struct mf_trace_row *row)
{
	struct from_file *f = r->ctx;
	int rc = mf_trace_next(f->trace, row);

	if (rc < 0)
		fprintf(stderr, "%s\n", mf_trace_error(f->trace));
	return rc < 0 ? -1 : rc;
}

int convert(const struct options *o)
{
	struct from_file f = {.o = o};
	struct rows rows = {.begin = begin, .next = next, .ctx = &f};
	int rc = compare_files(o, NULL);

	if (rc == SOUND)
		rc = write_trace(o, &rows);

	if (rc == SOUND && mf_trace_note(f.trace) != NULL)
		fprintf(stderr, "%s\n", mf_trace_note(f.trace));
	mf_trace_close(f.trace);
	return rc;
}
