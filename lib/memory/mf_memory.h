/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What answers at a memory node: an access is one call, which translates, checks, faults and tells the time.
 *
 *      host or stack ── access ──> regions (mf_region.h) ──> bandwidth (mf_bandwidth.h) ──> flat, sink
 *
 * Regions and a shared bandwidth are memories over another one, so a host sees one table whatever stands
 * below. Flat memory stores what is written; a sink stores nothing. A memory with pages, spaces and a
 * translation cache is one more kind of this table.
 *
 * A read says where its octets are: in one place, or in two where it crosses the end of a page. Such a place
 * is right until the next call. Who needs it longer holds it (mf_access.hold), and lets it go when it has
 * been used: until then the memory neither moves it nor gives it to somebody else.
 *
 * One thread calls; accesses are executed one after the other, so nothing interleaves with an atomic.
 */
#ifndef MF_MEMORY_H
#define MF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mf_time.h"
#include "op/mf_op.h"

/**
 * Bytes that accesses have read and written, dry ones left out; an atomic does both. The memory's thread
 * writes them, any thread may read them.
 */
struct mf_memory_use {
	uint64_t read, written;
};

/** For kinds of memory: adds to one of these. The memory's thread alone does. */
static inline void mf_memory_count(uint64_t *octets, uint32_t len)
{
	__atomic_store_n(octets, *octets + len, __ATOMIC_RELAXED);
}

struct mf_memory_config {
	uint64_t size; /**< octets, 1..2^48 */
	int numa_node; /**< preferred; -1: any. Without effect where there is no NUMA */
	bool huge_pages; /**< reserved ones where there are enough, else transparent ones */
	mf_time dram; /**< time of an access under the virtual clock */
	uint64_t bandwidth; /**< bits a second, shared by all accesses (mf_bandwidth.h); 0: no limit */
	struct mf_memory_use
		*use; /**< the caller's, must outlive the memory; NULL: accesses are not counted */
};

struct mf_memory;

/** What an access wants. */
enum mf_right {
	MF_RIGHT_READ,
	MF_RIGHT_WRITE,
	MF_RIGHT_RMW, /**< of who may read and write: an atomic does both */
	MF_RIGHTS
};

/** What is asked. */
struct mf_access {
	uint64_t addr;
	uint64_t key; /**< that the message bears; 0: none */
	mf_time at; /**< when the request reaches the memory; virtual clock */
	const void *data; /**< WRITE: len bytes; RMW: uint64_t[2], its arguments */
	uint32_t len; /**< bytes, > 0; RMW: 8 */
	uint32_t space; /**< address space, of a memory that has several; 0: the only one */
	uint16_t node; /**< that asks, as the switch has bound it: its number in the tier that it asks from */
	uint8_t end; /**< of the memory node: which of its ends the request came by. 0: its only one */
	uint8_t right; /**< enum mf_right: what is to be done */
	uint8_t op; /**< RMW: enum mf_rmw_op, below MF_RMW_OPS */
	bool hold; /**< READ: the places stay until let_go() */
	/**
	 * Only what would come of it: translates, checks, and tells the time. Nothing is read, changed, held
	 * or used up but that it is this late now, and len may be more than two pages.
	 */
	bool dry;
};

/** Where the bytes of a read are: the first are in place 0, the rest in place 1. */
struct mf_places {
	const uint8_t *at[2];
	uint32_t len[2]; /**< bytes; len[1] is 0 where one place has them all */
};

/** What came of an access that is MF_OK. */
struct mf_answer {
	/**
	 * From mf_access.at until the memory has answered, or has taken the data of a write. Waiting for the
	 * memory included. Virtual clock, else 0.
	 */
	mf_time time;
	mf_time second; /**< RMW: what of it the second access takes, which writes what comes of the first */
	uint64_t old; /**< RMW: the value before */
	struct mf_places places; /**< READ, not dry */
};

/** What a memory that stores nothing has compared with what was to be written. */
struct mf_memory_checked {
	uint64_t writes, octets; /**< accesses that write, and their octets */
	uint64_t wrong; /**< of these accesses: some octet was another one */
	uint64_t wrong_addr; /**< of the first of them */
	uint32_t wrong_octets;
};

struct mf_memory_ops {
	const char *name;
	/** Zeroed. @return NULL with errno: EINVAL for a size or a NUMA node that cannot be, ENOMEM */
	struct mf_memory *(*create)(const struct mf_memory_config *config);
	/** Nothing is held any more. */
	void (*destroy)(struct mf_memory *m);
	/**
	 * Does what is asked, all of it or nothing. An atomic is on 8 bytes, little-endian.
	 * @return enum mf_status: MF_OK; MF_ERR_KEY: the node may not do this here; MF_ERR_OPCODE,
	 *         MF_ERR_RANGE, MF_ERR_ALIGN, looked at in this order; MF_ERR_RESOURCE: no page is left for
	 *         it, or it needs more than two places
	 */
	uint8_t (*access)(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out);
	/** The places of a read that was held are not used any more. */
	void (*let_go)(struct mf_memory *m, const struct mf_places *places);
	/** Reads that are held, for tests and for the end of a run. */
	uint64_t (*held)(const struct mf_memory *m);
	/** A hint, which changes nothing: what is at addr will soon be read. */
	void (*fetch)(const struct mf_memory *m, uint64_t addr);
	/**
	 * Where bytes are, for the node's operator: no time passes, nothing is counted and nobody is asked
	 * for a right. NULL: they are not in one place, or there are none.
	 */
	const void *(*at)(const struct mf_memory *m, uint64_t addr, uint32_t len);
	/** Whether there is memory of len bytes at addr, for set-up. @return MF_OK or MF_ERR_RANGE */
	uint8_t (*check)(const struct mf_memory *m, uint64_t addr, uint64_t len);
	/** Zeroes bytes, for the node's operator. @return MF_OK or MF_ERR_RANGE */
	uint8_t (*zero)(struct mf_memory *m, uint64_t addr, uint64_t len);
	/**
	 * What owners ask of the memory by an RMW that is none: of addr, for a node, with two arguments
	 * (data). NULL: nothing can be asked.
	 * @param op      MF_RMW_ATTACH and those after it
	 * @param result  for who asked; 0 where it is refused
	 * @return MF_OK, or why not; MF_ERR_OPCODE: nothing like that can be asked
	 */
	uint8_t (*ask)(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result);
	/**
	 * Does a call (mf_call.h) for a node: its arguments are at addr, and two words (data) say which call
	 * and how long they are. len: room for the answer. A dry one says only what would be refused. NULL:
	 * there are none.
	 * @param result  MF_OK: bytes of the answer, at most len; MF_ERR_PENDING: the ticket; else 0
	 * @param out     its time; MF_OK, not dry: places of the answer, as of a read, until the next call
	 * @return MF_OK; MF_ERR_PENDING: it is under way; MF_ERR_BUSY: it has not begun; or why it is
	 *         refused: MF_ERR_OPCODE: no such call; MF_ERR_RANGE: of the sizes; and as of access()
	 */
	uint8_t (*call)(struct mf_memory *m, const struct mf_access *a, uint64_t *result,
			struct mf_answer *out);
	/** A node is gone, or was started again: it does not ask for its answers. NULL: nothing is kept for
	 * nodes */
	void (*forget)(struct mf_memory *m, uint16_t node, mf_time at);
	/** What a sink has compared so far. NULL: what is written is stored. */
	const struct mf_memory_checked *(*checked)(const struct mf_memory *m);
};

/** Bytes of a read, from an offset on. offset + len is within what was read. */
static inline void mf_places_copy(const struct mf_places *p, uint32_t offset, uint32_t len, void *out)
{
	uint32_t n = 0;

	if (offset < p->len[0]) {
		n = p->len[0] - offset < len ? p->len[0] - offset : len;
		memcpy(out, p->at[0] + offset, n);
	}
	if (n < len)
		memcpy((uint8_t *)out + n, p->at[1] + (offset + n - p->len[0]), len - n);
}

/** The value that an atomic leaves in the place of old. op < MF_RMW_OPS. */
uint64_t mf_memory_modified(uint8_t op, uint64_t old, const uint64_t arg[2]);

/* For the node's operator, and tests: an access without a key, whose time does not count. */
uint8_t mf_memory_read(const struct mf_memory_ops *ops, struct mf_memory *m, uint64_t addr, uint32_t len,
		       void *out);
uint8_t mf_memory_write(const struct mf_memory_ops *ops, struct mf_memory *m, uint64_t addr, uint32_t len,
			const void *in);
uint8_t mf_memory_rmw(const struct mf_memory_ops *ops, struct mf_memory *m, uint8_t op, uint64_t addr,
		      const uint64_t arg[2], uint64_t *old);

extern const struct mf_memory_ops mf_memory_flat, mf_memory_sink;

#define MF_SINK_RUN (UINT32_C(32) << 20) /**< octets that a sink has in one place, at most */

/** Makes what sinks hold, once in a process; any thread may call. @return 0 or -ENOMEM */
int mf_sink_init(void);
/**
 * What each sink holds from an address on, and what is to be written there: MF_SINK_RUN octets at least,
 * which stay as long as the process. After mf_sink_init(). Any thread may call.
 */
const void *mf_sink_content(uint64_t addr);

/** By the name of the JSON: "flat", "sink". NULL: unknown. */
const struct mf_memory_ops *mf_memory_find(const char *name);

#endif
