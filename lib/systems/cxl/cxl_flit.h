/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flits of CXL.mem: 68 or 256 octets, each carried as one message of blocks, /MS/ .. /MT/.
 *
 *            octets  0  1   2 .. 5        6 .. 17    18 .. 33   34 ..
 *      PROTOCOL      id     link header   slot 0     slot 1     ...
 *                           2 .. 17                  18 .. 33
 *      DATA          id     slot 0, all of 16        slot 1     ...
 *      CONTROL       id     acknowledgement, flags, the counts of freed buffers of all classes
 *
 * A flit has 4 slots (68 octets: 2 of id, 64, 2 of CRC) or 15 (256: 2, 240, 8 of CRC, 6 of FEC). The layout
 * of the slots is memfab's: what a slot holds, how much of it, and the order are those of CXL, but messages
 * have node numbers, as CXL 3.0's port based routing has, and the id has a sequence number in both sizes,
 * since a damaged block may lose a flit as a whole here.
 */
#ifndef CXL_FLIT_H
#define CXL_FLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CXL_SLOT 16 /**< octets */
#define CXL_LINE 64 /**< octets of a cache line: the data of a message */
#define CXL_DATA_SLOTS 5 /**< of one message at most: a line and its byte enables */

/** Message classes, each with credits of its own. The first two are virtual channel 0, requests. */
enum cxl_class { CXL_REQ, CXL_RWD, CXL_NDR, CXL_DRS, CXL_CLASSES };
#define CXL_CLASS_MASK 15
#define CXL_RESPONSES (1 << CXL_NDR | 1 << CXL_DRS)
#define CXL_VCS 2

static inline unsigned int cxl_vc(unsigned int class)
{
	return class >= CXL_NDR;
}

enum cxl_op {
	CXL_NONE,
	CXL_MEM_RD, /**< REQ */
	CXL_MEM_WR, /**< RwD: a line */
	CXL_MEM_WR_PTL, /**< RwD: a line, and which of its octets are written */
	CXL_MEM_RMW, /**< RwD: two operands */
	CXL_CMP, /**< NDR: a write is done */
	CXL_ERR, /**< NDR: refused, with the reason */
	CXL_MEM_DATA, /**< DRS: a line */
	CXL_RMW_DATA, /**< DRS: the old value */
	CXL_OPS
};

/** Data slots of an operation, and its class. */
extern const uint8_t cxl_op_slots[CXL_OPS], cxl_op_class[CXL_OPS];

struct cxl_message {
	uint64_t addr; /**< 48 bits, of requests */
	uint16_t tag, src, dst;
	uint8_t op; /**< enum cxl_op */
	uint8_t code; /**< 4 bits. ERR: enum mf_status; RMW: enum mf_rmw_op */
	uint8_t data[CXL_DATA_SLOTS * CXL_SLOT] __attribute__((aligned(16)));
};

/** As much of it as the operation has. */
static inline void cxl_copy_message(struct cxl_message *to, const struct cxl_message *from)
{
	memcpy(to, from, offsetof(struct cxl_message, data));
	for (unsigned int i = 0; i < cxl_op_slots[from->op] * CXL_SLOT; i += CXL_SLOT)
		memcpy(to->data + i, from->data + i, CXL_SLOT);
}

#define CXL_LONG 12 /**< octets of a request in a slot */
#define CXL_SHORT 6 /**< and of a response: two fit */

void cxl_put_message(uint8_t *slot, const struct cxl_message *m);
/** @return octets it takes; 0: there is none, or none that is known */
unsigned int cxl_get_message(const uint8_t *slot, struct cxl_message *m);

enum cxl_kind { CXL_PROTOCOL = 1, CXL_DATA, CXL_CONTROL };
#define CXL_SEQUENCES 4096

#define CXL_FLIT_WORDS 33 /* of the longest, with the octets behind it that its last block has room for */
union cxl_flit {
	uint64_t word[CXL_FLIT_WORDS];
	uint8_t octet[CXL_FLIT_WORDS * 8];
};

/** What follows from the size of a flit. */
struct cxl_format {
	uint16_t octets; /**< 68 or 256 */
	uint16_t slots;
	uint16_t blocks, words;
};
extern const struct cxl_format cxl_format_68, cxl_format_256;

/** Kind and sequence number. */
static inline void cxl_put_id(union cxl_flit *f, enum cxl_kind kind, unsigned int sequence)
{
	f->octet[0] = (uint8_t)(kind | sequence << 4);
	f->octet[1] = (uint8_t)(sequence >> 4);
}

static inline unsigned int cxl_get_kind(const union cxl_flit *f)
{
	return f->octet[0] & 15;
}

static inline unsigned int cxl_get_sequence(const union cxl_flit *f)
{
	return f->octet[0] >> 4 | (unsigned int)f->octet[1] << 4;
}

/** Where slot i begins in a flit: the first of PROTOCOL has the link header in front. */
static inline uint8_t *cxl_slot(union cxl_flit *f, unsigned int i)
{
	return f->octet + 2 + i * CXL_SLOT;
}
#define CXL_LINK_HEADER 4

/** Computes the CRC. */
void cxl_seal(const struct cxl_format *format, union cxl_flit *f);
/** @return whether the CRC is right */
bool cxl_sound(const struct cxl_format *format, const union cxl_flit *f);

/** The flit as blocks. */
void cxl_to_blocks(const struct cxl_format *format, const union cxl_flit *f, uint64_t *word);
/** @return false: these are not the blocks of a flit */
bool cxl_from_blocks(const struct cxl_format *format, const uint64_t *word, unsigned int n,
		     union cxl_flit *f);

#endif
