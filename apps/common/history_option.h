/* SPDX-License-Identifier: BSD-3-Clause */
/* --history of the command line: FILE[,room=SIZE]. */
#ifndef HISTORY_OPTION_H
#define HISTORY_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "linear/mf_history.h"
#include "output.h"
#include "run/mf_fabric.h"

/**
 * Reads the argument.
 * @param option  as it is to be named: "--history"
 * @param err     on failure one line
 * @return 0, or -EINVAL
 */
int history_option_read(const char *option, const char *arg, struct mf_history_target *h, char *err,
			size_t errlen);
/** Its file. NULL: none was asked for. */
static inline const char *history_option_name(const struct mf_history_target *h)
{
	return h->name[0] != '\0' ? h->name : NULL;
}
/**
 * Behind a run: writes its history, and says if there was not room for all of it.
 * @return as a program exits
 */
int history_option_write(const struct mf_fabric *f, struct output *out);

#endif
