/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The multiplexer under the virtual clock: pulled block by block and in spans it gives the same blocks
 * at the same times, and these are the ones that the policy asks for.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "mux_test.h"
#include "pcs_test.h"

#define CASES 150

static struct script script;
static struct outcome spans, blocks;

static void assert_same(const struct outcome *a, const struct outcome *b, uint64_t seed)
{
	unsigned int n = a->blocks < b->blocks ? a->blocks : b->blocks;

	for (unsigned int i = 0; i < n; i++) {
		const struct logged *x = &a->block[i], *y = &b->block[i];

		cr_assert(x->at == y->at && x->word == y->word && x->sync == y->sync,
			  "seed %" PRIu64 ": block %u is %" PRIx64 " at %" PRIu64 ", or %" PRIx64
			  " at %" PRIu64,
			  seed, i, x->word, x->at, y->word, y->at);
	}
	cr_assert_eq(a->blocks, b->blocks, "seed %" PRIu64, seed);
	cr_assert_eq(a->dones, b->dones, "seed %" PRIu64, seed);
	for (unsigned int i = 0; i < a->dones; i++) {
		cr_assert_eq(a->done[i].at, b->done[i].at, "seed %" PRIu64, seed);
		cr_assert_eq(a->done[i].cookie, b->done[i].cookie, "seed %" PRIu64, seed);
	}
	cr_assert_eq(a->backlog, b->backlog, "seed %" PRIu64 ": backlog differs", seed);
	cr_assert_eq(memcmp(&a->stats, &b->stats, sizeof(a->stats)), 0, "seed %" PRIu64 ": statistics differ",
		     seed);
}

/** What a block of the log belongs to. */
enum owner {
	OWN_MESSAGE,
	OWN_FRAME_START,
	OWN_FRAME,
	OWN_FRAME_END,
	OWN_GAP,
};

struct part {
	enum owner owner;
	unsigned int message; /**< MESSAGE: which, */
	unsigned int word; /**< and which word of it */
};

static struct part part[LOG_MAX];

static enum owner frame_part(uint64_t word)
{
	if (word == MF_IDLE_WORD)
		return OWN_GAP;
	if (mf_block_type(word) == MF_BT_S || mf_block_type(word) == MF_BT_C_S4)
		return OWN_FRAME_START;
	return OWN_FRAME_END;
}

/** What an aborted message ends with. */
#define FAILING_MT (MF_BT_MT | ~UINT64_C(0xff))

/** The script says how many words each message sends; all the rest is frames. */
static void take_apart(const struct outcome *o)
{
	unsigned int held = UINT32_MAX, word = 0;

	for (unsigned int i = 0; i < o->blocks; i++) {
		const struct logged *b = &o->block[i];
		uint8_t type = mf_block_type(b->word);
		bool ctrl = b->sync == MF_SYNC_CTRL;
		bool single = ctrl && (type == MF_BT_N || type == MF_BT_G || type == MF_BT_MST);

		part[i] = (struct part){.owner = OWN_MESSAGE, .message = (unsigned int)(b->word >> 32)};
		if (ctrl && type == MF_BT_MS) {
			held = part[i].message;
			word = 0;
		}
		if (single)
			continue;
		if (held != UINT32_MAX && b->word >> 32 == held && word < script.message[held].appended) {
			cr_assert_eq(b->word, message_word(held, word, script.message[held].n));
			part[i].word = word++;
			if (word == script.message[held].n)
				held = UINT32_MAX;
			continue;
		}
		if (held != UINT32_MAX && script.message[held].aborted && ctrl && b->word == FAILING_MT) {
			part[i].message = held;
			part[i].word = word;
			held = UINT32_MAX;
			continue;
		}
		cr_assert_eq(held, UINT32_MAX, "a message neither went on nor ended");
		part[i].owner = ctrl ? frame_part(b->word) : OWN_FRAME;
	}
}

/** When a message's first block, or a later word, could have gone. */
static mf_time could_go(const struct message *msg, unsigned int word)
{
	if (!msg->appended)
		return MF_NEVER;
	if (word == msg->appended)
		return msg->aborted_at;
	return word ? msg->written[word] : mf_time_max(msg->ready, msg->written[0]);
}

static mf_time started[SCRIPT_MESSAGES];

static void find_starts(const struct outcome *o)
{
	for (unsigned int id = 0; id < script.messages; id++)
		started[id] = MF_NEVER;
	for (unsigned int i = 0; i < o->blocks; i++)
		if (part[i].owner == OWN_MESSAGE && part[i].word == 0)
			started[part[i].message] = o->block[i].at;
}

/**
 * Whether a message that waited to begin was aborted at this time: it is as if it had never been there. So a
 * single block goes that stood behind it while another message held the link; and under FAIR, whose turn it
 * has been since the last block that was given out is another matter now.
 */
static bool gave_way(mf_time at)
{
	for (unsigned int id = 0; id < script.messages; id++) {
		const struct message *msg = &script.message[id];

		if (msg->aborted && msg->aborted_at == at && started[id] == MF_NEVER &&
		    could_go(msg, 0) <= at)
			return true;
	}
	return false;
}

/** When the next frame of the script was queued; MF_NEVER behind the last one. */
static mf_time next_frame(unsigned int *event)
{
	while (*event < script.events && script.event[*event].kind != EVENT_FRAME)
		++*event;
	return *event < script.events ? script.event[*event].at : MF_NEVER;
}

/** The line rests only while nothing could go: what comes behind a rest comes when it could first. */
static void check_no_rest(const struct outcome *o, uint64_t seed)
{
	unsigned int event = 0;
	mf_time free = 0;

	for (unsigned int i = 0; i < o->blocks; i++) {
		mf_time at = o->block[i].at, could = free;
		bool memory = part[i].owner == OWN_MESSAGE;
		/* A gap may be due only because the frame behind it has come. */
		bool late_gap = part[i].owner == OWN_GAP && at == next_frame(&event);

		cr_assert_geq(at, free, "seed %" PRIu64 ": block %u overlaps the one before", seed, i);
		if (memory)
			could = could_go(&script.message[part[i].message], part[i].word);
		else if (part[i].owner == OWN_FRAME_START)
			could = next_frame(&event);
		event += part[i].owner == OWN_FRAME_START;
		cr_assert_leq(could, at, "seed %" PRIu64 ": block %u too early", seed, i);
		cr_assert(at == free || at == could || late_gap || (memory && gave_way(at)),
			  "seed %" PRIu64 ": block %u came at %" PRIu64, seed, i, at);
		free = at + PERIOD;
	}
}

/** Messages that could go go in the order of ready, tie, push; only single blocks may pass a held one. */
static void check_order(uint64_t seed)
{
	for (unsigned int a = 0; a < script.messages; a++) {
		const struct message *x = &script.message[a];

		for (unsigned int b = 0; b < script.messages; b++) {
			const struct message *y = &script.message[b];
			bool first = y->ready < x->ready || (y->ready == x->ready && y->tie < x->tie);

			if (x->n == 1 && y->n > 1)
				continue;
			cr_assert(!(first && could_go(y, 0) <= started[a] && started[a] < started[b]) ||
					  x->aborted || y->aborted,
				  "seed %" PRIu64 ": message %u went before %u", seed, a, b);
		}
	}
}

/** Under strict priority no block of a frame goes while a message could. */
static void check_memory_first(const struct outcome *o, uint64_t seed)
{
	for (unsigned int i = 0; i < o->blocks; i++) {
		if (part[i].owner == OWN_MESSAGE)
			continue;
		for (unsigned int id = 0; id < script.messages; id++) {
			const struct message *msg = &script.message[id];
			mf_time at = o->block[i].at;

			cr_assert(msg->aborted || could_go(msg, 0) > at || started[id] < at,
				  "seed %" PRIu64 ": block %u of a frame went before message %u", seed, i,
				  id);
		}
	}
}

/** Without preemption nothing stands between a frame's start and its end. */
static void check_no_preempt(const struct outcome *o, uint64_t seed)
{
	bool inside = false;

	for (unsigned int i = 0; i < o->blocks; i++) {
		cr_assert(!inside || part[i].owner != OWN_MESSAGE, "seed %" PRIu64 ": block %u", seed, i);
		if (part[i].owner == OWN_FRAME_START)
			inside = true;
		if (part[i].owner == OWN_FRAME_END)
			inside = false;
	}
}

/** Between a held message's blocks there are only single ones. */
static void check_hold(const struct outcome *o, uint64_t seed)
{
	unsigned int held = UINT32_MAX;

	for (unsigned int i = 0; i < o->blocks; i++) {
		const struct message *msg =
			part[i].owner == OWN_MESSAGE ? &script.message[part[i].message] : NULL;

		if (msg != NULL && msg->n > 1) {
			cr_assert(held == UINT32_MAX || held == part[i].message, "seed %" PRIu64 ": block %u",
				  seed, i);
			held = part[i].word + 1 < msg->n && part[i].word < msg->appended ? part[i].message
											 : UINT32_MAX;
		} else if (msg == NULL) {
			cr_assert_eq(held, UINT32_MAX, "seed %" PRIu64 ": frame block %u inside a message",
				     seed, i);
		}
	}
}

static unsigned int lane_of(uint8_t type)
{
	static const uint8_t types[] = {MF_BT_T0, MF_BT_T1, MF_BT_T2, MF_BT_T3,
					MF_BT_T4, MF_BT_T5, MF_BT_T6, MF_BT_T7};
	const uint8_t *found = memchr(types, type, sizeof(types));

	cr_assert_not_null(found);
	return (unsigned int)(found - types);
}

/** Idle and memory between two frames make up the standard's gap of 12 octets, less the allowed deficit. */
static void check_gap(const struct outcome *o, unsigned int deficit_max, uint64_t seed)
{
	unsigned int deficit = 0;
	mf_time end = 0;

	for (unsigned int i = 0; i < o->blocks; i++) {
		uint8_t type = mf_block_type(o->block[i].word);

		if (part[i].owner == OWN_FRAME_START && end) {
			mf_time gap = (o->block[i].at - end) * 8 / PERIOD + (type == MF_BT_S ? 0 : 4);

			deficit =
				deficit + MF_FRAME_IFG > gap ? deficit + MF_FRAME_IFG - (unsigned int)gap : 0;
			cr_assert_leq(deficit, deficit_max, "seed %" PRIu64 ": block %u starts too early",
				      seed, i);
		}
		/* From the /T/ itself on: its lane is how many octets of the block belong to the frame. */
		if (part[i].owner == OWN_FRAME_END)
			end = o->block[i].at + lane_of(type) * (PERIOD / 8);
	}
}

static void check_counts(const struct outcome *o, uint64_t seed)
{
	uint64_t owners[OWN_GAP + 1] = {0}, sent = 0;

	for (unsigned int i = 0; i < o->blocks; i++)
		owners[part[i].owner]++;
	for (unsigned int id = 0; id < script.messages; id++)
		sent += !script.message[id].aborted;
	cr_assert_eq(o->stats.memory_blocks, owners[OWN_MESSAGE], "seed %" PRIu64, seed);
	cr_assert_eq(o->stats.gap_blocks, owners[OWN_GAP], "seed %" PRIu64, seed);
	cr_assert_eq(o->stats.frame_blocks,
		     owners[OWN_FRAME_START] + owners[OWN_FRAME] + owners[OWN_FRAME_END]);
	cr_assert_eq(o->stats.frames, script.frames, "seed %" PRIu64, seed);
	cr_assert_eq(o->stats.frames, owners[OWN_FRAME_END], "seed %" PRIu64, seed);
	cr_assert_eq(o->stats.messages, sent, "seed %" PRIu64, seed);
	cr_assert_eq(o->dones, sent, "seed %" PRIu64, seed);
	cr_assert_leq(o->stats.frame_wait_max, MF_MUX_FRAME_WAIT);
}

static struct load random_load(uint64_t *rng)
{
	return (struct load){
		.messages = test_below(rng, SCRIPT_MESSAGES),
		.frames = test_below(rng, SCRIPT_FRAMES),
		.span = (mf_time)PERIOD * (100 + test_below(rng, 6000)),
		.longest = 2 + test_below(rng, MESSAGE_MAX - 1),
		.slow = test_below(rng, 2),
	};
}

static void compare_modes(enum mf_mux_policy policy)
{
	uint64_t rng = test_seed() + policy;
	uint32_t waited = 0;

	for (unsigned int i = 0; i < CASES; i++) {
		uint64_t seed = rng;
		struct mf_mux_config config = mux_test_config(policy, PERIOD);
		struct load load = random_load(&rng);

		config.align8 = test_below(&rng, 2);
		config.quantum = (uint16_t)(1 + test_below(&rng, 40));
		script_make(&script, &load, &rng);
		script_run(&script, &config, MF_SPAN_MAX, &rng, &spans);
		script_run(&script, &config, 1, &rng, &blocks);
		assert_same(&spans, &blocks, seed);
		script_run(&script, &config, 0, &rng, &blocks);
		assert_same(&spans, &blocks, seed);

		take_apart(&spans);
		find_starts(&spans);
		check_counts(&spans, seed);
		check_no_rest(&spans, seed);
		check_order(seed);
		check_hold(&spans, seed);
		check_gap(&spans, config.align8 ? 7 : 3, seed);
		if (policy == MF_MUX_MEMORY_FIRST)
			check_memory_first(&spans, seed);
		if (policy == MF_MUX_NO_PREEMPT || policy == MF_MUX_FIFO)
			check_no_preempt(&spans, seed);
		if (spans.stats.frame_wait_max > waited)
			waited = spans.stats.frame_wait_max;
	}
	cr_assert_eq(waited, policy == MF_MUX_NO_PREEMPT || policy == MF_MUX_FIFO ? 0 : MF_MUX_FRAME_WAIT);
}

Test(mux_modes, memory_first)
{
	compare_modes(MF_MUX_MEMORY_FIRST);
}

Test(mux_modes, fair)
{
	compare_modes(MF_MUX_FAIR);
}

Test(mux_modes, no_preempt)
{
	compare_modes(MF_MUX_NO_PREEMPT);
}

Test(mux_modes, fifo)
{
	compare_modes(MF_MUX_FIFO);
}
