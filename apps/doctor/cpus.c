/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A CPU's number. @return behind it, or NULL */
static const char *number(const char *s, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return NULL;
	*out = strtoul(s, &end, 10);
	return *out < CPU_SETSIZE ? end : NULL;
}

/** "3" or "3-5". @return behind it, or NULL */
static const char *range(const char *s, cpu_set_t *out)
{
	unsigned long first, last;

	s = number(s, &first);
	if (s == NULL)
		return NULL;
	last = first;
	if (*s == '-')
		s = number(s + 1, &last);
	if (s == NULL || last < first)
		return NULL;
	for (; first <= last; first++)
		CPU_SET(first, out);
	return s;
}

/** Ranges with commas between. @return behind the last, or NULL */
static const char *ranges(const char *s, cpu_set_t *out)
{
	for (;; s++) {
		s = range(s, out);
		if (s == NULL || *s != ',')
			return s;
	}
}

int cpus_parse(const char *text, cpu_set_t *out)
{
	CPU_ZERO(out);
	if (*text == '\0')
		return 0;
	text = ranges(text, out);
	return text != NULL && *text == '\0' ? 0 : -EINVAL;
}

char *cpus_text(const cpu_set_t *set, char *out)
{
	size_t len = 0;

	out[0] = '\0';
	for (int first = cpus_next(set, 0), last; first >= 0; first = cpus_next(set, last + 1)) {
		char item[32];
		int n;

		for (last = first; last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set);)
			last++;
		n = snprintf(item, sizeof(item), last > first ? "%s%d-%d" : "%s%d", len > 0 ? "," : "", first,
			     last);
		if (len + (size_t)n + sizeof(",...") > CPUS_TEXT) {
			strcpy(out + len, ",...");
			break;
		}
		memcpy(out + len, item, (size_t)n + 1);
		len += (size_t)n;
	}
	return out;
}

cpu_set_t cpus_both(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t out;

	CPU_AND(&out, a, b);
	return out;
}

cpu_set_t cpus_without(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t out = cpus_both(a, b);

	CPU_XOR(&out, a, &out);
	return out;
}

bool cpus_meet(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both = cpus_both(a, b);

	return CPU_COUNT(&both) > 0;
}

int cpus_next(const cpu_set_t *set, int from)
{
	for (; from < CPU_SETSIZE; from++)
		if (CPU_ISSET(from, set))
			return from;
	return -1;
}

/** A range, or a group in brackets. @return behind it, or NULL */
static const char *group(const char *s, cpu_set_t *out)
{
	CPU_ZERO(out);
	if (*s != '(')
		return range(s, out);
	s = ranges(s + 1, out);
	return s != NULL && *s == ')' ? s + 1 : NULL;
}

int cpus_lcores(const char *text, cpu_set_t *cpus)
{
	cpu_set_t all, lcores, on;

	CPU_ZERO(&all);
	CPU_ZERO(cpus);
	for (;; text++) {
		text = group(text, &lcores);
		on = lcores;
		if (text != NULL && *text == '@')
			text = group(text + 1, &on);
		if (text == NULL)
			return -EINVAL;
		/* As in EAL: who names an lcore twice has made a mistake. */
		if (cpus_meet(&all, &lcores))
			return -EINVAL;
		CPU_OR(&all, &all, &lcores);
		CPU_OR(cpus, cpus, &on);
		if (*text != ',')
			break;
	}
	return *text == '\0' ? CPU_COUNT(&all) : -EINVAL;
}
