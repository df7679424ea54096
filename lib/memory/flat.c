/* SPDX-License-Identifier: BSD-3-Clause */
/* Flat memory: one mapping, address 0 is its first octet. */
#include <assert.h>
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mf_cycles.h"
#include "memory/mf_memory.h"

#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(2) << 20)
#define RMW_OCTETS sizeof(uint64_t)

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are kept as they are on the wire");

struct mf_memory {
	uint8_t *octets;
	uint64_t size; /**< what may be accessed; the mapping is rounded up */
	uint64_t mapped;
	mf_time dram;
};

static void *map(uint64_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/*
 * Reserved huge pages, all of them now, so that none is missing later; else ordinary pages, as they
 * are touched, and the kernel is asked to join them.
 */
static void *map_pages(uint64_t size, bool huge_pages)
{
	void *octets = huge_pages ? map(size, MAP_HUGETLB) : MAP_FAILED;

	if (octets != MAP_FAILED)
		return octets;
	octets = map(size, MAP_NORESERVE);
	if (octets != MAP_FAILED && huge_pages)
		(void)madvise(octets, size, MADV_HUGEPAGE);
	return octets;
}

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
	m->octets = map_pages(m->mapped, config->huge_pages && page == HUGE_PAGE);
	if (m->octets == MAP_FAILED)
		return -errno;
	rc = place(m->octets, m->mapped, config->numa_node);
	if (rc)
		munmap(m->octets, m->mapped);
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
	munmap(m->octets, m->mapped);
	free(m);
}

static uint8_t flat_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return len <= m->size && addr <= m->size - len ? MF_OK : MF_ERR_RANGE;
}

static uint8_t flat_read(struct mf_memory *m, uint64_t addr, uint32_t len, void *out)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	uint8_t status = flat_check(m, addr, len);

	if (status == MF_OK)
		memcpy(out, m->octets + addr, len);
	return status;
}

static uint8_t flat_write(struct mf_memory *m, uint64_t addr, uint32_t len, const void *in)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	uint8_t status = flat_check(m, addr, len);

	if (status == MF_OK)
		memcpy(m->octets + addr, in, len);
	return status;
}

static uint64_t modified(uint8_t op, uint64_t old, const uint64_t arg[2])
{
	switch (op) {
	case MF_RMW_CAS:
		return old == arg[0] ? arg[1] : old;
	case MF_RMW_FADD:
		return old + arg[0];
	case MF_RMW_SWAP:
		return arg[0];
	case MF_RMW_FOR:
		return old | arg[0];
	default: /* MF_RMW_FAND */
		return old & arg[0];
	}
}

static uint8_t flat_rmw(struct mf_memory *m, uint8_t op, uint64_t addr, const uint64_t arg[2], uint64_t *old)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	uint64_t word;

	if (op >= MF_RMW_OPS)
		return MF_ERR_OPCODE;
	if (flat_check(m, addr, RMW_OCTETS) != MF_OK)
		return MF_ERR_RANGE;
	if (addr % RMW_OCTETS != 0)
		return MF_ERR_ALIGN;
	memcpy(old, m->octets + addr, RMW_OCTETS);
	word = modified(op, *old, arg);
	memcpy(m->octets + addr, &word, RMW_OCTETS);
	return MF_OK;
}

/* An open page or a closed one, short or long: the parameter is the time of any access. */
static mf_time flat_delay(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	(void)addr;
	(void)len;
	return m->dram;
}

static const void *flat_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	return flat_check(m, addr, len) == MF_OK ? m->octets + addr : NULL;
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
	.check = flat_check,
	.read = flat_read,
	.write = flat_write,
	.rmw = flat_rmw,
	.delay = flat_delay,
	.at = flat_at,
	.zero = flat_zero,
};
