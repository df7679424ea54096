/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verdict.h"

void verdict_violation(struct verdict *v, const char *kind, const char *format, ...)
{
	size_t n;
	va_list args;

	if (v->reason[0] != '\0')
		return;
	n = (size_t)snprintf(v->reason, sizeof(v->reason), "%s: ", kind);
	va_start(args, format);
	vsnprintf(v->reason + n, sizeof(v->reason) - n, format, args);
	va_end(args);
}

/** What is wrong: behind the kind, and whose it is. */
static const char *what(const char *reason)
{
	const char *at = reason, *next;

	while ((next = strstr(at, ": ")) != NULL)
		at = next + 2;
	return at;
}

/** Equal but for numbers. */
static bool same_words(const char *a, const char *b)
{
	do {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
	} while (*a++ != '\0' && *b++ != '\0');
	return true;
}

bool verdict_alike(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return n == strcspn(b, ":") && n > 0 && strncmp(a, b, n) == 0 && same_words(what(a), what(b));
}

bool verdict_is(const char *reason, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(reason, kind, n) == 0 && reason[n] == ':';
}
