/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory with address spaces. In most cases all clients share spaces that come and go with their pages. In
 * the others each has spaces of its own, made at the start, and its data are verified.
 */
#include <string.h>

#include "generate.h"

#define SHARE (1.0 / 6) /* of cases that may have such memory */
#define PAGE 4096

bool generate_has_spaces(const json_t *base)
{
	const char *type = json_string_value(json_object_get(json_object_get(base, "memory"), "type"));

	return type != NULL && strcmp(type, "virtual") == 0;
}

/* By a stream of its own: cases without are what they were before there was such memory. */
void generate_decide_spaces(struct draft *d, const json_t *base, uint64_t seed)
{
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "chaos.spaces", 0);
	if (d->stack != NULL ||
	    (!generate_has_spaces(base) && (d->has[MF_FAULT_FORGE] || !draw_often(&rng, SHARE))))
		return;
	d->spaces = true;
	d->churn = draw_often(&rng, 0.75);
	d->has[MF_FAULT_FORGE] = false;
}

/** Of pages: of the size that is used, and now and then of another one. */
static void draw_pages(struct draft *d, json_t *memory, json_t *w, uint64_t needed)
{
	static const char *const names[] = {"4KiB", "16KiB", "64KiB"};
	json_t *pages = put_object(memory, "pages");
	uint64_t all = 64;
	unsigned int used = 0;

	while (all < needed)
		all *= 2;
	if (draw_often(d->rng, 0.3)) {
		used = (unsigned int)draw(d->rng, 3);
		put_text(w, "page", names[used]);
		put_number(pages, names[(used + 1) % 3], 1 << 20);
	}
	put_number(pages, names[used], all * PAGE << 2 * used);
}

/**
 * The tables of the fast path, small ones as often as large ones. What finds no place for a page that is held
 * fails, unless it names its space: then it is asked again.
 */
static void draw_tables(struct draft *d, json_t *memory)
{
	json_t *tlb = put_object(memory, "tlb");

	put_number(tlb, "sets", UINT64_C(1) << draw(d->rng, 4));
	put_number(tlb, "ways", draw_from(d->rng, 1, 16));
	put_number(memory, "ring", draw_from(d->rng, 1, draw_often(d->rng, 0.5) ? 4 : 64));
	if (d->churn && draw_often(d->rng, 0.2))
		put_number(memory, "pins", draw_from(d->rng, 1, 8));
	put_number(memory, "node_tasks", draw_from(d->rng, 1, 16));
	if (!draw_often(d->rng, 0.3))
		return;
	put_number(memory, "bucket", 8);
	put_number(memory, "slots", 4);
}

/** A slow path that takes its time. */
static void draw_slow_path(struct draft *d, json_t *memory)
{
	json_t *slow = put_object(memory, "slow");
	bool fast = draw_often(d->rng, 0.6);

	put_time(slow, "step", draw_from(d->rng, 0, fast ? 20 : 200) * 1000);
	put_time(slow, "zero", draw_from(d->rng, 0, fast ? 400 : 4000) * 1000);
	put_time(slow, "crossing", draw_from(d->rng, 0, fast ? 100 : 2000) * 1000);
	put_time(memory, "dram", draw(d->rng, 200) * 1000);
	put_time(memory, "fault", draw(d->rng, 50) * 1000);
}

/**
 * A lease that is over when a link was lost for a while. Not without faults, since then nothing may fail.
 * Nor where each client has spaces of its own: it would make them over and over if that takes longer.
 */
static void draw_lease(struct draft *d, json_t *memory)
{
	if (d->churn && draft_any_fault(d) && draw_often(d->rng, 0.4))
		put_time(memory, "lease", draw_from(d->rng, 20, 200) * MF_US(1));
}

static void draw_size(struct draft *d, json_t *w)
{
	static const unsigned int size[] = {8, 8, 16, 64, 64, 64, 300, 1000, 4096, 10000};
	uint64_t most = DRAW_OF(d->rng, size);

	if (most > 16 && draw_often(d->rng, 0.4))
		json_object_set_new(
			w, "size",
			json_pack("{s:s, s:i, s:i}", "dist", "uniform", "min", 1, "max", (int)most));
	else
		put_number(w, "size", most);
	d->octets = most;
}

/** How much there is: of each client's octets all that is under way fits. @return pages that all need */
static uint64_t draw_spaces(struct draft *d, json_t *w)
{
	uint64_t spaces = draw_from(d->rng, 1, 3), pages = draw_from(d->rng, 1, d->churn ? 4 : 12);
	static const unsigned int interleave[] = {8, 64, 512, 4096};

	while (spaces * pages * PAGE < d->depth * d->octets)
		pages++;
	put_number(w, "spaces", spaces);
	put_number(w, "pages", pages);
	d->span = spaces * pages * PAGE;
	if (d->churn) {
		json_object_set_new(w, "churn", json_real(draw_rate(d->rng, 0.02, 0.5)));
	} else {
		unsigned int unit = DRAW_OF(d->rng, interleave);

		put_number(w, "interleave", unit);
		d->pieces = d->depth * (d->octets / unit + 2);
		put_bool(w, "populate", draw_often(d->rng, 0.3));
		put_number(w, "range", draw_from(d->rng, 1, 8));
	}
	return d->clients * spaces * pages;
}

void generate_spaces(struct draft *d, json_t *w)
{
	static const char *const address[] = {"uniform", "zipf", "zipf", "zipf", "sequential"};
	static const char *const drawn[] = {"span", "churn", "page", "interleave", "populate", "range"};
	json_t *memory = json_object();
	uint64_t pages;

	put_text(memory, "type", "virtual");
	for (unsigned int i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
		json_object_del(w, drawn[i]);
	draw_size(d, w);
	pages = draw_spaces(d, w);
	draw_pages(d, memory, w, pages);
	draw_tables(d, memory);
	draw_slow_path(d, memory);
	draw_lease(d, memory);
	put_text(w, "address", DRAW_OF(d->rng, address));
	if (d->churn) {
		json_object_del(json_object_get(w, "mix"), "write");
		json_object_del(w, "verify");
	}
	json_object_set_new(d->json, "memory", memory);
}
