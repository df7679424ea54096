/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_unit.h"

/** Bits a second times the ps of a block of 64 bits. Its divisors are the rates that there are. */
#define BLOCK_BITS_PS UINT64_C(64000000000000)
#define RATE_MIN (BLOCK_BITS_PS / MF_UNIT_BLOCK_MAX)
#define RATE_MAX (BLOCK_BITS_PS / MF_UNIT_BLOCK_MIN)
#define MICRO UINT64_C(1000000)

struct unit {
	const char *name;
	uint64_t factor;
};

/* Ascending, so that put() finds the largest one that fits; in minutes not all has a decimal form. */
static const struct unit time_units[] = {
	{"ps", 1},        {"ns", MF_NS(1)},    {"us", MF_US(1)},    {"ms", MF_MS(1)},
	{"s", MF_SEC(1)}, {"min", MF_SEC(60)}, {"h", MF_SEC(3600)}, {NULL, 0},
};
static const struct unit size_units[] = {
	{"", 1},
	{"B", 1},
	{"KiB", UINT64_C(1) << 10},
	{"MiB", UINT64_C(1) << 20},
	{"GiB", UINT64_C(1) << 30},
	{"TiB", UINT64_C(1) << 40},
	{NULL, 0},
};

/* In millionths of a bit a second: a rate that is not of whole bits is told from a text that is no rate. */
static const struct unit rate_units[] = {
	{"M", 1000000 * MICRO},
	{"G", 1000000000 * MICRO},
	{NULL, 0},
};
/* Ascending. There is none for single bits: a rate always has its unit. */
static const struct unit bits_units[] = {
	{"M", UINT64_C(1000000)}, {"G", UINT64_C(1000000000)}, {"T", UINT64_C(1000000000000)}, {NULL, 0}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits into *n; false when they do not fit 63 bits. */
static bool digits(const char **s, uint64_t *n)
{
	for (; is_digit(**s); (*s)++) {
		if (__builtin_mul_overflow(*n, 10, n) || __builtin_add_overflow(*n, **s - '0', n))
			return false;
	}
	return *n <= INT64_MAX;
}

/* Adds 0.ddd times factor to *value; it has to be whole. 10^18 times the largest factor fits 128 bits. */
static int fraction(const char *digit, size_t n, uint64_t factor, uint64_t *value)
{
	unsigned __int128 sum = 0, scale = 1;

	while (n > 0 && digit[n - 1] == '0')
		n--;
	if (n > 18)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		sum = sum * 10 + (unsigned int)(digit[i] - '0');
		scale *= 10;
	}
	sum *= factor;
	if (sum % scale != 0)
		return -EINVAL;
	return __builtin_add_overflow(*value, (uint64_t)(sum / scale), value) || *value > INT64_MAX ? -ERANGE
												    : 0;
}

static const struct unit *find(const struct unit *units, const char *name)
{
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, name) == 0)
			return units;
	}
	return NULL;
}

static int parse(const char *s, const struct unit *units, uint64_t *out)
{
	uint64_t whole = 0;
	const char *frac, *end;
	const struct unit *unit;

	if (!is_digit(*s))
		return -EINVAL;
	if (!digits(&s, &whole))
		return -ERANGE;
	frac = *s == '.' ? s + 1 : s;
	for (end = frac; is_digit(*end); end++)
		;
	if (*s == '.' && end == frac)
		return -EINVAL;
	unit = find(units, end);
	if (unit == NULL && whole == 0 && *end == '\0')
		unit = units;
	if (unit == NULL)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit->factor, &whole) || whole > INT64_MAX)
		return -ERANGE;
	*out = whole;
	return fraction(frac, (size_t)(end - frac), unit->factor, out);
}

int mf_unit_time(const char *s, mf_time *ps)
{
	return parse(s, time_units, ps);
}

int mf_unit_size(const char *s, uint64_t *octets)
{
	return parse(s, size_units, octets);
}

uint32_t mf_unit_block(uint64_t bits)
{
	bool whole = BLOCK_BITS_PS % bits == 0;

	return whole && bits >= RATE_MIN && bits <= RATE_MAX ? (uint32_t)(BLOCK_BITS_PS / bits) : 0;
}

int mf_unit_rate(const char *s, uint32_t *block_ps)
{
	uint64_t micro = 0;
	int rc = parse(s, rate_units, &micro);

	if (rc != 0)
		return rc;
	if (micro < RATE_MIN * MICRO || micro > RATE_MAX * MICRO)
		return -ERANGE;
	*block_ps = micro % MICRO == 0 ? mf_unit_block(micro / MICRO) : 0;
	return *block_ps != 0 ? 0 : -EDOM;
}

/* All divisors are tried: 2^i 5^k, since 64 * 10^12 is 2^18 5^12. */
void mf_unit_near_blocks(uint64_t bits, uint32_t near[2])
{
	uint64_t below = RATE_MIN, above = RATE_MAX;

	for (uint64_t fives = 1; BLOCK_BITS_PS % fives == 0; fives *= 5)
		for (uint64_t rate = fives; BLOCK_BITS_PS % rate == 0; rate *= 2) {
			if (rate <= bits && rate > below)
				below = rate;
			if (rate > bits && rate < above)
				above = rate;
		}
	near[0] = mf_unit_block(below);
	near[1] = mf_unit_block(above);
}

void mf_unit_near_rates(const char *s, uint32_t near[2])
{
	uint64_t micro = 0;

	parse(s, rate_units, &micro);
	mf_unit_near_blocks(micro / MICRO, near);
}

/* A value in a unit, with as many decimals as it has; factor: a power of ten. */
static void put_decimal(char *buf, uint64_t value, uint64_t factor, const char *name)
{
	int len = snprintf(buf, MF_UNIT_LEN, "%" PRIu64, value / factor);
	uint64_t rest = value % factor, scale;

	if (rest != 0)
		buf[len++] = '.';
	for (scale = factor / 10; rest != 0; scale /= 10) {
		buf[len++] = (char)('0' + rest / scale);
		rest %= scale;
	}
	strcpy(buf + len, name);
}

int mf_unit_bits(const char *s, uint64_t *bits)
{
	return parse(s, bits_units, bits);
}

char *mf_unit_put_time(char *buf, mf_time ps)
{
	const struct unit *unit = &time_units[0];

	while (unit->factor < MF_SEC(1) && ps >= unit[1].factor)
		unit++;
	put_decimal(buf, ps, unit->factor, ps == 0 ? "" : unit->name);
	return buf;
}

char *mf_unit_put_bits(char *buf, uint64_t bits)
{
	const struct unit *unit = &bits_units[0];

	while (unit[1].name != NULL && bits >= unit[1].factor)
		unit++;
	put_decimal(buf, bits, unit->factor, bits == 0 ? "" : unit->name);
	return buf;
}

char *mf_unit_put_size(char *buf, uint64_t octets)
{
	const struct unit *unit = &size_units[0];

	for (const struct unit *u = &size_units[2]; u->name != NULL; u++) {
		if (octets != 0 && octets % u->factor == 0)
			unit = u;
	}
	snprintf(buf, MF_UNIT_LEN, "%" PRIu64 "%s", octets / unit->factor, unit->name);
	return buf;
}

char *mf_unit_put_rate(char *buf, uint32_t block_ps)
{
	uint64_t bits = block_ps == 0 ? 0 : BLOCK_BITS_PS / block_ps;
	bool giga = bits >= 1000000000 || bits == 0;

	put_decimal(buf, bits, giga ? 1000000000 : 1000000, giga ? "G" : "M");
	return buf;
}
