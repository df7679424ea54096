/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that a policy declares in its own file: by this table they are read from the fabric file,
 * checked, written again, and listed in the documentation.
 */
#ifndef MF_PARAM_H
#define MF_PARAM_H

#include <stdint.h>

#define MF_PARAMS_MAX 32

enum mf_param_kind {
	MF_PARAM_COUNT, /**< a whole number */
	MF_PARAM_SIZE, /**< octets */
	MF_PARAM_TIME, /**< ps */
	MF_PARAM_REAL,
};

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
