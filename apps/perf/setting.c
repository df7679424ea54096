/* SPDX-License-Identifier: BSD-3-Clause */
#include "setting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "base/mf_number.h"
#include "base/mf_unit.h"

#define ITERATIONS_MAX (UINT64_C(1) << 48) /* as in the fabric file */
#define COUNT_MAX 65536 /* of depth and burst, as there */
#define RATE_MIN 0.001
#define RATE_MAX 1e12
#define DURATION_MAX MF_SEC(30 * 24 * 3600)
#define TEXT 128

static const struct {
	const char *name, *option;
} names[SETTINGS] = {
	[SETTING_TEST] = {"test", "TEST"},
	[SETTING_SIZE] = {"size", "-s"},
	[SETTING_ITERATIONS] = {"iters", "-n"},
	[SETTING_DURATION] = {"duration", "-D"},
	[SETTING_DEPTH] = {"depth", "-t"},
	[SETTING_CLIENTS] = {"clients", "-q"},
	[SETTING_PATTERN] = {"pattern", "--pattern"},
	[SETTING_RATE] = {"rate", "--rate"},
	[SETTING_BURST] = {"burst", "--burst"},
	[SETTING_MIX] = {"mix", "--mix"},
};

const char *setting_name(enum setting s)
{
	return names[s].name;
}

const char *setting_option(enum setting s)
{
	return names[s].option;
}

enum setting setting_find(const char *name)
{
	enum setting s = 0;

	while (s < SETTINGS && strcmp(names[s].name, name) != 0)
		s++;
	return s;
}

static int set_test(struct test *t, const char *value, char *reason, size_t capacity)
{
	if (test_find(value, &t->kind) == 0)
		return 0;
	return argument_refuse(reason, capacity, "there is no test '%s', see --help", value);
}

static int set_size(struct test *t, const char *value, char *reason, size_t capacity)
{
	char most[MF_UNIT_LEN];
	uint64_t size;
	int rc;

	if (strcmp(value, "all") == 0) {
		t->all = true;
		return 0;
	}
	rc = mf_unit_size(value, &size);
	if (rc == -EINVAL)
		return argument_refuse(reason, capacity, "'%s' is not a size such as 64, 4KiB, 1MiB", value);
	if (rc == 0 && size == 0)
		return argument_refuse(reason, capacity, "an operation has at least 1 octet");
	if (rc != 0 || size > MF_CONFIG_TRANSFER_MAX)
		return argument_refuse(reason, capacity, "%s is more than %s, the largest operation", value,
				       mf_unit_put_size(most, MF_CONFIG_TRANSFER_MAX));
	t->size = (uint32_t)size;
	t->all = false;
	return 0;
}

static int whole(const char *value, uint64_t most, uint64_t *out, char *reason, size_t capacity)
{
	int rc = mf_number_whole(value, out);

	if (rc == -EINVAL)
		return argument_refuse(reason, capacity, "'%s' is not a whole number", value);
	if (rc != 0 || *out < 1 || *out > most)
		return argument_refuse(reason, capacity, "%s is out of range: 1 to %" PRIu64, value, most);
	return 0;
}

static int set_count(uint32_t *member, const char *value, uint64_t most, char *reason, size_t capacity)
{
	uint64_t n;
	int rc = whole(value, most, &n, reason, capacity);

	if (rc == 0)
		*member = (uint32_t)n;
	return rc;
}

static int set_iterations(struct test *t, const char *value, char *reason, size_t capacity)
{
	uint64_t n;
	int rc = whole(value, ITERATIONS_MAX, &n, reason, capacity);

	if (rc != 0)
		return rc;
	t->iterations = n;
	t->duration = 0;
	t->forever = false;
	return 0;
}

/** Seconds as a number, as perftest takes them, or a time with its unit. */
static int set_duration(struct test *t, const char *value, char *reason, size_t capacity)
{
	char text[TEXT];
	mf_time duration;
	int rc;

	if (strspn(value, "0123456789.") == strlen(value) && strlen(value) < TEXT - 2)
		snprintf(text, sizeof(text), "%ss", value);
	else
		snprintf(text, sizeof(text), "%s", value);
	rc = mf_unit_time(text, &duration);
	if (rc == -EINVAL)
		return argument_refuse(reason, capacity, "'%s' is not a time such as 3 (seconds), 500ms, 2us",
				       value);
	if (rc != 0 || duration < 1 || duration > DURATION_MAX)
		return argument_refuse(reason, capacity, "%s is out of range: 1ps to 30 days", value);
	t->duration = duration;
	t->iterations = 0;
	t->forever = false;
	return 0;
}

static int set_clients(struct test *t, const char *value, char *reason, size_t capacity)
{
	if (strcmp(value, "all") != 0)
		return set_count(&t->clients, value, MF_NODES_MAX, reason, capacity);
	t->clients = TEST_CLIENTS_ALL;
	return 0;
}

static int set_pattern(struct test *t, const char *value, char *reason, size_t capacity)
{
	for (unsigned int i = 0; i <= MF_CONFIG_ZIPF_TARGET; i++)
		if (strcmp(value, mf_config_pattern_name((enum mf_config_pattern)i)) == 0) {
			t->pattern = (enum mf_config_pattern)i;
			return 0;
		}
	return argument_refuse(reason, capacity,
			       "'%s' is none of: uniform, incast, permutation, all-to-all, zipf", value);
}

/** Operations a second; k, M and G may stand behind the number. "0" or "off" is the closed loop. */
static int set_rate(struct test *t, const char *value, char *reason, size_t capacity)
{
	static const char units[] = "kMG";
	const char *unit, *end;
	double rate;

	if (strcmp(value, "0") == 0 || strcmp(value, "off") == 0) {
		t->rate = 0;
		t->burst = 0;
		return 0;
	}
	end = mf_number_real(value, &rate);
	unit = end != NULL && *end != '\0' ? strchr(units, *end) : NULL;
	if (end == NULL || end[unit != NULL] != '\0')
		return argument_refuse(reason, capacity,
				       "'%s' is not a number of operations a second, such as 2.5M", value);
	for (long i = 0; unit != NULL && i <= unit - units; i++)
		rate *= 1000;
	if (!(rate >= RATE_MIN && rate <= RATE_MAX))
		return argument_refuse(reason, capacity,
				       "%s is out of range: 0.001 to 1000G operations a second", value);
	t->rate = rate;
	return 0;
}

static int set_mix(struct test *t, const char *value, char *reason, size_t capacity)
{
	double mix[MF_MIXES];
	int rc = argument_mix(value, mix, reason, capacity);

	if (rc == 0)
		memcpy(t->mix, mix, sizeof(mix));
	return rc;
}

int setting_set(struct test *t, enum setting s, const char *value, char *reason, size_t capacity)
{
	switch (s) {
	case SETTING_TEST:
		return set_test(t, value, reason, capacity);
	case SETTING_SIZE:
		return set_size(t, value, reason, capacity);
	case SETTING_ITERATIONS:
		return set_iterations(t, value, reason, capacity);
	case SETTING_DURATION:
		return set_duration(t, value, reason, capacity);
	case SETTING_DEPTH:
		return set_count(&t->depth, value, COUNT_MAX, reason, capacity);
	case SETTING_CLIENTS:
		return set_clients(t, value, reason, capacity);
	case SETTING_PATTERN:
		return set_pattern(t, value, reason, capacity);
	case SETTING_RATE:
		return set_rate(t, value, reason, capacity);
	case SETTING_BURST:
		return set_count(&t->burst, value, COUNT_MAX, reason, capacity);
	default:
		return set_mix(t, value, reason, capacity);
	}
}
