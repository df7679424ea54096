/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether lcores find CPUs, and time on them. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "cpus.h"

static void existence(const struct machine *m, struct finding *f)
{
	cpu_set_t away = cpus_without(&m->chosen, &m->online);
	cpu_set_t forbidden = cpus_without(&m->chosen, &m->allowed);
	cpu_set_t good = cpus_both(&m->online, &m->allowed);
	char list[CPUS_TEXT], other[CPUS_TEXT];

	cpus_text(&good, other);
	if (!cpus_none(&m->online) && !cpus_none(&away)) {
		say(f, "CPUs %s are not online", cpus_text(&away, list));
		worse(f, FAIL, "--lcores %s", other);
	} else if (!cpus_none(&m->allowed) && !cpus_none(&forbidden)) {
		say(f, "this process may not run on CPUs %s", cpus_text(&forbidden, list));
		worse(f, FAIL, "--lcores %s, or start it under taskset -c %s", other,
		      cpus_text(&m->chosen, list));
	}
}

static void time_on_them(const struct machine *m, struct finding *f)
{
	int cpus = CPU_COUNT(&m->chosen);

	if (m->lcores > cpus) {
		say(f, "%d lcores take turns on %d CPUs", m->lcores, cpus);
		worse(f, WARN, "an --lcores with a CPU for each");
	}
	if (!isinf(m->cgroup.cpus) && m->cgroup.cpus < (double)cpus) {
		say(f, "the control group gives the time of %.2f of them", m->cgroup.cpus);
		worse(f, WARN, "echo %s >%s", strstr(m->cgroup.cpus_file, "cpu.max") != NULL ? "max" : "-1",
		      m->cgroup.cpus_file);
	}
}

static void run(const struct machine *m, struct finding *f)
{
	char list[CPUS_TEXT];

	if (cpus_none(&m->chosen)) {
		say(f, "cannot tell on which CPUs this process may run");
		worse(f, WARN, "--lcores LIST");
		return;
	}
	say(f, "%d lcores on CPUs %s", m->lcores, cpus_text(&m->chosen, list));
	existence(m, f);
	time_on_them(m, f);
}

const struct check check_cpus = {.name = "cpus", .run = run};
