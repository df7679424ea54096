/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>

#include "eal.h"
#include "mf_eal.h"

/** The arguments of the command line behind the name of the program; EAL wants to write to the array. */
static int start_given(const struct eal_args *a)
{
	char **argv = calloc((size_t)a->count + 2, sizeof(*argv)), *name = strdup(a->program);
	int rc = -ENOMEM;

	if (argv != NULL && name != NULL) {
		argv[0] = name;
		memcpy(argv + 1, a->argv, (size_t)a->count * sizeof(*argv));
		rc = rte_eal_init(a->count + 1, argv) < 0 ? -rte_errno : 0;
	}
	free(argv);
	free(name);
	return rc;
}

/** Roles that may have an lcore each: nodes, switches, schedulers. A port has that of a role at its links. */
static unsigned int count_roles(const struct mf_config *config, const struct mf_part *part)
{
	unsigned int n = 0;

	if (part == NULL)
		return config->nodes + (config->backup.on ? 4 : 2);
	for (unsigned int i = 0; i < config->sw.ports; i++)
		n += part->node[i];
	return n + 2 * part->sw + 2 * part->backup;
}

/**
 * The first of its roles among all of the fabric. Processes of one fabric on one machine begin at different
 * CPUs, then, as long as there are enough.
 */
static unsigned int first_role(const struct mf_config *config, const struct mf_part *part)
{
	unsigned int at = 0;

	for (unsigned int i = 0; part != NULL && i < config->sw.ports && !part->node[i]; i++)
		at += config->node[i].up;
	return at;
}

static int start_chosen(const struct eal_args *a, const struct mf_config *config, const struct mf_part *part)
{
	return mf_eal_start(a->program, config, count_roles(config, part), first_role(config, part),
			    a->telemetry);
}

void eal_split(struct eal_args *a, const char *program, int *argc, char ***argv)
{
	*a = (struct eal_args){.program = program};
	for (int i = 1; i < *argc; i++)
		if (strcmp((*argv)[i], "--") == 0) {
			a->given = i > 1;
			a->argv = *argv + 1;
			a->count = i - 1;
			*argc -= i;
			*argv += i;
			return;
		}
}

int eal_start(const struct eal_args *a, const struct mf_config *config, const struct mf_part *part,
	      enum mf_clock clock, char *err, size_t errlen)
{
	int rc = 0;

	if (clock == MF_CLOCK_WALL)
		rc = a->given ? start_given(a) : start_chosen(a, config, part);
	if (rc != 0)
		snprintf(err, errlen, "cannot start DPDK's EAL%s: %s", a->given ? " with these options" : "",
			 rte_strerror(-rc));
	else
		mf_eal_choose_variants(true);
	return rc;
}

/** In EAL's interrupt thread, which stays here until the process ends. */
static void rest(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
	for (;;)
		pause();
}

/**
 * EAL's cleanup unmaps its memory, and its interrupt thread goes on with the handles in it: those of a
 * memif's sockets stay registered when it is closed. So that thread is put to rest first; not by an alarm,
 * since the cleanup waits for the end of those.
 */
static void rest_interrupts(void)
{
	static atomic_bool rests;
	static struct rte_intr_handle *h; /* as long as that thread rests: for ever */
	int fd = eventfd(1, EFD_CLOEXEC);

	h = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (h == NULL || fd < 0 || rte_intr_fd_set(h, fd) != 0 ||
	    rte_intr_type_set(h, RTE_INTR_HANDLE_EXT) != 0 ||
	    rte_intr_callback_register(h, rest, &rests) != 0)
		return;
	while (!atomic_load(&rests))
		usleep(20);
}

void eal_stop(enum mf_clock clock)
{
	if (clock != MF_CLOCK_WALL)
		return;
	rest_interrupts();
	rte_eal_cleanup();
}
