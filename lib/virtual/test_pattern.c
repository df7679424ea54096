/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test patterns under the virtual clock. While a transmitter is in test-pattern mode its link carries nothing
 * else, so for the fabric the link is cut. The pattern's own blocks do not go through the wires: nobody but
 * the checker takes them, so they are made and checked in batches, whenever something may change for the
 * link.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/mf_link_test.h"
#include "virtual/outages.h"

/** A batch at most, so that others see how far a pattern is. */
#define BATCH MF_US(100)

static unsigned int link_of(const struct virtual *v, const struct link_test *t)
{
	return fabric_link(v->f, t->rule->sw, t->node);
}

static uint32_t period_of(const void *ctx, unsigned int sw, unsigned int node)
{
	const struct virtual *v = ctx;

	return v->f->link[fabric_link(v->f, sw, node)].period;
}

int virtual_tests_init(struct virtual *v)
{
	struct mf_fabric *f = v->f;
	unsigned int n = link_tests_of(f->config);

	if (n == 0)
		return 0;
	f->test = calloc(n, sizeof(*f->test));
	if (f->test == NULL)
		return -ENOMEM;
	f->tests = n;
	link_tests_init(f->test, f->config, period_of, v);
	return 0;
}

mf_time virtual_tests_next(const struct virtual *v)
{
	mf_time next = MF_NEVER;

	for (unsigned int k = 0; k < v->f->tests; k++) {
		const struct link_test *t = &v->f->test[k];

		if (t->on)
			next = mf_time_min(next, mf_time_min(t->rule->until, v->now + BATCH));
		else if (!t->over)
			next = mf_time_min(next, t->rule->from);
	}
	return next;
}

/** Until v->now. */
static void go_on(struct virtual *v, struct link_test *t)
{
	const struct link_place *p = &v->outages->link[link_of(v, t)];
	const struct wire *w = &v->wire[v->graph->link[link_of(v, t)].end[t->up]];

	link_test_run(t, v->now, w->fault, p->cuts == p->testing);
}

static void begin(struct virtual *v, struct link_test *t)
{
	t->on = true;
	v->outages->link[link_of(v, t)].testing++;
	virtual_link_cut(v, link_of(v, t));
}

static void end(struct virtual *v, struct link_test *t)
{
	t->on = false;
	t->over = true;
	v->outages->link[link_of(v, t)].testing--;
	virtual_link_mend(v, link_of(v, t));
}

void virtual_tests_run(struct virtual *v)
{
	for (unsigned int k = 0; k < v->f->tests; k++)
		if (v->f->test[k].on)
			go_on(v, &v->f->test[k]);
	for (unsigned int k = 0; k < v->f->tests; k++) {
		struct link_test *t = &v->f->test[k];

		if (t->on && t->rule->until == v->now)
			end(v, t);
		else if (!t->on && !t->over && t->rule->from == v->now)
			begin(v, t);
	}
}

void virtual_tests_end(struct virtual *v)
{
	for (unsigned int k = 0; k < v->f->tests; k++)
		if (v->f->test[k].on)
			go_on(v, &v->f->test[k]);
}
