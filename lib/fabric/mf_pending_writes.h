/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes that have begun and not taken effect, by pair and id. An unacknowledged write's id may be used again
 * while its data is still under way, so of several that have the same name the oldest takes effect first.
 * Where writes of a pair take effect in the order of their begin (D9), those that later ones have overtaken
 * are lost; elsewhere no two have the same name: one whose name is used again is lost.
 */
#ifndef MF_PENDING_WRITES_H
#define MF_PENDING_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_time.h"

struct pending_write {
	uint64_t name; /**< PENDING_NONE: there is none here */
	uint64_t user; /**< of its operation */
	mf_time submitted; /**< MF_NEVER: of a piece that is not the last */
	uint32_t number; /**< of its pair */
};

#define PENDING_NONE UINT64_MAX

/** Numbers of a pair's writes: of the next that begins; below this all are over. */
struct pending_pair {
	uint32_t next, over;
};

/** Open addressing, at most half full; of one name the oldest comes first. */
struct pending {
	struct pending_write *slot; /**< [mask + 1] */
	uint32_t mask, count;
	uint16_t nodes;
	bool ordered; /**< writes of a pair take effect in order */
	bool incomplete; /**< no memory: some write is not here */
	struct pending_pair *pair; /**< [nodes][nodes] */
};

/** @return 0 or -ENOMEM */
int pending_init(struct pending *p, uint16_t nodes, bool ordered);
void pending_fini(struct pending *p);

/* Compute node, memory node, id: as in struct mf_probe. */
void pending_put(struct pending *p, uint16_t cn, uint16_t mn, uint32_t id, uint64_t user, mf_time submitted);
/** @return NULL: there is none; valid until the next call */
struct pending_write *pending_find(struct pending *p, uint16_t cn, uint16_t mn, uint32_t id);
/** What was found has taken effect. */
void pending_take(struct pending *p, struct pending_write *w);

/** Whether an entry of the table is a write that is waited for. */
static inline bool pending_waits(const struct pending *p, const struct pending_write *w)
{
	if (w->name == PENDING_NONE)
		return false;
	return !p->ordered ||
	       (int32_t)(w->number -
			 p->pair[(w->name >> 48) * p->nodes + (w->name >> 32 & UINT16_MAX)].over) >= 0;
}

static inline uint16_t pending_sender(const struct pending_write *w)
{
	return (uint16_t)(w->name >> 48);
}

/** The process of a compute node is gone: what has not taken effect is not waited for. */
void pending_forget(struct pending *p, uint16_t cn);

/** A hint: a write of this pair will soon take effect. */
static inline void pending_fetch(const struct pending *p, uint16_t cn, uint16_t mn)
{
	__builtin_prefetch(&p->pair[(size_t)cn * p->nodes + mn], 1);
}

#endif
