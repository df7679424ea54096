/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "virtual/tournament.h"

int tournament_init(struct tournament *q, uint32_t actors)
{
	*q = (struct tournament){.leaves = 2, .bits = 1, .actors = actors};
	while (q->leaves < actors) {
		q->leaves *= 2;
		q->bits++;
	}
	q->node = aligned_alloc(64, (2 * q->leaves * sizeof(*q->node) + 63) & ~(size_t)63);
	q->due = malloc(actors * sizeof(*q->due));
	if (q->node == NULL || q->due == NULL) {
		tournament_fini(q);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < 2 * q->leaves; i++)
		q->node[i] = TOURNAMENT_NEVER;
	for (uint32_t i = 0; i < actors; i++)
		q->due[i] = MF_NEVER;
	return 0;
}

void tournament_fini(struct tournament *q)
{
	free(q->node);
	free(q->due);
	q->node = NULL;
	q->due = NULL;
}

void tournament_rebase(struct tournament *q)
{
	mf_time first = MF_NEVER;

	for (uint32_t i = 0; i < q->actors; i++)
		first = mf_time_min(first, q->due[i]);
	if (first == MF_NEVER)
		return;
	q->base = first;
	for (uint32_t i = 0; i < q->actors; i++)
		q->node[q->leaves + i] = tournament_key(q, i, q->due[i]);
	for (uint32_t i = q->leaves - 1; i > 0; i--)
		q->node[i] = q->node[2 * i] < q->node[2 * i + 1] ? q->node[2 * i] : q->node[2 * i + 1];
}
