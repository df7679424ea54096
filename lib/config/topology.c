/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "topology": a fat tree by its counts, or a file of HPCC. It stands for "switches" of a tier, for links
 * between them, and for places of nodes at them; and is written out as such.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"
#include "topology/mf_fat_tree.h"
#include "topology/mf_hpcc.h"

#define RATE_MIN UINT64_C(1000000) /* bits a second */
#define RATE_MAX UINT64_C(1000000000000)

/* Adds a link between two switches; places and links have room for all. */
static void add_wire(struct cfg_topology *t, uint32_t a, uint32_t b, uint32_t period, mf_time propagation)
{
	t->wire[t->wires++] = (struct cfg_wire){
		.a = (uint16_t)a, .b = (uint16_t)b, .period = period, .propagation = propagation};
}

static void add_place(struct cfg_topology *t, uint32_t sw, uint32_t period, mf_time propagation)
{
	t->place[t->places++] =
		(struct cfg_place){.sw = (uint16_t)sw, .period = period, .propagation = propagation};
}

static int make_room(struct cfg *c, size_t places, size_t wires)
{
	c->topology.place = calloc(places + 1, sizeof(*c->topology.place));
	c->topology.wire = calloc(wires + 1, sizeof(*c->topology.wire));
	return c->topology.place != NULL && c->topology.wire != NULL ? 0 : cfg_fail_memory(c);
}

/* ---- fat trees ---- */

struct tree_in {
	uint32_t servers, tor, aggregation, core, pods;
	uint32_t period[MF_FAT_TREE_CLASSES]; /* 0: that of "link" */
	mf_time propagation;
};

#define TREE(m) CFG_AT(struct tree_in, m)
static const struct cfg_field tree_fields[] = {
	{.key = "servers", .kind = CFG_U32, TREE(servers), CFG_RANGE(1, MF_FAT_TREE_MAX)},
	{.key = "tor", .kind = CFG_U32, TREE(tor), CFG_RANGE(1, MF_FAT_TREE_MAX)},
	{.key = "aggregation", .kind = CFG_U32, TREE(aggregation), CFG_RANGE(0, MF_FAT_TREE_MAX)},
	{.key = "core", .kind = CFG_U32, TREE(core), CFG_RANGE(0, MF_FAT_TREE_MAX)},
	{.key = "pods", .kind = CFG_U32, TREE(pods), CFG_RANGE(0, MF_FAT_TREE_MAX)},
	{.key = "rates", .kind = CFG_NESTED},
	{.key = "propagation", .kind = CFG_TIME, TREE(propagation), CFG_RANGE(0, CFG_PROPAGATION_MAX)},
	{0},
};

/* Rates by the switch that a link leads up to. */
static const struct cfg_field rate_fields[] = {
	{.key = "tor",
	 .kind = CFG_RATE,
	 TREE(period[MF_FAT_TREE_SERVER_TOR]),
	 CFG_RANGE(CFG_PERIOD_MIN, CFG_PERIOD_MAX)},
	{.key = "aggregation",
	 .kind = CFG_RATE,
	 TREE(period[MF_FAT_TREE_TOR_AGGREGATION]),
	 CFG_RANGE(CFG_PERIOD_MIN, CFG_PERIOD_MAX)},
	{.key = "core",
	 .kind = CFG_RATE,
	 TREE(period[MF_FAT_TREE_AGGREGATION_CORE]),
	 CFG_RANGE(CFG_PERIOD_MIN, CFG_PERIOD_MAX)},
	{0},
};

static int read_rates(struct cfg *c, const json_t *json, struct tree_in *in)
{
	static const char *const aggregation[] = {"aggregation", NULL}, *const core[] = {"core", NULL};
	int rc = cfg_object(c, json, rate_fields, in);

	if (rc == 0 && in->aggregation == 0)
		rc = cfg_refuse(c, json, aggregation, "there are no aggregation switches");
	if (rc == 0 && in->core == 0)
		rc = cfg_refuse(c, json, core, "there are no core switches");
	return rc;
}

static int read_counts(struct cfg *c, const json_t *json, struct tree_in *in, struct mf_fat_tree *tree)
{
	static const char *const needed[] = {"servers", "tor", NULL};
	char why[256];
	int rc = cfg_object(c, json, tree_fields, in);

	for (int i = 0; needed[i] != NULL && rc == 0; i++)
		if (json_object_get(json, needed[i]) == NULL)
			rc = cfg_fail_key(c, needed[i], "is missing");
	if (rc == 0 && json_object_get(json, "rates") != NULL) {
		cfg_push(c, "rates");
		rc = read_rates(c, json_object_get(json, "rates"), in);
		cfg_pop(c);
	}
	if (rc != 0)
		return rc;
	*tree = (struct mf_fat_tree){.servers = in->servers,
				     .tor = in->tor,
				     .aggregation = in->aggregation,
				     .core = in->core,
				     .pods = in->pods};
	if (mf_fat_tree_check(tree, why, sizeof(why)) != 0)
		return cfg_fail(c, "%s", why);
	if (tree->servers > mf_config_tier_nodes_max(c->tier))
		return cfg_fail_key(c, "servers", "%u: with stack \"%s\" a fabric has at most %u nodes",
				    tree->servers, c->tier->stack.name, mf_config_tier_nodes_max(c->tier));
	return 0;
}

static int add_tree_switches(struct cfg *c, const struct mf_fat_tree *tree)
{
	int rc = cfg_add_switches(c, "tor", tree->tor);

	if (rc == 0 && tree->aggregation > 0)
		rc = cfg_add_switches(c, "agg", tree->aggregation);
	if (rc == 0 && tree->core > 0)
		rc = cfg_add_switches(c, "core", tree->core);
	return rc;
}

static int read_tree(struct cfg *c, const json_t *json)
{
	struct tree_in in = {.propagation = MF_NEVER};
	const unsigned int first = c->config->switches; /* those of other tiers */
	struct mf_fat_tree tree;
	int rc = read_counts(c, json, &in, &tree);

	if (rc == 0)
		rc = add_tree_switches(c, &tree);
	if (rc == 0)
		rc = make_room(c, tree.servers, mf_fat_tree_links(&tree));
	for (uint32_t i = 0; rc == 0 && i < mf_fat_tree_links(&tree); i++) {
		struct mf_fat_tree_link l = mf_fat_tree_link(&tree, i);

		if (l.class == MF_FAT_TREE_SERVER_TOR)
			add_place(&c->topology, first + l.to, in.period[l.class], in.propagation);
		else
			add_wire(&c->topology, first + l.from, first + l.to, in.period[l.class],
				 in.propagation);
	}
	return rc;
}

/* ---- files of HPCC ---- */

struct hpcc_in {
	const struct mf_hpcc *file;
	const char *path;
	uint16_t *number; /* by id: of a switch, in switch_list */
	uint32_t *link; /* by id, of one that is no switch: its only link; UINT32_MAX: it has none yet */
};

static int read_text(struct cfg *c, const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "re");
	long size = -1;

	if (file != NULL && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0 || size > CFG_FILE_MAX || fseek(file, 0, SEEK_SET) != 0) {
		snprintf(c->err, c->errlen, "%s: %s", path,
			 size > CFG_FILE_MAX ? "the file is too large" : strerror(errno));
		if (file != NULL)
			fclose(file);
		return -EINVAL;
	}
	*text = malloc((size_t)size + 1);
	*len = *text != NULL ? fread(*text, 1, (size_t)size, file) : 0;
	fclose(file);
	return *text != NULL ? 0 : cfg_fail_memory(c);
}

static int fail_link(struct cfg *c, const struct hpcc_in *in, const struct mf_hpcc_link *l, const char *why)
{
	snprintf(c->err, c->errlen, "%s: line %llu: the link of %u and %u %s", in->path,
		 (unsigned long long)l->line, l->node[0], l->node[1], why);
	return -EINVAL;
}

static int add_hpcc_switches(struct cfg *c, const struct hpcc_in *in)
{
	char name[MF_CONFIG_NAME_LEN];
	int rc = 0;

	for (uint32_t id = 0; id < in->file->nodes && rc == 0; id++) {
		in->link[id] = UINT32_MAX;
		if (!in->file->is_switch[id])
			continue;
		in->number[id] = (uint16_t)c->config->switches;
		snprintf(name, sizeof(name), "s%u", id);
		rc = cfg_add_switches(c, name, 1);
	}
	return rc;
}

/* Files have rates in bits a second. @return ps a block, or 0: the message is written */
static uint32_t hpcc_period(struct cfg *c, const struct hpcc_in *in, const struct mf_hpcc_link *l)
{
	char why[128], below[MF_UNIT_LEN], above[MF_UNIT_LEN];
	uint32_t period = mf_unit_block(l->rate), near[2];

	if (period != 0)
		return period;
	if (l->rate < RATE_MIN || l->rate > RATE_MAX) {
		fail_link(c, in, l, "has a rate that is out of range: 1M to 1000G");
		return 0;
	}
	mf_unit_near_blocks(l->rate, near);
	snprintf(why, sizeof(why),
		 "has a rate at which a block would not take whole ps; the nearest are %s and %s",
		 mf_unit_put_rate(below, near[0]), mf_unit_put_rate(above, near[1]));
	fail_link(c, in, l, why);
	return 0;
}

static int add_hpcc_link(struct cfg *c, struct hpcc_in *in, uint32_t link)
{
	const struct mf_hpcc_link *l = &in->file->link[link];
	bool first = in->file->is_switch[l->node[0]], second = in->file->is_switch[l->node[1]];
	uint32_t period = hpcc_period(c, in, l), server = l->node[first];

	if (period == 0)
		return -EINVAL;
	if (!first && !second)
		return fail_link(c, in, l, "is between nodes: so far a node's link leads to a switch");
	if (l->delay > CFG_PROPAGATION_MAX)
		return fail_link(c, in, l, "has a delay of more than 100us");
	if (l->loss > 0)
		return fail_link(c, in, l, "loses packets: 'faults' of class \"lose\" can say that");
	if (first && second) {
		add_wire(&c->topology, in->number[l->node[0]], in->number[l->node[1]], period, l->delay);
		return 0;
	}
	if (in->link[server] != UINT32_MAX)
		return fail_link(c, in, l, "is the second of a node: so far a node has one");
	in->link[server] = link;
	return 0;
}

/* Nodes by their ids, whatever the order of their links. */
static int add_hpcc_places(struct cfg *c, const struct hpcc_in *in)
{
	for (uint32_t id = 0; id < in->file->nodes; id++) {
		const struct mf_hpcc_link *l;

		if (in->file->is_switch[id])
			continue;
		if (in->link[id] == UINT32_MAX) {
			snprintf(c->err, c->errlen, "%s: node %u has no link", in->path, id);
			return -EINVAL;
		}
		l = &in->file->link[in->link[id]];
		add_place(&c->topology, in->number[l->node[l->node[0] == id]], mf_unit_block(l->rate),
			  l->delay);
	}
	return 0;
}

static int add_hpcc(struct cfg *c, struct hpcc_in *in)
{
	int rc;

	in->number = calloc(in->file->nodes, sizeof(*in->number));
	in->link = calloc(in->file->nodes, sizeof(*in->link));
	rc = in->number != NULL && in->link != NULL ? make_room(c, in->file->nodes, in->file->links)
						    : cfg_fail_memory(c);
	if (rc == 0)
		rc = add_hpcc_switches(c, in);
	for (uint32_t i = 0; i < in->file->links && rc == 0; i++)
		rc = add_hpcc_link(c, in, i);
	if (rc == 0)
		rc = add_hpcc_places(c, in);
	free(in->number);
	free(in->link);
	return rc;
}

static int read_hpcc(struct cfg *c, const char *path)
{
	struct hpcc_in in = {.path = path};
	struct mf_hpcc *file = NULL;
	char why[MF_HPCC_ERROR], *text = NULL;
	size_t len;
	int rc = read_text(c, path, &text, &len);

	if (rc != 0)
		return rc;
	rc = mf_hpcc_parse(text, len, &file, why, sizeof(why));
	free(text);
	if (rc != 0) {
		snprintf(c->err, c->errlen, "%s: %s", path, rc == -ENOMEM ? "no memory" : why);
		return rc;
	}
	in.file = file;
	rc = file->switches > 0 ? add_hpcc(c, &in) : cfg_fail_key(c, "file", "has no switch");
	mf_hpcc_free(file);
	return rc;
}

static int read_file(struct cfg *c, const json_t *json)
{
	char *path;
	int rc;

	if (!json_is_string(json) || json_string_length(json) == 0)
		return cfg_fail_key(c, "file", "must be the path of a file");
	path = cfg_path(c, json_string_value(json));
	if (path == NULL)
		return cfg_fail_memory(c);
	rc = cfg_file(c, "file", path);
	if (rc == 0)
		rc = read_hpcc(c, path);
	free(path);
	return rc;
}

/* ---- either ---- */

/* With "tiers" it is of one of them. */
static int choose_tier(struct cfg *c, const json_t *json)
{
	const struct mf_config_tier *t;
	int tier = 0, rc = cfg_tier_of(c, json, &tier);

	if (rc != 0)
		return rc;
	c->topology.tier = (unsigned int)tier;
	t = c->tier = &c->config->tier[tier];
	if (t->direct)
		return cfg_fail_key(c, "tier", "tier '%s' is a link between two nodes, without a switch",
				    t->name);
	if (t->stack_ops == NULL)
		return cfg_fail(c, "only stacks of frames have several switches, the stack is \"%s\"",
				t->stack.name);
	return 0;
}

int cfg_topology(struct cfg *c, const json_t *json)
{
	static const struct cfg_field fields[] = {{.key = "fat-tree"}, {.key = "file"}, {.key = "tier"}, {0}};
	const json_t *tree = json_object_get(json, "fat-tree"), *file = json_object_get(json, "file");
	int rc = cfg_is(c, json, JSON_OBJECT);

	if (rc == 0)
		rc = cfg_known(c, json, fields, NULL);
	if (rc == 0 && (tree != NULL) == (file != NULL))
		rc = cfg_fail(c, "has either 'fat-tree' or 'file'");
	if (rc == 0)
		rc = choose_tier(c, json);
	if (rc != 0)
		return rc;
	if (file != NULL)
		return read_file(c, file);
	return cfg_section(c, json, "fat-tree", read_tree);
}

struct mf_config_link cfg_place_link(const struct cfg *c, unsigned int tier, int place)
{
	struct mf_config_link link = c->config->tier[tier].link;

	if (place < 0 || tier != c->topology.tier)
		return link;
	if (c->topology.place[place].period != 0)
		link.period = c->topology.place[place].period;
	if (c->topology.place[place].propagation != MF_NEVER)
		link.propagation = c->topology.place[place].propagation;
	return link;
}
