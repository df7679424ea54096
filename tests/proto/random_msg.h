/* SPDX-License-Identifier: BSD-3-Clause */
/* Random valid messages for the tests of lib/systems/edm/proto. */
#ifndef RANDOM_MSG_H
#define RANDOM_MSG_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "systems/edm/proto/mf_proto.h"

/** xorshift64*: small, seeded, the same everywhere. */
struct test_rng {
	uint64_t s;
};

static inline uint64_t rnd(struct test_rng *r)
{
	r->s ^= r->s >> 12;
	r->s ^= r->s << 25;
	r->s ^= r->s >> 27;
	return r->s * UINT64_C(0x2545f4914f6cdd1d);
}

/** 0 .. n - 1 */
static inline uint32_t below(struct test_rng *r, uint32_t n)
{
	return (uint32_t)(((rnd(r) >> 32) * n) >> 32);
}

/** A valid message of the kind, chunks of at most max_octets. */
struct mf_msg random_msg(struct test_rng *r, uint8_t kind, uint32_t max_octets);

/** Whether a kind travels in one control block. */
static inline bool is_single(uint8_t kind)
{
	return kind == MF_ACK || kind == MF_ERR || kind == MF_GRET || kind == MF_NOTIFY || kind == MF_GRANT ||
	       kind == MF_TAKE;
}

/** Encodes any kind; data for chunks. @return number of blocks */
unsigned int encode(const struct mf_proto *p, const struct mf_msg *m, const void *data, uint64_t *word);

/** Decodes any number of blocks: one as a single-block message. */
int decode(const struct mf_proto *p, const uint64_t *word, unsigned int n, struct mf_msg *m,
	   const uint8_t **data);

/** Fails the test unless all fields are equal. */
void expect_equal(const struct mf_msg *a, const struct mf_msg *b);

#endif
