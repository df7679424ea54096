/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as JSON (docs/result.schema.json). Everything in "result" follows, under the
 * virtual clock, from file and seed alone; how the run went on this machine stands in "run". The report
 * for people is made of this JSON, so that no number exists twice.
 */
#include <inttypes.h>
#include <stdio.h>

#include <rte_version.h>

#include "capture/mf_tap.h"
#include "config/mf_config_query.h"
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_link_guard.h"
#include "fabric/mf_link_test.h"
#include "measure/mf_cycle_account.h"
#include "measure/mf_delivery.h"
#include "measure/mf_stages.h"
#include "measure/mf_window.h"
#include "result/mf_result.h"
#include "run/mf_fabric.h"
#include "wall/mf_watchdog.h"

#define FINGERPRINT_LEN 17 /* 64 bits in hexadecimal */

/** What polls has its CPU all the time, unless there are others who want it. */
#define OWN_CPU 0.9

static json_t *run_json(const struct mf_fabric *f)
{
	double lcores = f->info.lcores > 0 ? f->info.lcores : 1;
	double share = f->info.host_seconds > 0 ? f->info.cpu_seconds / f->info.host_seconds / lcores : 0;
	json_t *o = json_object();

	json_object_set_new(o, "memfab", json_string(MF_VERSION));
	json_object_set_new(o, "dpdk", json_string(rte_version()));
	json_object_set_new(o, "compiler", json_string(__VERSION__));
	json_object_set_new(o, "machine", machine_json());
	json_object_set_new(o, "placement", json_string(f->info.placement));
	result_count(o, "lcores", f->info.lcores);
	result_real(o, "host_seconds", f->info.host_seconds);
	result_real(o, "cpu_seconds", f->info.cpu_seconds);
	result_real(o, "cpu_share", share);
	if (f->clock == MF_CLOCK_WALL)
		json_object_set_new(o, "oversubscribed", json_boolean(share < OWN_CPU));
	result_count(o, "events", f->info.steps);
	result_count(o, "spans", f->info.spans);
	json_object_set_new(o, "interrupted", json_boolean(f->info.interrupted));
	if (f->captures != NULL)
		json_object_set_new(o, "captures", capture_json(f->captures));
	cycles_json(f, o);
	return o;
}

/** How often each class of faults has struck, and how often of that a block of idle. */
static json_t *faults_json(const struct mf_fabric *f)
{
	uint64_t fired[MF_FAULT_CLASSES] = {0};
	json_t *o = json_object(), *idle = json_object();

	for (unsigned int i = 0; i < f->config->faults; i++)
		fired[f->config->fault[i].class] += f->fault_fired[i];
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		result_count(o, mf_fault_names[i], fired[i]);
	for (unsigned int i = 0; i <= MF_FAULT_TYPE; i++)
		result_count(idle, mf_fault_names[i], f->fault_idle[i]);
	json_object_set_new(o, "idle", idle);
	return o;
}

/** Of links with faults: what the check made of what came. */
static json_t *checks_json(const struct mf_witness_stats *w)
{
	json_t *o = json_object();

	result_count(o, "checked", mf_witness_checked(w));
	result_count(o, "damaged", w->damaged);
	result_count(o, "refused_check", w->refused_check);
	result_count(o, "refused_fields", w->refused_fields);
	result_count(o, "healed", w->healed);
	result_count(o, "undetected", w->undetected);
	result_count(o, "aborted", w->aborted);
	return o;
}

/** The roles of this process, by their names, and what it must have in common with those of the others. */
static void process_json(const struct mf_fabric *f, json_t *o)
{
	json_t *roles = json_array();
	char text[FINGERPRINT_LEN];
	uint64_t fingerprint = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->plays.node[i])
			json_array_append_new(roles, json_string(f->config->node[i].name));
	for (unsigned int k = 0; k < fabric_switches(f); k++) {
		if (!f->plays.sw[k])
			continue;
		json_array_append_new(roles, json_string(mf_config_switch_name(f->config, k)));
		if (mf_config_sched_name(f->config, k) != NULL)
			json_array_append_new(roles, json_string(mf_config_sched_name(f->config, k)));
	}
	json_object_set_new(o, "roles", roles);
	if (mf_config_fingerprint(f->config, &fingerprint) != 0)
		return;
	snprintf(text, sizeof(text), "%016" PRIx64, fingerprint);
	json_object_set_new(o, "fingerprint", json_string(text));
}

/** What switches and hosts count: of one network, or of each. */
static void networks_json(const struct mf_fabric *f, json_t *o)
{
	if (f->tiers == 1)
		forwarding_json(f->tier, o);
	else
		json_object_set_new(o, "tiers", tiers_json(f));
	json_object_set_new(o, "drops", drops_json(f));
	access_json(f, o);
	virtual_memory_json(f, o);
	if (f->tiers == 1 && f->tier->config->proto.ext)
		json_object_set_new(o, "once", once_json(f->tier));
}

json_t *mf_fabric_result(const struct mf_fabric *f)
{
	json_t *all = json_object(), *o = json_object(), *time = json_object();
	const struct mf_window w = mf_fabric_window(f);

	json_object_set_new(o, "clock", json_string(f->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall"));
	json_object_set_new(o, "config", mf_config_to_json(f->config));
	result_count(time, "measured_from_ps", f->at_measure.at);
	result_count(time, "measured_to_ps", f->at_stop.at);
	result_count(time, "ended_ps", f->ended);
	json_object_set_new(o, "time", time);
	if (!fabric_whole(f))
		process_json(f, o);
	if (fabric_has_compute(f) || fabric_whole(f)) {
		json_object_set_new(o, "operations", operations_json(f, result_all(f), RESULT_WHOLE, &w));
		json_object_set_new(o, "phases", phases_json(f));
	}
	if (f->clock == MF_CLOCK_VIRTUAL)
		json_object_set_new(o, "load", load_json(f, &w));
	if (f->messages != NULL)
		json_object_set_new(o, "messages", messages_json(f));
	if (f->delivery != NULL)
		json_object_set_new(o, "delivery", delivery_json(f->delivery));
	if (fabric_has_node(f))
		json_object_set_new(o, "frames", frames_json(f, result_all(f), RESULT_WHOLE));
	counters_json(f, o);
	if (f->tunnels != NULL)
		tunnels_json(f, o);
	if (f->watched != NULL)
		json_object_set_new(o, "watchdog", watch_json(f->watched));
	networks_json(f, o);
	if (f->config->backup.on)
		json_object_set_new(o, "backup", backup_json(f));
	if (f->config->faults > 0)
		json_object_set_new(o, "faults", faults_json(f));
	if (f->config->faults > 0 && mf_config_schedules(f->config))
		json_object_set_new(o, "checks", checks_json(&f->witness));
	guards_json(f, o);
	if (f->tests > 0)
		json_object_set_new(o, "test_patterns", link_tests_json(f));
	if (f->stages != NULL)
		json_object_set_new(o, "stages", stages_json(f));
	if (f->series != NULL)
		json_object_set_new(o, "series", series_json(f));
	json_object_set_new(all, "result", o);
	json_object_set_new(all, "run", run_json(f));
	return all;
}
