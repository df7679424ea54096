/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An output-queued switch of frames: store and forward, the layer-2 pipeline, then the queue of the egress.
 *
 *      frame() --> buffer --> pipeline (l2_latency, MAC in and out) --> queue ops: put --> pull(): take
 *
 * The buffer is shared by all ports and counts octets with FCS; a frame is in it from its arrival until its
 * port takes it. At one instant first the ports that send without a gap take their next frame, then what has
 * arrived comes in, control frames of the links, too, and then the ports that waited take theirs.
 * What is queued in which order, marked and dropped is a discipline's: queue_*.c. Addresses
 * are those of the nodes, so the table is filled from the start; what is for nobody is flooded.
 */
#ifndef MF_OUTPUT_QUEUE_H
#define MF_OUTPUT_QUEUE_H

#include "net/mf_packet.h"
#include "systems/frames/mf_bridge.h"

#define OQ_NIL UINT32_MAX
#define OQ_CONTROL UINT16_MAX /**< egress of a control frame: it is for the port that it came in by */
#define OQ_FCS 4

/** A frame in the buffer; its octets are in the slot of the same number. */
struct oq_frame {
	mf_time at; /**< when it came, then when it leaves the pipeline */
	uint64_t rank; /**< the discipline's */
	uint32_t next; /**< in the pipeline, a queue, or the free ones */
	uint16_t len; /**< without FCS */
	uint16_t ingress, egress;
	uint8_t class;
};

/** A first-in first-out list of frames. */
struct oq_list {
	uint32_t head, tail;
	uint32_t frames;
	uint64_t octets; /**< with FCS */
};

/**
 * Slots of one size. Short frames have slots of their own, so that few octets are touched for them; slots are
 * taken last in, first out.
 */
struct oq_pool {
	uint8_t *slot;
	uint32_t size; /**< octets of a slot */
	uint32_t first, slots; /**< number of its first frame; how many there are */
	uint32_t fresh, free; /**< from fresh on never used; given back */
};

enum { OQ_SHORT, OQ_LONG, OQ_POOLS };

struct oq;

/** A discipline: one file each. */
struct oq_queue_ops {
	/** @return its state, or NULL with errno */
	void *(*create)(struct oq *oq);
	void (*destroy)(void *queue);
	/**
	 * Whether a frame may have of the buffer what is free of it; counted by the discipline if not. May be
	 * NULL: it may.
	 */
	bool (*admit)(struct oq *oq, uint32_t i);
	/** A frame has come, before the pipeline: for accounts by ingress. May be NULL. */
	void (*arrived)(struct oq *oq, uint32_t i, mf_time now);
	/** A control frame of a link (IEEE 802.3 annex 31), at its date. May be NULL: those are dropped. */
	void (*control)(struct oq *oq, unsigned int port, mf_time now, const uint8_t *frame, uint16_t len);
	/** The link of a port is lost, or there again, see mf_bridge_ops.link. May be NULL. */
	void (*link)(struct oq *oq, unsigned int port, mf_time now, bool up);
	/** A frame is for its egress: queued, or dropped by oq_drop() with a counter of the discipline's. */
	void (*put)(struct oq *oq, uint32_t i, mf_time now);
	/** The next frame of a port; OQ_NIL: there is none that may go. */
	uint32_t (*take)(struct oq *oq, unsigned int port, mf_time now);
	/** A frame leaves the buffer, sent or dropped. May be NULL. */
	void (*left)(struct oq *oq, uint32_t i, mf_time now);
	/** Timers. May be NULL. @return when next */
	mf_time (*run)(struct oq *oq, mf_time now);
	/** A frame of its own that goes before all others (a pause), or 0. May be NULL. */
	uint16_t (*urgent)(struct oq *oq, unsigned int port, mf_time now, const uint8_t **frame);
	/** What waits for a port: see mf_bridge_ops.depth. */
	void (*depth)(struct oq *oq, unsigned int port, bool anew, struct mf_queue_depth *out);
	unsigned int (*counters)(const struct oq *oq, struct mf_counter *out);
};

struct oq {
	const struct oq_queue_ops *ops;
	void *queue; /**< the discipline's */
	struct mf_bridge_config config;
	double param[MF_PARAMS_MAX];
	struct oq_frame *frame;
	struct oq_pool pool[OQ_POOLS];
	uint32_t frame_max; /**< longest frame, without FCS */
	uint64_t buffer, used, used_max; /**< octets */
	struct oq_list arrivals; /**< of this instant, sorted by (at, ingress) */
	struct oq_list pipeline; /**< the same */
	mf_time latency;
	mf_time queue_next; /**< of ops->run() */
	uint64_t inside; /**< frames */
	uint64_t frames, octets, flooded, drop_buffer, drop_long, drop_self, drop_control;
	uint64_t drop_unknown; /**< no route leads there; of several switches none floods */
};

/** Parameters that every discipline has, at the start of its table. */
enum { OQ_BUFFER, OQ_MTU, OQ_PARAMS };
#define OQ_PARAM_BUFFER \
	"buffer", MF_PARAM_SIZE, 16 << 20, 1 << 14, 1 << 30, "octets of frames that the ports share"
#define OQ_PARAM_MTU "mtu", MF_PARAM_SIZE, 1500, 68, 8986, "longest IP packet that is forwarded"

/** @return NULL with errno */
struct mf_bridge *oq_new(const struct mf_bridge_config *config, const struct oq_queue_ops *ops,
			 unsigned int params);
void oq_free(struct mf_bridge *b);
void oq_receive(struct mf_bridge *b, unsigned int port, mf_time at, const uint8_t *frame, uint16_t len);
uint16_t oq_pull(struct mf_bridge *b, unsigned int port, mf_time now, const uint8_t **frame);
void oq_link(struct mf_bridge *b, unsigned int port, mf_time now, bool up);
void oq_run(struct mf_bridge *b, mf_time now);
mf_time oq_next(const struct mf_bridge *b);
bool oq_busy(const struct mf_bridge *b);
void oq_depth(struct mf_bridge *b, unsigned int port, bool anew, struct mf_queue_depth *out);
unsigned int oq_counters(const struct mf_bridge *b, struct mf_counter *out);

#define OQ_OPS                                                                                    \
	.destroy = oq_free, .frame = oq_receive, .pull = oq_pull, .link = oq_link, .run = oq_run, \
	.next = oq_next, .busy = oq_busy, .depth = oq_depth, .counters = oq_counters

/** A frame is thrown away. */
void oq_drop(struct oq *oq, uint32_t i, mf_time now);

static inline uint8_t *oq_octets(const struct oq *oq, uint32_t i)
{
	const struct oq_pool *p = &oq->pool[i >= oq->pool[OQ_LONG].first];

	return p->slot + (size_t)(i - p->first) * p->size;
}

static inline uint32_t oq_size(const struct oq *oq, uint32_t i)
{
	return oq->frame[i].len + OQ_FCS;
}

/** A port has something new to send. */
static inline void oq_wants(struct oq *oq, unsigned int port)
{
	oq->config.wants[port / 64] |= UINT64_C(1) << port % 64;
}

static inline void oq_append(struct oq *oq, struct oq_list *l, uint32_t i)
{
	oq->frame[i].next = OQ_NIL;
	if (l->frames++ == 0)
		l->head = i;
	else
		oq->frame[l->tail].next = i;
	l->tail = i;
	l->octets += oq_size(oq, i);
}

/** There must be one. */
static inline uint32_t oq_first(struct oq *oq, struct oq_list *l)
{
	uint32_t i = l->head;

	l->head = oq->frame[i].next;
	l->frames--;
	l->octets -= oq_size(oq, i);
	return i;
}

#endif
