/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors as steps of the client, and what has become of them. */
#include <errno.h>
#include <sched.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "dma.h"

#define BURST 32
#define PATIENCE 100 /* looks in vain, after each of which whoever turns the fabric may want the CPU */

static uint16_t status_of(const struct vchan *v, int64_t error)
{
	switch (-error) {
	case EINVAL:
	case ERANGE:
		return v->direction == RTE_DMA_DIR_DEV_TO_MEM ? RTE_DMA_STATUS_INVALID_SRC_ADDR
							      : RTE_DMA_STATUS_INVALID_DST_ADDR;
	case EACCES:
		return RTE_DMA_STATUS_INVALID_ADDR;
	case ETIMEDOUT:
		return RTE_DMA_STATUS_BUS_READ_ERROR;
	case EINPROGRESS:
		return RTE_DMA_STATUS_BUS_WRITE_ERROR;
	case ENOBUFS:
		return RTE_DMA_STATUS_BUS_ERROR;
	case ECANCELED:
		return RTE_DMA_STATUS_NOT_ATTEMPTED;
	case EHOSTDOWN:
		return RTE_DMA_STATUS_DEV_LINK_ERROR;
	default:
		return RTE_DMA_STATUS_ERROR_UNKNOWN;
	}
}

static void *local(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/** A step at an address of the device. */
static void prep(const struct vchan *v, struct memfab_sqe *s, enum memfab_op op, uint64_t at, void *buf,
		 uint32_t n)
{
	if (v->space != NULL)
		memfab_prep_space(s, op, v->space, at, buf, n);
	else
		memfab_prep(s, op, v->target, at, buf, n);
}

/** To the device: acknowledged, since what is completed is there for all to see. */
static uint32_t step_transfer(const struct vchan *v, const struct descriptor *d, struct memfab_sqe *s)
{
	if (v->direction == RTE_DMA_DIR_DEV_TO_MEM)
		prep(v, s, MEMFAB_READ, d->src, local(d->dst), d->length);
	else
		prep(v, s, MEMFAB_WRITE_ACK, d->dst, local(d->src), d->length);
	return d->length;
}

/**
 * Through the stage and back, as much at a time as it holds. What a queue asks of the same octets is done in
 * its order: so the read finds what was written, and the next write comes behind the read.
 */
static uint32_t step_stage(const struct vchan *v, struct descriptor *d, struct memfab_sqe *s)
{
	uint32_t n = RTE_MIN(d->length - d->issued, (uint32_t)STAGE);

	d->staged = !d->staged;
	if (d->staged) {
		prep(v, s, MEMFAB_WRITE, v->stage, local(d->src + d->issued), n);
		return 0;
	}
	prep(v, s, MEMFAB_READ, v->stage, local(d->dst + d->issued), n);
	return n;
}

/** As a copy, from the block with the pattern: a step is never longer than that. */
static uint32_t step_fill(const struct vchan *v, struct descriptor *d, struct memfab_sqe *s)
{
	uint8_t *pattern = v->pattern[d - v->ring];
	uint32_t n = RTE_MIN(d->length - d->issued, (uint32_t)PATTERN);

	if (v->direction == RTE_DMA_DIR_MEM_TO_DEV) {
		prep(v, s, MEMFAB_WRITE_ACK, d->dst + d->issued, pattern, n);
		return n;
	}
	d->staged = !d->staged;
	if (d->staged) {
		prep(v, s, MEMFAB_WRITE, v->stage, pattern, n);
		return 0;
	}
	prep(v, s, MEMFAB_READ, v->stage, local(d->dst + d->issued), n);
	return n;
}

/** @return false: there is no slot for all its steps yet */
static bool issue(struct vchan *v, struct descriptor *d)
{
	while (d->issued < d->length && d->status == RTE_DMA_STATUS_SUCCESSFUL) {
		bool first = d->issued == 0 && !d->staged;
		struct memfab_sqe *s = memfab_get_sqe(v->queue);

		if (s == NULL)
			return false;
		if (d->kind == DMA_FILL)
			d->issued += step_fill(v, d, s);
		else if (v->direction == RTE_DMA_DIR_MEM_TO_MEM)
			d->issued += step_stage(v, d, s);
		else
			d->issued += step_transfer(v, d, s);
		s->flags = d->fence && first ? MEMFAB_FENCE : 0;
		s->user_data = (uintptr_t)d;
		d->live++;
	}
	return true;
}

void vchan_issue(struct vchan *v)
{
	for (; v->issued != v->submitted; v->issued++)
		if (!issue(v, &v->ring[v->issued & v->mask]))
			break;
	memfab_submit(v->queue);
}

static void complete(struct vchan *v, const struct memfab_cqe *c)
{
	struct descriptor *d = (struct descriptor *)(uintptr_t)c->user_data;

	d->live--;
	if (unlikely(c->res < 0) && d->status == RTE_DMA_STATUS_SUCCESSFUL)
		d->status = status_of(v, c->res);
}

void vchan_advance(struct vchan *v)
{
	const struct memfab_cqe *c[BURST];
	unsigned int n;

	if (memfab_outstanding(v->queue) == 0)
		return;
	if (++v->empty % PATIENCE == 0)
		sched_yield();
	do {
		n = memfab_peek_batch_cqe(v->queue, c, BURST);
		for (unsigned int i = 0; i < n; i++)
			complete(v, c[i]);
		v->empty = n > 0 ? 0 : v->empty;
		memfab_cq_advance(v->queue, n);
	} while (n == BURST);
	vchan_issue(v);
}

bool vchan_is_idle(const struct vchan *v)
{
	return v->issued == v->submitted && memfab_outstanding(v->queue) == 0;
}
