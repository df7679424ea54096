/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue a frame goes to: Toeplitz hash of addresses and ports, the same as NICs compute, in software.
 * Frames that are not IP, or of a type that is not asked for, go to queue 0.
 */
#include <errno.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include "port.h"

/** The one that Microsoft published with the hash, and NICs come with. */
static const uint8_t default_key[PORT_KEY_SIZE] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/** What of a type's packets is hashed. */
struct types {
	uint64_t any, fragment, tcp, udp, sctp, other;
};

static const struct types ipv4 = {RTE_ETH_RSS_IPV4,
				  RTE_ETH_RSS_FRAG_IPV4,
				  RTE_ETH_RSS_NONFRAG_IPV4_TCP,
				  RTE_ETH_RSS_NONFRAG_IPV4_UDP,
				  RTE_ETH_RSS_NONFRAG_IPV4_SCTP,
				  RTE_ETH_RSS_NONFRAG_IPV4_OTHER};
static const struct types ipv6 = {RTE_ETH_RSS_IPV6,
				  RTE_ETH_RSS_FRAG_IPV6,
				  RTE_ETH_RSS_NONFRAG_IPV6_TCP,
				  RTE_ETH_RSS_NONFRAG_IPV6_UDP,
				  RTE_ETH_RSS_NONFRAG_IPV6_SCTP,
				  RTE_ETH_RSS_NONFRAG_IPV6_OTHER};

static uint32_t word_at(const uint8_t *at)
{
	rte_be32_t word;

	memcpy(&word, at, sizeof(word));
	return rte_be_to_cpu_32(word);
}

static uint16_t half_at(const uint8_t *at)
{
	rte_be16_t half;

	memcpy(&half, at, sizeof(half));
	return rte_be_to_cpu_16(half);
}

/** Type and start of what is behind the header and its VLAN tags; 0: nothing is. */
static uint16_t ethertype(const uint8_t *frame, uint32_t len, uint32_t *at)
{
	uint16_t type = 0;

	for (*at = RTE_ETHER_HDR_LEN; *at <= len; *at += RTE_VLAN_HLEN) {
		type = half_at(frame + *at - 2);
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			return type;
	}
	return 0;
}

/** The type of a packet of a protocol, of those that are asked for; and whether it has ports. */
static uint64_t type_of(const struct types *t, bool fragment, uint8_t protocol, bool *ports)
{
	*ports =
		!fragment && (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP);
	if (fragment)
		return t->fragment;
	switch (protocol) {
	case IPPROTO_TCP:
		return t->tcp;
	case IPPROTO_UDP:
		return t->udp;
	case IPPROTO_SCTP:
		return t->sctp;
	default:
		return t->other;
	}
}

/**
 * Addresses are in tuple; ports follow where the type is asked for with them.
 * @param words  of the addresses
 */
static bool hash(const struct port_rss *r, const struct types *t, bool fragment, uint8_t protocol,
		 uint32_t *tuple, uint32_t words, const uint8_t *payload, const uint8_t *end, uint32_t *out)
{
	bool ports;
	uint64_t type = type_of(t, fragment, protocol, &ports);

	if ((r->types & (type | t->any)) == 0)
		return false;
	if (ports && (r->types & type) != 0 && end - payload >= 4)
		tuple[words++] = word_at(payload);
	*out = rte_softrss_be(tuple, words, (const uint8_t *)r->key_be);
	return true;
}

static bool hash_ipv4(const struct port_rss *r, const uint8_t *ip, const uint8_t *end, uint32_t *out)
{
	uint32_t header = (ip[0] & 0xf) * 4u, tuple[3] = {0};
	bool fragment;

	if (end - ip < 20 || header < 20 || end - ip < header)
		return false;
	fragment = (half_at(ip + 6) & (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0;
	tuple[0] = word_at(ip + 12);
	tuple[1] = word_at(ip + 16);
	return hash(r, &ipv4, fragment, ip[9], tuple, 2, ip + header, end, out);
}

static bool hash_ipv6(const struct port_rss *r, const uint8_t *ip, const uint8_t *end, uint32_t *out)
{
	uint32_t tuple[9];

	if (end - ip < 40)
		return false;
	for (unsigned int i = 0; i < 8; i++)
		tuple[i] = word_at(ip + 8 + 4 * i);
	return hash(r, &ipv6, ip[6] == IPPROTO_FRAGMENT, ip[6], tuple, 8, ip + 40, end, out);
}

bool port_rss_hash(const struct port_rss *r, const uint8_t *frame, uint32_t len, uint32_t *out)
{
	uint32_t at;
	uint16_t type = ethertype(frame, len, &at);

	if (type == RTE_ETHER_TYPE_IPV4 && at < len)
		return hash_ipv4(r, frame + at, frame + len, out);
	if (type == RTE_ETHER_TYPE_IPV6)
		return hash_ipv6(r, frame + at, frame + len, out);
	return false;
}

static int set(struct port *p, const struct rte_eth_rss_conf *conf)
{
	const uint8_t *key = conf->rss_key;

	if ((conf->rss_hf & ~PORT_RSS_TYPES) != 0)
		return -EINVAL;
	if (key != NULL && conf->rss_key_len != PORT_KEY_SIZE && conf->rss_key_len != 0)
		return -EINVAL;
	port_lock(p);
	p->rss.types = conf->rss_hf;
	if (key != NULL)
		memcpy(p->rss.key, key, PORT_KEY_SIZE);
	memcpy(p->rss.key_be, p->rss.key, PORT_KEY_SIZE);
	rte_convert_rss_key(p->rss.key_be, p->rss.key_be, PORT_KEY_SIZE);
	port_unlock(p);
	return 0;
}

int port_rss_configure(struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *c = &dev->data->dev_conf;
	struct port *p = port_of(dev);

	p->rss.on = (c->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
	for (unsigned int i = 0; i < PORT_RETA_SIZE; i++)
		p->rss.queue[i] = dev->data->nb_rx_queues > 0 ? i % dev->data->nb_rx_queues : 0;
	memcpy(p->rss.key, default_key, sizeof(p->rss.key));
	return set(p, p->rss.on ? &c->rx_adv_conf.rss_conf : &(struct rte_eth_rss_conf){.rss_hf = 0});
}

int port_rss_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	if (!port_of(dev)->rss.on)
		return conf->rss_hf == 0 ? 0 : -EINVAL;
	return set(port_of(dev), conf);
}

int port_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	const struct port_rss *r = &port_of(dev)->rss;

	if (conf->rss_key != NULL && conf->rss_key_len >= PORT_KEY_SIZE)
		memcpy(conf->rss_key, r->key, PORT_KEY_SIZE);
	conf->rss_key_len = PORT_KEY_SIZE;
	conf->rss_hf = r->types;
	return 0;
}

static bool chosen(const struct rte_eth_rss_reta_entry64 *table, unsigned int i)
{
	return (table[i / RTE_ETH_RETA_GROUP_SIZE].mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1) != 0;
}

int port_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table, uint16_t size)
{
	struct port *p = port_of(dev);

	if (size != PORT_RETA_SIZE)
		return -EINVAL;
	port_lock(p);
	for (unsigned int i = 0; i < size; i++)
		if (chosen(table, i))
			p->rss.queue[i] =
				table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	port_unlock(p);
	return 0;
}

int port_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *table, uint16_t size)
{
	const struct port *p = port_of(dev);

	if (size != PORT_RETA_SIZE)
		return -EINVAL;
	for (unsigned int i = 0; i < size; i++)
		if (chosen(table, i))
			table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
				p->rss.queue[i];
	return 0;
}
