/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics without a load of their own, within this room. */
#ifndef IDLE_H
#define IDLE_H

#include "fabric/mf_run.h"

/**
 * A fabric without clients and frames.
 * @param loads  the caller adds those of the file
 * @return as mf_fabric_new()
 */
struct mf_fabric *fabric_new_idle(const struct mf_config *config, enum mf_clock clock, bool loads,
				  const struct mf_process_roles *plays, char *err, size_t errlen);

/** mf_stack_config.incarnation of nodes that begin now: another one each time, and in each process. Any
 * thread. */
uint32_t fabric_new_incarnation(void);

#endif
