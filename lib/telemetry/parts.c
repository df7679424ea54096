/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry of the parts of a fabric: nodes, links, and the ports that carry some. */
#include <stdlib.h>
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

/** Links that there are to be named: the first ones of nodes, behind them those between switches, or nodes.
 */
struct link_names {
	const struct mf_fabric *f;
	char buf[FABRIC_LINK_NAME];
};

/** Whether this process plays a role at either end of a link. */
static bool has_end(const struct mf_fabric *f, uint32_t link)
{
	return fabric_plays_end(f, link, MF_LINK_NODE) || fabric_plays_end(f, link, MF_LINK_SWITCH);
}

/** One end of it is here. A link to another node has a name of its own. */
static const char *node_link(const struct mf_fabric *f, unsigned int i)
{
	if (fabric_is_direct(f, fabric_link(f, 0, i)))
		return NULL;
	return f->node[i].host != NULL || fabric_switch_of(f, fabric_port_of(f, 0, i)) != NULL
		       ? f->config->node[i].name
		       : NULL;
}

static const char *name_of_link(const void *ctx, unsigned int i)
{
	struct link_names *n = (struct link_names *)(uintptr_t)ctx;

	if (i < n->f->nodes)
		return node_link(n->f, i);
	i += n->f->node_links - n->f->nodes;
	return has_end(n->f, i) ? fabric_trunk_name(n->f, i, n->buf) : NULL;
}

/** How many links may have a name. */
static unsigned int named_links(const struct mf_fabric *f)
{
	return f->nodes + (f->trunk != NULL ? f->graph->links - f->node_links : 0);
}

/** The number of a link among these. */
static unsigned int name_number(const struct mf_fabric *f, uint32_t link)
{
	return fabric_is_trunk(f, link) ? f->nodes + link - f->node_links : fabric_link_node(f, link);
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
		return telemetry_refuse(q, "another process plays '%.63s'", q->name);
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
		json_object_set_new(o, "stack", stack_json(f->tier, one));
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

static void put_node_end(const struct mf_fabric *f, const struct mf_end *e, json_t *own, json_t *other)
{
	const struct mf_node *host = f->node[f->graph->role[e->role].number].host;

	if (host == NULL)
		return;
	json_object_set_new(own, "sent", sent_json(mf_mux_stats(mf_node_mux(host, e->port))));
	json_object_set_new(other, "received", received_json(&mf_node_demux_of(host, e->port)->stats));
}

/**
 * What a switch, or a node at the end of a link to another one, has sent and received by it.
 * @param own, other  of the two directions
 */
static void put_end(const struct mf_fabric *f, uint32_t end, json_t *own, json_t *other)
{
	const struct mf_end *e = &f->graph->end[end];
	unsigned int port = e->port;
	const struct mf_sw *sw;

	if (f->graph->role[e->role].kind == MF_VERTEX_NODE) {
		put_node_end(f, e, own, other);
		return;
	}
	sw = fabric_switch_of(f, end - fabric_first_port(f));
	if (sw == NULL)
		return;
	json_object_set_new(own, "sent", sent_json(mf_sw_mux_stats(sw, port)));
	json_object_set_new(other, "received", received_json(&mf_sw_demux(sw, port)->stats));
}

/** A link between switches, or nodes, as it is named: from the first one, and from the second. */
static json_t *trunk_json(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	json_t *o, *from_first, *from_second;
	const uint32_t *end;
	uint32_t first, link = fabric_find_trunk(f, q->name, &first);
	unsigned int side;

	if (link == MF_NONE)
		return telemetry_refuse(q, "there is no link '%.40s' between switches, or between nodes",
					q->name);
	if (!has_end(f, link))
		return telemetry_refuse(q, "other processes have the link '%.40s'", q->name);
	o = json_object();
	from_first = json_object();
	from_second = json_object();
	end = f->graph->link[link].end;
	side = f->graph->end[end[0]].role == first ? 0 : 1;
	put_end(f, end[side], from_first, from_second);
	put_end(f, end[!side], from_second, from_first);
	json_object_set_new(o, "from_first", from_first);
	json_object_set_new(o, "from_second", from_second);
	return o;
}

static bool is_trunk_name(const char *name)
{
	return strchr(name, ':') != NULL;
}

json_t *telemetry_link(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	struct link_names names = {.f = f};
	json_t *o, *up, *down;
	int i;

	if (q->name == NULL)
		return telemetry_names(q, named_links(f), name_of_link, &names);
	if (is_trunk_name(q->name))
		return trunk_json(q);
	i = telemetry_node(q);
	if (i < 0)
		return NULL;
	if (fabric_is_direct(f, fabric_link(f, 0, (unsigned int)i)))
		return telemetry_refuse(
			q, "the link of '%.63s' leads to another node: it is called NODE:NODE", q->name);
	if (node_link(f, (unsigned int)i) == NULL)
		return telemetry_refuse(q, "another process has the link of '%.63s'", q->name);
	o = json_object();
	up = json_object();
	down = json_object();
	if (f->node[i].host != NULL) {
		json_object_set_new(up, "sent", sent_json(mf_node_mux_stats(f->node[i].host)));
		json_object_set_new(down, "received", received_json(&mf_node_demux(f->node[i].host)->stats));
	}
	put_end(f, fabric_first_port(f) + fabric_port_of(f, 0, (unsigned int)i), down, up);
	json_object_set_new(o, "to_switch", up);
	json_object_set_new(o, "from_switch", down);
	return o;
}

/* Ports */

static const struct tunnel_port *port_named(const struct tunnel_stats *c, const char *name)
{
	for (unsigned int i = 0; c != NULL && i < c->ports; i++)
		if (strcmp(c->port[i].config->name, name) == 0)
			return &c->port[i];
	return NULL;
}

static const char *name_of_port(const void *ctx, unsigned int i)
{
	const struct tunnel_stats *c = ctx;

	return c->port[i].config->name;
}

json_t *telemetry_port(struct telemetry_query *q)
{
	struct tunnel_stats *c = tunnel_stats_seen(q->f);
	const struct tunnel_port *p;
	json_t *o;

	if (q->name == NULL) {
		o = telemetry_names(q, c != NULL ? c->ports : 0, name_of_port, c);
	} else {
		p = port_named(c, q->name);
		o = p != NULL ? port_json(p)
			      : telemetry_refuse(q, "there is no port '%.63s' in this process", q->name);
	}
	tunnel_stats_free(c);
	return o;
}

/** Links that ports carry, by their numbers among named_links(). */
struct tunnel_links {
	struct link_names names;
	bool *here;
};

static const char *name_of_tunnel(const void *ctx, unsigned int i)
{
	struct tunnel_links *c = (struct tunnel_links *)(uintptr_t)ctx;

	if (!c->here[i])
		return NULL;
	return i < c->names.f->nodes
		       ? c->names.f->config->node[i].name
		       : fabric_trunk_name(c->names.f, i + c->names.f->node_links - c->names.f->nodes,
					   c->names.buf);
}

/** The number of the link of an end: of a node's links to two switches the same. */
static uint32_t number_of(const struct mf_fabric *f, const struct tunnel_end *e)
{
	return name_number(f, f->graph->end[e->end].link);
}

static json_t *tunnel_names(const struct telemetry_query *q, const struct tunnel_stats *c)
{
	struct tunnel_links links = {.names = {.f = q->f}, .here = calloc(named_links(q->f), sizeof(bool))};
	json_t *o = NULL;

	if (links.here == NULL)
		return NULL;
	for (unsigned int i = 0; c != NULL && i < c->ends; i++)
		links.here[number_of(q->f, &c->end[i])] = true;
	o = telemetry_names(q, named_links(q->f), name_of_tunnel, &links);
	free(links.here);
	return o;
}

/** At which end of a link, or at both. */
static json_t *ends_json(const struct mf_fabric *f, const struct tunnel_stats *c, uint32_t number)
{
	json_t *o = json_object();

	for (unsigned int i = 0; c != NULL && i < c->ends; i++)
		if (number_of(f, &c->end[i]) == number)
			json_object_set_new(o, port_end_name(f, c->end[i].end), end_json(f, &c->end[i]));
	return o;
}

/** The link that is asked for. @return false: there is none */
static bool find_link(struct telemetry_query *q, uint32_t *number)
{
	uint32_t first, link;
	int node;

	if (!is_trunk_name(q->name)) {
		node = telemetry_node(q);
		*number = (uint32_t)node;
		return node >= 0;
	}
	link = fabric_find_trunk(q->f, q->name, &first);
	if (link == MF_NONE)
		telemetry_refuse(q, "there is no link '%.40s' between switches, or between nodes", q->name);
	else
		*number = name_number(q->f, link);
	return link != MF_NONE;
}

json_t *telemetry_tunnels(struct telemetry_query *q)
{
	struct tunnel_stats *c;
	uint32_t number = 0;
	json_t *o = NULL;

	if (q->name != NULL && !find_link(q, &number))
		return NULL;
	c = tunnel_stats_seen(q->f);
	o = q->name == NULL ? tunnel_names(q, c) : ends_json(q->f, c, number);
	tunnel_stats_free(c);
	if (json_object_size(o) > 0)
		return o;
	json_decref(o);
	return telemetry_refuse(q, "no port of this process carries the link of '%.63s'", q->name);
}
