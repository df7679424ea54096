/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink: a memory that stores nothing. Each address has a content of its own, which is what reads find there
 * and what is to be written there. So a write is checked octet by octet, whoever sent it and in whatever
 * pieces it comes, and nobody needs to remember what was written.
 *
 * Contents repeat after a period of a prime number of pages. Two places that are a power of two apart, as
 * regions of clients are, thus differ. The process has one period in memory, mapped behind itself again and
 * again, so that a run of octets at any address has one place. Atomics need what is stored: they are refused.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mf_cycles.h"
#include "base/mf_rng.h"
#include "memory/mf_memory.h"

#define PAGE 4096
#define PERIOD ((size_t)257 * PAGE)
#define COPIES (MF_SINK_RUN / PERIOD + 2) /**< a run of the longest, from anywhere in the first copy on */

struct mf_memory {
	uint64_t size;
	uint64_t held; /**< reads */
	mf_time dram;
	struct mf_memory_use *use;
	struct mf_memory_checked checked;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const uint8_t *content; /**< [COPIES * PERIOD]; NULL: it could not be made */

/** Maps the file as often as it is needed, one copy behind the other. @return NULL: no memory */
static uint8_t *map_copies(int fd)
{
	uint8_t *at =
		mmap(NULL, COPIES * PERIOD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < COPIES; i++)
		if (mmap(at + i * PERIOD, PERIOD, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
			munmap(at, COPIES * PERIOD);
			return NULL;
		}
	return at;
}

static void make_content(void)
{
	int fd = memfd_create("memfab-sink", MFD_CLOEXEC);
	uint64_t *word = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, PERIOD) == 0)
		word = mmap(NULL, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word != MAP_FAILED) {
		for (size_t i = 0; i < PERIOD / sizeof(*word); i++)
			word[i] = mf_hash64(i + 1);
		munmap(word, PERIOD);
		content = map_copies(fd);
	}
	if (fd >= 0)
		close(fd); /* the mappings stay until the process ends */
}

int mf_sink_init(void)
{
	return pthread_once(&once, make_content) == 0 && content != NULL ? 0 : -ENOMEM;
}

const void *mf_sink_content(uint64_t addr)
{
	return content + addr % PERIOD;
}

static struct mf_memory *sink_create(const struct mf_memory_config *config)
{
	struct mf_memory *m;

	if (config->size == 0 || config->size - 1 > MF_ADDR_MAX) {
		errno = EINVAL;
		return NULL;
	}
	m = mf_sink_init() == 0 ? calloc(1, sizeof(*m)) : NULL;
	if (m == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	m->size = config->size;
	m->dram = config->dram;
	m->use = config->use;
	return m;
}

static void sink_destroy(struct mf_memory *m)
{
	free(m);
}

static uint8_t sink_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return len <= m->size && addr <= m->size - len ? MF_OK : MF_ERR_RANGE;
}

static const void *sink_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	return sink_check(m, addr, len) == MF_OK && len <= MF_SINK_RUN ? mf_sink_content(addr) : NULL;
}

static void sink_fetch(const struct mf_memory *m, uint64_t addr)
{
	(void)m;
	__builtin_prefetch(mf_sink_content(addr));
}

static void sink_read(struct mf_memory *m, const struct mf_access *a, const void *at, struct mf_answer *out)
{
	out->places = (struct mf_places){.at = {at}, .len = {a->len}};
	m->held += a->hold;
	if (m->use != NULL)
		mf_memory_count(&m->use->read, a->len);
}

static void sink_write(struct mf_memory *m, const struct mf_access *a, const void *at)
{
	m->checked.writes++;
	m->checked.octets += a->len;
	if (__builtin_expect(memcmp(a->data, at, a->len) != 0, 0) && m->checked.wrong++ == 0) {
		m->checked.wrong_addr = a->addr;
		m->checked.wrong_octets = a->len;
	}
	if (m->use != NULL)
		mf_memory_count(&m->use->written, a->len);
}

/** It takes the time that flat memory takes. */
static uint8_t sink_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	MF_CYCLES(MF_CYCLES_MEMORY);

	if (a->right == MF_RIGHT_RMW)
		return MF_ERR_OPCODE;
	if (sink_check(m, a->addr, a->len) != MF_OK || (a->len > MF_SINK_RUN && !a->dry))
		return MF_ERR_RANGE;
	out->second = 0;
	out->time = a->right == MF_RIGHT_READ ? m->dram : 0;
	if (a->dry)
		return MF_OK;
	if (a->right == MF_RIGHT_READ)
		sink_read(m, a, mf_sink_content(a->addr), out);
	else
		sink_write(m, a, mf_sink_content(a->addr));
	return MF_OK;
}

static void sink_let_go(struct mf_memory *m, const struct mf_places *places)
{
	(void)places; /* nothing moves */
	m->held--;
}

static uint64_t sink_held(const struct mf_memory *m)
{
	return m->held;
}

/** What a sink holds cannot be cleared: the fabric file has no regions there. */
static uint8_t sink_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return sink_check(m, addr, len);
}

static const struct mf_memory_checked *sink_checked(const struct mf_memory *m)
{
	return &m->checked;
}

const struct mf_memory_ops mf_memory_sink = {
	.name = "sink",
	.create = sink_create,
	.destroy = sink_destroy,
	.access = sink_access,
	.let_go = sink_let_go,
	.held = sink_held,
	.fetch = sink_fetch,
	.at = sink_at,
	.check = sink_check,
	.zero = sink_zero,
	.checked = sink_checked,
};
