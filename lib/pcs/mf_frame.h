/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ethernet frames to 66-bit blocks and back: preamble, FCS, inter-frame gap with deficit idle count
 * (IEEE 802.3 clauses 3, 46.3.1.4 and 49).
 */
#ifndef MF_FRAME_H
#define MF_FRAME_H

#include <stddef.h>

#include "mf_block.h"

#define MF_FRAME_MIN 60 /**< without FCS; shorter ones are padded */
#define MF_FRAME_MAX 9000 /**< without FCS: jumbo */
#define MF_FCS_LEN 4
/** Most blocks of one frame: /S/ or C0..C3 S4, data, /T/, and one idle block of gap. */
#define MF_FRAME_BLOCKS_MAX ((8 + MF_FRAME_MAX + MF_FCS_LEN + 1 + 7) / 8 + 3)

/** CRC-32 of Ethernet over len octets; little-endian on the wire. Any thread, after mf_fcs_init(). */
uint32_t mf_fcs(const void *data, size_t len);

/**
 * Chooses rte_net_crc's handler once: it is picked lazily on first use otherwise, which two lcores
 * must not do at once.
 *
 * @param simd  false: the scalar one (unit tests); true: the best that this CPU has.
 */
void mf_fcs_init(bool simd);

/** Turns one frame after another into blocks, a block a call. */
struct mf_frame_enc {
	const uint8_t *frame; /**< the caller's, until the frame is done; NULL: none */
	uint16_t len; /**< octets to send without FCS, after padding */
	uint16_t given; /**< octets that the caller gave, the rest is padding */
	uint16_t pos; /**< next octet of preamble + frame + FCS */
	uint32_t fcs;
	uint8_t lane; /**< lane of the next /S/: 0 or 4 */
	uint8_t gap; /**< octets of idle still owed before the next /S/ */
	int8_t deficit; /**< deficit idle count, 0..3 */
	bool align8; /**< /S/ in lane 0 only, as clause 82 */
	uint64_t carry; /**< the half column that a lane-4 start shifts */
};

/** @param align8  start frames in lane 0 only (100GBASE-R); false allows lane 4 (10 and 25GBASE-R). */
void mf_frame_enc_init(struct mf_frame_enc *e, bool align8);

/** Whether a frame is in progress (its /T/, or the idle block owed behind it, has not been given out). */
bool mf_frame_enc_busy(const struct mf_frame_enc *e);

/**
 * Begins a frame. The encoder must not be busy.
 *
 * @param frame  from the destination address on, without FCS; must stay until the frame is done.
 * @param len    1..MF_FRAME_MAX octets; below MF_FRAME_MIN it is padded with zeros.
 */
void mf_frame_enc_start(struct mf_frame_enc *e, const uint8_t *frame, uint16_t len);

/** What mf_frame_enc_next() gave. */
enum mf_frame_part {
	MF_FRAME_NONE, /**< nothing: no frame in progress */
	MF_FRAME_BODY, /**< a block of the frame */
	MF_FRAME_END, /**< its /T/ */
	MF_FRAME_GAP, /**< an idle block behind the /T/: may be replaced by memory blocks */
};

/** Next block of the frame in progress. Each frame ends with its /T/ and one idle block (GAP). */
enum mf_frame_part mf_frame_enc_next(struct mf_frame_enc *e, struct mf_block *out);

/** Tells the encoder that n octets of idle or memory blocks have passed: the gap shrinks. */
void mf_frame_enc_gap(struct mf_frame_enc *e, unsigned int octets);

/** Why a frame was not delivered. */
enum mf_frame_error {
	MF_FRAME_OK,
	MF_FRAME_BAD_BLOCK, /**< /E/, bad sync header, type or C code inside */
	MF_FRAME_BAD_FCS,
	MF_FRAME_BAD_PREAMBLE,
	MF_FRAME_TOO_LONG,
	MF_FRAME_TOO_SHORT,
	MF_FRAME_CUT, /**< a new start, or idle, before the /T/ */
	MF_FRAME_ERRORS
};

/**
 * Collects the blocks of a frame until its /T/ (EDM 3.2.3: the decoder wants them in consecutive
 * cycles) and hands it over whole, once the block behind the /T/ has been seen.
 */
struct mf_frame_dec {
	uint8_t *buf; /**< preamble (8) + frame + FCS */
	uint32_t len;
	uint8_t state;
	uint8_t error; /**< enum mf_frame_error of the frame in progress */
	bool done; /**< the /T/ was seen; waits for the block behind it */
	uint64_t drops[MF_FRAME_ERRORS];
	uint64_t frames;
	uint64_t stray; /**< blocks that belong to no frame: bad ones and data outside one */
};

/** @return 0 or -ENOMEM. Allocates the hold buffer; mf_frame_dec_fini() frees it. */
int mf_frame_dec_init(struct mf_frame_dec *d);
void mf_frame_dec_fini(struct mf_frame_dec *d);

/**
 * Takes one block (idles too, which memory blocks have become by now).
 *
 * @param frame  set to the frame without preamble and FCS, in the decoder's own buffer, valid until
 *               the next call.
 * @return its length in octets, or 0 while there is none. The frame is the one whose /T/ was seen by
 *         an earlier call; the new block is taken in as well: it may be the /S/ of the next frame.
 */
unsigned int mf_frame_dec_block(struct mf_frame_dec *d, uint8_t sync, uint64_t word, const uint8_t **frame);

#endif
