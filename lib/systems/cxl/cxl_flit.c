/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "systems/cxl/cxl_flit.h"
#include "pcs/mf_block.h"
#include "systems/edm/proto/proto_crc.h"

#define BLOCK_OCTETS 7 /* that /MS/ and /MT/ have beside their type */

/* 7 octets in /MS/, 8 in each /MD/, up to 7 in /MT/. */
const struct cxl_format cxl_format_68 = {.octets = 68, .slots = 4, .blocks = 9, .words = 9};
const struct cxl_format cxl_format_256 = {.octets = 256, .slots = 15, .blocks = 33, .words = 33};

const uint8_t cxl_op_slots[CXL_OPS] = {
	[CXL_MEM_WR] = 4, [CXL_MEM_WR_PTL] = 5, [CXL_MEM_RMW] = 1, [CXL_MEM_DATA] = 4, [CXL_RMW_DATA] = 1};
const uint8_t cxl_op_class[CXL_OPS] = {
	[CXL_MEM_RD] = CXL_REQ, [CXL_MEM_WR] = CXL_RWD, [CXL_MEM_WR_PTL] = CXL_RWD, [CXL_MEM_RMW] = CXL_RWD,
	[CXL_CMP] = CXL_NDR,    [CXL_ERR] = CXL_NDR,    [CXL_MEM_DATA] = CXL_DRS,   [CXL_RMW_DATA] = CXL_DRS};

void cxl_put_message(uint8_t *slot, const struct cxl_message *m)
{
	slot[0] = (uint8_t)(m->op | m->code << 4);
	slot[1] = (uint8_t)m->tag;
	slot[2] = (uint8_t)(m->tag >> 8);
	slot[3] = (uint8_t)m->src;
	slot[4] = (uint8_t)((m->src >> 8 & 15) | m->dst << 4);
	slot[5] = (uint8_t)(m->dst >> 4);
	if (cxl_op_class[m->op] <= CXL_RWD)
		memcpy(slot + CXL_SHORT, &m->addr, 6);
}

unsigned int cxl_get_message(const uint8_t *slot, struct cxl_message *m)
{
	m->op = slot[0] & 15;
	m->code = slot[0] >> 4;
	if (m->op == CXL_NONE || m->op >= CXL_OPS)
		return 0;
	m->tag = (uint16_t)(slot[1] | slot[2] << 8);
	m->src = (uint16_t)(slot[3] | (slot[4] & 15) << 8);
	m->dst = (uint16_t)(slot[4] >> 4 | slot[5] << 4);
	m->addr = 0;
	if (cxl_op_class[m->op] > CXL_RWD)
		return CXL_SHORT;
	memcpy(&m->addr, slot + CXL_SHORT, 6);
	return CXL_LONG;
}

/** CXL 1.1 to 2.0: 16 bits over all in front. */
static uint16_t crc_68(const union cxl_flit *f)
{
	uint64_t word[9];

	memcpy(word, f->word, sizeof(word));
	word[8] &= 0xffff;
	return mf_crc16(word, 9);
}

/** CXL 3.0 has 64 bits: here a CRC-32C of each half. The FEC's octets are sent as zeros. */
static uint64_t crc_256(const union cxl_flit *f)
{
	uint64_t last = f->word[30] & 0xffff;

	return mf_crc32c(f->word, 14, f->word[14]) | (uint64_t)mf_crc32c(f->word + 15, 15, last) << 32;
}

void cxl_seal(const struct cxl_format *format, union cxl_flit *f)
{
	uint16_t short_crc;
	uint64_t crc;

	if (format->octets == 68) {
		short_crc = crc_68(f);
		memcpy(f->octet + 66, &short_crc, sizeof(short_crc));
		return;
	}
	crc = crc_256(f);
	memcpy(f->octet + 242, &crc, sizeof(crc));
	memset(f->octet + 250, 0, 6);
}

bool cxl_sound(const struct cxl_format *format, const union cxl_flit *f)
{
	uint16_t short_crc;
	uint64_t crc;

	if (format->octets == 68) {
		memcpy(&short_crc, f->octet + 66, sizeof(short_crc));
		return short_crc == crc_68(f);
	}
	memcpy(&crc, f->octet + 242, sizeof(crc));
	return crc == crc_256(f);
}

void cxl_to_blocks(const struct cxl_format *format, const union cxl_flit *f, uint64_t *word)
{
	unsigned int last = format->blocks - 1u;

	word[0] = MF_BT_MS | f->word[0] << 8;
	memcpy(word + 1, f->octet + BLOCK_OCTETS, (last - 1) * sizeof(*word));
	memcpy(word + last, f->octet + BLOCK_OCTETS + (last - 1) * 8, sizeof(*word));
	word[last] = MF_BT_MT | word[last] << 8;
}

bool cxl_from_blocks(const struct cxl_format *format, const uint64_t *word, unsigned int n, union cxl_flit *f)
{
	unsigned int last = format->blocks - 1u;
	uint64_t end;

	if (n != format->blocks || mf_block_type(word[0]) != MF_BT_MS ||
	    mf_block_type(word[last]) != MF_BT_MT)
		return false;
	f->word[0] = word[0] >> 8;
	memcpy(f->octet + BLOCK_OCTETS, word + 1, (last - 1) * sizeof(*word));
	end = word[last] >> 8;
	memcpy(f->octet + BLOCK_OCTETS + (last - 1) * 8, &end, sizeof(end));
	return true;
}
