/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a case. Each class has an entry of the table: what its rule needs beside class and times. */
#include <stdio.h>
#include <string.h>

#include "generate.h"

#define RULES_MAX 5
/* Skewed clocks are no class like the others: they are drawn last, and may be there beside any. */
#define DRAWN MF_FAULT_SKEW
#define SKEWED 0.125

/** A name of an entry of nodes that has a role; "*" where it does not matter. */
static const char *some_nodes(struct draft *d)
{
	const json_t *nodes = json_object_get(d->json, "nodes");
	const json_t *entry = json_array_get(nodes, draw(d->rng, json_array_size(nodes)));

	return draw_often(d->rng, 0.5) ? "*" : json_string_value(json_object_get(entry, "name"));
}

/** Of two switches either one. */
static void some_switch(struct draft *d, json_t *rule)
{
	if (d->backup && draw_often(d->rng, 0.4))
		put_number(rule, "switch", 1);
}

static void on_link(struct draft *d, json_t *rule, double lo, double hi)
{
	static const char *const direction[] = {"both", "both", "up", "down"};

	json_object_set_new(rule, "rate", json_real(draw_rate(d->rng, lo, hi)));
	put_text(rule, "link", some_nodes(d));
	put_text(rule, "direction", DRAW_OF(d->rng, direction));
	some_switch(d, rule);
}

static void of_bits(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-7, 2e-5);
}

static void of_blocks(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-5, 5e-3);
}

/** "sync": now and then so many headers that a receiver is in local fault at once. */
static void of_headers(struct draft *d, json_t *rule)
{
	bool broken = draw_often(d->rng, 0.3);

	on_link(d, rule, broken ? 1e-2 : 1e-5, broken ? 1 : 5e-3);
}

static void of_messages(struct draft *d, json_t *rule)
{
	on_link(d, rule, 3e-4, 4e-2);
}

/** Held up are all behind it, too: in the mean 10 ns a message at most, or a link would never catch up. */
static void delayed(struct draft *d, json_t *rule)
{
	mf_time time = (mf_time)draw_rate(d->rng, 1e4, 3e6);
	double most = 1e4 / (double)time;

	on_link(d, rule, most / 30, most);
	put_time(rule, "time", time);
}

static void reordered(struct draft *d, json_t *rule)
{
	on_link(d, rule, 1e-3, 2e-1);
	put_time(rule, "time", draw_from(d->rng, 1, 2000) * 1000);
}

/** One node of an entry, or all. */
static void some_of(struct draft *d, const json_t *entry, json_t *rule, const char *key)
{
	uint64_t count = (uint64_t)json_integer_value(json_object_get(entry, "count"));
	char name[64];

	snprintf(name, sizeof(name), "%s", json_string_value(json_object_get(entry, "name")));
	if (count > 1 && draw_often(d->rng, 0.8))
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%u",
			 (unsigned int)draw(d->rng, count));
	put_text(rule, key, name);
}

static void some_node(struct draft *d, json_t *rule, const char *key)
{
	const json_t *nodes = json_object_get(d->json, "nodes");

	some_of(d, json_array_get(nodes, draw(d->rng, json_array_size(nodes))), rule, key);
}

/** The first entry of a role: each case has one of compute nodes, and one of memory nodes. */
static const json_t *entry_of(const struct draft *d, const char *role)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(d->json, "nodes"), i, entry)
		if (strcmp(json_string_value(json_object_get(entry, "role")), role) == 0)
			return entry;
	return NULL;
}

/** What begins at a time and ends; now and then over and over again. */
static void event(struct draft *d, json_t *rule, bool again)
{
	mf_time from = draw(d->rng, d->active / 2000) * 1000, length = draw_from(d->rng, 500, 30000) * 1000;

	put_time(rule, "from", from);
	put_time(rule, "until", mf_time_min(from + length, d->active));
	if (!again || draw_often(d->rng, 0.6))
		return;
	put_time(rule, "until", d->active);
	put_time(rule, "every", MF_US(10) + length);
	put_time(rule, "for", draw_from(d->rng, 100, 5000 + length / 2000) * 1000);
}

static void of_cables(struct draft *d, json_t *rule)
{
	some_node(d, rule, "link");
	some_switch(d, rule);
	event(d, rule, true);
}

static void of_nodes(struct draft *d, json_t *rule)
{
	some_node(d, rule, "node");
	event(d, rule, true);
}

static void of_switch(struct draft *d, json_t *rule)
{
	some_switch(d, rule);
	event(d, rule, draw_often(d->rng, 0.3));
}

static void of_roles(struct draft *d, json_t *rule)
{
	static const char *const role[] = {"switch", "scheduler"};

	if (draw_often(d->rng, 0.5)) {
		some_node(d, rule, "role");
	} else {
		put_text(rule, "role", DRAW_OF(d->rng, role));
		some_switch(d, rule);
	}
	event(d, rule, false);
}

/** A node's port sends what nobody asked for. */
static void of_sources(struct draft *d, json_t *rule)
{
	some_node(d, rule, "node");
	json_object_set_new(rule, "rate", json_real(draw_rate(d->rng, 0.01, 0.2)));
}

/** "forge": at a node without a client. */
static void of_forgers(struct draft *d, json_t *rule)
{
	const json_t *nodes = json_object_get(d->json, "nodes");

	some_of(d, json_array_get(nodes, json_array_size(nodes) - 1), rule, "node");
	json_object_set_new(rule, "rate", json_real(draw_rate(d->rng, 0.01, 0.2)));
}

static void of_floods(struct draft *d, json_t *rule)
{
	json_object_set_new(rule, "rate", json_real(draw_rate(d->rng, 0.01, 0.2)));
	some_of(d, entry_of(d, "compute"), rule, "node");
	json_object_set(rule, "to", json_object_get(entry_of(d, "memory"), "name"));
}

/** What "exhaust" may take away, in this order: of nodes, of ports, of links, of switches. */
struct pools {
	const char *name[2 * MF_POOLS_MAX + 1];
	unsigned int nodes, links, all; /**< how many are of nodes, of those and links, and of all */
};

static void add_pools(struct pools *p, const struct mf_pool_desc *table, bool by_end)
{
	for (; table != NULL && table->key != NULL; table++)
		if (table->by_end == by_end)
			p->name[p->all++] = table->key;
}

/** The bridge that the base names, or that of its stack; NULL: EDM's switch. */
static const struct mf_bridge_ops *bridge_of(const struct draft *d)
{
	const json_t *bridge = json_object_get(json_object_get(d->json, "switch"), "bridge");
	const char *name =
		json_string_value(json_is_object(bridge) ? json_object_get(bridge, "name") : bridge);

	if (d->stack == NULL)
		return NULL;
	return mf_bridge_find(name != NULL ? name : d->stack->bridge);
}

static void of_pools(struct draft *d, json_t *rule)
{
	const struct mf_pool_desc *of_switch = mf_bridge_pools(bridge_of(d));
	struct pools p = {.all = 0};
	unsigned int i;

	add_pools(&p, mf_stack_pools(d->stack), false);
	p.nodes = p.all;
	add_pools(&p, of_switch, true);
	p.name[p.all++] = "ring";
	p.links = p.all;
	add_pools(&p, of_switch, false);
	i = (unsigned int)draw(d->rng, p.all);
	put_text(rule, "what", p.name[i]);
	if (i < p.links)
		some_node(d, rule, "node");
	if (i >= p.nodes)
		some_switch(d, rule);
	event(d, rule, true);
}

/** "skew": much more than any machine's clock is wrong by; timers that differ so much must not matter. */
static void of_clocks(struct draft *d, json_t *rule)
{
	if (draw_often(d->rng, 0.3))
		put_text(rule, "role", "switch");
	else
		some_node(d, rule, "role");
	json_object_set_new(
		rule, "ppm",
		json_real((double)draw_from(d->rng, 1, 100000) * (draw_often(d->rng, 0.5) ? 1 : -1)));
}

/** What a rule of each class is made of. */
static const struct entry {
	const char *class;
	void (*make)(struct draft *d, json_t *rule);
	bool event; /**< it says its times */
} entries[MF_FAULT_CLASSES] = {
	/* a stage of a link's */
	[MF_FAULT_BIT] = {"bit", of_bits, false},
	[MF_FAULT_SYNC] = {"sync", of_headers, false},
	[MF_FAULT_TYPE] = {"type", of_blocks, false},
	[MF_FAULT_CUT] = {"cut", of_blocks, false},
	[MF_FAULT_LOSE] = {"lose", of_messages, false},
	[MF_FAULT_DUPLICATE] = {"duplicate", of_messages, false},
	[MF_FAULT_DELAY] = {"delay", delayed, false},
	[MF_FAULT_REORDER] = {"reorder", reordered, false},
	[MF_FAULT_FLOOD] = {"flood", of_floods, false},
	[MF_FAULT_SPOOF] = {"spoof", of_sources, false},
	[MF_FAULT_GARBAGE] = {"garbage", of_sources, false},
	[MF_FAULT_FORGE] = {"forge", of_forgers, false},
	/* the engine's */
	[MF_FAULT_LINK_DOWN] = {"link_down", of_cables, true},
	[MF_FAULT_NODE_CRASH] = {"node_crash", of_nodes, true},
	[MF_FAULT_SWITCH_CRASH] = {"switch_crash", of_switch, true},
	[MF_FAULT_STALL] = {"stall", of_roles, true},
	[MF_FAULT_EXHAUST] = {"exhaust", of_pools, true},
	[MF_FAULT_SKEW] = {"skew", of_clocks, true},
};

const char *generate_unknown(void)
{
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		if (entries[i].make == NULL || strcmp(entries[i].class, mf_fault_names[i]) != 0)
			return mf_fault_names[i];
	return NULL;
}

bool generate_takes(const struct mf_stack_ops *stack, unsigned int class)
{
	if (stack == NULL || class <= MF_FAULT_REORDER || class == MF_FAULT_LINK_DOWN)
		return true;
	return class == MF_FAULT_EXHAUST && stack->pools != NULL;
}

/** Most cases have a few classes; one in eight has all, one in sixteen has none. */
void generate_classes(struct draft *d, const struct classes *classes)
{
	uint64_t kind = draw(d->rng, 16), left = draw_from(d->rng, 1, RULES_MAX), on = 0;

	d->skews = classes->on[MF_FAULT_SKEW];
	for (unsigned int i = 0; i < DRAWN; i++)
		on += classes->on[i];
	if (kind == 0)
		return;
	if (kind <= 2 || left > on)
		left = on;
	for (unsigned int i = 0; i < DRAWN; i++) {
		if (!classes->on[i])
			continue;
		d->has[i] = draw(d->rng, on--) < left;
		left -= d->has[i];
	}
}

/** Faults strike all of the time, or a part of it. */
static void when(struct draft *d, json_t *rule)
{
	mf_time until = d->active;

	if (draw_often(d->rng, 0.3)) {
		mf_time from = draw(d->rng, d->active / 2000) * 1000;

		put_time(rule, "from", from);
		until = from + draw_from(d->rng, 1000, d->active / 2000) * 1000;
	}
	put_time(rule, "until", mf_time_min(until, d->active));
}

void generate_stage(struct draft *d, unsigned int class, json_t *rule)
{
	entries[class].make(d, rule);
	when(d, rule);
}

void generate_event(struct draft *d, json_t *rule)
{
	event(d, rule, true);
}

void generate_faults(struct draft *d)
{
	json_t *faults = json_array();

	for (unsigned int i = 0; i < DRAWN; i++) {
		if (!d->has[i])
			continue;
		for (uint64_t n = draw_from(d->rng, 1, 2); n > 0; n--) {
			json_t *rule = json_object();

			put_text(rule, "class", entries[i].class);
			entries[i].make(d, rule);
			if (!entries[i].event)
				when(d, rule);
			json_array_append_new(faults, rule);
		}
	}
	if (d->skews && draw_often(d->rng, SKEWED)) {
		json_t *rule = json_object();

		put_text(rule, "class", entries[MF_FAULT_SKEW].class);
		of_clocks(d, rule);
		json_array_append_new(faults, rule);
	}
	json_object_set_new(d->json, "faults", faults);
}
