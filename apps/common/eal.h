/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's environment: only the wall clock needs it, what is chosen by the CPU's abilities both clocks do. */
#ifndef EAL_H
#define EAL_H

#include <stdbool.h>
#include <stddef.h>

#include "run/mf_fabric.h"

/** The arguments before a lone "--". */
struct eal_args {
	const char *program;
	char **argv; /**< of the command line */
	int count;
	bool given; /**< EAL gets those, and none of our choice */
	bool telemetry; /**< where they are our choice: there is a socket, and its prefix is said */
};

/** Takes EAL's arguments off the front of the command line. */
void eal_split(struct eal_args *a, const char *program, int *argc, char ***argv);

/**
 * Under the wall clock starts EAL with the arguments of the command line or, where there are none, with
 * some that work without hugepages, devices and root, and are quiet. Under both chooses the PCS's
 * variant, which has to be done before any other thread is there.
 *
 * @param plays  roles that will be polled: there are not more lcores; NULL: all of the configuration
 * @param err  on failure one line
 * @return 0 or -errno; -EINVAL: the arguments of the command line are at fault
 */
int eal_start(const struct eal_args *a, const struct mf_config *config, const struct mf_process_roles *plays,
	      enum mf_clock clock, char *err, size_t errlen);

void eal_stop(enum mf_clock clock);

#endif
