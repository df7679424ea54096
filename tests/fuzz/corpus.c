/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target without a fuzzer: gives it each file that is named, and those of each folder, and with
 * --changes N each of them N times with a few octets altered. Says in TAP what it gave; what a target finds
 * ends the program.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mf_rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define LARGEST (1 << 20)

static unsigned int files;

static void give(const uint8_t *octets, size_t len)
{
	uint8_t *copy = malloc(len > 0 ? len : 1); /* ends where it ends */

	if (copy == NULL)
		exit(99);
	memcpy(copy, octets, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void alter(uint8_t *octets, size_t len, unsigned int changes)
{
	struct mf_rng rng;

	mf_rng_init(&rng, files, "corpus", len);
	for (unsigned int i = 0; i < changes; i++) {
		size_t n = 1 + mf_rng_below(&rng, 4), cut = len - mf_rng_below(&rng, len / 8 + 1);
		uint8_t was[4];
		size_t at[4];

		for (size_t k = 0; k < n; k++) {
			at[k] = mf_rng_below(&rng, len);
			was[k] = octets[at[k]];
			octets[at[k]] = (uint8_t)mf_rng_next(&rng);
		}
		give(octets, i % 4 == 0 ? cut : len);
		while (n-- > 0)
			octets[at[n]] = was[n];
	}
}

static void give_file(const char *path, unsigned int changes)
{
	static uint8_t octets[LARGEST];
	FILE *in = fopen(path, "rb");
	size_t len;

	if (in == NULL)
		exit(99);
	len = fread(octets, 1, sizeof(octets), in);
	fclose(in);
	give(octets, len);
	if (len > 0)
		alter(octets, len, changes);
	printf("ok %u - %s\n", ++files, path);
	fflush(stdout);
}

static void give_folder(const char *path, unsigned int changes)
{
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, alphasort);

	if (n < 0)
		exit(99);
	for (int i = 0; i < n; i++) {
		char name[4096];
		struct stat s;

		snprintf(name, sizeof(name), "%s/%s", path, entry[i]->d_name);
		if (stat(name, &s) == 0 && S_ISREG(s.st_mode))
			give_file(name, changes);
		free(entry[i]);
	}
	free(entry);
}

int main(int argc, char **argv)
{
	unsigned int changes = 0;

	for (int i = 1; i < argc; i++) {
		struct stat s;

		if (strcmp(argv[i], "--changes") == 0 && i + 1 < argc)
			changes = (unsigned int)strtoul(argv[++i], NULL, 10);
		else if (stat(argv[i], &s) == 0 && S_ISDIR(s.st_mode))
			give_folder(argv[i], changes);
		else
			give_file(argv[i], changes);
	}
	printf("1..%u\n", files);
	return files > 0 ? 0 : 1;
}
