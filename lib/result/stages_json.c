/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table 1 and Figure 5 out of the stage log: where the first block of a read and of a write spends its
 * time, beside the paper's cycles; and what the paper's sum leaves out.
 */
#include "config/mf_config_query.h"
#include "measure/mf_stages.h"
#include "result/mf_result.h"

/** Rows of Table 1: cycles besides the PCS crossings, and how many crossings, as the paper has them. */
static const struct {
	const char *name;
	enum stage_place place;
	unsigned int crossings[2], cycles[2]; /**< read, write */
} paper[] = {
	{"compute node PCS", PLACE_COMPUTE, {2, 3}, {5, 11}},
	{"switch PCS", PLACE_SWITCH, {4, 4}, {11, 11}},
	{"memory node PCS", PLACE_MEMORY, {2, 1}, {10, 3}},
};

/** The paper's testbed: cycle, PCS crossing, PMA and transceiver, propagation of a hop. */
#define PAPER_CYCLE 2560
#define PAPER_PCS_CYCLES 2
#define PAPER_PMA MF_NS(19)
#define PAPER_PMA_CROSSINGS 8
#define PAPER_HOP MF_NS(10)
#define PAPER_HOPS 4

static double ns(mf_time t)
{
	return (double)t / 1000;
}

/** @param published  MF_NEVER: the paper has none */
static json_t *row(const char *name, mf_time measured, mf_time published)
{
	json_t *o = json_pack("{s:s, s:f}", "part", name, "ns", ns(measured));

	if (published != MF_NEVER)
		json_object_set_new(o, "paper_ns", json_real(ns(published)));
	return o;
}

/** PCS crossings and the stack's own stages at one place. */
static mf_time stack_at(const struct stage_record *r, enum stage_place place)
{
	mf_time sum = 0;

	for (enum mf_stage s = 0; s <= MF_STAGE_PCS_RX; s++)
		sum += stages_sum(r, s, place);
	return sum;
}

/** What the paper has for a part; it has reads and writes. */
static mf_time theirs(const struct stage_record *r, mf_time of_read_or_write)
{
	return r->kind == STAGE_READ || r->kind == STAGE_WRITE ? of_read_or_write : MF_NEVER;
}

static json_t *table(const struct stage_record *r)
{
	json_t *rows = json_array();
	unsigned int kind = r->kind == STAGE_WRITE;
	mf_time sum = 0, published = 0, pma, hop;

	for (unsigned int i = 0; i < sizeof(paper) / sizeof(paper[0]); i++) {
		mf_time at = stack_at(r, paper[i].place);
		mf_time part =
			(paper[i].crossings[kind] * PAPER_PCS_CYCLES + paper[i].cycles[kind]) * PAPER_CYCLE;

		json_array_append_new(rows, row(paper[i].name, at, theirs(r, part)));
		sum += at;
		published += part;
	}
	json_array_append_new(rows, row("network stack", sum, theirs(r, published)));
	pma = stages_sum(r, MF_STAGE_PMA, PLACES);
	hop = stages_sum(r, MF_STAGE_PROPAGATION, PLACES);
	json_array_append_new(rows,
			      row("PMA, PMD, transceiver", pma, theirs(r, PAPER_PMA_CROSSINGS * PAPER_PMA)));
	json_array_append_new(rows, row("propagation", hop, theirs(r, PAPER_HOPS * PAPER_HOP)));
	published += PAPER_PMA_CROSSINGS * PAPER_PMA + PAPER_HOPS * PAPER_HOP;
	json_array_append_new(rows, row("fabric latency", sum + pma + hop, theirs(r, published)));
	return rows;
}

/** Everything together: must be the measured end-to-end time. */
static json_t *beyond(const struct stage_record *r)
{
	json_t *o = json_object();
	mf_time fabric = 0, total = 0;

	for (enum mf_stage s = 0; s <= MF_STAGE_PROPAGATION; s++)
		fabric += stages_sum(r, s, PLACES);
	json_object_set_new(o, "fabric_ps", json_integer((json_int_t)fabric));
	total = fabric;
	for (enum mf_stage s = MF_STAGE_SERIALISATION; s < MF_STAGES; s++) {
		static const char *const key[] = {"serialisation_ps", "check_ps", "scheduler_ps", "dram_ps",
						  "line_ps"};
		mf_time t = stages_sum(r, s, PLACES);

		json_object_set_new(o, key[s - MF_STAGE_SERIALISATION], json_integer((json_int_t)t));
		total += t;
	}
	json_object_set_new(o, "sum_ps", json_integer((json_int_t)total));
	return o;
}

static json_t *timeline(const struct stage_record *r)
{
	static const char *const place[] = {"compute node", "switch", "memory node"};
	json_t *list = json_array();

	for (unsigned int i = 0; i < r->count; i++) {
		const struct stage_stamp *s = &r->stamp[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I}", "place", place[s->place],
						      "stage", mf_stage_name(s->stage), "from_ps",
						      (json_int_t)(s->from - r->stamp[0].from), "to_ps",
						      (json_int_t)(s->to - r->stamp[0].from)));
	}
	return list;
}

/** Occurrences and cost of every stage. */
static json_t *stages(const struct stage_record *r)
{
	json_t *o = json_object();

	for (enum mf_stage s = 0; s < MF_STAGES; s++)
		if (stages_count(r, s, PLACES) > 0)
			json_object_set_new(o, mf_stage_name(s),
					    json_pack("{s:I, s:I}", "count",
						      (json_int_t)stages_count(r, s, PLACES), "ps",
						      (json_int_t)stages_sum(r, s, PLACES)));
	return o;
}

static json_t *record(const struct mf_fabric *f, const struct stage_record *r, uint64_t count)
{
	json_t *o = json_object();

	json_object_set_new(o, "operations", json_integer((json_int_t)count));
	json_object_set_new(o, "table",
			    mf_config_schedules(f->config)
				    ? table(r)
				    : stages_table_above(r, f->config->tier->stack.name));
	json_object_set_new(o, "sum", beyond(r));
	json_object_set_new(o, "stages", stages(r));
	json_object_set_new(o, "timeline", timeline(r));
	return o;
}

json_t *stages_json(const struct mf_fabric *f)
{
	const struct stage_log *log = f->stages;
	json_t *o = json_object();

	for (enum stage_kind k = 0; k < STAGE_KINDS; k++)
		if (log->count[k] > 0)
			json_object_set_new(o, stages_kind_name(k), record(f, &log->last[k], log->count[k]));
	json_object_set_new(o, "operations_with_gaps", json_integer((json_int_t)log->broken));
	json_object_set_new(o, "operations_that_differ", json_integer((json_int_t)log->differ));
	return o;
}
