/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the CPUs one gets, and how long one has to wait for it. */
#include "check_noise.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cpus.h"

#define QUIET_SHARE 0.99 /* what the kernel's own work leaves */
#define QUIET_GAP 100e-6 /* of its timer tick, with some room */
#define LEAST_SHARE 0.6 /* below, somebody else polls there, too */

static json_t *detail_of(const struct noise *heard, unsigned int n)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(all, json_pack("{s:i, s:f, s:f, s:I}", "cpu", heard[i].cpu, "share",
						     heard[i].share, "longest_gap_us", heard[i].longest * 1e6,
						     "gaps", (json_int_t)heard[i].gaps));
	return all;
}

void noise_judge(const struct noise *heard, unsigned int n, struct finding *f)
{
	const struct noise *least = heard, *longest = heard;

	for (unsigned int i = 1; i < n; i++) {
		if (heard[i].share < least->share)
			least = &heard[i];
		if (heard[i].longest > longest->longest)
			longest = &heard[i];
	}
	f->detail = detail_of(heard, n);
	say(f, "at least %.2f %% of a CPU (CPU %d)", least->share * 100, least->cpu);
	say(f, "longest gap %.1f us (CPU %d)", longest->longest * 1e6, longest->cpu);
	if (least->share < LEAST_SHARE)
		worse(f, FAIL, "ps -eLo psr,pcpu,pid,comm --sort=-pcpu | grep '^ *%d ' (who is on CPU %d)",
		      least->cpu, least->cpu);
	else if (least->share < QUIET_SHARE || longest->longest > QUIET_GAP)
		worse(f, WARN, "isolation as above; chrt -f 1 PROGRAM keeps ordinary threads away");
}

/** More than two seconds are told of, on a terminal only. */
static void progress(const struct machine *m, int cpu)
{
	if (m->noise * CPU_COUNT(&m->chosen) > 2 && isatty(STDERR_FILENO) == 1) {
		if (cpu >= 0)
			fprintf(stderr, "\r\033[Klistening to CPU %d", cpu);
		else
			fputs("\r\033[K", stderr);
	}
}

static void run(const struct machine *m, struct finding *f)
{
	struct noise heard[CPU_SETSIZE];
	unsigned int n = 0;

	for (int cpu = cpus_next(&m->chosen, 0); cpu >= 0; cpu = cpus_next(&m->chosen, cpu + 1)) {
		int rc;

		progress(m, cpu);
		rc = noise_listen(cpu, m->noise, &heard[n]);
		if (rc == 0)
			n++;
		else
			say(f, "CPU %d: %s", cpu, strerror(-rc));
	}
	progress(m, -1);
	if (n > 0) {
		noise_judge(heard, n, f);
	} else {
		say(f, "nothing was heard");
		worse(f, WARN, "--lcores with CPUs that this process may use");
	}
}

/* Another root is another machine, which nobody can listen to. */
static bool wanted(const struct machine *m)
{
	return m->noise > 0 && m->root[0] == '\0';
}

const struct check check_noise = {.name = "noise", .run = run, .wanted = wanted};
