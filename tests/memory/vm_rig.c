/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_rng.h"
#include "vm_rig.h"

struct mf_vm_config vm_rig_config(uint64_t seed)
{
	struct mf_vm_config c = {
		.page_class = {[0] = {.shift = 12, .pages = 40}, [5] = {.shift = 13, .pages = 12}},
		.slots = 2,
		.bucket = 8,
		.tlb_sets = 2,
		.tlb_ways = 3,
		.ring = 6,
		.pins = 8,
		.tasks = 8,
		.node_tasks = 16,
		.spaces = 8,
		.ranges = 400,
		.retries_max = 20,
		.dram = MF_NS(100),
		.fault = MF_NS(12)};
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "vm secrets", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.secrets.mix[i] = mf_rng_next(&rng);
	c.secrets.tlb = mf_rng_next(&rng);
	c.secrets.key[0] = mf_rng_next(&rng);
	c.secrets.key[1] = mf_rng_next(&rng);
	return c;
}

bool vm_rig_make(struct vm_rig *r, const struct mf_vm_config *config)
{
	*r = (struct vm_rig){.config = *config};
	r->fast = mf_vm_new(config);
	r->slow = r->fast != NULL ? mf_vm_slow_new(config, mf_vm_octets(r->fast)) : NULL;
	if (r->slow == NULL) {
		mf_vm_free(r->fast);
		return false;
	}
	r->memory = mf_vm_memory(r->fast);
	return true;
}

void vm_rig_free(struct vm_rig *r)
{
	mf_vm_slow_free(r->slow);
	mf_vm_free(r->fast);
}

bool vm_rig_turn(struct vm_rig *r, unsigned int items, uint64_t steps, uint64_t octets)
{
	struct mf_vm_item item;
	bool any = false;

	for (unsigned int i = 0; i < items && mf_vm_queue_take(mf_vm_out(r->fast), &item); i++, any = true)
		mf_vm_slow_take(r->slow, &item);
	any |= mf_vm_slow_work(r->slow, steps, octets);
	for (unsigned int i = 0; i < items && mf_vm_queue_take(mf_vm_slow_out(r->slow), &item);
	     i++, any = true)
		mf_vm_take(r->fast, &item);
	return any;
}

void vm_rig_settle(struct vm_rig *r)
{
	while (vm_rig_turn(r, 1000, 1000, 1 << 20))
		;
}

uint8_t vm_rig_begin(struct vm_rig *r, const struct mf_vm_request *request, uint64_t *ticket)
{
	struct vm_rig_asked *of_node = r->asked[request->node % VM_RIG_NODES];
	uint32_t slot = 0;
	uint64_t result;
	uint8_t status;

	while (slot + 1 < r->config.node_tasks && of_node[slot].busy)
		slot++;
	*ticket = slot;
	of_node[slot].request = *request;
	of_node[slot].request.slot = (uint8_t)slot;
	of_node[slot].request.number = ++r->number;
	status = mf_vm_ask(r->fast, &of_node[slot].request, &result);
	of_node[slot].busy |= status == MF_ERR_PENDING;
	return status == MF_ERR_PENDING ? MF_OK : status;
}

bool vm_rig_answer(struct vm_rig *r, uint16_t node, uint64_t ticket, uint8_t *status, uint64_t *result)
{
	struct vm_rig_asked *e = &r->asked[node % VM_RIG_NODES][ticket];

	*status = mf_vm_ask(r->fast, &e->request, result);
	if (*status == MF_ERR_PENDING)
		return false;
	e->busy = false;
	return true;
}

uint8_t vm_rig_ask(struct vm_rig *r, const struct mf_vm_request *request, uint64_t *result)
{
	uint64_t ticket;
	uint8_t status = vm_rig_begin(r, request, &ticket);

	*result = 0;
	if (status != MF_OK)
		return status;
	vm_rig_settle(r);
	return vm_rig_answer(r, request->node, ticket, &status, result) ? status : MF_ERR_TIMEOUT;
}
