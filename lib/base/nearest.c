/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/** Optimal string alignment distance (Damerau 1964), row by row: each needs the two before it. */
static unsigned int edits(const char *a, size_t alen, const char *b, size_t blen)
{
	unsigned int row[3][MF_NEAREST_LEN + 1];

	for (unsigned int j = 0; j <= blen; j++)
		row[0][j] = j;
	for (unsigned int i = 1; i <= alen; i++) {
		unsigned int *now = row[i % 3];
		const unsigned int *one = row[(i + 2) % 3], *two = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned int j = 1; j <= blen; j++) {
			bool same = a[i - 1] == b[j - 1];

			now[j] = least(least(one[j] + 1, now[j - 1] + 1), one[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], two[j - 2] + 1);
		}
	}
	return row[alen % 3][blen];
}

void mf_nearest_begin(struct mf_nearest *n, const char *word)
{
	*n = (struct mf_nearest){.word = word, .edits = UINT_MAX};
}

void mf_nearest_look(struct mf_nearest *n, const char *there)
{
	size_t a = strlen(n->word), b = strlen(there), longer = a > b ? a : b;
	unsigned int e;

	if (longer > MF_NEAREST_LEN)
		return;
	e = edits(n->word, a, there, b);
	if (e > 0 && e < n->edits && e <= (longer < 3 ? 1 : longer / 3)) {
		n->best = there;
		n->edits = e;
	}
}
