/* SPDX-License-Identifier: BSD-3-Clause */
#include "history_option.h"

#include "argument.h"
#include "program.h"

int history_option_read(const char *option, const char *arg, struct mf_history_target *h, char *err,
			size_t errlen)
{
	char why[ERR_LEN];

	if (mf_history_target(arg, h, why, sizeof(why)) != 0)
		return argument_refuse(err, errlen, "%s: %s", option, why);
	return 0;
}
