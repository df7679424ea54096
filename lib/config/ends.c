/* SPDX-License-Identifier: BSD-3-Clause */
/* "ends" of an entry of "nodes": which of "switches" its nodes are at. */
#include <errno.h>

#include "config/cfg_write.h"

/* Nodes of one entry in equal parts, a part at each of several switches. */
static int deal(struct cfg *c, const char *to, unsigned int count, unsigned int switches, unsigned int *each)
{
	unsigned int less = count / switches * switches, more = less + switches;

	*each = count / switches;
	if (less == count)
		return 0;
	if (less > 0 && more <= MF_PORTS_MAX)
		return cfg_fail_key(c, "to",
				    "count %u is not a multiple of the %u switches of '%s': %u and %u are",
				    count, switches, to, less, more);
	return cfg_fail_key(c, "to", "count %u is not a multiple of the %u switches of '%s': %u is", count,
			    switches, to, less > 0 ? less : more);
}

static int read_end(struct cfg *c, const json_t *json, unsigned int count, unsigned int *first,
		    unsigned int *each)
{
	static const struct cfg_field to_field[] = {{.key = "to", .kind = CFG_NAME}, {0}};
	char to[MF_CONFIG_NAME_LEN] = "";
	unsigned int switches = 0;
	int rc = cfg_object(c, json, to_field, to), at;

	if (rc != 0)
		return rc;
	if (json_object_get(json, "to") == NULL)
		return cfg_fail_key(c, "to", "is missing");
	at = mf_config_switches(c->config, to, &switches);
	if (at < 0)
		return cfg_fail_key(c, "to", "there is no switch '%s'", to);
	*first = (unsigned int)at;
	return deal(c, to, count, switches, each);
}

int cfg_ends(struct cfg *c, const json_t *entry, unsigned int count, unsigned int *first, unsigned int *each)
{
	const json_t *json = json_object_get(entry, "ends");
	int rc;

	*first = 0;
	*each = count;
	if (json == NULL)
		return 0;
	cfg_push(c, "ends");
	rc = cfg_is(c, json, JSON_ARRAY);
	if (rc == 0 && c->config->switches == 0)
		rc = cfg_fail(c, "has no effect: there are no 'switches'");
	if (rc == 0 && json_array_size(json) != 1)
		rc = cfg_fail(c, "has %zu entries: so far a node has one end", json_array_size(json));
	if (rc == 0) {
		cfg_push_index(c, 0);
		rc = read_end(c, json_array_get(json, 0), count, first, each);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

/* The entry of "switches" that switch number sw is of. */
static const struct mf_config_group *group_of(const struct mf_config *config, unsigned int sw)
{
	const struct mf_config_group *g = config->switch_group;

	for (; sw >= g->count; g++)
		sw -= g->count;
	return g;
}

void cfg_put_ends(struct put *p, json_t *entry, unsigned int group)
{
	const struct mf_config *config = p->config;
	unsigned int first = config->switches, last = 0;
	json_t *end;

	if (config->switches == 0)
		return;
	for (unsigned int i = 0; i < config->sw.ports; i++) {
		const struct mf_config_node *n = &config->node[i];

		if (!n->up || n->group != group)
			continue;
		first = n->to < first ? n->to : first;
		last = n->to > last ? n->to : last;
	}
	end = cfg_put_append(p, cfg_put_set(p, entry, "ends", json_array()), json_object());
	cfg_put_set(
		p, end, "to",
		json_string(first == last ? config->switch_list[first].name : group_of(config, first)->name));
}
