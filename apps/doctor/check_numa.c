/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the CPUs are together, and have memory beside them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cpus.h"

#define NODES "/sys/devices/system/node"

/** A node, and what it has for the chosen CPUs. */
struct node {
	const char *root;
	int number;
	cpu_set_t chosen; /**< CPUs of it */
	bool has_memory;
	int64_t pages; /**< reserved huge pages of any size */
};

struct sum {
	unsigned int nodes, used; /**< used: with chosen CPUs */
	struct node best; /**< with most of the chosen CPUs */
	int fed; /**< a node with memory, or -1 */
	int hungry; /**< one with chosen CPUs and none, or -1 */
	int64_t pages, used_pages;
};

static void pages_of(void *ctx, const char *size)
{
	struct node *n = ctx;
	int64_t pages;

	if (tree_number(n->root, &pages, NODES "/node%d/hugepages/%s/nr_hugepages", n->number, size))
		n->pages += pages;
}

/* "Node 0 MemTotal:       16384 kB"; what cannot be read is not held against it. */
static bool has_memory(const struct node *n)
{
	char *text = tree_read(n->root, NODES "/node%d/meminfo", n->number);
	const char *total = text != NULL ? strstr(text, "MemTotal:") : NULL;
	bool yes = total == NULL || strtoull(total + strlen("MemTotal:"), NULL, 10) > 0;

	free(text);
	return yes;
}

static void look(const struct machine *m, int number, struct node *n)
{
	char line[4096];
	cpu_set_t cpus;

	*n = (struct node){.root = m->root, .number = number};
	tree_line(m->root, line, sizeof(line), NODES "/node%d/cpulist", number);
	if (cpus_parse(line, &cpus) != 0)
		CPU_ZERO(&cpus);
	n->chosen = cpus_both(&cpus, &m->chosen);
	n->has_memory = has_memory(n);
	tree_each(m->root, pages_of, n, NODES "/node%d/hugepages", number);
}

static void add(struct sum *s, const struct node *n)
{
	bool used = !cpus_none(&n->chosen);

	s->nodes++;
	s->pages += n->pages;
	if (n->has_memory && s->fed < 0)
		s->fed = n->number;
	if (!used)
		return;
	s->used++;
	s->used_pages += n->pages;
	if (!n->has_memory)
		s->hungry = n->number;
	if (CPU_COUNT(&n->chosen) > CPU_COUNT(&s->best.chosen))
		s->best = *n;
}

static void judge(const struct sum *s, struct finding *f)
{
	char list[CPUS_TEXT];

	if (s->used > 1) {
		say(f, "the CPUs are on %u of %u nodes", s->used, s->nodes);
		worse(f, WARN, "--lcores %s", cpus_text(&s->best.chosen, list));
	} else {
		say(f, "CPUs %s on node %d of %u", cpus_text(&s->best.chosen, list), s->best.number,
		    s->nodes);
	}
	if (s->hungry >= 0) {
		say(f, "node %d has no memory", s->hungry);
		worse(f, FAIL, "--lcores with CPUs of " NODES "/node%d/cpulist", s->fed < 0 ? 0 : s->fed);
	} else if (s->pages > 0 && s->used_pages == 0) {
		say(f, "all %jd huge pages are on other nodes", (intmax_t)s->pages);
		worse(f, WARN, "echo %jd >" NODES "/node%d/hugepages/hugepages-2048kB/nr_hugepages",
		      (intmax_t)s->pages, s->best.number);
	}
}

static void run(const struct machine *m, struct finding *f)
{
	struct sum s = {.fed = -1, .hungry = -1};
	char line[4096];
	cpu_set_t online;
	struct node n;

	tree_line(m->root, line, sizeof(line), NODES "/online");
	if (cpus_parse(line, &online) != 0)
		CPU_ZERO(&online);
	for (int node = cpus_next(&online, 0); node >= 0; node = cpus_next(&online, node + 1)) {
		look(m, node, &n);
		add(&s, &n);
	}
	if (s.used == 0)
		say(f, "nodes are not known here");
	else
		judge(&s, f);
}

const struct check check_numa = {.name = "numa", .run = run};
