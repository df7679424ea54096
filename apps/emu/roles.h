/* SPDX-License-Identifier: BSD-3-Clause */
/* Which roles this process plays. */
#ifndef ROLES_H
#define ROLES_H

#include <stddef.h>

#include "mf_config.h"

/**
 * Checks a list of roles: names of nodes (or of entries of "nodes"), of the switch, "scheduler".
 *
 * @param err  on failure one line
 * @return 0; -ENOENT: there is no such role, -EEXIST: named twice, -ENOTSUP: not all roles are in it
 */
int roles_check(const struct mf_config *config, const char *list, char *err, size_t errlen);

#endif
