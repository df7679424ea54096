/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading single values and whole objects by their tables. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mf_nearest.h"
#include "base/mf_unit.h"
#include "config/cfg.h"

const char *const cfg_clock_names[] = {"wall", "virtual", NULL};

int cfg_is(struct cfg *c, const json_t *json, json_type type)
{
	static const char *const name[] = {
		[JSON_OBJECT] = "an object",       [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
		[JSON_INTEGER] = "a whole number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true or false",
		[JSON_FALSE] = "true or false",    [JSON_NULL] = "null"};

	if (json_typeof(json) == type)
		return 0;
	return cfg_fail(c, "must be %s, is %s", name[type], name[json_typeof(json)]);
}

static int in_range(struct cfg *c, const struct cfg_field *f, uint64_t v)
{
	char a[MF_UNIT_LEN], b[MF_UNIT_LEN], n[MF_UNIT_LEN];

	if (v >= f->lo && v <= f->hi)
		return 0;
	if (f->kind == CFG_TIME)
		return cfg_fail(c, "%s is out of range: %s to %s", mf_unit_put_time(n, v),
				mf_unit_put_time(a, f->lo), mf_unit_put_time(b, f->hi));
	return cfg_fail(c, "%" PRIu64 " is out of range: %" PRIu64 " to %" PRIu64, v, f->lo, f->hi);
}

static int number(struct cfg *c, const json_t *json, const struct cfg_field *f, uint64_t *out)
{
	json_int_t v = json_integer_value(json);
	int rc = cfg_is(c, json, JSON_INTEGER);

	if (rc != 0)
		return rc;
	if (v < 0)
		return cfg_fail(c, "%lld is out of range: %" PRIu64 " to %" PRIu64, (long long)v, f->lo,
				f->hi);
	*out = (uint64_t)v;
	return 0;
}

static int size(struct cfg *c, const json_t *json, const struct cfg_field *f, uint64_t *out)
{
	int rc;

	if (!json_is_string(json))
		return number(c, json, f, out);
	rc = mf_unit_size(json_string_value(json), out);
	if (rc == -ERANGE)
		return cfg_fail(c, "'%.64s' is out of range", json_string_value(json));
	return rc == 0 ? 0
		       : cfg_fail(c, "'%.64s' is not a size such as \"1500B\" or \"64KiB\"",
				  json_string_value(json));
}

static int time_value(struct cfg *c, const json_t *json, uint64_t *out)
{
	static const char like[] = "time such as \"82ns\"";
	const char *s = json_string_value(json);
	int rc;

	if (s == NULL)
		return cfg_fail(c, "must be a string with a %s", like);
	rc = mf_unit_time(s, out);
	if (rc == -ERANGE)
		return cfg_fail(c, "'%.64s' is out of range", s);
	return rc == 0 ? 0 : cfg_fail(c, "'%.64s' is not a %s", s, like);
}

static int rate_value(struct cfg *c, const json_t *json, uint64_t *out)
{
	static const char like[] = "rate such as \"25G\" or \"10M\"";
	const char *s = json_string_value(json);
	char below[MF_UNIT_LEN], above[MF_UNIT_LEN];
	uint32_t block = 0, near[2];
	int rc;

	if (s == NULL)
		return cfg_fail(c, "must be a string with a %s", like);
	rc = mf_unit_rate(s, &block);
	*out = block;
	if (rc == -ERANGE)
		return cfg_fail(c, "'%.64s' is out of range: 1M to 1000G", s);
	if (rc != -EDOM)
		return rc == 0 ? 0 : cfg_fail(c, "'%.64s' is not a %s", s, like);
	mf_unit_near_rates(s, near);
	return cfg_fail(c, "'%.64s': a block would not take whole ps; the nearest rates are %s and %s", s,
			mf_unit_put_rate(below, near[0]), mf_unit_put_rate(above, near[1]));
}

int cfg_enum(struct cfg *c, const json_t *json, const char *const *names, uint32_t *out)
{
	char list[256] = "";
	int rc = cfg_is(c, json, JSON_STRING);

	if (rc != 0)
		return rc;
	for (*out = 0; names[*out] != NULL; (*out)++) {
		if (strcmp(names[*out], json_string_value(json)) == 0)
			return 0;
	}
	for (size_t i = 0; names[i] != NULL; i++) {
		strncat(list, i > 0 ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, names[i], sizeof(list) - strlen(list) - 1);
	}
	return cfg_fail(c, "'%.64s' is none of: %s", json_string_value(json), list);
}

int cfg_real(struct cfg *c, const json_t *json, double lo, double hi, double *out)
{
	if (!json_is_number(json))
		return cfg_is(c, json, JSON_REAL);
	*out = json_number_value(json);
	return *out >= lo && *out <= hi ? 0 : cfg_fail(c, "%g is out of range: %g to %g", *out, lo, hi);
}

int cfg_size(struct cfg *c, const json_t *json, uint64_t lo, uint64_t hi, uint64_t *out)
{
	const struct cfg_field f = {.kind = CFG_SIZE64, CFG_RANGE(lo, hi)};
	int rc = size(c, json, &f, out);

	return rc != 0 ? rc : in_range(c, &f, *out);
}

static int text(struct cfg *c, const json_t *json, const struct cfg_field *f, char *out)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t capacity = f->kind == CFG_TEXT ? f->hi : MF_CONFIG_NAME_LEN;
	const char *all = json_string_value(json), *s = all;
	uint32_t place;
	int rc = f->kind == CFG_CHOICE ? cfg_enum(c, json, f->names, &place) : cfg_is(c, json, JSON_STRING);

	if (rc != 0)
		return rc;
	if (strlen(s) >= capacity)
		return cfg_fail(c, "is too long: %zu octets, at most %zu", strlen(s), capacity - 1);
	if (f->kind == CFG_MEMBER && s[strspn(s, allowed)] == '.')
		s += strspn(s, allowed) + 1;
	if ((f->kind == CFG_NAME || f->kind == CFG_MEMBER) &&
	    (s[0] == '\0' || s[0] == '.' || s[strspn(s, allowed)] != '\0' || s == all + 1))
		return cfg_fail(c, "'%s' is not a name of letters, digits, '_' and '-'", all);
	strcpy(out, all);
	return 0;
}

static size_t width(enum cfg_kind kind)
{
	switch (kind) {
	case CFG_U64:
	case CFG_SIZE64:
	case CFG_TIME:
	case CFG_REAL:
		return 8;
	case CFG_U16:
		return 2;
	case CFG_BOOL:
		return sizeof(bool);
	default:
		return 4;
	}
}

/* Whole numbers of all kinds: what they have to be besides in range. */
static int store(struct cfg *c, const struct cfg_field *f, uint64_t v, void *out)
{
	int rc = in_range(c, f, v);

	if (rc != 0)
		return rc;
	if (f->pow2 && (v & (v - 1)) != 0)
		return cfg_fail(c, "%" PRIu64 " is not a power of two", v);
	if (f->multiple != 0 && v % f->multiple != 0)
		return cfg_fail(c, "%" PRIu64 " is not a multiple of %u", v, f->multiple);
	if (width(f->kind) == 8)
		*(uint64_t *)out = v;
	else if (width(f->kind) == 4)
		*(uint32_t *)out = (uint32_t)v;
	else
		*(uint16_t *)out = (uint16_t)v;
	return 0;
}

static int value(struct cfg *c, const json_t *json, const struct cfg_field *f, void *out)
{
	uint64_t v = 0;
	int rc = 0;

	switch (f->kind) {
	case CFG_NESTED:
		return 0;
	case CFG_BOOL:
		*(bool *)out = json_is_true(json);
		return json_is_boolean(json) ? 0 : cfg_is(c, json, JSON_TRUE);
	case CFG_REAL:
		return cfg_real(c, json, f->rlo, f->rhi, out);
	case CFG_ENUM:
		return cfg_enum(c, json, f->names, out);
	case CFG_CHOICE:
	case CFG_NAME:
	case CFG_MEMBER:
	case CFG_TEXT:
		return text(c, json, f, out);
	case CFG_U16:
	case CFG_U32:
	case CFG_U64:
		rc = number(c, json, f, &v);
		break;
	case CFG_SIZE32:
	case CFG_SIZE64:
		rc = size(c, json, f, &v);
		break;
	case CFG_TIME:
		rc = time_value(c, json, &v);
		break;
	case CFG_RATE:
		rc = rate_value(c, json, &v);
		break;
	}
	return rc != 0 ? rc : store(c, f, v, out);
}

static int per_clock(struct cfg *c, const json_t *json, const struct cfg_field *f, char *out)
{
	const struct cfg_field table[] = {{.key = "wall"}, {.key = "virtual"}, {0}};
	bool object = json_is_object(json);
	int rc = object ? cfg_known(c, json, table, NULL) : 0;

	for (int i = 0; i < MF_CLOCKS && rc == 0; i++) {
		const json_t *one = object ? json_object_get(json, cfg_clock_names[i]) : json;

		if (one == NULL)
			continue;
		if (object)
			cfg_push(c, cfg_clock_names[i]);
		rc = value(c, one, f, out + (size_t)i * width(f->kind));
		if (object)
			cfg_pop(c);
	}
	return rc;
}

static bool has(const struct cfg_field *table, const char *key)
{
	for (; table != NULL && table->key != NULL; table++) {
		if (strcmp(table->key, key) == 0)
			return true;
	}
	return false;
}

static int unknown(struct cfg *c, const char *key, const struct cfg_field *table,
		   const struct cfg_field *more)
{
	struct mf_nearest n;

	mf_nearest_begin(&n, key);
	for (; table != NULL && table->key != NULL; table++)
		mf_nearest_look(&n, table->key);
	for (; more != NULL && more->key != NULL; more++)
		mf_nearest_look(&n, more->key);
	if (n.best == NULL)
		return cfg_fail_key(c, key, "unknown key");
	return cfg_fail_key(c, key, "unknown key; the nearest is '%s'", n.best);
}

int cfg_known(struct cfg *c, const json_t *json, const struct cfg_field *table, const struct cfg_field *more)
{
	int rc = cfg_is(c, json, JSON_OBJECT);
	const char *key;
	json_t *v;

	if (rc != 0)
		return rc;
	json_object_foreach((json_t *)(uintptr_t)json, key, v) {
		if (!has(table, key) && !has(more, key))
			return unknown(c, key, table, more);
	}
	return 0;
}

int cfg_read(struct cfg *c, const json_t *json, const struct cfg_field *table, void *base)
{
	for (const struct cfg_field *f = table; f->key != NULL; f++) {
		const json_t *v = json_object_get(json, f->key);
		char *out = base != NULL ? (char *)base + f->offset : NULL; /* where all are nested */
		int rc;

		if (v == NULL)
			continue;
		cfg_push(c, f->key);
		rc = f->per_clock ? per_clock(c, v, f, out) : value(c, v, f, out);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int cfg_object(struct cfg *c, const json_t *json, const struct cfg_field *table, void *base)
{
	int rc = cfg_known(c, json, table, NULL);

	return rc != 0 ? rc : cfg_read(c, json, table, base);
}

int cfg_section(struct cfg *c, const json_t *json, const char *key,
		int (*fn)(struct cfg *c, const json_t *json))
{
	const json_t *v = json_object_get(json, key);
	int rc = 0;

	if (v == NULL)
		return 0;
	cfg_push(c, key);
	rc = fn(c, v);
	cfg_pop(c);
	return rc;
}

int cfg_refuse(struct cfg *c, const json_t *json, const char *const *keys, const char *reason)
{
	for (; *keys != NULL; keys++) {
		if (json_object_get(json, *keys) != NULL)
			return cfg_fail_key(c, *keys, "has no effect: %s", reason);
	}
	return 0;
}
