/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

const struct check *const checks[] = {
	&check_dpdk,        &check_cpus,         &check_isolation,
	&check_smt,         &check_numa,         &check_clock,
	&check_frequency,   &check_noise,        &check_hugepages,
	&check_memlock,     &check_nics,         &check_vfio,
	&check_userfaultfd, &check_fabric_cpus,  &check_fabric_memory,
	&check_fabric_numa, &check_fabric_ports, NULL,
};
