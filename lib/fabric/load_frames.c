/* SPDX-License-Identifier: BSD-3-Clause */
/* Background frames of the configuration ("ethernet"). What a node sends and receives is in one network. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/load_priv.h"

/** Mean time between two frames of this size that make up this load, gap and preamble included. */
static mf_time frame_interval(const struct mf_config_ethernet *e, uint32_t period)
{
	return (mf_time)((e->size + 4.0 + 8.0 + 12.0) / 8.0 * period / e->load);
}

/** The network of what a node sends in the background; NULL: it sends nothing. */
static const struct fabric_tier *frames_out(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_node *n = &f->config->node[i];

	return n->ethernet >= 0 ? fabric_common_tier(f, i, n->frames_to) : NULL;
}

/**
 * The network of a node's background frames: what it sends and receives is in one.
 * @return NULL: it is not, and err says so
 */
static const struct fabric_tier *frames_tier(const struct mf_fabric *f, unsigned int i, char *err,
					     size_t errlen)
{
	const struct fabric_tier *t = frames_out(f, i), *in;

	for (unsigned int k = 0; f->tiers > 1 && k < f->nodes; k++) {
		if (f->config->node[k].ethernet < 0 || f->config->node[k].frames_to != i)
			continue;
		in = frames_out(f, k);
		if (t != NULL && in != t) {
			snprintf(err, errlen,
				 "ethernet: '%s' has frames in tiers '%s' and '%s': so far they are in one",
				 f->config->node[i].name, t->config->name, in->config->name);
			return NULL;
		}
		t = in;
	}
	return t != NULL ? t : fabric_end_tier(f, i, 0);
}

static struct mf_ether *new_ether(const struct mf_fabric *f, const struct fabric_tier *t, unsigned int i)
{
	const struct mf_config_node *n = &f->config->node[i];
	const struct mf_config_ethernet *e;
	struct mf_ether_flow flow;
	uint16_t target;
	struct mf_ether_config c = {
		.host = fabric_host(f, t, i),
		.node = t->number[i],
		.nodes = (uint16_t)t->nodes,
		.flows = &flow,
		.seed = load_seed(f, "ether", i),
		.start = node_clock(f, i, 0),
		.stop = node_clock(f, i, f->stop),
		.measure = node_clock(f, i, f->measure),
	};

	if (n->ethernet >= 0) {
		e = &f->config->ethernet[n->ethernet];
		target = t->number[n->frames_to];
		flow = (struct mf_ether_flow){
			.targets = &target,
			.targets_count = 1,
			.size = (uint16_t)(e->size + MF_FCS_LEN),
			.interval = frame_interval(e, fabric_link_config(f, t->link[t->number[i]])->period),
			.poisson = e->arrival == MF_CONFIG_POISSON,
		};
		c.flows_count = 1;
	}
	return mf_ether_new(&c);
}

int load_frames(struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct fabric_tier *t;

		if (!f->plays.node[i])
			continue;
		t = frames_tier(f, i, err, errlen);
		if (t == NULL)
			return -EINVAL;
		f->node[i].ether = new_ether(f, t, i);
		if (f->node[i].ether == NULL) {
			snprintf(err, errlen, "%s: cannot set up its frames: %s", f->config->node[i].name,
				 strerror(errno));
			return -errno;
		}
	}
	return 0;
}
