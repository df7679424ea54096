/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes under way, beside a list that is searched from its start. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "fabric/mf_pending_writes.h"

#define NODES 3
#define IDS 4
#define MODEL_MAX 4096

/** What was put, in order; dead ones too. */
struct model {
	struct entry {
		uint16_t cn, mn;
		uint32_t id;
		uint64_t user;
		bool gone;
	} e[MODEL_MAX];
	unsigned int n;
};

static uint64_t seed(void)
{
	const char *s = getenv("MF_SEED");
	uint64_t n = s != NULL ? strtoull(s, NULL, 0) : 1;

	fprintf(stderr, "# MF_SEED=%llu\n", (unsigned long long)n);
	return n;
}

/** The oldest of this name; in order, all of the pair before it are lost. */
static struct entry *model_take(struct model *m, bool ordered, uint16_t cn, uint16_t mn, uint32_t id)
{
	for (unsigned int i = 0; i < m->n; i++) {
		struct entry *e = &m->e[i];

		if (e->gone || e->cn != cn || e->mn != mn || e->id != id)
			continue;
		for (unsigned int k = 0; k < i && ordered; k++)
			m->e[k].gone |= m->e[k].cn == cn && m->e[k].mn == mn;
		e->gone = true;
		return e;
	}
	return NULL;
}

/** Out of order, one whose name is used again is lost. */
static void model_put(struct model *m, bool ordered, const struct entry *e)
{
	if (!ordered)
		model_take(m, false, e->cn, e->mn, e->id);
	m->e[m->n++] = *e;
}

static void against_model(bool ordered)
{
	struct model *m = calloc(1, sizeof(*m));
	struct pending p;
	struct mf_rng r;
	unsigned int found = 0, missing = 0;

	mf_rng_init(&r, seed(), "pending", ordered);
	cr_assert_eq(pending_init(&p, NODES, ordered), 0);
	for (unsigned int i = 0; i < 2 * MODEL_MAX; i++) {
		uint16_t cn = (uint16_t)mf_rng_below(&r, NODES), mn = (uint16_t)mf_rng_below(&r, NODES);
		uint32_t id = (uint32_t)mf_rng_below(&r, IDS);

		/* First more are put than taken: the table grows. */
		if (m->n < MODEL_MAX && mf_rng_below(&r, 8) < (i < MODEL_MAX ? 6 : 3)) {
			model_put(m, ordered, &(struct entry){cn, mn, id, m->n, false});
			pending_put(&p, cn, mn, id, m->n - 1, 10 * (m->n - 1));
		} else {
			const struct entry *e = model_take(m, ordered, cn, mn, id);
			struct pending_write *w = pending_find(&p, cn, mn, id);

			cr_assert_eq(w != NULL, e != NULL, "step %u", i);
			found += e != NULL;
			missing += e == NULL;
			if (e == NULL)
				continue;
			cr_assert_eq(w->user, e->user, "step %u", i);
			cr_assert_eq(w->submitted, 10 * e->user);
			pending_take(&p, w);
		}
	}
	cr_assert(found > 500 && missing > 10, "%u found, %u not", found, missing);
	cr_assert_not(p.incomplete);
	pending_fini(&p);
	free(m);
}

Test(pending, in_order)
{
	against_model(true);
}

Test(pending, in_any_order)
{
	against_model(false);
}

Test(pending, what_was_lost_gives_way)
{
	struct pending p;
	struct pending_write *w;

	cr_assert_eq(pending_init(&p, NODES, true), 0);
	pending_put(&p, 0, 1, 7, 100, 1);
	pending_put(&p, 0, 1, 8, 101, 2);
	w = pending_find(&p, 0, 1, 8);
	pending_take(&p, w);
	pending_put(&p, 0, 1, 7, 102, 3);
	w = pending_find(&p, 0, 1, 7);
	cr_assert(w != NULL && w->user == 102, "the lost one was found");
	pending_take(&p, w);
	cr_assert_eq(p.count, 0);
	pending_fini(&p);
}
