/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry of the parts of a fabric: nodes, links, and the ports that carry some. */
#include <string.h>

#include "config/mf_config_query.h"
#include "measure/mf_live.h"
#include "result/mf_result.h"
#include "result/mf_tunnels.h"
#include "telemetry/telemetry.h"
#include "wall/ports/mf_tunnel_stats.h"

static const char *name_of_node(const void *ctx, unsigned int i)
{
	const struct mf_fabric *f = ctx;

	return f->node[i].host != NULL ? f->config->node[i].name : NULL;
}

/** One end of it is here. */
static const char *name_of_link(const void *ctx, unsigned int i)
{
	const struct mf_fabric *f = ctx;

	return f->node[i].host != NULL || fabric_switch_of(f, fabric_port_of(f, 0, i)) != NULL
		       ? f->config->node[i].name
		       : NULL;
}

/* Nodes */

static json_t *host_json(const struct result_counts *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "rx_messages", counts_section(c, "host.rx_messages"));
	json_object_set_new(o, "tx_messages", counts_section(c, "host.tx_messages"));
	result_section(o, c->table, "host", &c->sum);
	return o;
}

json_t *telemetry_node_of(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	struct result_counts counts;
	struct result_nodes one;
	const struct node *n;
	json_t *o;
	int i;

	if (q->name == NULL)
		return telemetry_names(q, f->nodes, name_of_node, f);
	i = telemetry_node(q);
	if (i < 0)
		return NULL;
	n = &f->node[i];
	if (n->host == NULL)
		return telemetry_refuse(q, "another process plays '%.31s'", q->name);
	one = (struct result_nodes){(unsigned int)i, (unsigned int)i + 1};
	result_node_counted(n->host, &counts);
	o = json_object();
	json_object_set_new(o, "name", json_string(f->config->node[i].name));
	json_object_set_new(o, "role", json_string(mf_config_role_name(f->config->node[i].role)));
	json_object_set_new(o, "outstanding", json_integer(mf_node_outstanding(n->host)));
	json_object_set_new(o, "operations", operations_json(f, one, RESULT_COUNTS, NULL));
	json_object_set_new(o, "frames", frames_json(f, one, RESULT_COUNTS));
	json_object_set_new(o, "host", host_json(&counts));
	json_object_set_new(o, "drops", counts_section(&counts, "drops.hosts"));
	if (!mf_config_schedules(f->config))
		json_object_set_new(o, "stack", stack_json(f, one));
	return o;
}

/* Links */

static json_t *sent_json(const struct mf_mux_stats *s)
{
	json_t *o = json_object();

	result_count(o, "memory_blocks", s->memory_blocks);
	result_count(o, "messages", s->messages);
	result_count(o, "frame_blocks", s->frame_blocks);
	result_count(o, "frames", s->frames);
	result_count(o, "gap_blocks", s->gap_blocks);
	mux_json(s, (struct result_nodes){0, 1}, o);
	return o;
}

static json_t *received_json(const struct mf_demux_stats *s)
{
	json_t *o = json_object();

	result_count(o, "blocks", s->blocks);
	result_count(o, "memory_blocks", s->memory_blocks);
	result_count(o, "frame_blocks", s->frame_blocks);
	result_count(o, "idle_blocks", s->idle_blocks);
	result_count(o, "bad_blocks", s->bad_blocks);
	result_count(o, "aborted_messages", s->aborts);
	return o;
}

json_t *telemetry_link(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	const struct mf_sw *sw;
	json_t *o, *up, *down;
	unsigned int port;
	int i;

	if (q->name == NULL)
		return telemetry_names(q, f->nodes, name_of_link, f);
	i = telemetry_node(q);
	if (i < 0)
		return NULL;
	if (name_of_link(f, (unsigned int)i) == NULL)
		return telemetry_refuse(q, "another process has the link of '%.31s'", q->name);
	o = json_object();
	up = json_object();
	down = json_object();
	if (f->node[i].host != NULL) {
		json_object_set_new(up, "sent", sent_json(mf_node_mux_stats(f->node[i].host)));
		json_object_set_new(down, "received", received_json(&mf_node_demux(f->node[i].host)->stats));
	}
	sw = fabric_switch_of(f, fabric_port_of(f, 0, (unsigned int)i));
	if (sw != NULL) {
		port = fabric_port(f, fabric_port_of(f, 0, (unsigned int)i))->port;
		json_object_set_new(up, "received", received_json(&mf_sw_demux(sw, port)->stats));
		json_object_set_new(down, "sent", sent_json(mf_sw_mux_stats(sw, port)));
	}
	json_object_set_new(o, "to_switch", up);
	json_object_set_new(o, "from_switch", down);
	return o;
}

/* Ports */

static const struct carried_port *port_named(const struct carried *c, const char *name)
{
	for (unsigned int i = 0; c != NULL && i < c->ports; i++)
		if (strcmp(c->port[i].config->name, name) == 0)
			return &c->port[i];
	return NULL;
}

static const char *name_of_port(const void *ctx, unsigned int i)
{
	const struct carried *c = ctx;

	return c->port[i].config->name;
}

json_t *telemetry_port(struct telemetry_query *q)
{
	struct carried *c = carried_seen(q->f);
	const struct carried_port *p;
	json_t *o;

	if (q->name == NULL) {
		o = telemetry_names(q, c != NULL ? c->ports : 0, name_of_port, c);
	} else {
		p = port_named(c, q->name);
		o = p != NULL ? port_json(p)
			      : telemetry_refuse(q, "there is no port '%.31s' in this process", q->name);
	}
	carried_free(c);
	return o;
}

/** Nodes whose links are carried. */
struct carried_nodes {
	const struct mf_fabric *f;
	bool here[MF_PORTS_MAX];
};

static const char *name_of_carried(const void *ctx, unsigned int i)
{
	const struct carried_nodes *n = ctx;

	return n->here[i] ? n->f->config->node[i].name : NULL;
}

static json_t *carried_names(const struct telemetry_query *q, const struct carried *c)
{
	struct carried_nodes n = {.f = q->f};

	for (unsigned int i = 0; c != NULL && i < c->ends; i++)
		if (!fabric_is_trunk(q->f, q->f->graph->end[c->end[i].end].link))
			n.here[q->f->graph->end[c->end[i].end].link % q->f->nodes] = true;
	return telemetry_names(q, q->f->nodes, name_of_carried, &n);
}

/** At which end of a node's link, or at both. */
static json_t *ends_json(const struct mf_fabric *f, const struct carried *c, unsigned int node)
{
	json_t *o = json_object();

	for (unsigned int i = 0; c != NULL && i < c->ends; i++) {
		uint32_t link = f->graph->end[c->end[i].end].link;

		if (!fabric_is_trunk(f, link) && link % f->nodes == node)
			json_object_set_new(o, port_end_name(f, c->end[i].end), end_json(f, &c->end[i]));
	}
	return o;
}

json_t *telemetry_carried(struct telemetry_query *q)
{
	struct carried *c;
	json_t *o = NULL;
	int node = 0;

	if (q->name != NULL && (node = telemetry_node(q)) < 0)
		return NULL;
	c = carried_seen(q->f);
	o = q->name == NULL ? carried_names(q, c) : ends_json(q->f, c, (unsigned int)node);
	carried_free(c);
	if (json_object_size(o) > 0)
		return o;
	json_decref(o);
	return telemetry_refuse(q, "no port of this process carries the link of '%.31s'", q->name);
}
