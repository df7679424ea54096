/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, D21; docs/fault-tolerance.md): what the one that does not schedule knows of what is
 * left to be scheduled, and how it takes over. A switch that has no other has none of this.
 */
#ifndef STANDBY_H
#define STANDBY_H

#include "switch_priv.h"

/**
 * A demand that is not over: a request (then slot has its blocks, until it is let out), or an /N/. Or what
 * has passed of a response whose request is still to come.
 */
struct log_entry {
	mf_time at; /**< when its demand would have been told to the scheduler */
	uint32_t next; /**< of the pair, or of the free ones */
	uint32_t slot; /**< NONE: no request, or it has been let out */
	uint32_t size; /**< octets of the demand */
	uint32_t passed; /**< of these */
	uint16_t behind;
	uint16_t use; /**< of its id; of requests and responses */
	uint8_t id;
	uint8_t blocks; /**< of the request */
	bool resp;
	bool early; /**< the request is still to come */
	bool out; /**< the request has been let out, since it was granted: see standby_evidence() */
	bool ext; /**< its chunks are extended */
};

/** Of a compute and a memory node: demands in the order in which they came. */
struct log_pair {
	uint32_t head, tail;
	bool released; /**< its demands are the scheduler's */
};

struct standby {
	uint16_t epoch; /**< switch epoch % 2 is active */
	uint8_t number; /**< which of the two this is */
	bool knows; /**< somebody has told what the epoch is */
	bool deposed; /**< of no use any more: the engine has another one in its place */
	bool in_order; /**< a write that passes says that what was asked before it was granted (D9) */
	uint32_t chunk; /**< the first grant of a response */
	uint64_t took[MF_PORTS_MAX / 64]; /**< ports whose node obeys this epoch */
	uint32_t free, used, end; /**< entries */
	struct log_entry *entry;
	struct log_pair *pair; /**< [cn * ports + mn] */
};

int standby_init(struct mf_switch *sw, const struct mf_switch_config *config);
void standby_fini(struct mf_switch *sw);

/** Whether the other switch is the active one. */
static inline bool standby_idles(const struct standby *s)
{
	return (s->epoch & 1) != s->number || !s->knows;
}

static inline bool standby_idle(const struct mf_switch *sw)
{
	return unlikely(sw->standby != NULL) && standby_idles(sw->standby);
}

static inline struct log_pair *standby_pair(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return &sw->standby->pair[cn * sw->ports + mn];
}

/** Whether what a pair asks and sends is for the log, not for the scheduler and its circuits. */
static inline bool standby_logs(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return unlikely(sw->standby != NULL) && !standby_pair(sw, cn, mn)->released;
}

/* Only where standby_logs(): */
/** A demand of a pair, as it would be told to the scheduler; the cookie is the slot of a request. */
void standby_demand(struct mf_switch *sw, const struct mf_sched_msg *demand, uint16_t use, bool ext);
/** The rest of a demand is not wanted. */
void standby_cancel(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp);
/** A chunk, whole, whose last block came at `at`. */
void standby_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word, unsigned int n,
		   mf_time at);

/** TAKE has come at a port. */
void standby_take(struct mf_switch *sw, unsigned int port, uint16_t epoch, mf_time now, mf_time at);
/** The link of a port is lost: what its node has asked it will not want of this switch. */
void standby_link_down(struct mf_switch *sw, unsigned int port);
/** And there again: tells it the epoch. */
void standby_link_up(struct mf_switch *sw, unsigned int port, mf_time now);
/** What a crash leaves: nothing, not even the epoch; what being deposed leaves: that. */
void standby_forget(struct mf_switch *sw);

#endif
