/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the type "virtual" of a node (docs/memory.md). */
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "fabric/mf_make.h"

/** Of the seed of the file, so that a run repeats itself; other ones at each start of the node. */
static struct mf_vm_secrets secrets_of(const struct mf_fabric *f, unsigned int i, uint32_t start)
{
	struct mf_vm_secrets s;
	struct mf_rng rng;

	mf_rng_init(&rng, f->config->seed, "memory secrets", i | (uint64_t)start << 32);
	for (size_t k = 0; k < sizeof(s.mix) / sizeof(s.mix[0]); k++)
		s.mix[k] = mf_rng_next(&rng);
	s.tlb = mf_rng_next(&rng);
	for (size_t k = 0; k < sizeof(s.key) / sizeof(s.key[0]); k++)
		s.key[k] = mf_rng_next(&rng);
	return s;
}

struct mf_memory *make_virtual_memory(struct mf_fabric *f, unsigned int i, const struct mf_memory_config *m,
				      char *err, size_t errlen)
{
	struct node *n = &f->node[i];
	struct mf_vm_timed_config c = f->config->node[i].vm;

	if (f->clock == MF_CLOCK_WALL) {
		make_fail(err, errlen, "%s: memory of the type \"virtual\" is for the virtual clock so far",
			  f->config->node[i].name);
		return NULL;
	}
	c.vm.dram = m->dram;
	c.vm.use = m->use;
	c.vm.huge_pages = m->huge_pages;
	c.vm.secrets = secrets_of(f, i, n->starts++);
	n->vm = mf_vm_timed_new(&c);
	if (n->vm == NULL) {
		make_fail(err, errlen, "%s: cannot have %llu octets of memory with address spaces: %s",
			  f->config->node[i].name, (unsigned long long)m->size, strerror(errno));
		return NULL;
	}
	return mf_vm_timed_memory(n->vm);
}
