/* SPDX-License-Identifier: BSD-3-Clause */
/* "ends" of an entry of "nodes": which of "switches" its nodes are at. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

/* Switches by their names, in the order of these; one may be named several times. */
struct dealt {
	const char *name; /* where it is one name */
	unsigned int n;
	uint16_t sw[MF_PORTS_MAX];
};

static int add_name(struct cfg *c, const char *name, struct dealt *d)
{
	unsigned int n = 0;
	int first = mf_config_switches(c->config, name, &n);

	if (first < 0)
		return cfg_fail(c, "there is no switch '%.64s'", name);
	if (d->n + n > MF_PORTS_MAX)
		return cfg_fail(c, "names more than %u switches", MF_PORTS_MAX);
	for (unsigned int i = 0; i < n; i++)
		d->sw[d->n++] = (uint16_t)((unsigned int)first + i);
	return 0;
}

static int read_to(struct cfg *c, const json_t *json, struct dealt *d)
{
	const json_t *name;
	int rc = 0;
	size_t i;

	if (json_is_string(json)) {
		d->name = json_string_value(json);
		return add_name(c, d->name, d);
	}
	if (!json_is_array(json) || json_array_size(json) == 0)
		return cfg_fail(c, "must be the name of a switch, or an array of such names");
	json_array_foreach((json_t *)(uintptr_t)json, i, name) {
		cfg_push_index(c, i);
		rc = cfg_is(c, name, JSON_STRING);
		if (rc == 0)
			rc = add_name(c, json_string_value(name), d);
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
	if (less > 0 && more <= MF_PORTS_MAX)
		return cfg_fail(c, "count %u is not a multiple of the %u switches %s: %u and %u are", count,
				d->n, what, less, more);
	return cfg_fail(c, "count %u is not a multiple of the %u switches %s: %u is", count, d->n, what,
			less > 0 ? less : more);
}

static int read_end(struct cfg *c, const json_t *json, unsigned int count, uint16_t *to)
{
	static const struct cfg_field to_field[] = {{.key = "to", .kind = CFG_NESTED}, {0}};
	struct dealt d = {0};
	int rc = cfg_object(c, json, to_field, NULL);

	if (rc != 0)
		return rc;
	if (json_object_get(json, "to") == NULL)
		return cfg_fail_key(c, "to", "is missing");
	cfg_push(c, "to");
	rc = read_to(c, json_object_get(json, "to"), &d);
	if (rc == 0)
		rc = deal(c, &d, count);
	cfg_pop(c);
	for (unsigned int i = 0; i < count && rc == 0; i++)
		to[i] = d.sw[i / (count / d.n)];
	return rc;
}

static int read_ends(struct cfg *c, const json_t *json, unsigned int count, uint16_t *to)
{
	int rc = cfg_is(c, json, JSON_ARRAY);

	if (rc == 0 && c->config->switches == 0)
		rc = cfg_fail(c, "has no effect: there are no 'switches'");
	if (rc == 0 && json_array_size(json) != 1)
		rc = cfg_fail(c, "has %zu entries: so far a node has one end", json_array_size(json));
	if (rc != 0)
		return rc;
	cfg_push_index(c, 0);
	rc = read_end(c, json_array_get(json, 0), count, to);
	cfg_pop(c);
	return rc;
}

/* The first free place of the topology; of a switch, if the node says which. */
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

int cfg_ends(struct cfg *c, const json_t *entry, unsigned int count, uint16_t *to, int *place)
{
	const json_t *json = json_object_get(entry, "ends");
	int rc = 0;

	memset(to, 0, count * sizeof(*to));
	if (json != NULL) {
		cfg_push(c, "ends");
		rc = read_ends(c, json, count, to);
		cfg_pop(c);
	}
	for (unsigned int i = 0; i < count && rc == 0; i++) {
		place[i] = c->topology.places > 0 ? take_place(c, json != NULL, &to[i]) : -1;
		if (place[i] < 0 && c->topology.places > 0)
			rc = -EINVAL;
	}
	return rc;
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

void cfg_put_ends(struct put *p, json_t *entry, unsigned int group)
{
	const struct mf_config *config = p->config;
	unsigned int count = config->group[group].count;
	uint16_t to[MF_PORTS_MAX] = {0};
	const char *name;
	json_t *end, *names;

	if (config->switches == 0)
		return;
	for (unsigned int i = 0; i < config->sw.ports; i++)
		if (config->node[i].up && config->node[i].group == group)
			to[place_in(config, &config->node[i])] = config->node[i].to;
	end = cfg_put_append(p, cfg_put_set(p, entry, "ends", json_array()), json_object());
	name = one_name(config, to, count);
	if (name != NULL) {
		cfg_put_set(p, end, "to", json_string(name));
		return;
	}
	names = cfg_put_set(p, end, "to", json_array());
	for (unsigned int i = 0; i < count; i++)
		cfg_put_append(p, names, json_string(config->switch_list[to[i]].name));
}
