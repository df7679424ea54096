/* SPDX-License-Identifier: BSD-3-Clause */
/* check_history FILE...: checks histories of one run. Exit status: 0 linearizable, 1 not, 2 no answer. */
#include <stdlib.h>
#include <string.h>

#include "mf_history.h"

int main(int argc, char **argv)
{
	struct mf_history **h = calloc((size_t)argc, sizeof(*h));
	struct mf_history_verdict v;
	char err[512];
	int rc = 0;

	for (int i = 1; h != NULL && i < argc && rc == 0; i++) {
		h[i - 1] = mf_history_read(argv[i], err, sizeof(err));
		if (h[i - 1] == NULL) {
			fprintf(stderr, "%s\n", err);
			rc = -1;
		}
	}
	if (h == NULL || rc != 0)
		return 2;
	rc = mf_history_check((const struct mf_history *const *)h, (unsigned int)argc - 1, 0, &v);
	if (rc != 0) {
		fprintf(stderr, "%s\n", strerror(-rc));
		return 2;
	}
	mf_history_explain(&v, stdout);
	rc = v.answer == MF_HISTORY_YES ? 0 : v.answer == MF_HISTORY_NO ? 1 : 2;
	mf_history_verdict_free(&v);
	for (int i = 1; i < argc; i++)
		mf_history_free(h[i - 1]);
	free(h);
	return rc;
}
