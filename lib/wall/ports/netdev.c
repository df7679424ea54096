/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall/ports/netdev.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

void netdev_name(const struct wall_port *p, char name[IF_NAMESIZE])
{
	struct rte_eth_dev_info info = {0};

	name[0] = '\0';
	if (rte_eth_dev_info_get(p->id, &info) == 0 && info.if_index != 0 &&
	    if_indextoname(info.if_index, name) == NULL)
		name[0] = '\0';
}

/**
 * An ioctl about an interface.
 * @param data  for what has data apart from the request; else NULL
 * @return whether the kernel has answered
 */
static bool ask(unsigned long what, const char *name, void *data, struct ifreq *r)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool answered;

	memset(r, 0, sizeof(*r));
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", name);
	if (data != NULL)
		r->ifr_data = data;
	answered = fd >= 0 && ioctl(fd, what, r) == 0;
	if (fd >= 0)
		close(fd);
	return answered;
}

unsigned int netdev_mtu(const char *name)
{
	struct ifreq r;

	return ask(SIOCGIFMTU, name, NULL, &r) && r.ifr_mtu > 0 ? (unsigned int)r.ifr_mtu : 0;
}

/**
 * The driver knows at once. IFF_RUNNING follows it up to a second later, since the kernel limits the rate at
 * which it tells of links.
 */
static bool has_carrier(const char *name, short flags)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	struct ifreq r;

	return ask(SIOCETHTOOL, name, &link, &r) ? link.data != 0 : (flags & IFF_RUNNING) != 0;
}

static enum port_carrier carrier_of(const char *name)
{
	struct ifreq r;

	if (!ask(SIOCGIFFLAGS, name, NULL, &r))
		return PORT_CARRIER;
	if (!(r.ifr_flags & IFF_UP))
		return PORT_DOWN;
	return has_carrier(name, r.ifr_flags) ? PORT_CARRIER : PORT_NO_CARRIER;
}

/** Asks the kernel, or the driver of a NIC; what nobody knows passes. */
static enum port_carrier carrier(const struct wall_port *p)
{
	char name[IF_NAMESIZE];
	struct rte_eth_link link;

	if (p->is_memif || p->gone)
		return PORT_CARRIER; /* it is said otherwise */
	netdev_name(p, name);
	if (name[0] != '\0')
		return carrier_of(name);
	return p->started && rte_eth_link_get_nowait(p->id, &link) == 0 &&
			       link.link_status == RTE_ETH_LINK_DOWN
		       ? PORT_NO_CARRIER
		       : PORT_CARRIER;
}

static void say(const struct wall *w, const struct wall_port *p)
{
	char text[64] = "is up again", name[IF_NAMESIZE];

	netdev_name(p, name);
	if (p->carrier == PORT_DOWN)
		snprintf(text, sizeof(text), "is down: ip link set %s up", name);
	else if (p->carrier == PORT_NO_CARRIER)
		snprintf(text, sizeof(text), "has no carrier: its cable, or its other end");
	if (w->options->device != NULL)
		w->options->device(w->options->say_ctx, p->config->name, p->config->device, text);
}

void netdev_look(const struct wall *w, struct wall_port *p)
{
	enum port_carrier now = carrier(p);

	if (now == p->carrier)
		return;
	p->carrier = now;
	say(w, p);
}

const char *netdev_waiting(const struct wall_port *p)
{
	static const char *const text[] = {[PORT_CARRIER] = "",
					   [PORT_NO_CARRIER] = " (its interface has no carrier)",
					   [PORT_DOWN] = " (its interface is down)"};

	return text[p->carrier];
}
