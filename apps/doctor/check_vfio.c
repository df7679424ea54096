/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a process may drive a PCI device: vfio, the IOMMU that keeps the device off, the rights. */
#include "check.h"

#define UNSAFE "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

static void count(void *ctx, const char *name)
{
	(void)name;
	++*(unsigned int *)ctx;
}

static bool has_iommu(const struct machine *m)
{
	unsigned int groups = 0;

	tree_each(m->root, count, &groups, "/sys/kernel/iommu_groups");
	return groups > 0;
}

static bool may_do_without(const struct machine *m)
{
	char line[8];

	return tree_line(m->root, line, sizeof(line), UNSAFE) && (line[0] == 'Y' || line[0] == '1');
}

/** A device is bound to it, or could be. */
static bool needed(const struct machine *m)
{
	for (unsigned int i = 0; i < m->nics; i++)
		if (m->nic[i].owner == NIC_VFIO || (m->nic[i].owner == NIC_LINUX && !m->nic[i].up))
			return true;
	return false;
}

/** The files of the groups whose devices are bound to vfio. */
static void look_at_groups(const struct machine *m, struct finding *f)
{
	for (unsigned int i = 0; i < m->nics; i++) {
		const struct nic *nic = &m->nic[i];

		if (nic->owner != NIC_VFIO || nic->group[0] == '\0')
			continue;
		if (tree_usable(m->root, "/dev/vfio/%s", nic->group) ||
		    tree_usable(m->root, "/dev/vfio/noiommu-%s", nic->group))
			continue;
		say(f, "/dev/vfio/%s of %s cannot be opened", nic->group, nic->address);
		worse(f, FAIL, "chown $USER /dev/vfio/%s (in a container: --device /dev/vfio/%s)", nic->group,
		      nic->group);
	}
}

static void look_at_iommu(const struct machine *m, struct finding *f)
{
	if (has_iommu(m)) {
		say(f, "IOMMU on");
	} else if (may_do_without(m)) {
		say(f, "no IOMMU, and vfio goes without: devices may write anywhere");
		worse(f, WARN, "boot with intel_iommu=on iommu=pt (AMD: iommu=pt), and VT-d on in the BIOS");
	} else {
		say(f, "no IOMMU");
		worse(f, m->vfio_nics > 0 ? FAIL : WARN,
		      "boot with intel_iommu=on iommu=pt, or, unsafe: echo 1 >" UNSAFE);
	}
}

static void run(const struct machine *m, struct finding *f)
{
	if (!needed(m)) {
		say(f, "no device would be driven by it");
		return;
	}
	if (tree_exists(m->root, "/sys/module/vfio_pci") ||
	    tree_exists(m->root, "/sys/bus/pci/drivers/vfio-pci")) {
		say(f, "vfio-pci is there");
	} else {
		say(f, "vfio-pci is not loaded");
		worse(f, WARN, "modprobe vfio-pci");
	}
	look_at_iommu(m, f);
	look_at_groups(m, f);
}

const struct check check_vfio = {.name = "vfio", .run = run};
