/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of fifo, for disciplines that add to them (PFC). */
#ifndef QUEUE_FIFO_H
#define QUEUE_FIFO_H

#include "base/mf_rng.h"
#include "systems/frames/mf_output_queue.h"

enum { FIFO_QUEUE = OQ_PARAMS, FIFO_KMIN, FIFO_KMAX, FIFO_PMAX, FIFO_PARAMS };
#define FIFO_PARAM_QUEUE "queue", MF_PARAM_SIZE, 0, 0, 1 << 30, "octets of a port and class, 0: the buffer"
#define FIFO_PARAM_KMIN "kmin", MF_PARAM_SIZE, 0, 0, 1 << 30, "octets above which ECN marks, 0: never"
#define FIFO_PARAM_KMAX "kmax", MF_PARAM_SIZE, 0, 0, 1 << 30, "from which all are marked; kmin: a step"
#define FIFO_PARAM_PMAX "pmax", MF_PARAM_REAL, 0.01, 0, 1, "share that is marked just below kmax"

extern const struct mf_param fifo_params[];

struct fifo_port {
	struct oq_list class[MF_CLASSES];
	uint8_t waiting; /**< classes that have frames */
	uint8_t paused; /**< classes that may not send */
	uint64_t octets_max; /**< of a class, since fifo_depth() began anew */
};

struct fifo {
	struct fifo_port *port;
	unsigned int ports;
	uint64_t queue_max, kmin, kmax;
	uint8_t lossless; /**< classes to which queue_max does not apply, a bit each */
	double pmax;
	struct mf_rng rng;
	uint64_t octets_max; /**< of a class, before fifo_depth() began anew */
	uint64_t marked, drop_tail;
};

int fifo_init(struct fifo *q, const struct oq *oq);
void fifo_fini(struct fifo *q);
void fifo_put(struct oq *oq, struct fifo *q, uint32_t i, mf_time now);
uint32_t fifo_take(struct oq *oq, struct fifo *q, unsigned int port);
/** See oq_queue_ops.depth. */
void fifo_depth(struct fifo *q, unsigned int port, bool anew, struct mf_queue_depth *out);
unsigned int fifo_count(const struct fifo *q, struct mf_counter *out);

#endif
