/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual channel: its ring and its queue. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "dma.h"

#define QUEUE_MAX 4096 /* of the client */

void vchan_free(struct vchan *v)
{
	memfab_queue_free(v->queue);
	free(v->ring);
	free(v->pattern);
	memset(v, 0, sizeof(*v));
}

int vchan_setup(struct dma_device *d, uint16_t number, const struct rte_dma_vchan_conf *conf)
{
	struct vchan *v = &d->vchan[number];
	uint32_t ring = rte_align32pow2(conf->nb_desc);
	char err[MEMFAB_ERR_LEN];
	int rc;

	vchan_free(v);
	v->ring = calloc(ring, sizeof(*v->ring));
	v->pattern = calloc(ring, sizeof(*v->pattern));
	if (v->ring == NULL || v->pattern == NULL) {
		vchan_free(v);
		return -ENOMEM;
	}
	/* A copy from memory to memory has two steps at least. */
	rc = memfab_queue_new(d->fabric, d->node, RTE_MIN(2 * ring, (uint32_t)QUEUE_MAX), &v->queue, err,
			      sizeof(err));
	if (rc != 0) {
		DMA_LOG(ERR, d->name, "%s", err);
		vchan_free(v);
		return rc;
	}
	v->direction = conf->direction;
	v->target = d->target;
	v->window = d->window;
	v->space = d->space;
	v->stage = d->stages + (uint64_t)number * STAGE;
	v->mask = ring - 1;
	v->room = conf->nb_desc;
	return 0;
}

void vchan_drain(struct vchan *v)
{
	v->enqueued = v->submitted;
	while (!vchan_is_idle(v))
		vchan_advance(v);
}
