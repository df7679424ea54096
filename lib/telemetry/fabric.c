/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry of a whole fabric, as far as it is played in this process. */
#include <inttypes.h>
#include <stdio.h>

#include "config/mf_config_query.h"
#include "measure/mf_live.h"
#include "result/mf_result.h"
#include "telemetry/telemetry.h"
#include "wall/mf_watchdog.h"

static void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static const char *clock_name(const struct mf_fabric *f)
{
	return f->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall";
}

json_t *telemetry_config(struct telemetry_query *q)
{
	const struct mf_config *c = q->f->config;
	char fingerprint[17];
	json_t *o = json_object();
	uint64_t hash;

	put_text(o, "memfab", MF_VERSION);
	put_text(o, "name", c->name);
	if (q->file != NULL)
		put_text(o, "file", q->file);
	if (mf_config_fingerprint(c, &hash) == 0) {
		snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, hash);
		put_text(o, "fingerprint", fingerprint);
	}
	put_text(o, "clock", clock_name(q->f));
	result_count(o, "seed", c->seed);
	result_count(o, "warmup_ps", c->clock[q->f->clock].warmup);
	result_count(o, "duration_ps", c->clock[q->f->clock].duration);
	result_count(o, "nodes", c->nodes);
	result_count(o, "ports", c->ports);
	if (c->switches > 0)
		result_count(o, "switches", c->switches);
	else if (mf_config_switch_count(c) > 0)
		put_text(o, "switch", c->tier->sw.name);
	put_text(o, "stack", c->tier->stack.name);
	if (mf_config_schedules(c))
		put_text(o, "scheduler", c->tier->sched.policy);
	else
		put_text(o, "bridge", c->tier->bridge.name);
	return o;
}

/** A fabric that is turned by others is never over while they have it. */
static bool is_over(const struct mf_fabric *f)
{
	return f->ended != 0 && f->carries == NULL;
}

json_t *telemetry_fabric(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	json_t *o = json_object();

	result_count(o, "number", q->number);
	put_text(o, "name", f->config->name);
	put_text(o, "clock", clock_name(f));
	put_text(o, "state", is_over(f) ? "over" : "running");
	result_count(o, "now_ps", is_over(f) ? f->ended : mf_fabric_now(f));
	if (fabric_has_compute(f) || fabric_whole(f))
		json_object_set_new(o, "operations", operations_json(f, result_all(f), RESULT_COUNTS, NULL));
	if (fabric_has_node(f))
		json_object_set_new(o, "frames", frames_json(f, result_all(f), RESULT_COUNTS));
	json_object_set_new(o, "drops", drops_json(f));
	return o;
}

json_t *telemetry_scheduler(struct telemetry_query *q)
{
	if (!mf_config_schedules(q->f->config))
		return telemetry_refuse(q, "stack '%s' has no scheduler", q->f->config->tier->stack.name);
	if (!fabric_has_switch(q->f))
		return telemetry_refuse(q, "another process plays the scheduler");
	return sched_json(q->f->tier);
}

json_t *telemetry_switch(struct telemetry_query *q)
{
	json_t *o, *drops;

	if (q->f->graph->switches == 0)
		return telemetry_refuse(q, "the fabric has no switch");
	if (q->f->tier->switches == 0)
		return telemetry_refuse(q, "tier '%.63s' has no switch", q->f->tier->config->name);
	if (!fabric_has_switch(q->f))
		return telemetry_refuse(q, "another process plays the switch");
	if (!mf_config_schedules(q->f->config))
		return bridge_json(q->f->tier);
	o = switch_json(q->f->tier);
	drops = drops_json(q->f);
	json_object_set(o, "drops", json_object_get(drops, "switch"));
	json_decref(drops);
	return o;
}

json_t *telemetry_watchdog(struct telemetry_query *q)
{
	if (q->f->watched == NULL)
		return telemetry_refuse(q, "nobody looks after this fabric's roles");
	return watch_json(q->f->watched);
}
