/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a test by name: the options of the command line and what the prompt sets are the same. */
#ifndef SETTING_H
#define SETTING_H

#include "test.h"

enum setting {
	SETTING_TEST,
	SETTING_SIZE,
	SETTING_ITERATIONS,
	SETTING_DURATION,
	SETTING_DEPTH,
	SETTING_CLIENTS,
	SETTING_PATTERN,
	SETTING_RATE,
	SETTING_BURST,
	SETTING_MIX,
	SETTINGS
};

/** "size" of the prompt, "-s" of the command line. */
const char *setting_name(enum setting s);
const char *setting_option(enum setting s);

/** By the name of the prompt. @return SETTINGS: there is none of this name */
enum setting setting_find(const char *name);

/**
 * Sets one of them.
 * @param reason  why not, one line that follows the name of the setting
 * @return 0 or -EINVAL
 */
int setting_set(struct test *t, enum setting s, const char *value, char *reason, size_t capacity);

/** What a setting is, its default included. @return text */
const char *setting_put(const struct test *t, enum setting s, const struct mf_config *config,
			enum mf_clock clock, char *text, size_t capacity);

/**
 * Whether the settings go together and fit the fabric.
 * @param at      the setting that is at fault
 * @param reason  why, one line that follows its name
 * @return 0 or -EINVAL
 */
int setting_check(const struct test *t, const struct mf_config *config, enum setting *at, char *reason,
		  size_t capacity);

#endif
