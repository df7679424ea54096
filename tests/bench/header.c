/* SPDX-License-Identifier: BSD-3-Clause */
/* What the run runs on. */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <rte_config.h>
#include <rte_version.h>

#include "bench.h"
#include "commit.h"
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

static json_t *placement(const struct bench_env *env)
{
	json_t *cpus = json_array();

	for (unsigned int i = 0; i < env->cpus; i++)
		json_array_append_new(cpus, json_integer(env->cpu[i]));
	return cpus;
}

json_t *bench_header(const struct bench_env *env)
{
	json_t *o = json_object();
	time_t now = time(NULL);
	char date[64];
	double load[3];
	struct tm tm;

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	json_object_set_new(o, "memfab", json_string(MF_VERSION));
	json_object_set_new(o, "commit", json_string(BENCH_COMMIT));
	json_object_set_new(o, "dpdk", json_string(rte_version()));
	json_object_set_new(o, "compiler", json_string(__VERSION__));
	json_object_set_new(o, "buildtype", json_string(BENCH_BUILDTYPE));
	json_object_set_new(o, "date", json_string(date));
	json_object_set_new(o, "machine", machine_json());
	json_object_set_new(o, "placement", placement(env));
	if (getloadavg(load, 3) == 3)
		json_object_set_new(o, "load_average", json_real(load[0]));
	json_object_set_new(o, "nice", json_integer(getpriority(PRIO_PROCESS, 0)));
	json_object_set_new(o, "repetition_seconds", json_real(env->seconds));
	json_object_set_new(o, "repetitions", json_integer(env->repetitions));
	json_object_set_new(o, "tries", json_integer(BENCH_TRIES * env->repetitions));
	json_object_set_new(o, "cpu_share_least", json_real(env->share));
	json_object_set_new(o, "quick", json_boolean(env->quick));
	return o;
}
