/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote pointers, and the tag by which a memory node finds a page.
 *
 *      pointer   node 16 | address of the wire 48
 *      address             class 3 | within the class 45: page number, offset
 *      tag       space 22 | class 3 | page number 33
 *
 * The class says how large a page is. So a pointer alone tells the node and the page, and one look-up finds
 * it whatever sizes are mixed (Clio 4.2 has "a configurable set of page sizes"). Several memory nodes are
 * one address space without a directory.
 */
#ifndef MF_REMOTE_H
#define MF_REMOTE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mf_seeded_bug.h"
#include "memory/mf_memory.h"

#define MF_PAGE_CLASSES 8 /**< sizes of pages that a memory node may have at a time */
#define MF_CLASS_SHIFT 45 /**< an address within a class has as many bits */
#define MF_PAGE_SHIFT_MIN 12 /**< the least page has 2^12 octets, so that page numbers have 33 bits */
#define MF_PAGE_SHIFT_MAX 30
#define MF_PAGE_NUMBER_BITS (MF_CLASS_SHIFT - MF_PAGE_SHIFT_MIN)
#define MF_SPACE_BITS 22 /**< of the number of a space: the node that made it 9, a number there 13 */
#define MF_SPACES (UINT32_C(1) << MF_SPACE_BITS)
#define MF_TAG_BITS 58
#define MF_TAG_NONE UINT64_MAX /**< no page has this tag */

static_assert(MF_SPACE_BITS + 3 + MF_PAGE_NUMBER_BITS == MF_TAG_BITS, "a tag holds space, class and page");
static_assert(MF_CLASS_SHIFT + 3 == 48 && 1 << 3 == MF_PAGE_CLASSES, "an address of the wire has 48 bits");

/** What may be done in a page. There is no right to write alone: three values fit an entry of the table. */
enum mf_page_right {
	MF_PAGE_NONE,
	MF_PAGE_READ,
	MF_PAGE_WRITE, /**< and read */
	MF_PAGE_RIGHTS
};

/** @param rights  enum mf_page_right of the page. @param right  enum mf_right: what is to be done */
static inline bool mf_page_may(uint8_t rights, uint8_t right)
{
	return rights >= (right == MF_RIGHT_READ ? MF_PAGE_READ : MF_PAGE_WRITE);
}

/** @param addr  48 bits */
static inline uint64_t mf_remote_pointer(uint16_t node, uint64_t addr)
{
	return (uint64_t)node << 48 | addr;
}

static inline uint16_t mf_remote_node(uint64_t pointer)
{
	return (uint16_t)(pointer >> 48);
}

static inline uint64_t mf_remote_addr(uint64_t pointer)
{
	return pointer & MF_ADDR_MAX;
}

/** The class of an address of 48 bits: below MF_PAGE_CLASSES. */
static inline unsigned int mf_remote_class(uint64_t addr)
{
	return (unsigned int)(addr >> MF_CLASS_SHIFT);
}

/** The first address of a class; of MF_PAGE_CLASSES: the end of all. */
static inline uint64_t mf_remote_class_base(unsigned int page_class)
{
	return (uint64_t)page_class << MF_CLASS_SHIFT;
}

/**
 * The tag of the page that has an address. Pages that follow each other in a class have tags that do.
 * @param space  below MF_SPACES
 * @param addr   48 bits
 * @param shift  2^shift octets are a page of the address's class: MF_PAGE_SHIFT_MIN..MF_PAGE_SHIFT_MAX
 */
static inline uint64_t mf_remote_tag(uint32_t space, uint64_t addr, unsigned int shift)
{
	uint64_t within = addr & ((UINT64_C(1) << MF_CLASS_SHIFT) - 1);

	if (MF_SEEDED_BUG(space_not_in_tag))
		space = 0;
	return ((uint64_t)space << 3 | mf_remote_class(addr)) << MF_PAGE_NUMBER_BITS | within >> shift;
}

/** The space of a tag. */
static inline uint32_t mf_remote_tag_space(uint64_t tag)
{
	return (uint32_t)(tag >> (MF_PAGE_NUMBER_BITS + 3)) & (MF_SPACES - 1);
}

/** The class of its page. */
static inline unsigned int mf_remote_tag_class(uint64_t tag)
{
	return tag >> MF_PAGE_NUMBER_BITS & (MF_PAGE_CLASSES - 1);
}

#endif
