/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/mf_eal.h"

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

#include "pcs/mf_block.h"
#include "pcs/mf_pcs.h"
#include "systems/edm/proto/mf_proto.h"
#include "wall/eal_telemetry.h"
#include "wall/ports/mf_memif_sync.h"
#include "workload/mf_workload.h"

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
static int lcores_of_cpus(char *text, size_t room, unsigned int roles, unsigned int first)
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

/** One lcore on all CPUs that we may use: "0@(2,3)". */
static int lcore_of_all(char *text, size_t room)
{
	int cpu[CPU_SETSIZE], cpus = list_cpus(cpu);
	size_t len = 0;

	for (int i = 0; i < cpus && len < room; i++)
		len += (size_t)snprintf(text + len, room - len, "%s%d", i > 0 ? "," : "0@(", cpu[i]);
	if (len < room)
		snprintf(text + len, room - len, ")");
	return cpus < 0 ? cpus : 0;
}

/** The rings of all links, and as much again for what else there is. Pages that stay unused cost nothing. */
static unsigned int choose_mib(const struct mf_config *config)
{
	uint64_t octets = 0;

	for (unsigned int i = 0; i < config->slots; i++)
		octets += 2 * (uint64_t)config->node[i].link.ring * sizeof(struct mf_span);
	octets = 256 * MIB + 2 * octets;
	return (unsigned int)(octets / MIB);
}

static char telemetry_why[PATH_MAX + 256]; /**< there is none */

int mf_eal_init(int argc, char **argv)
{
	static int
		first; /* the reason of the first failure: behind some of them it takes no options any more */
	int rc;

	memif_sync_prepare();
	rte_errno = 0;
	if (rte_eal_init(argc, argv) < 0) {
		rc = rte_errno != 0 ? -rte_errno : -EADDRINUSE; /* it gives no reason for this one alone */
		if (rc == -EINVAL && first != 0 && first != -EINVAL)
			rc = -EALREADY;
		first = first == 0 ? rc : first;
		return rc;
	}
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	return 0;
}

const char *mf_eal_why(int error, char *buf, size_t room)
{
	switch (error) {
	case -EADDRINUSE:
		return "another process has this --file-prefix: give one of its own, or --no-shconf";
	case -EACCES:
		return "no hugepages can be used: give --no-huge -m 512 --no-shconf, or reserve some "
		       "(memfab-doctor says how)";
	case -EALREADY:
		return "it has failed before in this process, and keeps options of then";
	case -ENOTSUP:
		return "a device cannot be used, or this is no primary process";
	case -ENOMEM:
		return "no memory: less than -m asks for";
	case -ENOTCONN:
		return telemetry_why;
	}
	snprintf(buf, room, "%s", rte_strerror(-error));
	return buf;
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
		rc = mf_eal_init(argc, argv);
	}
	free(argv);
	free(text);
	free(name);
	return rc;
}

static char runtime_dir[PATH_MAX];

/** Runs behind what telemetry has for the end of the process: that takes its socket away. */
static void remove_runtime_dir(void)
{
	rmdir(runtime_dir);
}

/** Nothing is announced that is not there. */
static int announce(const char *program, const char *folder, const char *prefix)
{
	if (eal_telemetry_answers(folder, telemetry_why, sizeof(telemetry_why)) != 0)
		return -ENOTCONN;
	fprintf(stderr, "%s: telemetry: dpdk-telemetry.py -f %s\n", program, prefix);
	return 0;
}

static int start(const char *program, const struct mf_config *config, const char *lcores, bool telemetry)
{
	char options[LCORES_TEXT + 256], prefix[32];
	int rc;

	snprintf(prefix, sizeof(prefix), "memfab-%d", (int)getpid());
	atexit(remove_runtime_dir);
	if (telemetry && eal_telemetry_prepare(prefix, runtime_dir, sizeof(runtime_dir), telemetry_why,
					       sizeof(telemetry_why)) != 0)
		return -ENOTCONN;
	/* Below "critical" is what does no harm: where another user ran DPDK its folder cannot be made. */
	snprintf(options, sizeof(options),
		 "--no-huge -m %u --no-shconf --no-pci %s --file-prefix %s "
		 "--log-level lib.eal:critical --log-level pmd.net.memif:critical "
		 "--log-level lib.telemetry:critical --log-level lib.ethdev:warning --lcores %s",
		 choose_mib(config), telemetry ? "--telemetry" : "--no-telemetry", prefix, lcores);
	rc = mf_eal_start_line(program, options);
	if (rc != 0)
		return rc;
	if (telemetry)
		return announce(program, runtime_dir, prefix);
	/* EAL makes a folder with our process id in its name; with --no-shconf only telemetry needs it. */
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	rmdir(runtime_dir);
	return 0;
}

int mf_eal_start(const char *program, const struct mf_config *config, unsigned int roles, unsigned int first,
		 bool telemetry)
{
	char lcores[LCORES_TEXT];
	int rc = lcores_of_cpus(lcores, sizeof(lcores), roles, first);

	return rc == 0 ? start(program, config, lcores, telemetry) : rc;
}

int mf_eal_start_one(const char *program, const struct mf_config *config)
{
	char lcores[LCORES_TEXT];
	int rc = lcore_of_all(lcores, sizeof(lcores));

	return rc == 0 ? start(program, config, lcores, false) : rc;
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
