/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is free of something that there is a fixed number of is taken away, by a fault of the file. Several
 * rules may want the same: it is there again when the last of them has ended.
 */
#ifndef EXHAUST_H
#define EXHAUST_H

#include "mf_config.h"
#include "mf_host.h"

/** Of `wants` rules one more wants it, or one less. @return whether that makes a difference */
static inline bool exhaust_counts(unsigned int *wants, bool on)
{
	*wants += on ? 1 : -1U;
	return *wants == on;
}

/** What of a host that is. */
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
