/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a link that is carried by an Ethernet port: blocks in, link frames out, and back.
 *
 * Sans-I/O; one thread calls; nothing is allocated after mf_link_new(). The port that owns it does, in a
 * turn:
 *
 *      for each frame that comes, until there is none (also after a pause: see mf_link_run())
 *              mf_link_frame_check(); find the end by mf_link_frame_head()->link and MF_LINK_FROM_SWITCH
 *              mf_link_rx()
 *      if mf_link_next() is not later than now: mf_link_run()
 *      if mf_link_changed(): mf_link_status(): says what happened; resets what is behind a link that went
 *              down, before blocks are taken or put
 *      while mf_link_waits() and the receiver has room: mf_link_take()
 *      while mf_link_can_put() and the sender has a span: mf_link_put()
 *      while mf_link_tx() gives a frame: copies it into a buffer of the port
 *
 * The link is up or down; all else is what the two states remember (docs/wire-format.md, "Connection"):
 *
 *            HELLO with our epoch, and PROBEs of full size have passed both ways; or a frame
 *            of the connection, with the tag of noted and own epoch
 *                ┌──────────────────────────────────────────────────────────────────────┐
 *                │                                                                      v
 *      ┌─ DOWN ──┴───────────────┐                                    ┌─ UP ──────────────────────────┐
 *      │ noted: partner's epoch  │                                    │ partner's epoch, tag          │
 *      │ refused, why            │                                    │ a newer epoch is answered     │
 *      │ blocks put are dropped  │                                    │ blocks are carried            │
 *      └─────────────────────────┘                                    └──┬─────────────────────────┬──┘
 *                ^   own epoch + 1:                                      │                         │  ^
 *                │   silence, gave up, BYE, mf_link_leave()              │        HELLO of a newer │  │
 *                └───────────────────────────────────────────────────────┘    epoch that names our │  │
 *                                                                         own: down, and up again  └──┘
 */
#ifndef MF_LINK_H
#define MF_LINK_H

#include <string.h>

#include "base/mf_time.h"
#include "link/mf_link_frame.h"

#define MF_LINK_WINDOW_MAX 16384

struct mf_link_config {
	uint16_t id; /**< of the link */
	bool switch_end; /**< else the node's */
	uint16_t node; /**< number of the node; the switch's end: MF_LINK_NODE_SWITCH */
	const char *name; /**< of the node or switch, for the partner's messages; copied */
	uint64_t epoch; /**< ns since 1970 at the start of the process, not 0 */
	uint64_t fabric; /**< hash of what both must have the same */
	uint32_t period; /**< of a block, in ps: both must have the same */
	bool retransmit; /**< false: what is lost is lost; both must have the same */
	bool pace; /**< send blocks no faster than one a period */
	/** With pace: time of the blocks that may go at once, and of the longest frame; 0: that of a frame */
	mf_time burst;
	uint32_t pace_period; /**< with pace, where it is not `period`: ps a block; 0: it is */
	mf_time delay; /**< blocks can be taken so long after they have come: the length of the link */
	uint16_t ethertype;
	uint8_t mac[MF_LINK_MAC]; /**< of the port */
	uint16_t blocks; /**< most of a frame: mf_link_blocks() of the MTU, MF_LINK_BLOCKS_MIN.. */
	uint16_t window; /**< frames that wait to be taken, or on their way here: 1..MF_LINK_WINDOW_MAX */
	uint16_t ack_every; /**< frames after which an ACK goes by itself; 0: window / 4 */
	uint16_t replays; /**< without progress, of a partner that is heard, before the end gives up: 1.. */
	uint32_t first; /**< number of the first DATA frame */
	mf_time ack_after; /**< an ACK goes by itself */
	mf_time replay_after; /**< the shortest time of the replay timer, */
	mf_time replay_max; /**< and the longest, where the round trip is not longer */
	mf_time hello_period;
	mf_time refused_period; /**< of HELLO and REFUSE to a partner that does not match */
	mf_time silence; /**< without a sign of life, in time that counts, the link is down */
};

/** Fills in all but id, switch_end, node, name, epoch, fabric, period and mac. */
void mf_link_config_default(struct mf_link_config *c);

/** @return NULL: mf_link_new() takes it; else what is wrong, for people */
const char *mf_link_config_fault(const struct mf_link_config *c);

/** Why a link is down. */
enum mf_link_down {
	MF_LINK_DOWN_FIRST, /**< has never been up */
	MF_LINK_DOWN_SILENCE, /**< nothing came from the partner */
	MF_LINK_DOWN_RESTARTED, /**< the partner is another process now, or has ended the connection */
	MF_LINK_DOWN_GAVE_UP, /**< replays are used up */
	MF_LINK_DOWN_PARTNER_LEFT, /**< BYE */
	MF_LINK_DOWN_PARTNER_GAVE_UP, /**< BYE */
	MF_LINK_DOWN_LEFT, /**< mf_link_leave() */
	MF_LINK_DOWN_GONE, /**< mf_link_gone() */
	MF_LINK_DOWNS
};
const char *mf_link_down_text(enum mf_link_down down);

/** The thread that polls an end, so that a partner on the same host can look whether it gets a CPU. */
struct mf_link_place {
	uint64_t host; /**< hash of the host and of the life of the thread; 0: not told */
	uint32_t thread; /**< its number there */
};

struct mf_link_status {
	bool up;
	enum mf_link_down down; /**< why it was down last */
	uint32_t connections; /**< so far: one more, and what was before is lost */
	/** What does not match, since it came up or went down: enum mf_link_reason, or 0. The last one. */
	uint16_t refused;
	bool by_partner; /**< who refuses; of have and got the first is his */
	uint64_t have, got;
	uint64_t epoch, partner_epoch; /**< partner_epoch 0: not known */
	uint16_t partner_state; /**< MF_LINK_READY, MF_LINK_DONE: as told in this connection, or the last */
	uint16_t echo; /**< our state as the partner has told that it knows it, the same */
	uint16_t partner_node;
	char partner_name[MF_LINK_NAME + 1]; /**< printable; empty: not known */
	struct mf_link_place partner_place; /**< as told last */
	mf_time round_trip; /**< smoothed, with the partner's delay of ACKs; 0: not measured */
};

/** Counters of an end since mf_link_new(). mf_link_counters() has their names. */
struct mf_link_stats {
	uint64_t rx_data_frames, rx_data_blocks; /**< taken in, in their order */
	uint64_t rx_ack_frames, rx_poll_frames, rx_nack_frames, rx_hello_frames, rx_refuse_frames,
		rx_bye_frames, rx_probe_frames;
	/* dropped, by cause; what has a bad CRC or is not ours is the port's */
	uint64_t rx_duplicate_frames; /**< DATA that was here already */
	uint64_t rx_gap_frames; /**< DATA behind one that is missing */
	uint64_t rx_outside_frames; /**< DATA with a number that can be neither */
	uint64_t rx_no_room_frames; /**< DATA beyond the limit that was told, or without retransmission */
	uint64_t rx_down_frames; /**< while down */
	uint64_t rx_stale_frames; /**< of another connection */
	uint64_t rx_version_frames, rx_type_frames, rx_malformed_frames;
	uint64_t rx_reflected_frames; /**< own ones */
	uint64_t rx_untaken_blocks; /**< not taken before the link went down */
	uint64_t rx_damaged_frames; /**< told by mf_link_damaged() */
	uint64_t rx_missing_frames; /**< gaps: numbers that were jumped over, each once */
	uint64_t rx_old_acks; /**< overtaken: not an error */
	uint64_t rx_bad_acks; /**< of what was never sent */
	uint64_t rx_bad_limits; /**< beyond the partner's window */
	uint64_t tx_data_frames, tx_data_blocks; /**< new ones */
	uint64_t tx_replayed_frames;
	uint64_t tx_ack_frames, tx_poll_frames, tx_nack_frames, tx_hello_frames, tx_refuse_frames,
		tx_bye_frames, tx_probe_frames;
	uint64_t tx_down_blocks; /**< put while down: dropped */
	uint64_t tx_no_room_blocks; /**< put without mf_link_can_put(): dropped */
	uint64_t tx_unsent_blocks; /**< not acknowledged, or not sent, when the link went down */
	uint64_t tx_timer_replays, tx_nack_replays; /**< starts of a replay */
	uint64_t tx_held_nacks; /**< NACKs for a replay that was under way already */
	uint64_t tx_limit_stalls; /**< times that the partner's room alone held blocks back */
	uint64_t up_events;
	uint64_t down_silence_events, down_restarted_events, down_gave_up_events, down_partner_left_events,
		down_partner_gave_up_events, down_left_events, down_gone_events;
	uint64_t refused_version_hellos, refused_fabric_hellos, refused_rate_hellos, refused_stale_hellos,
		refused_features_hellos; /**< of the partner, each time */
	uint64_t epoch_retries; /**< own epoch was stale before the first connection: a later one was taken */
	uint64_t stall_events; /**< mf_link_away() for longer than the period of HELLO */
	uint64_t excuse_events; /**< mf_link_excuse(): the partner was silent, and not for want of a cable */
};

struct mf_link_counter {
	const char *name; /**< in the manner of xstats */
	uint16_t offset; /**< of a uint64_t in struct mf_link_stats */
};

/** All of mf_link_stats. @param n  how many */
const struct mf_link_counter *mf_link_counters(unsigned int *n);

static inline uint64_t mf_link_counter_of(const struct mf_link_stats *s, const struct mf_link_counter *c)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)s + c->offset, sizeof(value));
	return value;
}

struct mf_link;

/** @return NULL with errno: EINVAL (mf_link_config_fault() says why), ENOMEM */
struct mf_link *mf_link_new(const struct mf_link_config *config, mf_time now);
void mf_link_free(struct mf_link *l);

bool mf_link_up(const struct mf_link *l);
/** Something has changed in what mf_link_status() tells (but for round_trip) since it was called last. */
bool mf_link_changed(const struct mf_link *l);
void mf_link_status(struct mf_link *l, struct mf_link_status *out);
/** The same for who only looks, any thread: each value is one of a moment ago. */
void mf_link_look(const struct mf_link *l, struct mf_link_status *out);
/** What there is to say of a state: "is up (sw0)", "is refused: ...". @return false: nothing yet */
bool mf_link_status_text(const struct mf_link_status *st, char *text, size_t len);
const struct mf_link_stats *mf_link_stats(const struct mf_link *l);

/**
 * What this end tells of itself, from now on: MF_LINK_READY, MF_LINK_DONE. What is no longer told is known to
 * be over by the partner of the next connection alone.
 */
void mf_link_set_state(struct mf_link *l, uint16_t state);

/** Its port has another address: HELLO has it from now on, other frames from the next connection on. */
void mf_link_set_mac(struct mf_link *l, const uint8_t mac[MF_LINK_MAC]);

/** Who polls this end, as it is told from now on to a partner that is known. */
void mf_link_set_place(struct mf_link *l, const struct mf_link_place *place);

/** Ends the connection, if there is one, with a BYE; the handshake begins anew. */
void mf_link_leave(struct mf_link *l, mf_time now);

/*
 * What time counts (docs/fault-tolerance.md, "Slow is not dead"): the owner knows more of it than the frames
 * say.
 */
/** How long nothing of the partner has come, of the time that counts here; 0 while the link is down. */
mf_time mf_link_unheard(const struct mf_link *l, mf_time now);
/** Of the time since the partner was heard last `by` does not count: it could not say anything. */
void mf_link_excuse(struct mf_link *l, mf_time by);
/**
 * For so long, until now, this end had no turn. No timer of a replay runs out in that; and if it is longer
 * than the period of HELLO, it is no time of the partner's silence. What has come meanwhile waits for
 * mf_link_rx().
 */
void mf_link_away(struct mf_link *l, mf_time now, mf_time by);
/**
 * Whether frames of the connection, either way, are known to be lost and have yet to come again: whatever
 * follows them waits for that.
 */
bool mf_link_recovers(const struct mf_link *l);
/** The partner's process is gone: the connection is over, if there is one. */
void mf_link_gone(struct mf_link *l);

/**
 * A frame has come: of this link, from the other side, and mf_link_frame_check() found it GOOD, or of another
 * VERSION. It is not kept.
 */
void mf_link_rx(struct mf_link *l, mf_time now, const uint8_t *frame);

/**
 * A frame with a bad CRC has come, and on its port is no other end than this one: what it was is asked for at
 * once. Where several links share a port nobody knows whose it was; the gap will show it.
 */
void mf_link_damaged(struct mf_link *l, mf_time now);

/** Whether blocks have come that can be taken, if the link has no delay. */
bool mf_link_waits(const struct mf_link *l);
/** With a delay: when the next blocks can be taken, in the time of mf_link_rx(); there are some. */
mf_time mf_link_due(const struct mf_link *l);
/**
 * The next blocks that have come, in place: period and flags are 0, and the start unless there is a delay.
 * The caller may change them; they stay where they are until the next mf_link_take(), or mf_link_free().
 * @return NULL: there are none
 */
struct mf_span *mf_link_take(struct mf_link *l);

/**
 * Whether a whole span can be put. Before the first connection it cannot; while the link is down afterwards
 * it can, and is dropped: nobody waits for a partner that may never come back.
 */
bool mf_link_can_put(const struct mf_link *l);
/**
 * Blocks to be sent, behind those before; see mf_link_can_put(). They share a frame if they are whole in it.
 */
void mf_link_put(struct mf_link *l, const struct mf_span *span);

/**
 * The next frame to be sent; it counts as sent. A port that cannot send it keeps it and calls again when it
 * has.
 * @param len  its octets
 * @return NULL: there is none now; else in place until the next call for this link
 */
const uint8_t *mf_link_tx(struct mf_link *l, mf_time now, uint16_t *len);

/** The next time at which mf_link_run() or, without a put or rx before, mf_link_tx() has something to do. */
mf_time mf_link_next(const struct mf_link *l);

/**
 * Does what its timers say. All frames that have come by now must have been given before: where this process
 * was away (mf_link_away()), the partner's signs of life are waiting.
 */
void mf_link_run(struct mf_link *l, mf_time now);

/**
 * The answer of a port with switch's ends to the HELLO of a node's end for a link that it does not have: a
 * REFUSE. The port limits how often.
 * @param frame  GOOD or of another VERSION
 * @param out  room for MF_LINK_FRAME_MAX octets, or sizeof(struct mf_link_head) + sizeof(struct
 * mf_link_refuse)
 * @return its octets; 0: no answer is due, the frame is not ours
 */
uint16_t mf_link_refuse_unknown(const uint8_t *frame, const uint8_t mac[MF_LINK_MAC], uint8_t *out);

#endif
