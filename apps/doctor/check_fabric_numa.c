/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the NUMA nodes are there that memory nodes of the fabric are to have their memory on. */
#include "check.h"
#include "cpus.h"

#define NODES "/sys/devices/system/node"

/** Numbers of the NUMA nodes; empty: there is no NUMA, and what the file says has no effect. */
static void online(const struct machine *m, cpu_set_t *out)
{
	char line[4096];

	tree_line(m->root, line, sizeof(line), NODES "/online");
	if (cpus_parse(line, out) != 0)
		CPU_ZERO(out);
}

static const struct mf_config_node *first_wish(const struct machine *m, const cpu_set_t *but)
{
	for (unsigned int i = 0; i < m->config->slots; i++) {
		const struct mf_config_node *node = &m->config->node[i];

		if (m->plays.node[i] && node->memory && node->memory_config.numa_node >= 0 &&
		    !CPU_ISSET(node->memory_config.numa_node, but))
			return node;
	}
	return NULL;
}

static bool wanted(const struct machine *m)
{
	cpu_set_t none;

	CPU_ZERO(&none);
	return m->config != NULL && first_wish(m, &none) != NULL;
}

static void run(const struct machine *m, struct finding *f)
{
	const struct mf_config_node *node;
	char list[CPUS_TEXT];
	cpu_set_t there;

	online(m, &there);
	node = first_wish(m, &there);
	cpus_text(&there, list);
	if (cpus_none(&there)) {
		say(f, "no NUMA here: memory is where it happens to be");
	} else if (node == NULL) {
		say(f, "the nodes that are named are there");
	} else {
		say(f, "the memory of %s is to be on node %d, there are %s", node->name,
		    node->memory_config.numa_node, list);
		worse(f, FAIL, "a \"numa_node\" of these in the fabric file, or -1");
	}
}

const struct check check_fabric_numa = {.name = "fabric numa", .run = run, .wanted = wanted};
