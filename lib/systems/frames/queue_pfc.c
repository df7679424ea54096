/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fifo with priority-based flow control (IEEE 802.1Qbb): nothing of the lossless classes is dropped. What is
 * in the buffer is counted by the port that it came in by and its class. Above XOFF that port is told to
 * pause the class, and to go on below XON.
 *
 *      buffer = headroom of every port and lossless class + a frame of every port for the other classes
 *               + what all share
 *      XOFF   = alpha x what is free of the shared part (as in DCQCN, SIGCOMM 2015), or fixed; 0 where
 *               nothing of it is free
 *      XON    = XOFF less `resume` octets, or nothing left
 *
 * Headroom is what may still come once a pause has been decided: see headroom_of(). A frame that finds the
 * shared part full stops its port and class, and they are not let go before all of theirs has left, or
 * some of it is free: so each of them is one frame above it at most, and that is in its headroom. What is
 * promised is that no frame of a lossless class is lost; check() refuses all with which it would not hold.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/mf_pause.h"
#include "systems/frames/mf_queues.h"
#include "systems/frames/queue_fifo.h"

enum { PFC_CLASSES = FIFO_PARAMS, PFC_ALPHA, PFC_XOFF, PFC_RESUME, PFC_HEADROOM, PFC_QUANTA, PFC_PARAMS };

/* clang-format off */
static const struct mf_param params[] = {
	{OQ_PARAM_BUFFER},
	{OQ_PARAM_MTU},
	{FIFO_PARAM_QUEUE},
	{"kmin", MF_PARAM_SIZE, 5000, 0, 1 << 30, "octets above which ECN marks, 0: never (DCQCN: 5 KB)"},
	{"kmax", MF_PARAM_SIZE, 200000, 0, 1 << 30, "from which all are marked (DCQCN: 200 KB)"},
	{FIFO_PARAM_PMAX},
	{"classes", MF_PARAM_COUNT, 0x08, 0, 0xff, "lossless classes, a bit each: that of RoCE is 3"},
	{"alpha", MF_PARAM_REAL, 8, 0.001, 1024, "XOFF: this x what is free of the buffer"},
	{"xoff", MF_PARAM_SIZE, 0, 0, 1 << 30, "fixed, octets of a port and class; 0: by alpha"},
	{"resume", MF_PARAM_SIZE, 3000, 0, 1 << 30, "octets below XOFF that make XON (two MTU)"},
	{"headroom", MF_PARAM_SIZE, 0, 0, 1 << 30, "octets of a port and class, 0: what its link needs"},
	{"quanta", MF_PARAM_COUNT, 65535, 16, 65535, "of 512 bit times that a pause lasts, if not renewed"},
	{0}};
/* clang-format on */
static_assert(sizeof(params) / sizeof(params[0]) == PFC_PARAMS + 1, "one for each place");

/* In octets. */
#define WIRE_MORE 20 /* of a frame: preamble and gap */
#define PAUSE_OCTETS (MF_PAUSE_LEN + OQ_FCS + WIRE_MORE)
#define QUANTUM_OCTETS (8 * MF_PAUSE_QUANTUM_BLOCKS)

#define OWN 1 /* rank of a frame: it is in what its port has for itself */

struct pfc_port {
	uint64_t octets[MF_CLASSES]; /**< in the buffer, that came in here */
	uint64_t beyond[MF_CLASSES]; /**< of those, in the headroom: the first that are gone again */
	uint64_t own; /**< octets of classes that may be lost, in what is its own of the buffer */
	mf_time renew; /**< when its pauses are told once more; MF_NEVER: it has none */
	uint8_t stopped; /**< classes that it was told to pause */
	uint8_t tell; /**< classes of which a frame is to tell it */
	struct mf_pause heard; /**< what the node told us */
};

struct pfc {
	struct fifo fifo;
	struct pfc_port *port;
	uint64_t shared; /**< octets of the buffer that are nobody's headroom */
	uint64_t used; /**< of the shared part */
	uint64_t own; /**< of the buffer, that each port has for classes that may be lost: a frame */
	uint64_t xoff, resume;
	double alpha;
	uint8_t lossless;
	uint16_t quanta;
	mf_time wake; /**< the first of all pauses that ends or is renewed */
	uint64_t pauses, resumes, drop_lossy, headroom_max;
	uint8_t frame[MF_PAUSE_LEN];
};

/** Octets that a link brings in this time. */
static uint64_t octets_in(mf_time time, uint32_t period)
{
	return period != 0 ? (8 * time + period - 1) / period : 0;
}

/** What a port has for itself, for the classes that may be lost: a frame. */
static uint64_t own_octets(const struct mf_bridge_config *c)
{
	return (uint64_t)c->param[OQ_MTU] + MF_PACKET_IP + OQ_FCS;
}

/** The longest frame on the wire, with preamble and gap. */
static uint64_t wire_octets(const struct mf_bridge_config *c)
{
	return (uint64_t)c->param[OQ_MTU] + MF_PACKET_IP + OQ_FCS + WIRE_MORE;
}

/**
 * What may come of a class when its XOFF has been passed: until the pause is heard two frames of ours are in
 * front of it (one that is being sent, one that is committed) and two of the node's behind it, all as long
 * as can be; beside that the pause itself and the delays of both directions. And the frame that passed it.
 */
static uint64_t headroom_of(const struct mf_bridge_config *c, unsigned int port)
{
	mf_time delay = 2 * (c->delay[port] + c->timing.cost[MF_STAGE_MAC]);

	return 5 * wire_octets(c) + PAUSE_OCTETS + octets_in(delay, c->period[port]);
}

/** What is set aside: the headrooms, and a frame of each port of the classes that may be lost. */
static uint64_t reserved(const struct mf_bridge_config *c)
{
	unsigned int classes = (unsigned int)__builtin_popcount((uint8_t)c->param[PFC_CLASSES]);
	uint64_t fixed = (uint64_t)c->param[PFC_HEADROOM], sum = 0;

	for (unsigned int p = 0; p < c->ports; p++)
		if (c->up[p])
			sum += own_octets(c) + (fixed != 0 ? fixed : headroom_of(c, p)) * classes;
	return sum;
}

static bool fault(struct mf_bridge_fault *f, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fault(struct mf_bridge_fault *f, const char *key, const char *format, ...)
{
	va_list args;

	f->key = key;
	va_start(args, format);
	vsnprintf(f->why, sizeof(f->why), format, args);
	va_end(args);
	return false;
}

/** A pause that is told again arrives before the end of the first, though two frames are in front of it. */
static uint64_t quanta_least(const struct mf_bridge_config *c)
{
	uint64_t late = 2 * wire_octets(c) + 2 * PAUSE_OCTETS;

	return (2 * late + QUANTUM_OCTETS - 1) / QUANTUM_OCTETS;
}

static bool pfc_check(const struct mf_bridge_config *c, struct mf_bridge_fault *f)
{
	uint8_t lossless = (uint8_t)c->param[PFC_CLASSES], deaf = lossless & (uint8_t)~c->obeyed;
	uint64_t most = 0, buffer = (uint64_t)c->param[OQ_BUFFER], fixed = (uint64_t)c->param[PFC_HEADROOM];

	for (unsigned int p = 0; p < c->ports; p++) {
		if (c->up[p] && c->period[p] == 0)
			return fault(f, "name", "headrooms follow from the times of the links");
		if (c->up[p] && headroom_of(c, p) > most)
			most = headroom_of(c, p);
	}
	if (deaf != 0)
		return fault(f, "classes",
			     "the nodes do not hold back class %d when they are told to pause it",
			     __builtin_ctz(deaf));
	if (fixed != 0 && fixed < most)
		return fault(f, "headroom", "%lu octets; a link needs %lu", fixed, most);
	if (reserved(c) > buffer)
		return fault(f, "buffer", "%lu octets; headrooms and a frame of each port take %lu", buffer,
			     reserved(c));
	if (lossless != 0 && (uint64_t)c->param[PFC_QUANTA] < quanta_least(c))
		return fault(f, "quanta", "%u; it takes %lu that a pause is told again in time",
			     (unsigned int)c->param[PFC_QUANTA], quanta_least(c));
	return true;
}

static void pfc_destroy(void *queue)
{
	struct pfc *q = queue;

	fifo_fini(&q->fifo);
	free(q->port);
	free(q);
}

static void *pfc_create(struct oq *oq)
{
	struct pfc *q = calloc(1, sizeof(*q));
	const struct mf_bridge_config *c = &oq->config;
	struct mf_bridge_fault f;

	if (!pfc_check(c, &f)) {
		free(q);
		errno = EINVAL;
		return NULL;
	}
	if (q == NULL)
		return NULL;
	q->lossless = (uint8_t)oq->param[PFC_CLASSES];
	q->alpha = oq->param[PFC_ALPHA];
	q->xoff = (uint64_t)oq->param[PFC_XOFF];
	q->resume = (uint64_t)oq->param[PFC_RESUME];
	q->quanta = (uint16_t)oq->param[PFC_QUANTA];
	q->wake = MF_NEVER;
	q->port = calloc(oq->config.ports, sizeof(*q->port));
	if (q->port == NULL || fifo_init(&q->fifo, oq) != 0) {
		pfc_destroy(q);
		errno = ENOMEM;
		return NULL;
	}
	q->fifo.lossless = q->lossless;
	q->own = own_octets(c);
	q->shared = oq->buffer - reserved(c);
	for (unsigned int p = 0; p < c->ports; p++)
		q->port[p] = (struct pfc_port){.renew = MF_NEVER, .heard = {.at = MF_NEVER}};
	return q;
}

/* The pauses that we tell */

static uint64_t xoff(const struct pfc *q)
{
	uint64_t rest = q->used < q->shared ? q->shared - q->used : 0;

	if (q->xoff != 0) /* where all of them together take more than there is the last octet stops them */
		return rest != 0 ? q->xoff : 0;
	return (uint64_t)(q->alpha * (double)rest);
}

/** run() is to be called at that time. */
static void wake(struct oq *oq, struct pfc *q, mf_time at)
{
	q->wake = mf_time_min(q->wake, at);
	oq->queue_next = mf_time_min(oq->queue_next, at);
}

/** A frame tells a port of these classes, as soon as it may. */
static void tell(struct oq *oq, struct pfc *q, unsigned int port, uint8_t classes, mf_time now)
{
	struct pfc_port *p = &q->port[port];

	p->tell |= classes | p->stopped; /* those that last, too: their next time is counted from now on */
	p->renew = MF_NEVER;
	if (p->stopped != 0) {
		/* Half the time that a pause lasts: the next is there long before its end. */
		p->renew = now + mf_pause_time(q->quanta, oq->config.period[port]) / 2;
		wake(oq, q, p->renew);
	}
	oq_wants(oq, port);
	oq->queue_next = mf_time_min(oq->queue_next, now);
}

/** Classes that may be lost do not go into the headroom of those that may not; but each port has a little. */
static bool pfc_admit(struct oq *oq, uint32_t i)
{
	const struct oq_frame *f = &oq->frame[i];
	struct pfc *q = oq->queue;
	uint32_t octets = oq_size(oq, i);

	if ((q->lossless >> f->class & 1) != 0)
		return true;
	if (q->port[f->ingress].own + octets <= q->own) {
		oq->frame[i].rank = OWN;
		return true;
	}
	if (q->used + octets <= q->shared)
		return true;
	q->drop_lossy++;
	return false;
}

static void pfc_arrived(struct oq *oq, uint32_t i, mf_time now)
{
	const struct oq_frame *f = &oq->frame[i];
	struct pfc *q = oq->queue;
	struct pfc_port *p = &q->port[f->ingress];
	uint8_t bit = (uint8_t)(1 << f->class);

	p->octets[f->class] += oq_size(oq, i);
	if (f->rank == OWN) {
		p->own += oq_size(oq, i);
		return;
	}
	if ((p->stopped & bit) != 0) {
		p->beyond[f->class] += oq_size(oq, i);
		if (p->beyond[f->class] > q->headroom_max)
			q->headroom_max = p->beyond[f->class];
		return;
	}
	q->used += oq_size(oq, i);
	if ((q->lossless & bit) == 0 || p->octets[f->class] <= xoff(q))
		return;
	p->stopped |= bit;
	q->pauses++;
	tell(oq, q, f->ingress, bit, now);
}

static void pfc_left(struct oq *oq, uint32_t i, mf_time now)
{
	const struct oq_frame *f = &oq->frame[i];
	struct pfc *q = oq->queue;
	struct pfc_port *p = &q->port[f->ingress];
	uint8_t bit = (uint8_t)(1 << f->class);
	uint64_t *octets = &p->octets[f->class], *beyond = &p->beyond[f->class], size = oq_size(oq, i);
	uint64_t back = *beyond < size ? *beyond : size;

	*octets -= size;
	if (f->rank == OWN) {
		p->own -= size;
		return;
	}
	*beyond -= back;
	q->used -= size - back;
	/* One of which nothing is left goes on in any case: nothing else would remind us of it. */
	if ((p->stopped & bit) == 0 || *beyond != 0 || (*octets != 0 && *octets + q->resume > xoff(q)))
		return;
	p->stopped &= (uint8_t)~bit;
	q->resumes++;
	tell(oq, q, f->ingress, bit, now);
}

static uint16_t pfc_urgent(struct oq *oq, unsigned int port, mf_time now, const uint8_t **frame)
{
	struct pfc *q = oq->queue;
	struct pfc_port *p = &q->port[port];
	uint16_t quanta[MF_CLASSES];
	uint8_t tell = p->tell;

	(void)now;
	if (tell == 0)
		return 0;
	for (unsigned int c = 0; c < MF_CLASSES; c++)
		quanta[c] = p->stopped >> c & 1 ? q->quanta : 0;
	p->tell = 0;
	*frame = q->frame;
	return mf_pause_put(q->frame, (uint16_t)port, tell, quanta);
}

/* The pauses that we are told */

/** Which classes a port may not send now. @return when that changes; MF_NEVER */
static mf_time obey(struct oq *oq, struct pfc *q, unsigned int port, mf_time now)
{
	const struct mf_pause *heard = &q->port[port].heard;
	struct fifo_port *p = &q->fifo.port[port];
	uint8_t was = p->paused;
	mf_time next = MF_NEVER;

	p->paused = 0;
	for (unsigned int c = 0; c < MF_CLASSES; c++)
		if (mf_pause_paused(heard, c, now)) {
			p->paused |= (uint8_t)(1 << c);
			next = mf_time_min(next, heard->until[c]);
		}
	if ((was & ~p->paused & p->waiting) != 0)
		oq_wants(oq, port);
	return next;
}

static void pfc_control(struct oq *oq, unsigned int port, mf_time now, const uint8_t *frame, uint16_t len)
{
	struct pfc *q = oq->queue;

	if (!mf_pause_take(&q->port[port].heard, now, oq->config.period[port], frame, len))
		oq->drop_control++;
	mf_pause_run(&q->port[port].heard, now);
	wake(oq, q, obey(oq, q, port, now));
}

/** Pauses that we were told are over, and those that we told are forgotten: they are told anew. */
static void pfc_link(struct oq *oq, unsigned int port, mf_time now, bool up)
{
	struct pfc *q = oq->queue;
	struct pfc_port *p = &q->port[port];

	if (up) {
		tell(oq, q, port, 0, now);
		return;
	}
	mf_pause_clear(&p->heard);
	obey(oq, q, port, now);
	p->tell = 0;
}

static mf_time pfc_run(struct oq *oq, mf_time now)
{
	struct pfc *q = oq->queue;

	if (now < q->wake)
		return q->wake;
	q->wake = MF_NEVER;
	for (unsigned int i = 0; i < oq->config.ports; i++) {
		struct pfc_port *p = &q->port[i];

		q->wake = mf_time_min(q->wake, obey(oq, q, i, now));
		if (p->renew <= now)
			tell(oq, q, i, p->stopped, now);
		q->wake = mf_time_min(q->wake, p->renew);
	}
	return q->wake;
}

static void pfc_put(struct oq *oq, uint32_t i, mf_time now)
{
	fifo_put(oq, &((struct pfc *)oq->queue)->fifo, i, now);
}

static uint32_t pfc_take(struct oq *oq, unsigned int port, mf_time now)
{
	(void)now;
	return fifo_take(oq, &((struct pfc *)oq->queue)->fifo, port);
}

static void pfc_depth(struct oq *oq, unsigned int port, bool anew, struct mf_queue_depth *out)
{
	fifo_depth(&((struct pfc *)oq->queue)->fifo, port, anew, out);
}

static unsigned int pfc_counters(const struct oq *oq, struct mf_counter *out)
{
	const struct pfc *q = oq->queue;
	unsigned int n = fifo_count(&q->fifo, out);
	uint64_t heard = 0, bad = 0;

	for (unsigned int p = 0; p < oq->config.ports; p++) {
		heard += q->port[p].heard.pauses + q->port[p].heard.resumes;
		bad += q->port[p].heard.bad;
	}
	out[n++] = mf_counter_sum("pauses", q->pauses);
	out[n++] = mf_counter_sum("resumes", q->resumes);
	out[n++] = mf_counter_sum("pauses_received", heard);
	out[n++] = mf_counter_sum("pauses_bad", bad);
	out[n++] = mf_counter_sum("drop_lossy", q->drop_lossy);
	out[n++] = mf_counter_max("headroom_max_octets", q->headroom_max);
	return n;
}

static const struct oq_queue_ops queue = {.create = pfc_create,
					  .destroy = pfc_destroy,
					  .admit = pfc_admit,
					  .arrived = pfc_arrived,
					  .control = pfc_control,
					  .link = pfc_link,
					  .put = pfc_put,
					  .take = pfc_take,
					  .depth = pfc_depth,
					  .left = pfc_left,
					  .run = pfc_run,
					  .urgent = pfc_urgent,
					  .counters = pfc_counters};

static struct mf_bridge *create(const struct mf_bridge_config *config)
{
	return oq_new(config, &queue, PFC_PARAMS);
}

const struct mf_bridge_ops bridge_pfc = {.name = "pfc",
					 .params = params,
					 .timed = true,
					 .lossless = true,
					 .check = pfc_check,
					 .create = create,
					 OQ_OPS};
