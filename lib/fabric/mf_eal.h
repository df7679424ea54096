/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment with options that work without hugepages, devices and root, and are quiet: for programs
 * whose user has named none.
 */
#ifndef MF_EAL_H
#define MF_EAL_H

#include <stdbool.h>

#include "mf_config.h"

/** With these options, separated by blanks. @return 0 or -errno */
int mf_eal_start_line(const char *program, const char *options);

/**
 * With an lcore for each CPU that we may use, and memory for this fabric.
 * @param roles      that will be polled: there are not more lcores
 * @param first      of the CPUs, round about
 * @param telemetry  listen for dpdk-telemetry.py, and say on stderr how it is called
 * @return 0 or -errno
 */
int mf_eal_start(const char *program, const struct mf_config *config, unsigned int roles, unsigned int first,
		 bool telemetry);

/** With one lcore, which is the thread that calls: it stays free to run on any CPU that it could run on. */
int mf_eal_start_one(const char *program, const struct mf_config *config);

/**
 * Makes vector code as wide as this CPU and EAL allow: results are the same. Before any other thread is
 * there that uses a fabric.
 * @param widest  EAL is asked to allow all, too; it refuses where --force-max-simd-bitwidth was given
 */
void mf_eal_choose_variants(bool widest);

#endif
