/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory side of the multiplexer: room for messages, and the queue of those that may be sent. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_cycles.h"
#include "base/mf_table.h"
#include "pcs/mux_open.h"

/** An item, and behind it a sync header and a word for each block that it has room for. */
#define ITEM_OCTETS(own) (sizeof(struct mf_mux_item) + (own) * (sizeof(uint8_t) + sizeof(uint64_t)))
#define FEW 16 /**< blocks: a chunk of 64 octets */
#define MANY 48 /**< a chunk of 256 octets */
static_assert(ITEM_OCTETS(0) == 64 && ITEM_OCTETS(FEW) <= 256 && ITEM_OCTETS(MANY) <= 512, "cache lines");

static bool power_of_two(uint32_t n, uint32_t min)
{
	return n >= min && !(n & (n - 1));
}

/** Under the wall clock messages are put together, and an item has no room. */
static void store_init(struct mf_mux *m, const struct mf_mux_config *config)
{
	uint32_t items = config->memory_items;

	m->store = (struct mux_store){
		.item_shift = 6,
		.word_mask = config->memory_blocks - 1,
		.oldest = MUX_NONE,
		.items_shift = (uint8_t)__builtin_ctz(items),
	};
	if (m->period) {
		bool many = config->usual_blocks > FEW && config->usual_blocks <= MANY;

		m->store.own = many ? MANY : FEW;
		m->store.item_shift = many ? 9 : 8;
	}
	m->store.low = items < MUX_LOW ? (UINT32_C(1) << items) - 1 : UINT32_MAX;
	m->store.fresh = items < MUX_LOW ? items : MUX_LOW;
}

int mux_queue_init(struct mf_mux *m, const struct mf_mux_config *config)
{
	static const struct mux_queue empty = {MUX_NONE, MUX_NONE, MUX_NONE};
	uint32_t blocks = config->memory_blocks, items = config->memory_items;

	m->messages = m->singles = empty;
	if (!config->memory_enabled)
		return 0;
	if (!power_of_two(blocks, 64) || blocks > UINT32_C(1) << 30 || !power_of_two(items, 8) ||
	    items > UINT32_C(1) << 26)
		return -EINVAL;
	store_init(m, config);
	m->store.word = mf_table_new(blocks, sizeof(*m->store.word) + sizeof(uint8_t));
	m->store.item = aligned_alloc(64, (size_t)MUX_LOW << m->store.item_shift);
	m->store.item_far =
		mf_table_new(items, ((size_t)1 << m->store.item_shift) + sizeof(*mux_free(&m->store)));
	m->done.mask = items - 1;
	m->done.entry = mf_table_new(items, sizeof(*m->done.entry));
	if (!m->period)
		m->done.waiting = mf_table_new(items, sizeof(*m->done.waiting));
	if (!m->store.word || !m->store.item || !m->store.item_far || !m->done.entry ||
	    (!m->period && !m->done.waiting))
		return -ENOMEM;
	return 0;
}

void mux_queue_fini(struct mf_mux *m)
{
	mf_table_free(m->store.word);
	free(m->store.item);
	mf_table_free(m->store.item_far);
	mf_table_free(m->done.entry);
	mf_table_free(m->done.waiting);
}

/** Where a message of n words would begin, free-running: at the store's start where its end is too short. */
static inline uint32_t place(const struct mux_store *s, uint32_t n)
{
	uint32_t size = s->word_mask + 1, at = s->write & s->word_mask;

	return at + n > size ? s->write + size - at : s->write;
}

/** Whether a message of n words goes into the room of its item. */
static inline bool is_own(const struct mf_mux *m, uint32_t n)
{
	return n <= m->store.own;
}

bool mf_mux_room(const struct mf_mux *m, unsigned int n)
{
	const struct mux_store *s = &m->store;

	if (!m->memory_enabled || n - 1 > s->word_mask ||
	    (s->low == 0 && s->free == 0 && s->fresh == UINT32_C(1) << s->items_shift))
		return false;
	return is_own(m, n) || place(s, n) + n - s->read <= s->word_mask + 1;
}

/** Under the wall clock what waits is known at once; under the virtual one it is measured by begin(). */
static void note_backlog(struct mf_mux *m, unsigned int n)
{
	uint32_t blocks = mux_backlog(m);

	if (blocks > m->stats.backlog_max)
		m->stats.backlog_max = blocks;
	if (n > 1 && blocks > m->stats.backlog_message_max)
		m->stats.backlog_message_max = blocks;
}

/** Sync headers of a message: control, data, control. */
static inline void put_syncs(uint8_t *sync, uint32_t n)
{
	uint32_t i;

	if (n >= 8) { /* the last eight may be written twice */
		for (i = 0; i + 8 < n; i += 8)
			memset(sync + i, MF_SYNC_DATA, 8);
		memset(sync + n - 8, MF_SYNC_DATA, 8);
	} else {
		for (i = 1; i + 1 < n; i++)
			sync[i] = MF_SYNC_DATA;
	}
	sync[0] = sync[n - 1] = MF_SYNC_CTRL;
}

static inline void account(struct mf_mux *m, unsigned int n, uint64_t cookie)
{
	m->done.promised += cookie != 0;
	if (!m->period)
		note_backlog(m, n);
	m->backlog += n;
	m->waiting += n;
}

static inline bool accepts(const struct mf_mux *m, unsigned int n, uint64_t cookie)
{
	return mf_mux_room(m, n) && (!cookie || m->done.promised <= m->done.mask);
}

/** Takes an item. There must be one. */
static inline struct mf_mux_item *take_item(struct mf_mux *m)
{
	struct mux_store *s = &m->store;
	uint32_t low = s->low;

	if (__builtin_expect(low != 0, 1)) {
		s->low = low & (low - 1);
		return mux_item_at(m, (uint32_t)__builtin_ctz(low));
	}
	return mux_item_at(m, s->free > 0 ? mux_free(s)[--s->free] : s->fresh++);
}

/** Gives an item its place in the ring. */
static inline void take_words(struct mf_mux *m, struct mf_mux_item *it, unsigned int n)
{
	struct mux_store *s = &m->store;
	uint32_t at = place(s, n), self = mux_index_of(m, it);

	it->first = at & s->word_mask;
	it->end = s->write = at + n;
	it->younger = MUX_NONE;
	*(s->oldest == MUX_NONE ? &s->oldest : &mux_item_at(m, s->youngest)->younger) = self;
	s->youngest = self;
}

static struct mf_mux_item *push(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int n,
				uint64_t cookie)
{
	struct mux_store *s = &m->store;
	struct mf_mux_item *it = take_item(m);

	it->ready = ready;
	it->cookie = cookie;
	it->tie = tie;
	it->n = n;
	it->have = it->sent = 0;
	it->seq = s->seq++;
	it->messages = 1;
	it->cookies = 0;
	it->several = it->queued = it->marked = it->done = it->cut = false;
	it->single = n == 1;
	it->own = is_own(m, n);
	if (!it->own)
		take_words(m, it, n);
	put_syncs(mux_syncs(m, it), n);
	account(m, n, cookie);
	return it;
}

struct mf_mux_item *mf_mux_push(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int n,
				uint64_t cookie, uint64_t **words)
{
	MF_CYCLES(MF_CYCLES_MUX_PUSH);
	struct mf_mux_item *it;

	if (!accepts(m, n, cookie))
		return NULL;
	it = push(m, ready, tie, n, cookie);
	*words = mux_words(m, it);
	return it;
}

static void link_behind(struct mf_mux *m, struct mux_queue *q, uint32_t prev, struct mf_mux_item *it)
{
	uint32_t self = mux_index_of(m, it);
	uint32_t next = prev == MUX_NONE ? q->head : mux_item_at(m, prev)->next;

	it->prev = prev;
	it->next = next;
	*(prev == MUX_NONE ? &q->head : &mux_item_at(m, prev)->next) = self;
	*(next == MUX_NONE ? &q->tail : &mux_item_at(m, next)->prev) = self;
}

/**
 * A message may be queued later than it could have gone: one that waited for another, and goes with it.
 * Blocks of frames that went out since then it has waited for, as that one has.
 */
static bool was_marked(struct mf_mux *m, struct mf_mux_item *it)
{
	const struct mf_mux_item *prev = it->prev != MUX_NONE ? mux_item_at(m, it->prev) : NULL;

	if (prev != NULL && prev->ready == it->ready) {
		it->marked = prev->marked;
		it->mark = prev->mark;
	} else if (prev == NULL && m->marked.ready == it->ready) {
		it->marked = true;
		it->mark = m->marked.mark;
	}
	return it->marked;
}

/** Sorted from the tail: where most belong. */
static void insert(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_queue *q = mux_queue_of(m, it);
	uint32_t prev = q->tail;

	while (prev != MUX_NONE && mux_item_before(it, mux_item_at(m, prev)))
		prev = mux_item_at(m, prev)->prev;
	link_behind(m, q, prev, it);
	it->queued = true;
	if (__builtin_expect(m->marks, 0) && was_marked(m, it))
		return;
	if (it->next != MUX_NONE && mux_item_at(m, it->next)->marked) {
		it->marked = true;
		it->mark = (uint32_t)(m->stats.frame_blocks + m->stats.gap_blocks);
	} else if (it->next == q->unmarked) {
		q->unmarked = mux_index_of(m, it);
	}
}

/** Under the wall clock the order of the calls is that of the messages, of one block or of several. */
static void stay_behind(struct mf_mux *m, struct mf_mux_item *it)
{
	const struct mux_queue *queue[] = {&m->messages, &m->singles};

	for (unsigned int i = 0; i < 2; i++) {
		const struct mf_mux_item *last = mux_item_at(m, queue[i]->tail);

		if (queue[i]->tail != MUX_NONE && mux_item_before(it, last)) {
			it->ready = last->ready;
			it->tie = last->tie;
		}
	}
}

void mf_mux_append(struct mf_mux *m, struct mf_mux_item *it, unsigned int n)
{
	MF_CYCLES(MF_CYCLES_MUX_PUSH);
	bool first = !it->have && n;

	it->have += n < it->n - it->have ? n : it->n - it->have;
	if (first) {
		if (!m->period)
			stay_behind(m, it);
		insert(m, it);
	}
}

void mf_mux_take_back(struct mf_mux_item *it, unsigned int n)
{
	it->have -= n < it->have - it->sent ? n : it->have - it->sent;
}

/** The item behind which n more words can go out as one with it: the last one pushed. NULL: there is none. */
static inline struct mf_mux_item *joinable(struct mf_mux *m, unsigned int n, uint64_t cookie)
{
	struct mux_store *s = &m->store;
	struct mf_mux_item *it;

	if (m->period || s->oldest == MUX_NONE)
		return NULL;
	it = mux_item_at(m, s->youngest);
	if (!it->several || it->sent || it->single != (n == 1))
		return NULL;
	if (it->n + n > MUX_MIXED_SPAN || (cookie && (m->done.promised > m->done.mask || n == 1)))
		return NULL;
	/* Contiguous, and within the room that there is. */
	return it->first + it->n + n <= s->word_mask + 1 && it->end + n - s->read <= s->word_mask + 1 ? it
												      : NULL;
}

/** Others may join it. */
static void begin_several(struct mf_mux *m, struct mf_mux_item *it, mf_time ready)
{
	if (it->cookie) {
		m->done.waiting[m->done.waiting_put++ & m->done.mask] = it->cookie;
		it->cookies = 1;
	}
	it->later = ready - it->ready;
	it->several = true;
}

/**
 * Sync headers of a message in a span, behind which there is room: in words of eight, as mf_demux_message()
 * reads them. What was written in other pieces it would have to wait for.
 */
static inline void put_span_syncs(uint8_t *sync, uint32_t n)
{
	const uint64_t data = UINT64_C(0x0101010101010101) * MF_SYNC_DATA,
		       control = MF_SYNC_DATA ^ MF_SYNC_CTRL;
	uint64_t eight = data ^ control;

	for (; n > 8; n -= 8, sync += 8, eight = data)
		memcpy(sync, &eight, 8);
	if (n > 1 || eight == data) /* a message of one block begins and ends with it */
		eight ^= control << 8 * (n - 1);
	memcpy(sync, &eight, 8);
}

/** Into the spans that go next. @return NULL: there is no room */
static inline uint64_t *put_open(struct mf_mux *m, mf_time ready, unsigned int n, uint64_t cookie)
{
	struct mux_done_ring *d = &m->done;
	struct mux_open *o = &m->open;
	struct mux_open_span *s = o->fill;
	uint32_t at;

	if (cookie && d->promised > d->mask)
		return NULL;
	if (__builtin_expect(s->span.count + n > o->limit, 0)) {
		s = mux_open_room(o, n);
		if (!s)
			return NULL;
	}
	at = s->span.count;
	s->span.count = (uint16_t)(at + n);
	s->messages++;
	s->ready += ready;
	put_span_syncs(&s->span.sync[at], n);
	if (cookie) {
		d->promised++;
		d->waiting[d->waiting_put++ & d->mask] = cookie;
		s->cookies++;
	}
	o->ahead = o->blocks;
	if (n > 1)
		o->ahead_message = o->blocks;
	o->blocks += n;
	o->ready = mf_time_max(o->ready, ready);
	return &s->span.word[at];
}

/** Behind what waits: with the last item, or as one. */
static __attribute__((noinline)) uint64_t *put_item(struct mf_mux *m, mf_time ready, uint32_t tie,
						    unsigned int n, uint64_t cookie)
{
	struct mf_mux_item *it = joinable(m, n, cookie);
	uint32_t at;

	if (!it) {
		if (!accepts(m, n, cookie))
			return NULL;
		it = push(m, ready, tie, n, cookie);
		it->have = n;
		if (!m->period) {
			stay_behind(m, it);
			if (!m->shaped && (!cookie || n > 1))
				begin_several(m, it, ready);
		}
		insert(m, it);
		return mux_words(m, it);
	}
	at = it->first + it->n;
	it->n += n;
	it->have += n;
	it->end += n;
	it->messages++;
	it->later += ready - it->ready;
	m->store.write = it->end;
	put_syncs(&mux_store_syncs(&m->store)[at], n);
	if (cookie) {
		m->done.waiting[m->done.waiting_put++ & m->done.mask] = cookie;
		it->cookies++;
	}
	account(m, n, cookie);
	return &m->store.word[at];
}

/* Inline: programs are compiled as a whole, and this is what every message costs four times on its way. */
inline __attribute__((always_inline)) uint64_t *mf_mux_put(struct mf_mux *m, mf_time ready, uint32_t tie,
							   unsigned int n, uint64_t cookie)
{
	MF_CYCLES(MF_CYCLES_MUX_PUSH);
	uint64_t *word = mux_open_takes(m) ? put_open(m, ready, n, cookie) : NULL;

	return __builtin_expect(word != NULL, 1) ? word : put_item(m, ready, tie, n, cookie);
}

static uint64_t ready_of(const struct mf_mux *m, const struct mux_queue *q, mf_time now)
{
	const struct mf_mux_item *it = mux_queue_head(m, q);
	uint64_t blocks = 0;

	for (; it != NULL && it->ready <= now; it = it->next != MUX_NONE ? mux_item_at(m, it->next) : NULL)
		blocks += it->n;
	return blocks;
}

uint64_t mux_queue_ready(const struct mf_mux *m, mf_time now)
{
	return ready_of(m, &m->messages, now) + ready_of(m, &m->singles, now);
}

void mf_mux_abort(struct mf_mux *m, struct mf_mux_item *it)
{
	m->done.promised -= it->cookie != 0;
	it->cookie = 0;
	if (it->sent) {
		/* The words that it has still go, then an /MT/ whose check fails: the receiver knows that the
		 * message is over and goes on with the frame that this one has preempted. */
		m->backlog -= it->n - it->have - 1;
		mux_syncs(m, it)[it->have] = MF_SYNC_CTRL;
		mux_words(m, it)[it->have++] = MF_BT_MT | ~UINT64_C(0xff);
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

/*
 * An item behind whose ready time frames go out is marked with how many had gone out before: the rest
 * of its wait was for memory. Each item is marked once, so sending frames costs no search.
 */
static void mark_overtaken(struct mf_mux *m, struct mux_queue *q, mf_time s, uint32_t n, uint32_t sent)
{
	mf_time last = s + (mf_time)(n - 1) * m->period;

	while (q->unmarked != MUX_NONE && mux_item_at(m, q->unmarked)->ready <= last) {
		struct mf_mux_item *it = mux_item_at(m, q->unmarked);

		m->marks = it->marked = true;
		it->mark = sent + mux_blocks_before(m, s, it->ready);
		q->unmarked = it->next;
	}
}

void mux_queue_overtaken(struct mf_mux *m, mf_time s, uint32_t n, uint32_t sent)
{
	if (m->messages.unmarked == MUX_NONE && m->singles.unmarked == MUX_NONE)
		return; /* as always where all is frames */
	mark_overtaken(m, &m->messages, s, n, sent);
	mark_overtaken(m, &m->singles, s, n, sent);
}

uint32_t mux_queue_overtakers(const struct mf_mux *m, const struct mf_mux_item *it)
{
	return it->marked ? (uint32_t)(m->stats.frame_blocks + m->stats.gap_blocks) - it->mark : 0;
}
