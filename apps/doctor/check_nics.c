/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which network devices DPDK could drive. One that Linux uses right now is left to it: to take it away is to
 * cut off who is logged in by it, and net_af_packet runs on it as it is.
 */
#include <stdio.h>

#include "check.h"
#include "cpus.h"

#define TOLD 8 /* a line has room for so many */

static void describe(const struct nic *nic, struct finding *f)
{
	char what[96];

	if (nic->owner == NIC_VFIO || nic->owner == NIC_UIO)
		snprintf(what, sizeof(what), "DPDK's by %s", nic->driver);
	else if (nic->interface[0] != '\0')
		snprintf(what, sizeof(what), "%s by %s, %s%s", nic->interface, nic->driver,
			 nic->up ? "up" : "down", nic->owner == NIC_SHARED ? ", DPDK's as well" : "");
	else
		snprintf(what, sizeof(what), "%s", nic->driver[0] != '\0' ? nic->driver : "no driver");
	say(f, "%s: %s", nic->address, what);
}

/** Whether one of the CPUs is on the node of the device; yes where that is not known. */
static bool beside(const struct machine *m, const struct nic *nic)
{
	char line[4096];
	cpu_set_t cpus;

	if (nic->node < 0 ||
	    !tree_line(m->root, line, sizeof(line), "/sys/devices/system/node/node%d/cpulist", nic->node) ||
	    cpus_parse(line, &cpus) != 0)
		return true;
	cpus = cpus_both(&cpus, &m->chosen);
	return !cpus_none(&cpus);
}

static void run(const struct machine *m, struct finding *f)
{
	const struct nic *idle = NULL;

	if (m->nics == 0) {
		say(f, "no network device on PCI; net_memif, net_af_packet and net_tap need none");
		return;
	}
	for (unsigned int i = 0; i < m->nics; i++) {
		const struct nic *nic = &m->nic[i];

		if (i < TOLD)
			describe(nic, f);
		if (nic->owner == NIC_LINUX && !nic->up)
			idle = nic;
		if (nic->owner != NIC_LINUX && !beside(m, nic)) {
			say(f, "%s is on node %d, none of the CPUs is", nic->address, nic->node);
			worse(f, WARN, "--lcores with CPUs of /sys/devices/system/node/node%d/cpulist",
			      nic->node);
		}
	}
	if (m->nics > TOLD)
		say(f, "and %u more", m->nics - TOLD);
	if (m->dpdk_nics > 0)
		return;
	if (idle != NULL)
		worse(f, WARN, "modprobe vfio-pci && dpdk-devbind.py -b vfio-pci %s", idle->address);
	else
		worse(f, WARN, "one more NIC: Linux uses these; or net_af_packet,iface=%s",
		      m->nic[0].interface);
}

const struct check check_nics = {.name = "nics", .run = run};
