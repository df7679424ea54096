/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst of demands that come at one instant and find no others, all ports free, and windows that have room
 * for the whole of it, is granted in that instant, in one matching after the other. Nothing is left of it, so
 * it is never in the queues. Its matchings are those of pim.h, of an array of keys instead of lists:
 *
 *   1. each demand that looks for a match asks its destination, which keeps the best: burst_request()
 *   2. what is the best of its destination asks its source, which keeps the best: burst_ask()
 *   3. what is the best of its source is granted; what has another's port looks no more: burst_look()
 *
 * Priorities and names fit 64 bits where all demands are of the same time:
 *
 *   epoch (11 bits) | SRPT: octets (16), FCFS: 0 | source (9) | id (8) | resp (1) | destination (9) |
 *   place in the burst (9) | begun (1)
 *
 * The epoch goes down by one each iteration: what is asked in one goes before all that was asked in earlier
 * ones, so that nobody has to forget it.
 */
#ifndef MF_SCHED_BURST_H
#define MF_SCHED_BURST_H

#include "systems/edm/sched/issue.h"

#define BURST_MAX 512
#define BURST_BEGUN UINT64_C(1)
#define BURST_PLACE 1
#define BURST_DST 10
#define BURST_RESP 19
#define BURST_ID 20
#define BURST_SRC 28
#define BURST_OCTETS 37
#define BURST_EPOCH (UINT64_C(1) << 53)
#define BURST_EPOCHS (-BURST_EPOCH)

static_assert(BURST_RESP == BURST_DST + 9 && BURST_ID == BURST_DST + 10 && BURST_SRC == BURST_DST + 18,
	      "names as in other keys: issue_names()");

/** One that is granted whole chunks leaves most of it as it was. */
struct burst_demand {
	uint64_t key; /* without epoch */
	uint32_t rest; /* octets that it still wants */
	uint32_t cookie;
};

struct burst {
	struct burst_demand demand[BURST_MAX];
	uint64_t best[SCHED_PORTS_MAX]; /* [destination]: what asks it */
	uint64_t asked[SCHED_PORTS_MAX]; /* [source] */
	uint64_t epoch;
	uint64_t open[BURST_MAX]; /* keys of those that are not granted in full */
	uint64_t look[BURST_MAX]; /* ... that look for a match in the matching under way */
	uint16_t won[SCHED_LIST]; /* places of those that found one */
	uint64_t pair[SCHED_PORTS_MAX * SCHED_WORDS_MAX]; /* [c][m]: has a demand */
	unsigned int opens, wins; /* how many */
	unsigned int iterations;
	uint16_t end[BURST_MAX + 1]; /* how many had found a match after each iteration */
	unsigned int follows; /* demands behind another one of their pair */
	uint16_t next[BURST_MAX]; /* place of the demand behind, + 1; 0: none. Only if any follow */
	uint64_t less; /* by which a key is less after a chunk */
	mf_time since; /* of all of them */
	uint64_t octets; /* that all of them want */
	uint32_t deepest; /* most demands of a destination */
	uint32_t least; /* octets that one of those that found a match still wants */
	struct mf_sched_grant *grant; /* the next one */
};

static inline unsigned int burst_src(uint64_t key)
{
	return key >> BURST_SRC & 0x1ff;
}

static inline unsigned int burst_dst(uint64_t key)
{
	return key >> BURST_DST & 0x1ff;
}

static inline unsigned int burst_place(uint64_t key)
{
	return key >> BURST_PLACE & 0x1ff;
}

static inline uint64_t *burst_pair(struct mf_sched *s, struct burst *b, unsigned int c, unsigned int m)
{
	return b->pair + ((size_t)c << s->order_shift) + m / 64;
}

/** A matching begins, which has no more iterations than there are demands. */
static inline void burst_begin(struct burst *b)
{
	if (b->epoch > BURST_MAX * BURST_EPOCH)
		return;
	memset(b->best, 0xff, sizeof(b->best));
	memset(b->asked, 0xff, sizeof(b->asked));
	b->epoch = BURST_EPOCHS;
}

static inline uint64_t burst_key(const struct mf_sched *s, const struct mf_sched_msg *msg, unsigned int place)
{
	uint64_t octets = s->config.priority == MF_SCHED_SRPT ? msg->size - 1 : 0;

	return octets << BURST_OCTETS | (uint64_t)msg->src << BURST_SRC | (uint32_t)msg->id << BURST_ID |
	       (uint32_t)msg->resp << BURST_RESP | (uint32_t)msg->dst << BURST_DST | place << BURST_PLACE;
}

/** What the key or the grants of a demand cannot tell. */
static inline bool burst_odd(const struct mf_sched *s, const struct mf_sched_msg *msg, mf_time since)
{
	return (msg->kind != MF_SCHED_DEMAND) | msg->mega | msg->excess | (msg->at != since) |
	       (s->config.srpt_transfer & (msg->behind != 0));
}

/** Puts a demand behind the last one of its queue, if there is one. @return it is to be refused */
SCHED_PART bool burst_follow(struct mf_sched *s, struct burst *b, const struct mf_sched_msg *msg,
			     unsigned int place)
{
	unsigned int held = 0, last = BURST_MAX;
	bool same = false;

	if (!b->follows)
		memset(b->next, 0, sizeof(b->next));
	for (unsigned int i = 0; i < place; i++) {
		const struct mf_sched_msg *other = &inbox_at(&s->inbox, s->inbox.head + i)->msg;
		bool turned = other->resp != msg->resp;

		if (turned && s->direction)
			continue;
		if (other->src != (turned ? msg->dst : msg->src) ||
		    other->dst != (turned ? msg->src : msg->dst))
			continue;
		last = i;
		held += !turned;
		same |= !turned & (other->id == msg->id);
	}
	if (last < BURST_MAX) {
		b->next[last] = place + 1;
		b->follows++;
		b->opens--;
	}
	return same | (held >= s->config.x);
}

/** One demand is taken in. @return it cannot be in a burst: it is to be refused, or a window ends */
static inline bool burst_add(struct mf_sched *s, struct burst *b, const struct mf_sched_msg *msg,
			     unsigned int place)
{
	unsigned int src = msg->src, dst = msg->dst, turned = (src ^ dst) & -(unsigned int)msg->resp;
	uint64_t *pair = burst_pair(s, b, src ^ turned, dst ^ turned), key = burst_key(s, msg, place);
	uint64_t bit = UINT64_C(1) << (dst ^ turned) % 64, had = *pair & bit;
	uint32_t size = msg->size, from, to, depth;

	*pair |= bit;
	b->demand[place] = (struct burst_demand){key, size, msg->cookie};
	b->open[b->opens++] = key;
	b->octets += size;
	from = s->outstanding[SCHED_SRC][src] += size;
	to = s->outstanding[SCHED_DST][dst] += size;
	depth = ++s->depth[dst];
	b->deepest = depth > b->deepest ? depth : b->deepest;
	if (sched_rarely(had) && burst_follow(s, b, msg, place))
		return true;
	return (from > s->roomy) | (to > s->roomy);
}

/** Demands are out again, as if they had not come; but for windows, where all of them are granted. */
static inline void burst_forget(struct mf_sched *s, struct burst *b, unsigned int n, bool granted)
{
	for (const struct burst_demand *d = b->demand; d < b->demand + n; d++) {
		unsigned int src = burst_src(d->key), dst = burst_dst(d->key);
		unsigned int turned = (src ^ dst) & -(unsigned int)(d->key >> BURST_RESP & 1);

		*burst_pair(s, b, src ^ turned, dst ^ turned) = 0;
		s->depth[dst] = 0;
		if (granted)
			continue;
		s->outstanding[SCHED_SRC][src] -= d->rest;
		s->outstanding[SCHED_DST][dst] -= d->rest;
	}
}

/** Statistics of n demands that were taken in. */
static inline void burst_count(struct mf_sched *s, const struct burst *b, unsigned int n)
{
	struct mf_sched_stats *st = &s->stats;

	st->demands += n;
	st->demand_octets += b->octets;
	st->granted_octets += b->octets;
	st->entries_max = n > st->entries_max ? n : st->entries_max;
	st->queue_max = b->deepest > st->queue_max ? b->deepest : st->queue_max;
}

/**
 * Takes in what takes effect at clock, if it is such a burst and the caller has room for its grants.
 * @return how many demands; 0: it is none
 */
SCHED_PART unsigned int burst_take(struct mf_sched *s, struct burst *b)
{
	struct inbox *in = &s->inbox;
	bool odd = false;
	unsigned int n;

	b->since = inbox_at(in, in->head)->msg.at;
	b->octets = b->deepest = 0;
	b->opens = b->follows = 0;
	for (n = 0; !odd && in->head + n != in->tail; n++) {
		const struct inbox_entry *e = inbox_at(in, in->head + n);

		if (e->time > s->clock)
			break;
		odd = burst_odd(s, &e->msg, b->since) | (e->time != in->first) | (n == BURST_MAX);
		if (odd)
			break;
		odd = burst_add(s, b, &e->msg, n);
	}
	if (odd || (b->octets + (uint64_t)n * (s->config.chunk - 1)) / s->config.chunk > s->max - s->given) {
		burst_forget(s, b, n, false);
		return 0;
	}
	burst_count(s, b, n);
	return n;
}

/** First cycle: a destination asks for the best of its demands. */
static inline void burst_request(struct burst *b, unsigned int looks)
{
	for (unsigned int i = 0; i < looks; i++) {
		uint64_t key = b->look[i] | b->epoch, *best = b->best + burst_dst(key);

		*best = key < *best ? key : *best;
	}
}

/** Second cycle: a source takes the best of what it is asked for. */
static inline void burst_ask(struct burst *b, unsigned int looks, struct sched_map *asked)
{
	*asked = (struct sched_map){{0}};
	for (unsigned int i = 0; i < looks; i++) {
		uint64_t key = b->look[i] | b->epoch, *best = b->asked + burst_src(key);
		uint64_t asks = b->best[burst_dst(key)] == key, better = -(asks & (key < *best));

		*best ^= (*best ^ key) & better;
		asked->word[burst_src(key) / 64] |= asks << burst_src(key) % 64;
	}
}

/** Who has neither port matched looks on. @return how many */
static inline unsigned int burst_look(struct burst *b, unsigned int looks)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < looks; i++) {
		uint64_t key = b->look[i], best = b->best[burst_dst(key)];

		b->look[kept] = key;
		kept += (unsigned int)(b->asked[burst_src(key)] >= b->epoch + BURST_EPOCH) &
			(unsigned int)(b->asked[burst_src(best)] != best);
	}
	return kept;
}

/** The next grants of the demands at some places. What does not change is in registers. */
SCHED_PART void burst_grant(struct mf_sched *s, struct burst *b, const uint16_t *place, unsigned int n,
			    unsigned int iteration)
{
	const mf_time at = s->clock, since = b->since;
	const uint32_t chunk = s->config.chunk;
	const uint64_t less = b->less;
	uint32_t least = b->least;
	struct mf_sched_grant *g = b->grant;

	for (const uint16_t *end = place + n; place < end; place++, g++) {
		struct burst_demand *d = b->demand + *place;
		struct issue_words *w = (struct issue_words *)g;
		uint32_t rest = d->rest, size = rest < chunk ? rest : chunk, left = rest - size;
		uint64_t key = d->key;

		w->at = at;
		w->since = since;
		w->names = issue_names(key >> BURST_DST) | (~key & BURST_BEGUN) << 48 | (uint64_t)!left << 56;
		w->size = (uint64_t)size << 32;
		w->cookie = d->cookie;
		w->iteration = iteration;
		d->rest = left;
		d->key = (key - less) | BURST_BEGUN;
		least = left < least ? left : least;
	}
	b->grant = g;
	b->least = least;
}

/** A port is matched in the matching that began with this epoch. */
static inline bool burst_matched(const struct burst *b, uint64_t began, uint64_t key)
{
	uint64_t best = b->best[burst_dst(key)];

	return b->asked[burst_src(key)] < began || (best < began && b->asked[burst_src(best)] == best);
}

/** Behind those that were granted in full in an iteration others come, and look. @return how many look */
SCHED_PART unsigned int burst_succeed(struct burst *b, uint64_t began, unsigned int from, unsigned int looks)
{
	for (unsigned int i = from; i < b->wins; i++) {
		unsigned int next = b->next[b->won[i]];
		uint64_t key;

		if (b->demand[b->won[i]].rest || !next)
			continue;
		key = b->demand[next - 1].key;
		b->open[b->opens++] = key;
		b->follows--;
		if (!burst_matched(b, began, key))
			b->look[looks++] = key;
	}
	return looks;
}

/** A matching. */
SCHED_PART void burst_match(struct mf_sched *s, struct burst *b)
{
	const unsigned int limit = s->config.iterations;
	unsigned int looks = b->opens, k = 0, n;
	uint16_t src[SCHED_LIST];
	struct sched_map asked;
	uint64_t began;

	burst_begin(b);
	began = b->epoch;
	memcpy(b->look, b->open, looks * sizeof(*b->look));
	b->wins = 0;
	b->least = UINT32_MAX;
	do {
		b->epoch -= BURST_EPOCH;
		burst_request(b, looks);
		burst_ask(b, looks, &asked);
		n = scan_ports(&asked, s->words, src);
		k++;
		b->end[k] = b->wins + n;
		for (unsigned int i = 0; i < n; i++)
			b->won[b->wins + i] = burst_place(b->asked[src[i]]);
		burst_grant(s, b, b->won + b->wins, n, k);
		b->wins += n;
		looks = burst_look(b, looks);
		if (sched_rarely(b->follows))
			looks = burst_succeed(b, began, b->wins - n, looks);
	} while (looks && k != limit);
	b->iterations = k;
	issue_matched(s, k, b->wins);
}

/** What is granted in full is open no more. */
static inline void burst_close(struct burst *b)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < b->opens; i++) {
		const struct burst_demand *d = b->demand + burst_place(b->open[i]);

		b->open[kept] = d->key;
		kept += d->rest != 0;
	}
	b->opens = kept;
}

/** The last matching as often again as its grants are for whole chunks, neither first nor last ones. */
static inline void burst_copy(struct mf_sched *s, struct burst *b)
{
	const uint32_t chunk = s->config.chunk;
	uint32_t times = 0;

	for (; b->least > chunk; b->least -= chunk, times++) {
		memcpy(b->grant, b->grant - b->wins, b->wins * sizeof(*b->grant));
		b->grant += b->wins;
		issue_matched(s, b->iterations, b->wins);
	}
	for (unsigned int i = 0; i < b->wins && times; i++) {
		struct burst_demand *d = b->demand + b->won[i];

		d->rest -= times * chunk;
		d->key -= times * b->less;
	}
}

/** Of those that are matched, the ones that still want something. */
static inline void burst_stay(struct burst *b)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < b->wins; i++) {
		b->won[kept] = b->won[i];
		kept += b->demand[b->won[i]].rest != 0;
	}
	b->wins = b->end[1] = kept;
}

/** Whether the next matching has the same outcome, if no demand is granted in full: see repeat_matching.h. */
static inline bool burst_repeats(const struct mf_sched *s, const struct burst *b)
{
	return b->iterations == 1 || s->config.priority == MF_SCHED_FCFS;
}

/**
 * A matching repeats itself until a demand is granted in full, and beyond where nobody is left who could have
 * its ports.
 */
SCHED_PART void burst_repeat(struct mf_sched *s, struct burst *b)
{
	const bool all = b->wins == b->opens && b->iterations == 1;

	for (;;) {
		if ((!b->least && !all) || (b->follows && b->least <= s->config.chunk))
			return;
		if (!b->least)
			burst_stay(b);
		if (!b->wins)
			return;
		b->least = UINT32_MAX;
		for (unsigned int k = 0; k < b->iterations; k++)
			burst_grant(s, b, b->won + b->end[k], b->end[k + 1] - b->end[k], k + 1);
		issue_matched(s, b->iterations, b->wins);
		burst_copy(s, b);
	}
}

/** Grants what takes effect at clock, if it is a burst. @return whether */
static inline bool burst(struct mf_sched *s, struct burst *b)
{
	unsigned int n;

	if (!s->window || s->config.iteration || s->stats.entries || s->inbox.tail - s->inbox.head < 2 ||
	    !sched_map_equal(&s->free[SCHED_SRC], &s->all) || !sched_map_equal(&s->free[SCHED_DST], &s->all))
		return false;
	n = burst_take(s, b);
	if (!n)
		return false;
	b->less = s->config.priority == MF_SCHED_SRPT ? (uint64_t)s->config.chunk << BURST_OCTETS : 0;
	b->grant = s->out + s->given;
	for (; b->opens; burst_close(b)) {
		burst_match(s, b);
		if (burst_repeats(s, b))
			burst_repeat(s, b);
	}
	s->given = b->grant - s->out;
	burst_forget(s, b, n, true);
	inbox_drop(&s->inbox, s->inbox.head + n);
	return true;
}

#endif
