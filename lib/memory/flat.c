/* SPDX-License-Identifier: BSD-3-Clause */
/* Flat memory: one mapping, address 0 is its first octet. */
#include <assert.h>
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_cycles.h"
#include "memory/map.h"
#include "memory/mf_memory.h"

#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(2) << 20)
#define RMW_OCTETS sizeof(uint64_t)

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are kept as they are on the wire");

struct mf_memory {
	uint8_t *octets;
	uint64_t size; /**< what may be accessed; the mapping is rounded up */
	uint64_t mapped;
	uint64_t held; /**< reads */
	mf_time dram;
	struct mf_memory_use *use;
};

/*
 * Preferred, not bound: a node without a free page would end the program. Where there is no NUMA, or the
 * system does not let us choose (containers), any node will do.
 */
static int place(void *octets, uint64_t size, int node)
{
	unsigned long mask[16] = {0};
	const unsigned int bits = 8 * sizeof(mask[0]);

	if (node < 0 || numa_available() < 0)
		return 0;
	if (node > numa_max_node() || (size_t)node >= 8 * sizeof(mask))
		return -EINVAL;
	mask[node / bits] = 1ul << node % bits;
	if (mbind(octets, size, MPOL_PREFERRED, mask, 8 * sizeof(mask), 0) == 0)
		return 0;
	return errno == EPERM || errno == ENOSYS ? 0 : -errno;
}

/* A memory that does not fill a huge page has none: it would take one, and a fabric has thousands of them. */
static int flat_init(struct mf_memory *m, const struct mf_memory_config *config)
{
	uint64_t page = config->size < HUGE_PAGE ? PAGE : HUGE_PAGE;
	int rc;

	if (config->size == 0 || config->size - 1 > MF_ADDR_MAX)
		return -EINVAL;
	m->size = config->size;
	m->mapped = (config->size + page - 1) / page * page;
	m->dram = config->dram;
	m->use = config->use;
	m->octets = memory_map(m->mapped, config->huge_pages && page == HUGE_PAGE);
	if (m->octets == NULL)
		return -errno;
	rc = place(m->octets, m->mapped, config->numa_node);
	if (rc)
		memory_unmap(m->octets, m->mapped);
	return rc;
}

static struct mf_memory *flat_create(const struct mf_memory_config *config)
{
	struct mf_memory *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return NULL;
	rc = flat_init(m, config);
	if (rc == 0)
		return m;
	free(m);
	errno = -rc;
	return NULL;
}

static void flat_destroy(struct mf_memory *m)
{
	if (!m)
		return;
	memory_unmap(m->octets, m->mapped);
	free(m);
}

static uint8_t flat_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return len <= m->size && addr <= m->size - len ? MF_OK : MF_ERR_RANGE;
}

/** It reads, and then writes what comes of it (EDM 3.2.1). */
static uint8_t flat_rmw(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	uint64_t word, arg[2];

	if (a->op >= MF_RMW_OPS)
		return MF_ERR_OPCODE;
	if (flat_check(m, a->addr, RMW_OCTETS) != MF_OK)
		return MF_ERR_RANGE;
	if (a->addr % RMW_OCTETS != 0)
		return MF_ERR_ALIGN;
	out->time = 2 * m->dram;
	out->second = m->dram;
	if (a->dry)
		return MF_OK;
	memcpy(arg, a->data, sizeof(arg));
	memcpy(&out->old, m->octets + a->addr, RMW_OCTETS);
	word = mf_memory_modified(a->op, out->old, arg);
	memcpy(m->octets + a->addr, &word, RMW_OCTETS);
	if (m->use != NULL) {
		mf_memory_count(&m->use->read, RMW_OCTETS);
		mf_memory_count(&m->use->written, RMW_OCTETS);
	}
	return MF_OK;
}

/**
 * An address is its place, and everybody has every right. An open page or a closed one, short or long: the
 * parameter is the time of any access; a write is done for who sent it when the controller has it.
 */
static uint8_t flat_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	uint8_t *octets;

	if (a->right == MF_RIGHT_RMW)
		return flat_rmw(m, a, out);
	if (flat_check(m, a->addr, a->len) != MF_OK)
		return MF_ERR_RANGE;
	octets = m->octets + a->addr;
	out->second = 0;
	if (a->right == MF_RIGHT_WRITE) {
		out->time = 0;
		if (a->dry)
			return MF_OK;
		memcpy(octets, a->data, a->len);
		if (m->use != NULL)
			mf_memory_count(&m->use->written, a->len);
		return MF_OK;
	}
	out->time = m->dram;
	out->places = (struct mf_places){.at = {octets}, .len = {a->len}};
	if (a->dry)
		return MF_OK;
	m->held += a->hold;
	if (m->use != NULL)
		mf_memory_count(&m->use->read, a->len);
	return MF_OK;
}

static void flat_let_go(struct mf_memory *m, const struct mf_places *places)
{
	(void)places; /* nothing moves */
	m->held--;
}

static uint64_t flat_held(const struct mf_memory *m)
{
	return m->held;
}

static const void *flat_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	return flat_check(m, addr, len) == MF_OK ? m->octets + addr : NULL;
}

static void flat_fetch(const struct mf_memory *m, uint64_t addr)
{
	__builtin_prefetch(addr < m->size ? m->octets + addr : NULL, 1);
}

static uint8_t flat_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	uint8_t status = flat_check(m, addr, len);

	if (status == MF_OK)
		memset(m->octets + addr, 0, len);
	return status;
}

const struct mf_memory_ops mf_memory_flat = {
	.name = "flat",
	.create = flat_create,
	.destroy = flat_destroy,
	.access = flat_access,
	.let_go = flat_let_go,
	.held = flat_held,
	.fetch = flat_fetch,
	.at = flat_at,
	.check = flat_check,
	.zero = flat_zero,
};
