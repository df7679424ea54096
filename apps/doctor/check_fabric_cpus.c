/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the roles of the fabric have a CPU each. */
#include "check.h"
#include "cpus.h"

static bool wanted(const struct machine *m)
{
	return m->config != NULL;
}

static void run(const struct machine *m, struct finding *f)
{
	unsigned int roles = machine_roles(m), cpus = (unsigned int)CPU_COUNT(&m->chosen);

	if (cpus == 0) {
		say(f, "%u roles, and no CPUs are known", roles);
		return;
	}
	if (roles <= cpus) {
		say(f, "a CPU for each of %u roles", roles);
		return;
	}
	say(f, "%u roles take turns on %u CPUs: latencies have the turns of the others in them", roles, cpus);
	worse(f, WARN, "--lcores with %u CPUs, or --clock virtual", roles);
}

const struct check check_fabric_cpus = {.name = "fabric cpus", .run = run, .wanted = wanted};
