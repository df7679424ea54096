/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the kernel leaves the CPUs alone: no other threads (isolcpus), no timer tick (nohz_full). */
#include "check.h"
#include "cpus.h"

/** The kernel's own work needs a CPU, and it is the first that has to do it. */
static cpu_set_t isolable(const struct machine *m)
{
	cpu_set_t set = m->chosen;

	if (cpus_next(&m->online, 0) >= 0)
		CPU_CLR(cpus_next(&m->online, 0), &set);
	return set;
}

static void run(const struct machine *m, struct finding *f)
{
	cpu_set_t exposed = cpus_without(&m->chosen, &m->isolated), ticking;
	cpu_set_t could = isolable(m);
	char list[CPUS_TEXT];

	ticking = cpus_without(&m->chosen, &m->nohz);
	if (cpus_none(&m->chosen)) {
		say(f, "no CPUs are known");
		return;
	}
	if (cpus_none(&exposed) && cpus_none(&ticking)) {
		say(f, "CPUs %s are isolated, without a timer tick", cpus_text(&m->chosen, list));
		return;
	}
	if (!cpus_none(&exposed))
		say(f, "CPUs %s are not isolated from other threads", cpus_text(&exposed, list));
	if (!cpus_none(&ticking))
		say(f, "CPUs %s have a timer tick", cpus_text(&ticking, list));
	if (cpus_none(&could)) {
		worse(f, WARN, "more CPUs: the first one has the kernel's own work to do");
		return;
	}
	cpus_text(&could, list);
	worse(f, WARN,
	      "add \"isolcpus=%s nohz_full=%s rcu_nocbs=%s\" to GRUB_CMDLINE_LINUX in /etc/default/grub, "
	      "update-grub, reboot; then --lcores %s",
	      list, list, list, list);
}

const struct check check_isolation = {.name = "isolation", .run = run};
