/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcs/mf_demux.h"
#include "systems/edm/fault/mf_witness.h"

#define ITEMS 16

struct mf_witness {
	struct mf_proto proto;
	struct mf_demux demux;
	struct mf_witness_stats stats;
	unsigned int words; /**< of the message that comes in parts */
	bool assembling;
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_witness_tag tag[MF_BLOCKS_MAX];
};

struct mf_witness *mf_witness_new(const struct mf_proto *proto)
{
	struct mf_witness *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);

	if (w == NULL)
		return NULL;
	w->proto = *proto;
	w->stats = (struct mf_witness_stats){0};
	w->words = 0;
	w->assembling = false;
	if (mf_demux_init(&w->demux, true, 0, MF_US(125)) == 0)
		return w;
	free(w);
	errno = ENOMEM;
	return NULL;
}

void mf_witness_free(struct mf_witness *w)
{
	if (w != NULL)
		mf_demux_fini(&w->demux);
	free(w);
}

void mf_witness_cut(struct mf_witness *w)
{
	w->assembling = false;
	w->demux.in_message = false;
}

const struct mf_witness_stats *mf_witness_stats(const struct mf_witness *w)
{
	return &w->stats;
}

/** Whether n blocks are those of one message, all of them, in their order, each as it was. */
static bool is_intact(const uint64_t *word, const struct mf_witness_tag *tag, unsigned int n)
{
	uint64_t message = tag[0].message;

	for (unsigned int i = 0; i < n; i++)
		if (tag[i].message != message || tag[i].index != i || tag[i].word != word[i])
			return false;
	return message != 0 && tag[n - 1].last;
}

static int check(const struct mf_witness *w, const uint64_t *word, unsigned int n)
{
	const uint8_t *data;
	struct mf_msg m;

	return n == 1 ? mf_proto_get_single(word[0], &m) : mf_proto_get(&w->proto, word, n, &m, &data);
}

/**
 * Whether what was sent is one message, whole, and would not have passed the check: the switch had it so.
 * If it passes now, a bit was flipped back: no two wire errors pass as anything else (docs/bit-errors.md).
 */
static bool was_bad(const struct mf_witness *w, const struct mf_witness_tag *tag, unsigned int n)
{
	uint64_t sent[MF_BLOCKS_MAX];

	for (unsigned int i = 0; i < n; i++)
		sent[i] = tag[i].word;
	return is_intact(sent, tag, n) && check(w, sent, n) != 0;
}

static void message(struct mf_witness *w, const uint64_t *word, const struct mf_witness_tag *tag,
		    unsigned int n)
{
	struct mf_witness_stats *s = &w->stats;
	int err = check(w, word, n);

	if (is_intact(word, tag, n)) {
		s->intact++;
		s->sent_bad += err != 0;
		return;
	}
	s->damaged++;
	if (err == -EBADMSG)
		s->refused_check++;
	else if (err != 0)
		s->refused_fields++;
	else if (was_bad(w, tag, n))
		s->healed++;
	else
		s->undetected++;
}

/** A message in parts, as between blocks that do not belong to it. */
static void part(struct mf_witness *w, const struct mf_rx_item *it, const struct mf_witness_tag *tag)
{
	if (it->begins) {
		w->assembling = true;
		w->words = 0;
	}
	if (!w->assembling)
		return;
	if (it->count > MF_BLOCKS_MAX - w->words) { /* no message is so long */
		w->assembling = false;
		w->stats.damaged++;
		w->stats.refused_fields++;
		return;
	}
	memcpy(w->word + w->words, it->word, it->count * sizeof(*it->word));
	memcpy(w->tag + w->words, tag, it->count * sizeof(*tag));
	w->words += it->count;
	if (!it->ends)
		return;
	w->assembling = false;
	message(w, w->word, w->tag, w->words);
}

static void item(struct mf_witness *w, const struct mf_rx_item *it, const struct mf_span *came,
		 const struct mf_witness_tag *tags)
{
	const struct mf_witness_tag *tag;

	if (it->kind == MF_RX_ABORT) {
		w->assembling = false;
		w->stats.aborted++;
	}
	if (it->kind != MF_RX_SINGLE && it->kind != MF_RX_RUN)
		return;
	tag = tags + (it->word - came->word);
	if (it->kind == MF_RX_SINGLE || (it->begins && it->ends))
		message(w, it->word, tag, it->count);
	else
		part(w, it, tag);
}

void mf_witness_see(struct mf_witness *w, const struct mf_span *came, const struct mf_witness_tag *tag)
{
	struct mf_rx_item items[ITEMS];
	unsigned int pos = 0, n;

	while (pos < came->count) {
		n = mf_demux_message(&w->demux, came, pos);
		if (n != 0) {
			message(w, &came->word[pos], &tag[pos], n);
			pos += n;
			continue;
		}
		n = mf_demux_span(&w->demux, came, &pos, items, ITEMS);
		for (unsigned int i = 0; i < n; i++)
			item(w, &items[i], came, tag);
	}
}
