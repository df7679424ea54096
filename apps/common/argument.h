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

#include "config/mf_config.h"

int argument_refuse(char *err, size_t errlen, const char *format, ...) __attribute__((format(printf, 3, 4)));

int argument_clock(const char *option, const char *s, enum mf_clock *out, char *err, size_t errlen);
/** With a unit, from least (0 or 1 ps) to 30 days, as in the fabric file. */
int argument_time(const char *option, const char *s, mf_time least, mf_time *out, char *err, size_t errlen);
int argument_seed(const char *option, const char *s, uint64_t *out, char *err, size_t errlen);

/** A whole number, lo..hi. */
int argument_count(const char *option, const char *s, uint64_t lo, uint64_t hi, uint64_t *out, char *err,
		   size_t errlen);

/**
 * "read:60,write:30,cas:10": weights of kinds of operations, each kind once; without a weight it is 1.
 * @param mix  [MF_MIXES]
 */
int argument_mix(const char *s, double *mix, char *err, size_t errlen);

#define ARGUMENT_ENOUGH 1 /**< the rest of the command line is not to be looked at: --help, --version */
/** Takes one option. @return 0, ARGUMENT_ENOUGH, or -EINVAL with one line in err */
typedef int argument_take(void *options, int opt, const char *arg, char *err, size_t errlen);

#define ARGUMENT_OPTIONS 512 /**< numbers of options are below this */

/** Two options of which one would undo the other. */
struct argument_apart {
	int a, b;
};

/** How the command line of a program is read. */
struct argument_reader {
	const char *letters; /**< of getopt_long(): begins with a colon */
	const struct option *table; /**< of getopt_long() */
	argument_take *take;
	void *options; /**< the first argument of take() */
	const int *files; /**< options whose argument is the name of a file or folder, then 0; NULL: none */
	const int *several; /**< options with an argument that may be given several times, then 0; or NULL */
	const struct argument_apart *apart; /**< then 0, 0; or NULL */
};

/**
 * Takes all options, one by one; optind is then the first word after them. Refused are: a word that begins
 * with two dashes, or is a short option, in the place of an argument (`--json=--x` is not in its place); an
 * empty name of a file; an option with an argument that is given twice; two options that are to be apart.
 * @return 0, ARGUMENT_ENOUGH, or -EINVAL with one line in err
 */
int argument_options(const struct argument_reader *r, int argc, char **argv, char *err, size_t errlen);

/** The one word behind the options, a fabric file. @return 0, or -EINVAL with one line in err */
int argument_file(int argc, char **argv, const char **file, char *err, size_t errlen);

#endif
