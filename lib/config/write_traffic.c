/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the effective configuration that says what the nodes do: "ethernet", "workload". */
#include "config/cfg_write.h"

static void put_ethernet(struct put *p, json_t *array)
{
	for (unsigned int i = 0; i < p->config->ethernets; i++) {
		const struct mf_config_ethernet *e = &p->config->ethernet[i];
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_set(p, json, "from", cfg_put_nodes(p, &e->from, NULL));
		cfg_put_set(p, json, "to", cfg_put_nodes(p, &e->to, NULL));
		cfg_put_fields(p, json, cfg_ethernet_fields, e);
	}
}

static json_t *put_point(struct put *p, const struct mf_config_size *s, unsigned int i)
{
	json_t *point = json_array();

	cfg_put_append(p, point, json_real(s->weight[i]));
	cfg_put_append(p, point, cfg_put_size(s->size[i]));
	return point;
}

static json_t *put_dist(struct put *p, const struct mf_config_size *s)
{
	bool list = s->dist == MF_CONFIG_LIST;
	json_t *json = json_object(), *array, *weights;

	cfg_put_set(p, json, "dist", json_string(cfg_dist_names[s->dist]));
	if (s->dist == MF_CONFIG_FIXED) {
		cfg_put_set(p, json, "value", cfg_put_size(s->size[0]));
	} else if (s->dist == MF_CONFIG_UNIFORM) {
		cfg_put_set(p, json, "min", cfg_put_size(s->size[0]));
		cfg_put_set(p, json, "max", cfg_put_size(s->size[1]));
	} else if (s->dist == MF_CONFIG_APP) {
		cfg_put_set(p, json, "name", json_string(cfg_app_names[s->app]));
	} else {
		array = cfg_put_set(p, json, list ? "values" : "points", json_array());
		weights = list ? cfg_put_set(p, json, "weights", json_array()) : NULL;
		for (unsigned int i = 0; i < s->n; i++) {
			cfg_put_append(p, array, list ? cfg_put_size(s->size[i]) : put_point(p, s, i));
			if (list)
				cfg_put_append(p, weights, json_real(s->weight[i]));
		}
	}
	return json;
}

static void put_file(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	cfg_put_set(p, json, "trace", json_string(w->trace.path));
	cfg_put_set(p, json, "digest", json_string(w->trace.digest));
	cfg_put_fields(p, json, cfg_trace_fields, &w->trace);
	if (w->trace.query != NULL)
		cfg_put_drop(json, (const char *const[]){"time_scale", "time_zero", NULL});
}

static void put_trace(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	static const char *const given[] = {"pattern", "rate",       "load",     "arrival", "burst",
					    "delay",   "operations", "measured", NULL};

	put_file(p, json, w);
	cfg_put_fields(p, json, cfg_workload_fields, w);
	cfg_put_drop(json, given);
	if (w->trace.addr != NULL)
		cfg_put_drop(json, (const char *const[]){"address", "span", NULL});
	if (w->address != MF_CONFIG_ZIPF_ADDRESS)
		json_object_del(json, "theta");
}

/* What queries and operations have in common. */
static void put_common(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	static const char *const open_keys[] = {"rate", "load", "arrival", "burst", NULL};

	cfg_put_set(p, json, "loop", json_string(w->open ? "open" : "closed"));
	cfg_put_fields(p, json, cfg_workload_fields, w);
	if (!w->ycsb.on && w->pattern != MF_CONFIG_ZIPF_TARGET && w->address != MF_CONFIG_ZIPF_ADDRESS)
		json_object_del(json, "theta");
	if (!w->open)
		cfg_put_drop(json, open_keys);
	else
		json_object_del(json, w->rate == 0 ? "rate" : "load");
	/* Those that are not in force are left out. */
	if (w->burst == 1)
		json_object_del(json, "burst");
	if (w->delay == 0)
		json_object_del(json, "delay");
	if (w->measured == 0)
		json_object_del(json, "measured");
}

static void put_drawn(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	json_t *mix;

	mix = cfg_put_set(p, json, "mix", json_object());
	for (int i = 0; i < MF_MIXES; i++) {
		if (w->mix[i] != 0)
			cfg_put_set(p, mix, cfg_mix_names[i], json_real(w->mix[i]));
	}
	if (w->mix[MF_MIX_READ] + w->mix[MF_MIX_WRITE] + w->mix[MF_MIX_WRITE_ACK] + w->mix[MF_MIX_CALL] > 0)
		cfg_put_set(p, json, "size", put_dist(p, &w->size));
	put_common(p, json, w);
}

static void put_workload(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	cfg_put_set(p, json, "nodes", cfg_put_nodes(p, &w->clients, cfg_is_compute));
	cfg_put_set(p, json, "targets", cfg_put_nodes(p, &w->targets, cfg_is_memory));
	if (w->ycsb.on) {
		put_common(p, json, w);
		cfg_put_ycsb(p, json, w);
		if (w->trace.path != NULL)
			put_file(p, json, w);
	} else if (w->trace.path != NULL) {
		put_trace(p, json, w);
	} else {
		put_drawn(p, json, w);
	}
	if (!w->lost_is_empty)
		json_object_del(json, "lost_is_empty");
	cfg_put_spaces(p, json, w);
}

void cfg_put_traffic(struct put *p, json_t *root)
{
	const struct mf_config *config = p->config;
	json_t *array;

	put_ethernet(p, cfg_put_set(p, root, "ethernet", json_array()));
	array = cfg_put_set(p, root, "workload", json_array());
	for (unsigned int i = 0; i < config->workloads; i++)
		put_workload(p, cfg_put_append(p, array, json_object()), &config->workload[i]);
}
