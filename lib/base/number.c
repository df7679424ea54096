/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_number.h"

#define DIGITS "0123456789"

int mf_number_whole(const char *s, uint64_t *out)
{
	uint64_t n = 0;

	if (*s == '\0' || s[strspn(s, DIGITS)] != '\0')
		return -EINVAL;
	for (; *s != '\0'; s++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			return -ERANGE;
	*out = n;
	return n <= INT64_MAX ? 0 : -ERANGE;
}

/* What is a number by these rules and ends elsewhere by those of strtod() was not meant so: "0x10". */
const char *mf_number_real(const char *s, double *out)
{
	size_t whole = strspn(s, DIGITS), part = s[whole] == '.' ? 1 + strspn(s + whole + 1, DIGITS) : 0;
	const char *end = s + whole + part;
	char *stop;

	if (whole + part < (part > 0 ? 2 : 1))
		return NULL;
	if (*end == 'e' || *end == 'E') {
		const char *digits = end + 1 + (end[1] == '+' || end[1] == '-');
		size_t n = strspn(digits, DIGITS);

		end = n > 0 ? digits + n : end;
	}
	*out = strtod(s, &stop);
	return stop == end ? end : NULL;
}
