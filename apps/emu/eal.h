/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's environment: only the wall clock needs it. */
#ifndef EAL_H
#define EAL_H

#include "options.h"

/**
 * Starts EAL with the arguments of the command line or, where there are none, with some that work
 * without hugepages, devices and root, and are quiet.
 *
 * @param err  on failure one line
 * @return 0 or -errno; -EINVAL: the arguments of the command line are at fault
 */
int eal_start(const struct options *o, const struct mf_config *config, char *err, size_t errlen);

void eal_stop(void);

#endif
