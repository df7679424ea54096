/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet frames to 66-bit blocks and back: preamble, FCS, inter-frame gap with deficit idle count
 * (IEEE 802.3 clauses 3, 46.3.1.4 and 49).
 */
#ifndef MF_FRAME_H
#define MF_FRAME_H

#include <stddef.h>

#include "pcs/mf_block.h"

#define MF_FRAME_MIN 60 /**< without FCS; shorter ones are padded */
#define MF_FRAME_MTU 9000 /**< most behind the header: jumbo */
#define MF_FRAME_MAX (MF_FRAME_MTU + 14 + 4) /**< without FCS: with header and VLAN tag */
#define MF_FCS_LEN 4
/** Gap between two frames on average, the /T/ included. */
#define MF_FRAME_IFG 12
/**
 * Most blocks that one frame is made of: a start in lane 4, data, the /T/. GAP blocks, one or two,
 * come on top.
 */
#define MF_FRAME_BLOCKS_MAX ((4 + 8 + MF_FRAME_MAX + MF_FCS_LEN) / 8 + 1)

/** CRC-32 of Ethernet over len octets; little-endian on the wire. Any thread. Works without EAL. */
uint32_t mf_fcs(const void *data, size_t len);

/**
 * Turns one frame after another into blocks, a block a call.
 *
 *            start()             /T/
 *     NONE ----------> frame ----------> NONE, one GAP block due
 *
 * The gap and the deficit idle count (46.3.1.4, 81.3.1.4) are one number: the octets of idle that are
 * owed until the average gap is MF_FRAME_IFG again. Each /T/ adds 12 less the idle in its own block,
 * idle pays it back, never below 0, and a start may leave up to 3 owed (align8: 7): that rest is the
 * deficit. A start in lane 0 pays nothing itself, one in lane 4 pays the 4 idles in front of it.
 */
struct mf_frame_enc {
	const uint8_t *frame; /**< the caller's, or padded; NULL: none in progress */
	uint16_t len; /**< of frame, without FCS, after padding */
	uint16_t pos; /**< next octet of frame, then of its FCS */
	uint32_t fcs;
	uint8_t phase; /**< which kind of block is next */
	uint8_t owed; /**< octets of idle, see above */
	uint8_t slack; /**< most that a start may leave owed */
	bool close; /**< a block is still due behind the last /T/ */
	uint8_t padded[MF_FRAME_MIN]; /**< copy of a frame that is too short */
};

/** @param align8  start frames in lane 0 only (100GBASE-R); false allows lane 4 (10 and 25GBASE-R). */
void mf_frame_enc_init(struct mf_frame_enc *e, bool align8);

/** Whether blocks are due: of a frame in progress, or the one behind its /T/. */
static inline bool mf_frame_enc_busy(const struct mf_frame_enc *e)
{
	return e->frame || e->close;
}

/** Whether mf_frame_enc_start() may be called: the last frame's /T/ was given out. */
static inline bool mf_frame_enc_open(const struct mf_frame_enc *e)
{
	return !e->frame;
}

/**
 * Begins a frame. The encoder must be open; a GAP block that is due behind the last frame need not
 * have been taken: where the gap still wants it, it is given first, otherwise the start takes its
 * place. So back-to-back frames come at exactly the standard's average gap.
 *
 * @param frame  from the destination address on, without FCS; must stay until the frame is done.
 * @param len    1..MF_FRAME_MAX octets; below MF_FRAME_MIN it is padded with zeros.
 */
void mf_frame_enc_start(struct mf_frame_enc *e, const uint8_t *frame, uint16_t len);

/** What mf_frame_enc_next() gave. */
enum mf_frame_part {
	MF_FRAME_NONE, /**< nothing is due; *out is not written */
	MF_FRAME_BODY, /**< a block of the frame */
	MF_FRAME_END, /**< its /T/ */
	MF_FRAME_GAP, /**< an idle block between frames: a memory block may be sent in its place */
};

/**
 * Next block that is due.
 *
 * Behind every /T/ at least one block has to follow before the stream goes quiet, since the receiver
 * accepts a frame only then: call on until MF_FRAME_NONE, or send memory blocks or start a frame. A GAP
 * block counts for the gap when it is given, whether it is sent or a memory block takes its place.
 */
enum mf_frame_part mf_frame_enc_next(struct mf_frame_enc *e, struct mf_block *out);

/**
 * Many blocks at once: those of the frame in progress, up to its /T/.
 *
 * @param word, sync  of the blocks; room for max
 * @return their count. 0: none is due but a GAP block perhaps, which mf_frame_enc_next() gives.
 */
unsigned int mf_frame_enc_blocks(struct mf_frame_enc *e, uint64_t *word, uint8_t *sync, unsigned int max);

/**
 * Tells the encoder that n octets of idle (as time) or of memory blocks (8 each) have passed between
 * two frames: the gap shrinks. Not for GAP blocks, sent or replaced, nor for what passed inside a frame.
 */
void mf_frame_enc_gap(struct mf_frame_enc *e, unsigned int octets);

/** Why a frame was not delivered. The first cause that is found counts. */
enum mf_frame_error {
	MF_FRAME_OK,
	MF_FRAME_BAD_BLOCK, /**< /E/, bad sync header, type or C code inside */
	MF_FRAME_BAD_FCS,
	MF_FRAME_BAD_PREAMBLE,
	MF_FRAME_TOO_LONG,
	MF_FRAME_TOO_SHORT,
	MF_FRAME_CUT, /**< a new start, or idle, before the /T/ */
	MF_FRAME_BAD_END, /**< the block behind the /T/ was neither idle nor a start */
	MF_FRAME_ERRORS
};

/**
 * Collects the blocks of a frame until its /T/ (EDM 3.2.3: the decoder wants them in consecutive
 * cycles) and hands it over whole, once the block behind the /T/ has been seen. Follows the receive
 * state machine of clause 49 (figure 49-17), but for a start inside a frame: the standard makes both an
 * error, here only the old frame is lost.
 *
 *              S               T, all is well
 *     OUTSIDE ----> INSIDE --------------------> DONE ----> OUTSIDE, or INSIDE behind an S: delivered
 *        ^            | any error: dropped        | D, T or E: dropped
 *        |            v                           |
 *        +--------- SKIP <------------------------+
 *           T, C
 *
 * Nothing gets lost unseen: every block is counted as one of frame_blocks, idle_blocks and stray_blocks,
 * and every start block as one of frames and drops, unless mf_frame_dec_holding().
 */
struct mf_frame_dec {
	uint8_t *
		buf; /**< the blocks' octets as they come: a frame begins at 8, at 12 behind a lane-4 start */
	uint32_t len; /**< octets in buf */
	uint8_t lane; /**< of the start: 0 or 4 */
	uint8_t state;
	uint64_t frames; /**< delivered */
	uint64_t drops[MF_FRAME_ERRORS]; /**< by cause */
	uint64_t frame_blocks; /**< of frames, delivered, dropped or in progress */
	uint64_t idle_blocks; /**< control characters and ordered sets outside of frames, or that cut one */
	uint64_t stray_blocks; /**< that belong to no frame: bad ones, data or a /T/ outside one */
};

/** @return 0 or -ENOMEM. Allocates the hold buffer; mf_frame_dec_fini() frees it. */
int mf_frame_dec_init(struct mf_frame_dec *d);
void mf_frame_dec_fini(struct mf_frame_dec *d);

/**
 * Takes one block (idles too, which memory blocks between frames have become by now).
 *
 * @param frame  set to the frame without preamble and FCS, in the decoder's own buffer, valid until
 *               the next call.
 * @return its length in octets, or 0 while there is none. The frame is the one whose /T/ was seen by
 *         the call before; the new block is taken in as well: it may be the /S/ of the next frame.
 */
unsigned int mf_frame_dec_block(struct mf_frame_dec *d, uint8_t sync, uint64_t word, const uint8_t **frame);

/**
 * Takes blocks, many at once, up to the end of a frame at most.
 *
 * @param len  set to what mf_frame_dec_block() would have returned for the last block that was taken
 * @return how many were taken: n, or as many as brought a frame; 0 only where n is 0
 */
unsigned int mf_frame_dec_blocks(struct mf_frame_dec *d, const uint8_t *sync, const uint64_t *word,
				 unsigned int n, const uint8_t **frame, unsigned int *len);

/** Takes n data blocks: what mf_frame_dec_block() would do for each. They never bring a frame. */
void mf_frame_dec_data(struct mf_frame_dec *d, const uint64_t *word, unsigned int n);

/** Whether a good frame's /T/ was seen and the next block decides. */
bool mf_frame_dec_waiting(const struct mf_frame_dec *d);

/** Whether a frame is in progress or waiting: neither delivered nor dropped yet. */
bool mf_frame_dec_holding(const struct mf_frame_dec *d);

#endif
