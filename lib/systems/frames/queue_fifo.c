/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue for each port and class, the highest class first, tail drop; ECN in two shapes: a step, as DCTCP
 * wants it (SIGCOMM 2010: a packet that finds more than K in the queue is marked), or RED's ramp, as
 * DCQCN does (SIGCOMM 2015: none below Kmin, up to Pmax at Kmax, all above). Kmin = Kmax is the step.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "base/mf_rng.h"
#include "systems/frames/mf_queues.h"
#include "systems/frames/queue_fifo.h"

const struct mf_param fifo_params[] = {{OQ_PARAM_BUFFER},
				       {OQ_PARAM_MTU},
				       {FIFO_PARAM_QUEUE},
				       {FIFO_PARAM_KMIN},
				       {FIFO_PARAM_KMAX},
				       {FIFO_PARAM_PMAX},
				       {0}};

int fifo_init(struct fifo *q, const struct oq *oq)
{
	const double *param = oq->param;

	q->port = calloc(oq->config.ports, sizeof(*q->port));
	q->ports = oq->config.ports;
	q->queue_max = (uint64_t)param[FIFO_QUEUE];
	q->kmin = (uint64_t)param[FIFO_KMIN];
	q->kmax = (uint64_t)param[FIFO_KMAX];
	q->pmax = param[FIFO_PMAX];
	mf_rng_init(&q->rng, oq->config.seed, "red", 0);
	return q->port != NULL ? 0 : -ENOMEM;
}

void fifo_fini(struct fifo *q)
{
	free(q->port);
}

/** Whether a packet that finds so many octets in its queue is marked. */
static bool marks(struct fifo *q, uint64_t octets)
{
	if (q->kmin == 0 || octets <= q->kmin)
		return false;
	if (octets >= q->kmax)
		return true;
	return mf_rng_double(&q->rng) < q->pmax * (double)(octets - q->kmin) / (double)(q->kmax - q->kmin);
}

void fifo_put(struct oq *oq, struct fifo *q, uint32_t i, mf_time now)
{
	const struct oq_frame *f = &oq->frame[i];
	struct fifo_port *p = &q->port[f->egress];
	struct oq_list *l = &p->class[f->class];

	if (q->queue_max != 0 && (q->lossless >> f->class & 1) == 0 &&
	    l->octets + oq_size(oq, i) > q->queue_max) {
		q->drop_tail++;
		oq_drop(oq, i, now);
		return;
	}
	if (marks(q, l->octets) && mf_packet_mark(oq_octets(oq, i), f->len))
		q->marked++;
	oq_append(oq, l, i);
	if (l->octets > p->octets_max)
		p->octets_max = l->octets;
	p->waiting |= (uint8_t)(1 << f->class);
	oq_wants(oq, f->egress);
}

uint32_t fifo_take(struct oq *oq, struct fifo *q, unsigned int port)
{
	struct fifo_port *p = &q->port[port];
	unsigned int may = p->waiting & ~p->paused, class;
	uint32_t i;

	if (may == 0)
		return OQ_NIL;
	class = 31 - (unsigned int)__builtin_clz(may);
	i = oq_first(oq, &p->class[class]);
	if (p->class[class].frames == 0)
		p->waiting &= (uint8_t) ~(1 << class);
	return i;
}

void fifo_depth(struct fifo *q, unsigned int port, bool anew, struct mf_queue_depth *out)
{
	struct fifo_port *p = &q->port[port];
	uint64_t longest = 0;

	*out = (struct mf_queue_depth){.max = p->octets_max};
	for (unsigned int c = 0; c < MF_CLASSES; c++) {
		out->octets += p->class[c].octets;
		longest = RTE_MAX(longest, p->class[c].octets);
	}
	if (!anew)
		return;
	q->octets_max = RTE_MAX(q->octets_max, p->octets_max);
	p->octets_max = longest;
}

unsigned int fifo_count(const struct fifo *q, struct mf_counter *out)
{
	uint64_t longest = q->octets_max;
	unsigned int n = 0;

	for (unsigned int p = 0; p < q->ports; p++)
		longest = RTE_MAX(longest, q->port[p].octets_max);
	out[n++] = mf_counter_sum("marked", q->marked);
	out[n++] = mf_counter_max("queue_max_octets", longest);
	out[n++] = mf_counter_sum("drop_tail", q->drop_tail);
	return n;
}

/* By themselves, without pauses */

static void *queue_create(struct oq *oq)
{
	struct fifo *q = calloc(1, sizeof(*q));

	if (q == NULL || fifo_init(q, oq) != 0) {
		free(q);
		return NULL;
	}
	return q;
}

static void queue_destroy(void *queue)
{
	fifo_fini(queue);
	free(queue);
}

static void queue_put(struct oq *oq, uint32_t i, mf_time now)
{
	fifo_put(oq, oq->queue, i, now);
}

static uint32_t queue_take(struct oq *oq, unsigned int port, mf_time now)
{
	(void)now;
	return fifo_take(oq, oq->queue, port);
}

static void queue_depth(struct oq *oq, unsigned int port, bool anew, struct mf_queue_depth *out)
{
	fifo_depth(oq->queue, port, anew, out);
}

static unsigned int queue_counters(const struct oq *oq, struct mf_counter *out)
{
	return fifo_count(oq->queue, out);
}

static const struct oq_queue_ops queue = {.create = queue_create,
					  .destroy = queue_destroy,
					  .put = queue_put,
					  .take = queue_take,
					  .depth = queue_depth,
					  .counters = queue_counters};

static struct mf_bridge *create(const struct mf_bridge_config *config)
{
	return oq_new(config, &queue, FIFO_PARAMS);
}

const struct mf_bridge_ops bridge_fifo = {.name = "fifo", .params = fifo_params, .create = create, OQ_OPS};
