/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric of a configuration, for one of the two clocks: made of its parts (make_*.c), run, freed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_regions.h"
#include "fabric/mf_link_guard.h"
#include "fabric/mf_make.h"
#include "measure/mf_cycle_account.h"
#include "measure/mf_delivery.h"
#include "measure/mf_message_log.h"
#include "measure/mf_run_history.h"
#include "measure/mf_series.h"
#include "measure/mf_stages.h"
#include "run/idle.h"
#include "run/mf_fabric.h"
#include "run/mf_unloaded.h"
#include "virtual/mf_virtual_run.h"
#include "wall/mf_wall_run.h"
#include "wall/ports/mf_tunnel_stats.h"

static int make_switches(struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->graph->switches; k++) {
		f->sw[k].sw = make_switch(f, k, err, errlen);
		f->sw[k].sched = f->sw[k].sw != NULL ? make_sched(f, k, err, errlen) : NULL;
		if (f->sw[k].sched == NULL)
			return -EINVAL;
	}
	return 0;
}

/** What all nodes of a stack share, where that has something. */
static int make_stack(struct mf_fabric *f, struct fabric_tier *t, char *err, size_t errlen)
{
	const struct mf_stack_ops *stack = t->config->stack_ops;

	if (stack != NULL && f->clock == MF_CLOCK_WALL && !stack->wall)
		return make_fail(err, errlen, "stack: \"%s\" runs under the virtual clock only", stack->name);
	if (stack != NULL && f->clock == MF_CLOCK_WALL && t->config->bridge_ops->timed)
		return make_fail(err, errlen, "switch.bridge: \"%s\" runs under the virtual clock only",
				 t->config->bridge_ops->name);
	if (stack == NULL || stack->share == NULL)
		return 0;
	t->shared = stack->share((uint16_t)t->nodes, t->config->stack.param);
	f->shares |= t->shared != NULL;
	return t->shared != NULL ? 0 : make_fail(err, errlen, "no memory");
}

static int make_stacks(struct mf_fabric *f, char *err, size_t errlen)
{
	int e = 0;

	for (unsigned int k = 0; k < f->tiers && e == 0; k++)
		e = make_stack(f, &f->tier[k], err, errlen);
	return e;
}

/** @return 0 or -ENOMEM */
static int make_longest_rtts(struct mf_fabric *f)
{
	int e = 0;

	for (unsigned int k = 0; k < f->tiers && e == 0; k++)
		if (f->routes != NULL && f->tier[k].switches > 0 && f->tier[k].config->bridge_ops != NULL)
			e = make_longest_rtt(&f->tier[k]);
	return e;
}

/** In the order in which parts need each other. */
static int make(struct mf_fabric *f, char *err, size_t errlen)
{
	int e = 0;

	if (f->node == NULL || f->fault_fired == NULL || make_tiers(f) != 0 || make_graph(f) != 0 ||
	    snapshot_init(&f->at_measure, f) != 0 || snapshot_init(&f->at_stop, f) != 0)
		return make_fail(err, errlen, "no memory");
	if (f->clock == MF_CLOCK_VIRTUAL && probe_init(f) != 0)
		return make_fail(err, errlen, "no memory");
	make_links(f);
	for (unsigned int k = 0; k < f->tiers; k++)
		bound_init(&f->tier[k]);
	if (make_longest_rtts(f) != 0)
		return make_fail(err, errlen, "no memory");
	if (make_check_routes(f, err, errlen) != 0 || make_faults(f, err, errlen) != 0)
		return -EINVAL;
	if (guards_init(f) != 0)
		return make_fail(err, errlen, "no memory");
	if (f->config->regions > 0 && regions_map(f) != 0)
		return make_fail(err, errlen, "no memory");
	e = make_stacks(f, err, errlen);
	for (unsigned int i = 0; i < f->nodes && e == 0; i++)
		if (f->plays.node[i])
			e = make_node(f, i, err, errlen);
	return e == 0 ? make_switches(f, err, errlen) : e;
}

struct mf_fabric *fabric_new_idle(const struct mf_config *config, enum mf_clock clock, bool loads,
				  const struct mf_process_roles *plays, char *err, size_t errlen)
{
	struct mf_fabric *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		make_fail(err, errlen, "no memory");
		return NULL;
	}
	pthread_mutex_init(&f->readers, NULL);
	f->config = config;
	f->clock = clock;
	f->loads = loads;
	f->nodes = config->slots;
	fabric_take_roles(f, plays);
	if (!fabric_whole(f) && !f->plays.recorded)
		f->incarnation = fabric_new_incarnation();
	f->measure = config->clock[clock].warmup;
	f->stop = f->measure + config->clock[clock].duration;
	f->drain = config->clock[clock].drain;
	f->all_begun = MF_NEVER;
	f->node = mf_table_new(f->nodes, sizeof(*f->node));
	f->fault_fired = calloc(config->faults + 1, sizeof(*f->fault_fired));
	if (make(f, err, errlen) != 0) {
		mf_fabric_free(f);
		return NULL;
	}
	return f;
}

struct mf_fabric *mf_fabric_new(const struct mf_config *config, enum mf_clock clock, char *err, size_t errlen)
{
	return mf_fabric_new_process(config, clock, NULL, err, errlen);
}

/** Whether all that this process sends by itself has an end. */
static bool is_finite(const struct mf_fabric *f)
{
	bool any = false;

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];

		if (f->node[i].ether != NULL && n->ethernet >= 0)
			return false;
		if (f->node[i].client == NULL)
			continue;
		if (!mf_config_finite(&f->config->workload[n->workload]))
			return false;
		any = true;
	}
	return any;
}

struct mf_fabric *mf_fabric_new_process(const struct mf_config *config, enum mf_clock clock,
					const struct mf_process_roles *plays, char *err, size_t errlen)
{
	struct mf_fabric *f = fabric_new_idle(config, clock, true, plays, err, errlen);

	if (f == NULL)
		return NULL;
	if (load_clients(f, err, errlen) != 0 || load_frames(f, err, errlen) != 0) {
		mf_fabric_free(f);
		return NULL;
	}
	f->finite = is_finite(f);
	if (config->report_series != 0 && series_new(f, err, errlen) != 0) {
		mf_fabric_free(f);
		return NULL;
	}
	return f;
}

uint16_t mf_fabric_number(const struct mf_fabric *f, unsigned int node)
{
	return f->tier->number[node];
}

void mf_fabric_free(struct mf_fabric *f)
{
	if (f == NULL)
		return;
	for (unsigned int i = 0; i < f->nodes && f->node != NULL; i++) {
		struct node *n = &f->node[i];

		mf_client_free(n->client);
		mf_ether_free(n->ether);
		mf_layer_free(n->layer);
		mf_node_free(n->host);
		mf_regions_free(n->regions);
		mf_bandwidth_free(n->bandwidth);
		mf_slow_path_free(n->slow);
		if (n->memory != NULL)
			n->memory_ops->destroy(n->memory);
	}
	load_clients_fini(f);
	for (unsigned int k = 0; f->sw != NULL && k < f->graph->switches; k++) {
		mf_sw_free(f->sw[k].sw);
		mf_scheduler_free(f->sw[k].sched);
		if (f->sw[k].routes != f->routes)
			mf_routes_free(f->sw[k].routes);
	}
	free(f->sw);
	tiers_free(f);
	mf_routes_free(f->routes);
	free(f->trunk);
	stages_free(f->stages);
	pending_fini(&f->pending);
	delivery_free(f->delivery);
	messages_free(f->messages);
	unloaded_free(f->unloaded);
	series_free(f->series);
	cycles_free(f);
	tunnel_stats_free(f->tunnels);
	guards_fini(f);
	mf_history_free(f->history);
	free(f->watched);
	snapshot_fini(&f->at_measure);
	snapshot_fini(&f->at_stop);
	mf_table_free(f->node);
	free(f->link);
	mf_topology_free(f->graph);
	free(f->fault_fired);
	free(f->test);
	free(f->region);
	pthread_mutex_destroy(&f->readers);
	free(f);
}

int mf_fabric_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	int err;

	f->captures = options->captures;
	err = history_start(f, options->history);
	if (err != 0)
		return err;
	if (f->series != NULL)
		series_begin(f);
	err = f->clock == MF_CLOCK_VIRTUAL ? virtual_run(f, options) : wall_run(f, options);

	if (err == 0 && f->messages != NULL && f->config->report_normalised && !f->info.interrupted)
		f->unloaded = unloaded_new(f, options, f->unloaded_error, sizeof(f->unloaded_error));
	return err;
}

const char *mf_fabric_error(const struct mf_fabric *f)
{
	return f->info.error[0] != '\0' ? f->info.error : NULL;
}

const struct mf_history *mf_fabric_history(const struct mf_fabric *f)
{
	return history_of(f);
}
