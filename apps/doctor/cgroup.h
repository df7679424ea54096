/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control groups of this process, of version 1 or 2, let it have. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdint.h>

#include "tree.h"

struct cgroup {
	double cpus; /**< whose time it may use; infinite: no limit */
	char cpus_file[TREE_PATH]; /**< that says so, without the root */
	uint64_t memory; /**< octets; UINT64_MAX: no limit */
	char memory_file[TREE_PATH];
};

void cgroup_read(const char *root, struct cgroup *out);

#endif
