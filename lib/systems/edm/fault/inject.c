/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a port sends that its host knows nothing of: one message after the other, as fast as told, where the
 * line is free. What the host sends goes first.
 */
#include "fault/mf_fault_stage.h"

#define SIZE_MAX_OCTETS 1024
#define SPAN_OCTETS (1 << 16) /* of addresses */

/** Types of control blocks: IEEE 802.3 figure 49-7, and memory's. */
static const uint8_t types[] = {0x1e, 0x2d,     0x33,     0x66,      0x55,    0x78,   0x4b,
				0x87, 0x99,     0xaa,     0xb4,      0xcc,    0xd2,   0xe1,
				0xff, MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G};

static uint32_t below(struct fault_source *s, uint32_t n)
{
	return (uint32_t)mf_rng_below(&s->rng, n);
}

/** A request, or the notification of a write: of this node, with ids that its host leaves to others. */
static unsigned int flood(struct mf_fault *f, struct fault_source *s, uint64_t *word)
{
	const struct mf_fault_rule *r = &f->dice[s->rule].rule;
	unsigned int ids = (f->forge != NULL ? MF_FAULT_FORGE_ID : MF_IDS) - MF_FAULT_FLOOD_ID;
	struct mf_msg m = {.kind = s->turn & 1 ? MF_RREQ : MF_NOTIFY,
			   .src = f->node,
			   .dst = r->to[s->turn / 2 % r->to_count],
			   .id = (uint8_t)(MF_FAULT_FLOOD_ID + s->turn / 2 % ids),
			   .size = 1 + below(s, SIZE_MAX_OCTETS),
			   .addr = below(s, SPAN_OCTETS)};

	s->turn++;
	if (m.kind == MF_RREQ)
		return mf_proto_put_request(&f->proto, &m, word);
	word[0] = mf_proto_put_single(&m);
	return 1;
}

/** Another node than one of two. */
static uint16_t another(const struct mf_fault *f, struct fault_source *s)
{
	uint16_t node = (uint16_t)below(s, f->nodes - 1U);

	return node < f->node ? node : node + 1;
}

/** Of two switches the other one is to be obeyed, or somebody has lost the one that is. */
static unsigned int lie(struct fault_source *s, uint16_t dst, uint64_t *word)
{
	struct mf_msg m = {.kind = MF_TAKE, .op = below(s, 2) ? MF_TAKE_TELL : MF_TAKE_LOST};

	if (m.op == MF_TAKE_LOST)
		m.dst = dst;
	m.epoch = (uint16_t)below(s, below(s, 2) ? 4 : 1 << 16);
	word[0] = mf_proto_put_single(&m);
	return 1;
}

/** A message of a kind that says whom it is from, and lies. */
static unsigned int spoof(struct mf_fault *f, struct fault_source *s, uint64_t *word)
{
	static const uint8_t kinds[] = {MF_RREQ, MF_WREQ, MF_WREQ_ACK, MF_RMWREQ,
					MF_RRES, MF_ACK,  MF_ERR,      MF_TAKE};
	static const uint8_t statuses[] = {MF_ERR_RANGE, MF_ERR_RESOURCE, MF_ERR_RESTARTED,
					   MF_ERR_INCARNATION};
	uint64_t data[8];
	struct mf_msg m = {.kind = kinds[s->turn++ % sizeof(kinds)],
			   .src = another(f, s),
			   .dst = another(f, s),
			   .id = (uint8_t)below(s, MF_IDS),
			   .last = true,
			   .op = MF_RMW_FADD,
			   .size = 8,
			   .arg = {1, 0}};

	for (unsigned int i = 0; i < 8; i++)
		data[i] = mf_rng_next(&s->rng);
	m.addr = m.kind == MF_RRES ? 0 : below(s, SPAN_OCTETS / 8) * 8;
	if (m.kind == MF_ERR)
		m.status = statuses[below(s, sizeof(statuses))];
	if (m.kind == MF_TAKE)
		return lie(s, m.dst, word);
	switch (m.kind) {
	case MF_RREQ:
	case MF_RMWREQ:
		return mf_proto_put_request(&f->proto, &m, word);
	case MF_ACK:
	case MF_ERR:
		word[0] = mf_proto_put_single(&m);
		return 1;
	default:
		m.size = sizeof(data);
		return mf_proto_put_chunk(&f->proto, &m, data, word);
	}
}

static void garbage(struct mf_fault *f, struct fault_source *s, mf_time t)
{
	struct fault_block x = {
		.b = {.word = mf_rng_next(&s->rng), .sync = below(s, 3) != 0 ? MF_SYNC_CTRL : MF_SYNC_DATA},
		.wrong = true};

	if (x.b.sync == MF_SYNC_CTRL && below(s, 8) != 0)
		x.b.word = (x.b.word & ~UINT64_C(0xff)) | types[below(s, sizeof(types))];
	/* By itself it is as it was sent: that a check lets one of 2^16 pass is no fault of the check. */
	x.tag = (struct mf_witness_tag){.word = x.b.word, .message = ++f->messages, .last = true};
	fault_leave(f, t, &x, 0);
}

/** @return blocks */
static unsigned int emit(struct mf_fault *f, struct fault_source *s, mf_time t)
{
	enum mf_fault_class class = f->dice[s->rule].rule.class;
	uint64_t word[FORGE_BLOCKS];
	unsigned int n;

	if (class == MF_FAULT_GARBAGE) {
		garbage(f, s, t);
		return 1;
	}
	if (class == MF_FAULT_FORGE)
		n = forge_next(f->forge, &s->rng, word);
	else
		n = class == MF_FAULT_FLOOD ? flood(f, s, word) : spoof(f, s, word);
	f->messages++;
	for (unsigned int i = 0; i < n; i++) {
		bool edge = i == 0 || i == n - 1;
		struct fault_block x = {.b = {.word = word[i], .sync = edge ? MF_SYNC_CTRL : MF_SYNC_DATA},
					.tag = {.word = word[i],
						.message = f->messages,
						.index = (uint16_t)i,
						.last = i == n - 1}};

		fault_leave(f, t, &x, 0);
	}
	return n;
}

/** When a source sends again; MF_NEVER: no more. */
static mf_time due(const struct mf_fault *f, const struct fault_source *s)
{
	const struct fault_dice *d = &f->dice[s->rule];
	mf_time at = s->next > f->free_at ? s->next : f->free_at;

	if (d->rule.class == MF_FAULT_FORGE && forge_granted(f->forge))
		return f->free_at;
	return at >= d->rule.until || (d->rule.count != 0 && d->fired >= d->rule.count) ? MF_NEVER : at;
}

void fault_source_init(struct mf_fault *f, const struct mf_fault_config *c, unsigned int rule)
{
	struct fault_source *s = &f->source[f->sources++];

	*s = (struct fault_source){.rule = rule, .next = c->rule[rule].from};
	mf_rng_init(&s->rng, c->seed, "fault source", c->number * MF_FAULT_RULES + rule);
}

mf_time fault_inject_next(const struct mf_fault *f)
{
	mf_time next = MF_NEVER;

	for (unsigned int i = 0; i < f->sources; i++) {
		mf_time at = due(f, &f->source[i]);

		next = at < next ? at : next;
	}
	return next;
}

void fault_inject(struct mf_fault *f, mf_time now)
{
	for (unsigned int i = 0; i < f->sources; i++) {
		struct fault_source *s = &f->source[i];
		struct fault_dice *d = &f->dice[s->rule];
		bool granted;
		mf_time next;

		if (due(f, s) > now)
			continue;
		granted = d->rule.class == MF_FAULT_FORGE && forge_granted(f->forge);
		next = now + (mf_time)(emit(f, s, now) * f->pace / d->rule.rate);
		if (granted) /* it was asked for before */
			continue;
		s->next = next;
		d->fired++;
	}
}
