/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the logs of a run to its words: the operations of all logs in one time, what bounds those that are not
 * acknowledged, and the operations of each word.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear/history_loss.h"

#define STATES (1U << 20)
#define PASS_TOUCHES (1U << 22) /* words of operations that are sorted at a time */
#define ZEROINGS UINT32_MAX /* what the log of all zeroings is taken for: they have no order with others */

struct unknown {
	uint64_t from, end; /**< octets */
	uint16_t node;
};

/** A word: of a node, or of an address space of it. */
struct place {
	uint64_t area; /**< node and space */
	uint64_t word;
};

/** A word of an operation. */
struct entry {
	struct place at;
	uint32_t item, index;
};

struct check {
	const struct mf_history *const *h;
	unsigned int histories;
	uint64_t tick0; /**< the first */
	uint32_t sample; /**< the largest: these words have all of them */
	mf_time full;
	struct item *item;
	size_t items;
	uint32_t logs; /**< so far */
	struct losses lost;
	struct item *zeroing; /**< by area and address */
	size_t zeroings, zeroings_room;
	size_t *zeroes; /**< [zeroings]: those that concern the word that is looked at, or did */
	size_t zeroes_n, zeroings_seen;
	struct interval *cut; /**< those of a node */
	struct unknown *unknown;
	size_t unknowns, unknowns_room;
	struct cut *told; /**< of a log */
	size_t tolds, tolds_room;
	uint32_t nodes; /**< whose numbers are below */
	mf_time *bound, *limit; /**< [nodes] */
	uint64_t touches;
	struct entry *entry;
	size_t entries, entries_room;
	struct touch *touch;
	size_t touch_room;
	struct word_check word;
	struct place wrong; /**< the first word that is; NOWHERE: none */
	struct place doubtful;
};

static const struct place nowhere = {UINT64_MAX, UINT64_MAX};

static uint64_t area_of(const struct mf_history_record *r)
{
	return (uint64_t)r->node << 32 | r->space;
}

static bool is_before(const struct place *a, const struct place *b)
{
	return a->area != b->area ? a->area < b->area : a->word < b->word;
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->area == b->area && a->word == b->word;
}

int history_grow(void *array, size_t *capacity, size_t n, size_t size)
{
	size_t more = *capacity < 64 ? 64 : *capacity;
	void **at = array, *grown;

	if (n <= *capacity)
		return 0;
	while (more < n)
		more *= 2;
	grown = realloc(*at, more * size);
	if (grown == NULL)
		return -ENOMEM;
	*at = grown;
	*capacity = more;
	return 0;
}

/** From a history's time to that of all; a tick is the least that can be told. */
static mf_time common(const struct check *c, const struct mf_history *h, mf_time t, bool up)
{
	unsigned __int128 ticks;

	if (c->histories == 1 || t == MF_NEVER)
		return t;
	ticks = (unsigned __int128)t * h->clock.hz / MF_SEC(1) + (h->clock.tick0 - c->tick0) + (up ? 1 : 0);
	ticks = ticks * MF_SEC(1) / c->h[0]->clock.hz + (up ? 1 : 0);
	return ticks < MF_NEVER - 2 ? (mf_time)ticks : MF_NEVER - 2;
}

static int one_run(const struct mf_history *const *h, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (h[0]->config.fingerprint != h[i]->config.fingerprint)
			return -EINVAL;
		if (n > 1 && (h[i]->clock.hz == 0 || memcmp(h[0]->clock.machine, h[i]->clock.machine,
							    sizeof(h[0]->clock.machine)) != 0))
			return -EXDEV;
	}
	return n > 0 ? 0 : -EINVAL;
}

static struct item item_of(const struct check *c, const struct mf_history *h,
			   const struct mf_history_record *r)
{
	struct item i = {.r = r,
			 .config = &h->config,
			 .log = r->kind == MF_HISTORY_ZEROED ? ZEROINGS : c->logs,
			 .call = common(c, h, r->call, false),
			 .ret = common(c, h, r->ret, true),
			 .last = MF_NEVER};

	i.must = item_answered(&i);
	if (i.must || r->outcome == MF_HISTORY_RESTARTED)
		i.last = i.ret;
	return i;
}

static int note_op(struct check *c, const struct mf_history *h, const struct mf_history_record *r)
{
	struct item i = item_of(c, h, r);

	if (i.call >= c->full || (history_is_rmw(r->kind) && r->addr % 8 != 0))
		return 0;
	c->item[c->items++] = i;
	c->touches += history_is_rmw(r->kind) ? r->words != 0 : r->words;
	return 0;
}

static int note_zeroing(struct check *c, const struct mf_history *h, const struct mf_history_record *r)
{
	struct item i = item_of(c, h, r);
	int rc = history_grow(&c->zeroing, &c->zeroings_room, c->zeroings + 1, sizeof(*c->zeroing));

	if (rc == 0 && i.call < c->full)
		c->zeroing[c->zeroings++] = i;
	return rc;
}

static int note_unknown(struct check *c, const struct mf_history_record *r)
{
	int rc = history_grow(&c->unknown, &c->unknowns_room, c->unknowns + 1, sizeof(*c->unknown));

	if (rc == 0)
		c->unknown[c->unknowns++] = (struct unknown){r->addr, r->addr + r->len, r->node};
	return rc;
}

static int note_cut(struct check *c, const struct mf_history *h, const struct mf_history_record *r,
		    size_t place)
{
	int rc = history_grow(&c->told, &c->tolds_room, c->tolds + 1, sizeof(*c->told));
	mf_time at = common(c, h, r->call, true);

	if (rc == 0 && at < c->full)
		c->told[c->tolds++] = (struct cut){place, at, r->node};
	return rc;
}

/**
 * What takes effect has done so when a younger request to its node is answered: that could only be after it.
 * An unacknowledged write has taken effect then, if nothing of the pair was lost between them.
 * @param item  of the log
 */
static void bound_effects(struct check *c, const struct mf_history_config *config, struct item *item,
			  size_t n)
{
	size_t told = c->tolds;

	if (!config->in_order)
		return;
	memset(c->bound, 0xff, c->nodes * sizeof(*c->bound));
	memset(c->limit, 0xff, c->nodes * sizeof(*c->limit));
	for (size_t i = n; i-- > 0;) {
		struct item *o = &item[i];
		uint16_t node = o->r->node;

		for (; told > 0 && c->told[told - 1].place > i; told--) {
			c->bound[c->told[told - 1].node] = MF_NEVER;
			c->limit[c->told[told - 1].node] = c->told[told - 1].at;
		}
		if (item_answered(o) && o->ret < c->limit[node])
			c->bound[node] = mf_time_min(c->bound[node], o->ret);
		if (c->bound[node] == MF_NEVER)
			continue;
		o->last = mf_time_min(o->last, mf_time_max(c->bound[node], o->call));
		o->must |=
			config->lossless && o->r->kind == MF_HISTORY_WRITE && o->r->outcome == MF_HISTORY_OK;
	}
}

static int take_log(struct check *c, const struct mf_history *h, const struct mf_history_log *l)
{
	struct item *first = &c->item[c->items];
	size_t before = c->items;
	int rc = 0;

	c->tolds = 0;
	c->logs++;
	for (uint64_t place = 0; place < l->used && rc == 0; place = history_next(l, place)) {
		const struct mf_history_record *r = history_at(l, place);

		if (r->kind < MF_HISTORY_OPS)
			rc = note_op(c, h, r);
		else if (r->kind == MF_HISTORY_CUT)
			rc = note_cut(c, h, r, c->items - before);
		else if (r->kind == MF_HISTORY_ZEROED)
			rc = note_zeroing(c, h, r);
		else
			rc = note_unknown(c, r);
	}
	if (rc != 0)
		return rc;
	bound_effects(c, &h->config, first, c->items - before);
	return losses_add(&c->lost, &(struct told_log){.item = first,
						       .items = c->items - before,
						       .cut = c->told,
						       .cuts = c->tolds,
						       .full = c->full,
						       .tells = h->config.tells});
}

static void note_node(void *ctx, const struct mf_history_record *r)
{
	struct check *c = ctx;

	c->nodes = r->node >= c->nodes ? r->node + 1U : c->nodes;
}

static int take_all(struct check *c)
{
	uint64_t records = 1;
	int rc;

	c->nodes = 1;
	for (unsigned int i = 0; i < c->histories; i++) {
		records += mf_history_records(c->h[i]);
		mf_history_each(c->h[i], note_node, c);
		c->full = mf_time_min(c->full, common(c, c->h[i], mf_history_full(c->h[i]), false));
	}
	if (records > UINT32_MAX)
		return -EINVAL;
	c->item = calloc(records, sizeof(*c->item));
	c->bound = calloc(c->nodes, sizeof(*c->bound));
	c->limit = calloc(c->nodes, sizeof(*c->limit));
	rc = losses_init(&c->lost, c->nodes);
	if (c->item == NULL || c->bound == NULL || c->limit == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->histories; i++)
		for (unsigned int k = 0; k < c->h[i]->logs && rc == 0; k++)
			rc = take_log(c, c->h[i], &c->h[i]->log[k]);
	if (rc == 0)
		rc = losses_join(&c->lost);
	c->cut = calloc(c->lost.loss.n + 1, sizeof(*c->cut));
	return rc == 0 && c->cut == NULL ? -ENOMEM : rc;
}

/**
 * Whether an operation has not taken effect and never will, since it was refused. Not so where the node was
 * lost meanwhile: its former incarnation may have done what the new one refused. Nor for want of room where a
 * pair is not in order: that may have been said of a second copy.
 */
static bool never_happened(const struct check *c, const struct item *i)
{
	bool refused = i->r->outcome == MF_HISTORY_REFUSED ||
		       (i->r->outcome == MF_HISTORY_NO_ROOM && i->config->in_order);

	return refused && !c->lost.once[i->r->node];
}

static int add_entries(struct check *c, uint32_t number, uint32_t pass, uint32_t passes)
{
	const struct item *i = &c->item[number];
	struct history_walk w = history_walk(i->config, i->r);
	uint64_t seed = i->config->fingerprint;
	uint32_t index = 0;

	if (i->r->words == 0 || (i->r->kind == MF_HISTORY_READ && i->r->outcome != MF_HISTORY_OK) ||
	    never_happened(c, i))
		return 0;
	for (; w.word <= w.last; history_walk_next(&w), index++) {
		const struct place at = {area_of(i->r), w.word};

		if (w.sample != c->sample &&
		    history_chosen(seed, c->sample, i->r->node, w.word >> c->sample) != w.word)
			continue;
		if (passes > 1 && mf_hash64(at.word ^ mf_hash64(at.area)) % passes != pass)
			continue;
		if (history_grow(&c->entry, &c->entries_room, c->entries + 1, sizeof(*c->entry)) != 0)
			return -ENOMEM;
		c->entry[c->entries++] = (struct entry){at, number, index};
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (!is_same(&x->at, &y->at))
		return is_before(&x->at, &y->at) ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static bool to_touch(const struct check *c, const struct entry *e, struct touch *t)
{
	const struct item *i = &c->item[e->item];
	const uint64_t *data = history_data(i->r);
	bool rmw = history_is_rmw(i->r->kind), finds = rmw || i->r->kind == MF_HISTORY_READ;

	*t = (struct touch){.o = {.op = i->r,
				  .call = i->call,
				  .ret = i->ret,
				  .must = i->must,
				  /* what it found may be of an operation that is not recorded */
				  .found = finds && i->must && i->ret < c->full,
				  .mask = rmw ? UINT64_MAX : history_mask(i->r, e->at.word)},
			    .last = i->last,
			    .log = i->log,
			    .in_order = i->config->in_order};
	if (rmw)
		memcpy(t->arg, data, sizeof(t->arg));
	if (!finds || t->o.found)
		t->o.value = data[rmw ? HISTORY_RMW_WORDS - 1 : e->index];
	return t->o.found || i->r->kind != MF_HISTORY_READ;
}

static void cuts_of(const struct check *c, uint16_t node, struct word *w)
{
	w->cut = c->cut;
	for (size_t i = 0; i < c->lost.loss.n; i++)
		if (c->lost.loss.at[i].node == node)
			c->cut[w->cuts++] = c->lost.loss.at[i].in;
}

static int by_begin(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	const uint64_t of[] = {area_of(x->r), area_of(y->r)};

	if (of[0] != of[1])
		return of[0] < of[1] ? -1 : 1;
	if (x->r->addr != y->r->addr)
		return x->r->addr < y->r->addr ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/** Before the first word of a pass. @return 0 or -ENOMEM */
static int sort_zeroings(struct check *c)
{
	if (c->zeroes == NULL)
		c->zeroes = calloc(c->zeroings + 1, sizeof(*c->zeroes));
	if (c->zeroes == NULL)
		return -ENOMEM;
	if (c->zeroings > 0)
		qsort(c->zeroing, c->zeroings, sizeof(*c->zeroing), by_begin);
	c->zeroes_n = c->zeroings_seen = 0;
	return 0;
}

/** Whether it ends before a word, and all words behind it. */
static bool is_past(const struct item *zeroing, const struct place *at)
{
	const uint64_t area = area_of(zeroing->r);

	return area < at->area || (area == at->area && zeroing->r->addr + zeroing->r->len <= at->word * 8);
}

/** Leaves in .zeroes those that concern a word. Words are seen in the order of their places. */
static void find_zeroings(struct check *c, const struct place *at)
{
	size_t n = 0;

	for (size_t i = 0; i < c->zeroes_n; i++)
		if (!is_past(&c->zeroing[c->zeroes[i]], at))
			c->zeroes[n++] = c->zeroes[i];
	for (; c->zeroings_seen < c->zeroings; c->zeroings_seen++) {
		const struct item *z = &c->zeroing[c->zeroings_seen];
		const struct place begin = {area_of(z->r), z->r->addr / 8};

		if (is_before(at, &begin))
			break;
		if (!is_past(z, at))
			c->zeroes[n++] = c->zeroings_seen;
	}
	c->zeroes_n = n;
}

/** Zeroings are writes of zeros to each of their words. @return 0 or -ENOMEM */
static int add_zeroings(struct check *c, const struct place *at, struct word *w)
{
	find_zeroings(c, at);
	for (size_t i = 0; i < c->zeroes_n; i++) {
		const struct item *z = &c->zeroing[c->zeroes[i]];

		if (never_happened(c, z))
			continue;
		if (history_grow(&c->touch, &c->touch_room, w->n + 1, sizeof(*c->touch)) != 0)
			return -ENOMEM;
		c->touch[w->n++] = (struct touch){.o = {.op = z->r,
							.call = z->call,
							.ret = z->ret,
							.must = z->must,
							.mask = history_mask(z->r, at->word)},
						  .last = z->last,
						  .log = z->log};
	}
	return 0;
}

static bool is_unknown(const struct check *c, const struct place *at)
{
	const uint64_t addr = at->word * 8;

	for (size_t i = 0; i < c->unknowns; i++)
		if ((uint64_t)c->unknown[i].node << 32 == at->area && addr + 8 > c->unknown[i].from &&
		    addr < c->unknown[i].end)
			return true;
	return false;
}

static int by_call(const void *a, const void *b)
{
	const struct touch *x = *(const struct touch *const *)a, *y = *(const struct touch *const *)b;

	return x->o.call < y->o.call ? -1 : x->o.call > y->o.call;
}

/** Keeps a word for the verdict. */
static int keep(const struct check *c, const struct word *w, const struct place *at,
		struct mf_history_verdict *v)
{
	const struct touch **order = calloc(w->n + 1, sizeof(const struct touch *));

	free(v->op);
	v->op = calloc(w->n + 1, sizeof(*v->op));
	if (order == NULL || v->op == NULL) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->n; i++)
		order[i] = &w->touch[i];
	qsort(order, w->n, sizeof(const struct touch *), by_call);
	for (size_t i = 0; i < w->n; i++) {
		v->op[i] = order[i]->o;
		if (order[i] == &w->touch[c->word.bad])
			v->bad = i;
	}
	free(order);
	v->ops = w->n;
	v->node = (uint16_t)(at->area >> 32);
	v->space = (uint32_t)at->area;
	v->addr = at->word * 8;
	v->initial = c->word.initial;
	return 0;
}

static int judge(struct check *c, const struct word *w, const struct place *at, struct mf_history_verdict *v)
{
	int answer = word_check(&c->word, w);

	if (answer < 0)
		return answer;
	v->parts += answer == WORD_PARTS;
	v->gave_up += answer == MF_HISTORY_GAVE_UP;
	if (answer == MF_HISTORY_NO && is_before(at, &c->wrong)) {
		c->wrong = *at;
		return keep(c, w, at, v);
	}
	if (answer == MF_HISTORY_GAVE_UP && is_same(&c->wrong, &nowhere) && is_before(at, &c->doubtful)) {
		c->doubtful = *at;
		return keep(c, w, at, v);
	}
	return 0;
}

static int check_words(struct check *c, struct mf_history_verdict *v)
{
	uint16_t node = 0;
	struct word of = {0};
	int rc = sort_zeroings(c);

	for (size_t i = 0, end; i < c->entries && rc == 0; i = end) {
		const struct place at = c->entry[i].at;
		struct word w = of;

		if (i == 0 || node != at.area >> 32) {
			node = (uint16_t)(at.area >> 32);
			of = (struct word){0};
			cuts_of(c, node, &of);
			w = of;
		}
		for (end = i; end < c->entries && is_same(&c->entry[end].at, &at);)
			end++;
		if (history_grow(&c->touch, &c->touch_room, end - i, sizeof(*c->touch)) != 0)
			return -ENOMEM;
		for (size_t k = i; k < end; k++)
			w.n += to_touch(c, &c->entry[k], &c->touch[w.n]);
		rc = add_zeroings(c, &at, &w);
		w.touch = c->touch;
		w.unknown = is_unknown(c, &at);
		v->words++;
		if (rc == 0)
			rc = judge(c, &w, &at, v);
	}
	return rc;
}

static int check_all(struct check *c, struct mf_history_verdict *v)
{
	uint32_t passes = (uint32_t)(c->touches / PASS_TOUCHES) + 1;
	int rc = 0;

	for (uint32_t p = 0; p < passes && rc == 0; p++) {
		c->entries = 0;
		for (size_t i = 0; i < c->items && rc == 0; i++)
			rc = add_entries(c, (uint32_t)i, p, passes);
		if (c->entries > 0)
			qsort(c->entry, c->entries, sizeof(*c->entry), by_place);
		if (rc == 0)
			rc = check_words(c, v);
	}
	return rc;
}

int mf_history_check(const struct mf_history *const *h, unsigned int n, size_t states,
		     struct mf_history_verdict *out)
{
	struct check c = {.h = h, .histories = n, .full = MF_NEVER, .wrong = nowhere, .doubtful = nowhere};
	int rc = one_run(h, n);

	*out = (struct mf_history_verdict){.full = MF_NEVER};
	if (rc != 0)
		return rc;
	c.tick0 = h[0]->clock.tick0;
	for (unsigned int i = 0; i < n; i++)
		c.sample = h[i]->config.sample > c.sample ? h[i]->config.sample : c.sample;
	for (unsigned int i = 1; i < n; i++)
		c.tick0 = h[i]->clock.tick0 < c.tick0 ? h[i]->clock.tick0 : c.tick0;
	word_check_init(&c.word, states != 0 ? states : STATES);
	rc = take_all(&c);
	if (rc == 0)
		rc = check_all(&c, out);
	out->operations = c.items;
	out->cuts = c.lost.loss.n;
	out->unread = c.word.unread;
	out->across = c.word.across;
	out->full = c.full;
	if (!is_same(&c.wrong, &nowhere))
		out->answer = MF_HISTORY_NO;
	else
		out->answer = out->gave_up > 0 ? MF_HISTORY_GAVE_UP : MF_HISTORY_YES;
	word_check_fini(&c.word);
	free(c.item);
	losses_fini(&c.lost);
	free(c.zeroing);
	free(c.zeroes);
	free(c.cut);
	free(c.unknown);
	free(c.told);
	free(c.bound);
	free(c.limit);
	free(c.entry);
	free(c.touch);
	if (rc != 0)
		mf_history_verdict_free(out);
	return rc;
}

void mf_history_verdict_free(struct mf_history_verdict *v)
{
	free(v->op);
	v->op = NULL;
	v->ops = 0;
}
