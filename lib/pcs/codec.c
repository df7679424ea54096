/* SPDX-License-Identifier: BSD-3-Clause */
/* 64b/66b encode and decode: IEEE 802.3 figure 49-7, table 49-1, clause 49.2.13.2.3. */
#include <assert.h>
#include <string.h>

#include "pcs/mf_codec.h"

/* /E/, and the block that holds eight of them. */
#define CODE_ERROR 0x1e
#define ERROR_WORD UINT64_C(0x3c78f1e3c78f1e1e)
#define ERROR_CHARACTERS UINT64_C(0xfefefefefefefefe)

/** Bits first..last of a payload. */
#define BITS(first, last) (UINT64_MAX >> (63 - (last)) & UINT64_MAX << (first))

/**
 * Figure 49-7, a row a type. What stands in a lane: D(ata), C(ontrol character), O(rdered set), S, T.
 * A C of lane i is at bit 8 + 7i, an O at 32 or 36; S and T take no room. So a D is at bit 8i, but in
 * front of a /T/ it is an octet later, behind the type.
 */
static const struct format {
	uint8_t type;
	uint8_t class;
	char lane[9];
	uint64_t codes; /**< all C and O codes: zero means idle and /Q/, which are valid */
} formats[] = {
	{0, MF_CODEC_E, "", 0},
	{MF_BT_C, MF_CODEC_C, "CCCCCCCC", BITS(8, 63)},
	{MF_BT_C_O4, MF_CODEC_C, "CCCCODDD", BITS(8, 39)},
	{MF_BT_C_S4, MF_CODEC_S, "CCCCSDDD", BITS(8, 35)},
	{MF_BT_O_S4, MF_CODEC_S, "ODDDSDDD", BITS(32, 35)},
	{MF_BT_O_O4, MF_CODEC_C, "ODDDODDD", BITS(32, 39)},
	{MF_BT_S, MF_CODEC_S, "SDDDDDDD", 0},
	{MF_BT_O_C, MF_CODEC_C, "ODDDCCCC", BITS(32, 63)},
	{MF_BT_T0, MF_CODEC_T, "TCCCCCCC", BITS(15, 63)},
	{MF_BT_T1, MF_CODEC_T, "DTCCCCCC", BITS(22, 63)},
	{MF_BT_T2, MF_CODEC_T, "DDTCCCCC", BITS(29, 63)},
	{MF_BT_T3, MF_CODEC_T, "DDDTCCCC", BITS(36, 63)},
	{MF_BT_T4, MF_CODEC_T, "DDDDTCCC", BITS(43, 63)},
	{MF_BT_T5, MF_CODEC_T, "DDDDDTCC", BITS(50, 63)},
	{MF_BT_T6, MF_CODEC_T, "DDDDDDTC", BITS(57, 63)},
	{MF_BT_T7, MF_CODEC_T, "DDDDDDDT", 0},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/** Index into formats by block type; 0 for a type that is not of the standard. */
static const uint8_t format_of[256] = {
	[MF_BT_C] = 1,   [MF_BT_C_O4] = 2, [MF_BT_C_S4] = 3, [MF_BT_O_S4] = 4, [MF_BT_O_O4] = 5,
	[MF_BT_S] = 6,   [MF_BT_O_C] = 7,  [MF_BT_T0] = 8,   [MF_BT_T1] = 9,   [MF_BT_T2] = 10,
	[MF_BT_T3] = 11, [MF_BT_T4] = 12,  [MF_BT_T5] = 13,  [MF_BT_T6] = 14,  [MF_BT_T7] = 15,
};

static_assert(FORMATS == 16, "15 formats and the invalid one");

/** Table 49-1: XGMII control characters and their C codes. */
static const struct {
	uint8_t character, code;
} controls[] = {
	{MF_XGMII_IDLE, 0x00},
	{0x06, 0x06}, /* low power idle */
	{MF_XGMII_ERROR, CODE_ERROR},
	{0x1c, 0x2d}, /* reserved 0 to 5 */
	{0x3c, 0x33},
	{0x7c, 0x4b},
	{0xbc, 0x55},
	{0xdc, 0x66},
	{0xf7, 0x78},
};

#define CONTROLS (sizeof(controls) / sizeof(controls[0]))

static int code_of(uint8_t character)
{
	for (unsigned int i = 0; i < CONTROLS; i++)
		if (controls[i].character == character)
			return controls[i].code;
	return -1;
}

static int character_of(uint8_t code)
{
	for (unsigned int i = 0; i < CONTROLS; i++)
		if (controls[i].code == code)
			return controls[i].character;
	return -1;
}

static unsigned int data_shift(const struct format *f, unsigned int lane)
{
	return f->class == MF_CODEC_T ? 8 + 8 * lane : 8 * lane;
}

static unsigned int control_shift(unsigned int lane)
{
	return 8 + 7 * lane;
}

static unsigned int ordered_set_shift(unsigned int lane)
{
	return lane == 0 ? 32 : 36;
}

static char kind_of(uint8_t character, bool control)
{
	if (!control)
		return 'D';
	switch (character) {
	case MF_XGMII_START:
		return 'S';
	case MF_XGMII_TERM:
		return 'T';
	case MF_XGMII_SEQ:
	case MF_XGMII_FSIG:
		return 'O';
	default:
		return code_of(character) < 0 ? '?' : 'C';
	}
}

/** @return the row of figure 49-7 that the characters fit, or NULL. */
static const struct format *format_for(const struct mf_xgmii *in)
{
	char lane[8];

	for (unsigned int i = 0; i < 8; i++)
		lane[i] = kind_of((uint8_t)(in->data >> 8 * i), in->ctl >> i & 1);
	for (unsigned int i = 1; i < FORMATS; i++)
		if (memcmp(lane, formats[i].lane, 8) == 0)
			return &formats[i];
	return NULL;
}

static uint64_t encode_lane(const struct format *f, unsigned int lane, uint8_t character)
{
	switch (f->lane[lane]) {
	case 'D':
		return (uint64_t)character << data_shift(f, lane);
	case 'C':
		return (uint64_t)code_of(character) << control_shift(lane);
	case 'O':
		return UINT64_C(0xf) * (character == MF_XGMII_FSIG) << ordered_set_shift(lane);
	default:
		return 0;
	}
}

bool mf_codec_encode(const struct mf_xgmii *in, struct mf_block *out)
{
	const struct format *f;

	if (in->ctl == 0) {
		*out = (struct mf_block){.word = in->data, .sync = MF_SYNC_DATA};
		return true;
	}
	f = format_for(in);
	if (!f) {
		*out = (struct mf_block){.word = ERROR_WORD, .sync = MF_SYNC_CTRL};
		return false;
	}
	*out = (struct mf_block){.word = f->type, .sync = MF_SYNC_CTRL};
	for (unsigned int i = 0; i < 8; i++)
		out->word |= encode_lane(f, i, (uint8_t)(in->data >> 8 * i));
	return true;
}

static int ordered_set_of(uint8_t code)
{
	switch (code) {
	case 0x0:
		return MF_XGMII_SEQ;
	case 0xf:
		return MF_XGMII_FSIG;
	default:
		return -1;
	}
}

/** @return the character in a lane, or -1 where its code is not valid. */
static int decode_lane(const struct format *f, unsigned int lane, uint64_t word)
{
	switch (f->lane[lane]) {
	case 'D':
		return word >> data_shift(f, lane) & 0xff;
	case 'C':
		return character_of(word >> control_shift(lane) & 0x7f);
	case 'O':
		return ordered_set_of(word >> ordered_set_shift(lane) & 0xf);
	case 'S':
		return MF_XGMII_START;
	default:
		return MF_XGMII_TERM;
	}
}

static bool decode_control(const struct format *f, uint64_t word, struct mf_xgmii *out)
{
	*out = (struct mf_xgmii){0};
	for (unsigned int i = 0; i < 8; i++) {
		int character = decode_lane(f, i, word);

		if (character < 0)
			return false;
		out->data |= (uint64_t)character << 8 * i;
		out->ctl |= (uint8_t)((f->lane[i] != 'D') << i);
	}
	return true;
}

bool mf_codec_decode(const struct mf_block *in, struct mf_xgmii *out)
{
	const struct format *f = &formats[format_of[mf_block_type(in->word)]];

	if (in->sync == MF_SYNC_DATA) {
		*out = (struct mf_xgmii){.data = in->word};
		return true;
	}
	if (in->sync == MF_SYNC_CTRL && f->type && decode_control(f, in->word, out))
		return true;
	*out = (struct mf_xgmii){.data = ERROR_CHARACTERS, .ctl = 0xff};
	return false;
}

static bool has_error(const struct mf_xgmii *x)
{
	for (unsigned int i = 0; i < 8; i++)
		if ((x->data >> 8 * i & 0xff) == MF_XGMII_ERROR)
			return true;
	return false;
}

enum mf_codec_class mf_codec_classify(uint8_t sync, uint64_t word)
{
	const struct format *f = &formats[format_of[mf_block_type(word)]];
	struct mf_xgmii x;

	if (sync == MF_SYNC_DATA)
		return MF_CODEC_D;
	if (sync != MF_SYNC_CTRL)
		return MF_CODEC_E;
	if ((word & f->codes) == 0)
		return f->class;
	if (!decode_control(f, word, &x) || (f->type == MF_BT_C && has_error(&x)))
		return MF_CODEC_E;
	return f->class;
}
