/* SPDX-License-Identifier: BSD-3-Clause */
/* "ends" of an entry of "nodes": which of "switches" its nodes are at, and in which tiers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

/* Switches by their names, in the order of these; one may be named several times. */
struct dealt {
	const char *name; /* where it is one name */
	unsigned int n;
	uint16_t sw[MF_NODES_MAX];
};

static int add_name(struct cfg *c, const json_t *json, struct dealt *d)
{
	const char *name = json_string_value(json);
	struct mf_config_switch_set set;
	unsigned int n = mf_config_switches(c->config, name, &set);

	if (n == 0 && cfg_is_node(c, json) && mf_config_has_tiers(c->config))
		return cfg_fail(c, "'%.64s' is a node: 'tier' has to say of which network their link is",
				name);
	if (n == 0 && cfg_is_node(c, json))
		return cfg_fail(
			c,
			"'%.64s' is a node: two nodes with a link to each other are a network of their "
			"own, without a switch",
			name);
	if (n == 0)
		return cfg_fail(c, "there is no switch '%.64s'", name);
	if (d->n + n > MF_NODES_MAX)
		return cfg_fail(c, "names more than %u switches", MF_NODES_MAX);
	for (unsigned int i = 0; i < c->config->switches; i++)
		if (mf_config_has_switch(&set, i))
			d->sw[d->n++] = (uint16_t)i;
	return 0;
}

static int read_to(struct cfg *c, const json_t *json, struct dealt *d)
{
	const json_t *name;
	int rc = 0;
	size_t i;

	if (json_is_string(json)) {
		d->name = json_string_value(json);
		return add_name(c, json, d);
	}
	if (!json_is_array(json) || json_array_size(json) == 0)
		return cfg_fail(c, "must be the name of a switch, or an array of such names");
	json_array_foreach((json_t *)(uintptr_t)json, i, name) {
		cfg_push_index(c, i);
		rc = cfg_is(c, name, JSON_STRING);
		if (rc == 0)
			rc = add_name(c, name, d);
		cfg_pop(c);
		if (rc != 0)
			break;
	}
	return rc;
}

/* Nodes of one entry in equal parts, a part at each of several switches. */
static int deal(struct cfg *c, const struct dealt *d, unsigned int count)
{
	unsigned int less = count / d->n * d->n, more = less + d->n;
	char what[MF_CONFIG_NAME_LEN + 16] = "named here";

	if (less == count)
		return 0;
	if (d->name != NULL)
		snprintf(what, sizeof(what), "of '%.*s'", MF_CONFIG_NAME_LEN, d->name);
	if (less > 0 && more <= MF_NODES_MAX)
		return cfg_fail(c, "count %u is not a multiple of the %u switches %s: %u and %u are", count,
				d->n, what, less, more);
	return cfg_fail(c, "count %u is not a multiple of the %u switches %s: %u is", count, d->n, what,
			less > 0 ? less : more);
}

/* The tier of switches: they are all of one. Without tiers all are of the first. */
static int tier_of(struct cfg *c, const struct dealt *d, int *tier)
{
	const struct mf_config *config = c->config;

	for (unsigned int i = 0; i < d->n; i++) {
		const struct mf_config_switch *sw = &config->switch_list[d->sw[i]];

		if (*tier >= 0 && sw->tier != *tier)
			return cfg_fail(c, "switch '%s' is in tier '%s', not in '%s'", sw->name,
					config->tier[sw->tier].name, config->tier[*tier].name);
		*tier = sw->tier;
	}
	return 0;
}

/* Several ends of a node in a tier have numbers of their own there, and what they share is the memory. */
static int check_several(struct cfg *c, unsigned int tier)
{
	const struct mf_config_tier *t = &c->config->tier[tier];

	if (c->topology.places > 0 && c->topology.tier == tier)
		return cfg_fail(c, "is the second one in that network: 'topology' has a place for one");
	if (t->stack_ops != NULL && !t->stack_ops->messages && !t->stack_ops->one_switch)
		return 0;
	return cfg_fail(c, "is the second one in that network: with stack \"%s\" a node has one",
			t->stack.name);
}

/* Which switches end k of the nodes is at; the keys of its link are read with those of "links". */
static int read_end(struct cfg *c, const json_t *json, unsigned int count, unsigned int k, struct cfg_ends *e)
{
	static const struct cfg_field fields[] = {{.key = "tier"}, {.key = "to"}, {0}};
	const json_t *to = json_object_get(json, "to");
	struct dealt d = {.n = 1};
	int tier = mf_config_has_tiers(c->config) ? -1 : 0, rc = cfg_known(c, json, fields, cfg_link_fields);
	bool direct;

	if (rc == 0)
		rc = cfg_tier_of(c, json, &tier);
	direct = tier >= 0 && c->config->tier[tier].direct;
	if (rc == 0 && to == NULL && !mf_config_has_tiers(c->config))
		return cfg_fail_key(c, "to", "is missing");
	cfg_push(c, "to");
	if (rc == 0 && direct)
		rc = cfg_direct_end(c, to);
	if (rc == 0 && to != NULL && !direct) {
		d.n = 0;
		rc = read_to(c, to, &d);
	}
	if (rc == 0 && to != NULL && !direct)
		rc = tier_of(c, &d, &tier);
	if (rc == 0)
		rc = deal(c, &d, count);
	cfg_pop(c);
	if (rc != 0)
		return rc;
	if (to == NULL || direct)
		d.sw[0] = (uint16_t)c->config->tier[tier < 0 ? 0 : tier].first_switch;
	for (unsigned int i = 0; i < count; i++)
		e->to[k * count + i] = d.sw[i / (count / d.n)];
	e->tier[k] = (uint16_t)(tier < 0 ? 0 : tier);
	e->json[k] = json;
	for (unsigned int i = 0; i < k; i++)
		if (e->tier[i] == e->tier[k])
			return check_several(c, e->tier[k]);
	return 0;
}

static int read_ends(struct cfg *c, const json_t *json, unsigned int count, struct cfg_ends *e)
{
	int rc = cfg_is(c, json, JSON_ARRAY);

	if (rc == 0 && c->config->switches == 0 && !mf_config_has_tiers(c->config) &&
	    !c->config->tier->direct)
		rc = cfg_fail(c, "has no effect: there are no 'switches'");
	if (rc == 0 && json_array_size(json) == 0)
		rc = cfg_fail(c, "has no entry");
	if (rc == 0 && json_array_size(json) > CFG_ENDS_MAX)
		rc = cfg_fail(c, "has %zu entries, a node has %u ends at most", json_array_size(json),
			      CFG_ENDS_MAX);
	if (rc != 0)
		return rc;
	e->n = (unsigned int)json_array_size(json);
	for (unsigned int k = 0; k < e->n && rc == 0; k++) {
		cfg_push_index(c, k);
		rc = read_end(c, json_array_get(json, k), count, k, e);
		cfg_pop(c);
	}
	return rc;
}

/* The first free place of the topology; of a switch, if the node says which. @return -1: there is none */
static int take_place(struct cfg *c, bool named, uint16_t *to)
{
	struct cfg_topology *t = &c->topology;
	unsigned int of_switch = 0;

	for (unsigned int i = 0; i < t->places; i++) {
		struct cfg_place *p = &t->place[i];

		if (named && p->sw != *to)
			continue;
		of_switch++;
		if (p->taken)
			continue;
		p->taken = true;
		*to = p->sw;
		return (int)i;
	}
	if (named)
		cfg_fail_key(c, "ends", "switch '%s' has no place left, of %u",
			     c->config->switch_list[*to].name, of_switch);
	else
		cfg_fail(c, "the topology has %u places for nodes, and none is left", t->places);
	return -1;
}

/* Nodes with an end in the tier of the topology take a place there each. */
static int take_places(struct cfg *c, bool tiers, unsigned int count, struct cfg_ends *e)
{
	unsigned int k = 0;
	int rc = 0;

	for (unsigned int i = 0; i < count; i++)
		e->place[i] = -1;
	while (k < e->n && e->tier[k] != c->topology.tier)
		k++;
	for (unsigned int i = 0; i < count && rc == 0 && k < e->n && c->topology.places > 0; i++) {
		bool named = tiers ? json_object_get(e->json[k], "to") != NULL : e->json[k] != NULL;

		e->place[i] = take_place(c, named, &e->to[k * count + i]);
		rc = e->place[i] < 0 ? -EINVAL : 0;
	}
	return rc;
}

int cfg_ends(struct cfg *c, const json_t *entry, unsigned int count, unsigned int tier, struct cfg_ends *e)
{
	const json_t *json = json_object_get(entry, "ends");
	size_t ends = json_array_size(json) > 0 ? json_array_size(json) : 1;
	int rc = 0;

	*e = (struct cfg_ends){.n = 1, .tier = {(uint16_t)tier}};
	e->to = calloc(ends * count, sizeof(*e->to));
	e->place = calloc(count, sizeof(*e->place));
	if (e->to == NULL || e->place == NULL)
		return cfg_fail_memory(c);
	for (unsigned int i = 0; i < count; i++)
		e->to[i] = (uint16_t)c->config->tier[tier].first_switch;
	if (json != NULL) {
		cfg_push(c, "ends");
		rc = read_ends(c, json, count, e);
		cfg_pop(c);
	}
	return rc == 0 ? take_places(c, mf_config_has_tiers(c->config), count, e) : rc;
}

void cfg_ends_free(struct cfg_ends *e)
{
	free(e->to);
	free(e->place);
}

/* Room for n ends more, in the configuration and beside it. */
static int make_room(struct cfg *c, unsigned int n)
{
	struct mf_config *config = c->config;
	struct mf_config_end *end = reallocarray(config->end, config->ends + n, sizeof(*end));
	struct cfg_mark *more;

	if (end == NULL)
		return cfg_fail_memory(c);
	memset(end + config->ends, 0, n * sizeof(*end));
	config->end = end;
	more = reallocarray(c->more, config->ends + n, sizeof(*more));
	if (more == NULL)
		return cfg_fail_memory(c);
	c->more = more;
	config->ends += n;
	return 0;
}

int cfg_ends_take(struct cfg *c, const struct cfg_ends *e, unsigned int count, unsigned int i,
		  struct cfg_node *node)
{
	node->node.ends = e->n;
	node->node.more = c->config->ends;
	node->place = e->place[i];
	if (e->n > 1 && make_room(c, e->n - 1) != 0)
		return -ENOMEM;
	for (unsigned int k = 0; k < e->n; k++) {
		struct mf_config_end *end = cfg_end(c, node, k);

		end->tier = e->tier[k];
		end->to = e->to[k * count + i];
		*cfg_mark(c, node, k) = (struct cfg_mark){.json = e->json[k], .link = -1};
	}
	return 0;
}

struct mf_config_end *cfg_end(struct cfg *c, struct cfg_node *n, unsigned int k)
{
	return k == 0 ? &n->node.first : &c->config->end[n->node.more + k - 1];
}

struct cfg_mark *cfg_mark(struct cfg *c, struct cfg_node *n, unsigned int k)
{
	return k == 0 ? &n->first : &c->more[n->node.more + k - 1];
}

/* Which of the nodes of its entry a node is: their names end with it. */
static unsigned int place_in(const struct mf_config *config, const struct mf_config_node *n)
{
	const struct mf_config_group *g = &config->group[n->group];

	return g->count > 1 ? (unsigned int)strtoul(n->name + strlen(g->name), NULL, 10) : 0;
}

/* The entry of "switches" whose switches have these nodes in equal parts; or their only switch. */
static const char *one_name(const struct mf_config *config, const uint16_t *to, unsigned int count)
{
	unsigned int first = 0;

	if (count == 1 || (to[0] == to[count - 1] && memcmp(to, to + 1, (count - 1) * sizeof(*to)) == 0))
		return config->switch_list[to[0]].name;
	for (unsigned int g = 0; g < config->switch_groups; g++) {
		unsigned int n = config->switch_group[g].count, i = 0;

		while (count % n == 0 && i < count && to[i] == first + i / (count / n))
			i++;
		if (i == count)
			return config->switch_group[g].name;
		first += n;
	}
	return NULL;
}

/* End k of the nodes of an entry, all at switches of one tier. */
static void put_end(struct put *p, json_t *end, unsigned int group, unsigned int k)
{
	const struct mf_config *config = p->config;
	unsigned int count = config->group[group].count, tier = 0;
	uint16_t to[MF_NODES_MAX] = {0};
	const char *name;
	json_t *names;

	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && config->node[i].group == group) {
			to[place_in(config, &config->node[i])] = mf_config_end(config, i, k)->to;
			tier = mf_config_end(config, i, k)->tier;
		}
	if (mf_config_has_tiers(config))
		cfg_put_set(p, end, "tier", json_string(config->tier[tier].name));
	if (config->tier[tier].own_switch || config->tier[tier].direct)
		return;
	name = one_name(config, to, count);
	if (name != NULL) {
		cfg_put_set(p, end, "to", json_string(name));
		return;
	}
	names = cfg_put_set(p, end, "to", json_array());
	for (unsigned int i = 0; i < count; i++)
		cfg_put_append(p, names, json_string(config->switch_list[to[i]].name));
}

void cfg_put_ends(struct put *p, json_t *entry, const struct mf_config_node *n)
{
	json_t *ends;

	if (p->config->switches == 0 && !mf_config_has_tiers(p->config))
		return;
	ends = cfg_put_set(p, entry, "ends", json_array());
	for (unsigned int k = 0; k < n->ends; k++)
		put_end(p, cfg_put_append(p, ends, json_object()), n->group, k);
}
