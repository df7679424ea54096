/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that a history is recorded in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "linear/history.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied as they are in memory");

#define WORDS_MOST 64 /* of an operation, by mf_history_sample() */

uint32_t mf_history_sample(uint64_t octets_max)
{
	uint32_t sample = 0;

	while (sample < MF_HISTORY_SAMPLE_MAX && octets_max >> sample > UINT64_C(8) * WORDS_MOST)
		sample++;
	return sample;
}

static bool config_ok(const struct mf_history_config *config, unsigned int logs, uint64_t octets)
{
	return config->sample <= MF_HISTORY_SAMPLE_MAX && logs > 0 && logs <= UINT16_MAX + 1U &&
	       octets / sizeof(uint64_t) > 0 && octets <= SIZE_MAX / logs;
}

struct mf_history *mf_history_new(const struct mf_history_config *config, unsigned int logs, uint64_t octets)
{
	uint64_t capacity = octets / sizeof(uint64_t);
	struct mf_history *h;

	if (!config_ok(config, logs, octets)) {
		errno = EINVAL;
		return NULL;
	}
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return NULL;
	h->config = *config;
	h->logs = logs;
	h->log = calloc(logs, sizeof(*h->log));
	h->map_len = capacity * sizeof(uint64_t) * logs;
	h->map = mmap(NULL, h->map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (h->map == MAP_FAILED)
		h->map = NULL;
	if (h->log == NULL || h->map == NULL) {
		mf_history_free(h);
		errno = ENOMEM;
		return NULL;
	}
	for (unsigned int i = 0; i < logs; i++)
		h->log[i] = (struct mf_history_log){.history = h,
						    .word = (uint64_t *)h->map + i * capacity,
						    .capacity = capacity,
						    .full = MF_NEVER};
	return h;
}

void mf_history_free(struct mf_history *h)
{
	if (h == NULL)
		return;
	if (h->map != NULL)
		munmap(h->map, h->map_len);
	free(h->copy);
	free(h->log);
	free(h);
}

struct mf_history_log *mf_history_log(struct mf_history *h, unsigned int i)
{
	return &h->log[i];
}

void mf_history_set_clock(struct mf_history *h, const struct mf_history_clock *clock)
{
	h->clock = *clock;
}

/** @param t  what the client takes for it */
static inline mf_time now_of(const struct mf_history_log *l, mf_time t)
{
	const struct mf_history_clock *c = &l->history->clock;

	return c->now != NULL ? c->now(c->ctx) : t;
}

void mf_history_lossy(struct mf_history *h)
{
	h->config.lossless = false;
}

mf_time mf_history_full(const struct mf_history *h)
{
	mf_time full = MF_NEVER;

	for (unsigned int i = 0; i < h->logs; i++)
		full = mf_time_min(full, h->log[i].full);
	return full;
}

uint64_t mf_history_records(const struct mf_history *h)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < h->logs; i++)
		n += h->log[i].records;
	return n;
}

void mf_history_each(const struct mf_history *h, void (*see)(void *ctx, const struct mf_history_record *r),
		     void *ctx)
{
	for (unsigned int i = 0; i < h->logs; i++)
		for (uint64_t place = 0; place < h->log[i].used; place = history_next(&h->log[i], place))
			see(ctx, history_at(&h->log[i], place));
}

static bool is_chosen(const struct mf_history_config *c, uint16_t node, uint64_t word)
{
	return history_chosen(c->fingerprint, c->sample, node, word >> c->sample) == word;
}

uint64_t history_words(const struct mf_history_config *c, const struct mf_history_record *r)
{
	uint64_t first = r->addr / 8, last = (r->addr + r->len - 1) / 8, n;

	if (r->kind >= MF_HISTORY_OPS)
		return 0;
	if (history_is_rmw(r->kind))
		return is_chosen(c, r->node, first) ? HISTORY_RMW_WORDS : 0;
	n = (last >> c->sample) - (first >> c->sample) + 1;
	n -= history_chosen(c->fingerprint, c->sample, r->node, first >> c->sample) < first;
	return n - (history_chosen(c->fingerprint, c->sample, r->node, last >> c->sample) > last);
}

/** @return the place, or MF_HISTORY_NONE */
static uint64_t take(struct mf_history_log *l, const struct mf_history_record *r)
{
	struct mf_history_record *out = (void *)&l->word[l->used];
	uint64_t place = l->used, words;

	if (l->full != MF_NEVER)
		return MF_HISTORY_NONE;
	words = history_words(&l->history->config, r);
	if (l->capacity - l->used < HISTORY_RECORD_WORDS ||
	    l->capacity - l->used - HISTORY_RECORD_WORDS < words || words > UINT32_MAX) {
		l->full = r->call;
		return MF_HISTORY_NONE;
	}
	*out = *r;
	out->ret = MF_NEVER;
	out->outcome = MF_HISTORY_UNDER_WAY;
	out->status = 0;
	out->reserved = 0;
	out->words = (uint32_t)words;
	l->used += HISTORY_RECORD_WORDS + words;
	l->records++;
	return place;
}

/** Copies of an operation's octets the words that are recorded; what is not of the operation is 0. */
static void keep(const struct mf_history_config *c, const struct mf_history_record *r, const uint8_t *octets,
		 uint64_t *out)
{
	for (struct history_walk w = history_walk(c, r); w.word <= w.last; history_walk_next(&w)) {
		uint64_t at = w.word * 8, from = at < r->addr ? r->addr : at;
		uint64_t end = r->addr + r->len < at + 8 ? r->addr + r->len : at + 8, word = 0;

		memcpy((uint8_t *)&word + (from - at), octets + (from - r->addr), end - from);
		*out++ = word;
	}
}

uint64_t mf_history_begin(struct mf_history_log *l, const struct mf_history_record *op, const void *data)
{
	uint64_t place = take(l, op), *out;

	if (place == MF_HISTORY_NONE)
		return place;
	out = &l->word[place + HISTORY_RECORD_WORDS];
	if (op->kind < MF_HISTORY_OPS && history_writes(op->kind))
		keep(&l->history->config, op, data, out);
	else if (history_is_rmw(op->kind) && history_at(l, place)->words != 0)
		memcpy(out, data, 2 * sizeof(*out));
	return place;
}

void mf_history_end(struct mf_history_log *l, uint64_t place, mf_time ret, enum mf_history_outcome outcome,
		    uint8_t status, const void *data)
{
	const struct mf_history_config *c = &l->history->config;
	struct mf_history_record *r;
	uint64_t *out;

	if (place == MF_HISTORY_NONE)
		return;
	r = (void *)&l->word[place];
	out = &l->word[place + HISTORY_RECORD_WORDS];
	r->ret = mf_time_max(now_of(l, ret), r->call);
	r->outcome = (uint8_t)outcome;
	r->status = status;
	if (outcome != MF_HISTORY_OK || data == NULL)
		return;
	if (r->kind == MF_HISTORY_READ)
		keep(c, r, data, out);
	else if (history_is_rmw(r->kind) && r->words != 0)
		memcpy(out + HISTORY_RMW_WORDS - 1, data, sizeof(*out));
}

void mf_history_cut(struct mf_history_log *l, uint16_t client, uint16_t node, mf_time at)
{
	take(l, &(struct mf_history_record){.call = now_of(l, at),
					    .client = client,
					    .node = node,
					    .len = 1,
					    .kind = MF_HISTORY_CUT});
}

void mf_history_unknown(struct mf_history_log *l, uint16_t node, uint64_t addr, uint64_t len)
{
	take(l,
	     &(struct mf_history_record){.addr = addr, .len = len, .node = node, .kind = MF_HISTORY_UNKNOWN});
}
