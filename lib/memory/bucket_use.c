/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/mf_fetch.h"
#include "base/mf_table.h"
#include "memory/mf_bucket_use.h"

static_assert(MF_PAGE_BUCKET_MAX <= UINT8_MAX, "the slots of a bucket are counted in an octet");

struct mf_bucket_use {
	struct mf_page_shape shape;
	uint64_t taken;
	uint8_t *bucket; /**< slots taken */
};

struct mf_bucket_use *mf_bucket_use_new(const struct mf_page_shape *shape)
{
	struct mf_bucket_use *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->shape = *shape;
	u->bucket = mf_table_new_dense(UINT64_C(1) << shape->bits, sizeof(u->bucket[0]));
	if (u->bucket != NULL)
		return u;
	free(u);
	return NULL;
}

void mf_bucket_use_free(struct mf_bucket_use *u)
{
	if (u == NULL)
		return;
	mf_table_free(u->bucket);
	free(u);
}

static inline uint8_t *bucket_of(const struct mf_bucket_use *u, uint64_t tag)
{
	return u->bucket + mf_page_bucket(&u->shape, mf_page_mix(&u->shape, tag));
}

void mf_bucket_use_fetch(const struct mf_bucket_use *u, uint64_t tag)
{
	mf_fetch_only();
	__builtin_prefetch(bucket_of(u, tag), 1);
}

bool mf_bucket_use_take(struct mf_bucket_use *u, uint64_t tag)
{
	uint8_t *bucket = bucket_of(u, tag);

	if (*bucket == u->shape.bucket)
		return false;
	++*bucket;
	u->taken++;
	return true;
}

void mf_bucket_use_let_go(struct mf_bucket_use *u, uint64_t tag)
{
	uint8_t *bucket = bucket_of(u, tag);

	assert(*bucket > 0);
	--*bucket;
	u->taken--;
}

uint64_t mf_bucket_use_taken(const struct mf_bucket_use *u)
{
	return u->taken;
}

uint64_t mf_bucket_use_left(const struct mf_bucket_use *u)
{
	return mf_page_slots(&u->shape) - u->taken;
}
