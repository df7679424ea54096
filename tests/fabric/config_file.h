/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the fabric file: reading one, and what is written of it again. */
#ifndef TESTS_CONFIG_FILE_H
#define TESTS_CONFIG_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "config/mf_config.h"

#define PATH_LEN 1024

static inline void make_path(char *path, const char *folder, const char *name)
{
	const char *vectors = getenv("MF_VECTORS");

	cr_assert_not_null(vectors, "MF_VECTORS names tests/vectors");
	snprintf(path, PATH_LEN, "%s/../%s/%s", vectors, folder, name);
}

static inline void load(struct mf_config *config, const char *folder, const char *name)
{
	char path[PATH_LEN], err[512] = "";

	make_path(path, folder, name);
	cr_assert_eq(mf_config_load(path, config, err, sizeof(err)), 0, "%s", err);
}

static inline int parse(const char *text, struct mf_config *config, char *err, size_t errlen)
{
	return mf_config_parse(text, strlen(text), "x", config, err, errlen);
}

static inline char *effective(const struct mf_config *config)
{
	json_t *json = mf_config_to_json(config);
	char *text;

	cr_assert_not_null(json);
	text = json_dumps(json, JSON_INDENT(1));
	cr_assert_not_null(text);
	json_decref(json);
	return text;
}

static inline void assert_one_line(const char *err)
{
	cr_assert_gt(strlen(err), 0);
	for (const char *p = err; *p != '\0'; p++)
		cr_assert((unsigned char)*p >= ' ' && *p != 0x7f, "octet %u in '%s'", *p, err);
}

static inline char *slurp(const char *folder, const char *name, size_t *len)
{
	char path[PATH_LEN], *text = calloc(1, 1 << 20);
	FILE *f;

	make_path(path, folder, name);
	f = fopen(path, "r");
	cr_assert(f != NULL && text != NULL, "%s", path);
	*len = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

#endif
