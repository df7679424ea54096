/* SPDX-License-Identifier: BSD-3-Clause */
/* What several checks want to know of a machine. Nothing of it is changed. */
#ifndef MACHINE_H
#define MACHINE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "cgroup.h"
#include "nic.h"
#include "run/mf_fabric.h"

/** How this program and its DPDK were built. */
struct build {
	const char *dpdk; /**< version that it was compiled against */
	const char *running; /**< that of the libraries that it found */
	const char *left_out; /**< why there are no drivers; "": there are */
};

struct machine {
	const char *root; /**< of all files; "" but for tests */
	cpu_set_t online; /**< empty: not known */
	cpu_set_t allowed; /**< that a thread may choose to run on; empty: not known */
	cpu_set_t isolated, nohz; /**< from the kernel's scheduler, from its timer tick */
	cpu_set_t chosen; /**< that lcores would run on; empty: not known */
	bool given; /**< somebody has chosen them */
	int lcores; /**< that run there */
	struct cgroup cgroup;
	uint64_t capabilities; /**< effective ones, by CAP_ */
	bool capabilities_known;
	struct nic nic[NICS_MAX];
	unsigned int nics;
	unsigned int dpdk_nics; /**< with a driver that is DPDK's, or shares with it */
	unsigned int vfio_nics;
	double noise; /**< seconds to listen to each CPU; 0: not at all */
	const struct mf_config *config; /**< fabric that is meant to run; NULL: none */
	struct mf_process_roles plays; /**< of it that is played here */
	bool whole; /**< nobody has said what: all */
	struct build build;
};

/**
 * Looks at everything. root, noise, config, part, whole and build are set, the rest 0; chosen, given and
 * lcores where somebody has chosen.
 */
void machine_look(struct machine *m);

static inline bool machine_can(const struct machine *m, unsigned int capability)
{
	return m->capabilities >> capability & 1;
}

/** Roles of the fabric that are played here: nodes, the switch, the scheduler. */
unsigned int machine_roles(const struct machine *m);

#endif
