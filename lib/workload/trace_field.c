/* SPDX-License-Identifier: BSD-3-Clause */
/* Single columns of a line. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "workload/trace_priv.h"

#define SHOWN 32 /* of a column in a message */
#define USER "user" /* in front of the number of a key */
#define SCAN_MAX (1 << 20)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int trace_number(struct mf_trace *t, const char *s, const char *name, uint64_t lo, uint64_t hi, uint64_t *out)
{
	uint64_t v = 0;
	bool over = false;

	if (*s == '\0')
		return mf_trace_fail(t, "%s is missing", name);
	for (const char *p = s; *p != '\0'; p++) {
		if (*s == '-' && p == s && is_digit(p[1]))
			return mf_trace_fail(t, "%s %.*s is negative", name, SHOWN, s);
		if (!is_digit(*p))
			return mf_trace_fail(t, "%s '%.*s' is not a whole number", name, SHOWN, s);
		over |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
	}
	if (over || v < lo || v > hi)
		return mf_trace_fail(t, "%s %.*s is out of range: %" PRIu64 " to %" PRIu64, name, SHOWN, s,
				     lo, hi);
	*out = v;
	return 0;
}

/** A decimal number without sign: digits * 10^exponent. 19 digits are more than any time has. */
struct decimal {
	uint64_t digits;
	int exponent;
};

#define EXPONENT_MAX 1000

static const char *read_digits(const char *s, struct decimal *d, int step, unsigned int *count)
{
	for (; is_digit(*s); s++, (*count)++) {
		if (d->digits < UINT64_C(1000000000000000000)) {
			d->digits = d->digits * 10 + (uint64_t)(*s - '0');
			d->exponent += step;
		} else {
			d->exponent += step + 1;
		}
	}
	return s;
}

static const char *read_exponent(const char *s, struct decimal *d)
{
	bool negative = s[1] == '-';
	const char *from = s + 1 + (s[1] == '-' || s[1] == '+');
	int e = 0;

	for (s = from; is_digit(*s); s++)
		e = e < EXPONENT_MAX ? e * 10 + (*s - '0') : e;
	d->exponent += negative ? -e : e;
	return s > from ? s : from - 1;
}

static bool read_decimal(const char *s, struct decimal *d)
{
	unsigned int count = 0;

	*d = (struct decimal){0};
	s = read_digits(s, d, 0, &count);
	if (*s == '.')
		s = read_digits(s + 1, d, -1, &count);
	if (count > 0 && (*s == 'e' || *s == 'E'))
		s = read_exponent(s, d);
	return count > 0 && *s == '\0';
}

/** digits * 10^exponent, rounded. @return false: above MF_TIME_MAX */
static bool scale(const struct decimal *d, uint64_t *out)
{
	uint64_t v = d->digits, rest = 0;
	int e = d->exponent;

	for (; e > 0 && v > 0; e--)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	for (; e < 0 && v + rest > 0; e++) {
		rest = v % 10;
		v /= 10;
	}
	*out = v + (rest >= 5);
	return *out <= INT64_MAX;
}

int trace_seconds(struct mf_trace *t, const char *s, const char *name, mf_time *out)
{
	struct decimal d;

	if (*s == '-')
		return mf_trace_fail(t, "%s %.*s is negative", name, SHOWN, s);
	if (!read_decimal(s, &d))
		return mf_trace_fail(t, "%s '%.*s' is not a time in seconds", name, SHOWN, s);
	d.exponent += 12;
	if (!scale(&d, out))
		return mf_trace_fail(t, "%s %.*s is out of range", name, SHOWN, s);
	return 0;
}

int trace_src_dst(struct mf_trace *t, const char *src, const char *dst, struct mf_trace_row *row)
{
	uint64_t a, b = 0;
	int rc = trace_number(t, src, "source", 0, UINT16_MAX, &a);

	if (rc == 0)
		rc = trace_number(t, dst, "destination", 0, UINT16_MAX, &b);
	if (rc != 0)
		return rc;
	if (a == b)
		return mf_trace_fail(t, "node %" PRIu64 " sends to itself", a);
	row->src = (uint16_t)a;
	row->dst = (uint16_t)b;
	return 0;
}

int trace_octets(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	return trace_number(t, s, "size", 1, MF_TRACE_OCTETS, &row->octets);
}

int trace_key(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	if (strncmp(s, USER, strlen(USER)) == 0)
		s += strlen(USER);
	return trace_number(t, s, "key", 0, UINT64_MAX, &row->key);
}

int trace_scan(struct mf_trace *t, const char *s, struct mf_trace_row *row)
{
	return trace_number(t, s, "length", 1, SCAN_MAX, &row->octets);
}

int trace_start(struct mf_trace *t, mf_time start, struct mf_trace_row *row)
{
	if (start < t->last)
		return mf_trace_fail(t, "time goes backwards: %" PRIu64 " ps behind %" PRIu64 " ps", start,
				     t->last);
	row->start = t->last = start;
	return 0;
}
