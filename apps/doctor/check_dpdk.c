/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the DPDK that is installed is the one that memfab was built with, and drivers could be built. */
#include <string.h>

#include "check.h"

static void run(const struct machine *m, struct finding *f)
{
	const struct build *b = &m->build;

	if (strcmp(b->dpdk, b->running) == 0) {
		say(f, "%s", b->dpdk);
	} else {
		say(f, "built with %s, runs with %s", b->dpdk, b->running);
		worse(f, WARN, "meson setup --wipe build && ninja -C build");
	}
	if (b->left_out[0] == '\0') {
		say(f, "headers for drivers");
	} else {
		say(f, "without drivers: %s", b->left_out);
		worse(f, WARN, ".ci/driver-headers && meson setup --reconfigure build && ninja -C build");
	}
}

const struct check check_dpdk = {.name = "dpdk", .run = run};
