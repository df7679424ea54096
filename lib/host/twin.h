/* SPDX-License-Identifier: BSD-3-Clause */
/* A node with two links, one to each of two switches (EDM 3.3, D21; docs/fault-tolerance.md). */
#ifndef HOST_TWIN_H
#define HOST_TWIN_H

#include "host.h"

/** The receiver of a link: what a host with one link has itself. */
struct host_receiver {
	struct mf_demux demux;
	uint64_t *assembly;
	uint32_t assembled;
	bool assembling;
	mf_time assembly_first;
};

struct host_twin {
	struct host_receiver other; /**< of the link that is not served: the host has the one that is */
	uint8_t served;
	bool up[2];
	bool fresh[2]; /**< it came up, and its switch has not said anything yet */
	bool owes; /**< a TAKE is to be sent, behind all that waits */
	uint16_t epoch; /**< switch epoch % 2 is obeyed */
	uint16_t said[2]; /**< epoch that the switch has told */
	uint32_t since[2]; /**< messages that began before are not known to the switch */
};

int host_twin_init(struct mf_host *h);
void host_twin_fini(struct mf_host *h);
/** TAKE has come by the link that is served. */
void host_twin_take(struct mf_host *h, uint16_t epoch, mf_time at);
/** Whether a request that comes by the link that is served is executed. */
bool host_twin_hears(struct mf_host *h);
/** Tells what is owed, where that can be. */
void host_twin_tell(struct mf_host *h, mf_time now);
/** Frames behind whose /T/ nothing came. */
void host_twin_idle(struct mf_host *h, mf_time now);

static inline mf_time host_twin_next(const struct mf_host *h)
{
	return mf_demux_next(&h->twin->other.demux);
}

#endif
