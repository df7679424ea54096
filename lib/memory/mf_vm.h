/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual memory of a memory node: its fast path (Clio 3.2, 4.2, 4.3), as a memory of mf_memory.h.
 *
 *      access ── key ── TLB ── page table ── right ── fault: a page of the ring ──> places, time
 *      ask ──> out ── TASK, REMOVED, PAGE_BACK, TAKEN ──> slow path (mf_vm_slow.h)
 *      take <── PAGES, SUPPLY, ADD, PROTECT, REMOVE, SPACE, ANSWER ──┘
 *
 * The fast path alone writes page table, TLB, pins and ring. An access is one call of bounded steps, and is
 * done as a whole or not at all; a dry one looks at each page of its length. It never waits for the slow
 * path: where the ring is empty it is refused with MF_ERR_RESOURCE, and the client tries again.
 *
 * Who is refused learns nothing: MF_ERR_KEY for no such space, wrong key, no such page and no right to it.
 * Why is counted. Nothing else changes: no fault, no TLB entry moves.
 *
 * It takes room for its tables, ring, pins, slots and queue when it is made, and none later; state_octets
 * does not grow with spaces, pages or entries.
 *
 * One thread, that of the memory node's fast path, makes all calls.
 */
#ifndef MF_VM_H
#define MF_VM_H

#include "memory/mf_page_shape.h"
#include "memory/mf_call.h"
#include "memory/mf_vm_item.h"

/** Random bits of a start of the memory node. Those of a start before open and find nothing. */
struct mf_vm_secrets {
	uint64_t mix[2 * MF_PAGE_MIX_ROUNDS]; /**< of the page table */
	uint64_t tlb;
	uint64_t key[2]; /**< of the keys of spaces */
};

struct mf_vm_class {
	uint8_t shift; /**< a page has 2^shift octets, MF_PAGE_SHIFT_MIN..MF_PAGE_SHIFT_MAX */
	uint64_t pages; /**< physical ones; 0: there is no such class */
};

#define MF_VM_TASKS_MAX (UINT32_C(1) << 16)
#define MF_VM_NODE_TASKS_MAX 256

/** Of both paths: each is made with the same. */
struct mf_vm_config {
	struct mf_vm_class page_class[MF_PAGE_CLASSES]; /**< at least one; at most 2^32 pages in all */
	uint32_t slots, bucket; /**< mf_page_shape_config */
	uint32_t tlb_sets, tlb_ways; /**< mf_tlb_config */
	uint32_t ring; /**< pages of each class that are ready for a fault, 1..MF_PAGE_RING_MAX */
	uint32_t pins; /**< pages that reads may hold, 1..MF_PINS_MAX */
	uint32_t tasks; /**< that may be asked of the slow path at a time, 1..MF_VM_TASKS_MAX */
	uint32_t node_tasks; /**< of these, of one node: its slots, 1..MF_VM_NODE_TASKS_MAX */
	uint32_t spaces; /**< at a time, 1..MF_SPACES */
	uint32_t ranges; /**< of all spaces, 1..MF_RANGES_OF_POOL_MAX */
	uint32_t retries_max; /**< of an allocation (mf_range_alloc_config) */
	/* What the spaces may have in all that a node has made; 0: any number. */
	uint64_t node_octets; /**< of physical pages */
	uint64_t node_entries; /**< of the page table: pages that are allocated */
	uint16_t answer; /**< bytes of the answer to a call, at most: 0..MF_CALL_MAX; 0: there are no calls */
	bool huge_pages; /**< of the host, for data and page table */
	bool touch; /**< pages of the ring are present in the host's kernel: the wall clock */
	mf_time dram; /**< of an access to memory; virtual clock */
	mf_time fault; /**< what taking a page of the ring adds */
	mf_time lease; /**< a space that no member uses for so long ends; 0: none does */
	struct mf_memory_use *use; /**< as in mf_memory_config */
	struct mf_vm_secrets secrets;
};

/** Where the pages of a class are: physical numbers and octets of all classes follow each other. */
struct mf_vm_layout {
	struct {
		uint8_t shift;
		uint32_t first; /**< number of the first page */
		uint64_t pages;
		uint64_t at; /**< its first octet */
	} of[MF_PAGE_CLASSES];
	uint64_t pages, octets; /**< in all */
};

/** @return 0; -EINVAL: a class is out of range, or there are none, or too many pages */
int mf_vm_layout(const struct mf_vm_config *config, struct mf_vm_layout *out);

/** Where a page of a class begins, in octets of all classes.
 * @param page  its physical number, of that class */
static inline uint64_t mf_vm_layout_at(const struct mf_vm_layout *l, unsigned int page_class, uint32_t page)
{
	return l->of[page_class].at + ((uint64_t)(page - l->of[page_class].first) << l->of[page_class].shift);
}

/** Why something is refused with MF_ERR_KEY. For the operator alone. */
enum mf_vm_refusal {
	MF_VM_REFUSED_NOT, /**< it is not */
	MF_VM_REFUSED_SPACE, /**< no such space */
	MF_VM_REFUSED_KEY, /**< wrong key, for this space, node and right, now */
	MF_VM_REFUSED_PAGE, /**< some of it is not allocated */
	MF_VM_REFUSED_RIGHT, /**< some of it may not be written, or read */
	MF_VM_REFUSALS
};

struct mf_vm_stats {
	uint64_t hits, misses; /**< pages of accesses that were done, by where the translation was */
	uint64_t faults; /**< first accesses of a page: each is a miss, too */
	uint64_t dry, full; /**< refused: the ring was empty, and pages will come, or there are none */
	uint64_t beyond; /**< refused: the node that made the space has as many octets as it may */
	uint64_t unpinned; /**< refused: as many pages as may be were held */
	uint64_t many; /**< refused: more than two pages */
	uint64_t refused[MF_VM_REFUSALS]; /**< accesses; [MF_VM_REFUSED_NOT]: that passed */
	uint64_t asked, ask_refused[MF_VM_REFUSALS], ask_full; /**< tasks that were begun; that were not */
	uint64_t late; /**< pages that went back when they were let go, since they were held before */
	uint64_t entries, present; /**< now */
	uint64_t ring[MF_PAGE_CLASSES]; /**< pages, now */
	uint64_t held; /**< pages that are held, now */
	uint64_t under_way; /**< tasks, now */
	uint64_t renewed; /**< leases, by who had nothing else to ask */
	uint64_t state_octets; /**< that is not page table, table of spaces, or data */
	uint64_t strange; /**< items that cannot be: a bug of the slow path */
};

/** A struct mf_vm as a memory. It is made here; at, check and zero are of no use there. */
extern const struct mf_memory_ops mf_memory_virtual;

struct mf_vm;

/** @return NULL with errno: EINVAL, ENOMEM */
struct mf_vm *mf_vm_new(const struct mf_vm_config *config);
void mf_vm_free(struct mf_vm *v);

static inline struct mf_memory *mf_vm_memory(struct mf_vm *v)
{
	return (struct mf_memory *)v;
}

/** The octets of all pages, which the slow path zeroes. Those of pages that the fast path has are its own. */
uint8_t *mf_vm_octets(struct mf_vm *v);

/** What is there for the slow path: the other side takes from it. */
struct mf_vm_queue *mf_vm_out(struct mf_vm *v);

/** Whether an item can be one that the slow path gives: else mf_vm_take() is not to be called. */
bool mf_vm_may_take(const struct mf_vm *v, const struct mf_vm_item *item);

/** Other secrets, before anything was asked or taken. @return 0 or -ENOMEM: of no use but to be freed */
int mf_vm_renew(struct mf_vm *v, const struct mf_vm_secrets *secrets);

/**
 * The fast path zeroes pages that come by itself: it is replayed without the slow path, which did that. Pages
 * of a record were zero.
 */
void mf_vm_zeroes(struct mf_vm *v);

/** Does what the slow path says, at the item's date. At most MF_VM_RUN_MAX entries are touched. */
void mf_vm_take(struct mf_vm *v, const struct mf_vm_item *item);

/**
 * What a node asks of a space. It names the task itself: by a slot of its own, and a number that is higher
 * than the last one there, modulo 2^32. So what is asked again is not done again.
 */
struct mf_vm_request {
	mf_time at; /**< when it reaches the memory */
	uint8_t what; /**< enum mf_space_task; others are refused */
	uint8_t slot; /**< below mf_vm_config.node_tasks */
	uint16_t node; /**< as the switch has bound it */
	uint32_t number;
	uint32_t space;
	uint64_t key;
	uint64_t arg[2];
};

/**
 * Begins a task, or tells what has come of it: the same request again, as often as wanted. The last answer in
 * a slot is kept until the node asks something new there. Of one that was begun only node, slot and number
 * count.
 * @param result  0 unless MF_OK
 * @return enum mf_status: MF_OK: it is done; MF_ERR_PENDING: it is under way; MF_ERR_KEY: refused;
 * MF_ERR_RANGE: of an argument; MF_ERR_RESOURCE: no addresses, slots of the table, ranges, spaces or epochs
 * are left, or a free or protect would be of more than 64 ranges, or the maker of the space would have more
 * entries than it may; MF_ERR_BUSY: it has not begun, since another task is under way in the slot, or as many
 * as may be
 */
uint8_t mf_vm_ask(struct mf_vm *v, const struct mf_vm_request *request, uint64_t *result);

/**
 * A node is gone, or was started again: it does not ask for its answers. Its tasks go on. The spaces that it
 * has made end, those that it makes from now on do not.
 */
void mf_vm_forget_node(struct mf_vm *v, uint16_t node);

/** What is counted, and how much there is now. */
void mf_vm_stats(const struct mf_vm *v, struct mf_vm_stats *out);

#define MF_VM_SAMPLES 1024 /**< accesses whose pages are kept, the last ones */
#define MF_VM_SAMPLE_EVERY 256 /**< one of so many accesses, in the mean: a power of two */

/** What came of accesses to a space since it was made, and what it has now. */
struct mf_vm_space_stats {
	uint64_t hits, faults; /**< pages, as in mf_vm_stats */
	uint64_t refused; /**< accesses, for want of a key, a page or a right */
	uint64_t used[MF_USAGES]; /**< enum mf_space_usage */
};

/** A page, by how many of the last MF_VM_SAMPLES accesses that were kept were of it. */
struct mf_vm_hot {
	uint64_t addr; /**< its first octet */
	uint32_t samples;
};

/** @param space  below MF_SPACES. Any thread may call: each number was right a moment ago */
void mf_vm_space_stats(const struct mf_vm *v, uint32_t space, struct mf_vm_space_stats *out);
/**
 * The pages of a space that are accessed most, by samples; the most accessed one first. Any thread may call.
 * @param out  room for max. @return how many
 */
unsigned int mf_vm_hot_pages(const struct mf_vm *v, uint32_t space, struct mf_vm_hot *out, unsigned int max);

/** "none", "space", "key", "page", "right"; "?" for others. */
const char *mf_vm_refusal_name(enum mf_vm_refusal reason);

#endif
