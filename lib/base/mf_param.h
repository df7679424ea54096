/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that a policy declares in its own file: by this table they are read from the fabric file,
 * checked, written again, and listed in the documentation.
 */
#ifndef MF_PARAM_H
#define MF_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#define MF_PARAMS_MAX 32

enum mf_param_kind {
	MF_PARAM_COUNT, /**< a whole number */
	MF_PARAM_SIZE, /**< octets */
	MF_PARAM_TIME, /**< ps */
	MF_PARAM_REAL,
	/*
	 * The same, but with a default for lines of 1 Gb/s and more. Where the slowest line is slower than
	 * that by a factor of s, the default is another one. Of a bridge this counts where it has the key
	 * from its stack.
	 */
	MF_PARAM_LINE_TIME, /**< TIME: s times as long */
	MF_PARAM_LINE_POWER, /**< COUNT, an exponent of two: log2(s) more, rounded up; 0 stays */
	MF_PARAM_LINE_RATE, /**< REAL: an s-th of it */
};

static inline bool mf_param_is_real(enum mf_param_kind kind)
{
	return kind == MF_PARAM_REAL || kind == MF_PARAM_LINE_RATE;
}

static inline bool mf_param_is_of_line(enum mf_param_kind kind)
{
	return kind >= MF_PARAM_LINE_TIME;
}

/** Values are doubles, which are exact for whole numbers up to 2^53: in ps two and a half hours. */
struct mf_param {
	const char *key; /**< NULL ends a table */
	enum mf_param_kind kind;
	double value; /**< default */
	double min, max; /**< inclusive */
	const char *what; /**< for people, with the paper that it is from */
};

/** Another default of a parameter, where one policy goes with another. */
struct mf_param_default {
	const char *key; /**< NULL ends a table */
	double value;
};

#endif
