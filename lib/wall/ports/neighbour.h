/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of another process on this host, as /proc shows it: whether it is there, and for how long it has
 * had a CPU. For who waits for a word of it, and would know whether it could have said one.
 */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <stdbool.h>

#include "base/mf_time.h"
#include "link/mf_link.h"

struct neighbour {
	int stat, schedstat; /**< files that go on to mean this thread, and no later one of its number */
};

#define NEIGHBOUR_NONE ((struct neighbour){.stat = -1, .schedstat = -1})

/** What the calling thread tells of itself. host 0: the system does not say what is needed for that. */
struct mf_link_place neighbour_self(void);

/**
 * Finds the thread of a place that a partner has told.
 * @param n  NEIGHBOUR_NONE; neighbour_leave() follows
 * @return false: it is not on this host, or nobody here may see it
 */
bool neighbour_find(struct neighbour *n, const struct mf_link_place *place);
void neighbour_leave(struct neighbour *n);

/** What a thread has had of CPUs so far. */
struct neighbour_cpu {
	mf_time ran;
	uint64_t slices; /**< how often it was given one */
};

enum neighbour_state {
	NEIGHBOUR_LIVES,
	NEIGHBOUR_GONE, /**< it has ended */
	NEIGHBOUR_UNKNOWN, /**< lives, but the system does not say how long it has had a CPU */
};
/** @param cpu  out, where it lives */
enum neighbour_state neighbour_look(const struct neighbour *n, struct neighbour_cpu *cpu);

#endif
