/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues of a port: a ring each between the thread that polls it and the turns of the fabric. Both ends
 * of a ring are one thread at a time, as ethdev and the lock of the session see to.
 */
#include <errno.h>

#include <rte_malloc.h>

#include "port.h"

/*
 * Whoever polls turns the fabric when that may bring something: the receiver where his ring is empty, the
 * sender always, since he may never receive.
 */
uint16_t port_rx_burst(void *queue, struct rte_mbuf **packets, uint16_t n)
{
	struct port_rx_queue *q = queue;
	unsigned int got = rte_ring_sc_dequeue_burst(q->ring, (void **)packets, n, NULL);

	if (got < n) {
		mf_session_poll(q->session);
		got += rte_ring_sc_dequeue_burst(q->ring, (void **)(packets + got), n - got, NULL);
	}
	return (uint16_t)got;
}

uint16_t port_tx_burst(void *queue, struct rte_mbuf **packets, uint16_t n)
{
	struct port_tx_queue *q = queue;
	unsigned int put = rte_ring_sp_enqueue_burst(q->ring, (void **)packets, n, NULL);

	mf_session_poll(q->session);
	if (put < n)
		put += rte_ring_sp_enqueue_burst(q->ring, (void **)(packets + put), n - put, NULL);
	return (uint16_t)put;
}

/** A ring for exactly n, in memory of its own: it needs no name. */
static struct rte_ring *ring_new(const char *name, unsigned int n, unsigned int socket)
{
	unsigned int size = rte_align32pow2(n + 1);
	struct rte_ring *r = rte_zmalloc_socket(name, (size_t)rte_ring_get_memsize(size), RTE_CACHE_LINE_SIZE,
						(int)socket);

	if (r != NULL && rte_ring_init(r, name, n, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0) {
		rte_free(r);
		r = NULL;
	}
	return r;
}

static void ring_drain(struct rte_ring *r)
{
	struct rte_mbuf *m;

	while (rte_ring_sc_dequeue(r, (void **)&m) == 0)
		rte_pktmbuf_free(m);
}

int port_rx_queue_setup(struct rte_eth_dev *dev, uint16_t id, uint16_t descriptors, unsigned int socket,
			const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	uint64_t offloads = conf->offloads | dev->data->dev_conf.rxmode.offloads;
	struct port_rx_queue *q;

	if (conf->rx_deferred_start || pool == NULL)
		return -EINVAL;
	q = rte_zmalloc_socket("memfab_rx", sizeof(*q), RTE_CACHE_LINE_SIZE, (int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->ring = ring_new("memfab_rx_ring", descriptors, socket);
	if (q->ring == NULL) {
		rte_free(q);
		return -ENOMEM;
	}
	q->session = port_of(dev)->session;
	q->pool = pool;
	q->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	q->id = id;
	q->scatter = (offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	q->conf = *conf;
	q->descriptors = descriptors;
	dev->data->rx_queues[id] = q;
	return 0;
}

int port_tx_queue_setup(struct rte_eth_dev *dev, uint16_t id, uint16_t descriptors, unsigned int socket,
			const struct rte_eth_txconf *conf)
{
	struct port_tx_queue *q;

	if (conf->tx_deferred_start)
		return -EINVAL;
	q = rte_zmalloc_socket("memfab_tx", sizeof(*q), RTE_CACHE_LINE_SIZE, (int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->ring = ring_new("memfab_tx_ring", descriptors, socket);
	if (q->ring == NULL) {
		rte_free(q);
		return -ENOMEM;
	}
	q->session = port_of(dev)->session;
	q->conf = *conf;
	q->descriptors = descriptors;
	dev->data->tx_queues[id] = q;
	return 0;
}

void port_rx_queue_release(struct rte_eth_dev *dev, uint16_t id)
{
	struct port_rx_queue *q = dev->data->rx_queues[id];

	if (q == NULL)
		return;
	dev->data->rx_queues[id] = NULL;
	ring_drain(q->ring);
	rte_free(q->ring);
	rte_free(q);
}

void port_tx_queue_release(struct rte_eth_dev *dev, uint16_t id)
{
	struct port_tx_queue *q = dev->data->tx_queues[id];

	if (q == NULL)
		return;
	dev->data->tx_queues[id] = NULL;
	ring_drain(q->ring);
	rte_free(q->ring);
	rte_free(q);
}

void port_queues_drain(struct port *p)
{
	for (unsigned int i = 0; i < p->rx_queues; i++)
		ring_drain(p->rx[i]->ring);
	for (unsigned int i = 0; i < p->tx_queues; i++)
		ring_drain(p->tx[i]->ring);
}

void port_rx_queue_info(struct rte_eth_dev *dev, uint16_t id, struct rte_eth_rxq_info *out)
{
	const struct port_rx_queue *q = dev->data->rx_queues[id];

	out->mp = q->pool;
	out->conf = q->conf;
	out->scattered_rx = q->scatter;
	out->nb_desc = q->descriptors;
	out->rx_buf_size = (uint16_t)q->room;
}

void port_tx_queue_info(struct rte_eth_dev *dev, uint16_t id, struct rte_eth_txq_info *out)
{
	const struct port_tx_queue *q = dev->data->tx_queues[id];

	out->conf = q->conf;
	out->nb_desc = q->descriptors;
}

uint32_t port_rx_queue_count(void *queue)
{
	const struct port_rx_queue *q = queue;

	return rte_ring_count(q->ring);
}
