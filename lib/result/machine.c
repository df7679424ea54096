/* SPDX-License-Identifier: BSD-3-Clause */
/* What the run ran on: for the "run" part of a result. What cannot be found out is left out. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

#define LINE 512

/** The first line of a file, without its end. */
static bool read_line(const char *path, char *line, size_t capacity)
{
	FILE *file = fopen(path, "r");
	bool there;

	if (file == NULL)
		return false;
	there = fgets(line, (int)capacity, file) != NULL;
	fclose(file);
	if (there)
		line[strcspn(line, "\n")] = '\0';
	return there;
}

/** "model name : ..." of the first CPU. */
static bool cpu_model(char *model, size_t capacity)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[LINE];
	bool found = false;

	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
		const char *colon = strchr(line, ':');

		if (colon == NULL || strncmp(line, "model name", strlen("model name")) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(model, capacity, "%s", colon + 1 + strspn(colon + 1, " "));
		found = true;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	/* Not UTF-8: the key is left out. */
	json_object_set_new(o, key, json_string(text));
}

json_t *machine_json(void)
{
	json_t *o = json_object();
	char text[LINE];
	struct utsname u;
	cpu_set_t cpus;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (cpu_model(text, sizeof(text)))
		set_text(o, "cpu", text);
	json_object_set_new(o, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		json_object_set_new(o, "cpus_allowed", json_integer(CPU_COUNT(&cpus)));
	if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof(text)))
		set_text(o, "governor", text);
	if (uname(&u) == 0) {
		set_text(o, "kernel", u.release);
		set_text(o, "architecture", u.machine);
	}
	if (pages > 0 && page > 0)
		json_object_set_new(o, "memory_octets", json_integer((json_int_t)pages * page));
	return o;
}
