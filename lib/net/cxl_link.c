/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "cxl_link.h"
#include "mf_param.h"
#include "mf_table.h"

#define NAK 1
#define ASK 2

static uint16_t sequence(unsigned int n)
{
	return n & (CXL_SEQUENCES - 1);
}

int cxl_link_init(struct cxl_link *l, const struct cxl_link_config *config)
{
	*l = (struct cxl_link){.config = *config,
			       .replay_at = MF_NEVER,
			       .ask_at = config->replay_timeout}; /* tell_at: 0, the first thing to do */
	memcpy(l->freed, config->buffers, sizeof(l->freed));
	l->replay = mf_table_new(config->replay, config->format->words * sizeof(*l->replay));
	return l->replay != NULL ? 0 : -ENOMEM;
}

void cxl_link_fini(struct cxl_link *l)
{
	mf_table_free(l->replay);
}

/* Sending */

static uint64_t *kept(const struct cxl_link *l, uint16_t at)
{
	return l->replay + (size_t)(at & (l->config.replay - 1)) * l->config.format->words;
}

static uint8_t untold(const struct cxl_link *l, unsigned int class)
{
	return (uint8_t)(l->freed[class] - l->told[class]);
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
		if (c != but && untold(l, c) > untold(l, best))
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
	l->pending_head++;
	l->pending--;
}

/** A flit that has its contents, numbered, kept and sent. */
static void commit(struct cxl_link *l, mf_time now, enum cxl_kind kind, union cxl_flit *f)
{
	cxl_put_id(f, kind, l->next);
	cxl_seal(l->config.format, f);
	memcpy(kept(l, l->next), f, l->config.format->words * sizeof(*l->replay));
	l->next = l->resend = sequence(l->next + 1u);
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
	l->resend = sequence(l->resend + 1u);
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
	f->octet[4] = (uint8_t)((l->nak ? NAK : 0) | (l->ask ? ASK : 0));
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

/** Goes back N. */
static void replay(struct cxl_link *l, mf_time now)
{
	if (l->acked == l->next) {
		l->replay_at = MF_NEVER;
		return;
	}
	l->resend = l->acked;
	l->replay_at = now + l->config.replay_timeout;
	l->stats.replays++;
}

void cxl_link_run(struct cxl_link *l, mf_time now)
{
	if (l->replay_at <= now) {
		l->stats.timeouts++;
		replay(l, now);
	}
	if (l->ask_at <= now) {
		l->ask = true;
		l->ask_at = now + l->config.replay_timeout;
	}
}

/* Receiving */

static void tell(struct cxl_link *l, mf_time at)
{
	l->tell_at = mf_time_min(l->tell_at, at);
}

static void take_acknowledgement(struct cxl_link *l, unsigned int ack, mf_time at)
{
	uint16_t gone = sequence(ack - l->acked);

	if (gone == 0 || gone > sequence(l->next - l->acked))
		return;
	if (sequence(l->resend - l->acked) < gone)
		l->resend = (uint16_t)ack;
	l->acked = (uint16_t)ack;
	l->replay_at = l->acked == l->next ? MF_NEVER : at + l->config.replay_timeout;
}

static void take_credits(struct cxl_link *l, unsigned int class, uint8_t count)
{
	uint8_t more = (uint8_t)(count - l->seen[class]);

	if (more == 0 || more > CXL_CREDITS_MAX - l->avail[class])
		return;
	l->seen[class] = count;
	l->avail[class] = (uint8_t)(l->avail[class] + more);
	l->may |= (uint8_t)(1 << class);
	if (l->may == CXL_CLASS_MASK)
		l->ask_at = MF_NEVER;
}

static void take_header(struct cxl_link *l, const union cxl_flit *f, mf_time at)
{
	uint32_t header;

	memcpy(&header, f->octet + 2, CXL_LINK_HEADER);
	take_acknowledgement(l, header & (CXL_SEQUENCES - 1), at);
	take_credits(l, header >> 12 & 3, (uint8_t)(header >> 14));
	take_credits(l, header >> 22 & 3, (uint8_t)(header >> 24));
}

static void take_control(struct cxl_link *l, const union cxl_flit *f, mf_time at)
{
	take_acknowledgement(l, (unsigned int)(f->octet[2] | f->octet[3] << 8) & (CXL_SEQUENCES - 1), at);
	for (unsigned int c = 0; c < CXL_CLASSES; c++)
		take_credits(l, c, f->octet[5 + c]);
	if (f->octet[4] & NAK)
		replay(l, at);
	if (f->octet[4] != 0)
		tell(l, at); /* what was damaged may have been a CONTROL flit */
}

static void deliver(struct cxl_link *l, mf_time at, const struct cxl_message *m)
{
	const struct cxl_link_config *c = &l->config;
	unsigned int class = cxl_op_class[m->op];

	if (l->held[class] == c->buffers[class]) {
		l->stats.drop_credit++;
		return;
	}
	l->held[class]++;
	c->ends->deliver(c->ctx, c->port, at, m);
}

static void take_messages(struct cxl_link *l, mf_time at, const uint8_t *slot)
{
	unsigned int octet = 0, n;

	while (octet < CXL_LONG && slot[octet] != CXL_NONE) {
		struct cxl_message *m = &l->expects[(l->coming_head + l->coming) % CXL_PENDING];

		n = cxl_get_message(slot + octet, m);
		if (n == 0 || octet + n > CXL_LONG || l->coming == CXL_PENDING - 1) {
			l->stats.drop_message++;
			return;
		}
		octet += n;
		if (cxl_op_slots[m->op] != 0)
			l->coming++;
		else
			deliver(l, at, m);
	}
}

static void take_data(struct cxl_link *l, mf_time at, const uint8_t *slot)
{
	struct cxl_message *m = &l->expects[l->coming_head % CXL_PENDING];

	if (l->coming == 0) {
		l->stats.drop_message++;
		return;
	}
	memcpy(m->data + l->have * CXL_SLOT, slot, CXL_SLOT);
	if (++l->have < cxl_op_slots[m->op])
		return;
	l->have = 0;
	l->coming_head++;
	l->coming--;
	deliver(l, at, m);
}

static void take_slots(struct cxl_link *l, union cxl_flit *f, mf_time at)
{
	unsigned int i = 0;

	if (cxl_get_kind(f) == CXL_PROTOCOL) {
		take_messages(l, at, cxl_slot(f, 0) + CXL_LINK_HEADER);
		i = 1;
	}
	for (; i < l->config.format->slots; i++)
		if (l->coming != 0 || cxl_get_kind(f) == CXL_DATA)
			take_data(l, at, cxl_slot(f, i));
		else
			take_messages(l, at, cxl_slot(f, i));
}

/** What is missing is asked for once. */
static void missed(struct cxl_link *l)
{
	l->nak |= !l->nak_sent;
	l->nak_sent = true;
}

static void take_numbered(struct cxl_link *l, union cxl_flit *f, mf_time at)
{
	uint16_t ahead = sequence(cxl_get_sequence(f) - l->expected);

	if (cxl_get_kind(f) == CXL_PROTOCOL)
		take_header(l, f, at);
	l->untold_flits = true;
	if (ahead == 0) {
		l->expected = sequence(l->expected + 1u);
		l->nak_sent = false;
		tell(l, ++l->unacked >= l->config.replay / 4 ? at : at + l->config.tell_delay);
		take_slots(l, f, at);
	} else if (ahead < CXL_SEQUENCES / 2) {
		l->stats.drop_sequence++;
		missed(l);
	} else {
		l->stats.duplicates++;
		tell(l, at);
	}
}

void cxl_link_receive(struct cxl_link *l, mf_time at, const uint64_t *word, unsigned int n)
{
	union cxl_flit f;
	unsigned int kind;

	l->stats.received++;
	if (!cxl_from_blocks(l->config.format, word, n, &f) || !cxl_sound(l->config.format, &f)) {
		l->stats.drop_crc++;
		missed(l);
		return;
	}
	kind = cxl_get_kind(&f);
	if (kind == CXL_CONTROL)
		take_control(l, &f, at);
	else if (kind == CXL_PROTOCOL || kind == CXL_DATA)
		take_numbered(l, &f, at);
	else
		l->stats.drop_message++;
}

void cxl_link_freed(struct cxl_link *l, enum cxl_class class, mf_time now)
{
	unsigned int some = (l->config.buffers[class] + 3u) / 4;

	l->held[class]--;
	l->freed[class]++;
	tell(l, untold(l, class) >= some ? now : now + l->config.tell_delay);
}

/* Counters */

void cxl_link_add(struct cxl_link_stats *sum, const struct cxl_link_stats *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

unsigned int cxl_link_counters(const struct cxl_link_stats *s, struct mf_counter *out)
{
	const struct mf_counter all[] = {{"flits", s->flits},
					 {"data_flits", s->data_flits},
					 {"control_flits", s->control_flits},
					 {"received", s->received},
					 {"requests", s->messages[CXL_REQ]},
					 {"requests_with_data", s->messages[CXL_RWD]},
					 {"responses", s->messages[CXL_NDR]},
					 {"data_responses", s->messages[CXL_DRS]},
					 {"starved", s->starved},
					 {"asked", s->asked},
					 {"naks", s->naks},
					 {"replays", s->replays},
					 {"replay_timeouts", s->timeouts},
					 {"replayed", s->replayed},
					 {"duplicates", s->duplicates},
					 {"drop_crc", s->drop_crc},
					 {"drop_sequence", s->drop_sequence},
					 {"drop_message", s->drop_message},
					 {"drop_credit", s->drop_credit}};

	memcpy(out, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}
