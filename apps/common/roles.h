/* SPDX-License-Identifier: BSD-3-Clause */
/* Which roles this process plays. */
#ifndef ROLES_H
#define ROLES_H

#include <stddef.h>

#include "run/mf_fabric.h"

/**
 * Reads a list of roles: names of nodes (or of entries of "nodes"), of the switch, "scheduler". The switch
 * and the scheduler are in one process: who names one of them has both.
 *
 * @param err  on failure one line
 * @return 0; -ENOENT: there is no such role, -EEXIST: named twice; -EINVAL: of two switches one is named, and
 *         a node, but not all there is
 */
int roles_choose(const struct mf_config *config, const char *list, struct mf_process_roles *plays, char *err,
		 size_t errlen);

/** Whether some role of the fabric is not in it. */
bool roles_missing(const struct mf_config *config, const struct mf_process_roles *plays);

#endif
