/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the memory nodes of the fabric find memory. Only what is touched takes some, so less may do. */
#include <stdlib.h>

#include "check.h"

#define MIB (UINT64_C(1) << 20)

static bool wanted(const struct machine *m)
{
	return m->config != NULL;
}

/** A line of meminfo in octets; UINT64_MAX: not known. */
static uint64_t meminfo(const char *text, const char *key)
{
	const char *value = tree_key(text, key);

	return value != NULL ? strtoull(value, NULL, 10) << 10 : UINT64_MAX;
}

/** Octets of all memory nodes here, or of those that want huge pages, as far as one can count. */
static uint64_t needed(const struct machine *m, bool huge)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < m->config->slots; i++) {
		const struct mf_config_node *node = &m->config->node[i];

		if (m->plays.node[i] && node->memory && (!huge || node->memory_config.huge_pages) &&
		    __builtin_add_overflow(sum, node->memory_config.size, &sum))
			return UINT64_MAX;
	}
	return sum;
}

/** Without reserved pages the memory node takes transparent ones, which are not promised. */
static void look_at_pages(const struct machine *m, const char *meminfo_text, struct finding *f)
{
	const char *total = tree_key(meminfo_text, "HugePages_Total:");
	const char *available = tree_key(meminfo_text, "HugePages_Free:");
	uint64_t page = meminfo(meminfo_text, "Hugepagesize:"), want = needed(m, true), pages, left;

	if (total == NULL || available == NULL || page == UINT64_MAX || page == 0 || want == 0)
		return;
	pages = want / page + (want % page != 0);
	left = strtoull(available, NULL, 10);
	if (left >= pages)
		return;
	say(f, "%ju huge pages are wanted, %ju are free: others will do", (uintmax_t)pages, (uintmax_t)left);
	worse(f, WARN, "echo %ju >/proc/sys/vm/nr_hugepages",
	      (uintmax_t)(strtoull(total, NULL, 10) - left + pages));
}

static void compare(uint64_t want, uint64_t total, uint64_t available, struct finding *f)
{
	say(f, "%ju MiB at memory nodes", (uintmax_t)want / MIB);
	if (total == UINT64_MAX) {
		say(f, "how much there is cannot be told");
	} else if (want > total) {
		say(f, "there are %ju MiB in all", (uintmax_t)total / MIB);
		worse(f, FAIL, "a smaller \"size\" of the memory in the fabric file");
	} else {
		say(f, "%ju of %ju MiB are free", (uintmax_t)available / MIB, (uintmax_t)total / MIB);
		if (want > available)
			worse(f, WARN, "end what else uses memory, or a smaller \"size\" in the fabric file");
	}
}

static void run(const struct machine *m, struct finding *f)
{
	char *text = tree_read(m->root, "/proc/meminfo");
	uint64_t total = meminfo(text, "MemTotal:"), available = meminfo(text, "MemAvailable:");

	if (m->cgroup.memory < total)
		total = m->cgroup.memory;
	if (available > total)
		available = total;
	compare(needed(m, false), total, available, f);
	look_at_pages(m, text, f);
	free(text);
}

const struct check check_fabric_memory = {.name = "fabric memory", .run = run, .wanted = wanted};
