/* SPDX-License-Identifier: BSD-3-Clause */
/* One thing of a machine that is looked at: a file of its own each, check_*.c. */
#ifndef CHECK_H
#define CHECK_H

#include "finding.h"
#include "machine.h"

struct check {
	const char *name;
	/** Never waits; what is not to be read is no failure. */
	void (*run)(const struct machine *m, struct finding *f);
	bool (*wanted)(const struct machine *m); /**< NULL: always */
};

/** In the order in which they are printed; the last is NULL. */
extern const struct check *const checks[];

extern const struct check check_cpus, check_clock, check_dpdk, check_fabric_cpus, check_fabric_memory,
	check_fabric_numa, check_fabric_ports, check_frequency, check_hugepages, check_isolation,
	check_memlock, check_nics, check_noise, check_numa, check_smt, check_userfaultfd, check_vfio;

#endif
