/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of several switches in the fabric file: what is written of it reads back to the same. */
#ifndef TESTS_CONFIG_BACK_H
#define TESTS_CONFIG_BACK_H

#include "config_file.h"

static inline void assert_same(const struct mf_config *a, const struct mf_config *b)
{
	cr_assert_eq(a->switches, b->switches);
	cr_assert_eq(a->trunks, b->trunks);
	cr_assert_eq(a->routing, b->routing);
	for (unsigned int i = 0; i < a->switches; i++) {
		const struct mf_config_switch *s = &a->switch_list[i], *t = &b->switch_list[i];

		cr_assert_str_eq(s->name, t->name);
		cr_assert(s->ports == t->ports && s->l2_latency == t->l2_latency);
		cr_assert(s->frames == t->frames && s->frame_queue == t->frame_queue);
	}
	for (unsigned int i = 0; i < a->trunks; i++) {
		const struct mf_config_trunk *t = &a->trunk[i], *u = &b->trunk[i];
		const struct mf_config_link *l = &t->link, *m = &u->link;

		cr_assert(t->a == u->a && t->b == u->b);
		cr_assert(l->period == m->period && l->propagation == m->propagation);
		cr_assert(l->policy == m->policy && l->scramble == m->scramble && l->align8 == m->align8);
		cr_assert(l->ber_window == m->ber_window && l->ring == m->ring);
	}
	cr_assert_eq(a->slots, b->slots);
	for (unsigned int i = 0; i < a->slots; i++) {
		cr_assert_eq(a->node[i].to, b->node[i].to);
		cr_assert_eq(a->node[i].link.period, b->node[i].link.period);
		cr_assert_eq(a->node[i].link.propagation, b->node[i].link.propagation);
		cr_assert_str_eq(a->node[i].name, b->node[i].name);
	}
}

/** What is written of a file reads back to the same, and is written in the same way once more. */
static inline void assert_reads_back(const struct mf_config *a, const char *what)
{
	char err[512] = "", *first = effective(a), *again;
	uint64_t one = 0, other = 1;
	struct mf_config b;

	cr_assert_eq(parse(first, &b, err, sizeof(err)), 0, "%s: %s\n%s", what, err, first);
	assert_same(a, &b);
	again = effective(&b);
	cr_assert_str_eq(first, again, "%s", what);
	cr_assert_eq(mf_config_fingerprint(a, &one), 0);
	cr_assert_eq(mf_config_fingerprint(&b, &other), 0);
	cr_assert_eq(one, other);
	free(first);
	free(again);
	mf_config_free(&b);
}

/** Each key stands in docs/fabric-file.md. @param keys  NULL ends them */
static inline void assert_documented(const char *const *keys)
{
	size_t len;
	char *doc = slurp("../docs", "fabric-file.md", &len);

	for (; *keys != NULL; keys++) {
		char quoted[32];

		snprintf(quoted, sizeof(quoted), "`%s`", *keys);
		cr_expect_not_null(strstr(doc, quoted), "docs/fabric-file.md has no %s", quoted);
	}
	free(doc);
}

#endif
