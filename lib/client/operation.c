/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program asks for, as operations of the host. One over several buffers is one of the host for each
 * of them: they have consecutive addresses, and a pair keeps their order, so this is as with a
 * transfer that is cut for its length (D7). Nothing is copied.
 */
#include <errno.h>

#include <rte_branch_prediction.h>

#include "client/client.h"
#include "memory/mf_call.h"

#define FLAGS (MEMFAB_FENCE | MEMFAB_LINK)

/** Each buffer is there, and all together are as long as it says. */
static bool buffers_good(const struct memfab_sqe *s)
{
	uint64_t sum = 0;

	if (s->buf == NULL)
		return false;
	if (s->iovs == 0)
		return true;
	if (s->op == MEMFAB_CALL) /* an answer has one buffer */
		return false;
	for (uint32_t i = 0; i < s->iovs; i++)
		if ((s->iov[i].iov_base == NULL && s->iov[i].iov_len > 0) ||
		    __builtin_add_overflow(sum, s->iov[i].iov_len, &sum))
			return false;
	return sum == s->len;
}

int operation_check(const struct mf_config *config, unsigned int node, const struct memfab_sqe *s)
{
	bool atomic = operation_is_atomic(s->op);
	uint64_t size, len = atomic ? 8 : s->len;

	if (unlikely(s->op >= (s->space == NULL ? MEMFAB_SPACE_MAKE : MEMFAB_OPS)))
		return -EOPNOTSUPP;
	if (unlikely((s->flags & ~FLAGS) != 0))
		return -EINVAL;
	if (s->op == MEMFAB_NOP)
		return 0;
	if (unlikely(!atomic && (s->len == 0 || !buffers_good(s))))
		return -EINVAL;
	if (s->space != NULL)
		return space_check(config, node, s);
	if (unlikely(s->node >= config->slots || s->node == node || !config->node[s->node].memory))
		return -EINVAL;
	if (unlikely(s->addr > MF_ADDR_MAX))
		return -EINVAL;
	/* The target would say so, but nobody answers a write that is not acknowledged. */
	size = config->node[s->node].memory_config.size;
	if (unlikely(len > size || s->addr > size - len))
		return -ERANGE;
	/* It sees a chunk at a time, and would have applied those before the border. */
	if (unlikely(config->regions > 0 && region_crossed(config, s->node, s->addr, len)))
		return -EACCES;
	return unlikely(atomic && s->op < MEMFAB_CLAIM && s->addr % 8 != 0) ? -EFAULT : 0;
}

static void atomic_piece(struct slot *s, struct mf_op *op)
{
	static const uint8_t rmw[] = {
		[MEMFAB_CAS] = MF_RMW_CAS,         [MEMFAB_FETCH_ADD] = MF_RMW_FADD,
		[MEMFAB_SWAP] = MF_RMW_SWAP,       [MEMFAB_FETCH_OR] = MF_RMW_FOR,
		[MEMFAB_FETCH_AND] = MF_RMW_FAND,  [MEMFAB_CLAIM] = MF_RMW_CLAIM,
		[MEMFAB_RELEASE] = MF_RMW_RELEASE, [MEMFAB_SHARE] = MF_RMW_SHARE,
	};

	op->kind = MF_OP_RMW;
	op->rmw = rmw[s->sqe.op];
	op->len = 8;
	op->arg[0] = s->sqe.arg[0];
	op->arg[1] = s->sqe.arg[1];
}

/** Its next buffer that is not empty: there is one, or nothing would be left to do. */
static void buffer_piece(struct slot *s, struct mf_op *op)
{
	static const uint8_t kind[] = {
		[MEMFAB_READ] = MF_OP_READ,
		[MEMFAB_WRITE] = MF_OP_WRITE,
		[MEMFAB_WRITE_ACK] = MF_OP_WRITE_ACK,
	};

	op->kind = kind[s->sqe.op];
	op->buf = s->sqe.buf;
	op->len = s->sqe.len;
	if (s->sqe.iovs == 0)
		return;
	while (s->sqe.iov[s->iov].iov_len == 0)
		s->iov++;
	op->buf = s->sqe.iov[s->iov].iov_base;
	op->len = s->sqe.iov[s->iov].iov_len;
}

static void call_piece(const struct slot *s, struct mf_op *op)
{
	uint64_t call = s->sqe.arg[0];

	op->kind = MF_OP_CALL;
	op->buf = s->sqe.buf;
	op->len = s->sqe.len;
	/* What is no call stays none. Slot and number are the layer's. */
	op->arg[0] = MF_CALL_ASK(call <= UINT8_MAX ? call : UINT8_MAX, 0, 0);
	op->arg[1] = s->sqe.arg[1];
}

void operation_piece(struct slot *s, const struct mf_config *config, struct mf_op *op)
{
	const struct memfab_sqe *e = &s->sqe;

	*op = (struct mf_op){.node = e->node,
			     .space = e->space != NULL ? e->space->number : 0,
			     .addr = e->addr + s->given,
			     .user = (uintptr_t)s};
	if (likely(e->op <= MEMFAB_WRITE_ACK)) {
		buffer_piece(s, op);
	} else if (space_is_task(e->op)) {
		op->addr = 0;
		space_piece(s, config, op);
	} else if (e->op == MEMFAB_CALL) {
		call_piece(s, op);
	} else {
		atomic_piece(s, op);
	}
}
