/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what, and how much of it: regions of the memories, and limits of those who ask. */
#include <stdio.h>
#include <string.h>

#include "generate.h"

#define PIECES_MAX 12

/** Names some nodes that ask: all, with that probability, those of an entry, or one. @return NULL: none */
static const char *some_askers(struct draft *d, char *name, size_t len, double all)
{
	const json_t *nodes = json_object_get(d->json, "nodes"), *entry;
	uint64_t count;
	const char *role;

	if (draw_often(d->rng, all))
		return "*";
	entry = json_array_get(nodes, draw(d->rng, json_array_size(nodes)));
	role = json_string_value(json_object_get(entry, "role"));
	if (role == NULL || strcmp(role, "memory") == 0)
		return NULL;
	count = (uint64_t)json_integer_value(json_object_get(entry, "count"));
	snprintf(name, len, "%s", json_string_value(json_object_get(entry, "name")));
	if (count > 1 && draw_often(d->rng, 0.6))
		snprintf(name + strlen(name), len - strlen(name), "%u", (unsigned int)draw(d->rng, count));
	return name;
}

static void put_askers(struct draft *d, json_t *region, const char *key, double all)
{
	char name[64];
	const char *some = some_askers(d, name, sizeof(name), all);

	if (some != NULL)
		put_text(region, key, some);
}

/** Gives the region to one compute node: what clients use must have an owner, or a spy could claim it. */
static void put_owner(struct draft *d, json_t *region)
{
	const json_t *entry = json_array_get(json_object_get(d->json, "nodes"), 0);
	uint64_t count = (uint64_t)json_integer_value(json_object_get(entry, "count"));
	char name[64];

	snprintf(name, sizeof(name), "%s", json_string_value(json_object_get(entry, "name")));
	if (count > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%u",
			 (unsigned int)draw(d->rng, count));
	put_text(region, "owner", name);
}

static json_t *add_region(json_t *regions, uint64_t at, uint64_t size)
{
	json_t *region = json_object();
	char name[16];

	snprintf(name, sizeof(name), "r%zu", json_array_size(regions));
	json_array_append_new(regions, region);
	put_text(region, "name", name);
	put_number(region, "at", at);
	put_number(region, "size", size);
	return region;
}

/** Makes all that is used one region that all may use: nobody is refused. */
static void one_for_all(struct draft *d, json_t *regions, uint64_t used)
{
	json_t *region = add_region(regions, 0, used);

	put_owner(d, region);
	put_text(region, "readers", "*");
	put_text(region, "writers", "*");
}

/**
 * Cuts what is used into regions anywhere, so within the parts of clients, too. Now and then there is a
 * gap, which nobody may use.
 */
static void pieces(struct draft *d, json_t *regions, uint64_t used)
{
	uint64_t at = 0, n = draw_from(d->rng, 2, PIECES_MAX);
	double all = draw_often(d->rng, 0.7) ? 0.7 : 0.2;
	size_t before = json_array_size(regions);

	for (; n > 0 && at < used; n--) {
		uint64_t size = n == 1 ? used - at : 1 + draw(d->rng, 2 * (used - at) / n);
		json_t *region;

		if (draw_often(d->rng, 0.9) && n > 1)
			size = (size + 7) / 8 * 8;
		if (size > used - at)
			size = used - at;
		if (draw_often(d->rng, 0.9)) {
			region = add_region(regions, at, size);
			put_owner(d, region);
			put_askers(d, region, "readers", all);
			put_askers(d, region, "writers", all);
		}
		at += size;
	}
	if (before == json_array_size(regions))
		one_for_all(d, regions, used);
}

/** Adds regions without an owner behind what is used, for spies to claim. */
static void spare(struct draft *d, json_t *regions, uint64_t used)
{
	uint64_t at = (used + 7) / 8 * 8;

	for (uint64_t n = draw(d->rng, 3); n > 0; n--) {
		uint64_t size = 64 + 8 * draw(d->rng, 64);

		add_region(regions, at, size);
		at += size + 8 * draw(d->rng, 2);
	}
}

/**
 * Draws regions. Clients may be refused only where there are faults, since refusals fail operations. Then
 * there are no plain writes: those are refused without an answer, and whoever wrote them would miss them.
 */
static void draw_regions(struct draft *d)
{
	json_t *w = json_array_get(json_object_get(d->json, "workload"), 0), *regions;
	uint64_t used = d->clients * d->span;

	if (!d->has[MF_FAULT_FORGE] && draw_often(d->rng, 0.6))
		return;
	regions = json_array();
	json_object_set_new(d->json, "regions", regions);
	if (d->has[MF_FAULT_FORGE])
		spare(d, regions, used);
	if (!draft_any_fault(d) || d->store || draw_often(d->rng, 0.3)) {
		one_for_all(d, regions, used);
		return;
	}
	d->refuses = true;
	pieces(d, regions, used);
	json_object_del(json_object_get(w, "mix"), "write");
	json_object_del(w, "verify");
}

/**
 * Draws limits. There is no "rate" where requests may come twice: nobody knows whether what is refused then
 * has happened the first time, and a history with many such operations takes long to search.
 */
static void draw_limits(struct draft *d)
{
	json_t *limits;
	bool share = draw_often(d->rng, 0.6);

	if (draw_often(d->rng, 0.7))
		return;
	limits = put_object(d->json, "limits");
	if (share) {
		json_object_set_new(limits, "share", json_real((double)draw_from(d->rng, 2, 100) / 100));
		put_number(limits, "burst", draw_from(d->rng, 8, 4096) * 8);
	}
	if (!draft_any_fault(d) || (share && draw_often(d->rng, 0.5)) || d->retries ||
	    d->has[MF_FAULT_DUPLICATE] || !draft_keeps_order(d))
		return;
	d->refuses = true;
	if (draw_often(d->rng, 0.5)) {
		put_number(limits, "outstanding", draw_from(d->rng, 1, 32));
		return;
	}
	put_number(limits, "rate", (uint64_t)draw_rate(d->rng, 1e5, 1e8));
	put_number(limits, "rate_burst", draw_from(d->rng, 1, 64));
}

void generate_access(struct draft *d)
{
	draw_regions(d);
	draw_limits(d);
	if (json_object_size(json_object_get(d->json, "limits")) == 0)
		json_object_del(d->json, "limits");
}
