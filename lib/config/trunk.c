/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between switches: entries of "links" with "between". How many ports each switch has, and whether all
 * nodes reach each other, follows from them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"

static const struct cfg_field entry_fields[] = {
	{.key = "between", .kind = CFG_NESTED},
	{.key = "count", .kind = CFG_U32, CFG_RANGE(1, MF_CONFIG_PARALLEL_MAX)},
	{0},
};

/* An entry: each switch from from[0] on with each one from from[1] on; each pair where both are the same. */
struct between {
	struct mf_config_between ends;
	uint32_t count; /* links of each pair */
	struct mf_config_link link;
};

struct trunks {
	struct between *entry;
	size_t entries, room;
	uint32_t *of_pair; /* [switches * switches]: links; then where the next one of the pair goes */
};

static bool are_same(const struct between *b)
{
	return b->ends.from[0] == b->ends.from[1] && b->ends.n[0] == b->ends.n[1] && b->ends.n[0] > 1;
}

static int check_ports(struct cfg *c, unsigned int sw, uint64_t ports)
{
	struct mf_config_switch *s = &c->config->switch_list[sw];

	if (s->ports + ports > MF_PORTS_MAX)
		return cfg_fail(c, "switch '%s' has %llu ports with it, at most %u", s->name,
				(unsigned long long)(s->ports + ports), MF_PORTS_MAX);
	s->ports += (unsigned int)ports;
	return 0;
}

static int count_ports(struct cfg *c, const struct between *b)
{
	bool same = are_same(b);
	int rc = 0;

	for (int side = 0; side < (same ? 1 : 2); side++)
		for (unsigned int i = 0; i < b->ends.n[side] && rc == 0; i++)
			rc = check_ports(c, b->ends.from[side] + i,
					 (uint64_t)b->count *
						 (same ? b->ends.n[0] - 1 : b->ends.n[1 - side]));
	return rc;
}

/* A switch has no link to itself. */
static int check_itself(struct cfg *c, const struct between *b)
{
	for (unsigned int i = 0; i < b->ends.n[0] && !are_same(b); i++)
		if (b->ends.from[0] + i >= b->ends.from[1] &&
		    b->ends.from[0] + i < b->ends.from[1] + b->ends.n[1])
			return cfg_fail_key(c, "between", "switch '%s' would have a link to itself",
					    c->config->switch_list[b->ends.from[0] + i].name);
	return 0;
}

/* One link of each pair as "link" has it. As octets: the writer compares links so first. */
static void begin_entry(const struct cfg *c, struct between *b)
{
	memset(b, 0, sizeof(*b));
	b->count = 1;
	memcpy(&b->link, &c->link, sizeof(b->link));
	memset(&b->link.disable, 0, sizeof(b->link.disable));
	cfg_llr_default(&b->link.llr);
}

static int read_entry(struct cfg *c, const json_t *json, struct between *b)
{
	int rc = cfg_known(c, json, entry_fields, cfg_link_fields);

	begin_entry(c, b);
	if (rc == 0 && json_object_get(json, "disable") != NULL)
		rc = cfg_fail_key(c, "disable", "is for links of nodes only so far");
	if (rc == 0)
		rc = cfg_read(c, json, entry_fields, &b->count);
	if (rc == 0)
		rc = cfg_link(c, json, true, &b->link);
	if (rc != 0)
		return rc;
	cfg_push(c, "between");
	rc = cfg_between(c, json_object_get(json, "between"), &b->ends);
	cfg_pop(c);
	if (rc == 0)
		rc = check_itself(c, b);
	return rc == 0 ? count_ports(c, b) : rc;
}

/* @return NULL: no memory */
static struct between *next_entry(struct trunks *t)
{
	size_t room = t->room != 0 ? 2 * t->room : 16;
	struct between *more;

	if (t->entries == t->room) {
		more = reallocarray(t->entry, room, sizeof(*more));
		if (more == NULL)
			return NULL;
		t->entry = more;
		t->room = room;
	}
	return &t->entry[t->entries++];
}

/* Links of "topology": an entry each. */
static int take_wires(struct cfg *c, struct trunks *t)
{
	int rc = 0;

	for (unsigned int i = 0; i < c->topology.wires && rc == 0; i++) {
		const struct cfg_wire *w = &c->topology.wire[i];
		struct between *b = next_entry(t);

		if (b == NULL)
			return cfg_fail_memory(c);
		begin_entry(c, b);
		b->ends = (struct mf_config_between){.from = {w->a, w->b}, .n = {1, 1}};
		if (w->period != 0)
			b->link.period = w->period;
		if (w->propagation != MF_NEVER)
			b->link.propagation = w->propagation;
		rc = count_ports(c, b);
	}
	return rc;
}

static int read_entries(struct cfg *c, const json_t *links, struct trunks *t)
{
	size_t i;
	json_t *entry;
	int rc = 0;

	json_array_foreach(links, i, entry) {
		struct between *b;

		if (json_object_get(entry, "between") == NULL)
			continue;
		cfg_push_index(c, i);
		if (c->topology.places > 0) {
			rc = cfg_fail_key(c, "between", "has no effect: 'topology' says which there are");
			cfg_pop(c);
			break;
		}
		b = next_entry(t);
		rc = b != NULL ? read_entry(c, entry, b) : cfg_fail_memory(c);
		cfg_pop(c);
		if (rc != 0)
			break;
	}
	return rc;
}

/* Calls fn for each pair of switches of an entry, a < b. */
static void for_pairs(struct mf_config *config, const struct between *b, uint32_t *of_pair,
		      void (*fn)(struct mf_config *config, const struct between *b, uint32_t *pair,
				 unsigned int a, unsigned int z))
{
	for (unsigned int i = b->ends.from[0]; i < b->ends.from[0] + b->ends.n[0]; i++)
		for (unsigned int k = are_same(b) ? i + 1 : b->ends.from[1];
		     k < b->ends.from[1] + b->ends.n[1]; k++) {
			unsigned int a = i < k ? i : k, z = i < k ? k : i;

			fn(config, b, &of_pair[(size_t)a * config->switches + z], a, z);
		}
}

static void count_pair(struct mf_config *config, const struct between *b, uint32_t *pair, unsigned int a,
		       unsigned int z)
{
	(void)a, (void)z;
	*pair += b->count;
	config->trunks += b->count;
}

static void add_pair(struct mf_config *config, const struct between *b, uint32_t *pair, unsigned int a,
		     unsigned int z)
{
	bool swap = a - b->ends.from[0] >= b->ends.n[0]; /* the second end of the entry is the first switch */

	for (uint32_t i = 0; i < b->count; i++) {
		struct mf_config_trunk *t = &config->trunk[(*pair)++];

		*t = (struct mf_config_trunk){.a = (uint16_t)a, .b = (uint16_t)z, .link = b->link};
		for (int end = 0; end < MF_LINK_ENDS; end++)
			t->link.llr.port[end] = b->link.llr.port[swap ? 1 - end : end];
	}
}

/* In the order of their switches, whatever that of the entries is. */
static int make(struct cfg *c, struct trunks *t)
{
	struct mf_config *config = c->config;
	size_t pairs = (size_t)config->switches * config->switches;
	uint32_t next = 0;

	t->of_pair = calloc(pairs, sizeof(*t->of_pair));
	if (t->of_pair == NULL)
		return cfg_fail_memory(c);
	for (size_t i = 0; i < t->entries; i++)
		for_pairs(config, &t->entry[i], t->of_pair, count_pair);
	for (size_t i = 0; i < pairs; i++) {
		uint32_t n = t->of_pair[i];

		t->of_pair[i] = next;
		next += n;
	}
	config->trunk = calloc(config->trunks + 1, sizeof(*config->trunk));
	if (config->trunk == NULL)
		return cfg_fail_memory(c);
	for (size_t i = 0; i < t->entries; i++)
		for_pairs(config, &t->entry[i], t->of_pair, add_pair);
	return 0;
}

/* The switch that stands for all that are joined with sw. */
static uint16_t part_of(uint16_t *joined, uint16_t sw)
{
	while (joined[sw] != sw)
		sw = joined[sw] = joined[joined[sw]];
	return sw;
}

/* Every node has a path to every other one, and every switch has a link. */
static int check_paths(struct cfg *c)
{
	const struct mf_config *config = c->config;
	const struct mf_config_node *first = NULL;
	uint16_t joined[MF_CONFIG_SWITCH_LIST_MAX];

	for (unsigned int i = 0; i < config->switches; i++)
		joined[i] = (uint16_t)i;
	for (unsigned int i = 0; i < config->trunks; i++) {
		uint16_t a = part_of(joined, config->trunk[i].a), b = part_of(joined, config->trunk[i].b);

		joined[a > b ? a : b] = a < b ? a : b;
	}
	for (unsigned int i = 0; i < config->sw.ports; i++) {
		const struct mf_config_node *n = &config->node[i];

		if (n->up && first == NULL)
			first = n;
		if (n->up && part_of(joined, n->to) != part_of(joined, first->to))
			return cfg_fail(c, "there is no path from node '%s' to node '%s'", first->name,
					n->name);
	}
	for (unsigned int i = 0; i < config->switches; i++)
		if (config->switch_list[i].ports == 0)
			return cfg_fail(c, "switch '%s' has no link", config->switch_list[i].name);
	return 0;
}

int cfg_trunks(struct cfg *c, const json_t *root)
{
	const json_t *links = json_object_get(root, "links");
	struct mf_config *config = c->config;
	struct trunks t = {0};
	int rc;

	for (unsigned int i = 0; i < config->switches; i++)
		config->switch_list[i].ports = 0;
	for (unsigned int i = 0; i < config->sw.ports && config->switches > 0; i++)
		config->switch_list[config->node[i].to].ports += config->node[i].up;
	cfg_push(c, links != NULL ? "links" : "switches");
	rc = read_entries(c, links, &t);
	if (rc == 0)
		rc = take_wires(c, &t);
	if (rc == 0 && config->switches > 0)
		rc = make(c, &t);
	if (rc == 0 && config->switches > 0)
		rc = check_paths(c);
	cfg_pop(c);
	free(t.entry);
	free(t.of_pair);
	return rc;
}
