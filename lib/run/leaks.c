/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "fabric/mf_fabric_state.h"
#include "run/mf_leaks.h"

struct held {
	const char *what;
	uint64_t n;
};

/** @return whether any of them is held, and which */
static bool any(const char *who, const struct held *held, size_t n, char *err, size_t errlen)
{
	for (size_t i = 0; i < n; i++)
		if (held[i].n != 0) {
			snprintf(err, errlen, "%s: %llu %s are held for nobody", who,
				 (unsigned long long)held[i].n, held[i].what);
			return true;
		}
	return false;
}

static bool host_leaks(const struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	struct mf_host_held h;

	mf_node_held(f->node[i].host, f->ended, &h);
	const struct held held[] = {
		{"operations", h.operations},           {"ids", h.ids},
		{"active notifications", h.slots},      {"grants to be used", h.jobs},
		{"lanes of grants", h.lanes},           {"data buffers", h.buffers},
		{"memory blocks to be sent", h.blocks},
	};

	return any(f->config->node[i].name, held, sizeof(held) / sizeof(held[0]), err, errlen);
}

static bool switch_leaks(const struct mf_fabric *f, const struct mf_sw *sw, const char *name, char *err,
			 size_t errlen)
{
	struct mf_switch_held s;

	mf_sw_held(sw, f->ended, &s);
	const struct held held[] = {
		{"circuits", s.circuits},
		{"buffered requests", s.requests},
		{"grants behind requests", s.parked},
		{"messages that arrive", s.messages},
		{"blocks granted to a source", s.granted},
		{"blocks granted towards a port", s.inbound},
		{"memory blocks to be sent", s.blocks},
		{"demands that count for limits", s.outstanding},
		{"descriptors", s.descriptors},
	};

	return any(name, held, sizeof(held) / sizeof(held[0]), err, errlen);
}

static bool sched_leaks(const struct mf_scheduler *sched, char *err, size_t errlen)
{
	struct mf_sched_stats s;

	mf_scheduler_stats(sched, &s);
	return any("scheduler", &(struct held){"demands", s.entries}, 1, err, errlen);
}

bool mf_fabric_leaks(const struct mf_fabric *f, char *err, size_t errlen)
{

	if (f->config->tier->stack_ops != NULL || f->info.interrupted)
		return false;
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].host != NULL && host_leaks(f, i, err, errlen))
			return true;
	for (unsigned int k = f->graph->switches; k-- > 0;)
		if (switch_leaks(f, f->sw[k].sw, mf_config_switch_name(f->config, k), err, errlen) ||
		    sched_leaks(f->sw[k].sched, err, errlen))
			return true;
	return false;
}
