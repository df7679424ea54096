/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a fabric in the language of Graphviz: nodes, switches, and a line for each link. */
#include <stdio.h>

#include "config/mf_config_query.h"
#include "graph.h"

#define BLOCK_BITS 64e3 /* of data, in Gb/s x ps */

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
	fprintf(out, "\t\"%s\" -- \"%s\" [label=\"%gG\"%s];\n", a, b, BLOCK_BITS / link->period, style);
}

static void put_node(FILE *out, const struct mf_config *c, const struct mf_config_node *n)
{
	fprintf(out, "\t\"%s\" [shape=%s];\n", n->name, shape[n->role]);
	put_link(out, n->name, c->switches > 0 ? c->switch_list[n->to].name : c->sw.name, &n->link, "");
	if (c->backup.on)
		put_link(out, n->name, c->backup.name, &n->link, ", style=dashed");
}

static void put_switches(FILE *out, const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->switches; i++)
		fprintf(out, "\t\"%s\";\n", c->switch_list[i].name);
	if (c->switches == 0)
		fprintf(out, "\t\"%s\";\n", c->sw.name);
	if (c->backup.on)
		fprintf(out, "\t\"%s\";\n", c->backup.name);
}

void graph_print(FILE *out, const struct mf_config *c)
{
	fputs("graph ", out);
	put_text(out, c->name);
	fputs(" {\n\tnode [shape=box3d];\n", out);
	put_switches(out, c);
	for (unsigned int i = 0; i < c->sw.ports; i++)
		if (c->node[i].up)
			put_node(out, c, &c->node[i]);
	for (unsigned int i = 0; i < c->trunks; i++)
		put_link(out, c->switch_list[c->trunk[i].a].name, c->switch_list[c->trunk[i].b].name,
			 &c->trunk[i].link, "");
	fputs("}\n", out);
}
