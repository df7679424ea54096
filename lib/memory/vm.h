/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path of a virtual memory, for its own files. */
#ifndef MEMORY_VM_H
#define MEMORY_VM_H

#include "memory/mf_page_ring.h"
#include "memory/mf_page_table.h"
#include "memory/mf_pins.h"
#include "memory/mf_tlb.h"
#include "memory/mf_vm.h"

/** The last task that a node has asked in one of its slots, and what came of it. */
struct vm_asked {
	uint64_t result;
	uint32_t number; /**< that the node gave it */
	uint8_t state; /**< enum vm_asked_state */
	uint8_t status;
};

enum vm_asked_state {
	VM_ASKED_NONE,
	VM_ASKED_UNDER_WAY,
	VM_ASKED_DONE,
	VM_ASKED_FORGOTTEN /**< under way, and none when it is done: the node was started again */
};

/** Pages of a class that are ready. */
struct vm_ready {
	struct mf_page_ring *ring;
	uint32_t taken; /**< pages that the slow path does not know of */
	uint32_t serial; /**< TAKENs that were sent */
	bool telling; /**< one is under way: the next one waits until PAGES have heard it */
	bool supply; /**< the slow path has said that pages will come */
};

/**
 * Keys that were computed, by what they are for: a hash of it, keyed, says where. What a node presents as key
 * has no part in this, so how long it takes tells nothing of one. An epoch is part of it, so none is stale.
 */
#define VM_KNOWN_BITS 8
struct vm_known {
	uint64_t what; /**< mf_space_what(). 0: the place is empty, as no space has an epoch of 0 */
	uint64_t key;
};

/** The top bit of an epoch: the space was used since the last LEASE. */
#define VM_USED (UINT32_C(1) << 31)
static_assert(MF_SPACE_EPOCH_MAX < VM_USED, "an epoch leaves a bit");

/** What is known of a space: a cache line, which an access looks up by the message alone. */
struct vm_space_state {
	uint32_t epoch; /**< and VM_USED; 0: it is not there */
	uint32_t ranges;
	uint64_t hits, faults, refused; /**< refused: accesses with MF_ERR_KEY, since it was made */
	uint64_t used[MF_USAGE_RANGES]; /**< by enum mf_space_usage */
};
static_assert(sizeof(struct vm_space_state) == 64, "a cache line");

/** What is known of a compute node. */
struct vm_node {
	uint32_t begun; /**< how often it has begun anew */
	uint32_t told; /**< of that, what the slow path was told */
	uint64_t octets; /**< of physical pages of the spaces that it has made */
	bool telling; /**< a FORGET is under way */
	bool used; /**< it was here since the last SWEEP */
	uint8_t idle; /**< SWEEPs since then */
};

struct mf_vm {
	struct mf_vm_config config;
	struct mf_vm_layout layout;
	struct mf_vm_stats stats; /**< what is counted; the rest is filled in when it is asked for */
	uint8_t *octets;
	uint64_t mapped; /**< of .octets */
	struct vm_space_state *space; /**< [MF_SPACES]. Touched where spaces are */
	uint64_t space_mapped;
	uint64_t sample_at; /**< the access of this number is noted */
	uint32_t samples; /**< so far, modulo 2^32 */
	uint64_t sampled[MF_VM_SAMPLES]; /**< tags of pages: a ring. 0: none */
	struct vm_known *known; /**< [2^VM_KNOWN_BITS] */
	struct mf_page_table *table;
	struct mf_tlb *tlb;
	struct mf_pins *pins;
	struct vm_ready ready[MF_PAGE_CLASSES];
	struct mf_vm_queue *out;
	struct vm_asked
		*asked; /**< [MF_PORTS_MAX * config.node_tasks]: slots of the first node, of the second */
	struct vm_node *node; /**< [MF_PORTS_MAX] */
	uint32_t tasks; /**< under way */
	uint64_t held; /**< reads */
	bool zeroes; /**< mf_vm_zeroes() */
	mf_time now; /**< the latest date of what was asked or taken: items are sent then */
};

static_assert(MF_USAGE_OCTETS == MF_USAGE_PAGES + 1 && MF_USAGE_ALLOCATED == MF_USAGE_ENTRIES + 1,
	      "what pages have follows their number");

static inline struct mf_vm *vm_of(struct mf_memory *m)
{
	return (struct mf_vm *)m;
}

/** vm_ask.c: mf_memory_ops.ask. */
uint8_t vm_ask(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result);

/** vm_call.c: mf_memory_ops.call. */
uint8_t vm_call(struct mf_memory *m, const struct mf_access *a, uint64_t *result, struct mf_answer *out);

/** Whether a key opens a space for a node: enum mf_vm_refusal, in the same steps whatever comes of it. */
uint64_t vm_judge_key(const struct mf_vm *v, uint32_t space, uint16_t node, uint8_t right, uint64_t key);

static inline uint32_t vm_epoch(const struct mf_vm *v, uint32_t space)
{
	return v->space[space].epoch & ~VM_USED;
}

/** A member has used a space: the lease goes on. What is so already is not written again. */
static inline void vm_use(struct mf_vm *v, uint32_t space, uint16_t node)
{
	if (v->config.lease == 0)
		return;
	if (!(v->space[space].epoch & VM_USED))
		v->space[space].epoch |= VM_USED;
	if (!v->node[node].used)
		v->node[node].used = true;
}

/** A page of a class is the space's, or is so no more: physical ones, or entries. */
static inline void vm_used(struct mf_vm *v, uint64_t tag, enum mf_space_usage pages, bool more)
{
	uint32_t space = mf_remote_tag_space(tag);
	struct vm_space_state *s = &v->space[space];
	uint64_t octets = UINT64_C(1) << v->layout.of[mf_remote_tag_class(tag)].shift;

	s->used[pages] += more ? 1 : -UINT64_C(1);
	s->used[pages + 1] += more ? octets : -octets;
	if (pages == MF_USAGE_PAGES)
		v->node[mf_space_maker(space)].octets += more ? octets : -octets;
}

/** A call is of this date; one before a date that was told already is of that. */
static inline void vm_date(struct mf_vm *v, mf_time at)
{
	v->now = mf_time_max(v->now, at);
}

/** Tells the slow path how many pages of a class were taken, unless it is being told. */
void vm_tell_taken(struct mf_vm *v, unsigned int page_class);

/** A page that was unmapped is held no more. */
void vm_give_back(struct mf_vm *v, uint32_t page, unsigned int page_class);

#endif
