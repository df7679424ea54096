/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes ask of spaces, as a request of the wire says it (mf_space.h, docs/wire-format.md). */
#include "memory/vm.h"

static struct mf_vm_request request_of(const struct mf_access *a, uint64_t what, uint64_t how_much)
{
	uint8_t task = mf_space_ask_task(what);
	struct mf_vm_request r = {.at = a->at,
				  .what = mf_space_ask_is_good(what) ? task : MF_SPACE_ASKS,
				  .slot = mf_space_ask_slot(what),
				  .node = a->node,
				  .number = mf_space_ask_number(what),
				  .space = a->space,
				  .key = a->key,
				  .arg = {how_much, a->addr}};

	if (task == MF_SPACE_GRANT) {
		r.arg[0] = mf_space_grant_node(how_much);
		r.arg[1] = mf_space_grant_rights(how_much);
	}
	return r;
}

uint8_t vm_ask(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result)
{
	const uint64_t *arg = a->data;
	struct mf_vm_request r;

	*result = 0;
	if (op != MF_RMW_SPACE)
		return MF_ERR_OPCODE;
	r = request_of(a, arg[0], arg[1]);
	return mf_vm_ask(vm_of(m), &r, result);
}
