/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that is told of a loss knows that it lies between the call of the last request that the node
 * answered before, and then. Of a node that it never asked that is the whole time since the start. What
 * others were answered says more:
 *
 * A fabric that "tells" (mf_history.h) has each client told of an incarnation of the node before anything
 * that this incarnation answers comes to it: nothing of the node passes before the word, and what had begun
 * by then has failed. So what a client was answered between two such words, and had called behind the first
 * one, was done by one incarnation: the memory was not lost from the first of these returns to the last of
 * these calls, as the first has taken effect by then and the last not before. What had only waited when the
 * word came may be answered by the incarnation behind; it is called before a word and returns behind it, and
 * does not count. What is left of a loss when all of that of all clients is taken off is where it may lie.
 *
 * It is a client's own words that part its answers, not those of others: a link that is lost is told to
 * those whose link it is, and to others later or never. And this is of memory alone: what a client itself
 * had on the way may be lost with its link though the node lives. Its writes that were not acknowledged are
 * bounded by its own words as before (history_check.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "linear/history_loss.h"

/** What a client was answered by a node between two words. */
struct run {
	mf_time next; /**< the second word */
	mf_time first, last; /**< the first return, the last call */
};

static const struct run no_run = {.next = MF_NEVER, .first = MF_NEVER};

int losses_init(struct losses *l, uint32_t nodes)
{
	*l = (struct losses){.nodes = nodes,
			     .once = calloc(nodes, sizeof(*l->once)),
			     .run = calloc(nodes, sizeof(*l->run))};
	return l->once != NULL && l->run != NULL ? 0 : -ENOMEM;
}

void losses_fini(struct losses *l)
{
	free(l->loss.at);
	free(l->alive.at);
	free(l->once);
	free(l->run);
}

static int add(struct node_intervals *to, const struct node_interval *one)
{
	int rc = history_grow(&to->at, &to->capacity, to->n + 1, sizeof(*to->at));

	if (rc == 0)
		to->at[to->n++] = *one;
	return rc;
}

/** The run of a node's answers that stands behind a word is whole. */
static int end_run(struct losses *l, uint16_t node)
{
	const struct run *r = &l->run[node];

	if (r->first >= r->last)
		return 0;
	return add(&l->alive, &(struct node_interval){.in = {r->first, r->last}, .node = node});
}

/** Backwards: the word that ends a run is seen before it. */
static int find_alive(struct losses *l, const struct told_log *log)
{
	size_t cuts = log->cuts;
	int rc = 0;

	for (uint32_t node = 0; node < l->nodes; node++)
		l->run[node] = no_run;
	for (size_t i = log->items; i-- > 0 && rc == 0;) {
		const struct item *o = &log->item[i];
		struct run *r = &l->run[o->r->node];

		for (; cuts > 0 && log->cut[cuts - 1].place > i && rc == 0; cuts--) {
			rc = end_run(l, log->cut[cuts - 1].node);
			l->run[log->cut[cuts - 1].node] = no_run;
			l->run[log->cut[cuts - 1].node].next = log->cut[cuts - 1].at;
		}
		if (!item_answered(o) || o->ret >= r->next || o->ret >= log->full)
			continue;
		r->first = mf_time_min(r->first, o->ret);
		r->last = mf_time_max(r->last, o->call);
	}
	for (uint32_t node = 0; node < l->nodes && rc == 0; node++)
		rc = end_run(l, (uint16_t)node);
	return rc;
}

/** A loss lies between the call of the last request that was answered before the word, and the word. */
static int find_losses(struct losses *l, const struct told_log *log)
{
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < log->cuts; k++) {
		const struct cut *t = &log->cut[k];
		struct node_interval one = {.node = t->node, .in.to = t->at, .told = log->tells};

		for (size_t i = t->place; i-- > 0 && one.in.from == 0;)
			if (log->item[i].r->node == t->node && item_answered(&log->item[i]) &&
			    log->item[i].ret < t->at)
				one.in.from = log->item[i].call;
		l->once[t->node] = true;
		rc = add(&l->loss, &one);
	}
	return rc;
}

int losses_add(struct losses *l, const struct told_log *log)
{
	int rc = find_losses(l, log);

	return rc != 0 || !log->tells ? rc : find_alive(l, log);
}

static int by_node_and_time(const void *a, const void *b)
{
	const struct node_interval *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->in.from < y->in.from ? -1 : x->in.from > y->in.from;
}

/** Those that touch in time are made one. */
static void join(struct node_intervals *v)
{
	size_t n = 0;

	if (v->n > 0)
		qsort(v->at, v->n, sizeof(*v->at), by_node_and_time);
	for (size_t i = 0; i < v->n; i++) {
		const struct node_interval *one = &v->at[i];
		struct node_interval *last = n > 0 ? &v->at[n - 1] : NULL;

		if (last != NULL && last->node == one->node && last->in.to >= one->in.from)
			last->in.to = mf_time_max(last->in.to, one->in.to);
		else
			v->at[n++] = *one;
	}
	v->n = n;
}

/** The first that ends behind a time, of a node. */
static size_t first_behind(const struct node_intervals *v, uint16_t node, mf_time at)
{
	size_t from = 0, n = v->n;

	while (n > 0) {
		const struct node_interval *mid = &v->at[from + n / 2];

		if (mid->node < node || (mid->node == node && mid->in.to <= at)) {
			from += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return from;
}

/** Adds to `left` what is left of a loss when the node was alive so. */
static int subtract(struct node_intervals *left, const struct node_interval *loss,
		    const struct node_intervals *alive)
{
	struct node_interval rest = *loss;
	int rc = 0;

	for (size_t i = first_behind(alive, loss->node, loss->in.from); i < alive->n && rc == 0; i++) {
		const struct node_interval *a = &alive->at[i];
		struct node_interval piece = rest;

		if (a->node != loss->node || a->in.from >= rest.in.to)
			break;
		piece.in.to = a->in.from;
		if (piece.in.from < piece.in.to)
			rc = add(left, &piece);
		rest.in.from = a->in.to;
	}
	return rc == 0 && rest.in.from < rest.in.to ? add(left, &rest) : rc;
}

int losses_join(struct losses *l)
{
	struct node_intervals left = {0};
	int rc = 0;

	join(&l->alive);
	for (size_t i = 0; i < l->loss.n && rc == 0; i++)
		rc = l->loss.at[i].told ? subtract(&left, &l->loss.at[i], &l->alive)
					: add(&left, &l->loss.at[i]);
	free(l->loss.at);
	l->loss = left;
	join(&l->loss);
	return rc;
}
