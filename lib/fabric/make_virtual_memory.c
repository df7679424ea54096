/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the type "virtual" of a node (docs/memory.md). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/mf_rng.h"
#include "config/mf_config_query.h"
#include "fabric/mf_fabric_regions.h"
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

/** Random bits of the kernel; nobody guesses them. @return false: there are none */
static bool secret(struct mf_vm_secrets *s)
{
	return getrandom(s, sizeof(*s), 0) == (ssize_t)sizeof(*s);
}

/** Faults "stall" of a node's slow path. */
static int add_stalls(const struct mf_fabric *f, unsigned int i)
{
	int err = 0;

	for (unsigned int k = 0; k < f->config->faults && err == 0; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];

		if (c->class == MF_FAULT_STALL && c->role == MF_CONFIG_SLOW_PATHS &&
		    mf_config_has(&c->link, i))
			err = mf_vm_timed_stall(f->node[i].vm, c->from, c->until);
	}
	return err;
}

/** Both paths as one memory. */
static struct mf_memory *make_timed(struct mf_fabric *f, unsigned int i, const struct mf_vm_timed_config *c)
{
	struct node *n = &f->node[i];

	n->vm = mf_vm_timed_new(c);
	if (n->vm == NULL)
		return NULL;
	if (add_stalls(f, i) == 0)
		return mf_vm_timed_memory(n->vm);
	mf_vm_timed_free(n->vm);
	n->vm = NULL;
	errno = ENOMEM;
	return NULL;
}

/** The fast path, and the slow one as a role. */
static struct mf_memory *make_paths(struct node *n, struct mf_vm_config *c)
{
	c->touch = true;
	n->fast = mf_vm_new(c);
	n->slow = n->fast != NULL ? mf_slow_path_new(c, mf_vm_octets(n->fast)) : NULL;
	if (n->slow != NULL)
		return mf_vm_memory(n->fast);
	mf_vm_free(n->fast);
	n->fast = NULL;
	return NULL;
}

/** Under the wall clock another thread may be at work on the pages of a node that crashes. */
static bool may_crash(const struct mf_fabric *f, unsigned int i)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		if (f->config->fault[k].class == MF_FAULT_NODE_CRASH &&
		    mf_config_has(&f->config->fault[k].link, i))
			return true;
	return false;
}

struct mf_memory *make_virtual_memory(struct mf_fabric *f, unsigned int i, const struct mf_memory_config *m,
				      char *err, size_t errlen)
{
	bool wall = f->clock == MF_CLOCK_WALL;
	struct node *n = &f->node[i];
	struct mf_vm_timed_config c = f->config->node[i].vm;
	struct mf_memory *memory;

	c.vm.node_octets = f->config->limits.pages;
	c.vm.node_entries = f->config->limits.entries;
	c.vm.dram = m->dram;
	c.vm.use = m->use;
	c.vm.huge_pages = m->huge_pages;
	c.vm.lease = c.lease[f->clock];
	c.vm.tlb_sets = c.tlb_sets[f->clock];
	c.vm.answer = (uint16_t)c.answer;
	c.vm.secrets = secrets_of(f, i, n->starts++);
	snprintf(n->slow_name, sizeof(n->slow_name), "%s" MF_CONFIG_SLOW_PATH, f->config->node[i].name);
	if (wall && may_crash(f, i)) {
		make_fail(
			err, errlen,
			"%s: \"node_crash\" and memory of the type \"virtual\" go together under the virtual "
			"clock alone so far",
			f->config->node[i].name);
		return NULL;
	}
	if (wall && !secret(&c.vm.secrets)) {
		make_fail(err, errlen, "%s: there are no random bits for its secrets: %s",
			  f->config->node[i].name, strerror(errno));
		return NULL;
	}
	memory = wall ? make_paths(n, &c.vm) : make_timed(f, i, &c);
	if (memory == NULL)
		make_fail(err, errlen, "%s: cannot have %llu octets of memory with address spaces: %s",
			  f->config->node[i].name, (unsigned long long)m->size, strerror(errno));
	return memory;
}

uint32_t make_answer_max(const struct mf_fabric *f)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *c = &f->config->node[i];

		if (c->up && mf_config_is_virtual(c) && c->vm.answer > most)
			most = c->vm.answer;
	}
	return most;
}

int virtual_memory_repeat(struct mf_fabric *f, bool replayed)
{
	int err = 0;

	for (unsigned int i = 0; i < f->nodes && err == 0; i++) {
		struct node *n = &f->node[i];
		const struct mf_vm_secrets s = secrets_of(f, i, 0);

		if (n->slow == NULL)
			continue;
		err = mf_vm_renew(n->fast, &s);
		if (err == 0)
			err = mf_slow_path_renew(n->slow, &s);
		if (replayed)
			mf_vm_zeroes(n->fast);
	}
	return err;
}
