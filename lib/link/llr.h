/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link-level retransmission: the rules of numbers and timers, without buffers and frames. Go back N; the
 * model is the LLR of UEC and PCIe's ACK/NAK. docs/wire-format.md, "Numbers", has the rules as the partner
 * sees them.
 *
 *      acknowledged      outstanding                     not emitted
 *      ─────────────┬────────────────────────────────┬───────────────────┬──────
 *                  una          cursor              nxt                 end: behind what there is to send
 *                                 └── is emitted again ──┘
 *
 * All comparisons are of differences modulo 2^32: nothing here knows where the numbers begin.
 */
#ifndef LLR_H
#define LLR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

struct llr_config {
	uint32_t window; /**< of this end, as a receiver */
	uint32_t partner_window; /**< as its HELLO says */
	uint32_t send_window; /**< of it, what this end can use */
	uint32_t ack_every;
	uint32_t replays;
	mf_time ack_after, replay_after, replay_max, poll_max;
};

struct llr {
	struct llr_config config;
	/* sending */
	uint32_t una, cursor, nxt;
	uint32_t limit; /**< the partner's: never goes back */
	uint32_t count; /**< replays since the last progress that a partner that lives must have seen */
	uint32_t timed; /**< a frame whose acknowledgement is a sample of the round trip, */
	mf_time timed_at; /**< when it was emitted; MF_NEVER: none (Karn: not one that is emitted again) */
	mf_time srtt, rtt_max, rtt_min; /**< smoothed; decaying; 0: no sample */
	mf_time wait; /**< of the replay timer, the next time that it is started */
	bool backed_off; /**< wait was doubled and stays so until a round trip has been measured */
	mf_time replay_at; /**< MF_NEVER: nothing is outstanding */
	mf_time probe_at; /**< asks by POLL whether a gap's NACK, or the tail, was lost; MF_NEVER: does not */
	mf_time probe_wait; /**< from one POLL to the next, or from progress to the first */
	mf_time since; /**< time of the last progress, or of the first frame sent behind it */
	bool by_timer; /**< the timer has begun a replay since then */
	mf_time patience; /**< how long a partner that had all frames took to answer; 0: not known */
	mf_time patience_at; /**< when `patience` is halved */
	mf_time began; /**< the last replay, */
	uint32_t began_from;
	bool began_ever;
	mf_time poll_at, poll_wait; /**< MF_NEVER: the partner's room holds nothing back */
	/* receiving */
	uint32_t expected;
	uint32_t told; /**< the limit that the partner was told last */
	uint32_t passed; /**< the last number seen behind the gap */
	uint32_t seen; /**< behind the last number that is known to be missing or here */
	bool nacked, damaged; /**< a NACK for what is expected has been made; one for a bad CRC */
	bool nack, ack, poll; /**< is to be sent now */
	uint32_t untold; /**< frames that were not acknowledged */
	mf_time ack_at;
};

/** @param limit  the own one, that the partner knows by the window in HELLO */
void llr_init(struct llr *l, const struct llr_config *config, uint32_t first, uint32_t partner_first);

/* Sending. end: behind the last frame that there is. */

enum llr_emit {
	LLR_EMIT_NONE,
	LLR_EMIT_NEW,
	LLR_EMIT_AGAIN,
};
/** Which frame may be emitted: number cursor. New ones come behind all of a replay. */
static inline enum llr_emit llr_may_emit(const struct llr *l, uint32_t end)
{
	if (l->cursor != l->nxt)
		return LLR_EMIT_AGAIN;
	return l->nxt != end && l->nxt - l->una < l->config.send_window && l->nxt != l->limit ? LLR_EMIT_NEW
											      : LLR_EMIT_NONE;
}
/** Whether only the partner's room holds back what there is to send: starts the timer of polls. */
bool llr_stalled(struct llr *l, mf_time now, uint32_t end);
/** Frame number cursor has been emitted. */
void llr_emitted(struct llr *l, mf_time now);

enum llr_ack {
	LLR_ACK_GOOD,
	LLR_ACK_OLD, /**< nothing new */
	LLR_ACK_BAD, /**< was never sent: ignore it */
	LLR_ACK_BAD_LIMIT, /**< good, but for the limit, which is ignored */
};
/** ack and limit of a frame of the partner's. */
enum llr_ack llr_acked(struct llr *l, mf_time now, uint32_t ack, uint32_t limit);

enum llr_nack {
	LLR_NACK_REPLAY, /**< cursor has been set back */
	LLR_NACK_NOTHING, /**< nothing is outstanding from there on */
	LLR_NACK_HELD, /**< a replay is on its way already, or none is left */
};
/** A NACK whose ack llr_acked() has found good. */
enum llr_nack llr_nacked(struct llr *l, mf_time now, uint32_t from);

/* Receiving. */

enum llr_data {
	LLR_DATA_TAKE,
	LLR_DATA_DUPLICATE,
	LLR_DATA_GAP,
	LLR_DATA_OUTSIDE,
	LLR_DATA_NO_ROOM,
};
/**
 * A DATA frame has come.
 * @param room  whether it could be kept
 * @param missing  is raised by what is found missing
 */
enum llr_data llr_received(struct llr *l, mf_time now, uint32_t seq, bool room, uint64_t *missing);
/** The same without retransmission: what is missing is jumped over. */
enum llr_data llr_received_once(struct llr *l, uint32_t seq, bool room, uint64_t *missing);
/** An ACK with POLL has come; seq: the partner's nxt. */
void llr_polled(struct llr *l, uint32_t seq, uint64_t *missing);
/** A frame of the partner's was damaged. */
void llr_damaged(struct llr *l);
/** The own limit is this now: there is more room. */
void llr_room(struct llr *l, uint32_t limit);
/** Whether an ACK is due, if no DATA frame is there to carry it. */
static inline bool llr_ack_due(const struct llr *l, mf_time now)
{
	return l->ack || now >= l->ack_at;
}
/** Whether something is known to be missing, at either end, and has yet to come. */
static inline bool llr_recovers(const struct llr *l)
{
	return (int32_t)(l->seen - l->expected) > 0 || l->cursor != l->nxt || l->by_timer;
}
/** A frame leaves that tells `expected` and limit. */
void llr_tell(struct llr *l, uint32_t limit);

/* Timers. */

enum llr_timer {
	LLR_TIMER_NONE,
	LLR_TIMER_REPLAY, /**< a replay has been begun */
	LLR_TIMER_GAVE_UP,
};
static inline mf_time llr_next(const struct llr *l)
{
	return mf_time_min(mf_time_min(l->replay_at, l->probe_at), l->poll_at);
}
/**
 * A replay counts if the partner was heard since the one before: else it had no turn, or no cable, and which
 * of these it is takes more than a replay to know.
 * @param heard  when the partner was heard last
 */
enum llr_timer llr_run(struct llr *l, mf_time now, mf_time heard);
/** This process was away: timers that run are moved, but not beyond what they would be if they began now. */
void llr_shift(struct llr *l, mf_time now, mf_time by);

#endif
