/* SPDX-License-Identifier: BSD-3-Clause */
/* What a check has found, for people. */
#include <inttypes.h>

#include "linear/history.h"

#define AROUND 12 /* operations that are shown before the one that is wrong, and behind it */

static const char *const kinds[] = {
	"read", "write", "write_ack", "cas", "fadd", "swap", "or", "and", [MF_HISTORY_ZEROED] = "zeroed"};

static void say_time(FILE *out, mf_time t)
{
	if (t == MF_NEVER)
		fprintf(out, "%16s", "never");
	else
		fprintf(out, "%12" PRIu64 ".%03u", t / MF_US(1), (unsigned int)(t % MF_US(1) / MF_NS(1)));
}

static void say_value(FILE *out, const struct mf_history_op *o)
{
	const uint64_t *data = history_data(o->op);

	if (o->op->kind == MF_HISTORY_CAS)
		fprintf(out, "%#" PRIx64 " -> %#" PRIx64 ", ", data[0], data[1]);
	else if (history_is_rmw(o->op->kind))
		fprintf(out, "%#" PRIx64 ", ", data[0]);
	if (history_writes(o->op->kind))
		fprintf(out, "wrote %#" PRIx64, o->value);
	else if (o->found)
		fprintf(out, "found %#" PRIx64, o->value);
	else
		fprintf(out, "nobody knows what it found");
	if (o->mask != UINT64_MAX)
		fprintf(out, " of octets %#" PRIx64, o->mask);
}

static void say_op(FILE *out, const struct mf_history_op *o, bool bad)
{
	fprintf(out, "%s client %-4u %-9s ", bad ? " >" : "  ", o->op->client, kinds[o->op->kind]);
	say_time(out, o->call);
	say_time(out, o->ret);
	fprintf(out, "  ");
	say_value(out, o);
	if (o->op->outcome != MF_HISTORY_OK)
		fprintf(out, " (failed: status %u)", o->op->status);
	else if (!o->must)
		fprintf(out, " (at any time from then on, or never)");
	fprintf(out, "\n");
}

static void say_word(const struct mf_history_verdict *v, FILE *out)
{
	size_t from = v->bad > AROUND ? v->bad - AROUND : 0;
	size_t end = v->ops - from > 2 * AROUND + 1 ? from + 2 * AROUND + 1 : v->ops;

	fprintf(out, "   %-21s %16s%16s\n", "", "called, us", "returned, us");
	if (from > 0)
		fprintf(out, "   ... %zu before\n", from);
	for (size_t i = from; i < end; i++)
		say_op(out, &v->op[i], v->answer == MF_HISTORY_NO && i == v->bad);
	if (end < v->ops)
		fprintf(out, "   ... %zu more\n", v->ops - end);
}

static void say_place(const struct mf_history_verdict *v, FILE *out)
{
	fprintf(out, "node %u, ", v->node);
	if (v->space != 0)
		fprintf(out, "space %#x, ", v->space);
	fprintf(out, "word at %#" PRIx64, v->addr);
}

void mf_history_explain(const struct mf_history_verdict *v, FILE *out)
{
	fprintf(out, "history: %" PRIu64 " operations on %" PRIu64 " words", v->operations, v->words);
	if (v->cuts > 0)
		fprintf(out,
			", %" PRIu64 " times memory may have been lost (%" PRIu64
			" finds meanwhile, not looked at)",
			v->cuts, v->across);
	if (v->full != MF_NEVER)
		fprintf(out, ", until a log was full after %" PRIu64 " us", v->full / MF_US(1));
	if (v->parts > 0)
		fprintf(out, ", %" PRIu64 " words not looked at (in part written, begin unknown)", v->parts);
	if (v->answer == MF_HISTORY_YES) {
		fprintf(out, ": linearizable\n");
		return;
	}
	if (v->answer == MF_HISTORY_GAVE_UP) {
		fprintf(out, ": linearizable but for %" PRIu64 " words of which it is not known\n",
			v->gave_up);
		fprintf(out, "the first of them: ");
		say_place(v, out);
		fprintf(out, ", %zu operations\n", v->ops);
		return;
	}
	fprintf(out, ": not linearizable\n");
	say_place(v, out);
	fprintf(out, ": no order of its %zu operations from %#" PRIx64 " on explains them all\n", v->ops,
		v->initial);
	say_word(v, out);
}
