/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet frames to blocks: IEEE 802.3 clauses 3, 46.3.1.4 and 49. */
#include <assert.h>
#include <string.h>

#include "pcs/mf_frame.h"
#include "pcs/mf_pcs.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "octets are loaded as words");

/** Preamble and SFD; the start character stands in the place of the first octet. */
#define START_LANE0 UINT64_C(0xd555555555555578)
#define START_LANE4 UINT64_C(0x5555550000000033)
/** What a start in lane 4 leaves of them for the next block. */
#define PREAMBLE_REST UINT64_C(0xd5555555)

enum phase {
	PHASE_NONE,
	PHASE_START, /**< the start block, once the gap allows it */
	PHASE_PREAMBLE, /**< the second half of the preamble, behind a start in lane 4 */
	PHASE_BODY,
};

static const uint8_t terminate[8] = {
	MF_BT_T0, MF_BT_T1, MF_BT_T2, MF_BT_T3, MF_BT_T4, MF_BT_T5, MF_BT_T6, MF_BT_T7,
};

void mf_frame_enc_init(struct mf_frame_enc *e, bool align8)
{
	*e = (struct mf_frame_enc){.slack = align8 ? 7 : 3};
}

void mf_frame_enc_start(struct mf_frame_enc *e, const uint8_t *frame, uint16_t len)
{
	if (len < MF_FRAME_MIN) {
		memset(e->padded, 0, sizeof(e->padded));
		memcpy(e->padded, frame, len);
		frame = e->padded;
		len = MF_FRAME_MIN;
	}
	e->frame = frame;
	e->len = len;
	e->pos = 0;
	e->fcs = mf_fcs(frame, len);
	e->phase = PHASE_START;
	e->close = false;
}

void mf_frame_enc_gap(struct mf_frame_enc *e, unsigned int octets)
{
	e->owed = e->owed > octets ? (uint8_t)(e->owed - octets) : 0;
}

/** Where a block goes. */
struct out {
	uint64_t *word;
	uint8_t *sync;
};

static enum mf_frame_part control(struct out out, uint64_t word, enum mf_frame_part part)
{
	*out.word = word;
	*out.sync = MF_SYNC_CTRL;
	return part;
}

static enum mf_frame_part data(struct out out, uint64_t word)
{
	*out.word = word;
	*out.sync = MF_SYNC_DATA;
	return MF_FRAME_BODY;
}

static enum mf_frame_part gap(struct mf_frame_enc *e, struct out out)
{
	e->close = false;
	mf_frame_enc_gap(e, 8);
	return control(out, MF_IDLE_WORD, MF_FRAME_GAP);
}

/** Whether the gap is long enough for a start in lane 4, or in lane 0 where no other is allowed. */
static bool gap_paid(const struct mf_frame_enc *e)
{
	bool lane4_allowed = e->slack < 4;

	return e->owed <= e->slack + (lane4_allowed ? 4 : 0);
}

static inline enum mf_frame_part start(struct mf_frame_enc *e, struct out out)
{
	if (e->owed <= e->slack) {
		e->phase = PHASE_BODY;
		return control(out, START_LANE0, MF_FRAME_BODY);
	}
	if (gap_paid(e)) {
		mf_frame_enc_gap(e, 4);
		e->phase = PHASE_PREAMBLE;
		return control(out, START_LANE4, MF_FRAME_BODY);
	}
	return gap(e, out);
}

/** Eight octets of frame and FCS from pos on, zeros behind them. */
static uint64_t octets_at(const struct mf_frame_enc *e, unsigned int pos)
{
	uint64_t word = 0;

	if (pos + 8 <= e->len) {
		memcpy(&word, e->frame + pos, 8);
		return word;
	}
	if (pos >= e->len)
		return (uint64_t)e->fcs >> 8 * (pos - e->len);
	/* A frame has eight octets or more: the last ones come by one load. */
	memcpy(&word, e->frame + e->len - 8, 8);
	return word >> 8 * (pos + 8 - e->len) | (uint64_t)e->fcs << 8 * (e->len - pos);
}

static inline enum mf_frame_part body(struct mf_frame_enc *e, struct out out)
{
	unsigned int left = e->len + MF_FCS_LEN - e->pos;
	uint64_t word = octets_at(e, e->pos);

	if (left >= 8) {
		e->pos += 8;
		return data(out, word);
	}
	e->frame = NULL;
	e->phase = PHASE_NONE;
	e->close = true;
	e->owed += (uint8_t)(MF_FRAME_IFG - (8 - left));
	return control(out, word << 8 | terminate[left], MF_FRAME_END);
}

static inline enum mf_frame_part preamble(struct mf_frame_enc *e, struct out out)
{
	e->pos = 4;
	e->phase = PHASE_BODY;
	return data(out, octets_at(e, 0) << 32 | PREAMBLE_REST);
}

enum mf_frame_part mf_frame_enc_next(struct mf_frame_enc *e, struct mf_block *block)
{
	struct out out = {&block->word, &block->sync};

	switch ((enum phase)e->phase) {
	case PHASE_START:
		return start(e, out);
	case PHASE_PREAMBLE:
		return preamble(e, out);
	case PHASE_BODY:
		return body(e, out);
	default:
		return e->close ? gap(e, out) : MF_FRAME_NONE;
	}
}

/** Blocks that hold octets of the frame and nothing else. */
static inline unsigned int whole_data(struct mf_frame_enc *e, struct out out, unsigned int max)
{
	unsigned int n = e->pos < e->len ? (e->len - e->pos) / 8U : 0;

	n = n < max ? n : max;
	if (n == 0)
		return 0;
	mf_pcs_ops->put_data(out.word, out.sync, e->frame + e->pos, n);
	e->pos += (uint16_t)(n * 8);
	return n;
}

unsigned int mf_frame_enc_blocks(struct mf_frame_enc *e, uint64_t *word, uint8_t *sync, unsigned int max)
{
	unsigned int n = 0;

	if (max > 0 && e->phase == PHASE_START && gap_paid(e)) {
		start(e, (struct out){word, sync});
		n = 1;
	}
	if (n < max && e->phase == PHASE_PREAMBLE) {
		preamble(e, (struct out){word + n, sync + n});
		n++;
	}
	if (e->phase == PHASE_BODY)
		n += whole_data(e, (struct out){word + n, sync + n}, max - n);
	for (; n < max && e->phase == PHASE_BODY; n++)
		body(e, (struct out){word + n, sync + n});
	return n;
}
