/* SPDX-License-Identifier: BSD-3-Clause */
#include "cgroup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOUNT "/sys/fs/cgroup"

/* "max 100000", "150000 100000" */
static void cpus_v2(const char *root, const char *path, struct cgroup *out)
{
	char line[64];
	unsigned long quota, period;

	if (!tree_line(root, line, sizeof(line), MOUNT "%s/cpu.max", path) ||
	    sscanf(line, "%lu %lu", &quota, &period) != 2 || period == 0)
		return;
	if ((double)quota / (double)period < out->cpus) {
		out->cpus = (double)quota / (double)period;
		snprintf(out->cpus_file, sizeof(out->cpus_file), MOUNT "%.400s/cpu.max", path);
	}
}

/* A quota of -1 is none. */
static void cpus_v1(const char *root, const char *path, struct cgroup *out)
{
	int64_t quota, period;

	if (!tree_number(root, &quota, MOUNT "/cpu%s/cpu.cfs_quota_us", path) || quota <= 0 ||
	    !tree_number(root, &period, MOUNT "/cpu%s/cpu.cfs_period_us", path) || period <= 0)
		return;
	if ((double)quota / (double)period < out->cpus) {
		out->cpus = (double)quota / (double)period;
		snprintf(out->cpus_file, sizeof(out->cpus_file), MOUNT "/cpu%.400s/cpu.cfs_quota_us", path);
	}
}

static void memory_of(const char *root, const char *file, struct cgroup *out)
{
	int64_t limit;

	if (!tree_number(root, &limit, "%s", file) || limit < 0 || (uint64_t)limit >= out->memory)
		return;
	out->memory = (uint64_t)limit;
	snprintf(out->memory_file, sizeof(out->memory_file), "%s", file);
}

static void memory_v1(const char *root, const char *path, struct cgroup *out)
{
	char file[TREE_PATH];

	snprintf(file, sizeof(file), MOUNT "/memory%.400s/memory.limit_in_bytes", path);
	memory_of(root, file, out);
}

static void both_v2(const char *root, const char *path, struct cgroup *out)
{
	char file[TREE_PATH];

	cpus_v2(root, path, out);
	snprintf(file, sizeof(file), MOUNT "%.400s/memory.max", path);
	memory_of(root, file, out);
}

/**
 * Every group above counts, too. Within a container the path may be one of the host that is not to be seen
 * here; what is mounted is then its own group.
 */
static void upwards(const char *root, const char *whole,
		    void (*look)(const char *, const char *, struct cgroup *), struct cgroup *out)
{
	char path[TREE_PATH], *slash;

	snprintf(path, sizeof(path), "%s", whole);
	while ((slash = strrchr(path, '/')) != NULL) {
		look(root, path, out);
		*slash = '\0';
	}
	look(root, "", out);
}

/* "0::/path", "3:cpu,cpuacct:/path" */
static void line_of(const char *root, char *line, struct cgroup *out)
{
	char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;

	if (path == NULL)
		return;
	*path++ = '\0';
	names++;
	if (*names == '\0')
		upwards(root, path, both_v2, out);
	for (char *rest, *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
		if (strcmp(name, "cpu") == 0)
			upwards(root, path, cpus_v1, out);
		else if (strcmp(name, "memory") == 0)
			upwards(root, path, memory_v1, out);
}

void cgroup_read(const char *root, struct cgroup *out)
{
	char *text = tree_read(root, "/proc/self/cgroup"), *rest;

	*out = (struct cgroup){.cpus = HUGE_VAL, .memory = UINT64_MAX};
	if (text == NULL)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		line_of(root, line, out);
	free(text);
}
