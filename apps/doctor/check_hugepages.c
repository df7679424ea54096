/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Huge pages are not needed: without options memfab starts EAL with --no-huge. NICs are hardly driven
 * without, and random access to much memory is slow. Reserved pages have to be mounted to be of use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define PAGES "/sys/kernel/mm/hugepages"
#define MOUNT "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages"

struct pages {
	const struct machine *m;
	struct finding *f;
	unsigned int sizes; /**< of pages */
	int64_t total, available;
};

/* "hugepages-2048kB" */
static void one(void *ctx, const char *name)
{
	struct pages *p = ctx;
	const char *size = strncmp(name, "hugepages-", 10) == 0 ? name + 10 : name;
	int64_t total, available;

	if (!tree_number(p->m->root, &total, PAGES "/%s/nr_hugepages", name) ||
	    !tree_number(p->m->root, &available, PAGES "/%s/free_hugepages", name))
		return;
	p->sizes++;
	p->total += total;
	p->available += available;
	say(p->f, "%s: %jd of %jd free", size, (intmax_t)available, (intmax_t)total);
}

/** Where they are mounted, the first place; "": nowhere. */
static void find_mount(const struct machine *m, char *out, size_t capacity)
{
	char *text = tree_read(m->root, "/proc/mounts"), *rest, place[256], type[64];

	out[0] = '\0';
	for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL && out[0] == '\0';
	     line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%*s %255s %63s", place, type) == 2 && strcmp(type, "hugetlbfs") == 0)
			snprintf(out, capacity, "%s", place);
	free(text);
}

static void judge(const struct pages *p, struct finding *f)
{
	char place[256];

	find_mount(p->m, place, sizeof(place));
	if (p->total == 0) {
		worse(f, WARN, "echo 1024 >" PAGES "/hugepages-2048kB/nr_hugepages%s%s",
		      place[0] == '\0' ? " && " : "", place[0] == '\0' ? MOUNT : "");
	} else if (place[0] == '\0') {
		say(f, "not mounted");
		worse(f, FAIL, MOUNT);
	} else {
		say(f, "mounted at %s", place);
		if (p->available == 0)
			worse(f, WARN, "end what uses them; where nothing does: rm %s/*map_*", place);
	}
}

static void run(const struct machine *m, struct finding *f)
{
	struct pages p = {.m = m, .f = f};

	tree_each(m->root, one, &p, PAGES);
	if (p.sizes > 0) {
		judge(&p, f);
	} else {
		say(f, "none to be seen: the kernel has none, or this container does not show them");
		worse(f, WARN, "docker run -v /dev/hugepages:/dev/hugepages, or a kernel with HUGETLBFS");
	}
}

const struct check check_hugepages = {.name = "hugepages", .run = run};
