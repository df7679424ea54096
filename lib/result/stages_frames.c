/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table 1 for the stacks above the MAC: raw Ethernet, RoCEv2, TCP/IP in hardware. The paper has how often a
 * message crosses what, and what one crossing costs; and totals, which it rounds.
 */
#include <string.h>

#include "measure/mf_stages.h"
#include "result/mf_result.h"

/** Of the paper's testbed, ps. */
#define PAPER_MAC 7680
#define PAPER_PCS 7680
#define PAPER_L2 MF_NS(400)
#define PAPER_PMA MF_NS(19)
#define PAPER_HOP MF_NS(10)

/** A stack of Table 1: its protocol's cost at each end and direction, and the totals as printed. */
static const struct column {
	const char *stack;
	mf_time protocol;
	mf_time printed[2]; /**< read, write */
} columns[] = {{"ethernet", 0, {MF_NS(1110), 557440}},
	       {"rocev2", 230200, {MF_NS(2030), MF_NS(1020)}},
	       {"tcp", 666200, {MF_NS(3790), MF_NS(1890)}}};

/** Rows: how often in the paper, by kind. */
static const struct part {
	const char *name;
	enum stage_place place;
	enum mf_stage stage[2]; /**< both directions */
	unsigned int times[2]; /**< read, write */
	mf_time cost; /**< 0: the stack's own */
} parts[] = {
	{"compute node: stack", PLACE_COMPUTE, {MF_STAGE_PROTOCOL, MF_STAGES}, {2, 1}, 0},
	{"compute node: MAC", PLACE_COMPUTE, {MF_STAGE_MAC, MF_STAGES}, {2, 1}, PAPER_MAC},
	{"compute node: PCS", PLACE_COMPUTE, {MF_STAGE_PCS_TX, MF_STAGE_PCS_RX}, {2, 1}, PAPER_PCS},
	{"switch: layer 2", PLACE_SWITCH, {MF_STAGE_L2, MF_STAGES}, {2, 1}, PAPER_L2},
	{"switch: MAC", PLACE_SWITCH, {MF_STAGE_MAC, MF_STAGES}, {4, 2}, PAPER_MAC},
	{"switch: PCS", PLACE_SWITCH, {MF_STAGE_PCS_TX, MF_STAGE_PCS_RX}, {4, 2}, PAPER_PCS},
	{"memory node: stack", PLACE_MEMORY, {MF_STAGE_PROTOCOL, MF_STAGES}, {2, 1}, 0},
	{"memory node: MAC", PLACE_MEMORY, {MF_STAGE_MAC, MF_STAGES}, {2, 1}, PAPER_MAC},
	{"memory node: PCS", PLACE_MEMORY, {MF_STAGE_PCS_TX, MF_STAGE_PCS_RX}, {2, 1}, PAPER_PCS},
	{"PMA, PMD, transceiver", PLACES, {MF_STAGE_PMA, MF_STAGES}, {8, 4}, PAPER_PMA},
	{"propagation", PLACES, {MF_STAGE_PROPAGATION, MF_STAGES}, {4, 2}, PAPER_HOP},
};

static const struct column *column_of(const char *stack)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcmp(stack, columns[i].stack) == 0)
			return &columns[i];
	return NULL;
}

/** @param published  MF_NEVER: the paper has none */
static json_t *row(const char *name, mf_time measured, mf_time published)
{
	json_t *o = json_pack("{s:s, s:f}", "part", name, "ns", (double)measured / 1000);

	if (published != MF_NEVER)
		json_object_set_new(o, "paper_ns", json_real((double)published / 1000));
	return o;
}

static mf_time measured(const struct stage_record *r, const struct part *p)
{
	mf_time sum = stages_sum(r, p->stage[0], p->place);

	return p->stage[1] != MF_STAGES ? sum + stages_sum(r, p->stage[1], p->place) : sum;
}

json_t *stages_table_above(const struct stage_record *r, const char *stack)
{
	bool printed = r->kind == STAGE_READ || r->kind == STAGE_WRITE, write = r->kind == STAGE_WRITE;
	const struct column *c = printed ? column_of(stack) : NULL;
	json_t *rows = json_array();
	mf_time sum = 0, published = c != NULL ? 0 : MF_NEVER;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *p = &parts[i];
		mf_time at = measured(r, p), theirs = MF_NEVER;

		if (c != NULL) {
			theirs = p->times[write] * (p->cost != 0 ? p->cost : c->protocol);
			published += theirs;
		}
		json_array_append_new(rows, row(p->name, at, theirs));
		sum += at;
	}
	json_array_append_new(rows, row("fabric latency", sum, published));
	if (c != NULL)
		json_array_append_new(rows, row("fabric, as printed", sum, c->printed[write]));
	return rows;
}
