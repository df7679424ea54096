/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include "output.h"
#include "program.h"

int complain(int status, const char *reason)
{
	fprintf(stderr, "%s: %s\n", program_name, reason);
	return status;
}

int complain_of(const char *name, int rc)
{
	char err[ERR_LEN];

	if (rc == 0)
		return SOUND;
	snprintf(err, sizeof(err), "%s: %s", name, strerror(-rc));
	return complain(FAILED, err);
}

int program_run(const struct request *r, void (*help)(void),
		int (*act)(void *options, struct mf_config *config))
{
	struct mf_config config;
	char err[ERR_LEN];
	int rc;

	if (r->help) {
		help();
		return output_end(SOUND);
	}
	if (r->version) {
		printf("%s %s, %s\n", program_name, MF_VERSION, rte_version());
		return output_end(SOUND);
	}
	/* The line names the file itself, as compilers do. */
	if (mf_config_load(r->file, &config, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return USAGE;
	}
	if (err[0] != '\0')
		fprintf(stderr, "%s\n", err);
	rc = act(r->options, &config);
	mf_config_free(&config);
	return output_end(rc);
}
