/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result: load of the steady state, virtual clock. Wire load is blocks of all kinds on the busiest link
 * direction over its block rate (D17), payload load the same of the octets of reads and writes alone.
 *
 * Saturated is where less comes out than goes in, by more than chance and by more than a tolerance. By as
 * much as is completed less than offered, the backlog has grown of what waits at clients or is under way. In
 * a stable fabric that is a queue at two times, which differ by a few square roots of it, counted in
 * operations; where sizes differ, at most as if all that waits were of the largest ones.
 *
 * An offered load above 1 is more than the link carries, whatever comes out within a short time.
 */
#include <math.h>
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_delivery.h"
#include "measure/mf_window.h"
#include "result/mf_result.h"

#define TOLERANCE 0.02
#define DEVIATIONS 4

struct load {
	struct load_link *wire, *payload; /**< [fabric_host_ends()] */
};

static bool load_init(struct load *l, uint32_t ends)
{
	l->wire = calloc(ends, sizeof(*l->wire));
	l->payload = calloc(ends, sizeof(*l->payload));
	return l->wire != NULL && l->payload != NULL;
}

static void load_fini(struct load *l)
{
	free(l->wire);
	free(l->payload);
}

static double blocks(const struct mf_mux_stats *from, const struct mf_mux_stats *to)
{
	return (double)(to->memory_blocks - from->memory_blocks + to->frame_blocks - from->frame_blocks +
			to->gap_blocks - from->gap_blocks);
}

/** What a port of a node's link has sent: of two switches that which has sent more. */
static double sent_to(const struct mf_fabric *f, uint32_t link)
{
	unsigned int node = fabric_link_node(f, link), first = fabric_link_end(f, link);
	unsigned int ends = f->config->backup.on ? MF_CONFIG_SWITCHES : 1;
	double most = 0;

	for (unsigned int k = first; k < first + ends; k++) {
		unsigned int n = fabric_port_of(f, k, node);

		most = fmax(most, blocks(&f->at_measure.port[n], &f->at_stop.port[n]));
	}
	return most;
}

static void achieved(const struct mf_fabric *f, struct load *l)
{
	for (uint32_t i = 0; i < fabric_host_ends(f) && f->at_stop.at > f->at_measure.at; i++) {
		const struct delivery_payload *p = &f->delivery->payload[i];
		uint32_t link = fabric_host_end(f, i)->link;
		double time = result_line_time(f, fabric_link_config(f, link)->period);

		l->wire[i].up = blocks(&f->at_measure.host[i], &f->at_stop.host[i]) / time;
		if (!fabric_is_direct(f, link))
			l->wire[i].down = sent_to(f, link) / time;
		l->payload[i].up = (double)p->up / 8 / time;
		l->payload[i].down = (double)p->down / 8 / time;
	}
}

/** Of all links of nodes in one direction: what nodes send, or what switches send to them. */
static double mean(const struct mf_fabric *f, const struct load_link *link, bool up)
{
	uint32_t ends = up ? fabric_host_ends(f) : f->node_links, free_ports = f->nodes - f->config->nodes;
	double sum = 0;

	for (uint32_t i = 0; i < ends; i++)
		sum += (up ? link[i].up : link[i].down) *
		       fabric_link_config(f, fabric_host_end(f, i)->link)->period;
	return sum / (ends - free_ports);
}

static const char *direction(const struct mf_fabric *f, const struct load_busiest *where)
{
	if (fabric_is_direct(f, fabric_host_end(f, where->end)->link))
		return "to_node";
	return where->up ? "to_switch" : "from_switch";
}

static json_t *load_of(const struct mf_fabric *f, const struct load *l)
{
	struct load_busiest where = {0};
	json_t *o = json_object(), *busiest = json_object();

	where.up = f->node_links == 0;
	result_real(o, "wire", load_busiest(f, l->wire, &where));
	result_real(o, "wire_mean", mean(f, l->wire, where.up));
	result_real(o, "payload", load_busiest(f, l->payload, NULL));
	json_object_set_new(busiest, "node",
			    json_string(fabric_role_name(f, fabric_host_end(f, where.end)->role)));
	json_object_set_new(busiest, "direction", json_string(direction(f, &where)));
	json_object_set_new(o, "busiest", busiest);
	return o;
}

static bool saturated(const struct mf_fabric *f, const struct result_flow *octets)
{
	double offered = (double)octets->offered, growth = offered - (double)octets->completed;
	double before_and_after = 2 * (double)octets->waiting + growth;
	uint32_t largest = 0;

	for (unsigned int k = 0; k < f->config->workloads; k++)
		if (f->config->workload[k].size.max > largest)
			largest = f->config->workload[k].size.max;
	return growth > TOLERANCE * offered &&
	       growth > DEVIATIONS * sqrt(fmax(0, before_and_after) * largest);
}

/** What rates count, of all kinds together. */
static struct mf_client_done rated(const struct mf_fabric *f, const struct mf_window *w)
{
	struct mf_client_done sum = {0};

	for (unsigned int i = 0; i < f->nodes; i++) {
		for (unsigned int k = 0; f->node[i].client != NULL && k < MF_CLIENT_KINDS; k++) {
			struct mf_client_done done = mf_window_counts(w, mf_client_stats(f->node[i].client),
								      (enum mf_client_kind)k);

			sum.operations += done.operations;
			sum.octets += done.octets;
		}
	}
	return sum;
}

static json_t *flow_json(const struct mf_fabric *f, const struct mf_window *w,
			 const struct result_flow *messages, const struct result_flow *octets, bool open)
{
	struct mf_client_done done = rated(f, w);
	json_t *o = json_object();

	if (open) {
		result_real(o, "offered_per_s", mf_window_rate(w, messages->offered));
		result_real(o, "offered_gbps", mf_window_rate(w, octets->offered) * 8e-9);
	}
	result_real(o, "completed_per_s", mf_window_rate(w, done.operations));
	result_real(o, "completed_gbps", mf_window_rate(w, done.octets) * 8e-9);
	result_count(o, "waiting_at_begin", messages->waiting);
	result_count(o, "waiting_at_end", messages->waiting + messages->offered - messages->over);
	return o;
}

json_t *load_json(const struct mf_fabric *f, const struct mf_window *w)
{
	struct load offered = {0}, carried = {0};
	struct result_flow messages, octets;
	json_t *o = json_object();
	bool open;

	if (load_init(&offered, fabric_host_ends(f)) && load_init(&carried, fabric_host_ends(f))) {
		open = load_offered(f, offered.wire, offered.payload);
		achieved(f, &carried);
		result_steady(f, &messages, &octets);
		if (open)
			json_object_set_new(o, "offered", load_of(f, &offered));
		json_object_set_new(o, "achieved", load_of(f, &carried));
		json_object_set_new(o, "flow", flow_json(f, w, &messages, &octets, open));
		if (open)
			json_object_set_new(o, "saturated",
					    json_boolean(load_busiest(f, offered.wire, NULL) > 1 ||
							 saturated(f, &octets)));
	}
	load_fini(&offered);
	load_fini(&carried);
	return o;
}
