/* SPDX-License-Identifier: BSD-3-Clause */
#include "finding.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const level_name[LEVELS] = {"pass", "warn", "fail"};

/** One line of ASCII, whatever was in a file that is quoted. */
__attribute__((format(printf, 3, 0))) static void add(char *text, size_t capacity, const char *format,
						      va_list args)
{
	size_t len = strlen(text);

	if (len > 0 && len < capacity)
		len += (size_t)snprintf(text + len, capacity - len, "; ");
	if (len < capacity)
		vsnprintf(text + len, capacity - len, format, args);
	for (text += len < capacity ? len : capacity - 1; *text != '\0'; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

void say(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(f->found, sizeof(f->found), format, args);
	va_end(args);
}

void worse(struct finding *f, enum level level, const char *format, ...)
{
	va_list args;

	if (level < f->level)
		return;
	if (level > f->level)
		f->mend[0] = '\0';
	f->level = level;
	va_start(args, format);
	add(f->mend, sizeof(f->mend), format, args);
	va_end(args);
}
