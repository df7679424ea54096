/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools and queues whose free room is taken away for a time (fault "exhaust"). Where several rules take the
 * same, it is given back when the last of them has ended.
 */
#ifndef MF_EXHAUST_H
#define MF_EXHAUST_H

#include <stdlib.h>

#include "config/mf_config.h"
#include "role/mf_role.h"

/** One more of `wants` rules takes it, or one less. @return whether it is taken, or given back, by that */
static inline bool exhaust_counts(unsigned int *wants, bool on)
{
	*wants += on ? 1 : -1U;
	return *wants == on;
}

/** The place of a pool among those of a role's kind. The configuration refuses what the kind has not. */
static inline unsigned int exhaust_pool(const struct mf_role_ops *ops, enum mf_config_what what)
{
	int pool = mf_role_pool(ops, mf_config_what_name(what));

	if (pool < 0)
		abort(); /* it would take something else */
	return (unsigned int)pool;
}

#endif
