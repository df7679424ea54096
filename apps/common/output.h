/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program writes, and how it says that it could not. Functions that return an exit status have said
 * why.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "file/mf_output.h"

/** A file of the command line. Zeroed: none. */
struct output {
	const char *name;
	struct mf_output to;
	bool whole; /**< all of it was written */
};

/**
 * First of all, in each program. A file that is opened later must not get the number of a standard stream
 * that the caller closed. And a file that becomes too long (ulimit -f) is an error of writing, not a signal.
 */
void output_begin(void);
/** Last of all: what standard output did not take is told. @return status, or FAILED in the place of SOUND */
int output_end(int status);

/** Opens it before anything is run. @param name  NULL: none, as are all that follows. @return exit status */
int output_open(struct output *o, const char *name);
/** To write to; NULL: none. */
static inline FILE *output_file(const struct output *o)
{
	return o->to.file;
}
/** It was written. @param rc  0: all of it; or -errno @return exit status */
int output_written(struct output *o, int rc);
/** Writes it as JSON. @return exit status */
int output_write_json(struct output *o, const json_t *json);
/** Puts it in its place if all of it was written; otherwise the old one stays. @return exit status */
int output_close(struct output *o);
/** All of them, whatever becomes of one. @return rc, or where that is SOUND the first that is not */
int output_close_all(struct output *const *o, unsigned int n, int rc);

/** What errno says of a stream that failed, never 0. @return -errno */
int output_error(void);

/** @param json  NULL: there was no memory for it @return 0 or -errno */
int output_json(const json_t *json, FILE *out);

#endif
