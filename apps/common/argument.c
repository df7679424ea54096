/* SPDX-License-Identifier: BSD-3-Clause */
#include "argument.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_number.h"
#include "base/mf_unit.h"

#define LONGEST MF_SEC(30 * 24 * 3600) /* as in the fabric file */

int argument_refuse(char *err, size_t errlen, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, errlen, format, args);
	va_end(args);
	return -EINVAL;
}

int argument_clock(const char *option, const char *s, enum mf_clock *out, char *err, size_t errlen)
{
	if (strcmp(s, "wall") == 0)
		*out = MF_CLOCK_WALL;
	else if (strcmp(s, "virtual") == 0)
		*out = MF_CLOCK_VIRTUAL;
	else
		return argument_refuse(err, errlen, "%s: '%s' is neither wall nor virtual", option, s);
	return 0;
}

int argument_time(const char *option, const char *s, mf_time least, mf_time *out, char *err, size_t errlen)
{
	int rc = mf_unit_time(s, out);

	if (rc == -EINVAL)
		return argument_refuse(err, errlen, "%s: '%s' is not a time such as 3s, 2ms, 500us", option,
				       s);
	if (rc != 0 || *out < least || *out > LONGEST)
		return argument_refuse(err, errlen, "%s: '%s' is out of range, at %s, at most 30 days",
				       option, s, least > 0 ? "least 1ps" : "least 0");
	return 0;
}

int argument_seed(const char *option, const char *s, uint64_t *out, char *err, size_t errlen)
{
	if (mf_number_whole(s, out) == 0)
		return 0;
	return argument_refuse(err, errlen, "%s: '%s' is not a number from 0 to 2^63 - 1", option, s);
}

int argument_count(const char *option, const char *s, uint64_t lo, uint64_t hi, uint64_t *out, char *err,
		   size_t errlen)
{
	if (mf_number_whole(s, out) == 0 && *out >= lo && *out <= hi)
		return 0;
	return argument_refuse(err, errlen, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option,
			       s, lo, hi);
}

int argument_file(int argc, char **argv, const char **file, char *err, size_t errlen)
{
	if (optind != argc - 1)
		return argument_refuse(err, errlen, "%s, see --help",
				       optind >= argc ? "no fabric file" : "more than one fabric file");
	*file = argv[optind];
	return 0;
}
