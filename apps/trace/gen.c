/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "fabric/mf_offer.h"
#include "program.h"
#include "trace.h"

/** The messages of a fabric as rows. */
struct from_fabric {
	const struct options *o;
	struct mf_config config;
	struct mf_offer *messages;
	uint64_t given;
};

static int begin(struct rows *r)
{
	struct from_fabric *f = r->ctx;
	char err[ERR_LEN];

	mf_offer_free(f->messages);
	f->given = 0;
	f->messages = mf_offer_new(&f->config, f->o->clock, mf_trace_keyed(f->o->to), err, sizeof(err));
	return f->messages != NULL ? SOUND : complain(USAGE, err);
}

static int next(struct rows *r, struct mf_trace_row *row)
{
	struct from_fabric *f = r->ctx;

	if (f->o->messages != 0 && f->given == f->o->messages)
		return 0;
	f->given++;
	return mf_offer_next(f->messages, row);
}

static int load(const struct options *o, struct mf_config *config)
{
	char err[ERR_LEN];

	if (o->file == NULL)
		return make_fabric(o, config);
	if (mf_config_load(o->file, config, err, sizeof(err)) == 0) {
		if (err[0] != '\0')
			fprintf(stderr, "%s\n", err);
		return SOUND;
	}
	fprintf(stderr, "%s\n", err);
	return USAGE;
}

int gen(const struct options *o)
{
	struct from_fabric f = {.o = o};
	struct rows rows = {.begin = begin, .next = next, .ctx = &f};
	int rc = load(o, &f.config);

	if (rc != SOUND)
		return rc;
	if (o->has_duration)
		f.config.clock[o->clock].duration = o->duration;
	if (o->has_seed)
		f.config.seed = o->seed;
	if (mf_trace_keyed(o->to) && o->messages == 0 &&
	    (f.config.workloads == 0 || f.config.workload[0].operations == 0))
		rc = complain(USAGE,
			      "queries have no times: --to ycsb needs --messages, or operations in the file");
	else
		rc = compare_files(o, &f.config);
	if (rc == SOUND)
		rc = write_trace(o, &rows);
	mf_offer_free(f.messages);
	mf_config_free(&f.config);
	return rc;
}
