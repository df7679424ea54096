/* SPDX-License-Identifier: BSD-3-Clause */
#include "mf_eal.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_vect.h>

#include "mf_block.h"
#include "mf_pcs.h"
#include "mf_proto.h"
#include "mf_workload.h"

#define MIB (UINT64_C(1) << 20)
#define LCORE_TEXT 16 /* "LCORE@CPU," */
#define LCORES_TEXT (CPU_SETSIZE * LCORE_TEXT)

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

/**
 * One lcore for each CPU that we may use, at most one for each role: "0@2,1@3". What polls without a
 * role of its own would only take time from the others.
 */
static int lcores_of_cpus(char *text, size_t room, unsigned int roles)
{
	unsigned int n = 0, most = cpu_quota();
	size_t len = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return -errno;
	most = most < roles ? most : roles;
	most = most < RTE_MAX_LCORE ? most : RTE_MAX_LCORE;
	for (int cpu = 0; cpu < CPU_SETSIZE && n < most; cpu++)
		if (CPU_ISSET(cpu, &cpus) && len < room)
			len += (size_t)snprintf(text + len, room - len, "%s%u@%d", n > 0 ? "," : "", n, cpu),
				n++;
	return 0;
}

/** One lcore on all CPUs that we may use: "0@(2,3)". */
static int lcore_of_all(char *text, size_t room)
{
	size_t len = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && len < room)
			len += (size_t)snprintf(text + len, room - len, "%s%d", len > 0 ? "," : "0@(", cpu);
	if (len < room)
		snprintf(text + len, room - len, ")");
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

int mf_eal_start_line(const char *program, const char *options)
{
	size_t len = strlen(options), words = len / 2 + 2;
	char **argv = calloc(words + 1, sizeof(*argv)), *text = strdup(options), *name = strdup(program),
	     *rest;
	int argc = 0, rc = -ENOMEM;

	if (argv != NULL && text != NULL && name != NULL) {
		argv[argc++] = name;
		for (char *arg = strtok_r(text, " ", &rest); arg != NULL; arg = strtok_r(NULL, " ", &rest))
			argv[argc++] = arg;
		rc = rte_eal_init(argc, argv) < 0 ? -rte_errno : 0;
	}
	free(argv);
	free(text);
	free(name);
	return rc;
}

static int start(const char *program, const struct mf_config *config, const char *lcores)
{
	char options[LCORES_TEXT + 256];
	int rc;

	/* Below "critical" is what does no harm: where another user ran DPDK its folder cannot be made. */
	snprintf(options, sizeof(options),
		 "--no-huge -m %u --no-shconf --no-pci --no-telemetry --file-prefix memfab-%d "
		 "--log-level lib.eal:critical --log-level pmd.net.memif:critical --lcores %s",
		 choose_mib(config), (int)getpid(), lcores);
	rc = mf_eal_start_line(program, options);
	/* EAL makes a folder with our process id in its name, and needs none with --no-shconf. */
	if (rc == 0)
		rmdir(rte_eal_get_runtime_dir());
	return rc;
}

int mf_eal_start(const char *program, const struct mf_config *config, unsigned int roles)
{
	char lcores[LCORES_TEXT];
	int rc = lcores_of_cpus(lcores, sizeof(lcores), roles);

	return rc == 0 ? start(program, config, lcores) : rc;
}

int mf_eal_start_one(const char *program, const struct mf_config *config)
{
	char lcores[LCORES_TEXT];
	int rc = lcore_of_all(lcores, sizeof(lcores));

	return rc == 0 ? start(program, config, lcores) : rc;
}

/**
 * EAL allows 256 bits unless it is told otherwise; what would use more here asks for a CPU that does not pay
 * for it with its frequency.
 */
void mf_eal_choose_variants(bool widest)
{
	unsigned int bits;

	if (widest)
		rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	bits = rte_vect_get_max_simd_bitwidth();
	mf_pcs_select(bits);
	mf_proto_select(bits);
	mf_workload_select(bits);
}
