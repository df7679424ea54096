/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether each lcore has a core to itself: two threads of a core take its time from each other. */
#include "check.h"
#include "cpus.h"

/** The other threads of the CPU's core. */
static bool siblings(const struct machine *m, int cpu, cpu_set_t *out)
{
	char line[CPUS_TEXT];

	if (!tree_line(m->root, line, sizeof(line),
		       "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu) ||
	    cpus_parse(line, out) != 0)
		return false;
	CPU_CLR(cpu, out);
	return true;
}

static void run(const struct machine *m, struct finding *f)
{
	cpu_set_t first, others, twice, idle,
		set; /* of each core the first; siblings of those that are chosen */
	char list[CPUS_TEXT];
	unsigned int known = 0;

	CPU_ZERO(&first);
	CPU_ZERO(&others);
	for (int cpu = cpus_next(&m->chosen, 0); cpu >= 0; cpu = cpus_next(&m->chosen, cpu + 1)) {
		if (!siblings(m, cpu, &set))
			continue;
		known++;
		if (!cpus_meet(&set, &first))
			CPU_SET(cpu, &first);
		CPU_OR(&others, &others, &set);
	}
	twice = cpus_both(&others, &m->chosen);
	idle = cpus_without(&others, &m->chosen);
	idle = cpus_both(&idle, &m->online);
	if (known == 0) {
		say(f, "cannot tell which CPUs share a core");
	} else if (!cpus_none(&twice)) {
		say(f, "of CPUs %s several share a core", cpus_text(&twice, list));
		worse(f, WARN, "--lcores %s", cpus_text(&first, list));
	} else if (!cpus_none(&idle)) {
		say(f, "CPUs %s share cores with the chosen ones", cpus_text(&idle, list));
		for (int cpu = cpus_next(&idle, 0); cpu >= 0; cpu = cpus_next(&idle, cpu + 1))
			worse(f, WARN, "echo 0 >/sys/devices/system/cpu/cpu%d/online", cpu);
	} else {
		say(f, "a core for each CPU");
	}
}

const struct check check_smt = {.name = "smt", .run = run};
