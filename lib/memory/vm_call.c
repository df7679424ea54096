/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a virtual memory (mf_call.h). Each is a function over the accesses that its caller may do. */
#include "memory/vm.h"

/** The arguments of a call, as its caller may access them. */
static struct mf_access arguments_of(const struct mf_access *call, const struct mf_call_desc *desc)
{
	const uint64_t *arg = call->data;
	struct mf_access a = *call;

	a.data = NULL;
	a.len = (uint32_t)arg[1];
	a.right = desc->right;
	return a;
}

/** Whether bytes are in one access (mf_vm.h). Where there are no pages the access says so. */
static bool is_one_access(const struct mf_vm *v, const struct mf_access *a)
{
	uint8_t shift = v->layout.of[mf_remote_class(a->addr)].shift;

	return shift == 0 || ((a->addr + a->len - 1) >> shift) - (a->addr >> shift) < 2;
}

/* ---- the calls: @return MF_OK, MF_ERR_PENDING or MF_ERR_BUSY, or why it is refused ---- */

static uint8_t echo(struct mf_vm *v, const struct mf_access *call, const struct mf_access *arguments,
		    uint64_t *result, struct mf_answer *out)
{
	if (arguments->len > call->len || !is_one_access(v, arguments))
		return MF_ERR_RANGE;
	*result = arguments->len;
	return mf_memory_virtual.access(mf_vm_memory(v), arguments, out);
}

/** The slow path fences the space: what is there then is answered. */
static uint8_t echo_fenced(struct mf_vm *v, const struct mf_access *call, const struct mf_access *arguments,
			   uint64_t *result, struct mf_answer *out)
{
	const uint64_t ticket = *(const uint64_t *)call->data;
	const struct mf_vm_request fence = {.at = call->at,
					    .what = MF_SPACE_FENCE,
					    .slot = mf_space_ask_slot(ticket),
					    .node = call->node,
					    .number = mf_space_ask_number(ticket),
					    .space = call->space,
					    .key = call->key};
	uint8_t status = arguments->len <= call->len && is_one_access(v, arguments) ? MF_OK : MF_ERR_RANGE;

	if (status == MF_OK && !call->dry)
		status = mf_vm_ask(v, &fence, result);
	if (status == MF_OK)
		return echo(v, call, arguments, result, out);
	*result = status == MF_ERR_PENDING ? ticket : 0;
	return status;
}

typedef uint8_t (*call_fn)(struct mf_vm *v, const struct mf_access *call, const struct mf_access *arguments,
			   uint64_t *result, struct mf_answer *out);

static const call_fn calls[MF_CALLS] = {[MF_CALL_ECHO] = echo, [MF_CALL_ECHO_FENCED] = echo_fenced};

/** What depends on the request alone: it is refused before anything of the space is looked at. */
static uint8_t judge(const struct mf_vm *v, const struct mf_access *a, const struct mf_call_desc *desc)
{
	const uint64_t *arg = a->data;

	if (desc == NULL || v->config.answer == 0)
		return MF_ERR_OPCODE;
	if (a->len == 0 || a->len > v->config.answer || arg[1] == 0 || arg[1] > MF_MESSAGE_MAX)
		return MF_ERR_RANGE;
	return a->addr <= MF_ADDR_MAX && arg[1] - 1 <= MF_ADDR_MAX - a->addr ? MF_OK : MF_ERR_RANGE;
}

uint8_t vm_call(struct mf_memory *m, const struct mf_access *a, uint64_t *result, struct mf_answer *out)
{
	const uint64_t ask = *(const uint64_t *)a->data;
	const struct mf_call_desc *desc = mf_call_find(ask);
	unsigned int call = mf_space_ask_task(ask);
	struct mf_vm *v = vm_of(m);
	struct mf_access arguments;
	uint8_t status = judge(v, a, desc);

	*result = 0;
	*out = (struct mf_answer){.time = 0};
	if (status == MF_OK) {
		arguments = arguments_of(a, desc);
		status = calls[call](v, a, &arguments, result, out);
	}
	if (status != MF_OK && status != MF_ERR_PENDING)
		*result = 0;
	return status;
}
