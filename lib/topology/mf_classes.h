/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two classes of roles. The virtual clock runs one class at a time: roles of a class that have no link
 * between them can run as far as the other class allows.
 */
#ifndef MF_CLASSES_H
#define MF_CLASSES_H

#include <stdint.h>

#include "topology/mf_topology.h"

/**
 * Divides the roles of a closed graph into two classes, without a link within a class where the graph allows
 * it (where it has no circle of an odd number of links). Else roles change class one by one while that makes
 * fewer links within classes, so at most half of all links are within one.
 *
 * Role 0 has class 0. Of every other connected part, the first role has class 0 if it is of the kind of role
 * 0, else class 1. So in a star, or in several, all nodes have one class and all switches the other one. The
 * result depends on the order of roles, but not on the order of links. Any thread may call it.
 *
 * @param class_of_role  set: 0 or 1 for each role
 * @return how many links are within a class; MF_NONE with errno ENOMEM
 */
uint32_t mf_topology_classes(const struct mf_topology *t, uint8_t *class_of_role);

#endif
