/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of net_memfab: a port is an embedded client at a node of a fabric (mf_embed.h). Its packets become
 * frames of the node's host, and the frames that arrive there become packets.
 *
 *     tx_burst -> ring -> [ turn: host -> link -> switch -> link -> host ] -> ring -> rx_burst
 *
 * A turn is made by one thread at a time: a service lcore, or whoever calls a burst function. What a turn
 * shares with others than the queues' rings is changed under the lock of the session only.
 */
#ifndef PORT_H
#define PORT_H

#include <stdatomic.h>

#include <ethdev_driver.h>
#include <rte_ring.h>
#include <rte_thash.h>

#include "client/mf_session.h"
#include "systems/mf_node.h"

#define PORT_QUEUES_MAX 16
#define PORT_ADDRESSES 16 /* unicast, the port's own included */
#define PORT_GROUPS 64
#define PORT_RETA_SIZE 128
#define PORT_KEY_SIZE 40
#define PORT_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN) /* of a frame, to its MTU */
/** A frame without FCS, at this MTU. */
#define PORT_FRAME(mtu) ((uint32_t)(mtu) + PORT_OVERHEAD - RTE_ETHER_CRC_LEN)

extern int port_log_type;
#define PORT_LOG(level, fmt, ...) rte_log(RTE_LOG_##level, port_log_type, fmt "\n", ##__VA_ARGS__)

struct port;

/** The turn puts packets into the ring and counts, the queue's thread takes them. */
struct port_rx_queue {
	struct rte_ring *ring;
	struct mf_session *session;
	struct rte_mempool *pool;
	uint32_t room; /**< octets of an mbuf */
	uint16_t id;
	bool scatter;
	uint64_t packets, octets, missed, no_mbuf;
	struct rte_eth_rxconf conf;
	uint16_t descriptors;
} __rte_cache_aligned;

/** The queue's thread puts packets into the ring, the turn takes them and counts. */
struct port_tx_queue {
	struct rte_ring *ring;
	struct mf_session *session;
	uint64_t packets, octets, errors;
	struct rte_eth_txconf conf;
	uint16_t descriptors;
} __rte_cache_aligned;

/** Whose frames are taken in. Addresses are the first 6 octets of a word. */
struct port_filter {
	bool promiscuous, allmulticast;
	unsigned int groups;
	uint64_t address[PORT_ADDRESSES]; /**< 0: none */
	uint64_t group[PORT_GROUPS];
};

struct port_rss {
	bool on;
	uint64_t types; /**< RTE_ETH_RSS_* */
	uint8_t key[PORT_KEY_SIZE];
	uint32_t key_be[PORT_KEY_SIZE / 4]; /**< as rte_softrss_be() wants it */
	uint16_t queue[PORT_RETA_SIZE];
};

/** Frames that came to nothing, and those that went round. */
struct port_counters {
	uint64_t rx_stopped, rx_filtered, rx_over_mtu, rx_no_scatter;
	uint64_t tx_length, tx_loopback;
};

#define PORT_XSTATS_MAX 64

struct port {
	struct mf_embedded_client embedded; /**< first: an embedded client is its port */
	struct mf_session *session;
	struct mf_node *host; /**< NULL: no turn yet */
	unsigned int node;
	uint16_t id;
	/* changed under the lock of the session */
	bool started, loopback, hashed;
	bool has_tunnels; /**< links of the fabric go over ports, and may be lost */
	atomic_bool told_up; /**< the state of the link that the last LSC event told */
	uint16_t rx_queues, tx_queues;
	uint16_t next_tx; /**< the queue whose turn is first */
	uint32_t longest; /**< frame that is received, without FCS */
	struct port_rx_queue *rx[PORT_QUEUES_MAX];
	struct port_tx_queue *tx[PORT_QUEUES_MAX];
	struct port_filter filter;
	struct port_rss rss;
	struct port_counters counters;
	uint64_t base[PORT_XSTATS_MAX]; /**< values of xstats when they were reset */
	uint64_t errors_base; /**< and of what ierrors is made of */
	/* of the control path */
	uint32_t speed; /**< Mb/s */
	uint32_t frame_max; /**< that host and switch have room for, without FCS */
	struct rte_ether_addr mac[PORT_ADDRESSES];
	uint8_t scratch[16384]; /**< a frame of several mbufs, or a short one */
};

static inline struct port *port_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

static inline void port_lock(struct port *p)
{
	mf_session_lock(p->session);
}

static inline void port_unlock(struct port *p)
{
	mf_session_unlock(p->session);
}

/* args.c */
struct port_args {
	char *fabric, *node;
	bool workload, only;
};

/** @return 0, or -errno, and has said why; port_args_free() in either case */
int port_args_parse(const char *name, const char *text, struct port_args *out);
void port_args_free(struct port_args *args);

/* turn.c */
unsigned int port_turn(struct mf_embedded_client *g, struct mf_node *host, mf_time now);
/** Tells the program of the link's state (LSC), from a thread on which it may call ethdev. */
void port_tell_link(void *port_id);

/* queue.c */
uint16_t port_rx_burst(void *queue, struct rte_mbuf **packets, uint16_t n);
uint16_t port_tx_burst(void *queue, struct rte_mbuf **packets, uint16_t n);
int port_rx_queue_setup(struct rte_eth_dev *dev, uint16_t id, uint16_t descriptors, unsigned int socket,
			const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int port_tx_queue_setup(struct rte_eth_dev *dev, uint16_t id, uint16_t descriptors, unsigned int socket,
			const struct rte_eth_txconf *conf);
void port_rx_queue_release(struct rte_eth_dev *dev, uint16_t id);
void port_tx_queue_release(struct rte_eth_dev *dev, uint16_t id);
void port_rx_queue_info(struct rte_eth_dev *dev, uint16_t id, struct rte_eth_rxq_info *out);
void port_tx_queue_info(struct rte_eth_dev *dev, uint16_t id, struct rte_eth_txq_info *out);
uint32_t port_rx_queue_count(void *queue);
/** Frees the packets that wait in rings. The port is stopped. */
void port_queues_drain(struct port *p);

/* filter.c */
bool port_filter_takes(const struct port_filter *f, const uint8_t *frame);
int port_promiscuous_on(struct rte_eth_dev *dev);
int port_promiscuous_off(struct rte_eth_dev *dev);
int port_allmulticast_on(struct rte_eth_dev *dev);
int port_allmulticast_off(struct rte_eth_dev *dev);
int port_address_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t index, uint32_t pool);
void port_address_remove(struct rte_eth_dev *dev, uint32_t index);
int port_address_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac);
int port_groups_set(struct rte_eth_dev *dev, struct rte_ether_addr *groups, uint32_t n);

/* rss.c */
#define PORT_RSS_TYPES                                                                                   \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |                       \
	 RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_SCTP | RTE_ETH_RSS_NONFRAG_IPV4_OTHER | \
	 RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP |                       \
	 RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_NONFRAG_IPV6_SCTP | RTE_ETH_RSS_NONFRAG_IPV6_OTHER)

/** @return whether the frame is of a type that is hashed; then *hash is set */
bool port_rss_hash(const struct port_rss *r, const uint8_t *frame, uint32_t len, uint32_t *hash);
/** As the configuration of the device has it. @return 0 or -EINVAL */
int port_rss_configure(struct rte_eth_dev *dev);
int port_rss_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int port_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int port_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table, uint16_t size);
int port_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table, uint16_t size);

/* stats.c */
int port_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *out);
int port_stats_reset(struct rte_eth_dev *dev);
int port_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *out, unsigned int n);
int port_xstats_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *out, unsigned int n);
int port_xstats_reset(struct rte_eth_dev *dev);

#endif
