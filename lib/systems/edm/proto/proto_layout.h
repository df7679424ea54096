/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the fields stand: first bit and width within the word of a control block, whose bits 0..7 are
 * the type octet. docs/wire-format.md has the same as pictures. For this room, its
 * inline part and its tests.
 */
#ifndef PROTO_LAYOUT_H
#define PROTO_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#include "systems/edm/proto/mf_proto.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are kept as they are on the wire");
static_assert((int)MF_KINDS <= 16 && (int)MF_RMW_ALL <= 16 && (int)MF_ERR_GAP < 16, "4 bits each");
static_assert(MF_CALL_MAX + MF_CALL_HEAD == 4095 * MF_CALL_UNIT, "12 bits");
static_assert((int)MF_ERR_GAP >= (int)MF_STATUSES && 16 * MF_GAP_UNIT == MF_MESSAGE_MAX, "4 bits");

/* The last control block of every kind. */
#define MSG_CHECK 48, 16

/* /MS/ of every kind. */
#define MS_KIND 8, 4
#define MS_DST 12, 9
#define MS_SRC 21, 9
#define MS_ID 30, 8
#define MS_EXT 38, 1
#define MS_LAST 39, 1 /* RMWREQ: spare */
#define MS_MORE MS_LAST /* RREQ: a piece of a transfer, and not the last */
#define MS_ADDR 40, 24 /* low half */

/* /MT/: the high half of the address, then what differs by kind. */
#define MT_ADDR 8, 24
#define MT_SIZE 32, 16 /* RREQ; of one with MS_MORE what is behind it */
#define MT_OP 32, 4 /* RMWREQ */
#define MT_ANSWER 36, 12 /* RMWREQ: of a call, its response in MF_CALL_UNIT, not 0; of others spare */
#define MT_OFFSET 32, 12 /* WREQ, WREQ_ACK, RRES, in MF_CHUNK_UNIT */
#define MT_TAIL 44, 3 /* octets in the last data block, minus one */
#define MT_CHUNK_SPARE 47, 1

/* /N/ and /G/. */
#define NG_DST 8, 9
#define NG_ID 17, 8
#define NG_SIZE 25, 16 /* of an /N/ with N_MORE what is behind it */
#define N_MORE 41, 1 /* a piece of a transfer, and not the last */
#define N_SPARE 42, 4
#define N_MEGA 46, 1
#define N_EXT 47, 1
#define G_RESP 41, 1
#define G_SPARE 42, 6

/* /MST/: kind and destination as in /MS/; ACK and ERR source and id, too. */
#define ERR_STATUS 38, 4
#define ERR_OF 42, 4
#define ERR_USE 46, 2 /* MF_ERR_USE_BITS */
#define ERR_APPLIED 42, 4 /* MF_ERR_GAP, in the place of ERR_OF: in MF_GAP_UNIT */
/* MF_ERR_RESTARTED, MF_ERR_INCARNATION, in the place of the two: the high bits of the incarnation. */
#define ERR_INCARNATION 42, 6
#define ACK_USE 38, 10 /* MF_ACK_USE_BITS */
#define GRET_ID 21, 8
#define GRET_RESP 29, 1
#define GRET_SIZE 30, 16
#define GRET_ASKED 46, 1
#define GRET_SPARE 47, 1

#define TAKE_EPOCH 12, 16
#define TAKE_WHAT 28, 2 /* enum mf_take */
#define TAKE_OF 30, 14 /* epochs, an incarnation, or a port */
#define TAKE_SPARE 44, 4

/* Data blocks of the extension: the key, then the epoch and how often it was sent before. */
#define EXT_EPOCH 0, 16
#define EXT_AGAIN 16, 8
#define EXT_FROM 24, 12 /* RREQ, call: where in its message it begins, in MF_CHUNK_UNIT */
#define EXT_NUMBER 36, 28 /* MF_NUMBER_BITS; with one switch the space; RRES: spare */

/* The data block of the CRC-32C. */
#define MSG_CRC32 0, 32
#define MSG_CRC32_SPARE 32, 32

/* What does not fit is cut off, so that it cannot reach into other fields. */
static inline uint64_t field(unsigned int bit, unsigned int width, uint64_t value)
{
	return (value & ((UINT64_C(1) << width) - 1)) << bit;
}

static inline uint64_t field_of(uint64_t word, unsigned int bit, unsigned int width)
{
	return word >> bit & ((UINT64_C(1) << width) - 1);
}

static inline unsigned int rmw_args(uint8_t op)
{
	return op == MF_RMW_CAS || op == MF_RMW_SPACE || op == MF_RMW_CALL ? 2 : 1;
}

#endif
