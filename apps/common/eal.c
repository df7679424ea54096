/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_vect.h>

#include "eal.h"
#include "mf_block.h"
#include "mf_pcs.h"
#include "mf_proto.h"
#include "mf_workload.h"

#define MIB (UINT64_C(1) << 20)
#define LCORE_TEXT 16 /* "LCORE@CPU," */

/** CPUs whose time a container lets us have (cgroup v2), or UINT_MAX. */
static unsigned int cpu_quota(void)
{
	FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
	unsigned long quota, period;
	unsigned int cpus = UINT32_MAX;

	if (file == NULL)
		return cpus;
	if (fscanf(file, "%lu %lu", &quota, &period) == 2 && period > 0)
		cpus = quota < period ? 1 : (unsigned int)(quota / period);
	fclose(file);
	return cpus;
}

/** The CPUs that we may use, in their order. @return how many; -errno */
static int list_cpus(int cpu[CPU_SETSIZE])
{
	cpu_set_t cpus;
	int n = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return -errno;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus))
			cpu[n++] = i;
	return n;
}

/**
 * One lcore for each CPU that we may use, at most one for each role: "0@2,1@3". What polls without a
 * role of its own would only take time from the others.
 * @param first  of the CPUs, round about
 */
static int choose_lcores(char *text, size_t room, unsigned int roles, unsigned int first)
{
	unsigned int most = cpu_quota();
	int cpu[CPU_SETSIZE], cpus = list_cpus(cpu);
	size_t len = 0;

	if (cpus < 0)
		return cpus;
	most = most < roles ? most : roles;
	most = most < RTE_MAX_LCORE ? most : RTE_MAX_LCORE;
	most = most < (unsigned int)cpus ? most : (unsigned int)cpus;
	for (unsigned int n = 0; n < most && len < room; n++)
		len += (size_t)snprintf(text + len, room - len, "%s%u@%d", n > 0 ? "," : "", n,
					cpu[(first + n) % (unsigned int)cpus]);
	return 0;
}

/** The rings of all links, and as much again for what else there is. Pages that stay unused cost nothing. */
static unsigned int choose_mib(const struct mf_config *config)
{
	uint64_t octets = 0;

	for (unsigned int i = 0; i < config->sw.ports; i++)
		octets += 2 * (uint64_t)config->node[i].link.ring * sizeof(struct mf_span);
	octets = 256 * MIB + 2 * octets;
	return (unsigned int)(octets / MIB);
}

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

/** Nodes, switch and scheduler; a port is polled by the lcore of the roles that it carries links of. */
static unsigned int count_roles(const struct mf_config *config, const struct mf_part *part)
{
	unsigned int n = 0;

	if (part == NULL)
		return config->nodes + 2;
	for (unsigned int i = 0; i < config->sw.ports; i++)
		n += part->node[i];
	return part->sw ? n + 2 : n;
}

static char runtime_dir[PATH_MAX];

/** Runs behind what telemetry has for the end of the process: that takes its socket away. */
static void remove_runtime_dir(void)
{
	rmdir(runtime_dir);
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
	char lcores[RTE_MAX_LCORE * LCORE_TEXT], text[sizeof(lcores) + 256], *argv[32], *rest;
	int rc = choose_lcores(lcores, sizeof(lcores), count_roles(config, part), first_role(config, part)),
	    argc = 0;

	if (rc != 0)
		return rc;
	/* Below "critical" is what does no harm: where another user ran DPDK its folder cannot be made. */
	snprintf(text, sizeof(text),
		 "%s --no-huge -m %u --no-shconf --no-pci %s --file-prefix memfab-%d "
		 "--log-level lib.eal:critical --log-level pmd.net.memif:critical "
		 "--log-level lib.telemetry:critical --lcores %s",
		 a->program, choose_mib(config), a->telemetry ? "--telemetry" : "--no-telemetry",
		 (int)getpid(), lcores);
	for (char *arg = strtok_r(text, " ", &rest); arg != NULL; arg = strtok_r(NULL, " ", &rest))
		argv[argc++] = arg;
	argv[argc] = NULL;
	atexit(remove_runtime_dir);
	if (rte_eal_init(argc, argv) < 0)
		return -rte_errno;
	/* EAL makes a folder with our process id in its name; with --no-shconf only telemetry needs it. */
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	if (a->telemetry)
		fprintf(stderr, "%s: telemetry: dpdk-telemetry.py -f memfab-%d\n", a->program, (int)getpid());
	else
		rmdir(runtime_dir);
	return 0;
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

/**
 * As wide as this CPU and EAL allow: results are the same. EAL allows 256 bits unless it is told otherwise;
 * what would use more here asks for a CPU that does not pay for it with its frequency. Refused where
 * --force-max-simd-bitwidth was given.
 */
static void choose_variants(void)
{
	unsigned int bits;

	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	bits = rte_vect_get_max_simd_bitwidth();
	mf_pcs_select(bits);
	mf_proto_select(bits);
	mf_workload_select(bits);
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
		choose_variants();
	return rc;
}

void eal_stop(enum mf_clock clock)
{
	if (clock == MF_CLOCK_WALL)
		rte_eal_cleanup();
}
