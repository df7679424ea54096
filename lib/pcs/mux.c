/* SPDX-License-Identifier: BSD-3-Clause */
/* The multiplexer: what goes out next, and when (EDM 3.2.3). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_cycles.h"
#include "base/mf_fetch.h"
#include "pcs/mux_open.h"

#define PERIOD_MAX (UINT32_C(1) << 26) /* ps: one block at 1 Mb/s. Eight of them fit 32 bits */

#define FETCH_ITEMS 16
#define FETCH_LINES 3 /* of an item with its room: a chunk of 64 octets */

static const struct mux_policy *const policies[] = {
	[MF_MUX_FAIR] = &mux_policy_fair,
	[MF_MUX_MEMORY_FIRST] = &mux_policy_memory_first,
	[MF_MUX_NO_PREEMPT] = &mux_policy_no_preempt,
	[MF_MUX_FIFO] = &mux_policy_fifo,
};

static int init(struct mf_mux *m, const struct mf_mux_config *config)
{
	int rc;

	if ((unsigned int)config->policy >= sizeof(policies) / sizeof(*policies))
		return -EINVAL;
	if (config->period > PERIOD_MAX || (config->policy == MF_MUX_FAIR && !config->quantum))
		return -EINVAL;
	m->policy = policies[config->policy];
	m->period = config->period;
	m->fair.quantum = config->quantum;
	m->memory_enabled = config->memory_enabled;
	m->shaped = config->shaped;
	rc = mux_queue_init(m, config);
	if (!rc)
		rc = mux_open_init(m);
	return rc ? rc : mux_frames_init(m, config);
}

struct mf_mux *mf_mux_new(const struct mf_mux_config *config)
{
	struct mf_mux *m = aligned_alloc(64, (sizeof(*m) + 63) / 64 * 64);
	int rc;

	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	rc = init(m, config);
	if (rc) {
		mf_mux_free(m);
		errno = -rc;
		return NULL;
	}
	return m;
}

void mf_mux_free(struct mf_mux *m)
{
	if (!m)
		return;
	mux_queue_fini(m);
	mux_open_fini(m);
	mux_frames_fini(m);
	free(m);
}

/**
 * The next to begin, ready or not. While a message holds the link for words to come only single blocks
 * may stand inside it; but a single block overtakes no message that is in front of it in the queue.
 */
static struct mf_mux_item *next_item(const struct mf_mux *m)
{
	struct mf_mux_item *it = mux_queue_first(m);

	return m->held && it && !it->single ? NULL : it;
}

/** From when on memory may be sent, the line aside. */
static mf_time memory_ready(const struct mf_mux *m)
{
	const struct mf_mux_item *it = m->held;

	if (m->begun_singles || (it && it->have > it->sent))
		return 0;
	it = next_item(m);
	return it ? it->ready : MF_NEVER;
}

/** The message that goes on or begins at now. */
static struct mf_mux_item *pick(const struct mf_mux *m, mf_time now)
{
	struct mf_mux_item *it = m->held;

	if (m->begun_singles)
		return m->begun_singles;
	if (it && it->have > it->sent)
		return it;
	it = next_item(m);
	return it && it->ready <= now ? it : NULL;
}

/** How much memory was ahead of a message: its wait, but for frames. */
static void measure_backlog(struct mf_mux *m, const struct mf_mux_item *it, mf_time now)
{
	uint32_t blocks;

	/* Hardly any message waits; save the division. */
	if (now - it->ready < m->period)
		return;
	if (it->marked)
		m->marked = (struct mux_marked){.ready = it->ready, .mark = it->mark};
	blocks = (uint32_t)((now - it->ready) / m->period) - mux_queue_overtakers(m, it);
	if (blocks > m->stats.backlog_max)
		m->stats.backlog_max = blocks;
	if (it->n > 1 && blocks > m->stats.backlog_message_max)
		m->stats.backlog_message_max = blocks;
}

static void begin(struct mf_mux *m, struct mf_mux_item *it, mf_time now)
{
	if (m->period)
		measure_backlog(m, it, now);
	m->stats.waited += it->messages * (now - it->ready) - (it->several ? it->later : 0);
	if (m->policy->sent_memory)
		m->policy->sent_memory(m, now, !mux_frames_quiet(m) && mux_frames_pending(m, now), it->n);
	m->stats.preemptions += m->frames.left > 0;
	mux_queue_remove(m, it);
	m->waiting -= it->n;
	if (!it->single)
		m->held = it;
	else if (it->several)
		m->begun_singles = it;
}

static inline void done(struct mf_mux *m, uint64_t cookie, mf_time at)
{
	struct mux_done_ring *d = &m->done;

	d->entry[d->put++ & d->mask] = (struct mux_done){.cookie = cookie, .at = at};
}

/** Tells the cookies of an item that is through. */
static inline void tell_done(struct mf_mux *m, const struct mf_mux_item *it, mf_time at)
{
	struct mux_done_ring *d = &m->done;

	for (uint32_t i = 0; i < it->cookies; i++)
		done(m, d->waiting[d->waiting_get++ & d->mask], at);
	if (!it->several && it->cookie)
		done(m, it->cookie, at);
}

static void finish(struct mf_mux *m, struct mf_mux_item *it, mf_time last)
{
	m->stats.messages += it->cut ? 0 : it->messages;
	tell_done(m, it, last);
	if (m->held == it)
		m->held = NULL;
	if (m->begun_singles == it)
		m->begun_singles = NULL;
	mux_queue_release(m, it);
}

/** Puts the next k words of an item behind those in the span. */
static inline void put_words(struct mf_mux *m, struct mf_mux_item *it, uint32_t k, struct mf_span *out)
{
	const uint64_t *word = mux_words(m, it) + it->sent;
	const uint8_t *sync = mux_syncs(m, it) + it->sent;

	if (it->own && it->sent == 0 && out->count == 0) { /* the room of an item is that of few */
		mf_blocks_copy(out->word, out->sync, word, sync, k);
	} else {
		memcpy(&out->word[out->count], word, k * sizeof(*word));
		memcpy(&out->sync[out->count], sync, k);
	}
	it->sent += k;
	out->count += (uint16_t)k;
}

/** Sends what there is of one message. @return blocks */
static uint32_t send_memory(struct mf_mux *m, mf_time now, uint32_t max, struct mf_span *out)
{
	struct mf_mux_item *it = pick(m, now);
	uint32_t k;

	if (!it)
		return 0;
	/* Several go out as one, or a cookie would be told long after its message. */
	if (it->messages > 1 && !it->sent && it->n > max && out->count > 0)
		return 0;
	if (!it->sent)
		begin(m, it, now);
	k = it->have - it->sent < max ? it->have - it->sent : max;
	put_words(m, it, k, out);
	if (!mux_frames_quiet(m))
		mux_frames_wait(m, now, k);
	m->line_free = now + (mf_time)k * m->period;
	m->memory_last = true;
	m->backlog -= k;
	m->stats.memory_blocks += k;
	if (it->sent == it->n)
		finish(m, it, now + (mf_time)(k - 1) * m->period);
	return k;
}

/** Sends up to max blocks of frames from s on, at most n that the policy lets go first. @return blocks */
static uint32_t send_frames(struct mf_mux *m, mf_time s, mf_time ready, uint32_t n, struct mf_span *out)
{
	uint64_t sent = m->stats.frame_blocks + m->stats.gap_blocks;

	n = mux_frames_send(m, s, n, out);
	if (m->policy->sent_frames)
		m->policy->sent_frames(m, s, ready, n);
	if (m->period)
		mux_queue_overtaken(m, s, n, (uint32_t)sent);
	m->memory_last = false;
	return n;
}

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/**
 * Virtual clock: a short message that goes out whole while there are no frames. What send_memory() would do,
 * with nothing in between. @return false: nothing was done
 */
static inline bool send_short(struct mf_mux *m, mf_time now, uint32_t max, struct mf_span *out)
{
	struct mf_mux_item *it = mux_queue_first(m);
	uint32_t n;

	if (!it || m->held || !it->own || it->have != it->n || it->n > max || it->ready > now)
		return false;
	n = it->n;
	mf_blocks_copy(out->word, out->sync, mux_words(m, it), mux_syncs(m, it), n);
	out->count = (uint16_t)n;
	measure_backlog(m, it, now);
	m->stats.waited += now - it->ready;
	if (m->policy->sent_memory)
		m->policy->sent_memory(m, now, false, n);
	mux_queue_remove(m, it);
	m->waiting -= n;
	m->backlog -= n;
	m->stats.memory_blocks += n;
	m->stats.messages++;
	m->line_free = now + (mf_time)n * m->period;
	m->memory_last = true;
	if (it->cookie)
		done(m, it->cookie, now + (mf_time)(n - 1) * m->period);
	mux_item_free(m, it);
	return true;
}

/** Virtual clock: blocks of a frame that started before now, else memory that starts now. */
static void pull_virtual(struct mf_mux *m, mf_time now, uint32_t max, struct mf_span *out)
{
	if (mux_frames_quiet(m)) {
		if (m->line_free <= now && !send_short(m, now, max, out))
			send_memory(m, now, max, out);
		return;
	}

	mf_time s = m->held ? MF_NEVER : mux_frames_start(m), ready = memory_ready(m);
	uint32_t n = s <= now ? m->policy->frames(m, s, ready) : 0;

	if (!n) {
		if (m->line_free <= now)
			send_memory(m, now, max, out);
		return;
	}
	/* A block that starts right now has its turn, but is given out only when it is in the past. */
	if (s == now)
		return;
	out->start = s;
	out->flags = MF_SPAN_FRAME;
	n = send_frames(m, s, ready, min3(n, max, mux_blocks_before(m, s, now)), out);
	m->line_free = s + (mf_time)n * m->period;
}

/** Blocks of frames whose turn it is. */
static uint32_t pull_frames(struct mf_mux *m, mf_time now, uint32_t room, struct mf_span *out)
{
	mf_time ready = memory_ready(m);
	uint32_t n = m->policy->frames(m, now, ready);

	return n ? send_frames(m, now, ready, n < room ? n : room, out) : 0;
}

/**
 * Wall clock: items all of whose words are there, while there are no frames. What send_memory() would
 * give, with the accounts kept once for all of them.
 */
static void send_whole(struct mf_mux *m, mf_time now, uint32_t max, struct mf_span *out)
{
	struct mf_mux_item *it;
	uint32_t messages = 0, blocks;

	while ((it = mux_queue_first(m)) != NULL && it->have == it->n && it->n <= max - out->count &&
	       it->ready <= now) {
		if (out->count > 0 && out->count + it->n > m->open.several)
			break;
		put_words(m, it, it->n, out);
		messages += it->messages;
		m->stats.waited += it->messages * (now - it->ready) - (it->several ? it->later : 0);
		tell_done(m, it, now);
		mux_queue_remove(m, it);
		mux_queue_release(m, it);
	}
	if (messages == 0)
		return;
	blocks = out->count;
	if (m->policy->sent_memory)
		m->policy->sent_memory(m, now, false, blocks);
	m->line_free = now;
	m->memory_last = true;
	m->waiting -= blocks;
	m->backlog -= blocks;
	m->stats.memory_blocks += blocks;
	m->stats.messages += messages;
}

/** Wall clock: all there is. */
static void pull_wall(struct mf_mux *m, mf_time now, uint32_t max, struct mf_span *out)
{
	bool memory = false;

	if (m->open.blocks) {
		if (m->open.ready <= now)
			mux_open_copy(m, now, max, out);
		return;
	}
	if (!m->held && !m->begun_singles && mux_frames_quiet(m)) {
		send_whole(m, now, max, out);
		memory = out->count > 0;
		/* A message that does not fit whole is the next span's: nobody has to assemble it. */
		if (out->count > 0 && m->backlog)
			return;
	}
	if (!mux_frames_quiet(m) && max > MUX_MIXED_SPAN)
		max = MUX_MIXED_SPAN;
	while (out->count < max && (m->backlog || !mux_frames_quiet(m))) {
		uint32_t room = max - out->count;

		if (!m->held && !mux_frames_quiet(m) && mux_frames_pending(m, now) &&
		    pull_frames(m, now, room, out))
			continue;
		if (!send_memory(m, now, room, out))
			break;
		memory = true;
	}
	out->flags = memory ? 0 : MF_SPAN_FRAME;
	if (out->count < max)
		m->fair.credit[0] = m->fair.credit[1] = 0;
}

/* inline: programs are compiled as a whole, and these are what every turn asks. */
inline struct mf_span *mf_mux_pull_in_place(struct mf_mux *m, mf_time now, struct mf_span *room)
{
	if (m->open.blocks && !m->open.from && m->open.ready <= now)
		return mux_open_give(m, now);
	return mf_mux_pull(m, now, MF_SPAN_MAX, room) > 0 ? room : NULL;
}

unsigned int mf_mux_pull(struct mf_mux *m, mf_time now, unsigned int max, struct mf_span *out)
{
	MF_CYCLES(MF_CYCLES_MUX_PULL);
	out->start = now;
	out->period = m->period;
	out->count = 0;
	out->flags = 0;
	if (max > MF_SPAN_MAX)
		max = MF_SPAN_MAX;
	if (!mux_backlog(m) && mux_frames_quiet(m)) {
		if (!m->period)
			m->fair.credit[0] = m->fair.credit[1] = 0;
		return 0;
	}
	if (m->period)
		pull_virtual(m, now, max, out);
	else
		pull_wall(m, now, max, out);
	return out->count;
}

inline bool mf_mux_waits(const struct mf_mux *m)
{
	const int32_t *credit = m->fair.credit;

	return (mux_backlog(m) | m->frames_wait | (uint32_t)credit[0] | (uint32_t)credit[1]) != 0;
}

/** When frames that may start at s are through, or memory that is ready at r splits them. */
static mf_time frames_through(const struct mf_mux *m, mf_time s, mf_time r)
{
	uint32_t policy = m->policy->frames(m, s, r), span = mux_frames_span(m, s);
	uint32_t n = policy < span ? policy : span;

	return s + (mf_time)(n < MF_SPAN_MAX ? n : MF_SPAN_MAX) * m->period;
}

/** Virtual clock: while there are no frames, and no message waits for words to come. */
static inline mf_time next_alone(const struct mf_mux *m, mf_time now)
{
	const struct mf_mux_item *it = mux_queue_first(m);

	return it ? mf_time_max(mf_time_max(it->ready, m->line_free), now) : MF_NEVER;
}

mf_time mf_mux_next(const struct mf_mux *m, mf_time now)
{
	mf_time ready, memory, frames;

	if (m->period && !m->held && mux_frames_quiet(m))
		return next_alone(m, now);
	if (!mux_backlog(m) && mux_frames_quiet(m))
		return MF_NEVER;
	if (m->open.blocks)
		return mf_time_max(now, m->open.ready);
	ready = memory_ready(m);
	/* Words may have come later than they could have gone; frames may have come with them. */
	memory = ready == MF_NEVER ? MF_NEVER : mf_time_max(mf_time_max(ready, m->line_free), now);
	frames = m->held ? MF_NEVER : mux_frames_start(m);
	if (m->period && frames <= memory && frames != MF_NEVER)
		return mf_time_max(now, frames_through(m, frames, ready));
	return mf_time_max(now, mf_time_min(memory, frames));
}

mf_time mf_mux_next_block(const struct mf_mux *m, mf_time now)
{
	mf_time s = m->held ? MF_NEVER : mux_frames_start(m), next = mf_mux_next(m, now);

	return s >= now && s != MF_NEVER ? mf_time_min(next, s + 1) : next;
}

inline uint64_t mf_mux_done(struct mf_mux *m, mf_time *at)
{
	struct mux_done_ring *d = &m->done;
	struct mux_done *e;

	if (d->get == d->put)
		return 0;
	e = &d->entry[d->get++ & d->mask];
	if (d->get == d->put)
		d->get = d->put = 0; /* the first entries, which are in the cache, do for nearly all */
	d->promised--;
	*at = e->at;
	return e->cookie;
}

/** To nowhere, as long as that takes; and then it took no time. */
void mf_mux_flush(struct mf_mux *m, mf_time now)
{
	const struct mf_mux_stats stats = m->stats;
	mf_time line_free = m->line_free, at = now, told;
	struct mf_span s;

	while ((at = mf_mux_next(m, at)) != MF_NEVER)
		mf_mux_pull(m, at, MF_SPAN_MAX, &s);
	while (mf_mux_done(m, &told) != 0)
		;
	m->line_free = line_free;
	m->memory_last = false;
	m->fair = (struct mux_fair){.quantum = m->fair.quantum};
	m->stats = stats;
}

void mf_mux_line_up(struct mf_mux *m, mf_time now)
{
	if (!m->period || m->line_free >= now)
		return;
	mux_frames_idle(m, now);
	m->line_free = now;
}

mf_time mf_mux_oldest(const struct mf_mux *m)
{
	const struct mf_mux_item *it = mux_queue_first(m);

	if (m->open.blocks)
		return mux_open_oldest(&m->open);
	return it ? it->ready : MF_NEVER;
}

mf_time mf_mux_silent(const struct mf_mux *m, mf_time now)
{
	const struct mf_mux_item *it = mux_queue_first(m);
	mf_time since = m->line_free;

	if (mux_backlog(m) == 0)
		return 0;
	if (m->open.blocks)
		since = mf_time_max(since, mux_open_since(&m->open));
	else if (it)
		since = mf_time_max(since, it->ready);
	return now > since ? now - since : 0;
}

void mf_mux_close(struct mf_mux *m, bool closed)
{
	m->memory_enabled = !closed;
	mux_open_close(m, closed);
}

mf_time mf_mux_behind(const struct mf_mux *m, mf_time now)
{
	if (m->messages.tail != MUX_NONE)
		now = mf_time_max(now, mux_item_at(m, m->messages.tail)->ready);
	if (m->singles.tail != MUX_NONE)
		now = mf_time_max(now, mux_item_at(m, m->singles.tail)->ready);
	return now;
}

void mf_mux_inherit(struct mf_mux *m, const struct mf_mux *from)
{
	m->stats = from->stats;
}

uint32_t mf_mux_ahead(const struct mf_mux *m, mf_time now)
{
	if (!m->period || !m->memory_last || m->line_free <= now)
		return 0;
	return (uint32_t)((m->line_free - now - 1) / m->period);
}

uint32_t mf_mux_backlog(const struct mf_mux *m, mf_time now)
{
	if (!m->period || !m->memory_last || now >= m->line_free)
		return mux_backlog(m);
	return m->backlog + (uint32_t)((m->line_free - now) / m->period);
}

uint64_t mf_mux_octets(const struct mf_mux *m, mf_time now)
{
	uint64_t blocks = m->period ? mux_queue_ready(m, now) : mf_mux_waiting(m);

	return 8 * blocks + mux_frames_octets(m);
}

uint32_t mf_mux_waiting(const struct mf_mux *m)
{
	return m->waiting + m->open.blocks;
}

void mf_mux_fetch(const struct mf_mux *m)
{
	mf_fetch_only();
	__builtin_prefetch(m, 1);
	__builtin_prefetch(&m->store, 1);
	__builtin_prefetch(&m->done, 1);
	__builtin_prefetch(&m->frames);
	__builtin_prefetch(&m->stats, 1);
}

static inline void fetch_item(const struct mf_mux_item *it)
{
	for (unsigned int line = 0; line < FETCH_LINES; line++)
		__builtin_prefetch(it + line, 1);
}

void mf_mux_fetch_head(const struct mf_mux *m)
{
	mf_fetch_only();
	if (m->messages.head != MUX_NONE)
		fetch_item(mux_item_at(m, m->messages.head));
	if (m->singles.head != MUX_NONE)
		fetch_item(mux_item_at(m, m->singles.head));
}

void mf_mux_fetch_items(const struct mf_mux *m, unsigned int more)
{
	const struct mux_store *s = &m->store;
	uint32_t n = ~s->low != 0 ? 32 - (uint32_t)__builtin_clz(~s->low) : 0;

	mf_fetch_only();
	__builtin_prefetch(&m->done.entry[m->done.put & m->done.mask], 1);
	n = n + more < FETCH_ITEMS ? n + more : FETCH_ITEMS;
	for (uint32_t i = 0; i < n; i++)
		fetch_item(mux_item_at(m, i));
}

const struct mf_mux_stats *mf_mux_stats(const struct mf_mux *m)
{
	return &m->stats;
}
