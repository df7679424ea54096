/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ethdev of a port. A device that the program's command line has made is used; else it is made here, of
 * what the fabric's file says.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "config/mf_memif.h"
#include "wall/ports/hotplug.h"
#include "wall/ports/memif_proxy.h"
#include "wall/ports/mf_memif_sync.h"
#include "wall/ports/netdev.h"

#define DESCRIPTORS 512
#define CACHE 64
#define LOOK MF_MS(100)
#define HASTY_LOOK MF_MS(20)

static int fail(const struct wall_port *p, char *err, size_t errlen, const char *what, int rc)
{
	snprintf(err, errlen, "ports.%s: %s: %s: %s", p->config->name, p->config->device, what,
		 rte_strerror(-rc));
	return rc;
}

/**
 * The driver of af_packet returns -1 for all causes. One of them nobody would guess: it joins a fanout
 * group, numbered by process id XOR interface, which another process here may have already.
 */
static int cannot_have(const struct wall_port *p, char *err, size_t errlen, int rc)
{
	if (rc != -1 || strncmp(p->config->device, "net_af_packet", 13) != 0)
		return fail(p, err, errlen, "cannot have this device", rc);
	snprintf(err, errlen,
		 "ports.%s: %s: cannot have this device: no such interface, no right to, or its fanout group "
		 "(process id XOR interface) is that of another process: then start it again",
		 p->config->name, p->config->device);
	return rc;
}

/**
 * One that an earlier fabric of the process has made, and left with its bus when it was closed: it cannot be
 * made again while it is there. It was not taken from there then, since who closes a fabric may be the bus
 * itself, at the end of EAL: that goes from device to device, and has the next one in its hand.
 */
static void remove_closed(const char *name)
{
	const char *bus = strncmp(name, "net_", 4) == 0 ? "vdev" : "pci";
	struct rte_devargs *args;

	for (args = rte_devargs_next(bus, NULL); args != NULL; args = rte_devargs_next(bus, args))
		if (strcmp(args->name, name) == 0) {
			rte_eal_hotplug_remove(bus, name);
			return;
		}
}

/** What the driver would say of its socket, or not. */
static int check_socket(const struct wall_port *p, char *err, size_t errlen)
{
	struct memif m;
	char why[1024];
	int rc = memif_read(p->config->device, &m) ? memif_check(&m, "", why, sizeof(why)) : 0;

	if (rc != 0)
		snprintf(err, errlen, "ports.%s.device: %s", p->config->name, why);
	return rc;
}

static int cannot_serve(const struct wall_port *p, char *err, size_t errlen, int rc)
{
	struct memif m = {0};

	memif_read(p->config->device, &m);
	snprintf(err, errlen, "ports.%s.device: socket=%s: %s", p->config->name, m.path,
		 rc == -EADDRINUSE ? "another process serves it: it is in use" : rte_strerror(-rc));
	return rc;
}

/** By the name before the arguments: that of a device that is there, or is made now. */
static int find_device(struct wall_port *p, char *err, size_t errlen)
{
	char name[MF_CONFIG_DEVICE_LEN], device[MF_CONFIG_DEVICE_LEN + 64];
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(p->config->device, ","), p->config->device);
	if (rte_eth_dev_get_port_by_name(name, &p->id) == 0)
		return 0;
	remove_closed(name);
	rc = check_socket(p, err, errlen);
	if (rc != 0)
		return rc;
	rc = memif_proxy_new(p->config->device, device, sizeof(device), &p->memif_proxy);
	if (rc != 0)
		return cannot_serve(p, err, errlen, rc);
	rc = rte_dev_probe(device);
	if (rc < 0)
		return cannot_have(p, err, errlen, rc);
	rc = rte_eth_dev_get_port_by_name(name, &p->id);
	p->made = rc == 0;
	return rc == 0 ? 0 : fail(p, err, errlen, "is no Ethernet device", rc);
}

/**
 * What still comes is of nobody. The buffers in it go before their pool does: a ring outlives the port, and
 * the next one on it would find them. Other devices give back what they hold when they stop, and a memif is
 * better left alone when its partner goes.
 */
static void drain(struct wall_port *p)
{
	struct rte_mbuf *m[PORT_BURST];
	uint16_t n;

	if (strncmp(p->config->device, "net_ring", 8) != 0)
		return;
	for (unsigned int all = 0; all < 2 * DESCRIPTORS; all += n) {
		n = rte_eth_rx_burst(p->id, 0, m, PORT_BURST);
		if (n == 0)
			return;
		rte_pktmbuf_free_bulk(m, n);
	}
}

/**
 * Makes us the owner of the ethdev, so that nobody else in this process uses it: neither another fabric
 * whose file has the same device, nor a program that takes all ports that it finds, as testpmd does.
 */
static int own(struct wall_port *p, char *err, size_t errlen)
{
	struct rte_eth_dev_owner owner = {.name = "memfab"};
	int rc = rte_eth_dev_owner_get(p->id, &owner);

	if (rc == 0 && owner.id != RTE_ETH_DEV_NO_OWNER) {
		snprintf(err, errlen,
			 "ports.%s: %s: this device belongs to somebody else (%s) in this process",
			 p->config->name, p->config->device, owner.name);
		return -EBUSY;
	}
	owner = (struct rte_eth_dev_owner){.name = "memfab"};
	if (rc == 0)
		rc = rte_eth_dev_owner_new(&owner.id);
	if (rc == 0)
		rc = rte_eth_dev_owner_set(p->id, &owner);
	if (rc != 0)
		return fail(p, err, errlen, "cannot be had", rc);
	p->owner = owner.id;
	return 0;
}

/** What was there before stays. */
static void leave_device(struct wall_port *p)
{
	struct rte_eth_dev_info info = {0};

	port_wake_end(p);
	rte_eth_dev_stop(p->id);
	rte_eth_dev_owner_unset(p->id, p->owner);
	if (!p->made || rte_eth_dev_info_get(p->id, &info) != 0)
		return;
	p->device = info.device;
	interface_unwatch(p);
	rte_eth_dev_close(p->id);
}

static struct rte_mempool *new_pool(const struct wall_port *p, const char *what, unsigned int n)
{
	unsigned int room = p->config->mtu + RTE_ETHER_HDR_LEN + RTE_PKTMBUF_HEADROOM + 64U;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "%s-%u", what, p->id); /* of all fabrics of the process */
	if (room < RTE_MBUF_DEFAULT_BUF_SIZE)
		room = RTE_MBUF_DEFAULT_BUF_SIZE;
	return rte_pktmbuf_pool_create(name, n, CACHE, 0, (uint16_t)room, SOCKET_ID_ANY);
}

/** As many as there is room for in the queues, and those that are under way. */
static int make_pools(struct wall_port *p, char *err, size_t errlen)
{
	if (p->rx_pool != NULL)
		return 0; /* the device is made again */
	p->rx_pool = new_pool(p, "rx", 2 * DESCRIPTORS + 2 * PORT_BURST + CACHE);
	p->tx_pool = new_pool(p, "tx", 2 * DESCRIPTORS + 2 * PORT_BURST + MF_IMPAIR_OUT + CACHE);
	return p->rx_pool != NULL && p->tx_pool != NULL ? 0 : fail(p, err, errlen, "no buffers", -rte_errno);
}

static int configure(struct wall_port *p, char *err, size_t errlen)
{
	uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
	struct rte_eth_conf conf = {.intr_conf.rxq = p->may_sleep};
	struct rte_ether_addr mac;
	int rc = rte_eth_dev_configure(p->id, 1, 1, &conf);

	if (rc != 0 && p->may_sleep) { /* no interrupts, then */
		conf.intr_conf.rxq = 0;
		rc = rte_eth_dev_configure(p->id, 1, 1, &conf);
	}
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(p->id, 0, rx, SOCKET_ID_ANY, NULL, p->rx_pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(p->id, 0, tx, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_macaddr_get(p->id, &mac);
	if (rc != 0)
		return fail(p, err, errlen, "cannot be set up", rc);
	memcpy(p->mac, mac.addr_bytes, sizeof(p->mac));
	return 0;
}

/** The interface's own MTU holds, whatever the device was told; frames are that short, then. */
static int lower_mtu(struct wall_port *p, unsigned int mtu, char *err, size_t errlen)
{
	if (mtu >= p->mtu)
		return 0;
	p->mtu = mtu;
	if (mtu >= MF_LINK_MTU_MIN)
		return 0;
	snprintf(err, errlen, "ports.%s: %s: its interface has an MTU of %u; a link needs %u",
		 p->config->name, p->config->device, mtu, MF_LINK_MTU_MIN);
	return -EMSGSIZE;
}

/**
 * Devices of our own kind of software (memif, rings) take frames of any length that their buffers hold, and
 * some refuse to be told of an MTU; of a NIC it must be known that it can. On an interface of the kernel the
 * kernel is asked.
 */
static int set_mtu(struct wall_port *p, char *err, size_t errlen)
{
	struct rte_eth_dev_info info;
	char name[IF_NAMESIZE];
	unsigned int mtu = 0;
	int rc = rte_eth_dev_info_get(p->id, &info);

	p->mtu = p->config->mtu;
	if (rc == 0 && p->mtu > RTE_ETHER_MTU)
		rc = rte_eth_dev_set_mtu(p->id, p->config->mtu);
	netdev_name(p, name);
	if (name[0] != '\0')
		mtu = netdev_mtu(name);
	if (mtu != 0)
		return lower_mtu(p, mtu, err, errlen);
	if (rc == -ENOTSUP || (rc != 0 && strncmp(info.driver_name, "net_memif", 9) == 0))
		rc = 0;
	return rc == 0 ? 0 : fail(p, err, errlen, "mtu", rc);
}

/** A port of this process that has the same device. */
static const struct wall_port *same(const struct wall *w, const struct wall_port *p)
{
	for (const struct wall_port *q = w->port; q < p; q++)
		if (q->ends > 0 && q->id == p->id)
			return q;
	return NULL;
}

/** The device has been found. */
static int set_up(struct wall_port *p, char *err, size_t errlen)
{
	int rc = own(p, err, errlen);

	if (rc == 0)
		rc = make_pools(p, err, errlen);
	if (rc == 0)
		rc = configure(p, err, errlen);
	if (rc == 0)
		rc = set_mtu(p, err, errlen);
	if (rc == 0 && p->made)
		interface_watch(p);
	return rc;
}

int port_device_make(struct wall_port *p, char *err, size_t errlen)
{
	int rc = find_device(p, err, errlen);

	return rc == 0 ? set_up(p, err, errlen) : rc;
}

void port_device_drop(struct wall_port *p)
{
	if (p->owner != 0)
		leave_device(p);
	p->owner = 0;
	p->made = false;
	if (p->device != NULL)
		rte_dev_remove(p->device);
	p->device = NULL;
}

int port_open(struct wall *w, struct wall_port *p, char *err, size_t errlen)
{
	int rc = find_device(p, err, errlen);
	const struct wall_port *other = rc == 0 ? same(w, p) : NULL;

	p->may_sleep = w->turned;
	p->readers = &w->f->readers;
	if (other != NULL) {
		snprintf(err, errlen, "ports.%s: %s is port '%s' already", p->config->name, p->config->device,
			 other->config->name);
		return -EBUSY;
	}
	if (rc == 0)
		rc = set_up(p, err, errlen);
	p->is_memif = strncmp(p->config->device, "net_memif", 9) == 0;
	p->client = p->is_memif && strstr(p->config->device, "role=server") == NULL;
	p->stuck = MF_NEVER;
	return rc;
}

/** A live partner says hello in that time. */
void port_look_after(const struct wall *w, struct wall_port *p, mf_time now)
{
	bool silent;

	if (likely(now < p->retry))
		return;
	silent = p->stats.rx_frames == p->rx_seen;
	if (silent || p->carrier != PORT_CARRIER)
		netdev_look(w, p);
	p->retry = now + (p->hasty ? HASTY_LOOK : LOOK);
	p->rx_seen = p->stats.rx_frames;
	if (p->memif_sync != NULL) {
		if (p->connected && silent)
			memif_sync_ask();
	} else if ((!silent || interface_look(w, p)) && !p->started) {
		p->started = rte_eth_dev_start(p->id) == 0;
		p->stats.starts += p->started;
	}
}

/** What waits to be sent, or is held back to be reordered. */
static void drop_unsent(struct wall_port *p)
{
	struct mf_impair_step step[MF_IMPAIR_OUT];
	unsigned int n = mf_impair_flush(&p->impair, step);

	for (unsigned int i = 0; i < n; i++)
		if (step[i].what != MF_IMPAIR_SEND_COPY) /* the frame itself comes behind it */
			rte_pktmbuf_free(step[i].frame.frame);
	if (p->pendings > 0)
		rte_pktmbuf_free_bulk(p->pending, p->pendings);
	p->pendings = 0;
}

/**
 * Nobody has a buffer then: what was received goes back in the same turn, what we hold has just gone back,
 * and a device gives back what is in its queues when it is closed. That is not said where the device is not
 * ours, which stays and may keep what it has until it is started again, nor of rings that somebody else has
 * too, in which our buffers may be his.
 */
static void count_lost(struct wall_port *p)
{
	const char *device = p->config->device;
	bool shared = strncmp(device, "net_ring", 8) == 0 && strchr(device, ',') != NULL;

	p->told = p->made && !shared;
	p->lost = p->told ? rte_mempool_in_use_count(p->rx_pool) + rte_mempool_in_use_count(p->tx_pool) : 0;
}

void port_close(struct wall_port *p)
{
	interface_leave(p);
	drop_unsent(p);
	if (p->started)
		drain(p);
	if (p->owner != 0)
		leave_device(p);
	if (p->rx_pool != NULL && p->tx_pool != NULL)
		count_lost(p);
	rte_mempool_free(p->tx_pool);
	rte_mempool_free(p->rx_pool);
}
