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

/* An entry: each switch of one end with each one of the other; each pair where both ends are the same. */
struct between {
	struct mf_config_between ends;
	uint32_t count; /* links of each pair */
	struct mf_config_link link;
};

struct trunks {
	struct between *entry;
	size_t entries, capacity;
	uint32_t *of_pair; /* [switches * switches]: links; then where the next one of the pair goes */
};

static unsigned int size_of(const struct mf_config_switch_set *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(set->word) / sizeof(set->word[0]); i++)
		n += (unsigned int)__builtin_popcountll(set->word[i]);
	return n;
}

/* The first switch of a set from one on, or MF_CONFIG_SWITCH_LIST_MAX. */
static unsigned int next_in(const struct mf_config_switch_set *set, unsigned int from)
{
	while (from < MF_CONFIG_SWITCH_LIST_MAX) {
		uint64_t left = set->word[from / 64] >> from % 64;

		if (left != 0)
			return from + (unsigned int)__builtin_ctzll(left);
		from = (from / 64 + 1) * 64;
	}
	return MF_CONFIG_SWITCH_LIST_MAX;
}

#define FOR_EACH(i, set, from) \
	for (unsigned int i = next_in(set, from); i < MF_CONFIG_SWITCH_LIST_MAX; i = next_in(set, i + 1))

static bool are_same(const struct between *b)
{
	return size_of(&b->ends.end[0]) > 1 &&
	       memcmp(&b->ends.end[0], &b->ends.end[1], sizeof(b->ends.end[0])) == 0;
}

static int check_ports(struct cfg *c, unsigned int sw, uint64_t ports)
{
	struct mf_config_switch *s = &c->config->switch_list[sw];

	if (s->ports + ports > MF_NODES_MAX)
		return cfg_fail(c, "switch '%s' has %llu ports with it, at most %u", s->name,
				(unsigned long long)(s->ports + ports), MF_NODES_MAX);
	s->ports += (unsigned int)ports;
	return 0;
}

static int count_ports(struct cfg *c, const struct between *b)
{
	bool same = are_same(b);
	int rc;

	for (int side = 0; side < (same ? 1 : 2); side++) {
		uint64_t others = size_of(&b->ends.end[1 - side]) - (same ? 1U : 0U);

		FOR_EACH(i, &b->ends.end[side], 0)
		{
			rc = check_ports(c, i, b->count * others);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}

/* A switch has no link to itself. */
static int check_itself(struct cfg *c, const struct between *b)
{
	for (unsigned int i = 0; i < c->config->switches && !are_same(b); i++)
		if (mf_config_is_between(&b->ends, (uint16_t)i, (uint16_t)i))
			return cfg_fail_key(c, "between", "switch '%s' would have a link to itself",
					    c->config->switch_list[i].name);
	return 0;
}

/* The tier of an entry: that of its first switch. */
static unsigned int tier_of(const struct cfg *c, const struct between *b)
{
	return c->config->switch_list[next_in(&b->ends.end[0], 0)].tier;
}

/* A link as "link" of its tier has it. As octets: the writer compares links so first. */
static void begin_link(const struct cfg *c, struct between *b)
{
	const struct mf_config *config = c->config;

	memcpy(&b->link, &config->tier[tier_of(c, b)].link, sizeof(b->link));
	memset(&b->link.disable, 0, sizeof(b->link.disable));
	cfg_llr_default(&b->link.llr);
}

/* A link leads from one switch to another one of its tier. */
static int check_tiers(struct cfg *c, const struct between *b)
{
	const struct mf_config *config = c->config;
	const struct mf_config_switch *one = &config->switch_list[next_in(&b->ends.end[0], 0)], *other;

	for (int side = 0; side < 2; side++) {
		FOR_EACH(i, &b->ends.end[side], 0)
		{
			other = &config->switch_list[i];
			if (one->tier != other->tier)
				return cfg_fail_key(c, "between",
						    "switch '%s' is in tier '%s' and '%s' in '%s': a link is "
						    "within one tier",
						    one->name, config->tier[one->tier].name, other->name,
						    config->tier[other->tier].name);
		}
	}
	return 0;
}

static int read_entry(struct cfg *c, const json_t *json, struct between *b)
{
	int rc = cfg_known(c, json, entry_fields, cfg_link_fields);

	if (rc == 0) {
		cfg_push(c, "between");
		rc = cfg_between(c, json_object_get(json, "between"), &b->ends);
		cfg_pop(c);
	}
	if (rc == 0)
		rc = check_tiers(c, b);
	if (rc == 0 && c->topology.places > 0 && tier_of(c, b) == c->topology.tier)
		rc = cfg_fail_key(c, "between", "has no effect: 'topology' says which there are");
	if (rc != 0)
		return rc;
	begin_link(c, b);
	rc = cfg_read(c, json, entry_fields, &b->count);
	if (rc == 0)
		rc = cfg_link(c, json, true, &b->link);
	if (rc == 0)
		rc = check_itself(c, b);
	return rc == 0 ? count_ports(c, b) : rc;
}

/* @return NULL: no memory */
static struct between *next_entry(struct trunks *t)
{
	size_t capacity = t->capacity != 0 ? 2 * t->capacity : 16;
	struct between *more;

	if (t->entries == t->capacity) {
		more = reallocarray(t->entry, capacity, sizeof(*more));
		if (more == NULL)
			return NULL;
		t->entry = more;
		t->capacity = capacity;
	}
	memset(&t->entry[t->entries], 0, sizeof(*t->entry));
	t->entry[t->entries].count = 1;
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
		memset(&b->ends, 0, sizeof(b->ends));
		b->ends.end[0].word[w->a / 64] = UINT64_C(1) << w->a % 64;
		b->ends.end[1].word[w->b / 64] = UINT64_C(1) << w->b % 64;
		begin_link(c, b);
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

		if (json_object_get(entry, "between") == NULL || cfg_is_direct(c, entry))
			continue;
		cfg_push_index(c, i);
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
	const bool same = are_same(b);

	FOR_EACH(i, &b->ends.end[0], 0)
	FOR_EACH(k, &b->ends.end[1], same ? i + 1 : 0)
	{
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
	/* Whether the second end of the entry is the first switch. */
	bool swap = !mf_config_has_switch(&b->ends.end[0], a);

	for (uint32_t i = 0; i < b->count; i++) {
		struct mf_config_trunk *t = &config->trunk[(*pair)++];

		*t = (struct mf_config_trunk){.a = (uint16_t)a,
					      .b = (uint16_t)z,
					      .tier = config->switch_list[a].tier,
					      .link = b->link};
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

/* Every node of a tier has a path to every other one. */
static int check_tier(struct cfg *c, unsigned int tier, uint16_t *joined)
{
	const struct mf_config *config = c->config;
	const struct mf_config_end *first = NULL;
	unsigned int at = 0;

	for (unsigned int i = 0; i < config->slots && !config->tier[tier].direct; i++)
		for (unsigned int k = 0; k < config->node[i].ends; k++) {
			const struct mf_config_end *e = mf_config_end(config, i, k);

			if (e->tier != tier)
				continue;
			if (first == NULL) {
				first = e;
				at = i;
			}
			if (part_of(joined, e->to) != part_of(joined, first->to))
				return cfg_fail(c, "there is no path from node '%s' to node '%s'",
						config->node[at].name, config->node[i].name);
		}
	return 0;
}

/* And every switch has a link. */
static int check_paths(struct cfg *c)
{
	const struct mf_config *config = c->config;
	uint16_t joined[MF_CONFIG_SWITCH_LIST_MAX];
	int rc = 0;

	for (unsigned int i = 0; i < config->switches; i++)
		joined[i] = (uint16_t)i;
	for (unsigned int i = 0; i < config->trunks; i++) {
		uint16_t a = part_of(joined, config->trunk[i].a), b = part_of(joined, config->trunk[i].b);

		joined[a > b ? a : b] = a < b ? a : b;
	}
	for (unsigned int t = 0; t < config->tiers && rc == 0; t++)
		rc = check_tier(c, t, joined);
	for (unsigned int i = 0; i < config->switches && rc == 0; i++)
		if (config->switch_list[i].ports == 0)
			return cfg_fail(c, "switch '%s' has no link", config->switch_list[i].name);
	return rc;
}

int cfg_trunks(struct cfg *c, const json_t *root)
{
	const json_t *links = json_object_get(root, "links");
	struct mf_config *config = c->config;
	struct trunks t = {0};
	int rc;

	for (unsigned int i = 0; i < config->switches; i++)
		config->switch_list[i].ports = 0;
	for (unsigned int i = 0; i < config->slots && config->switches > 0; i++)
		for (unsigned int k = 0; k < config->node[i].ends; k++)
			if (!config->tier[mf_config_end(config, i, k)->tier].direct)
				config->switch_list[mf_config_end(config, i, k)->to].ports++;
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
