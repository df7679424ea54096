/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of several switches, for stacks of frames: leaves and spines, fat trees, racks, and graphs of any
 * form. Their links are cut, and harm what they carry.
 */
#include <stdio.h>
#include <string.h>

#include "generate.h"

#define SHARE 6 /* one case in so many, where the base has no stack */
#define SWITCHES_MAX 8 /* of a graph of any form */

/** What a stack promises, and how it is drawn. */
static const struct stack {
	const char *name;
	unsigned int weight;
	bool again; /* what is lost is sent again */
	bool pauses; /* its bridge is pfc, where that cannot deadlock */
	bool tears; /* a word may be in two frames, so a read may find half of what is being written */
} stacks[] = {
	{"rocev2", 4, true, true, false},
	{"tcp", 3, true, false, true},
	{"ethernet", 2, false, false, true},
	{"dctcp", 1, true, false, true},
};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))
#define WEIGHTS 10

static const char *const rates[] = {"10G", "25G", "25G", "40G", "100G", "100G"};

/* ---- which cases ---- */

void generate_graph_classes(struct classes *classes)
{
	for (unsigned int i = MF_FAULT_REORDER + 1; i < MF_FAULT_CLASSES; i++)
		classes->on[i] &= i == MF_FAULT_LINK_DOWN;
}

static bool has_any(struct classes classes)
{
	bool any = false;

	generate_graph_classes(&classes);
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		any |= classes.on[i];
	return any;
}

bool generate_has_graphs(const json_t *base)
{
	const struct mf_stack_ops *stack = generate_stack(base);

	for (unsigned int k = 0; stack != NULL && k < STACKS; k++)
		if (strcmp(stacks[k].name, stack->name) == 0)
			return true;
	return false;
}

bool generate_is_graph(const json_t *base, uint64_t seed, const struct classes *classes)
{
	struct mf_rng rng;

	if (json_object_get(base, "stack") != NULL)
		return generate_has_graphs(base);
	mf_rng_init(&rng, seed, "chaos graph", 0);
	return has_any(*classes) && draw(&rng, SHARE) == 0;
}

/** That of the base, or one of all. */
static const struct stack *draw_stack(struct draft *d)
{
	const json_t *stack = json_object_get(d->json, "stack");
	const char *name = json_string_value(json_is_object(stack) ? json_object_get(stack, "name") : stack);
	uint64_t n = draw(d->rng, WEIGHTS);
	unsigned int i = 0;

	for (unsigned int k = 0; name != NULL && k < STACKS; k++)
		if (strcmp(stacks[k].name, name) == 0)
			return &stacks[k];
	while (n >= stacks[i].weight)
		n -= stacks[i++].weight;
	if (name == NULL)
		put_text(d->json, "stack", stacks[i].name);
	return &stacks[i];
}

/* ---- forms of graphs ---- */

/** Nodes of one role at switches, a multiple of their number; of a topology: at its places. */
static void add_nodes(json_t *nodes, const char *name, const char *role, const char *to, uint64_t count)
{
	json_t *entry = json_pack("{s:s, s:s, s:I}", "name", name, "role", role, "count", (json_int_t)count);

	if (to != NULL)
		json_object_set_new(entry, "ends", json_pack("[{s:s}]", "to", to));
	json_array_append_new(nodes, entry);
}

static json_t *new_link(struct draft *d, const char *a, const char *b)
{
	json_t *link = json_pack("{s:[s,s]}", "between", a, b);
	mf_time way = draw_from(d->rng, 1, draw_often(d->rng, 0.8) ? 100 : 2000) * 1000;

	put_text(link, "rate", DRAW_OF(d->rng, rates));
	put_time(link, "propagation", way);
	if (draw_often(d->rng, 0.3))
		put_number(link, "count", draw_from(d->rng, 2, 3));
	return link;
}

static void add_switches(json_t *switches, const char *name, uint64_t count)
{
	json_array_append_new(switches, json_pack("{s:s, s:I}", "name", name, "count", (json_int_t)count));
}

static void leaves_and_spines(struct draft *d)
{
	uint64_t leaves = draw_from(d->rng, 2, 4);
	json_t *switches = json_object_get(d->json, "switches"), *nodes = json_object_get(d->json, "nodes");

	/* Of at least two each: one alone has a name without a number. */
	add_switches(switches, "leaf", leaves);
	add_switches(switches, "spine", draw_from(d->rng, 2, 4));
	add_nodes(nodes, "c", "compute", "leaf", leaves * draw_from(d->rng, 1, 2));
	add_nodes(nodes, "m", "memory", "leaf", leaves);
	json_array_append_new(json_object_get(d->json, "links"), new_link(d, "leaf", "spine"));
}

/** Any number that divides in any number of tiers; not all places have a node. */
static void fat_tree(struct draft *d)
{
	bool three = draw_often(d->rng, 0.5);
	/* At least two of each kind: one alone has a name without a number. */
	uint64_t pods = three ? 2 : 1, least = three ? 1 : 2,
		 tors = pods * draw_from(d->rng, least, least + 1),
		 aggregation = pods * draw_from(d->rng, least, least + 1), each = draw_from(d->rng, 2, 3);
	json_t *tree = json_object(), *nodes = json_object_get(d->json, "nodes");

	put_number(tree, "servers", tors * each);
	put_number(tree, "tor", tors);
	put_number(tree, "aggregation", aggregation);
	if (three) {
		put_number(tree, "core", aggregation / pods * draw_from(d->rng, 1, 2));
		put_number(tree, "pods", pods);
	}
	json_object_set_new(tree, "rates",
			    json_pack("{s:s, s:s}", "tor", DRAW_OF(d->rng, rates), "aggregation",
				      DRAW_OF(d->rng, rates)));
	json_object_set_new(d->json, "topology", json_pack("{s:o}", "fat-tree", tree));
	json_object_del(d->json, "switches");
	json_object_del(d->json, "links");
	add_nodes(nodes, "c", "compute", NULL, tors * each - tors);
	add_nodes(nodes, "m", "memory", NULL, tors);
}

static void racks(struct draft *d)
{
	json_t *of = json_object(), *nodes = json_array(), *rack;
	uint64_t tors = draw_from(d->rng, 1, 2);

	add_switches(json_object_get(d->json, "switches"), "spine", draw_from(d->rng, 2, 3));
	json_object_set_new(of, "switches", json_array());
	add_switches(json_object_get(of, "switches"), "tor", tors);
	add_nodes(nodes, "c", "compute", "tor", tors * draw_from(d->rng, 1, 2));
	add_nodes(nodes, "m", "memory", "tor", tors);
	json_object_set_new(of, "nodes", nodes);
	json_object_set_new(of, "links", json_pack("[o]", new_link(d, "tor", "spine")));
	rack = json_pack("{s:s, s:I, s:o}", "name", "r", "count", (json_int_t)draw_from(d->rng, 2, 3), "of",
			 of);
	json_object_set_new(d->json, "racks", json_pack("[o]", rack));
}

/** A tree over all switches, and some links more. */
static void any_graph(struct draft *d)
{
	uint64_t n = draw_from(d->rng, 2, SWITCHES_MAX);
	json_t *nodes = json_object_get(d->json, "nodes"), *links = json_object_get(d->json, "links");
	char a[16], b[16];

	add_switches(json_object_get(d->json, "switches"), "s", n);
	for (uint64_t i = 1; i < n + draw(d->rng, n); i++) {
		uint64_t from = i < n ? i : draw(d->rng, n), to = draw(d->rng, i < n ? i : n);

		snprintf(a, sizeof(a), "s%u", (unsigned int)from);
		snprintf(b, sizeof(b), "s%u", (unsigned int)to);
		if (from != to)
			json_array_append_new(links, new_link(d, a, b));
	}
	for (uint64_t i = draw_from(d->rng, 3, 8); i > 0; i--) {
		snprintf(a, sizeof(a), "s%u", (unsigned int)draw(d->rng, n));
		snprintf(b, sizeof(b), "%c%u", i <= 2 ? 'm' : 'c', (unsigned int)i);
		add_nodes(nodes, b, i <= 2 ? "memory" : "compute", a, 1);
	}
}

static const struct form {
	void (*make)(struct draft *d);
	bool tree; /* its shortest paths lead up and down: no circle of pauses */
	const char *between[2]; /* names of switches that have links; NULL: those of an entry of links */
} forms[] = {
	{leaves_and_spines, true, {"leaf", "spine"}},
	{fat_tree, true, {"tor", "agg"}},
	{racks, true, {"r.tor", "spine"}},
	{any_graph, false, {NULL, NULL}},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

/* ---- load, timers ---- */

/**
 * A stack without retransmission keeps no record of requests: one that comes twice is executed twice. Plain
 * writes are verified only where nothing is lost (D11).
 */
static json_t *draw_graph_mix(struct draft *d, const struct stack *s)
{
	json_t *mix = json_object();
	bool atomics = s->again || !d->has[MF_FAULT_DUPLICATE];

	put_number(mix, "read", draw_from(d->rng, 1, 4));
	put_number(mix, "write_ack", draw_from(d->rng, 1, 4));
	if (atomics && draw_often(d->rng, 0.7))
		put_number(mix, "cas", 1);
	if (atomics && draw_often(d->rng, 0.4))
		put_number(mix, "fadd", 1);
	if (s->again && !draft_any_fault(d) && draw_often(d->rng, 0.5))
		put_number(mix, "write", 2);
	return mix;
}

static void draw_graph_load(struct draft *d, const struct stack *s)
{
	static const unsigned int sizes[] = {1, 8, 64, 64, 300, 1000, 1500, 4096};
	static const char *const patterns[] = {"uniform", "uniform", "permutation", "all-to-all", "zipf"};
	json_t *w = json_object();
	uint64_t size = DRAW_OF(d->rng, sizes);

	d->depth = s->tears || draw_often(d->rng, 0.5) ? 1 : draw_from(d->rng, 2, 6);
	json_object_set_new(w, "mix", draw_graph_mix(d, s));
	put_number(w, "depth", d->depth);
	put_number(w, "size", size);
	put_number(w, "span",
		   (size * d->depth < 1024 ? 1024 : (size * d->depth + 7) / 8 * 8) << draw(d->rng, 3));
	put_text(w, "pattern", DRAW_OF(d->rng, patterns));
	if (d->depth > 1 && draft_loses(d))
		put_bool(w, "verify", false);
	json_object_set_new(d->json, "workload", json_pack("[o]", w));
	json_object_set_new(d->json, "memory", json_pack("{s:s}", "size", "16MiB"));
}

/** Stacks send again long before an operation's time is over: several times, where it is long. */
static void draw_graph_timers(struct draft *d, const struct stack *s)
{
	json_t *h = put_object(d->json, "host");
	bool patient = !draft_any_fault(d) || draw_often(d->rng, 0.5);

	d->timeout = patient ? MF_MS(8) : MF_US(100) + draw(d->rng, 400) * MF_US(1);
	put_time(h, "read_timeout", d->timeout);
	put_time(h, "write_timeout", d->timeout);
	put_time(h, "quarantine", 2 * d->timeout);
	if (strcmp(s->name, "rocev2") == 0)
		json_object_set_new(d->json, "stack",
				    json_pack("{s:s, s:I}", "name", s->name, "ack_timeout",
					      (json_int_t)draw_from(d->rng, 3, 5)));
}

static void draw_graph_times(struct draft *d)
{
	json_t *clock = json_object(), *v = put_object(clock, "virtual");

	put_time(v, "duration", d->active);
	put_text(v, "drain", "100ms");
	json_object_set_new(d->json, "clock", clock);
}

/* ---- faults ---- */

static void some_ends(struct draft *d, const struct form *form, json_t *rule)
{
	const json_t *links = json_object_get(d->json, "links");
	const json_t *link =
		json_array_get(links, json_array_size(links) > 0 ? draw(d->rng, json_array_size(links)) : 0);

	if (form->between[0] != NULL)
		json_object_set_new(rule, "between", json_pack("[s,s]", form->between[0], form->between[1]));
	else
		json_object_set(rule, "between", json_object_get(link, "between"));
}

/** Links between switches; or those of nodes, or of an entry of nodes. */
static void some_links(struct draft *d, const struct form *form, json_t *rule)
{
	const json_t *nodes = json_object_get(d->json, "nodes"), *entry;

	if (draw_often(d->rng, 0.6)) {
		some_ends(d, form, rule);
		return;
	}
	entry = json_array_get(nodes, json_array_size(nodes) > 0 ? draw(d->rng, json_array_size(nodes)) : 0);
	if (entry == NULL || draw_often(d->rng, 0.5))
		put_text(rule, "link", "*");
	else
		json_object_set(rule, "link", json_object_get(entry, "name"));
}

/** One link of each pair, where there may be several; all of them only now and then. */
static void cut_links(struct draft *d, const struct form *form, json_t *rule)
{
	static const char *const one[][2] = {{"leaf0", "spine1"}, {"tor0", "agg0"}, {"r0.tor", "spine0"}};

	if (form->between[0] == NULL || draw_often(d->rng, 0.3)) {
		some_links(d, form, rule);
		return;
	}
	json_object_set_new(rule, "between", json_pack("[s,s]", one[form - forms][0], one[form - forms][1]));
	if (draw_often(d->rng, 0.4))
		put_number(rule, "number", 0);
}

static void add_fault(struct draft *d, const struct form *form, unsigned int class, json_t *faults)
{
	json_t *rule = json_object();

	put_text(rule, "class", mf_fault_names[class]);
	if (class == MF_FAULT_LINK_DOWN) {
		cut_links(d, form, rule);
		generate_event(d, rule);
	} else {
		generate_stage(d, class, rule);
		json_object_del(rule, "link");
		some_links(d, form, rule);
	}
	json_array_append_new(faults, rule);
}

static void draw_graph_faults(struct draft *d, const struct form *form)
{
	json_t *faults = json_array();

	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		for (uint64_t n = d->has[i] ? draw_from(d->rng, 1, 2) : 0; n > 0; n--)
			add_fault(d, form, i, faults);
	json_object_set_new(d->json, "faults", faults);
}

/** Classes that stacks of frames know; often nothing but cuts, so that it can be told whether flows move. */
static void draw_graph_classes(struct draft *d, const struct classes *classes)
{
	struct classes own = *classes;

	generate_graph_classes(&own);
	if (own.on[MF_FAULT_LINK_DOWN] && draw_often(d->rng, 0.4))
		own = (struct classes){.on = {[MF_FAULT_LINK_DOWN] = true}};
	generate_classes(d, &own);
}

void generate_graph(struct draft *d, const struct classes *classes)
{
	static const char *const gone[] = {"ethernet", "links",   "topology", "racks",
					   "backup",   "regions", "limits",   "scheduler"};
	const struct form *form = &forms[draw(d->rng, FORMS)];
	const struct stack *s = draw_stack(d);

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		json_object_del(d->json, gone[i]);
	json_object_set_new(d->json, "switches", json_array());
	json_object_set_new(d->json, "nodes", json_array());
	json_object_set_new(d->json, "links", json_array());
	draw_graph_classes(d, classes);
	form->make(d);
	put_text(put_object(d->json, "link"), "rate", DRAW_OF(d->rng, rates));
	if (s->pauses && !form->tree)
		put_text(put_object(d->json, "switch"), "bridge", "fifo");
	draw_graph_load(d, s);
	draw_graph_timers(d, s);
	draw_graph_times(d);
	draw_graph_faults(d, form);
}
