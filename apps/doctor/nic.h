/* SPDX-License-Identifier: BSD-3-Clause */
/* Network devices on PCI. */
#ifndef NIC_H
#define NIC_H

#include <stdbool.h>

#include "tree.h"

#define NICS_MAX 64

/** Who drives it. */
enum nic_owner {
	NIC_LINUX,
	NIC_VFIO, /**< DPDK, through vfio-pci */
	NIC_UIO, /**< DPDK, through a uio module */
	NIC_SHARED, /**< both at a time */
};

struct nic {
	char address[32]; /**< "0000:01:00.0" */
	char driver[32]; /**< "": none */
	char interface[32]; /**< of Linux; "": none */
	char group[16]; /**< of the IOMMU; "": none */
	enum nic_owner owner;
	bool up; /**< its interface */
	int node; /**< NUMA; -1: not known */
};

/** Those below root. @return how many of them fit in nic[NICS_MAX] */
unsigned int nic_list(const char *root, struct nic *nic);

#endif
