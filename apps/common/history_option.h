/* SPDX-License-Identifier: BSD-3-Clause */
/* --history of the command line: FILE[,room=SIZE]. */
#ifndef HISTORY_OPTION_H
#define HISTORY_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mf_fabric.h"

struct history_option {
	char name[4096]; /**< of the file; empty: there is none */
	uint64_t room; /**< octets that the operations of all clients may take */
};

/**
 * Reads the argument.
 * @param option  as it is to be named: "--history"
 * @param err     on failure one line
 * @return 0, or -EINVAL
 */
int history_option_read(const char *option, const char *arg, struct history_option *h, char *err,
			size_t errlen);
/**
 * Behind a run: writes its history, and says if there was not room for all of it.
 * @param out  NULL: nothing is written
 * @return as a program exits
 */
int history_option_write(const struct history_option *h, const struct mf_fabric *f, FILE *out);

#endif
