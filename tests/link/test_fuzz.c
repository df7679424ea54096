/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz target is given to start from, and scripts of chance. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mf_rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define SCRIPT_MAX 4096
#define SCRIPTS 300

static unsigned int run_file(const char *folder, const char *name)
{
	uint8_t script[SCRIPT_MAX];
	char path[1024];
	size_t size;
	FILE *file;

	if (name[0] == '.')
		return 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	cr_assert_not_null(file, "%s", path);
	size = fread(script, 1, sizeof(script), file);
	fclose(file);
	cr_assert_gt(size, 0);
	LLVMFuzzerTestOneInput(script, size);
	return 1;
}

Test(fuzz, corpus)
{
	const char *vectors = getenv("MF_VECTORS");
	unsigned int files = 0;
	struct dirent *entry;
	char folder[512];
	DIR *dir;

	if (vectors == NULL)
		cr_skip_test("MF_VECTORS is not set");
	snprintf(folder, sizeof(folder), "%s/../fuzz/corpus/fuzz_link", vectors);
	dir = opendir(folder);
	cr_assert_not_null(dir, "%s", folder);
	while ((entry = readdir(dir)) != NULL)
		files += run_file(folder, entry->d_name);
	closedir(dir);
	cr_assert_gt(files, 0);
}

Test(fuzz, scripts_of_chance)
{
	uint8_t script[512];
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "fuzz", 0);
	for (int i = 0; i < SCRIPTS; i++) {
		for (size_t k = 0; k < sizeof(script); k++) {
			script[k] = (uint8_t)mf_rng_next(&rng);
			/* Most without forged frames: else nothing is asked for at the end. */
			if (i % 4 != 0 && (script[k] & 15) == 15)
				script[k] ^= 4;
		}
		LLVMFuzzerTestOneInput(script, sizeof(script));
	}
}
