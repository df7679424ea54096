/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks to Ethernet frames: IEEE 802.3 clause 49.2.11 and figure 49-17, EDM 3.2.3. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcs/mf_codec.h"
#include "pcs/mf_frame.h"
#include "pcs/mf_pcs.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are stored as octets");

/** Octets of preamble and SFD behind the start character. */
#define PREAMBLE UINT64_C(0xd5555555555555)
/** In front of the frame, from the start character's lane on. */
#define PREAMBLE_LEN 8
/** No good frame has more octets in front of its /T/, a start in lane 4 included. */
#define HOLD_MAX (4 + PREAMBLE_LEN + MF_FRAME_MAX + MF_FCS_LEN)

enum state {
	OUTSIDE,
	INSIDE,
	DONE, /**< holds a good frame; waits for the block behind its /T/ */
	SKIP, /**< the rest of a frame that was dropped */
};

int mf_frame_dec_init(struct mf_frame_dec *d)
{
	/* Blocks are stored as whole words: the last one may reach 8 octets behind the end. */
	*d = (struct mf_frame_dec){.buf = malloc(HOLD_MAX + 8), .state = OUTSIDE};
	return d->buf ? 0 : -ENOMEM;
}

void mf_frame_dec_fini(struct mf_frame_dec *d)
{
	free(d->buf);
	d->buf = NULL;
}

bool mf_frame_dec_waiting(const struct mf_frame_dec *d)
{
	return d->state == DONE;
}

bool mf_frame_dec_holding(const struct mf_frame_dec *d)
{
	return d->state == INSIDE || d->state == DONE;
}

static void store(struct mf_frame_dec *d, uint64_t word, unsigned int octets)
{
	memcpy(d->buf + d->len, &word, 8);
	d->len += octets;
}

static void drop(struct mf_frame_dec *d, enum mf_frame_error cause, enum state next)
{
	d->drops[cause]++;
	d->state = (uint8_t)next;
}

/** The start block goes in front of the frame in buf, which may still be the caller's. */
static void begin(struct mf_frame_dec *d, uint64_t word)
{
	d->lane = mf_block_type(word) == MF_BT_S ? 0 : 4;
	d->len = 0;
	store(d, word, 8);
	d->state = INSIDE;
}

/** Octets of the frame, FCS included. */
static unsigned int frame_len(const struct mf_frame_dec *d)
{
	unsigned int front = d->lane + PREAMBLE_LEN;

	return d->len < front ? 0 : d->len - front;
}

static bool preamble_good(const struct mf_frame_dec *d)
{
	uint64_t word;

	memcpy(&word, d->buf + d->lane, sizeof(word));
	return word >> 8 == PREAMBLE;
}

static bool fcs_good(const struct mf_frame_dec *d)
{
	const uint8_t *frame = d->buf + d->lane + PREAMBLE_LEN;
	unsigned int len = frame_len(d) - MF_FCS_LEN;
	uint32_t fcs;

	memcpy(&fcs, frame + len, sizeof(fcs));
	return mf_fcs(frame, len) == fcs;
}

static enum mf_frame_error check(const struct mf_frame_dec *d)
{
	unsigned int len = frame_len(d);

	if (len < MF_FRAME_MIN + MF_FCS_LEN)
		return MF_FRAME_TOO_SHORT;
	if (len > MF_FRAME_MAX + MF_FCS_LEN)
		return MF_FRAME_TOO_LONG;
	if (!preamble_good(d))
		return MF_FRAME_BAD_PREAMBLE;
	return fcs_good(d) ? MF_FRAME_OK : MF_FRAME_BAD_FCS;
}

/** Octets of data in front of a /T/. The types are in the order of the lanes as numbers, too. */
static unsigned int terminate_lane(uint8_t type)
{
	static const uint8_t types[] = {MF_BT_T0, MF_BT_T1, MF_BT_T2, MF_BT_T3,
					MF_BT_T4, MF_BT_T5, MF_BT_T6, MF_BT_T7};
	unsigned int lane = 0;

	for (unsigned int i = 0; i < 8; i++)
		lane += types[i] < type;
	return lane;
}

static void take_terminate(struct mf_frame_dec *d, uint64_t word)
{
	enum mf_frame_error error;

	store(d, word >> 8, terminate_lane(mf_block_type(word)));
	error = check(d);
	if (error)
		drop(d, error, OUTSIDE);
	else
		d->state = DONE;
}

/** As many as a good frame can have are stored; one that has more is too long. */
static void store_data(struct mf_frame_dec *d, const uint64_t *word, unsigned int n)
{
	unsigned int room = (HOLD_MAX - d->len) / 8, fit = n < room ? n : room;

	mf_pcs_ops->get_data(d->buf + d->len, word, fit);
	d->len += fit * 8;
	if (n > room)
		drop(d, MF_FRAME_TOO_LONG, SKIP);
}

/** Whether a block that can only go on or end a frame, or n of them, belong to one that is not lost. */
static bool goes_on(struct mf_frame_dec *d, unsigned int n)
{
	if (d->state == OUTSIDE) {
		d->stray_blocks += n;
		return false;
	}
	d->frame_blocks += n;
	if (d->state == DONE)
		drop(d, MF_FRAME_BAD_END, SKIP);
	return d->state == INSIDE;
}

void mf_frame_dec_data(struct mf_frame_dec *d, const uint64_t *word, unsigned int n)
{
	if (n > 0 && goes_on(d, n))
		store_data(d, word, n);
}

static void take_end(struct mf_frame_dec *d, enum mf_codec_class class, uint64_t word)
{
	if (!goes_on(d, 1)) {
		if (d->state == SKIP && class == MF_CODEC_T)
			d->state = OUTSIDE;
	} else if (class == MF_CODEC_T) {
		take_terminate(d, word);
	} else {
		drop(d, MF_FRAME_BAD_BLOCK, SKIP);
	}
}

/** A block that can only stand outside of a frame, or begin one: it settles what was before. */
static unsigned int settle(struct mf_frame_dec *d, const uint8_t **frame)
{
	unsigned int len = 0;

	if (d->state == INSIDE)
		d->drops[MF_FRAME_CUT]++;
	if (d->state == DONE) {
		len = frame_len(d) - MF_FCS_LEN;
		*frame = d->buf + d->lane + PREAMBLE_LEN;
		d->frames++;
	}
	d->state = OUTSIDE;
	return len;
}

unsigned int mf_frame_dec_block(struct mf_frame_dec *d, uint8_t sync, uint64_t word, const uint8_t **frame)
{
	enum mf_codec_class class = mf_codec_classify(sync, word);
	unsigned int len;

	if (class == MF_CODEC_D) {
		mf_frame_dec_data(d, &word, 1);
		return 0;
	}
	if (class != MF_CODEC_C && class != MF_CODEC_S) {
		take_end(d, class, word);
		return 0;
	}
	len = settle(d, frame);
	if (class == MF_CODEC_S) {
		d->frame_blocks++;
		begin(d, word);
	} else {
		d->idle_blocks++;
	}
	return len;
}

unsigned int mf_frame_dec_blocks(struct mf_frame_dec *d, const uint8_t *sync, const uint64_t *word,
				 unsigned int n, const uint8_t **frame, unsigned int *len)
{
	unsigned int i = 0;

	for (*len = 0; i < n && *len == 0; i++) {
		unsigned int run = mf_sync_data(sync + i, n - i);

		mf_frame_dec_data(d, word + i, run);
		i += run;
		if (i == n)
			break;
		*len = mf_frame_dec_block(d, sync[i], word[i], frame);
	}
	return i;
}
