/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of the data path. */
#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "dma.h"

static bool in_window(const struct vchan *v, uint64_t address, uint32_t length)
{
	if (v->space != NULL)
		return dma_space_has(address, length);
	return length <= v->window && address <= v->window - length;
}

/** What can be said of a descriptor before anything is sent. */
static uint16_t check(const struct vchan *v, const struct descriptor *d)
{
	bool from_device = v->direction == RTE_DMA_DIR_DEV_TO_MEM;
	bool to_device = v->direction == RTE_DMA_DIR_MEM_TO_DEV;

	if (unlikely(d->length == 0))
		return RTE_DMA_STATUS_INVALID_LENGTH;
	if (unlikely(d->kind == DMA_FILL && from_device))
		return RTE_DMA_STATUS_INVALID_OPCODE;
	if (d->kind == DMA_COPY && unlikely(from_device ? !in_window(v, d->src, d->length) : d->src == 0))
		return RTE_DMA_STATUS_INVALID_SRC_ADDR;
	if (unlikely(to_device ? !in_window(v, d->dst, d->length) : d->dst == 0))
		return RTE_DMA_STATUS_INVALID_DST_ADDR;
	return RTE_DMA_STATUS_SUCCESSFUL;
}

static int submit(void *dev_private, uint16_t number)
{
	struct vchan *v = &((struct dma_device *)dev_private)->vchan[number];

	v->stats.submitted += v->enqueued - v->submitted;
	v->submitted = v->enqueued;
	vchan_issue(v);
	return 0;
}

static int enqueue(struct dma_device *dev, uint16_t number, const struct descriptor *what, uint64_t flags)
{
	struct vchan *v = &dev->vchan[number];
	uint32_t at = v->enqueued;
	struct descriptor *d = &v->ring[at & v->mask];

	if (unlikely(at - v->reported >= v->room))
		return -ENOSPC;
	*d = *what;
	d->fence = flags & RTE_DMA_OP_FLAG_FENCE;
	d->status = check(v, d);
	if (d->kind == DMA_FILL)
		for (unsigned int i = 0; i < PATTERN; i += sizeof(d->src))
			memcpy(v->pattern[at & v->mask] + i, &d->src, sizeof(d->src));
	v->enqueued++;
	if (flags & RTE_DMA_OP_FLAG_SUBMIT)
		submit(dev, number);
	return (uint16_t)at;
}

static int copy(void *dev_private, uint16_t vchan, rte_iova_t src, rte_iova_t dst, uint32_t length,
		uint64_t flags)
{
	const struct descriptor d = {.kind = DMA_COPY, .src = src, .dst = dst, .length = length};

	return enqueue(dev_private, vchan, &d, flags);
}

static int fill(void *dev_private, uint16_t vchan, uint64_t pattern, rte_iova_t dst, uint32_t length,
		uint64_t flags)
{
	const struct descriptor d = {.kind = DMA_FILL, .src = pattern, .dst = dst, .length = length};

	return enqueue(dev_private, vchan, &d, flags);
}

/** The next one to be reported; NULL: it is not done. Completions come in any order, reports in theirs. */
static const struct descriptor *next_done(const struct vchan *v)
{
	const struct descriptor *d = &v->ring[v->reported & v->mask];

	return v->reported != v->issued && d->live == 0 ? d : NULL;
}

static uint16_t completed(void *dev_private, uint16_t number, const uint16_t max, uint16_t *last_idx,
			  bool *has_error)
{
	struct vchan *v = &((struct dma_device *)dev_private)->vchan[number];
	const struct descriptor *d;
	uint16_t n = 0;

	vchan_advance(v);
	*has_error = false;
	for (; n < max && !*has_error && (d = next_done(v)) != NULL; n += !*has_error) {
		*has_error = d->status != RTE_DMA_STATUS_SUCCESSFUL;
		v->reported += !*has_error;
	}
	v->stats.completed += n;
	*last_idx = (uint16_t)(v->reported - 1);
	return n;
}

static uint16_t completed_status(void *dev_private, uint16_t number, const uint16_t max, uint16_t *last_idx,
				 enum rte_dma_status_code *status)
{
	struct vchan *v = &((struct dma_device *)dev_private)->vchan[number];
	const struct descriptor *d;
	uint16_t n = 0;

	vchan_advance(v);
	for (; n < max && (d = next_done(v)) != NULL; v->reported++) {
		status[n++] = (enum rte_dma_status_code)d->status;
		v->stats.errors += d->status != RTE_DMA_STATUS_SUCCESSFUL;
	}
	v->stats.completed += n;
	*last_idx = (uint16_t)(v->reported - 1);
	return n;
}

static uint16_t burst_capacity(const void *dev_private, uint16_t number)
{
	const struct vchan *v = &((const struct dma_device *)dev_private)->vchan[number];

	/* Who only asks whether there is room has to find some at last. */
	vchan_advance((struct vchan *)(uintptr_t)v);
	return (uint16_t)(v->room - (v->enqueued - v->reported));
}

void burst_functions(struct rte_dma_fp_object *fp)
{
	fp->copy = copy;
	fp->fill = fill;
	fp->submit = submit;
	fp->completed = completed;
	fp->completed_status = completed_status;
	fp->burst_capacity = burst_capacity;
}
