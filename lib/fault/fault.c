/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault/mf_fault_stage.h"

#define SYNC_BITS 2

enum { MEMORY, FRAME };

const char *const mf_fault_names[MF_FAULT_CLASSES + 1] = {
	[MF_FAULT_BIT] = "bit",
	[MF_FAULT_SYNC] = "sync",
	[MF_FAULT_TYPE] = "type",
	[MF_FAULT_CUT] = "cut",
	[MF_FAULT_LOSE] = "lose",
	[MF_FAULT_DUPLICATE] = "duplicate",
	[MF_FAULT_DELAY] = "delay",
	[MF_FAULT_REORDER] = "reorder",
	[MF_FAULT_LINK_DOWN] = "link_down",
	[MF_FAULT_NODE_CRASH] = "node_crash",
	[MF_FAULT_SWITCH_CRASH] = "switch_crash",
	[MF_FAULT_STALL] = "stall",
	[MF_FAULT_EXHAUST] = "exhaust",
	[MF_FAULT_SKEW] = "skew",
	[MF_FAULT_FLOOD] = "flood",
	[MF_FAULT_SPOOF] = "spoof",
	[MF_FAULT_GARBAGE] = "garbage",
	[MF_FAULT_FORGE] = "forge",
};

/** What goes by itself. */
static bool is_source(const struct mf_fault_rule *r)
{
	return r->class >= MF_FAULT_FLOOD;
}

static bool sane(const struct mf_fault_config *c, const struct mf_fault_rule *r)
{
	if (is_source(r) && (c->pace == 0 || c->proto == NULL || c->nodes < 2 || c->node >= c->nodes))
		return false;
	if (r->class == MF_FAULT_FLOOD && r->to_count == 0)
		return false;
	if (r->class == MF_FAULT_FORGE && (c->secrets == NULL || c->secrets->regions == 0))
		return false;

	bool timed = r->class == MF_FAULT_DELAY || r->class == MF_FAULT_REORDER;

	return r->class < MF_FAULT_STAGE_CLASSES && r->rate > 0 && r->rate <= 1 && r->from < r->until &&
	       (r->time > 0) == timed;
}

static bool forges(const struct mf_fault_config *c)
{
	for (unsigned int i = 0; i < c->rules; i++)
		if (c->rule[i].class == MF_FAULT_FORGE)
			return true;
	return false;
}

struct mf_fault *mf_fault_new(const struct mf_fault_config *config)
{
	bool good = config->rules > 0 && config->rules <= MF_FAULT_RULES;
	struct mf_fault *f;

	for (unsigned int i = 0; good && i < config->rules; i++)
		good = sane(config, &config->rule[i]);
	if (!good) {
		errno = EINVAL;
		return NULL;
	}
	f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
	if (f == NULL)
		return NULL;
	memset(f, 0, offsetof(struct mf_fault, twice));
	f->twice.count = f->held.count = 0;
	if (config->proto != NULL) {
		f->proto = *config->proto;
		f->witness = mf_witness_new(config->proto);
		if (f->witness == NULL) {
			free(f);
			return NULL;
		}
	}
	if (forges(config)) {
		f->forge = forge_new(config);
		if (f->forge == NULL) {
			mf_fault_free(f);
			return NULL;
		}
	}
	f->rules = config->rules;
	f->period = config->period;
	f->pace = config->pace;
	mf_rng_init(&f->rng, config->seed, "fault bits", config->number);
	f->node = config->node;
	f->nodes = config->nodes;
	for (unsigned int i = 0; i < f->rules; i++) {
		fault_dice_init(&f->dice[i], config, i, "fault");
		if (is_source(&config->rule[i]) &&
		    (f->forge == NULL || config->rule[i].class != MF_FAULT_FORGE || forge_can(f->forge)))
			fault_source_init(f, config, i);
	}
	fault_idle_init(f, config);
	return f;
}

void mf_fault_free(struct mf_fault *f)
{
	if (f == NULL)
		return;
	mf_witness_free(f->witness);
	forge_free(f->forge);
	free(f);
}

const struct mf_witness_stats *mf_fault_witness(const struct mf_fault *f)
{
	return f->witness != NULL ? mf_witness_stats(f->witness) : NULL;
}

void mf_fault_hear(struct mf_fault *f, const struct mf_span *span)
{
	if (f->forge != NULL)
		forge_hear(f->forge, span);
}

const struct mf_forge_stats *mf_fault_forged(const struct mf_fault *f)
{
	return f->forge != NULL ? forge_stats(f->forge) : NULL;
}

uint64_t mf_fault_fired(const struct mf_fault *f, unsigned int rule)
{
	return f->dice[rule].fired;
}

uint64_t mf_fault_fired_idle(const struct mf_fault *f, unsigned int rule)
{
	return f->idle.dice[rule].fired;
}

/** Whether any rule of a class strikes this unit. All are asked: each has dice of its own. */
static const struct mf_fault_rule *strikes(struct mf_fault *f, enum mf_fault_class class, mf_time t)
{
	const struct mf_fault_rule *which = NULL;

	for (unsigned int i = 0; i < f->rules; i++)
		if (f->dice[i].rule.class == class && fault_roll(&f->dice[i], t, 1) == 0)
			which = &f->dice[i].rule;
	return which;
}

/* What leaves: blocks one behind the other, gathered into spans. */

static void flush(struct mf_fault *f)
{
	if (f->out.count > 0 && f->witness != NULL)
		mf_witness_see(f->witness, &f->out, f->tag);
	if (f->out.count > 0)
		f->emit(f->ctx, &f->out);
	f->out.count = 0;
}

static bool is_single_type(uint8_t type)
{
	return type == MF_BT_N || type == MF_BT_G || type == MF_BT_MST;
}

static bool is_start(uint8_t type)
{
	return type == MF_BT_S || type == MF_BT_C_S4 || type == MF_BT_O_S4;
}

/**
 * Whether a block ends what was under way before it, or may: it is wrong, or begins a message or frame. It
 * begins a span, so that its receiver has it at its own time, and the whole of what was before it.
 */
static bool cuts(const struct fault_block *b, uint16_t flags)
{
	uint8_t type = mf_block_type(b->b.word);

	if (b->wrong || b->b.sync != MF_SYNC_CTRL)
		return b->wrong;
	return flags & MF_SPAN_FRAME ? is_start(type) : type != MF_BT_MT;
}

/** See lib/pcs/demux.c. */
static void note_inside(struct mf_fault *f, const struct mf_block *b)
{
	uint8_t type = mf_block_type(b->word);

	if (b->sync == MF_SYNC_DATA || (b->sync == MF_SYNC_CTRL && is_single_type(type)))
		return;
	f->inside = b->sync == MF_SYNC_CTRL && type == MF_BT_MS;
}

/** A block leaves at its time, or as soon as the wire is free. */
void fault_leave(struct mf_fault *f, mf_time t, const struct fault_block *b, uint16_t flags)
{
	struct mf_span *o = &f->out;

	if (t < f->free_at)
		t = f->free_at;
	if (o->count == MF_SPAN_MAX || o->flags != flags || t != mf_span_at(o, o->count) || cuts(b, flags))
		flush(f);
	if (o->count == 0) {
		o->start = t;
		o->period = f->period;
		o->flags = flags;
	}
	note_inside(f, &b->b);
	f->tag[o->count] = b->tag;
	mf_span_put(o, b->b.sync, b->b.word);
	f->free_at = t + f->period;
	if (b->wrong) /* nor is it to wait for what comes behind it */
		flush(f);
}

static void leave_copy(struct mf_fault *f, mf_time t, struct fault_copy *c)
{
	for (unsigned int i = 0; i < c->count; i++)
		fault_leave(f, t, &c->block[i], c->frame ? MF_SPAN_FRAME : 0);
	c->count = 0;
}

static void keep(struct fault_copy *c, const struct fault_block *b, uint16_t flags)
{
	c->frame = flags & MF_SPAN_FRAME;
	if (c->count < FAULT_MESSAGE_MAX)
		c->block[c->count++] = *b;
}

/* Errors within a block. */

/** Of an error of the wire at payload bit p: all that the receiver's descrambler makes of it. */
static void scatter(unsigned int p, uint64_t *own, uint64_t *carry)
{
	static const unsigned int tap[] = {0, 39, 58};

	for (unsigned int i = 0; i < 3; i++) {
		unsigned int at = p + tap[i];

		*(at < 64 ? own : carry) ^= UINT64_C(1) << (at % 64);
	}
}

void fault_bit(unsigned int bit, uint8_t *sync, uint64_t *own, uint64_t *carry)
{
	if (bit < SYNC_BITS)
		*sync ^= (uint8_t)(1U << bit);
	else
		scatter(bit - SYNC_BITS, own, carry);
}

static void bit_errors(struct mf_fault *f, mf_time t, struct mf_block *b)
{
	uint64_t own = t == f->carry_at ? f->carry : 0, carry = 0;

	for (unsigned int i = 0; i < f->rules; i++) {
		unsigned int bit = 0;

		if (f->dice[i].rule.class != MF_FAULT_BIT)
			continue;
		while ((bit = fault_struck(&f->dice[i], t, bit)) < FAULT_BLOCK_BITS)
			fault_bit(bit++, &b->sync, &own, &carry);
	}
	b->word ^= own;
	f->carry = carry;
	f->carry_at = t + f->period;
}

static void bad_block(struct mf_fault *f, mf_time t, struct mf_block *b)
{
	if (strikes(f, MF_FAULT_SYNC, t) != NULL)
		b->sync = mf_rng_next(&f->rng) & 1 ? 3 : 0;
	if (b->sync == MF_SYNC_CTRL && strikes(f, MF_FAULT_TYPE, t) != NULL)
		b->word ^= 1 + mf_rng_below(&f->rng, 255);
}

/* Messages. */

static bool is_terminate(uint8_t type)
{
	switch (type) {
	case MF_BT_T0:
	case MF_BT_T1:
	case MF_BT_T2:
	case MF_BT_T3:
	case MF_BT_T4:
	case MF_BT_T5:
	case MF_BT_T6:
	case MF_BT_T7:
		return true;
	default:
		return false;
	}
}

/** Where a block stands. */
struct place {
	struct fault_lane *lane; /**< NULL: in no message */
	bool first, last;
};

static struct place place_of(struct mf_fault *f, const struct mf_block *b)
{
	struct fault_lane *memory = &f->lane[MEMORY], *frame = &f->lane[FRAME];
	uint8_t type = mf_block_type(b->word);

	if (b->sync == MF_SYNC_DATA)
		return (struct place){.lane = memory->open ? memory : frame->open ? frame : NULL};
	switch (type) {
	case MF_BT_MS:
		return (struct place){.lane = memory, .first = true};
	case MF_BT_MT:
		return (struct place){.lane = memory->open ? memory : NULL, .last = true};
	case MF_BT_S:
	case MF_BT_C_S4:
	case MF_BT_O_S4:
		return (struct place){.lane = frame, .first = true};
	default:
		return (struct place){.lane = is_terminate(type) && frame->open ? frame : NULL, .last = true};
	}
}

static bool is_single(const struct mf_block *b)
{
	return b->sync == MF_SYNC_CTRL && is_single_type(mf_block_type(b->word));
}

/** Room to hold back another one, and to keep another one for a second time. */
static bool can_hold(const struct mf_fault *f)
{
	return !f->holding && !f->lane[MEMORY].held && !f->lane[FRAME].held;
}

static bool can_keep(const struct mf_fault *f)
{
	return !f->lane[MEMORY].twice && !f->lane[FRAME].twice;
}

/** A message begins: what happens to it. */
static void decide(struct mf_fault *f, mf_time t, struct fault_lane *l)
{
	const struct mf_fault_rule *delay = strikes(f, MF_FAULT_DELAY, t);
	const struct mf_fault_rule *reorder = strikes(f, MF_FAULT_REORDER, t);
	bool lost = strikes(f, MF_FAULT_LOSE, t) != NULL, twice = strikes(f, MF_FAULT_DUPLICATE, t) != NULL;

	*l = (struct fault_lane){.open = true, .lost = lost, .message = ++f->messages};
	if (lost)
		return;
	if (delay != NULL)
		f->free_at = (f->free_at > t ? f->free_at : t) + delay->time;
	if (reorder != NULL && can_hold(f)) {
		l->held = true;
		f->release = t + reorder->time;
		f->held.count = 0;
	} else if (twice && can_keep(f)) {
		l->twice = true;
		f->twice.count = 0;
	}
}

/** What is held comes between messages, not within one. */
static bool can_release(const struct mf_fault *f)
{
	return f->holding && !f->lane[MEMORY].open && !f->lane[FRAME].open;
}

static void release(struct mf_fault *f, mf_time t)
{
	f->holding = false;
	leave_copy(f, t, &f->held);
}

/** A message has ended. */
static void end(struct mf_fault *f, mf_time t, struct fault_lane *l)
{
	l->open = false;
	if (l->held) {
		l->held = false;
		f->holding = true;
		return;
	}
	if (l->twice)
		leave_copy(f, t, &f->twice);
	l->twice = false;
	if (can_release(f))
		release(f, t);
}

/** A block of a message goes where the message goes. */
static void pass(struct mf_fault *f, mf_time t, struct fault_lane *l, const struct fault_block *b,
		 uint16_t flags)
{
	if (l->lost)
		return;
	if (l->held) {
		keep(&f->held, b, flags);
		return;
	}
	if (l->twice)
		keep(&f->twice, b, flags);
	fault_leave(f, t, b, flags);
}

/** What a block is before anything happens to it. */
static struct mf_witness_tag tag_of(const struct mf_fault *f, struct place p, uint64_t word)
{
	struct fault_lane *l = p.lane;

	if (l == NULL || l == &f->lane[FRAME])
		return (struct mf_witness_tag){.word = word};
	return (struct mf_witness_tag){
		.word = word, .message = l->message, .index = l->index++, .last = p.last};
}

static void block(struct mf_fault *f, mf_time t, struct mf_block b, uint16_t flags)
{
	struct fault_lane single = {0};
	struct place p = place_of(f, &b);
	struct fault_block x = {.b = b};

	if (can_release(f) && f->release <= t)
		release(f, f->release);
	if (is_single(&b))
		p = (struct place){.lane = &single, .first = true, .last = true};
	if (p.lane != NULL && p.first)
		decide(f, t, p.lane);
	else if (p.lane != NULL && strikes(f, MF_FAULT_CUT, t) != NULL)
		p.lane->lost = true;
	x.tag = tag_of(f, p, b.word);
	if (p.lane == NULL) {
		fault_leave(f, t, &x, flags);
		return;
	}
	bit_errors(f, t, &x.b);
	bad_block(f, t, &x.b);
	x.wrong = x.b.sync != b.sync ||
		  (b.sync == MF_SYNC_CTRL && mf_block_type(x.b.word) != mf_block_type(b.word));
	pass(f, t, p.lane, &x, flags);
	if (p.last)
		end(f, t, p.lane);
}

static mf_time later(mf_time a, mf_time b)
{
	return a > b ? a : b;
}

/** When the line is idle behind a span. One that waited for its link is dated back to before the cut. */
static mf_time idle_behind(const struct mf_fault *f, const struct mf_span *span)
{
	mf_time start = f->idle.at != MF_NEVER ? later(f->idle.at, span->start) : span->start;

	return later(f->free_at, start + (mf_time)span->count * span->period);
}

void mf_fault_send(struct mf_fault *f, const struct mf_span *span, mf_fault_emit emit, void *ctx)
{
	f->emit = emit;
	f->ctx = ctx;
	if (f->idle.on)
		fault_idle_until(f, span->start);
	for (unsigned int i = 0; i < span->count; i++)
		block(f, mf_span_at(span, i), (struct mf_block){.word = span->word[i], .sync = span->sync[i]},
		      span->flags);
	flush(f);
	if (f->idle.on)
		fault_idle_from(f, idle_behind(f, span));
}

bool mf_fault_hangs(const struct mf_fault *f)
{
	return f->inside && (!f->lane[MEMORY].open || f->lane[MEMORY].lost);
}

void mf_fault_cut(struct mf_fault *f, mf_time now)
{
	f->lane[MEMORY] = f->lane[FRAME] = (struct fault_lane){0};
	f->holding = f->inside = false;
	f->carry = 0;
	f->free_at = now;
	if (f->witness != NULL)
		mf_witness_cut(f->witness);
	if (f->idle.on)
		fault_idle_from(f, MF_NEVER);
}

void mf_fault_mend(struct mf_fault *f, mf_time now)
{
	if (f->idle.on)
		fault_idle_from(f, later(f->free_at, now));
}

mf_time mf_fault_next(const struct mf_fault *f)
{
	mf_time held = can_release(f) ? f->release : MF_NEVER;
	mf_time inject = f->sources > 0 && !f->lane[MEMORY].open ? fault_inject_next(f) : MF_NEVER;

	return mf_time_min(f->idle.next, mf_time_min(held, inject));
}

void mf_fault_run(struct mf_fault *f, mf_time now, mf_fault_emit emit, void *ctx)
{
	if (now < mf_fault_next(f))
		return;
	f->emit = emit;
	f->ctx = ctx;
	if (can_release(f) && f->release <= now)
		release(f, f->release);
	if (f->sources > 0 && !f->lane[MEMORY].open)
		fault_inject(f, now);
	if (f->idle.next <= now)
		fault_idle_run(f, now);
	flush(f);
}
