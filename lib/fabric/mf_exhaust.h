/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools and queues whose free room is taken away for a time (fault "exhaust"). Where several rules take the
 * same, it is given back when the last of them has ended.
 */
#ifndef MF_EXHAUST_H
#define MF_EXHAUST_H

#include "config/mf_config.h"
#include "systems/mf_node.h"

/** One more of `wants` rules takes it, or one less. @return whether it is taken, or given back, by that */
static inline bool exhaust_counts(unsigned int *wants, bool on)
{
	*wants += on ? 1 : -1U;
	return *wants == on;
}

/** The room of a host that the file calls so: QUEUE, GRANTS, BUFFERS or ROOM. */
static inline enum mf_host_room exhaust_room(enum mf_config_what what)
{
	static const enum mf_host_room room[] = {
		[MF_CONFIG_QUEUE] = MF_HOST_QUEUE,
		[MF_CONFIG_GRANTS] = MF_HOST_GRANTS,
		[MF_CONFIG_BUFFERS] = MF_HOST_BUFFERS,
		[MF_CONFIG_ROOM] = MF_HOST_MUX,
	};

	return room[what];
}

#endif
