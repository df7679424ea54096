/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"

#define KEY_LEN 64

const json_t *report_at(const json_t *o, const char *path)
{
	char key[KEY_LEN];

	while (o != NULL && *path != '\0') {
		size_t n = strcspn(path, "/");

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		o = json_object_get(o, key);
		path += n + (path[n] == '/');
	}
	return o;
}

uint64_t report_count(const json_t *o, const char *path)
{
	return (uint64_t)json_integer_value(report_at(o, path));
}

double report_real(const json_t *o, const char *path)
{
	return json_number_value(report_at(o, path));
}

const char *report_text(const json_t *o, const char *path)
{
	const char *s = json_string_value(report_at(o, path));

	return s != NULL ? s : "unknown";
}

char *report_group(char *buf, uint64_t n)
{
	char digits[REPORT_NUMBER];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *to = buf;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

char *report_time(char *buf, mf_time ps)
{
	static const struct {
		mf_time ps;
		const char *name;
	} unit[] = {{MF_SEC(1), "s"}, {MF_MS(1), "ms"}, {MF_US(1), "us"}, {MF_NS(1), "ns"}};
	unsigned int i = 0;
	size_t len;

	while (i < 3 && ps < unit[i].ps)
		i++;
	snprintf(buf, REPORT_NUMBER, "%.3f", (double)ps / (double)unit[i].ps);
	len = strlen(buf);
	while (buf[len - 1] == '0')
		len--;
	if (buf[len - 1] == '.')
		len--;
	snprintf(buf + len, REPORT_NUMBER - len, " %s", unit[i].name);
	return buf;
}

void report_head(FILE *out, const json_t *result, const char *title)
{
	char text[REPORT_WIDTH];
	int len = snprintf(text, sizeof(text), " %s (%s clock) ", title, report_text(result, "clock"));
	int left = (REPORT_WIDTH - len) / 2, right = REPORT_WIDTH - len - left;
	static const char bar[] = "##################################################";

	fprintf(out, "\n%.*s%s%.*s\n", left, bar, text, right, bar);
}

void report_line(FILE *out, const char *name, const char *format, ...)
{
	va_list args;

	fprintf(out, "%-*s ", REPORT_NAME, name);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
}
