/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may do what in which part of a memory node's memory (SECURITY.md).
 *
 * Regions are a memory over another one: its accesses pass their check first.
 *
 * A region has an owner, readers and writers, and a key of 64 random bits for each mf_right. A key lasts for
 * an epoch: until the region gets another owner, or the node is started again. Access takes both: the node
 * that asks, which the switch binds to its port, has the right, and the message bears the key. What is in no
 * region cannot be accessed at all.
 *
 * Whoever is refused learns nothing: there is one answer for no region, beyond its end, no right and a wrong
 * key, and the same work is done whichever it is, without a branch on what is secret. Why is counted here.
 *
 * One thread calls.
 */
#ifndef MF_REGION_H
#define MF_REGION_H

#include "memory/mf_memory.h"

#define MF_REGIONS_MAX 256 /**< of a memory node */
#define MF_REGION_FREE UINT16_MAX /**< owner: nobody; who claims it first has it */

/** Why an access or a request for a key was refused. For the memory node's operator alone. */
enum mf_refusal {
	MF_REFUSAL_NONE, /**< it was not */
	MF_REFUSAL_REGION, /**< there is no region */
	MF_REFUSAL_END, /**< it goes beyond the region's end */
	MF_REFUSAL_RIGHT, /**< the node has no such right; of an owner's requests: is not the owner */
	MF_REFUSAL_KEY, /**< wrong key */
	MF_REFUSAL_LIMIT, /**< it owns as many regions as it may */
	MF_REFUSALS
};

/** Nodes, a bit each. */
struct mf_region_nodes {
	uint64_t word[MF_PORTS_MAX / 64];
};

static inline void mf_region_nodes_set(struct mf_region_nodes *n, uint16_t node, bool in)
{
	n->word[node / 64] &= ~(UINT64_C(1) << node % 64);
	n->word[node / 64] |= (uint64_t)in << node % 64;
}

static inline bool mf_region_nodes_has(const struct mf_region_nodes *n, uint16_t node)
{
	return n->word[node / 64] >> node % 64 & 1;
}

struct mf_region_config {
	uint64_t at, size; /**< octets; size > 0 */
	uint16_t owner; /**< may read and write, and give the region up; or MF_REGION_FREE */
	struct mf_region_nodes readers, writers; /**< besides the owner */
};

/** Random bits: as many words as asked for. @return false: there are none, and the keys fit nobody */
typedef bool (*mf_region_draw)(void *ctx, uint64_t *out, unsigned int words);

struct mf_regions_config {
	const struct mf_region_config *region;
	unsigned int regions; /**< 1..MF_REGIONS_MAX, by address; they do not overlap */
	unsigned int owned_max; /**< regions that a node may own by claiming them; 0: any number */
	const struct mf_memory_ops *memory_ops;
	struct mf_memory *memory; /**< the caller's, must outlive the regions */
	mf_region_draw draw;
	void *draw_ctx;
};

struct mf_regions_stats {
	uint64_t refused[MF_REFUSALS]; /**< accesses, by reason; [MF_REFUSAL_NONE]: that passed */
	uint64_t attached; /**< keys given out */
	uint64_t attach_refused[MF_REFUSALS];
	uint64_t claimed, released, shared;
	uint64_t owner_refused[MF_REFUSALS]; /**< of claim, release, share */
	uint64_t zeroed; /**< octets, between two owners */
	uint64_t drawless; /**< times that there were no random bits: nobody gets in */
};

struct mf_regions;

/** Regions as a memory: mf_regions_memory(). They are made and freed as regions, not by this table. */
extern const struct mf_memory_ops mf_memory_regions;

static inline struct mf_memory *mf_regions_memory(struct mf_regions *r)
{
	return (struct mf_memory *)r;
}

/** @return NULL with errno: EINVAL for regions that overlap, or are not within the memory; ENOMEM */
struct mf_regions *mf_regions_new(const struct mf_regions_config *config);
void mf_regions_free(struct mf_regions *r);

/**
 * Whether a node may do what it asks for with this key. Takes the same steps whatever comes of it.
 *
 * @param src  the node, as the switch has bound it
 * @param len  > 0
 * @return MF_OK or MF_ERR_KEY
 */
uint8_t mf_regions_check(struct mf_regions *r, uint16_t src, enum mf_right right, uint64_t addr, uint64_t len,
			 uint64_t key);

/**
 * The key of a right in the region that has an address, for a node that has the right.
 * @param key  0 where it is refused
 * @return MF_OK or MF_ERR_KEY
 */
uint8_t mf_regions_attach(struct mf_regions *r, uint16_t src, uint64_t right, uint64_t addr, uint64_t *key);

/*
 * Runtime: what an owner does. The region is that which has the address; all other nodes, and all but owners,
 * get MF_ERR_KEY. An epoch ends with it: keys of before fit nobody.
 */
/** Takes a region that nobody owns; it is zeroed. @param epoch  that begins */
uint8_t mf_regions_claim(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t *epoch);
/** Gives a region up: it is zeroed, and nobody's. @param epoch  that has begun */
uint8_t mf_regions_release(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t *epoch);

/** The argument of mf_regions_share(): bits 0..15 node, 16..17 MF_RIGHT_READ or _WRITE, 18 give (or take). */
#define MF_REGION_SHARE(node, right, give) \
	((uint64_t)(node) | (uint64_t)(right) << 16 | (uint64_t)((give) ? 1 : 0) << 18)
/** Gives a node a right, or takes it: at once, whatever keys it has; the epoch goes on. */
uint8_t mf_regions_share(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t what);

/**
 * The node's operator gives a region to somebody, whoever had it: zeroed, with new keys.
 * @param owner  or MF_REGION_FREE
 * @return 0; -ENOENT: no region begins at this address
 */
int mf_regions_give(struct mf_regions *r, uint64_t at, uint16_t owner, const struct mf_region_nodes *readers,
		    const struct mf_region_nodes *writers);

/**
 * The node is started again, with this memory, which is zeroed: owners and rights are as at the beginning,
 * and the keys are new ones. What is counted goes on.
 */
void mf_regions_restart(struct mf_regions *r, struct mf_memory *memory);

/** A right of a node in a region, as the operator of the memory node sees it. */
struct mf_region_view {
	uint64_t key; /**< of the right */
	bool may; /**< the node has the right */
	uint16_t owner; /**< or MF_REGION_FREE */
};

/** Looks at the region of an address; in no region: key 0, MF_REGION_FREE. Nothing is counted or changed. */
struct mf_region_view mf_regions_look(struct mf_regions *r, uint16_t node, enum mf_right right,
				      uint64_t addr);

/** New keys for all regions, of these random bits from now on. */
void mf_regions_renew(struct mf_regions *r, mf_region_draw draw, void *draw_ctx);

const struct mf_regions_stats *mf_regions_stats(const struct mf_regions *r);

/** "region", "end", "right", "key", "limit"; "?" for others. */
const char *mf_refusal_name(enum mf_refusal reason);

#endif
