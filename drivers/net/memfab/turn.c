/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's part in a turn of the fabric: packets become frames of the host as long as that has room, and what
 * the host receives becomes packets. All of it under the lock of the session.
 */
#include <string.h>

#include <rte_alarm.h>

#include "port.h"

#define BURST 32
#define TURN_FRAMES 256 /* that a port sends in a turn: the others have theirs */
/** Octets in the host, twice what a turn takes: more waits in its ring, where its sender sees it. */
#define HOST_OCTETS (32u << 10)

static_assert(MF_FRAME_MAX <= sizeof(((struct port *)0)->scratch), "a frame fits");

/** The frame in mbufs of the queue's pool. NULL: there are too few */
static struct rte_mbuf *packet_of(struct port_rx_queue *q, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *head = NULL, **end = &head, *m;
	uint16_t segments = 0;

	for (uint32_t at = 0; at < len; at += m->data_len) {
		m = rte_pktmbuf_alloc(q->pool);
		if (unlikely(m == NULL)) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		m->data_len = (uint16_t)RTE_MIN(q->room, len - at);
		memcpy(rte_pktmbuf_mtod(m, void *), frame + at, m->data_len);
		*end = m;
		end = &m->next;
		segments++;
	}
	head->pkt_len = len;
	head->nb_segs = segments;
	return head;
}

static void into_queue(struct port *p, struct port_rx_queue *q, const uint8_t *frame, uint32_t len,
		       bool hashed, uint32_t hash)
{
	struct rte_mbuf *m;

	if (unlikely(len > q->room && !q->scatter)) {
		p->counters.rx_no_scatter++;
		return;
	}
	if (unlikely(rte_ring_full(q->ring))) {
		q->missed++;
		return;
	}
	m = packet_of(q, frame, len);
	if (unlikely(m == NULL)) {
		q->no_mbuf++;
		return;
	}
	m->port = p->id;
	if (hashed) {
		m->hash.rss = hash;
		m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	}
	rte_ring_sp_enqueue(q->ring, m);
	q->packets++;
	q->octets += len;
}

/** A frame that is there: for the port or not. */
static void take(struct port *p, const uint8_t *frame, uint32_t len)
{
	uint32_t hash = 0;
	bool hashed = false;

	if (unlikely(!p->started || p->rx_queues == 0)) {
		p->counters.rx_stopped++;
		return;
	}
	if (!port_filter_takes(&p->filter, frame)) {
		p->counters.rx_filtered++;
		return;
	}
	if (unlikely(len > p->longest)) {
		p->counters.rx_over_mtu++;
		return;
	}
	if (p->rss.on && (p->rx_queues > 1 || p->hashed))
		hashed = port_rss_hash(&p->rss, frame, len, &hash);
	into_queue(p, p->rx[hashed ? p->rss.queue[hash % PORT_RETA_SIZE] : 0], frame, len,
		   hashed && p->hashed, hash);
}

static void receive(void *ctx, mf_time at, const uint8_t *frame, uint16_t len)
{
	(void)at;
	take(ctx, frame, len);
}

/** The octets of a packet, in one piece. */
static const uint8_t *frame_of(struct port *p, const struct rte_mbuf *m)
{
	return rte_pktmbuf_read(m, 0, m->pkt_len, p->scratch);
}

/** As if a cable led from TX to RX. */
static void loop(struct port *p, const struct rte_mbuf *m)
{
	uint32_t len = m->pkt_len;
	const uint8_t *frame = frame_of(p, m);

	if (len < MF_FRAME_MIN) {
		if (frame != p->scratch)
			memcpy(p->scratch, frame, len);
		memset(p->scratch + len, 0, MF_FRAME_MIN - len);
		frame = p->scratch;
		len = MF_FRAME_MIN;
	}
	p->counters.tx_loopback++;
	take(p, frame, len);
}

static bool is_frame(const struct port *p, const struct rte_mbuf *m)
{
	return m->pkt_len >= RTE_ETHER_HDR_LEN && m->pkt_len <= p->frame_max;
}

/** @return false: the host has no room for it, it has to wait */
static bool send_one(struct port *p, struct port_tx_queue *q, mf_time now, const struct rte_mbuf *m)
{
	if (unlikely(!is_frame(p, m))) {
		p->counters.tx_length++;
		q->errors++;
		return true;
	}
	if (unlikely(p->loopback))
		loop(p, m);
	else if (mf_node_frame_bytes(p->host) >= HOST_OCTETS ||
		 !mf_node_frame_room(p->host, (uint16_t)m->pkt_len) ||
		 !mf_node_send_frame(p->host, now, frame_of(p, m), (uint16_t)m->pkt_len))
		return false;
	q->packets++;
	q->octets += m->pkt_len;
	return true;
}

/** Sends what a queue has, at most a burst. @return how many left it */
static unsigned int send_burst(struct port *p, struct port_tx_queue *q, mf_time now)
{
	struct rte_mbuf *packet[BURST];
	unsigned int n = rte_ring_dequeue_burst_start(q->ring, (void **)packet, BURST, NULL), sent = 0;

	if (n == 0)
		return 0;
	while (sent < n && send_one(p, q, now, packet[sent]))
		sent++;
	rte_ring_dequeue_finish(q->ring, sent);
	rte_pktmbuf_free_bulk(packet, sent);
	return sent;
}

/** All queues in turn, and the next time from the one behind. */
static unsigned int send_all(struct port *p, mf_time now)
{
	unsigned int sent = 0, round;

	do {
		round = 0;
		for (unsigned int i = 0; i < p->tx_queues; i++) {
			round += send_burst(p, p->tx[p->next_tx], now);
			p->next_tx = p->next_tx + 1 < p->tx_queues ? p->next_tx + 1 : 0;
		}
		sent += round;
	} while (round > 0 && sent < TURN_FRAMES);
	if (p->tx_queues > 1)
		p->next_tx = p->next_tx + 1 < p->tx_queues ? p->next_tx + 1 : 0;
	return sent;
}

void port_tell_link(void *port_id)
{
	uint16_t id = (uint16_t)(uintptr_t)port_id;
	struct rte_eth_dev *dev = &rte_eth_devices[id];

	dev->dev_ops->link_update(dev, 0);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

/** Has the program told when its link was lost, or is back, since the last turn. */
static void watch_link(struct port *p)
{
	bool up = mf_session_link_up(p->session, p->node);

	if (likely(up == atomic_load_explicit(&p->told_up, memory_order_relaxed)))
		return;
	atomic_store_explicit(&p->told_up, up, memory_order_relaxed);
	if (!rte_eth_devices[p->id].data->dev_conf.intr_conf.lsc)
		return;
	rte_eal_alarm_set(1, port_tell_link, (void *)(uintptr_t)p->id);
	mf_fabric_interrupts();
}

unsigned int port_turn(struct mf_embedded_client *g, struct mf_node *host, mf_time now)
{
	struct port *p = (struct port *)g;

	if (unlikely(p->host == NULL)) {
		p->host = host;
		mf_node_on_frame(host, receive, p);
	}
	if (unlikely(!p->started))
		return 0;
	if (unlikely(p->has_tunnels))
		watch_link(p);
	return send_all(p, now);
}
