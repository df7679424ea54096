/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "memory/mf_bandwidth.h"

#define PS_PER_SECOND 1000000000000ULL

/** A time in picoseconds and parts of one: rest / rate. */
struct exact {
	mf_time ps;
	uint64_t rest; /**< below the rate */
};

struct mf_bandwidth {
	uint64_t rate;
	const struct mf_memory_ops *ops; /**< of the memory below */
	struct mf_memory *memory;
	struct exact idle; /**< from then on the server is */
};

static struct mf_bandwidth *of(struct mf_memory *m)
{
	return (struct mf_bandwidth *)m;
}

static const struct mf_bandwidth *const_of(const struct mf_memory *m)
{
	return (const struct mf_bandwidth *)m;
}

static struct exact after(const struct mf_bandwidth *b, struct exact from, uint32_t bytes)
{
	unsigned __int128 parts = (unsigned __int128)8 * bytes * PS_PER_SECOND + from.rest;

	return (struct exact){.ps = from.ps + (mf_time)(parts / b->rate),
			      .rest = (uint64_t)(parts % b->rate)};
}

/** The first whole picosecond that is not before. */
static mf_time whole(struct exact e)
{
	return e.ps + (e.rest != 0);
}

/** When bytes have passed that come at a time. */
static struct exact pass(const struct mf_bandwidth *b, mf_time at, uint32_t bytes)
{
	return after(b, at < whole(b->idle) ? b->idle : (struct exact){.ps = at}, bytes);
}

static uint8_t bandwidth_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	struct mf_bandwidth *b = of(m);
	uint8_t status = b->ops->access(b->memory, a, out);
	struct exact first, second;

	if (status != MF_OK)
		return status;
	first = pass(b, a->at, a->len);
	second = a->right == MF_RIGHT_RMW ? after(b, first, a->len) : first;
	out->time += whole(second) - a->at;
	out->second += whole(second) - whole(first);
	if (!a->dry)
		b->idle = second;
	return MF_OK;
}

static void bandwidth_let_go(struct mf_memory *m, const struct mf_places *places)
{
	of(m)->ops->let_go(of(m)->memory, places);
}

static uint64_t bandwidth_held(const struct mf_memory *m)
{
	return const_of(m)->ops->held(const_of(m)->memory);
}

static void bandwidth_fetch(const struct mf_memory *m, uint64_t addr)
{
	const_of(m)->ops->fetch(const_of(m)->memory, addr);
}

static const void *bandwidth_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	return const_of(m)->ops->at(const_of(m)->memory, addr, len);
}

static uint8_t bandwidth_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return const_of(m)->ops->check(const_of(m)->memory, addr, len);
}

static uint8_t bandwidth_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return of(m)->ops->zero(of(m)->memory, addr, len);
}

/** What is asked takes none of it. */
static uint8_t bandwidth_ask(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result)
{
	return of(m)->ops->ask(of(m)->memory, op, a, result);
}

/** The bytes of an answer are read. */
static uint8_t bandwidth_call(struct mf_memory *m, const struct mf_access *a, uint64_t *result,
			      struct mf_answer *out)
{
	struct mf_bandwidth *b = of(m);
	uint8_t status = b->ops->call(b->memory, a, result, out);
	struct exact end;

	if (status != MF_OK)
		return status;
	end = pass(b, a->at, (uint32_t)*result);
	out->time += whole(end) - a->at;
	if (!a->dry)
		b->idle = end;
	return MF_OK;
}

static void bandwidth_forget(struct mf_memory *m, uint16_t node, mf_time at)
{
	if (of(m)->ops->forget != NULL)
		of(m)->ops->forget(of(m)->memory, node, at);
}

#define TABLE                                                                                                \
	.name = "bandwidth", .access = bandwidth_access, .let_go = bandwidth_let_go, .held = bandwidth_held, \
	.fetch = bandwidth_fetch, .at = bandwidth_at, .check = bandwidth_check, .zero = bandwidth_zero,      \
	.forget = bandwidth_forget

static const struct mf_memory_ops table = {TABLE}, table_that_is_asked = {TABLE, .ask = bandwidth_ask},
				  table_that_is_called = {TABLE, .ask = bandwidth_ask,
							  .call = bandwidth_call};

const struct mf_memory_ops *mf_bandwidth_ops(const struct mf_bandwidth *b)
{
	if (b->ops->call != NULL)
		return &table_that_is_called;
	return b->ops->ask != NULL ? &table_that_is_asked : &table;
}

struct mf_bandwidth *mf_bandwidth_new(uint64_t rate, const struct mf_memory_ops *ops,
				      struct mf_memory *memory)
{
	struct mf_bandwidth *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	*b = (struct mf_bandwidth){.rate = rate, .ops = ops, .memory = memory};
	return b;
}

void mf_bandwidth_free(struct mf_bandwidth *b)
{
	free(b);
}

void mf_bandwidth_restart(struct mf_bandwidth *b, struct mf_memory *memory)
{
	b->memory = memory;
	b->idle = (struct exact){.ps = 0};
}
