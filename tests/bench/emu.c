/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "emu.h"

#define PATIENCE 600.0 /* seconds that a run may take */
#define OUTPUT 65536
#define PATH_LEN 4096

double emu_number(const json_t *all, const char *path)
{
	while (all != NULL && *path != '\0') {
		size_t len = strcspn(path, "/");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		all = json_object_get(all, key);
		path += len + (path[len] == '/');
	}
	return json_number_value(all);
}

int emu_with_depth(const struct bench_env *env, const char *fabric, unsigned int depth, char *path,
		   size_t room, char *why)
{
	json_error_t error;
	json_t *all = json_load_file(fabric, 0, &error), *workload;
	int rc = -EINVAL;

	workload = json_array_get(json_object_get(all, "workload"), 0);
	snprintf(path, room, "%s/fabric.json", env->scratch);
	if (workload != NULL && json_object_set_new(workload, "depth", json_integer(depth)) == 0 &&
	    json_dump_file(all, path, JSON_INDENT(2)) == 0)
		rc = 0;
	else
		snprintf(why, BENCH_REASON, "cannot make a copy of %.200s", fabric);
	json_decref(all);
	return rc;
}

static json_t *read_result(const char *path, char *why)
{
	json_error_t error;
	json_t *all = json_load_file(path, 0, &error);

	if (all == NULL)
		snprintf(why, BENCH_REASON, "memfab-emu: its result: %.100s", error.text);
	return all;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

json_t *emu_run(const struct bench_env *env, const struct emu_run *run, struct emu_cost *cost, char *why)
{
	static char output[OUTPUT];
	const char *argv[16];
	char result[PATH_LEN];
	unsigned int n = 0;
	struct child c;
	int rc;

	snprintf(result, sizeof(result), "%s/result.json", env->scratch);
	argv[n++] = env->emu;
	argv[n++] = "--clock";
	argv[n++] = run->virtual_clock ? "virtual" : "wall";
	argv[n++] = "--json";
	argv[n++] = result;
	if (run->warmup != NULL) {
		argv[n++] = "--warmup";
		argv[n++] = run->warmup;
	}
	if (run->duration != NULL) {
		argv[n++] = "--duration";
		argv[n++] = run->duration;
	}
	argv[n++] = run->fabric;
	argv[n] = NULL;
	rc = child_start(&c, env, (struct child_cpus){.first = 0, .n = run->cpus}, argv, NULL);
	if (rc == 0)
		rc = child_wait(&c, PATIENCE, output, sizeof(output));
	if (rc != 0) {
		child_reason(rc == -ETIMEDOUT ? "memfab-emu took too long" : "memfab-emu", output, why);
		return NULL;
	}
	if (cost != NULL)
		*cost = (struct emu_cost){.cpu = seconds(&c.usage.ru_utime) + seconds(&c.usage.ru_stime),
					  .rss = (double)c.usage.ru_maxrss * 1024};
	return read_result(result, why);
}
