/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a device reads and writes has to stay where it is: how much a process may lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>

#include "check.h"

#define ENOUGH (UINT64_C(1) << 30) /* octets */

/* "Max locked memory         8388608              8388608              bytes" @return false: not known */
static bool limit_of(const struct machine *m, uint64_t *out)
{
	char *text = tree_read(m->root, "/proc/self/limits"), *end, word[32];
	const char *value = tree_key(text, "Max locked memory");
	bool known = value != NULL && sscanf(value, "%31s", word) == 1;

	if (known && strcmp(word, "unlimited") == 0) {
		*out = UINT64_MAX;
	} else if (known) {
		*out = strtoull(word, &end, 10);
		known = *end == '\0';
	}
	free(text);
	return known;
}

static void run(const struct machine *m, struct finding *f)
{
	uint64_t limit;

	if (!limit_of(m, &limit)) {
		say(f, "the limit is not known here");
	} else if (limit == UINT64_MAX) {
		say(f, "no limit");
	} else if (machine_can(m, CAP_IPC_LOCK)) {
		say(f, "%ju KiB, but this process may pass over it", (uintmax_t)limit >> 10);
	} else {
		say(f, "%ju KiB may be locked", (uintmax_t)limit >> 10);
		if (limit < ENOUGH && m->vfio_nics > 0)
			worse(f, FAIL, "ulimit -l unlimited (or memlock in /etc/security/limits.conf)");
		else if (limit < ENOUGH)
			worse(f, WARN, "ulimit -l unlimited (vfio and af_xdp lock memory, others do not)");
	}
}

const struct check check_memlock = {.name = "memlock", .run = run};
