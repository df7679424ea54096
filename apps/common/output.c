/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

void output_begin(void)
{
	int fd;

	signal(SIGXFSZ, SIG_IGN);
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int output_end(int status)
{
	if (status != SOUND)
		return status;
	errno = 0;
	return complain_of("standard output", fflush(stdout) != 0 || ferror(stdout) ? output_error() : 0);
}

int output_open(struct output *o, const char *name)
{
	char err[ERR_LEN];
	int rc;

	*o = (struct output){.name = name};
	if (name == NULL)
		return SOUND;
	rc = mf_output_open(&o->to, name);
	if (rc == 0)
		return SOUND;
	snprintf(err, sizeof(err), "%s: %s", name, strerror(-rc));
	return complain(USAGE, err);
}

int output_written(struct output *o, int rc)
{
	o->whole = rc == 0;
	return complain_of(o->name, rc);
}

int output_write_json(struct output *o, const json_t *json)
{
	return o->to.open ? output_written(o, output_json(json, o->to.file)) : SOUND;
}

int output_close(struct output *o)
{
	int rc = mf_output_close(&o->to, o->whole ? 0 : -ECANCELED);

	return rc != 0 && o->whole ? complain_of(o->name, rc) : SOUND;
}

int output_close_all(struct output *const *o, unsigned int n, int rc)
{
	for (unsigned int i = 0; i < n; i++) {
		int e = output_close(o[i]);

		rc = rc != SOUND ? rc : e;
	}
	return rc;
}
