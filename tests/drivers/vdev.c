/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least that is an ethdev and a dmadev: built against the headers for drivers and loaded by a stock
 * program it shows that headers, flags and links are right. Its port drops what is sent, receives nothing.
 */
#include <errno.h>

#include <bus_vdev_driver.h>
#include <dev_driver.h>
#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_dmadev_pmd.h>

struct port {
	struct rte_ether_addr mac;
	uint64_t sent;
};

static uint16_t receive(void *queue, struct rte_mbuf **packets, uint16_t n)
{
	(void)queue;
	(void)packets;
	(void)n;
	return 0;
}

static uint16_t transmit(void *queue, struct rte_mbuf **packets, uint16_t n)
{
	struct port *port = queue;

	rte_pktmbuf_free_bulk(packets, n);
	port->sent += n;
	return n;
}

static int succeed(struct rte_eth_dev *dev)
{
	(void)dev;
	return 0;
}

/* ethdev frees what mac_addrs points to, and dev_private. */
static int close_port(struct rte_eth_dev *dev)
{
	dev->data->mac_addrs = NULL;
	return 0;
}

static int link_update(struct rte_eth_dev *dev, int wait)
{
	(void)wait;
	dev->data->dev_link.link_status = RTE_ETH_LINK_UP;
	return 0;
}

static int info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	(void)dev;
	info->max_rx_queues = info->max_tx_queues = 1;
	info->max_mac_addrs = 1;
	info->max_rx_pktlen = UINT16_MAX;
	return 0;
}

static int stats(struct rte_eth_dev *dev, struct rte_eth_stats *out)
{
	const struct port *port = dev->data->dev_private;

	out->opackets = port->sent;
	return 0;
}

static int rx_queue(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors, unsigned int socket,
		    const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	(void)descriptors;
	(void)socket;
	(void)conf;
	(void)pool;
	dev->data->rx_queues[queue] = dev->data->dev_private;
	return 0;
}

static int tx_queue(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors, unsigned int socket,
		    const struct rte_eth_txconf *conf)
{
	(void)descriptors;
	(void)socket;
	(void)conf;
	dev->data->tx_queues[queue] = dev->data->dev_private;
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_configure = succeed,
	.dev_start = succeed,
	.dev_stop = succeed,
	.dev_close = close_port,
	.dev_infos_get = info,
	.link_update = link_update,
	.rx_queue_setup = rx_queue,
	.tx_queue_setup = tx_queue,
	.stats_get = stats,
};

static int dma_info(const struct rte_dma_dev *dev, struct rte_dma_info *info, uint32_t size)
{
	(void)dev;
	(void)size;
	info->dev_capa = RTE_DMA_CAPA_MEM_TO_MEM | RTE_DMA_CAPA_OPS_COPY;
	info->max_vchans = 1;
	return 0;
}

static int dma_close(struct rte_dma_dev *dev)
{
	(void)dev;
	return 0;
}

static const struct rte_dma_dev_ops dma_ops = {.dev_info_get = dma_info, .dev_close = dma_close};

static int dma_probe(struct rte_vdev_device *vdev)
{
	struct rte_dma_dev *dev =
		rte_dma_pmd_allocate(rte_vdev_device_name(vdev), SOCKET_ID_ANY, sizeof(uint64_t));

	if (dev == NULL)
		return -ENOMEM;
	dev->device = &vdev->device;
	dev->dev_ops = &dma_ops;
	dev->state = RTE_DMA_DEV_READY;
	return 0;
}

static int dma_remove(struct rte_vdev_device *vdev)
{
	return rte_dma_pmd_release(rte_vdev_device_name(vdev));
}

static int net_probe(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct port));
	struct port *port;

	if (dev == NULL)
		return -ENOMEM;
	port = dev->data->dev_private;
	rte_eth_random_addr(port->mac.addr_bytes);
	dev->data->mac_addrs = &port->mac;
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = receive;
	dev->tx_pkt_burst = transmit;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int net_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	return dev == NULL ? 0 : rte_eth_dev_close(dev->data->port_id);
}

static struct rte_vdev_driver net = {.probe = net_probe, .remove = net_remove};
static struct rte_vdev_driver dma = {.probe = dma_probe, .remove = dma_remove};

RTE_PMD_REGISTER_VDEV(net_least, net);
RTE_PMD_REGISTER_VDEV(dma_least, dma);
