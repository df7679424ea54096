/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory side of the multiplexer: room for messages, and the queue of those that may be sent. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "mux.h"

static_assert(sizeof(struct mf_mux_item) == 64, "an item is a cache line");

static bool power_of_two(uint32_t n, uint32_t min)
{
	return n >= min && !(n & (n - 1));
}

int mux_queue_init(struct mf_mux *m, const struct mf_mux_config *config)
{
	static const struct mux_queue empty = {MUX_NONE, MUX_NONE, MUX_NONE};
	uint32_t blocks = config->memory_blocks, items = config->memory_items;

	m->messages = m->singles = empty;
	if (!config->memory_enabled)
		return 0;
	if (!power_of_two(blocks, 64) || blocks > UINT32_C(1) << 30 || !power_of_two(items, 8))
		return -EINVAL;
	m->store = (struct mux_store){.word_mask = blocks - 1, .item_mask = items - 1};
	m->store.word = aligned_alloc(64, blocks * sizeof(*m->store.word));
	m->store.item = aligned_alloc(64, items * sizeof(*m->store.item));
	m->done.mask = items - 1;
	m->done.entry = calloc(items, sizeof(*m->done.entry));
	return m->store.word && m->store.item && m->done.entry ? 0 : -ENOMEM;
}

void mux_queue_fini(struct mf_mux *m)
{
	free(m->store.word);
	free(m->store.item);
	free(m->done.entry);
}

static struct mf_mux_item *item_at(const struct mf_mux *m, uint32_t index)
{
	return &m->store.item[index];
}

static uint32_t index_of(const struct mf_mux *m, const struct mf_mux_item *it)
{
	return (uint32_t)(it - m->store.item);
}

/** Where a message of n words would begin, free-running: at the store's start where its end is too short. */
static uint32_t place(const struct mux_store *s, uint32_t n)
{
	uint32_t to_end = s->word_mask + 1 - (s->write & s->word_mask);

	return n > to_end ? s->write + to_end : s->write;
}

bool mf_mux_room(const struct mf_mux *m, unsigned int n)
{
	const struct mux_store *s = &m->store;

	return m->memory_enabled && n - 1 <= s->word_mask && s->put - s->get <= s->item_mask &&
	       place(s, n) + n - s->read <= s->word_mask + 1;
}

/** Under the wall clock what waits is known at once; under the virtual one it is measured by begin(). */
static void note_backlog(struct mf_mux *m, unsigned int n)
{
	if (m->backlog > m->stats.backlog_max)
		m->stats.backlog_max = m->backlog;
	if (n > 1 && m->backlog > m->stats.backlog_message_max)
		m->stats.backlog_message_max = m->backlog;
}

struct mf_mux_item *mf_mux_push(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int n,
				uint64_t cookie, uint64_t **words)
{
	struct mux_store *s = &m->store;
	struct mf_mux_item *it;
	uint32_t at;

	if (!mf_mux_room(m, n) || (cookie && m->done.promised > m->done.mask))
		return NULL;
	at = place(s, n);
	it = item_at(m, s->put++ & s->item_mask);
	*it = (struct mf_mux_item){.ready = ready,
				   .cookie = cookie,
				   .tie = tie,
				   .n = n,
				   .first = at & s->word_mask,
				   .end = at + n};
	s->write = it->end;
	m->done.promised += cookie != 0;
	if (!m->period)
		note_backlog(m, n);
	m->backlog += n;
	m->waiting += n;
	*words = &s->word[it->first];
	return it;
}

static struct mux_queue *queue_of(struct mf_mux *m, const struct mf_mux_item *it)
{
	return it->n > 1 ? &m->messages : &m->singles;
}

/** Whether a is sent before b. */
static bool before(const struct mf_mux *m, const struct mf_mux_item *a, const struct mf_mux_item *b)
{
	const struct mux_store *s = &m->store;

	if (a->ready != b->ready)
		return a->ready < b->ready;
	if (a->tie != b->tie)
		return a->tie < b->tie;
	/* The order of pushing is the distance from the oldest. */
	return ((index_of(m, a) - s->get) & s->item_mask) < ((index_of(m, b) - s->get) & s->item_mask);
}

static void link_behind(struct mf_mux *m, struct mux_queue *q, uint32_t prev, struct mf_mux_item *it)
{
	uint32_t self = index_of(m, it);
	uint32_t next = prev == MUX_NONE ? q->head : item_at(m, prev)->next;

	it->prev = prev;
	it->next = next;
	*(prev == MUX_NONE ? &q->head : &item_at(m, prev)->next) = self;
	*(next == MUX_NONE ? &q->tail : &item_at(m, next)->prev) = self;
}

/** Sorted from the tail: where most belong. */
static void insert(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_queue *q = queue_of(m, it);
	uint32_t prev = q->tail;

	while (prev != MUX_NONE && before(m, it, item_at(m, prev)))
		prev = item_at(m, prev)->prev;
	link_behind(m, q, prev, it);
	it->queued = true;
	if (it->next != MUX_NONE && item_at(m, it->next)->marked) {
		it->marked = true;
		it->mark = (uint32_t)(m->stats.frame_blocks + m->stats.gap_blocks);
	} else if (it->next == q->unmarked) {
		q->unmarked = index_of(m, it);
	}
}

void mux_queue_remove(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_queue *q = queue_of(m, it);

	if (q->unmarked == index_of(m, it))
		q->unmarked = it->next;
	*(it->prev == MUX_NONE ? &q->head : &item_at(m, it->prev)->next) = it->next;
	*(it->next == MUX_NONE ? &q->tail : &item_at(m, it->next)->prev) = it->prev;
	it->queued = false;
}

void mux_queue_release(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_store *s = &m->store;

	it->done = true;
	while (s->get != s->put && item_at(m, s->get & s->item_mask)->done)
		s->read = item_at(m, s->get++ & s->item_mask)->end;
	if (s->get == s->put)
		s->read = s->write = 0;
}

void mf_mux_append(struct mf_mux *m, struct mf_mux_item *it, unsigned int n)
{
	bool first = !it->have && n;

	it->have += n < it->n - it->have ? n : it->n - it->have;
	if (first)
		insert(m, it);
}

void mf_mux_abort(struct mf_mux *m, struct mf_mux_item *it)
{
	m->done.promised -= it->cookie != 0;
	it->cookie = 0;
	if (it->sent) {
		/* The words that it has still go, then an /MT/ whose check fails: the receiver knows that the
		 * message is over and goes on with the frame that this one has preempted. */
		m->backlog -= it->n - it->have - 1;
		m->store.word[it->first + it->have++] = MF_BT_MT | ~UINT64_C(0xff);
		it->n = it->have;
		it->cut = true;
		m->stats.aborted++;
		return;
	}
	if (it->queued)
		mux_queue_remove(m, it);
	m->backlog -= it->n;
	m->waiting -= it->n;
	mux_queue_release(m, it);
}

struct mf_mux_item *mux_queue_head(const struct mf_mux *m, const struct mux_queue *q)
{
	return q->head == MUX_NONE ? NULL : item_at(m, q->head);
}

struct mf_mux_item *mux_queue_first(const struct mf_mux *m)
{
	struct mf_mux_item *a = mux_queue_head(m, &m->messages), *b = mux_queue_head(m, &m->singles);

	if (!a || !b)
		return a ? a : b;
	return before(m, a, b) ? a : b;
}

/*
 * An item behind whose ready time frames go out is marked with how many had gone out before: the rest
 * of its wait was for memory. Each item is marked once, so sending frames costs no search.
 */
static void mark_overtaken(struct mf_mux *m, struct mux_queue *q, mf_time s, uint32_t n, uint32_t sent)
{
	mf_time last = s + (mf_time)(n - 1) * m->period;

	while (q->unmarked != MUX_NONE && item_at(m, q->unmarked)->ready <= last) {
		struct mf_mux_item *it = item_at(m, q->unmarked);

		it->marked = true;
		it->mark = sent + mux_blocks_before(m, s, it->ready);
		q->unmarked = it->next;
	}
}

void mux_queue_overtaken(struct mf_mux *m, mf_time s, uint32_t n, uint32_t sent)
{
	mark_overtaken(m, &m->messages, s, n, sent);
	mark_overtaken(m, &m->singles, s, n, sent);
}

uint32_t mux_queue_overtakers(const struct mf_mux *m, const struct mf_mux_item *it)
{
	return it->marked ? (uint32_t)(m->stats.frame_blocks + m->stats.gap_blocks) - it->mark : 0;
}
