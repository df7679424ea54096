/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address spaces of a memory node (the RAS of Clio 3.1): numbers, keys, and what is asked of them.
 *
 * A space's number has 22 bits: the node that made it, and a number there. So there is no central service,
 * and no two are alike. The number opens nothing.
 *
 * A key is for a space, its epoch, a node and a right: SipHash-2-4 of these, keyed by secret bits of this
 * start of the memory node. So the fast path keeps no keys. It looks up the epoch of the space, by the
 * message alone, and computes what the key has to be.
 *
 * Promised: a node without the secret cannot derive a key from other keys, whatever spaces and nodes these
 * are for; a guess fits with a chance of 2^-64. The node is that of the port, so a key is of no use at
 * another node. An epoch ends with the space, and when a member loses a right: all its keys end then. None
 * outlives the start of the memory node.
 * Not promised: secrecy on the wire. An observer of messages sees the keys (SECURITY.md), and can use them
 * at the same port.
 */
#ifndef MF_SPACE_H
#define MF_SPACE_H

#include "base/mf_siphash.h"
#include "memory/mf_remote.h"

#define MF_SPACE_NODE_BITS 9
#define MF_SPACE_OF_NODE_BITS (MF_SPACE_BITS - MF_SPACE_NODE_BITS)
#define MF_SPACE_EPOCH_MAX ((UINT32_C(1) << 31) - 1)

static_assert(MF_PORTS_MAX == 1 << MF_SPACE_NODE_BITS, "the node of a space has as many bits as nodes have");

/** What a key is good for: enum mf_right, and one more. */
enum {
	MF_SPACE_OWN = MF_RIGHTS, /**< to grant rights, and to end the space: of the node that made it */
	MF_SPACE_RIGHTS
};

static_assert(MF_SPACE_RIGHTS <= 4, "a right has 2 bits");

/** @param node  below MF_PORTS_MAX. @param number  below 2^MF_SPACE_OF_NODE_BITS */
static inline uint32_t mf_space_number(uint16_t node, uint32_t number)
{
	return (uint32_t)node << MF_SPACE_OF_NODE_BITS | number;
}

/** The node that made a space. */
static inline uint16_t mf_space_maker(uint32_t space)
{
	return (uint16_t)(space >> MF_SPACE_OF_NODE_BITS);
}

/**
 * What a key is for, in a word: no two things have the same.
 * @param space  below MF_SPACES
 * @param epoch  at most MF_SPACE_EPOCH_MAX
 * @param node   below MF_PORTS_MAX
 * @param right  below MF_SPACE_RIGHTS
 */
static inline uint64_t mf_space_what(uint32_t space, uint32_t epoch, uint16_t node, uint8_t right)
{
	return space | (uint64_t)node << MF_SPACE_BITS |
	       (uint64_t)right << (MF_SPACE_BITS + MF_SPACE_NODE_BITS) |
	       (uint64_t)epoch << (MF_SPACE_BITS + MF_SPACE_NODE_BITS + 2);
}

/**
 * The key for it; never 0, which is that of a message without one.
 * @param secret  128 random bits of this start of the memory node
 */
static inline uint64_t mf_space_key(const uint64_t secret[2], uint64_t what)
{
	uint64_t key = mf_siphash(secret, &what, 1);

	return key + (((key | -key) >> 63) ^ 1);
}

/**
 * Whether a key is the right one, by the same steps whatever comes of it.
 * @param epoch  of the space; 0: there is no such space, and no key opens it
 * @param right  mf_space_key()
 * @return 1 or 0
 */
static inline uint64_t mf_space_opens(uint32_t epoch, uint64_t right, uint64_t key)
{
	uint64_t differs = right ^ key, is = epoch;

	return ((is | -is) >> 63) & (((differs | -differs) >> 63) ^ 1);
}

/**
 * What is asked of a space, by an RMW that is none (MF_RMW_SPACE): arg[0] says what, arg[1] how much, and the
 * address where. The slow path does it, so the answer is soon that it is under way (MF_ERR_PENDING). The same
 * request, sent again, brings what came of it.
 */
enum mf_space_task {
	MF_SPACE_MAKE, /**< 0: needs no key; the node has to be the maker. Result: the key to own it */
	MF_SPACE_END, /**< 0: own. All that it has is gone when this is answered; its keys are at once */
	/** A right, below MF_SPACE_RIGHTS: needs no key, but that the node was given the right. Result: the
	 * key */
	MF_SPACE_JOIN,
	/** MF_SPACE_GRANTED(): own. Result: the key to own it, a new one where a right was taken */
	MF_SPACE_GRANT,
	/** MF_SPACE_ALLOC(), address or 0: write. Result: the address. The other one where it can be had */
	MF_SPACE_ALLOCATE,
	MF_SPACE_FREE, /**< octets, address: write */
	MF_SPACE_PROTECT, /**< MF_SPACE_ALLOC() but for the class, address: write */
	MF_SPACE_FENCE, /**< 0: read. What was asked of the space before is done when this is answered */
	MF_SPACE_TASKS,
	/* The fast path answers these by itself, at once. They take no slot. */
	/** A right, below MF_SPACE_RIGHTS, whose key it has: the lease of the space begins anew */
	MF_SPACE_RENEW = MF_SPACE_TASKS,
	MF_SPACE_LIFE, /**< node: read. Result: mf_space_life() */
	MF_SPACE_USAGE, /**< enum mf_space_usage: read. Result: how much of it the space has */
	MF_SPACE_ASKS
};

/** What a space has at a memory node. */
enum mf_space_usage {
	MF_USAGE_PAGES, /**< physical pages */
	MF_USAGE_OCTETS, /**< of these */
	MF_USAGE_ENTRIES, /**< of the page table: pages that are allocated, accessed or not */
	MF_USAGE_ALLOCATED, /**< octets of these */
	MF_USAGE_RANGES, /**< as of the last task of the space that is done */
	MF_USAGES
};

/**
 * What is known of a node: how often the memory node was told that it had begun anew, modulo 2^16, and
 * whether it has used its memory within the time of a lease. 0: nothing, where there are no leases.
 */
static inline uint64_t mf_space_life(uint32_t begun, bool lives)
{
	return UINT64_C(1) << 17 | (uint64_t)(begun & UINT16_MAX) << 1 | lives;
}

static inline uint16_t mf_space_life_begun(uint64_t life)
{
	return (uint16_t)(life >> 1);
}

static inline bool mf_space_life_lives(uint64_t life)
{
	return life & 1;
}

/**
 * arg[0] of a request. The node names the task, by a slot of its own and a number there.
 * @param task    enum mf_space_task
 * @param slot    8 bits
 * @param number  32 bits: higher than the last one of the slot, modulo 2^32
 */
#define MF_SPACE_ASK(task, slot, number) ((uint64_t)(task) | (uint64_t)(slot) << 8 | (uint64_t)(number) << 16)

static inline uint8_t mf_space_ask_task(uint64_t ask)
{
	return ask & UINT8_MAX;
}

static inline uint8_t mf_space_ask_slot(uint64_t ask)
{
	return ask >> 8 & UINT8_MAX;
}

static inline uint32_t mf_space_ask_number(uint64_t ask)
{
	return (uint32_t)(ask >> 16);
}

/** Whether it is a request that there is; its spare bits are 0. */
static inline bool mf_space_ask_is_good(uint64_t ask)
{
	return mf_space_ask_task(ask) < MF_SPACE_ASKS && ask >> 48 == 0;
}

/** The argument of GRANT. @param rights  enum mf_page_right */
#define MF_SPACE_GRANTED(node, rights) ((uint64_t)(node) | (uint64_t)(rights) << 16)

static inline uint64_t mf_space_grant_node(uint64_t arg)
{
	return arg & UINT16_MAX;
}

static inline uint64_t mf_space_grant_rights(uint64_t arg)
{
	return arg >> 16;
}

#define MF_SPACE_OCTETS_MASK MF_ADDR_MAX
/** Arguments of ALLOCATE and PROTECT. @param octets  48 bits. @param rights  enum mf_page_right */
#define MF_SPACE_ALLOC(octets, page_class, rights) \
	((uint64_t)(octets) | (uint64_t)(page_class) << 48 | (uint64_t)(rights) << 52)

static inline unsigned int mf_space_arg_class(uint64_t arg)
{
	return arg >> 48 & (MF_PAGE_CLASSES - 1);
}

static inline uint8_t mf_space_arg_rights(uint64_t arg)
{
	return arg >> 52 & 3;
}

#endif
