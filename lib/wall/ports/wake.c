/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that become readable when frames come by a port:
 *
 *      drivers with interrupts of receive queues (NICs, net_tap)   those, through ethdev
 *      net_af_packet, which does not tell its socket               a socket of ours for the same frames
 *      net_memif, net_ring                                         none: net_memif asks its partner for no
 *                                                                  interrupts, and has no call to change that
 *
 * Interrupts are asked for before each sleep. EAL reads what has to be read of a driver's descriptor, so each
 * port has an epoll of EAL's, and what others wait for is that one. Our socket has room for a frame or two:
 * more are dropped there, which costs the kernel little while the port is polled.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_packet.h>

#include <rte_interrupts.h>

#include "wall/ports/mf_port.h"

/** @return a socket that gets the port's frames, too; -1 */
static int sniff(const struct wall_port *p)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(p->config->ethertype)};
	struct rte_eth_dev_info info;
	int fd, least = 0;

	if (rte_eth_dev_info_get(p->id, &info) != 0)
		return -1;
	to.sll_ifindex = (int)info.if_index;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)); /* the kernel raises it to its least */
	if (bind(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool add_sniffer(struct wall_port *p)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = sniff(p);

	p->sniffs = fd + 1;
	return fd >= 0 && epoll_ctl(p->wake - 1, EPOLL_CTL_ADD, fd, &event) == 0;
}

/** Those that are known to have none are not asked: ethdev logs an error then. */
static bool add_driver(const struct wall_port *p)
{
	return p->memif_sync == NULL && strncmp(p->config->device, "net_ring", 8) != 0 &&
	       rte_eth_dev_rx_intr_ctl_q(p->id, 0, p->wake - 1, RTE_INTR_EVENT_ADD, NULL) == 0;
}

int port_wake_new(struct wall_port *p)
{
	if (p->gone || p->wake != 0 || !p->started)
		return -1;
	p->wake = epoll_create1(EPOLL_CLOEXEC) + 1;
	if (p->wake == 0)
		return -1;
	p->wakes = strncmp(p->config->device, "net_af_packet", 13) == 0 ? add_sniffer(p) : add_driver(p);
	return p->wakes ? p->wake - 1 : -1;
}

void port_wake_arm(struct wall_port *p)
{
	struct rte_epoll_event event;
	char byte;

	if (!port_wakes(p))
		return;
	if (p->sniffs != 0) {
		while (recv(p->sniffs - 1, &byte, sizeof(byte), 0) >= 0)
			;
		return;
	}
	rte_epoll_wait(p->wake - 1, &event, 1, 0);
	rte_eth_dev_rx_intr_enable(p->id, 0); /* net_tap needs none, and refuses */
}

void port_wake_end(struct wall_port *p)
{
	if (p->wakes && p->sniffs == 0)
		rte_eth_dev_rx_intr_ctl_q(p->id, 0, p->wake - 1, RTE_INTR_EVENT_DEL, NULL);
	if (p->sniffs != 0)
		close(p->sniffs - 1);
	if (p->wake != 0)
		close(p->wake - 1);
	p->wake = p->sniffs = 0;
	p->wakes = false;
}
