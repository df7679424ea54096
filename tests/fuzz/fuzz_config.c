/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric file: any octets at all are either refused in one line, or their effective configuration
 * reads back.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/mf_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mf_config config, again;
	char err[256] = "", *text;
	json_t *json;

	if (mf_config_parse((const char *)data, size, "fuzz", &config, err, sizeof(err)) != 0) {
		/* Of the file, or of a trace that it names. */
		require(strstr(err, ": ") != NULL && strchr(err, '\n') == NULL);
		return 0;
	}
	json = mf_config_to_json(&config);
	require(json != NULL);
	text = json_dumps(json, JSON_COMPACT);
	require(text != NULL);
	require(mf_config_parse(text, strlen(text), "again", &again, err, sizeof(err)) == 0);
	mf_config_free(&config);
	mf_config_free(&again);
	json_decref(json);
	free(text);
	return 0;
}
