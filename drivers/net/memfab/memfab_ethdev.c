/* SPDX-License-Identifier: BSD-3-Clause */
/* net_memfab: an ethdev whose link leads into an emulated fabric. See docs/drivers.md. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bus_vdev_driver.h>
#include <dev_driver.h>
#include <ethdev_vdev.h>
#include <rte_alarm.h>

#include "port.h"
#include "wall/mf_eal.h"

RTE_LOG_REGISTER(port_log_type, pmd.net.memfab, NOTICE)

static int configure(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);

	p->hashed = (dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0;
	return port_rss_configure(dev);
}

/** Where ports carry links, partners are found in turns of the fabric: perhaps nobody else turns it now. */
static int link_update(struct rte_eth_dev *dev, int wait)
{
	const struct port *p = port_of(dev);
	struct rte_eth_link link = {
		.link_speed = p->speed,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
	};

	(void)wait;
	if (p->has_tunnels)
		mf_session_poll(p->session);
	if (p->started && mf_session_link_up(p->session, p->node))
		link.link_status = RTE_ETH_LINK_UP;
	return rte_eth_linkstatus_set(dev, &link);
}

static void set_queues(struct rte_eth_dev *dev, uint8_t state)
{
	struct port *p = port_of(dev);

	p->rx_queues = dev->data->nb_rx_queues;
	p->tx_queues = dev->data->nb_tx_queues;
	for (unsigned int i = 0; i < p->rx_queues; i++) {
		p->rx[i] = dev->data->rx_queues[i];
		dev->data->rx_queue_state[i] = state;
	}
	for (unsigned int i = 0; i < p->tx_queues; i++) {
		p->tx[i] = dev->data->tx_queues[i];
		dev->data->tx_queue_state[i] = state;
	}
}

static int start(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);

	port_lock(p);
	set_queues(dev, RTE_ETH_QUEUE_STATE_STARTED);
	p->loopback = dev->data->dev_conf.lpbk_mode != 0;
	p->longest = PORT_FRAME(dev->data->mtu);
	p->next_tx = 0;
	atomic_store_explicit(&p->told_up, mf_session_link_up(p->session, p->node), memory_order_relaxed);
	p->started = true;
	port_unlock(p);
	link_update(dev, 0);
	return 0;
}

static int stop(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);

	port_lock(p);
	p->started = false;
	port_unlock(p);
	port_queues_drain(p);
	set_queues(dev, RTE_ETH_QUEUE_STATE_STOPPED);
	rte_eal_alarm_cancel(port_tell_link, (void *)(uintptr_t)p->id);
	link_update(dev, 0);
	return 0;
}

/** Nobody turns for it any more; then what it has is nobody's. */
static void leave(struct port *p)
{
	port_lock(p);
	if (p->host != NULL)
		mf_node_on_frame(p->host, NULL, NULL);
	port_unlock(p);
	mf_session_detach(p->session, p->node, &p->embedded);
	mf_session_close(p->session);
}

static int close_port(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	if (p->started)
		stop(dev);
	leave(p);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		port_rx_queue_release(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		port_tx_queue_release(dev, i);
	dev->data->mac_addrs = NULL; /* a part of the private data, which ethdev frees */
	return 0;
}

static int info(struct rte_eth_dev *dev, struct rte_eth_dev_info *out)
{
	const struct port *p = port_of(dev);
	const struct rte_eth_desc_lim limits = {.nb_max = 32768, .nb_min = 8, .nb_align = 1};

	out->max_rx_queues = out->max_tx_queues = PORT_QUEUES_MAX;
	out->max_mac_addrs = PORT_ADDRESSES;
	out->min_mtu = RTE_ETHER_MIN_MTU;
	out->max_mtu = (uint16_t)(p->frame_max + RTE_ETHER_CRC_LEN - PORT_OVERHEAD);
	out->max_rx_pktlen = p->frame_max + RTE_ETHER_CRC_LEN;
	out->min_rx_bufsize = RTE_ETHER_MIN_LEN;
	out->rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_RSS_HASH;
	out->rx_queue_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER;
	out->tx_offload_capa = out->tx_queue_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	out->reta_size = PORT_RETA_SIZE;
	out->hash_key_size = PORT_KEY_SIZE;
	out->flow_type_rss_offloads = PORT_RSS_TYPES;
	out->rx_desc_lim = out->tx_desc_lim = limits;
	out->speed_capa = rte_eth_speed_bitflag(p->speed, RTE_ETH_LINK_FULL_DUPLEX);
	out->dev_capa = 0;
	return 0;
}

static int mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct port *p = port_of(dev);

	port_lock(p);
	p->longest = PORT_FRAME(mtu);
	port_unlock(p);
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_port,
	.dev_infos_get = info,
	.link_update = link_update,
	.mtu_set = mtu_set,
	.promiscuous_enable = port_promiscuous_on,
	.promiscuous_disable = port_promiscuous_off,
	.allmulticast_enable = port_allmulticast_on,
	.allmulticast_disable = port_allmulticast_off,
	.mac_addr_add = port_address_add,
	.mac_addr_remove = port_address_remove,
	.mac_addr_set = port_address_set,
	.set_mc_addr_list = port_groups_set,
	.rx_queue_setup = port_rx_queue_setup,
	.tx_queue_setup = port_tx_queue_setup,
	.rx_queue_release = port_rx_queue_release,
	.tx_queue_release = port_tx_queue_release,
	.rxq_info_get = port_rx_queue_info,
	.txq_info_get = port_tx_queue_info,
	.rss_hash_update = port_rss_update,
	.rss_hash_conf_get = port_rss_get,
	.reta_update = port_reta_update,
	.reta_query = port_reta_query,
	.stats_get = port_stats_get,
	.stats_reset = port_stats_reset,
	.xstats_get = port_xstats_get,
	.xstats_get_names = port_xstats_names,
	.xstats_reset = port_xstats_reset,
};

/** Whether another port is at the node already: its frames have one receiver. */
static bool taken(const struct mf_session *s, unsigned int node)
{
	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct rte_eth_dev *dev = &rte_eth_devices[id];

		if (dev->state != RTE_ETH_DEV_UNUSED && dev->dev_ops == &ops && port_of(dev)->session == s &&
		    port_of(dev)->node == node)
			return true;
	}
	return false;
}

/** As the workload "ethernet" numbers them, so that its frames find the port. */
static void set_address(struct port *p)
{
	p->mac[0] = (struct rte_ether_addr){{0x02, 0, 0, 0, (uint8_t)(p->node >> 8), (uint8_t)p->node}};
	memcpy(&p->filter.address[0], &p->mac[0], sizeof(p->mac[0]));
}

static void set_limits(struct port *p)
{
	const struct mf_config *c = mf_session_config(p->session);
	uint32_t room = RTE_MIN(c->node[p->node].host.frame_queue, c->tier->sw.frame_queue);

	p->speed = (uint32_t)(UINT64_C(64000000) / c->node[p->node].link.period); /* 64 bits in ps */
	p->has_tunnels = c->ports > 0;
	p->frame_max = RTE_MIN(room, (uint32_t)MF_FRAME_MAX);
}

static int create(struct rte_vdev_device *vdev, struct mf_session *s, unsigned int node)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct port));
	struct port *p;
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	p = port_of(dev);
	p->embedded.run = port_turn;
	p->session = s;
	p->node = node;
	p->id = dev->data->port_id;
	set_address(p);
	set_limits(p);
	rc = mf_session_attach(s, node, &p->embedded);
	if (rc != 0) {
		rte_eth_dev_release_port(dev);
		return rc;
	}
	dev->data->mac_addrs = p->mac;
	dev->data->dev_flags |= RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS | RTE_ETH_DEV_INTR_LSC;
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = port_rx_burst;
	dev->tx_pkt_burst = port_tx_burst;
	dev->rx_queue_count = port_rx_queue_count;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

/** The port of a node of a session that is open. */
static int attach(struct rte_vdev_device *vdev, struct mf_session *s, const struct port_args *args)
{
	const char *name = rte_vdev_device_name(vdev);
	int node = mf_session_node(s, args->node), rc;

	if (node < 0) {
		PORT_LOG(ERR, "%s: %s: there is no node '%s'", name, args->fabric, args->node);
		return node;
	}
	rc = taken(s, (unsigned int)node) ? -EEXIST : create(vdev, s, (unsigned int)node);
	if (rc == -EEXIST)
		PORT_LOG(ERR, "%s: %s: node '%s' has a port already", name, args->fabric, args->node);
	else if (rc == -EBUSY)
		PORT_LOG(ERR, "%s: %s: node '%s' has a workload", name, args->fabric, args->node);
	else if (rc != 0)
		PORT_LOG(ERR, "%s: %s", name, strerror(-rc));
	return rc;
}

static int open_port(struct rte_vdev_device *vdev, const struct port_args *args)
{
	const struct mf_session_options options = {.only = args->only ? args->node : NULL,
						   .workload = args->workload};
	char err[512];
	struct mf_session *s;
	int rc;

	mf_eal_choose_variants(false); /* what the program's EAL allows */
	rc = mf_session_open(args->fabric, &options, &s, err, sizeof(err));

	if (rc != 0) {
		PORT_LOG(ERR, "%s: %s", rte_vdev_device_name(vdev), err);
		return rc;
	}
	rc = attach(vdev, s, args);
	if (rc != 0)
		mf_session_close(s);
	return rc;
}

static int probe(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct port_args args;
	int rc;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		PORT_LOG(ERR, "%s: the fabric is in the memory of the primary process", name);
		return -ENOTSUP;
	}
	rc = port_args_parse(name, rte_vdev_device_args(vdev), &args);
	if (rc == 0)
		rc = open_port(vdev, &args);
	port_args_free(&args);
	return rc;
}

static int remove_port(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	return dev == NULL ? 0 : rte_eth_dev_close(dev->data->port_id);
}

static struct rte_vdev_driver driver = {.probe = probe, .remove = remove_port};

RTE_PMD_REGISTER_VDEV(net_memfab, driver);
RTE_PMD_REGISTER_PARAM_STRING(net_memfab, "fabric=<file> node=<name> workload=<0|1> only=<0|1>");
