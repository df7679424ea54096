/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the CPUs run at one frequency. */
#include <string.h>

#include "check.h"
#include "cpus.h"

#define CPU "/sys/devices/system/cpu"

static void look_at_governors(const struct machine *m, struct finding *f)
{
	char name[64], other[64] = "", list[CPUS_TEXT];
	unsigned int known = 0;
	cpu_set_t slow;

	CPU_ZERO(&slow);
	for (int cpu = cpus_next(&m->chosen, 0); cpu >= 0; cpu = cpus_next(&m->chosen, cpu + 1)) {
		if (!tree_line(m->root, name, sizeof(name), CPU "/cpu%d/cpufreq/scaling_governor", cpu))
			continue;
		known++;
		if (strcmp(name, "performance") != 0) {
			CPU_SET(cpu, &slow);
			memcpy(other, name, sizeof(other));
		}
	}
	if (known == 0) {
		say(f, "not chosen here: no governor");
	} else if (cpus_none(&slow)) {
		say(f, "governor performance");
	} else {
		say(f, "governor %s on CPUs %s", other, cpus_text(&slow, list));
		worse(f, WARN, "cpupower -c %s frequency-set -g performance", list);
	}
}

/** Where the CPUs go faster while others rest, figures hang on what the others do. */
static void look_at_turbo(const struct machine *m, struct finding *f)
{
	static const struct {
		const char *file;
		int64_t off;
	} turbo[] = {{CPU "/intel_pstate/no_turbo", 1}, {CPU "/cpufreq/boost", 0}};
	int64_t value;

	for (size_t i = 0; i < sizeof(turbo) / sizeof(turbo[0]); i++) {
		if (!tree_number(m->root, &value, "%s", turbo[i].file))
			continue;
		say(f, "turbo is %s", value == turbo[i].off ? "off" : "on");
		if (value != turbo[i].off)
			worse(f, WARN, "echo %d >%s", (int)turbo[i].off, turbo[i].file);
		return;
	}
}

static void run(const struct machine *m, struct finding *f)
{
	look_at_governors(m, f);
	look_at_turbo(m, f);
}

const struct check check_frequency = {.name = "frequency", .run = run};
