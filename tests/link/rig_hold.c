/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

#include "rig.h"

/* An assertion of Criterion costs more than a block. */
void rig_hold(bool ok, const char *format, ...)
{
	char text[256];
	va_list args;

	if (ok)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cr_assert_fail("%s", text);
}
