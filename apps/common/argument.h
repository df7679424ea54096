/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of the command line that several programs have. Each function returns 0, or -EINVAL with one
 * line in err that begins with what the option is called.
 */
#ifndef ARGUMENT_H
#define ARGUMENT_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "mf_config.h"

int argument_refuse(char *err, size_t errlen, const char *format, ...) __attribute__((format(printf, 3, 4)));

int argument_clock(const char *option, const char *s, enum mf_clock *out, char *err, size_t errlen);
/** With a unit, from least (0 or 1 ps) to 30 days, as in the fabric file. */
int argument_time(const char *option, const char *s, mf_time least, mf_time *out, char *err, size_t errlen);
int argument_seed(const char *option, const char *s, uint64_t *out, char *err, size_t errlen);

/** A whole number, lo..hi. */
int argument_count(const char *option, const char *s, uint64_t lo, uint64_t hi, uint64_t *out, char *err,
		   size_t errlen);

/**
 * What getopt_long() did not take.
 * @param opt    what it returned: '?', or ':' for a missing argument
 * @param last   the argument that it saw last
 * @param table  its long options
 */
int argument_unknown(int opt, const char *last, const struct option *table, char *err, size_t errlen);

#endif
