/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic.h"

#include <stdio.h>
#include <string.h>

#define DEVICES "/sys/bus/pci/devices"
#define CLASS_NETWORK 0x02
#define FLAG_UP 1 /* IFF_UP */

static const struct {
	const char *driver;
	enum nic_owner owner;
} owners[] = {
	{"vfio-pci", NIC_VFIO},    {"uio_pci_generic", NIC_UIO}, {"igb_uio", NIC_UIO},
	{"mlx4_core", NIC_SHARED}, {"mlx5_core", NIC_SHARED},    {"mana", NIC_SHARED},
};

struct list {
	const char *root;
	struct nic *nic;
	unsigned int nics;
};

static enum nic_owner owner_of(const char *driver)
{
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (strcmp(owners[i].driver, driver) == 0)
			return owners[i].owner;
	return NIC_LINUX;
}

static void interface_of(void *ctx, const char *name)
{
	struct nic *nic = ctx;

	snprintf(nic->interface, sizeof(nic->interface), "%s", name);
}

/* virtio has a device of its own between the PCI device and its interface. */
static void virtio_of(void *ctx, const char *name)
{
	char *virtio = ctx;

	if (strncmp(name, "virtio", 6) == 0)
		snprintf(virtio, 32, "/%s", name);
}

static void one(void *ctx, const char *address)
{
	struct list *l = ctx;
	struct nic *nic = &l->nic[l->nics];
	char virtio[32] = "";
	int64_t class, node, flags;

	if (l->nics == NICS_MAX || !tree_number(l->root, &class, DEVICES "/%s/class", address) ||
	    class >> 16 != CLASS_NETWORK)
		return;
	*nic = (struct nic){.node = -1};
	snprintf(nic->address, sizeof(nic->address), "%s", address);
	tree_link(l->root, nic->driver, sizeof(nic->driver), DEVICES "/%s/driver", address);
	tree_link(l->root, nic->group, sizeof(nic->group), DEVICES "/%s/iommu_group", address);
	nic->owner = owner_of(nic->driver);
	tree_each(l->root, virtio_of, virtio, DEVICES "/%s", address);
	tree_each(l->root, interface_of, nic, DEVICES "/%s%s/net", address, virtio);
	if (tree_number(l->root, &flags, "/sys/class/net/%s/flags", nic->interface))
		nic->up = flags & FLAG_UP;
	if (tree_number(l->root, &node, DEVICES "/%s/numa_node", address))
		nic->node = (int)node;
	l->nics++;
}

unsigned int nic_list(const char *root, struct nic *nic)
{
	struct list l = {.root = root, .nic = nic};

	tree_each(root, one, &l, DEVICES);
	return l.nics;
}
