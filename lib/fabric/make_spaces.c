/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of address spaces at a compute node (spaces/mf_spaces.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/mf_config_query.h"
#include "fabric/mf_make.h"
#include "spaces/mf_spaces.h"

#define DEPTH_LEAST 1024 /* of programs that use the node */

uint8_t page_class_of(const struct mf_vm_config *vm, uint64_t page)
{
	uint8_t k = 0;

	while (page != 0 && k + 1 < MF_PAGE_CLASSES && UINT64_C(1) << vm->page_class[k].shift != page)
		k++;
	return k;
}

static bool is_target(const struct mf_config_workload *w, unsigned int node)
{
	return w == NULL || mf_config_has(&w->targets, node);
}

/** Memory nodes of the client's workload, or all of them. @param out  room for all nodes */
static unsigned int find_targets(const struct mf_fabric *f, unsigned int i,
				 const struct mf_config_workload *w, struct mf_spaces_target *out)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < f->nodes; k++) {
		const struct mf_config_node *c = &f->config->node[k];
		uint8_t page_class;

		if (k == i || !c->up || !mf_config_is_virtual(c) || !is_target(w, k))
			continue;
		page_class = page_class_of(&c->vm.vm, w != NULL ? w->spaces.page : 0);
		out[n++] = (struct mf_spaces_target){
			.node = (uint16_t)k,
			.maker = f->tier->number[i],
			.page_class = page_class,
			.shift = c->vm.vm.page_class[page_class].shift,
			.lease = c->vm.lease[f->clock],
			.tasks = (uint8_t)(c->vm.vm.node_tasks > UINT8_MAX ? UINT8_MAX : c->vm.vm.node_tasks),
			.answer = c->vm.answer};
		for (unsigned int j = 0; j < MF_PAGE_CLASSES; j++)
			out[n - 1].class_shift[j] = c->vm.vm.page_class[j].shift;
	}
	return n;
}

static const struct mf_config_workload *workload_of(const struct mf_fabric *f, unsigned int i)
{
	int w = f->config->node[i].workload;

	return f->loads && w >= 0 && f->config->workload[w].spaces.spaces > 0 ? &f->config->workload[w]
									      : NULL;
}

int make_spaces(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_workload *w = workload_of(f, i);
	const struct mf_config_node *c = &f->config->node[i];
	struct mf_spaces_target *target;
	struct mf_spaces_config s = {.depth = DEPTH_LEAST,
				     .whole = f->tier->config->sched.chunk[f->clock],
				     .ask_most = MF_US(10),
				     .client = f->clock == MF_CLOCK_VIRTUAL ? f->tier->config->client : 0,
				     .give_up = MF_MS(100)};
	struct mf_layer_config l = {.node = (uint16_t)i,
				    .nodes = (uint16_t)f->nodes,
				    .wall = f->clock == MF_CLOCK_WALL,
				    .param = &s};

	if (!c->compute)
		return 0;
	target = calloc(f->nodes, sizeof(*target));
	if (target == NULL)
		return make_fail(err, errlen, "%s: %s", c->name, strerror(ENOMEM));
	s.target = target;
	s.targets = find_targets(f, i, w, target);
	if (w != NULL) {
		s.depth = w->depth > DEPTH_LEAST ? w->depth : DEPTH_LEAST;
		s.spaces = w->spaces.churn > 0 ? 0 : w->spaces.spaces; /* its operations name spaces */
		s.pages = w->spaces.pages;
		s.base = w->base + c->client * w->span;
		s.interleave = w->spaces.interleave;
		s.populate = w->spaces.populate;
		s.range = w->spaces.range;
	}
	if (s.targets > 0)
		f->node[i].layer = mf_layer_new(&mf_spaces_layer, f->node[i].host, &l);
	free(target);
	if (s.targets == 0 || f->node[i].layer != NULL)
		return 0;
	return make_fail(err, errlen, "%s: cannot set up its address spaces: %s", c->name, strerror(errno));
}
