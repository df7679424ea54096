/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: where they are, as the file says, and what an owner asks for. Keys are the node's own affair. */
#include <errno.h>
#include <string.h>

#include "client/client.h"

int memfab_region(const struct memfab *m, const char *name, int node, uint64_t *addr, uint64_t *size)
{
	for (unsigned int i = 0; i < m->config->regions; i++) {
		const struct mf_config_region *r = &m->config->region[i];

		for (unsigned int k = 0; k < r->memory.n && strcmp(r->name, name) == 0; k++) {
			if (r->memory.node[k] != node)
				continue;
			*addr = r->at;
			*size = r->size;
			return 0;
		}
	}
	return -ENOENT;
}

static bool has_memory(const struct mf_config_region *r, unsigned int node)
{
	for (unsigned int k = 0; k < r->memory.n; k++)
		if (r->memory.node[k] == node)
			return true;
	return false;
}

bool region_crossed(const struct mf_config *config, unsigned int node, uint64_t addr, uint64_t len)
{
	for (unsigned int i = 0; i < config->regions; i++) {
		const struct mf_config_region *r = &config->region[i];

		if (has_memory(r, node) && addr >= r->at && addr - r->at < r->size)
			return len > r->size - (addr - r->at);
	}
	return false;
}

int memfab_region_claim(struct memfab_queue *q, int node, uint64_t addr, uint64_t *epoch)
{
	return memfab_atomic(q, MEMFAB_CLAIM, node, addr, 0, epoch);
}

int memfab_region_release(struct memfab_queue *q, int node, uint64_t addr, uint64_t *epoch)
{
	return memfab_atomic(q, MEMFAB_RELEASE, node, addr, 0, epoch);
}

int memfab_region_share(struct memfab_queue *q, int node, uint64_t addr, int with, enum memfab_right right,
			bool give)
{
	return memfab_atomic(q, MEMFAB_SHARE, node, addr, memfab_share(with, right, give), NULL);
}
