/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a program may serve its own page faults: paging to remote memory does. */
#include <linux/capability.h>

#include "check.h"

#define SETTING "/proc/sys/vm/unprivileged_userfaultfd"

static void run(const struct machine *m, struct finding *f)
{
	bool device = tree_exists(m->root, "/dev/userfaultfd");
	int64_t all;

	if (!tree_number(m->root, &all, SETTING)) {
		say(f, "this kernel has none, or does not show it");
		worse(f, WARN, "a kernel with CONFIG_USERFAULTFD");
	} else if (machine_can(m, CAP_SYS_PTRACE)) {
		say(f, "this process may use it");
	} else if (all != 0) {
		say(f, "everybody may use it");
	} else if (device && tree_usable(m->root, "/dev/userfaultfd")) {
		say(f, "this process may use it, by /dev/userfaultfd");
	} else {
		say(f, "only for faults of user space");
		worse(f, WARN, "sysctl vm.unprivileged_userfaultfd=1%s",
		      device ? " (or chmod 666 /dev/userfaultfd)" : "");
	}
}

const struct check check_userfaultfd = {.name = "userfaultfd", .run = run};
