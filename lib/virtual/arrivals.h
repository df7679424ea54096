/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that arrives at the switch in a stretch of time is known when it begins. So it is put in order once,
 * and whoever takes it sees what comes next.
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include "virtual/wire.h"

#define ARRIVALS_PORT_BITS 12
static_assert(MF_NODES_MAX <= 1 << ARRIVALS_PORT_BITS, "a port fits");

struct arrival {
	uint64_t key; /**< time since the first one | port: the order of keys is that of arrivals */
	const struct flight *flight;
};

struct arrivals {
	struct arrival *arrival; /**< in order */
	struct arrival *found; /**< as the wires have them */
	uint32_t *before; /**< of each bucket */
	uint32_t room; /**< in each of them, a power of two */
	uint32_t n, next; /**< how many; the next one to be taken */
	mf_time base;
};

void arrivals_fini(struct arrivals *a);

/**
 * All that arrives by wires up to a time, none of it before `first`.
 * @param next  set to when the first arrives that comes later, or MF_NEVER
 * @return 0 or -ENOMEM
 */
int arrivals_find(struct arrivals *a, const struct wire *wire, unsigned int wires, mf_time first,
		  mf_time until, mf_time *next);

static inline bool arrivals_any(const struct arrivals *a)
{
	return a->next < a->n;
}

/** The one that is i behind the next, or NULL. */
static inline const struct arrival *arrivals_ahead(const struct arrivals *a, uint32_t i)
{
	return a->n - a->next > i ? &a->arrival[a->next + i] : NULL;
}

static inline unsigned int arrival_port(const struct arrival *x)
{
	return x->key & ((1u << ARRIVALS_PORT_BITS) - 1);
}

/** When the next one is; MF_NEVER: there is none. */
static inline mf_time arrivals_next(const struct arrivals *a)
{
	return arrivals_any(a) ? a->base + (a->arrival[a->next].key >> ARRIVALS_PORT_BITS) : MF_NEVER;
}

#endif
