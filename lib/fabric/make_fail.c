/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a fabric cannot be made. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "fabric/mf_make.h"

int make_fail(char *err, size_t errlen, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, errlen, format, args);
	va_end(args);
	return -EINVAL;
}
