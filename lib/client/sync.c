/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation, and wait for it. */
#include <errno.h>

#include "client/client.h"

/** @return a slot; NULL: something is prepared or under way */
static struct memfab_sqe *only_one(struct memfab_queue *q)
{
	return q->idles > q->mask ? memfab_get_sqe(q) : NULL;
}

/** Why there was no slot. */
static int why_none(void)
{
	return mf_session_forked() ? -EPERM : -EBUSY;
}

static int wait_for(struct memfab_queue *q, uint64_t *old)
{
	const struct memfab_cqe *c;
	int rc;

	memfab_submit(q);
	memfab_wait_cqe(q, 1, -1);
	c = memfab_peek_cqe(q);
	rc = c->res < 0 ? (int)c->res : 0;
	if (old != NULL)
		*old = c->old;
	memfab_cq_advance(q, 1);
	return rc;
}

int sync_one(struct memfab_queue *q, const struct memfab_sqe *what, uint64_t *old)
{
	struct memfab_sqe *s = only_one(q);

	if (s == NULL)
		return why_none();
	*s = *what;
	return wait_for(q, old);
}

static int transfer(struct memfab_queue *q, enum memfab_op op, int node, uint64_t addr, void *buf,
		    uint64_t len)
{
	struct memfab_sqe *s = only_one(q);

	if (s == NULL)
		return why_none();
	memfab_prep(s, op, node, addr, buf, len);
	return wait_for(q, NULL);
}

int memfab_read(struct memfab_queue *q, int node, uint64_t addr, void *buf, uint64_t len)
{
	return transfer(q, MEMFAB_READ, node, addr, buf, len);
}

int memfab_write(struct memfab_queue *q, int node, uint64_t addr, const void *buf, uint64_t len)
{
	return transfer(q, MEMFAB_WRITE, node, addr, (void *)(uintptr_t)buf, len);
}

int memfab_write_ack(struct memfab_queue *q, int node, uint64_t addr, const void *buf, uint64_t len)
{
	return transfer(q, MEMFAB_WRITE_ACK, node, addr, (void *)(uintptr_t)buf, len);
}

int memfab_cas(struct memfab_queue *q, int node, uint64_t addr, uint64_t expected, uint64_t desired,
	       uint64_t *old)
{
	struct memfab_sqe *s = only_one(q);

	if (s == NULL)
		return why_none();
	memfab_prep_cas(s, node, addr, expected, desired);
	return wait_for(q, old);
}

int memfab_atomic(struct memfab_queue *q, enum memfab_op op, int node, uint64_t addr, uint64_t operand,
		  uint64_t *old)
{
	struct memfab_sqe *s;

	if (op < MEMFAB_FETCH_ADD)
		return -EOPNOTSUPP;
	s = only_one(q);
	if (s == NULL)
		return why_none();
	memfab_prep_atomic(s, op, node, addr, operand);
	return wait_for(q, old);
}
