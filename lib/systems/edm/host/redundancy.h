/* SPDX-License-Identifier: BSD-3-Clause */
/* A node with two links, one to each of two switches (EDM 3.3, D21; docs/fault-tolerance.md). */
#ifndef SYSTEMS_EDM_HOST_REDUNDANCY_H
#define SYSTEMS_EDM_HOST_REDUNDANCY_H

#include "systems/edm/host/host.h"

/** What the two switches have said of the incarnations of a node. */
struct host_incarnations {
	mf_time since; /**< its incarnation is known since then */
	uint16_t by[2]; /**< the incarnation that was told last by each link */
	uint16_t before; /**< its incarnation before; 0: it is not known */
};

/** What was executed of a source: overtaken.h. */
struct host_newest {
	uint32_t number; /**< the highest, of MF_NUMBER_BITS */
	bool known; /**< something was executed in its incarnation */
};

struct host_redundancy {
	struct host_incarnations *incarnations; /**< [nodes] */
	uint32_t *asked_of; /**< [nodes]: messages that it was asked */
	uint32_t *number; /**< [nodes * MF_IDS], by host_id_index(): of the message that has the id */
	/** [nodes]; the second: of requests, where they have no order with writes */
	struct host_newest (*newest)[2];
	struct mf_receiver other; /**< of the link that is not served: the host has the one that is */
	uint8_t served;
	bool up[2];
	bool knows; /**< the epoch; if not, no switch is obeyed */
	bool settled; /**< it was known once what both switches say, or one was waited for long enough */
	bool owes; /**< a TAKE is to be sent, behind all that waits */
	uint16_t epoch; /**< switch epoch % 2 is obeyed */
	bool told[2]; /**< the switch has said since the link came up what it knows of epochs */
	bool heard[2]; /**< it has heard that this epoch's is obeyed */
	uint16_t said[2]; /**< told: the epoch */
	bool stale[2]; /**< what comes may be of when it was obeyed, until it says a newer epoch */
	uint16_t left[2]; /**< stale: newer than this one, in which it was obeyed last */
	uint16_t incarnation; /**< a new one begins when it knows nothing any more of what others ask; 0: none
				 has */
	uint8_t asked[2]; /**< times that it did not know either */
	uint32_t since[2]; /**< messages that began before are not known to the switch */
	mf_time alone; /**< the second link is waited for until then; MF_NEVER: it is not */
	mf_time again; /**< what was not heard is told again; MF_NEVER: all was */
};

int host_redundancy_init(struct mf_host *h);
void host_redundancy_fini(struct mf_host *h);
/** The process is gone: what was arriving by either link does not go on. The first is served now. */
void host_redundancy_leave(struct mf_host *h, mf_time now);
/** The receiver of the second link stays, as that of the first does: they are links', and no process's. */
void host_redundancy_inherit(struct mf_host *h, struct mf_host *before);
/** TAKE has come by the link that is served. */
void host_redundancy_take(struct mf_host *h, const struct mf_msg *m, mf_time at);
/** Whether a request or a write of a node that comes by the link that is served is executed. */
bool host_redundancy_hears(struct mf_host *h, uint16_t from, mf_time at);
/**
 * Whether it is news what the switch of the link that is served tells of a node's incarnation.
 * @param said  that it is, for who was there before
 */
bool host_redundancy_is_news(struct mf_host *h, uint16_t node, uint16_t incarnation, bool said, mf_time at);
/** Which incarnation follows one. */
static inline uint16_t host_redundancy_next_incarnation(uint16_t incarnation)
{
	return (uint16_t)(incarnation % MF_INCARNATION_MAX + 1);
}
/**
 * The active switch asks whether a chunk of a write that it has granted is still to come (GRET). It is not,
 * unless it waits for room: then that is said behind all that was sent.
 */
void host_redundancy_asked(struct mf_host *h, const struct mf_msg *asked, mf_time at);
/**
 * Tells the standby, which does not know of it, that a demand was refused: it would let the request out, or
 * wait for the write.
 * @return false: not yet, behind what may have the same id by then
 */
bool host_redundancy_passes_on(struct mf_host *h, const struct mf_msg *refusal, mf_time at);
/** Tells what is owed, where that can be. */
void host_redundancy_tell(struct mf_host *h, mf_time now);
/** Does what is due: frames behind whose /T/ nothing came, and what is said again. */
void host_redundancy_run(struct mf_host *h, mf_time now);

static inline mf_time host_redundancy_next(const struct mf_host *h)
{
	const struct host_redundancy *t = h->redundancy;

	return mf_time_min(mf_demux_next(&t->other.demux), mf_time_min(t->again, t->alone));
}

#endif
