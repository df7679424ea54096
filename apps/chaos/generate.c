/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "generate.h"

#define STRANGERS "stranger"
#define BACKUP_SHARE 0.25 /* of the cases have a second switch */
#define PIECES_MOST 64
#define CALM_SHARE 0.2 /* of the cases go on, without faults, until every timer has run out */

bool draft_any_fault(const struct draft *d)
{
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		if (d->has[i])
			return true;
	return false;
}

bool draft_loses(const struct draft *d)
{
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		if (d->has[i] && i != MF_FAULT_DELAY && i != MF_FAULT_FORGE)
			return true;
	return false;
}

/** As many nodes of each entry as the base has, or fewer. One that is alone has another name, so two. */
static void draw_nodes(struct draft *d)
{
	json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(d->json, "nodes"), i, entry) {
		const char *role = json_string_value(json_object_get(entry, "role"));
		uint64_t count = (uint64_t)json_integer_value(json_object_get(entry, "count"));

		if (count > 2) {
			count = draw_from(d->rng, 2, count);
			put_number(entry, "count", count);
		}
		if (role != NULL && (strcmp(role, "compute") == 0 || strcmp(role, "both") == 0))
			d->clients += count > 0 ? count : 1;
	}
}

/**
 * Adds nodes without clients, for forging: what a node forges is in the way of its own operations, in their
 * order and their X. The nodes of the base have clients, as before.
 */
static void add_strangers(struct draft *d)
{
	json_t *nodes = json_object_get(d->json, "nodes"), *entry;
	size_t i;

	d->askers = json_array();
	json_array_foreach(nodes, i, entry) {
		const char *role = json_string_value(json_object_get(entry, "role"));

		if (role != NULL && strcmp(role, "memory") != 0)
			json_array_append(d->askers, json_object_get(entry, "name"));
	}
	if (!d->has[MF_FAULT_FORGE])
		return;
	d->strangers = STRANGERS;
	json_array_append_new(nodes,
			      json_pack("{s:s, s:s, s:i}", "name", STRANGERS, "role", "compute", "count", 2));
}

static void draw_links(struct draft *d)
{
	static const char *const rate[] = {"10G", "25G", "25G", "40G", "100G", "200G"};
	static const char *const policy[] = {"fair", "fair", "memory-first", "no-preempt", "fifo"};
	json_t *link = put_object(d->json, "link"), *links = json_array(), *one, *nodes;

	put_text(link, "rate", DRAW_OF(d->rng, rate));
	d->way = (draw_often(d->rng, 0.8) ? draw(d->rng, 100) : draw(d->rng, 3000)) * 1000;
	put_time(link, "propagation", d->way);
	put_text(link, "policy", DRAW_OF(d->rng, policy));
	put_bool(link, "scramble", draw_often(d->rng, 0.1));
	put_bool(link, "align8", draw_often(d->rng, 0.2));
	nodes = json_object_get(d->json, "nodes");
	one = json_object();
	json_array_append_new(links, one);
	json_object_set(one, "node",
			json_object_get(json_array_get(nodes, draw(d->rng, json_array_size(nodes))), "name"));
	put_text(one, "rate", DRAW_OF(d->rng, rate));
	if (draw_often(d->rng, 0.4) && json_array_size(nodes) > 1) {
		json_array_append_new(links, json_pack("{s:s}", "node", "*"));
		json_object_set(d->json, "links", links);
	}
	json_decref(links);
}

const struct mf_stack_ops *generate_stack(const json_t *base)
{
	const json_t *stack = json_object_get(base, "stack");
	const char *name = json_string_value(json_is_object(stack) ? json_object_get(stack, "name") : stack);

	return name != NULL ? mf_stack_find(name) : NULL;
}

/** Of EDM alone. A policy that the base names stays. */
static void draw_scheduler(struct draft *d)
{
	static const unsigned int chunk[] = {64, 128, 256, 256, 512, 1024};
	json_t *s = put_object(d->json, "scheduler");
	bool given = json_object_get(s, "policy") != NULL, pim = draw_often(d->rng, 0.7);
	bool paper = draw_often(d->rng, 0.1), srpt = draw_often(d->rng, 0.4);

	if (!given)
		put_text(s, "policy", pim ? "pim" : "greedy");
	put_text(s, "priority", srpt ? "srpt" : "fcfs");
	if (srpt && draw_often(d->rng, 0.3))
		put_text(s, "srpt", "transfer");
	put_text(s, "release", paper ? "paper" : "wire");
	if (!paper)
		put_bool(s, "slots", draw_often(d->rng, 0.3));
	put_text(s, "order", draw_often(d->rng, 0.1) ? "direction" : "pair");
	put_number(s, "chunk", DRAW_OF(d->rng, chunk));
	d->x = draw_from(d->rng, 1, 4);
	put_number(s, "x", d->x);
	if (pim && draw_often(d->rng, 0.2)) {
		uint64_t iterations = draw_from(d->rng, 1, 3);

		if (!given)
			put_number(s, "iterations", iterations);
	}
	if (draw_often(d->rng, 0.2))
		put_text(s, "time", "asic");
}

static const char *const atomics[] = {"fadd", "swap", "or", "and"};

/** What its stack loses stays lost: of a plain write that is unsound. */
static bool stack_loses(const struct draft *d)
{
	return d->stack != NULL && d->stack->loses;
}

/**
 * A write that nobody acknowledges may be lost, and nobody is told (D11).
 */
static void draw_mix(struct draft *d, json_t *w)
{
	json_t *mix = json_object();

	put_number(mix, "read", draw_from(d->rng, 1, 4));
	put_number(mix, "write_ack", draw_from(d->rng, 1, 4));
	put_number(mix, "cas", draw(d->rng, 3));
	for (unsigned int i = 0; i < 4; i++)
		if (draw_often(d->rng, 0.2))
			put_number(mix, atomics[i], 1);
	if (!draft_loses(d) || (!stack_loses(d) && draw_often(d->rng, 0.15))) {
		put_number(mix, "write", draw_from(d->rng, 1, 3));
		put_bool(w, "verify", !draft_loses(d));
	}
	json_object_set_new(w, "mix", mix);
}

static void draw_size(struct draft *d, json_t *w)
{
	static const unsigned int size[] = {1, 7, 8, 64, 64, 300, 1000, 1500, 4096};
	static const unsigned int large[] = {16384, 65536, 65537, 150000};
	uint64_t most = DRAW_OF(d->rng, size);
	json_t *spread;

	if (d->depth == 1 && draw_often(d->rng, 0.05))
		most = DRAW_OF(d->rng, large);
	if (most > 64 && draw_often(d->rng, 0.4)) {
		spread = json_pack("{s:s, s:i, s:i}", "dist", "uniform", "min", 1, "max", (int)most);
		json_object_set_new(w, "size", spread);
	} else {
		put_number(w, "size", most);
	}
	if (most > d->octets)
		d->octets = most;
	most *= d->depth;
	d->span = (most < 1024 ? 1024 : (most + 7) / 8 * 8) << draw(d->rng, 3);
	put_number(w, "span", d->span);
}

bool draft_keeps_order(const struct draft *d)
{
	static const enum mf_fault_class holes[] = {MF_FAULT_BIT, MF_FAULT_SYNC, MF_FAULT_TYPE,
						    MF_FAULT_CUT, MF_FAULT_LOSE, MF_FAULT_EXHAUST};

	for (unsigned int i = 0; i < sizeof(holes) / sizeof(holes[0]) && d->backup; i++)
		if (d->has[holes[i]])
			return false;
	return d->stack == NULL && !d->retries && !d->has[MF_FAULT_REORDER];
}

static void draw_workload(struct draft *d)
{
	static const char *const pattern[] = {"uniform", "uniform", "permutation", "all-to-all", "zipf"};
	static const char *const address[] = {"uniform", "zipf", "sequential"};
	json_t *w = json_array_get(json_object_get(d->json, "workload"), 0), *all = json_array();

	w = json_is_object(w) ? json_deep_copy(w) : json_object();
	json_array_append_new(all, w);
	json_object_set_new(d->json, "workload", all);
	d->retries = draw_often(d->rng, 0.25) && d->stack == NULL;
	d->depth = draw_often(d->rng, draft_keeps_order(d) ? 0.2 : 0.6) ? 1 : draw_from(d->rng, 2, 12);
	if (!d->spaces && generate_store(d))
		return;
	put_number(w, "depth", d->depth);
	if (d->strangers != NULL)
		json_object_set(w, "nodes", d->askers);
	draw_mix(d, w);
	if (d->spaces)
		generate_spaces(d, w);
	else
		draw_size(d, w);
	put_text(w, "pattern", DRAW_OF(d->rng, pattern));
	if (!d->spaces)
		put_text(w, "address", DRAW_OF(d->rng, address));
	if (draw_often(d->rng, 0.2) && d->depth > 1) {
		put_text(w, "loop", "open");
		d->rate = draw_from(d->rng, 100000, 3000000);
		put_number(w, "rate", d->rate);
	} else if (draw_often(d->rng, 0.2)) {
		put_time(w, "delay", draw(d->rng, 3000) * 1000);
	}
}

/**
 * Queues are short, and links of all rates: frames are lost, as Ethernet's are. Without faults that is
 * unsound.
 */
static void draw_frames(struct draft *d)
{
	json_t *e = json_array_get(json_object_get(d->json, "ethernet"), 0);

	if (draw_often(d->rng, 0.5) || !draft_any_fault(d) || !json_is_object(e)) {
		json_object_del(d->json, "ethernet");
		return;
	}
	put_number(e, "size", draw_from(d->rng, 60, draw_often(d->rng, 0.9) ? 1500 : 9000));
	json_object_set_new(e, "load", json_real((double)draw_from(d->rng, 1, 30) / 100));
}

/**
 * A request that comes twice is executed twice where hosts do not number the uses of their ids, and its
 * second response may be taken for that of the next request with its id (docs/fabric-file.md, host.once).
 */
static void draw_once(struct draft *d, json_t *host)
{
	if (!d->retries && !d->has[MF_FAULT_DUPLICATE] && draw_often(d->rng, 0.6))
		return;
	put_bool(host, "once", true);
	if (!d->retries)
		return;
	put_number(host, "retries", draw_from(d->rng, 1, 3));
	put_time(host, "retry_timeout", d->timeout / 4);
}

/** What EDM's hosts and switches have beside timers of operations, and no others. */
static void draw_edm(struct draft *d, json_t *host, json_t *sw)
{
	mf_time rest = d->timeout * draw_from(d->rng, 3, 5);
	uint64_t mega;

	put_time(host, "quarantine", rest);
	d->over = 2 * rest + 2 * d->timeout;
	mega = draw_often(d->rng, 0.2) ? draw_from(d->rng, 2, 8) : 1;
	put_number(host, "mega", d->backup && d->has[MF_FAULT_DUPLICATE] ? 1 : mega);
	if (draw_often(d->rng, 0.1))
		put_number(host, "queue", draw_from(d->rng, 1, 4));
	draw_once(d, host);
	put_time(sw, "grant_timeout", d->timeout / 2);
	put_time(sw, "hold_timeout", draw_from(d->rng, 3, 10) * MF_US(1));
	put_bool(sw, "align", draw_often(d->rng, 0.2));
	put_number(put_object(d->json, "proto"), "check", draw_often(d->rng, 0.3) ? 32 : 16);
}

/**
 * Timers are longer than anything takes that is not lost: all that may be under way over the slowest link,
 * three times, with room for what faults delay and for the frames of both queues on the way. Without faults
 * nothing may fail, and a long one with SRPT, or one that is beyond its share, waits for as long as there is
 * load; in an open loop all that is asked may be more than the links carry, and wait.
 */
static void draw_host(struct draft *d)
{
	const mf_time slowest = 800; /* ps an octet, 10 Gb/s */
	json_t *h = put_object(d->json, "host"), *s = put_object(d->json, "switch");

	d->timeout =
		MF_US(40) + 3 * d->clients * d->depth * d->octets * slowest + draw(d->rng, 30) * MF_US(1);
	/* Pieces have heads, and go X at a time. */
	d->timeout += d->pieces * (d->clients * 64 * slowest + 2 * 6 * d->way);
	if (json_object_get(d->json, "ethernet") != NULL)
		d->timeout *= 2;
	if (!draft_any_fault(d))
		d->timeout +=
			d->active + d->clients * (d->rate * d->active / MF_MS(1000)) * d->octets * slowest;
	put_time(h, "read_timeout", d->timeout);
	put_time(h, "write_timeout", d->timeout);
	put_text(h, "frame_queue", "16KiB");
	put_text(s, "frame_queue", "16KiB");
	d->over = 2 * d->timeout;
	if (d->stack == NULL)
		draw_edm(d, h, s);
}

bool draft_damages(const struct draft *d)
{
	return d->has[MF_FAULT_BIT] || d->has[MF_FAULT_SYNC] || d->has[MF_FAULT_TYPE] ||
	       d->has[MF_FAULT_CUT] || d->has[MF_FAULT_GARBAGE];
}

/** Corruption disables links, or puts receivers into local fault. Somebody mends what is disabled. */
static void draw_disable(struct draft *d)
{
	json_t *disable;

	if (!draft_damages(d))
		return;
	d->down = 2 * MF_US(125) + MF_US(10);
	if (draw_often(d->rng, 0.7))
		return;
	disable = put_object(put_object(d->json, "link"), "disable");
	put_number(disable, "bad", draw_from(d->rng, 1, 30));
	put_time(disable, "within", draw_from(d->rng, 1, 200) * MF_US(1));
	put_time(disable, "repair", draw_from(d->rng, 1, 100) * MF_US(1));
}

/**
 * Whether timers leave room for an operation behind all others of its client, X at a time, on the longest
 * cable: a write's demand, grant, chunk and ACK go over six.
 */
static bool is_patient(const struct draft *d)
{
	uint64_t turns = d->stack != NULL ? 1 : (d->depth + d->x - 1) / d->x;

	if (d->pieces > PIECES_MOST) /* they wait for ids that rest, one after the other */
		return false;
	return d->timeout > 2 * 6 * d->way * turns;
}

/**
 * Some cases have a time behind the last fault in which nothing may fail any more (judge.h). Not with SRPT:
 * there a long one waits for as long as short ones come, whatever the timers.
 */
static void draw_times(struct draft *d)
{
	json_t *clock = json_object(), *v = put_object(clock, "virtual");
	mf_time warmup = draw_often(d->rng, 0.5) ? MF_US(5) : 0, active = d->active;

	const char *priority =
		json_string_value(json_object_get(json_object_get(d->json, "scheduler"), "priority"));
	bool fair = d->stack != NULL || strcmp(priority, "fcfs") == 0;

	if (fair && !d->refuses && d->timeout < MF_US(150) && is_patient(d) && draw_often(d->rng, CALM_SHARE))
		active += d->down + d->over + d->over / 8 + MF_US(30);
	put_time(v, "warmup", warmup);
	put_time(v, "duration", active - warmup);
	put_text(v, "drain", "50ms");
	json_object_set_new(d->json, "clock", clock);
}

/** A base with a second switch has one in all cases that may have one. */
static void decide_backup(struct draft *d)
{
	bool often = json_object_get(d->json, "backup") != NULL;

	json_object_del(d->json, "backup");
	d->backup = d->stack == NULL && !d->spaces && draft_any_fault(d) && !d->has[MF_FAULT_FORGE] &&
		    (draw_often(d->rng, BACKUP_SHARE) || often);
}

/** Of a cable to the second switch: mostly about as long as that to the first one. */
static mf_time draw_cable(struct draft *d)
{
	mf_time way = draw_from(d->rng, 1, draw_often(d->rng, 0.7) ? 100 : 3000) * 1000;

	d->way = mf_time_max(d->way, way);
	return way;
}

static void draw_backup(struct draft *d)
{
	const json_t *nodes = json_object_get(d->json, "nodes"), *entry;
	json_t *backup, *one;

	if (!d->backup)
		return;
	backup = put_object(d->json, "backup");
	put_time(backup, "propagation", draw_cable(d));
	if (draw_often(d->rng, 0.5))
		return;
	one = json_object();
	entry = json_array_get(nodes, draw(d->rng, json_array_size(nodes)));
	json_object_set(one, "node", json_object_get(entry, "name"));
	put_time(one, "propagation", draw_cable(d));
	json_object_set_new(backup, "links", json_pack("[o]", one));
}

json_t *generate(const json_t *base, uint64_t seed, const struct classes *classes)
{
	struct mf_rng rng;
	struct draft d = {.json = json_deep_copy(base), .rng = &rng};

	if (d.json == NULL)
		return NULL;
	mf_rng_init(&rng, seed, "chaos", 0);
	put_number(d.json, "seed", seed);
	d.active = draw_from(&rng, 60, 200) * MF_US(1);
	if (generate_is_graph(base, seed, classes)) {
		generate_graph(&d, classes);
		return d.json;
	}
	d.stack = generate_stack(base);
	generate_classes(&d, classes);
	generate_decide_spaces(&d, base, seed);
	draw_nodes(&d);
	add_strangers(&d);
	draw_links(&d);
	if (d.stack == NULL)
		draw_scheduler(&d);
	decide_backup(&d);
	draw_workload(&d);
	if (d.stack == NULL && !d.spaces)
		generate_access(&d);
	if (d.depth > 1 && !draft_keeps_order(&d))
		put_bool(json_array_get(json_object_get(d.json, "workload"), 0), "verify", false);
	draw_frames(&d);
	draw_host(&d);
	draw_backup(&d);
	draw_disable(&d);
	draw_times(&d);
	generate_faults(&d);
	json_decref(d.askers);
	return d.json;
}
