/* SPDX-License-Identifier: BSD-3-Clause */
/* The states that a search has been in: a set of fingerprints of 128 bits, open addressing; it grows. */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fingerprint {
	uint64_t a, b;
};

struct seen {
	struct fingerprint *slot; /**< {0, 0}: free */
	uint32_t *used; /**< [count]: the slots that are not free */
	size_t mask;
	size_t count, max;
};

/** @return 0 or -ENOMEM */
int seen_init(struct seen *s, size_t max);
void seen_fini(struct seen *s);
/** Forgets all, but keeps its room; costs what was there. */
void seen_clear(struct seen *s);

enum seen_answer {
	SEEN_NEW,
	SEEN_BEFORE,
	SEEN_FULL, /**< or there is no memory */
};

enum seen_answer seen_add(struct seen *s, struct fingerprint f);

#endif
