/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcs/mf_guard.h"

/** More of them are kept than are asked for, since one may be told late. */
#define LATE 64

const char *const mf_guard_names[MF_GUARD_CAUSES] = {
	[MF_GUARD_NONE] = "",
	[MF_GUARD_BAD] = "bad blocks",
	[MF_GUARD_HI_BER] = "hi-BER",
	[MF_GUARD_LOCK] = "block lock",
};

int mf_guard_init(struct mf_guard *g, uint32_t limit, mf_time window)
{
	if (limit > MF_GUARD_MAX || window == 0)
		return -EINVAL;
	*g = (struct mf_guard){.window = window, .limit = limit, .tripped = MF_NEVER};
	if (limit == 0)
		return 0;
	g->seen = malloc((limit + LATE) * sizeof(*g->seen));
	return g->seen != NULL ? 0 : -ENOMEM;
}

void mf_guard_fini(struct mf_guard *g)
{
	free(g->seen);
	g->seen = NULL;
}

void mf_guard_trip(struct mf_guard *g, mf_time at, enum mf_guard_cause cause)
{
	if (at >= g->tripped)
		return;
	g->tripped = at;
	g->cause = (uint8_t)cause;
}

/** Puts it in its place. @return that */
static uint32_t insert(struct mf_guard *g, mf_time at)
{
	uint32_t i;

	if (g->n == g->limit + LATE)
		memmove(g->seen, g->seen + 1, --g->n * sizeof(*g->seen));
	for (i = g->n++; i > 0 && g->seen[i - 1] > at; i--)
		g->seen[i] = g->seen[i - 1];
	g->seen[i] = at;
	return i;
}

void mf_guard_bad(struct mf_guard *g, mf_time at)
{
	uint32_t i, last;

	g->bad++;
	if (g->limit == 0)
		return;
	i = insert(g, at);
	/* The runs of `limit` of them that it is in. */
	for (last = i < g->limit ? g->limit - 1 : i; last < g->n && last - i < g->limit; last++)
		if (g->seen[last] - g->seen[last + 1 - g->limit] < g->window)
			mf_guard_trip(g, g->seen[last], MF_GUARD_BAD);
}

void mf_guard_reset(struct mf_guard *g)
{
	g->n = 0;
	g->tripped = MF_NEVER;
	g->cause = MF_GUARD_NONE;
}
