/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a client's operations, one for each slot, all as large as the largest operation. Memory that
 * a large operation has touched is kept for the next one in the same slot, but no more than a fixed amount of
 * memory lies idle: beyond it a buffer's pages go back to the system when its operation is over. Where all
 * buffers together are less than that nothing is counted.
 */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stddef.h>
#include <stdint.h>

struct buffers {
	uint8_t *octets; /**< slot i has those from i * stride on */
	uint64_t stride;
	uint32_t *touched; /**< of a slot, octets in memory, at most; NULL: not counted */
	uint64_t idle, idle_max; /**< of slots that are free */
};

/**
 * @param size  octets of the largest operation, a multiple of 64; 0: no buffers
 * @return 0, -ENOMEM
 */
int buffers_init(struct buffers *b, uint32_t slots, uint64_t size, uint64_t idle_max);
void buffers_fini(struct buffers *b);

void buffers_give_counted(struct buffers *b, uint32_t slot, uint64_t used);

static inline void *buffers_at(const struct buffers *b, uint32_t slot)
{
	return b->octets + slot * b->stride;
}

/** A slot is taken. */
static inline void buffers_take(struct buffers *b, uint32_t slot)
{
	if (__builtin_expect(b->touched != NULL, 0))
		b->idle -= b->touched[slot];
}

/** It is free again; its operation had so many octets. What is in its buffer may be lost. */
static inline void buffers_give(struct buffers *b, uint32_t slot, uint64_t used)
{
	if (__builtin_expect(b->touched != NULL, 0))
		buffers_give_counted(b, slot, used);
}

#endif
