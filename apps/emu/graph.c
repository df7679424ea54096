/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a fabric in the language of Graphviz: nodes, switches, and a line for each link. */
#include <stdio.h>
#include <string.h>

#include "base/mf_unit.h"
#include "config/mf_config_query.h"
#include "graph.h"

static const char *const shape[] = {[MF_ROLE_COMPUTE] = "ellipse",
				    [MF_ROLE_MEMORY] = "cylinder",
				    [MF_ROLE_BOTH] = "component",
				    [MF_ROLE_ETHERNET] = "plaintext",
				    [MF_ROLE_SERVER] = "house"};

/** A text may have anything in it. */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void put_link(FILE *out, const char *a, const char *b, const struct mf_config_link *link,
		     const char *style)
{
	char rate[MF_UNIT_LEN];

	fprintf(out, "\t\"%s\" -- \"%s\" [label=\"%s\"%s];\n", a, b, mf_unit_put_rate(rate, link->period),
		style);
}

static void put_node(FILE *out, const struct mf_config *c, unsigned int node)
{
	const struct mf_config_node *n = &c->node[node];

	fprintf(out, "\t\"%s\" [shape=%s];\n", n->name, shape[n->role]);
	for (unsigned int k = 0; k < n->ends; k++) {
		const struct mf_config_end *e = mf_config_end(c, node, k);

		if (!e->direct)
			put_link(out, n->name, mf_config_switch_name(c, e->to), &e->link, "");
	}
	if (c->backup.on)
		put_link(out, n->name, c->backup.name, &n->link, ", style=dashed");
}

/** Who is in a rack is drawn in a frame. @param name  of one that is in it */
static void put_member(FILE *out, const char *name, unsigned int rack)
{
	int len = (int)strcspn(name, ".");

	if (rack != 0)
		fprintf(out, "\tsubgraph \"cluster_%.*s\" {label=\"%.*s\"; \"%s\";}\n", len, name, len, name,
			name);
}

static void put_racks(FILE *out, const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->switches; i++)
		put_member(out, c->switch_list[i].name, c->switch_list[i].rack);
	for (unsigned int i = 0; i < c->slots; i++)
		put_member(out, c->node[i].name, c->node[i].rack);
}

static void put_switches(FILE *out, const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->switches; i++)
		fprintf(out, "\t\"%s\";\n", c->switch_list[i].name);
	if (c->switches == 0 && mf_config_switch_count(c) > 0)
		fprintf(out, "\t\"%s\";\n", c->tier->sw.name);
	if (c->backup.on)
		fprintf(out, "\t\"%s\";\n", c->backup.name);
}

void graph_print(FILE *out, const struct mf_config *c)
{
	fputs("graph ", out);
	put_text(out, c->name);
	fputs(" {\n\tnode [shape=box3d];\n", out);
	put_switches(out, c);
	for (unsigned int i = 0; i < c->slots; i++)
		if (c->node[i].up)
			put_node(out, c, i);
	for (unsigned int i = 0; i < c->trunks; i++)
		put_link(out, mf_config_trunk_end(c, &c->trunk[i], 0),
			 mf_config_trunk_end(c, &c->trunk[i], 1), &c->trunk[i].link, "");
	put_racks(out, c);
	fputs("}\n", out);
}
