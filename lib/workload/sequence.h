/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of one sender by their sequence numbers: lost, late, or there twice. A bitmap remembers
 * which of the last MF_ETHER_WINDOW numbers have come.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stdint.h>

#include "workload/mf_workload.h"

enum sequence_verdict {
	SEQUENCE_NEW, /**< in order, perhaps behind a gap */
	SEQUENCE_LATE, /**< fills a gap */
	SEQUENCE_AGAIN, /**< was there before, or is too old to tell */
};

struct sequence {
	uint64_t next; /**< one above the highest that has come */
	uint64_t received; /**< different ones */
	uint64_t seen[MF_ETHER_WINDOW / 64]; /**< bit of number n: n % MF_ETHER_WINDOW */
};

/** @param gap  set to how many are missing between the last one and this one */
enum sequence_verdict sequence_take(struct sequence *s, uint64_t number, uint64_t *gap);

#endif
