/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the same for every kind of memory: atomics on a word, and the accesses of the node's operator. */
#include "memory/mf_memory.h"

uint64_t mf_memory_modified(uint8_t op, uint64_t old, const uint64_t arg[2])
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

uint8_t mf_memory_read(const struct mf_memory_ops *ops, struct mf_memory *m, uint64_t addr, uint32_t len,
		       void *out)
{
	const struct mf_access a = {.addr = addr, .len = len, .right = MF_RIGHT_READ};
	struct mf_answer answer;
	uint8_t status = ops->access(m, &a, &answer);

	if (status == MF_OK)
		mf_places_copy(&answer.places, 0, len, out);
	return status;
}

uint8_t mf_memory_write(const struct mf_memory_ops *ops, struct mf_memory *m, uint64_t addr, uint32_t len,
			const void *in)
{
	const struct mf_access a = {.addr = addr, .data = in, .len = len, .right = MF_RIGHT_WRITE};
	struct mf_answer answer;

	return ops->access(m, &a, &answer);
}

uint8_t mf_memory_rmw(const struct mf_memory_ops *ops, struct mf_memory *m, uint8_t op, uint64_t addr,
		      const uint64_t arg[2], uint64_t *old)
{
	const struct mf_access a = {
		.addr = addr, .data = arg, .len = sizeof(*arg), .right = MF_RIGHT_RMW, .op = op};
	struct mf_answer answer;
	uint8_t status = ops->access(m, &a, &answer);

	if (status == MF_OK)
		*old = answer.old;
	return status;
}
