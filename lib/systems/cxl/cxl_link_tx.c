/* SPDX-License-Identifier: BSD-3-Clause */
/* A CXL link end, sending: which flit goes next, and what is in it. */
#include <string.h>

#include "systems/cxl/cxl_link_priv.h"

static uint64_t *kept(const struct cxl_link *l, uint16_t at)
{
	return l->replay + (size_t)(at & (l->config.replay - 1)) * l->config.format->words;
}

static bool all_told(const struct cxl_link *l)
{
	return !l->untold_flits && memcmp(l->freed, l->told, sizeof(l->freed)) == 0;
}

static void told(struct cxl_link *l)
{
	l->untold_flits = false;
	l->unacked = 0;
	if (all_told(l))
		l->tell_at = MF_NEVER;
}

/** The class whose count has most to tell, but for one. */
static unsigned int most_untold(const struct cxl_link *l, unsigned int but)
{
	unsigned int best = but == 0;

	for (unsigned int c = best + 1; c < CXL_CLASSES; c++)
		if (c != but && cxl_untold(l, c) > cxl_untold(l, best))
			best = c;
	return best;
}

/** 12 bits of acknowledgement, and the counts of two classes: 2 + 8 bits each. */
static void put_header(struct cxl_link *l, union cxl_flit *f)
{
	unsigned int a = most_untold(l, CXL_CLASSES), b = most_untold(l, a);
	uint32_t header =
		l->expected | a << 12 | (uint32_t)l->freed[a] << 14 | b << 22 | (uint32_t)l->freed[b] << 24;

	memcpy(f->octet + 2, &header, CXL_LINK_HEADER);
	l->told[a] = l->freed[a];
	l->told[b] = l->freed[b];
	told(l);
}

static void spend(struct cxl_link *l, unsigned int class, mf_time now)
{
	l->stats.messages[class]++;
	if (--l->avail[class] != 0)
		return;
	l->may &= (uint8_t) ~(1 << class);
	l->stats.starved++;
	if (l->ask_at == MF_NEVER)
		l->ask_at = now + l->config.replay_timeout;
}

static void keep_data(struct cxl_link *l, const struct cxl_message *m)
{
	for (unsigned int i = 0; i < cxl_op_slots[m->op]; i++)
		memcpy(l->slot[(l->pending_head + l->pending++) % CXL_PENDING], m->data + i * CXL_SLOT,
		       CXL_SLOT);
}

/** Of the classes in the mask, the next whose turn it is. */
static unsigned int choose(struct cxl_link *l, unsigned int mask)
{
	unsigned int turned = (mask | mask << CXL_CLASSES) >> l->turn;
	unsigned int class = (l->turn + (unsigned int)__builtin_ctz(turned)) % CXL_CLASSES;

	l->turn = (uint8_t)((class + 1) % CXL_CLASSES);
	return class;
}

/** Messages into a slot: a request, or up to two responses. @return whether there was one */
static bool fill_messages(struct cxl_link *l, mf_time now, uint8_t *slot)
{
	const struct cxl_link_config *c = &l->config;
	unsigned int at = 0, room = CXL_CLASS_MASK, may;
	struct cxl_message m;

	while (at < CXL_LONG && (may = l->may & room & c->ends->has(c->ctx, c->port, now)) != 0) {
		unsigned int class = choose(l, may);

		c->ends->take(c->ctx, c->port, class, now, &m);
		cxl_put_message(slot + at, &m);
		spend(l, class, now);
		keep_data(l, &m);
		at += class <= CXL_RWD ? CXL_LONG : CXL_SHORT;
		room = CXL_RESPONSES;
	}
	return at != 0;
}

static void fill_data(struct cxl_link *l, uint8_t *slot)
{
	memcpy(slot, l->slot[l->pending_head % CXL_PENDING], CXL_SLOT);
	l->pending_head = --l->pending != 0 ? l->pending_head + 1 : 0; /* what is cached, where it may be */
}

/** A flit that has its contents, numbered, kept and sent. */
static void commit(struct cxl_link *l, mf_time now, enum cxl_kind kind, union cxl_flit *f)
{
	cxl_put_id(f, kind, l->next);
	cxl_seal(l->config.format, f);
	memcpy(kept(l, l->next), f, l->config.format->words * sizeof(*l->replay));
	l->next = l->resend = cxl_sequence(l->next + 1u);
	l->stats.flits++;
	if (l->replay_at == MF_NEVER)
		l->replay_at = now + l->config.replay_timeout;
}

static void make_data(struct cxl_link *l, mf_time now, union cxl_flit *f)
{
	for (unsigned int i = 0; i < l->config.format->slots; i++)
		fill_data(l, cxl_slot(f, i));
	l->stats.data_flits++;
	commit(l, now, CXL_DATA, f);
}

static void make_protocol(struct cxl_link *l, mf_time now, union cxl_flit *f)
{
	unsigned int i = 1;

	put_header(l, f);
	fill_messages(l, now, cxl_slot(f, 0) + CXL_LINK_HEADER);
	while (i < l->config.format->slots) {
		if (l->pending != 0)
			fill_data(l, cxl_slot(f, i));
		else if (!fill_messages(l, now, cxl_slot(f, i)))
			break;
		i++;
	}
	commit(l, now, CXL_PROTOCOL, f);
}

static void make_again(struct cxl_link *l, union cxl_flit *f)
{
	memcpy(f, kept(l, l->resend), l->config.format->words * sizeof(*l->replay));
	l->resend = cxl_sequence(l->resend + 1u);
	l->stats.replayed++;
	if (cxl_get_kind(f) != CXL_PROTOCOL)
		return;
	put_header(l, f);
	cxl_seal(l->config.format, f);
}

/** Octets 2, 3: acknowledgement; 4: flags; 5 to 8: the counts of all classes. */
static void make_control(struct cxl_link *l, union cxl_flit *f)
{
	cxl_put_id(f, CXL_CONTROL, 0);
	f->octet[2] = (uint8_t)l->expected;
	f->octet[3] = (uint8_t)(l->expected >> 8);
	f->octet[4] = (uint8_t)((l->nak ? CXL_NAK : 0) | (l->ask ? CXL_ASK : 0));
	memcpy(f->octet + 5, l->freed, CXL_CLASSES);
	memcpy(l->told, l->freed, CXL_CLASSES);
	l->stats.naks += l->nak;
	l->stats.asked += l->ask;
	l->nak = l->ask = false;
	told(l);
	cxl_seal(l->config.format, f);
	l->stats.control_flits++;
}

/** Something that is not a retry and not a CONTROL flit. */
static bool make_new(struct cxl_link *l, mf_time now, union cxl_flit *f)
{
	const struct cxl_link_config *c = &l->config;

	if (!cxl_link_open(l))
		return false;
	if (l->pending >= c->format->slots)
		make_data(l, now, f);
	else if (l->pending != 0 || (l->may & c->ends->has(c->ctx, c->port, now)) != 0)
		make_protocol(l, now, f);
	else
		return false;
	return true;
}

unsigned int cxl_link_pull(struct cxl_link *l, mf_time now, uint64_t *word)
{
	const struct cxl_format *format = l->config.format;
	union cxl_flit f;

	memset(&f, 0, format->words * sizeof(f.word[0]));
	if (l->nak || l->ask)
		make_control(l, &f);
	else if (l->resend != l->next)
		make_again(l, &f);
	else if (make_new(l, now, &f))
		;
	else if (l->tell_at <= now)
		make_control(l, &f);
	else
		return 0;
	cxl_to_blocks(format, &f, word);
	return format->blocks;
}
