/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames are the port's: by their destination address. */
#include <errno.h>
#include <string.h>

#include "port.h"

#define GROUP UINT64_C(1) /* of the first octet */
#define BROADCAST UINT64_C(0xffffffffffff)

static uint64_t word_of(const void *mac)
{
	uint64_t word = 0;

	memcpy(&word, mac, RTE_ETHER_ADDR_LEN);
	return word;
}

static bool has(const uint64_t *list, unsigned int n, uint64_t mac)
{
	for (unsigned int i = 0; i < n; i++)
		if (list[i] == mac)
			return true;
	return false;
}

bool port_filter_takes(const struct port_filter *f, const uint8_t *frame)
{
	uint64_t mac = word_of(frame);

	if (f->promiscuous)
		return true;
	if (mac & GROUP)
		return f->allmulticast || mac == BROADCAST || has(f->group, f->groups, mac);
	return has(f->address, PORT_ADDRESSES, mac);
}

static int set(struct rte_eth_dev *dev, bool *flag, bool on)
{
	struct port *p = port_of(dev);

	port_lock(p);
	*flag = on;
	port_unlock(p);
	return 0;
}

int port_promiscuous_on(struct rte_eth_dev *dev)
{
	return set(dev, &port_of(dev)->filter.promiscuous, true);
}

int port_promiscuous_off(struct rte_eth_dev *dev)
{
	return set(dev, &port_of(dev)->filter.promiscuous, false);
}

int port_allmulticast_on(struct rte_eth_dev *dev)
{
	return set(dev, &port_of(dev)->filter.allmulticast, true);
}

int port_allmulticast_off(struct rte_eth_dev *dev)
{
	return set(dev, &port_of(dev)->filter.allmulticast, false);
}

static int put(struct rte_eth_dev *dev, uint32_t index, uint64_t mac)
{
	struct port *p = port_of(dev);

	port_lock(p);
	p->filter.address[index] = mac;
	port_unlock(p);
	return 0;
}

/** ethdev keeps the list; pools there are none. */
int port_address_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t index, uint32_t pool)
{
	(void)pool;
	return put(dev, index, word_of(mac));
}

void port_address_remove(struct rte_eth_dev *dev, uint32_t index)
{
	put(dev, index, 0);
}

int port_address_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac)
{
	return put(dev, 0, word_of(mac));
}

int port_groups_set(struct rte_eth_dev *dev, struct rte_ether_addr *groups, uint32_t n)
{
	struct port *p = port_of(dev);

	if (n > PORT_GROUPS)
		return -ENOSPC;
	port_lock(p);
	for (uint32_t i = 0; i < n; i++)
		p->filter.group[i] = word_of(&groups[i]);
	p->filter.groups = n;
	port_unlock(p);
	return 0;
}
