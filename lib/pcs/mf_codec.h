/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64b/66b encode and decode of one XGMII column pair (IEEE 802.3 clause 49.2.4, figure 49-7).
 *
 * Stateless: what a block may follow is the business of the frame decoder (mf_frame.h).
 */
#ifndef MF_CODEC_H
#define MF_CODEC_H

#include "pcs/mf_block.h"

/** XGMII control characters. */
#define MF_XGMII_IDLE 0x07
#define MF_XGMII_START 0xfb
#define MF_XGMII_TERM 0xfd
#define MF_XGMII_ERROR 0xfe
#define MF_XGMII_SEQ 0x9c /**< ordered set /Q/ */
#define MF_XGMII_FSIG 0x5c /**< signal ordered set /Fsig/ */

/** Eight XGMII characters: lane 0 is the least significant octet; bit i of ctl: lane i is control. */
struct mf_xgmii {
	uint64_t data;
	uint8_t ctl;
};

/**
 * Encodes eight characters.
 *
 * @return true, or false where the characters have no legal encoding: *out is then the /E/ block
 *         (eight /E/, type 0x1e).
 */
bool mf_codec_encode(const struct mf_xgmii *in, struct mf_block *out);

/**
 * Decodes a block: standard types only, all C codes checked (a /T/ counts only if all its control
 * characters are valid; the bits that the standard leaves unused are ignored).
 *
 * @return true, or false for a bad sync header, type, C or O code: *out is then eight /E/.
 */
bool mf_codec_decode(const struct mf_block *in, struct mf_xgmii *out);

/** R_TYPE of clause 49.2.13.2.3: what a received block is to the receive state machine. */
enum mf_codec_class {
	MF_CODEC_E, /**< bad sync header, type, C or O code, or an /E/ where idle could stand */
	MF_CODEC_C, /**< control characters or ordered sets only */
	MF_CODEC_S, /**< holds a start: types 0x78, 0x33, 0x66 */
	MF_CODEC_D, /**< data */
	MF_CODEC_T, /**< holds a /T/ */
};

enum mf_codec_class mf_codec_classify(uint8_t sync, uint64_t word);

#endif
