/* SPDX-License-Identifier: BSD-3-Clause */
/* "test_patterns": links that carry a test pattern for a while (IEEE 802.3 49.2.8, 49.2.12). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

#define TESTS_MAX 256

#define TEST(m) CFG_AT(struct mf_config_test, m)
static const struct cfg_field test_fields[] = {
	{.key = "pattern", .kind = CFG_ENUM, TEST(pattern.kind), .names = mf_test_names},
	{.key = "link", .kind = CFG_NESTED},
	{.key = "switch", .kind = CFG_U32, TEST(sw), CFG_RANGE(0, 1)},
	{.key = "direction", .kind = CFG_ENUM, TEST(direction), .names = cfg_direction_names},
	{.key = "from", .kind = CFG_TIME, TEST(from), CFG_RANGE(0, MF_NEVER - 1)},
	{.key = "until", .kind = CFG_TIME, TEST(until), CFG_RANGE(1, MF_NEVER - 1)},
	{.key = "data", .kind = CFG_ENUM, TEST(pattern.data), .names = mf_test_data_names},
	{.key = "seed_a", .kind = CFG_NESTED},
	{.key = "seed_b", .kind = CFG_NESTED},
	{.key = "run", .kind = CFG_U32, TEST(pattern.run), CFG_RANGE(MF_TEST_RUN_MIN, MF_TEST_RUN_MAX)},
	{0},
};

static const char *const of_pseudo_random[] = {"data", "seed_a", "seed_b", NULL}, *const of_square_waves[] = {
											  "run", NULL};

/** A seed is written as in table 52-20: "0x", and hexadecimal digits. */
static int read_seed(struct cfg *c, const json_t *json, const char *key, uint64_t *seed)
{
	const json_t *v = json_object_get(json, key);
	const char *s = json_string_value(v);
	size_t digits = s != NULL && strncmp(s, "0x", 2) == 0 ? strspn(s + 2, "0123456789abcdefABCDEF") : 0;

	if (v == NULL)
		return 0;
	if (digits == 0 || s[2 + digits] != '\0')
		return cfg_fail_key(c, key, "must be a string such as \"0x%" PRIx64 "\"", MF_TEST_SEED_A);
	errno = 0;
	*seed = strtoull(s, NULL, 16);
	if (errno != 0 || *seed > MF_TEST_SEED_MAX)
		return cfg_fail_key(c, key, "'%.64s' has more than %d bits", s, MF_TEST_SEED_BITS);
	return 0;
}

static int need(struct cfg *c, const json_t *json)
{
	static const char *const keys[] = {"pattern", "from", "until"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(json, keys[i]) == NULL)
			return cfg_fail_key(c, keys[i], "is missing");
	return 0;
}

static bool overlap(const struct mf_config_test *a, const struct mf_config_test *b)
{
	return a->sw == b->sw && a->from < b->until && b->from < a->until &&
	       (a->direction == b->direction || a->direction == MF_CONFIG_BOTH ||
		b->direction == MF_CONFIG_BOTH);
}

/** A transmitter sends one pattern at a time. */
static int check_alone(struct cfg *c, const struct mf_config_test *t)
{
	for (const struct mf_config_test *other = c->config->test; other < t; other++)
		for (unsigned int i = 0; i < t->link.n && overlap(t, other); i++)
			if (mf_config_has(&other->link, t->link.node[i]))
				return cfg_fail_key(c, "from", "test_patterns[%zu] has the link of '%s' then",
						    (size_t)(other - c->config->test),
						    c->config->node[t->link.node[i]].name);
	return 0;
}

static int check(struct cfg *c, const json_t *json, const struct mf_config_test *t)
{
	int rc = 0;

	if (t->pattern.kind != MF_TEST_PSEUDO_RANDOM)
		rc = cfg_refuse(c, json, of_pseudo_random, "the pattern is not \"pseudo-random\"");
	if (rc == 0 && t->pattern.kind != MF_TEST_SQUARE_WAVE)
		rc = cfg_refuse(c, json, of_square_waves, "the pattern is not \"square-wave\"");
	if (rc == 0 && t->until <= t->from)
		rc = cfg_fail_key(c, "until", "is not after 'from'");
	if (rc == 0 && t->sw != 0 && !c->config->backup.on)
		rc = cfg_fail_key(c, "switch", "there is no backup");
	return rc == 0 ? check_alone(c, t) : rc;
}

static int read_test(struct cfg *c, const json_t *json, struct mf_config_test *t)
{
	int rc = cfg_object(c, json, test_fields, t);

	if (rc == 0)
		rc = need(c, json);
	if (rc == 0)
		rc = read_seed(c, json, "seed_a", &t->pattern.seed_a);
	if (rc == 0)
		rc = read_seed(c, json, "seed_b", &t->pattern.seed_b);
	if (rc == 0)
		rc = cfg_set(c, json, "link", NULL, "", &t->link);
	return rc == 0 ? check(c, json, t) : rc;
}

int cfg_tests(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (c->tier->stack_ops != NULL || c->tier->bridge_ops != NULL)
		return cfg_fail(c, "has no effect: test patterns need EDM's stack");
	if (json_array_size(json) > TESTS_MAX)
		return cfg_fail(c, "too many: %zu, at most %u", json_array_size(json), TESTS_MAX);
	c->config->test = calloc(json_array_size(json) + 1, sizeof(*c->config->test));
	if (c->config->test == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_test *t = &c->config->test[c->config->tests++];

		t->pattern = (struct mf_test_pattern){
			.seed_a = MF_TEST_SEED_A, .seed_b = MF_TEST_SEED_B, .run = MF_TEST_RUN_DEFAULT};
		cfg_push_index(c, i);
		rc = read_test(c, entry, t);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static json_t *put_seed(uint64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, seed);
	return json_string(text);
}

void cfg_put_tests(struct put *p, json_t *root)
{
	json_t *array;

	if (p->config->tests == 0)
		return;
	array = cfg_put_set(p, root, "test_patterns", json_array());
	for (unsigned int i = 0; i < p->config->tests; i++) {
		const struct mf_config_test *t = &p->config->test[i];
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_fields(p, json, test_fields, t);
		cfg_put_set(p, json, "link", cfg_put_nodes(p, &t->link, NULL));
		cfg_put_set(p, json, "seed_a", put_seed(t->pattern.seed_a));
		cfg_put_set(p, json, "seed_b", put_seed(t->pattern.seed_b));
		if (t->pattern.kind != MF_TEST_PSEUDO_RANDOM)
			cfg_put_drop(json, of_pseudo_random);
		if (t->pattern.kind != MF_TEST_SQUARE_WAVE)
			cfg_put_drop(json, of_square_waves);
		if (t->sw == 0)
			json_object_del(json, "switch");
	}
}
