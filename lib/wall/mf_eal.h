/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment with options that work without hugepages, devices and root, and are quiet: for programs
 * whose user has named none.
 */
#ifndef MF_EAL_H
#define MF_EAL_H

#include <stdbool.h>
#include <stddef.h>

#include "config/mf_config.h"

/**
 * rte_eal_init() with a reason for every failure. EAL gives none where another process has its --file-prefix.
 * @return 0 or -errno: -EADDRINUSE that; -EACCES no hugepages; -EALREADY it has failed before; -EINVAL bad
 * options
 */
int mf_eal_init(int argc, char **argv);

/** That error in words, with what to do about it. @param buf  for those that have no words of ours */
const char *mf_eal_why(int error, char *buf, size_t room);

/** With these options, separated by blanks. @return 0 or -errno */
int mf_eal_start_line(const char *program, const char *options);

/**
 * With an lcore for each CPU that we may use, and memory for this fabric.
 * @param roles      that will be polled: there are not more lcores
 * @param first      of the CPUs, round about
 * @param telemetry  listen for dpdk-telemetry.py, and say on stderr how it is called
 * @return 0 or -errno; -ENOTCONN: there is no telemetry, though EAL may have started
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
