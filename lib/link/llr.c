/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/llr.h"
#include "base/mf_seeded_bug.h"

#define NACK_HOLD MF_US(100) /* while no round trip has been measured */
#define PATIENCE_KEPT MF_SEC(1)

static bool before(uint32_t a, uint32_t b)
{
	return MF_SEEDED_BUG(wrap_off_by_one) ? a < b : (int32_t)(a - b) < 0;
}

/** An answer comes within that time, if all have a CPU. */
static mf_time round_trips(const struct llr *l)
{
	return 2 * mf_time_max(l->rtt_max, l->config.ack_after);
}

/** The replay timer without doubling: no shorter than what acknowledgements have been seen to take. */
static mf_time base_wait(const struct llr *l)
{
	mf_time wait = mf_time_max(l->config.replay_after, 2 * l->rtt_max + l->config.ack_after);

	return mf_time_max(wait, l->patience);
}

/**
 * A round trip is over, and nothing was acknowledged: a NACK was lost, or the tail. To ask is cheaper than a
 * replay, so it is done earlier, and again, less and less often; after progress and a first replay, and once
 * it is known what a round trip takes.
 */
static void start_probe(struct llr *l, mf_time now)
{
	l->probe_wait = round_trips(l);
	l->probe_at = l->rtt_max != 0 ? now + l->probe_wait : MF_NEVER;
}

/**
 * The timer has replayed, and now there is an answer. If frames were lost it comes within a round trip of a
 * replay. If it comes at another time the partner had no CPU to answer, and that will happen again: so the
 * timer gets as long as that took. A round trip cannot be measured from it (Karn).
 */
static void learn(struct llr *l, mf_time now)
{
	mf_time took = now - l->since;

	l->by_timer = false;
	if (now - l->began <= round_trips(l))
		return;
	l->patience = mf_time_max(l->patience, mf_time_min(2 * took, l->config.replay_max));
	l->patience_at = now + PATIENCE_KEPT;
}

static void forget(struct llr *l, mf_time now)
{
	l->patience = l->patience > l->config.replay_after ? l->patience / 2 : 0;
	l->patience_at = now + PATIENCE_KEPT;
}

void llr_init(struct llr *l, const struct llr_config *config, uint32_t first, uint32_t partner_first)
{
	*l = (struct llr){
		.config = *config,
		.una = first,
		.cursor = first,
		.nxt = first,
		.limit = first + config->partner_window,
		.timed_at = MF_NEVER,
		.replay_at = MF_NEVER,
		.probe_at = MF_NEVER,
		.poll_at = MF_NEVER,
		.expected = partner_first,
		.seen = partner_first,
		.told = partner_first + config->window,
		.ack_at = MF_NEVER,
	};
	l->wait = base_wait(l);
}

bool llr_stalled(struct llr *l, mf_time now, uint32_t end)
{
	if (l->poll_at != MF_NEVER || l->una != l->nxt || l->nxt == end || l->nxt != l->limit)
		return false;
	l->poll_wait = base_wait(l);
	l->poll_at = now + l->poll_wait;
	return true;
}

void llr_emitted(struct llr *l, mf_time now)
{
	if (l->cursor++ != l->nxt)
		return;
	if (l->una == l->nxt) {
		l->since = now;
		l->replay_at = now + l->wait;
		start_probe(l, now);
	}
	if (l->timed_at == MF_NEVER) {
		l->timed = l->nxt;
		l->timed_at = now;
	}
	l->nxt++;
}

/**
 * rtt_max and rtt_min go at once where they have to, and come back slowly. The timer would have replayed what
 * takes longer than replay_max: then this process was away, and what is lost next is not to wait for as long.
 */
static void sample(struct llr *l, mf_time rtt)
{
	rtt = mf_time_min(rtt, mf_time_max(l->config.replay_max, l->config.replay_after));
	l->backed_off = false;
	if (l->srtt == 0) {
		l->srtt = l->rtt_max = l->rtt_min = mf_time_max(rtt, 1);
		return;
	}
	l->srtt = l->srtt - l->srtt / 8 + rtt / 8;
	l->rtt_max = mf_time_max(rtt, l->rtt_max - (l->rtt_max - mf_time_min(rtt, l->rtt_max)) / 8);
	l->rtt_min = mf_time_min(rtt, l->rtt_min + (mf_time_max(rtt, l->rtt_min) - l->rtt_min) / 64);
}

/** Where the timer is shorter than the round trip every frame is emitted again, and none can be measured. */
static void progress(struct llr *l, mf_time now, uint32_t ack)
{
	if (l->timed_at != MF_NEVER && before(l->timed, ack)) {
		sample(l, now - l->timed_at);
		l->timed_at = MF_NEVER;
	}
	if (l->by_timer)
		learn(l, now);
	else if (l->patience != 0 && now >= l->patience_at)
		forget(l, now);
	l->una = ack;
	if (before(l->cursor, ack))
		l->cursor = ack;
	l->count = 0;
	l->since = now;
	if (!l->backed_off || l->wait < l->patience)
		l->wait = base_wait(l);
	if (l->una == l->nxt) {
		l->replay_at = l->probe_at = MF_NEVER;
		return;
	}
	l->replay_at = now + l->wait;
	start_probe(l, now);
}

enum llr_ack llr_acked(struct llr *l, mf_time now, uint32_t ack, uint32_t limit)
{
	if (ack - l->una > l->nxt - l->una)
		return before(ack, l->una) ? LLR_ACK_OLD : LLR_ACK_BAD;
	if (ack != l->una)
		progress(l, now, ack);
	if (limit - ack > l->config.partner_window)
		return LLR_ACK_BAD_LIMIT;
	if (before(l->limit, limit)) {
		l->limit = limit;
		l->poll_at = MF_NEVER;
	}
	return LLR_ACK_GOOD;
}

static void begin(struct llr *l, mf_time now, bool counts)
{
	bool first = l->count == 0;

	l->cursor = l->una;
	l->timed_at = MF_NEVER;
	l->count += counts;
	l->began = now;
	l->began_from = l->una;
	l->began_ever = true;
	l->replay_at = now + l->wait;
	l->probe_at = MF_NEVER;
	if (first)
		start_probe(l, now);
}

/** A NACK that was made before anything of the last replay can have come says nothing new. */
static bool held(const struct llr *l, mf_time now)
{
	mf_time hold = l->rtt_min != 0 ? l->rtt_min / 2 : NACK_HOLD;

	return l->began_ever && l->began_from == l->una && now - l->began < hold;
}

enum llr_nack llr_nacked(struct llr *l, mf_time now, uint32_t from)
{
	bool waits = l->cursor == l->una; /* emitted again will be what was asked for */

	if (from == l->nxt)
		return LLR_NACK_NOTHING;
	if (waits || held(l, now) || l->count == l->config.replays)
		return LLR_NACK_HELD;
	begin(l, now, true);
	return LLR_NACK_REPLAY;
}

static void gap(struct llr *l, uint32_t upto, uint64_t *missing)
{
	if (!l->nacked) {
		l->nacked = l->nack = true;
		l->passed = upto - 1;
	}
	if (before(l->seen, upto)) {
		*missing += upto - l->seen;
		l->seen = upto;
	}
}

static void take(struct llr *l, mf_time now)
{
	l->expected++;
	if (before(l->seen, l->expected))
		l->seen = l->expected;
	l->nacked = l->nack = l->damaged = false;
	if (l->untold++ == 0)
		l->ack_at = now + l->config.ack_after;
	if (l->untold >= l->config.ack_every)
		l->ack = true;
}

enum llr_data llr_received(struct llr *l, mf_time now, uint32_t seq, bool room, uint64_t *missing)
{
	uint32_t d = seq - l->expected;

	if (d == 0) {
		if (!room)
			return LLR_DATA_NO_ROOM;
		take(l, now);
		return LLR_DATA_TAKE;
	}
	if (-d <= l->config.window) {
		if (MF_SEEDED_BUG(duplicate_delivered) && room)
			return LLR_DATA_TAKE;
		l->ack = true;
		return LLR_DATA_DUPLICATE;
	}
	if (d >= l->config.window)
		return LLR_DATA_OUTSIDE;
	/* The numbers of a pass grow: this one has begun again without what is expected. */
	if (l->nacked && !before(l->passed, seq))
		l->nack = true;
	gap(l, seq, missing);
	if (l->seen == seq)
		l->seen++;
	l->passed = seq;
	return LLR_DATA_GAP;
}

enum llr_data llr_received_once(struct llr *l, uint32_t seq, bool room, uint64_t *missing)
{
	if (before(seq, l->expected))
		return LLR_DATA_DUPLICATE;
	*missing += seq - l->expected;
	l->expected = seq + 1;
	return room ? LLR_DATA_TAKE : LLR_DATA_NO_ROOM;
}

void llr_polled(struct llr *l, uint32_t seq, uint64_t *missing)
{
	uint32_t d = seq - l->expected;

	l->ack = true;
	if (d == 0 || d > l->config.window)
		return;
	gap(l, seq, missing);
	l->nack = true; /* also where it was made before: it is asked for */
}

void llr_damaged(struct llr *l)
{
	if (l->nacked || l->damaged)
		return;
	l->nack = l->damaged = true;
}

/** At once where the partner may be waiting for it, and before it has to. */
void llr_room(struct llr *l, uint32_t limit)
{
	if (l->told == l->expected || limit - l->told >= l->config.ack_every)
		l->ack = true;
}

void llr_tell(struct llr *l, uint32_t limit)
{
	l->told = limit;
	l->untold = 0;
	l->ack = false;
	l->ack_at = MF_NEVER;
}

static enum llr_timer run_replay(struct llr *l, mf_time now, mf_time heard)
{
	bool counts = l->count == 0 || heard > l->began;

	if (now < l->replay_at || MF_SEEDED_BUG(nack_without_timer))
		return LLR_TIMER_NONE;
	l->replay_at = now + l->wait;
	if (l->cursor == l->una) /* the last replay has not begun to leave */
		return LLR_TIMER_NONE;
	if (counts && l->count == l->config.replays)
		return LLR_TIMER_GAVE_UP;
	l->wait = mf_time_min(2 * l->wait, mf_time_max(l->config.replay_max, base_wait(l)));
	l->backed_off = l->by_timer = true;
	begin(l, now, counts);
	return LLR_TIMER_REPLAY;
}

enum llr_timer llr_run(struct llr *l, mf_time now, mf_time heard)
{
	if (now >= l->poll_at) {
		l->poll = true;
		l->poll_wait = mf_time_min(2 * l->poll_wait, mf_time_max(l->config.poll_max, base_wait(l)));
		l->poll_at = now + l->poll_wait;
	}
	if (now >= l->probe_at && !MF_SEEDED_BUG(nack_without_timer)) {
		l->probe_wait *= 2;
		l->probe_at = now + l->probe_wait;
		l->poll |= l->cursor == l->nxt;
	}
	return run_replay(l, now, heard);
}

void llr_shift(struct llr *l, mf_time now, mf_time by)
{
	if (l->replay_at != MF_NEVER)
		l->replay_at = mf_time_min(l->replay_at + by, now + l->wait);
	if (l->probe_at != MF_NEVER)
		l->probe_at = mf_time_min(l->probe_at + by, now + l->probe_wait);
	if (l->poll_at != MF_NEVER)
		l->poll_at = mf_time_min(l->poll_at + by, now + l->poll_wait);
}
