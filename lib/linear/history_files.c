/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear/mf_history.h"

static int no_answer(const char *program, const char *why)
{
	fprintf(stderr, "%s: %s\n", program, why);
	return 2;
}

static int check(const char *program, const struct mf_history *const *h, unsigned int n, FILE *out)
{
	static const int status[] = {[MF_HISTORY_YES] = 0, [MF_HISTORY_NO] = 1, [MF_HISTORY_GAVE_UP] = 2};
	struct mf_history_verdict v;
	int rc = mf_history_check(h, n, 0, &v);

	if (rc == -EINVAL)
		return no_answer(program, "these are not histories of one fabric");
	if (rc == -EXDEV)
		return no_answer(program, "these histories have no clock in common");
	if (rc != 0)
		return no_answer(program, strerror(-rc));
	mf_history_explain(&v, out);
	rc = status[v.answer];
	mf_history_verdict_free(&v);
	return rc;
}

int mf_history_check_files(const char *program, const char *const *path, unsigned int n, FILE *out)
{
	struct mf_history **h = calloc(n + 1, sizeof(*h));
	unsigned int read = 0;
	char err[4352];
	int rc = 0;

	if (h == NULL)
		return no_answer(program, strerror(ENOMEM));
	if (n == 0)
		rc = no_answer(program, "no file of a history");
	while (rc == 0 && read < n) {
		h[read] = mf_history_read(path[read], err, sizeof(err));
		if (h[read++] == NULL)
			rc = no_answer(program, err);
	}
	if (rc == 0)
		rc = check(program, (const struct mf_history *const *)h, n, out);
	while (read-- > 0)
		mf_history_free(h[read]);
	free(h);
	return rc;
}
