/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_memfab as a program sees it that uses ethdev's functions: the driver is a part of this program, so it
 * is checked with whatever else is (sanitizers). Two ports at a switch, turned by their burst functions.
 *
 *	test_net_port FABRIC.json [SEED]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_thash.h>
#include <rte_udp.h>

#include "base/mf_rng.h"
#include "pcs/mf_frame.h"

#define MBUFS 4095
#define PATIENCE 200 /* polls without anything new until a frame counts as lost */

static unsigned int cases, failures;
static const char *fabric;
static struct mf_rng rng;
static struct rte_mempool *pool;
static uint16_t port[2];

static void ok(bool good, const char *name)
{
	cases++;
	failures += !good;
	printf("%s %u - %s\n", good ? "ok" : "not ok", cases, name);
	fflush(stdout);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)mf_rng_below(&rng, n);
}

static const struct rte_ether_addr *mac_of(unsigned int i)
{
	static struct rte_ether_addr mac[2];

	rte_eth_macaddr_get(port[i], &mac[i]);
	return &mac[i];
}

static uint64_t xstat(unsigned int i, const char *name)
{
	uint64_t id, value;

	if (rte_eth_xstats_get_id_by_name(port[i], name, &id) != 0 ||
	    rte_eth_xstats_get_by_id(port[i], &id, &value, 1) != 1) {
		printf("# there is no %s\n", name);
		failures++;
		return 0;
	}
	return value;
}

static struct rte_eth_stats stats_of(unsigned int i)
{
	struct rte_eth_stats s;

	if (rte_eth_stats_get(port[i], &s) != 0)
		abort();
	return s;
}

struct setup {
	uint16_t queues, descriptors, mtu;
	uint64_t offloads;
	uint64_t rss; /* types; 0: none */
	bool loopback;
	struct rte_mempool *pool;
};

static int setup(unsigned int i, const struct setup *s)
{
	struct rte_eth_conf conf = {
		.rxmode = {.mtu = s->mtu,
			   .offloads = s->offloads,
			   .mq_mode = s->rss != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE},
		.txmode = {.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS},
		.rx_adv_conf = {.rss_conf = {.rss_hf = s->rss}},
		.lpbk_mode = s->loopback,
	};
	int rc = rte_eth_dev_configure(port[i], s->queues, s->queues, &conf);

	for (uint16_t q = 0; q < s->queues && rc == 0; q++) {
		rc = rte_eth_rx_queue_setup(port[i], q, s->descriptors, SOCKET_ID_ANY, NULL,
					    s->pool != NULL ? s->pool : pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port[i], q, s->descriptors, SOCKET_ID_ANY, NULL);
	}
	return rc == 0 ? rte_eth_dev_start(port[i]) : rc;
}

/** Stops both, starts both. */
static void restart(const struct setup *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		rte_eth_dev_stop(port[i]);
		if (setup(i, s) != 0) {
			printf("Bail out! port %u does not start\n", i);
			exit(1);
		}
		rte_eth_promiscuous_disable(port[i]);
		rte_eth_xstats_reset(port[i]);
	}
}

static const struct setup plain = {
	.queues = 1, .descriptors = 512, .mtu = 9000, .offloads = RTE_ETH_RX_OFFLOAD_SCATTER};

/** A packet of these octets, in a chain of segments of random lengths. */
static struct rte_mbuf *packet_of(const uint8_t *octets, uint32_t len, bool chained)
{
	struct rte_mbuf *head = NULL, *m;
	uint32_t n;

	for (uint32_t at = 0; at < len; at += n) {
		m = rte_pktmbuf_alloc(pool);
		if (m == NULL)
			abort();
		n = RTE_MIN(len - at, (uint32_t)rte_pktmbuf_tailroom(m));
		if (chained)
			n = RTE_MIN(n, 1 + below(1500));
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), octets + at, n);
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) != 0)
			abort();
	}
	return head;
}

static void header(uint8_t *frame, const struct rte_ether_addr *to, const struct rte_ether_addr *from)
{
	memcpy(frame, to, 6);
	memcpy(frame + 6, from, 6);
	frame[12] = 0x88;
	frame[13] = 0xb6;
}

/** A frame from port i to an address; contents are random. */
static void make(uint8_t *frame, uint32_t len, unsigned int i, const struct rte_ether_addr *to)
{
	for (uint32_t k = 0; k < len; k++)
		frame[k] = (uint8_t)mf_rng_next(&rng);
	header(frame, to, mac_of(i));
}

static bool give(unsigned int i, uint16_t queue, struct rte_mbuf *m)
{
	for (unsigned int k = 0; k < PATIENCE; k++)
		if (rte_eth_tx_burst(port[i], queue, &m, 1) == 1)
			return true;
	rte_pktmbuf_free(m);
	return false;
}

/** The next packet of any queue; NULL: none comes. */
static struct rte_mbuf *next_packet(unsigned int i, uint16_t queues, uint16_t *queue)
{
	struct rte_mbuf *m;

	for (unsigned int k = 0; k < PATIENCE; k++)
		for (*queue = 0; *queue < queues; ++*queue)
			if (rte_eth_rx_burst(port[i], *queue, &m, 1) == 1)
				return m;
	return NULL;
}

/** Receives until nothing comes. @return how many */
static unsigned int receive_all(unsigned int i)
{
	struct rte_mbuf *m;
	unsigned int n = 0;
	uint16_t queue;

	for (; (m = next_packet(i, 1, &queue)) != NULL; n++)
		rte_pktmbuf_free(m);
	return n;
}

/** Whether a frame from port 0 to an address arrives at port 1. */
static bool arrives(const struct rte_ether_addr *to, uint32_t len)
{
	static uint8_t frame[MF_FRAME_MAX];

	make(frame, len, 0, to);
	return give(0, 0, packet_of(frame, len, false)) && receive_all(1) == 1;
}

static bool same(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	static uint8_t room[16384];
	uint32_t padded = RTE_MAX(len, (uint32_t)MF_FRAME_MIN);
	const uint8_t *got = rte_pktmbuf_read(m, 0, m->pkt_len, room);

	rte_mbuf_sanity_check(m, 1);
	return m->pkt_len == padded && m->port == port[1] && got != NULL && memcmp(got, frame, len) == 0;
}

static void test_sizes(void)
{
	static const uint32_t edges[] = {14, 59, 60, 61, 64, 1514, 1518, 2048, 2049, 9000, 9014, 9018};
	static uint8_t frame[MF_FRAME_MAX];
	unsigned int bad = 0, many = 300;
	uint16_t queue;
	struct rte_eth_stats s;

	restart(&plain);
	for (unsigned int k = 0; k < many; k++) {
		uint32_t len = k < RTE_DIM(edges) ? edges[k] : 14 + below(MF_FRAME_MAX - 13);
		struct rte_mbuf *m;

		make(frame, len, 0, mac_of(1));
		bad += !give(0, 0, packet_of(frame, len, k % 2 == 1));
		m = next_packet(1, 1, &queue);
		bad += m == NULL || !same(m, frame, len);
		rte_pktmbuf_free(m);
	}
	ok(bad == 0, "frames of 14 to 9,018 octets, whole and in segments, arrive as they were");
	s = stats_of(1);
	ok(s.ipackets == many && s.ierrors == 0 && s.imissed == 0 && stats_of(0).opackets == many,
	   "and are counted at both ends");
}

static void test_lengths(void)
{
	static uint8_t frame[16000];

	restart(&plain);
	make(frame, sizeof(frame), 0, mac_of(1));
	give(0, 0, packet_of(frame, 13, false));
	give(0, 0, packet_of(frame, MF_FRAME_MAX + 1, false));
	ok(receive_all(1) == 0 && stats_of(0).oerrors == 2 && xstat(0, "tx_length_errors") == 2,
	   "what is no frame is not sent");
}

static void test_scatter(void)
{
	struct setup s = plain;

	s.offloads = 0;
	restart(&s);
	ok(arrives(mac_of(1), 2048) && !arrives(mac_of(1), 2049), "without scatter a frame has one mbuf");
	ok(stats_of(1).ierrors == 1 && xstat(1, "rx_no_scatter_errors") == 1, "others are counted");
}

static void test_mtu(void)
{
	struct rte_eth_dev_info info;
	uint16_t mtu;

	restart(&plain);
	rte_eth_dev_info_get(port[1], &info);
	ok(info.max_mtu == 9000 && rte_eth_dev_set_mtu(port[1], info.max_mtu + 1) == -EINVAL &&
		   rte_eth_dev_set_mtu(port[1], 67) == -EINVAL,
	   "an MTU is 68 to 9,000");
	ok(rte_eth_dev_set_mtu(port[1], 1000) == 0 && rte_eth_dev_get_mtu(port[1], &mtu) == 0 && mtu == 1000,
	   "it can be set while the port runs");
	ok(arrives(mac_of(1), 1018) && !arrives(mac_of(1), 1019), "header and a tag come on top");
	ok(stats_of(1).ierrors == 1 && xstat(1, "rx_over_mtu_errors") == 1, "longer frames are counted");
}

static void test_filter(void)
{
	struct rte_ether_addr other = {{0x02, 0xaa, 0, 0, 0, 1}}, group = {{0x01, 0, 0x5e, 1, 2, 3}};
	struct rte_ether_addr all = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, first = *mac_of(1);
	uint64_t filtered;

	restart(&plain);
	ok(arrives(mac_of(1), 60) && arrives(&all, 60) && !arrives(&other, 60) && !arrives(&group, 60),
	   "own address and broadcast pass the filter");
	filtered = xstat(1, "rx_filtered_drops");
	ok(filtered == 2 && stats_of(1).ierrors == 0, "others are counted");
	ok(rte_eth_dev_mac_addr_add(port[1], &other, 0) == 0 && arrives(&other, 60), "a second address");
	ok(rte_eth_dev_mac_addr_remove(port[1], &other) == 0 && !arrives(&other, 60), "is removed");
	ok(rte_eth_dev_set_mc_addr_list(port[1], &group, 1) == 0 && arrives(&group, 60), "a group");
	ok(rte_eth_dev_set_mc_addr_list(port[1], NULL, 0) == 0 && !arrives(&group, 60), "is left");
	rte_eth_allmulticast_enable(port[1]);
	ok(arrives(&group, 60) && !arrives(&other, 60), "all multicast");
	rte_eth_allmulticast_disable(port[1]);
	rte_eth_promiscuous_enable(port[1]);
	ok(arrives(&group, 60) && arrives(&other, 60), "promiscuous");
	rte_eth_promiscuous_disable(port[1]);
	ok(rte_eth_dev_default_mac_addr_set(port[1], &other) == 0 && arrives(&other, 60) &&
		   !arrives(&first, 60),
	   "another address of its own");
	rte_eth_dev_default_mac_addr_set(port[1], &first);
}

/** An IPv4 packet of UDP. @param tuple  as rte_softrss() wants it */
static void make_flow(uint8_t *frame, uint32_t len, uint32_t *tuple)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + 14);
	uint32_t ports;

	make(frame, len, 0, mac_of(1));
	frame[12] = 0x08;
	frame[13] = 0x00;
	ip->version_ihl = 0x45;
	ip->fragment_offset = 0;
	ip->next_proto_id = IPPROTO_UDP;
	memcpy(&ports, frame + 34, 4);
	tuple[0] = rte_be_to_cpu_32(ip->src_addr);
	tuple[1] = rte_be_to_cpu_32(ip->dst_addr);
	tuple[2] = rte_be_to_cpu_32(ports);
}

/** Sends flows. @return those that came with another hash or at another queue than the table has */
static unsigned int wrong_queues(unsigned int flows, const uint8_t *key,
				 const struct rte_eth_rss_reta_entry64 *reta, unsigned int *queues_used)
{
	unsigned int wrong = 0, used = 0;
	uint8_t frame[100];
	uint32_t tuple[3], hash;
	struct rte_mbuf *m;
	uint16_t queue;

	for (unsigned int i = 0; i < flows; i++) {
		make_flow(frame, sizeof(frame), tuple);
		give(0, (uint16_t)(i % 4), packet_of(frame, sizeof(frame), false));
		m = next_packet(1, 4, &queue);
		hash = rte_softrss(tuple, 3, key);
		wrong += m == NULL || (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) == 0 || m->hash.rss != hash ||
			 queue != reta[hash % 128 / 64].reta[hash % 64];
		used |= 1u << queue;
		rte_pktmbuf_free(m);
	}
	*queues_used = (unsigned int)__builtin_popcount(used);
	return wrong;
}

static void test_rss(void)
{
	struct setup s = {.queues = 4,
			  .descriptors = 64,
			  .mtu = 1500,
			  .offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH,
			  .rss = RTE_ETH_RSS_NONFRAG_IPV4_UDP};
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};
	uint8_t key[40];
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = sizeof(key)};
	unsigned int used;

	restart(&s);
	ok(rte_eth_dev_rss_reta_query(port[1], reta, 128) == 0 && reta[0].reta[5] == 1 &&
		   rte_eth_dev_rss_hash_conf_get(port[1], &conf) == 0 && conf.rss_hf == s.rss,
	   "RSS can be asked for");
	ok(wrong_queues(200, key, reta, &used) == 0 && used == 4, "flows go where hash and table say");
	for (unsigned int i = 0; i < 128; i++)
		reta[i / 64].reta[i % 64] = (uint16_t)(1 + below(2));
	ok(rte_eth_dev_rss_reta_update(port[1], reta, 128) == 0 && wrong_queues(100, key, reta, &used) == 0 &&
		   used == 2,
	   "another table");
	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)mf_rng_next(&rng);
	conf.rss_hf = s.rss;
	ok(rte_eth_dev_rss_hash_update(port[1], &conf) == 0 && wrong_queues(100, key, reta, &used) == 0,
	   "another key");
	ok(stats_of(1).q_ipackets[1] + stats_of(1).q_ipackets[2] >= 200 &&
		   stats_of(1).ipackets == stats_of(0).opackets,
	   "queues are counted apart");
}

/** Nobody receives, so the ring of the receiver overflows, and the sender's never loses. */
static void test_overrun(void)
{
	struct setup s = plain;
	uint8_t frame[1500];
	unsigned int sent = 0, got;
	struct rte_eth_stats r;

	s.descriptors = 32;
	restart(&s);
	for (unsigned int i = 0; i < 500; i++) {
		make(frame, sizeof(frame), 0, mac_of(1));
		sent += give(0, 0, packet_of(frame, sizeof(frame), false));
	}
	got = receive_all(1);
	r = stats_of(1);
	ok(sent == 500 && stats_of(0).opackets == sent, "a sender is held back, and loses nothing");
	ok(got == r.ipackets && r.imissed > 0 && got + r.imissed == sent,
	   "what a ring has no room for is missed");
}

/** More than the link takes in a turn: the burst function says how many it took. */
static void test_pressure(void)
{
	static uint8_t frame[9000];
	struct setup s = plain;
	struct rte_mbuf *m[32];
	unsigned int sent = 0, short_bursts = 0, got, n;

	s.descriptors = 64;
	restart(&s);
	make(frame, sizeof(frame), 0, mac_of(1));
	for (unsigned int round = 0; round < 40; round++) {
		for (unsigned int i = 0; i < 32; i++)
			m[i] = packet_of(frame, sizeof(frame), false);
		n = rte_eth_tx_burst(port[0], 0, m, 32);
		short_bursts += n < 32;
		sent += n;
		rte_pktmbuf_free_bulk(m + n, 32 - n);
	}
	got = receive_all(1);
	ok(short_bursts > 0 && got + stats_of(1).imissed == sent && stats_of(0).opackets == sent,
	   "a burst that finds no room is cut short, and nothing of it lost");
}

static void test_no_mbufs(unsigned int size)
{
	struct setup s = plain;
	struct rte_mempool *tiny = rte_pktmbuf_pool_create("tiny", size, 0, 0, 2176, SOCKET_ID_ANY);
	uint8_t frame[100];
	unsigned int sent = 0, got;

	s.pool = tiny;
	restart(&s);
	for (unsigned int i = 0; i < 100; i++) {
		make(frame, sizeof(frame), 0, mac_of(1));
		sent += give(0, 0, packet_of(frame, sizeof(frame), false));
	}
	got = receive_all(1);
	ok(sent == 100 && got >= size && got < sent && got + stats_of(1).rx_nombuf == sent,
	   "without mbufs frames are counted");
	restart(&plain);
	ok(rte_mempool_avail_count(tiny) == size, "and none of them is kept");
	rte_mempool_free(tiny);
}

/** A pool of 8 while frames of 5 mbufs come: each is whole, or counted, and the next ones have its mbufs. */
static void test_tiny_pool(void)
{
	struct rte_mempool *tiny = rte_pktmbuf_pool_create("tiny", 8, 0, 0, 2176, SOCKET_ID_ANY);
	struct setup s = plain;
	static uint8_t frame[9000];
	unsigned int sent = 0, got = 0, wrong = 0;
	uint16_t queue;

	s.pool = tiny;
	restart(&s);
	for (unsigned int i = 0; i < 100; i++) {
		struct rte_mbuf *m;

		make(frame, sizeof(frame), 0, mac_of(1));
		sent += give(0, 0, packet_of(frame, sizeof(frame), false));
		if (i % 4 != 0)
			continue;
		while ((m = next_packet(1, 1, &queue)) != NULL) {
			wrong += m->pkt_len != sizeof(frame);
			got++;
			rte_pktmbuf_free(m);
		}
	}
	got += receive_all(1);
	ok(sent == 100 && wrong == 0 && got > 0 && got < sent && got + stats_of(1).rx_nombuf == sent,
	   "long frames out of a pool of 8 are whole, or counted");
	restart(&plain);
	ok(rte_mempool_avail_count(tiny) == 8, "and give all of it back");
	rte_mempool_free(tiny);
}

static void test_loopback(void)
{
	struct setup s = plain;
	struct rte_mbuf *m;
	uint8_t frame[300];
	uint16_t queue;

	s.loopback = true;
	restart(&s);
	rte_eth_promiscuous_enable(port[1]);
	make(frame, sizeof(frame), 1, mac_of(0));
	give(1, 0, packet_of(frame, sizeof(frame), true));
	m = next_packet(1, 1, &queue);
	ok(m != NULL && same(m, frame, sizeof(frame)) && xstat(1, "tx_loopback_packets") == 1 &&
		   receive_all(0) == 0,
	   "in loopback a port receives its own packets");
	rte_pktmbuf_free(m);
}

static void test_xstats(void)
{
	struct rte_eth_xstat_name name[128];
	struct rte_eth_xstat value[128];
	int n = rte_eth_xstats_get_names(port[1], name, RTE_DIM(name));
	unsigned int twice = 0, left = 0;

	restart(&plain);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			twice += strcmp(name[i].name, name[k].name) == 0;
	for (unsigned int i = 0; i < 10; i++)
		arrives(mac_of(1), 60 + below(5000));
	ok(n > 30 && twice == 0 && xstat(1, "link_rx_frames") == 10 && xstat(0, "link_tx_frames") == 10 &&
		   xstat(1, "switch_tx_frames") == 10,
	   "xstats have names of their own, and count what passes");
	rte_eth_xstats_reset(port[1]);
	rte_eth_xstats_get(port[1], value, RTE_DIM(value));
	for (int i = 0; i < n; i++)
		left += value[i].value != 0;
	ok(left == 0, "and are 0 after a reset");
}

static void test_link(void)
{
	struct rte_eth_link link;

	restart(&plain);
	rte_eth_link_get_nowait(port[0], &link);
	ok(link.link_status == RTE_ETH_LINK_UP && link.link_speed == 25000, "the link is up, with its rate");
	rte_eth_dev_stop(port[0]);
	rte_eth_link_get_nowait(port[0], &link);
	ok(link.link_status == RTE_ETH_LINK_DOWN, "and down when the port is stopped");
	ok(setup(0, &plain) == 0 && arrives(mac_of(1), 60), "and up again");
}

/** @param text  arguments; @ stands for the fabric */
static int add(const char *name, const char *text)
{
	char args[600] = "";
	const char *at = strchr(text, '@');

	if (at == NULL)
		return rte_vdev_init(name, text);
	snprintf(args, sizeof(args), "%.*s%s%s", (int)(at - text), text, fabric, at + 1);
	return rte_vdev_init(name, args);
}

static bool refused(const char *text)
{
	return add("net_memfab9", text) < 0 && rte_eth_dev_count_avail() == 2;
}

static void test_arguments(void)
{
	ok(refused("") && refused("node=eth2") && refused("fabric=@") && refused("fabric=,node=eth2") &&
		   refused("fabric=@,node="),
	   "a port has a fabric and a node");
	ok(refused("fabric=@,node=eth2,colour=red") && refused("fabric=@,node=eth2,node=eth3") &&
		   refused("fabric=@,node=eth2,workload=2"),
	   "unknown keys, keys given twice and bad values are refused");
	ok(refused("fabric=@.not,node=eth2") && refused("fabric=@,node=nobody"),
	   "as are files and nodes that there are not");
	ok(refused("fabric=@,node=eth1"), "and a node that has a port");
	ok(refused("fabric=@,node=eth2,workload=1"), "and a fabric that is open otherwise");
}

enum state { PORT_ABSENT, PORT_STOPPED, PORT_RUNNING };

/** One of the things that may be done to a port as it is. @return whether it went well */
static bool change(unsigned int i, enum state *state)
{
	static const char *const names[] = {"net_memfab0", "net_memfab1"};
	static const char *const arguments[] = {"fabric=@,node=eth0", "fabric=@,node=eth1"};

	switch (*state) {
	case PORT_ABSENT:
		*state = PORT_STOPPED;
		return add(names[i], arguments[i]) == 0 &&
		       rte_eth_dev_get_port_by_name(names[i], &port[i]) == 0;
	case PORT_STOPPED:
		*state = below(3) != 0 ? PORT_RUNNING : PORT_ABSENT;
		return *state == PORT_RUNNING ? setup(i, &plain) == 0 : rte_vdev_uninit(names[i]) == 0;
	default:
		*state = PORT_STOPPED;
		return rte_eth_dev_stop(port[i]) == 0;
	}
}

/** Ports come and go in any order while the other one runs. */
static void test_hotplug(void)
{
	const struct rte_ether_addr mac[2] = {*mac_of(0), *mac_of(1)};
	enum state state[2] = {PORT_RUNNING, PORT_RUNNING};
	uint8_t frame[200];
	bool good = true;
	unsigned int passed = 0;

	restart(&plain);
	for (unsigned int k = 0; k < 200; k++) {
		unsigned int i = below(2);

		good = change(i, &state[i]) && good;
		for (unsigned int n = 0; state[1 - i] == PORT_RUNNING && n < 3; n++) {
			make(frame, sizeof(frame), 1 - i, &mac[i]);
			good = give(1 - i, 0, packet_of(frame, sizeof(frame), true)) && good;
		}
		if (state[0] == PORT_RUNNING && state[1] == PORT_RUNNING)
			passed += receive_all(i);
	}
	for (unsigned int i = 0; i < 2; i++)
		while (state[i] != PORT_STOPPED)
			good = change(i, &state[i]) && good;
	restart(&plain);
	receive_all(1); /* what was under way */
	ok(good && passed > 0 && arrives(mac_of(1), 100), "ports come and go in any order");
}

static void test_leaks(void)
{
	for (unsigned int i = 0; i < 2; i++)
		rte_eth_dev_stop(port[i]);
	ok(rte_mempool_avail_count(pool) == MBUFS, "no mbuf is lost");
	ok(rte_vdev_uninit("net_memfab0") == 0 && rte_vdev_uninit("net_memfab1") == 0 &&
		   rte_eth_dev_count_avail() == 0,
	   "ports are closed");
}

static int start_eal(const char *program)
{
	char prefix[64], name[256];
	const char *args[] = {name,
			      "--no-huge",
			      "-m",
			      "128",
			      "--no-shconf",
			      "--no-pci",
			      "-l",
			      "0",
			      "--no-telemetry",
			      "--file-prefix",
			      prefix,
			      "--log-level",
			      "pmd.net.memfab:critical"};

	snprintf(name, sizeof(name), "%s", program);
	snprintf(prefix, sizeof(prefix), "net-port-%d", (int)getpid());
	return rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);

	if (argc < 2 || start_eal(argv[0]) < 0) {
		printf("1..0 # SKIP EAL does not start\n");
		return 0;
	}
	fabric = argv[1];
	printf("# seed %lu\n", (unsigned long)seed);
	mf_rng_init(&rng, seed, "net_port", 0);
	pool = rte_pktmbuf_pool_create("packets", MBUFS, 0, 0, 2176, SOCKET_ID_ANY);
	if (pool == NULL || add("net_memfab0", "fabric=@,node=eth0") != 0 ||
	    add("net_memfab1", "fabric=@,node=eth1") != 0 ||
	    rte_eth_dev_get_port_by_name("net_memfab0", &port[0]) != 0 ||
	    rte_eth_dev_get_port_by_name("net_memfab1", &port[1]) != 0) {
		printf("Bail out! there are no ports\n");
		return 1;
	}
	test_sizes();
	test_lengths();
	test_scatter();
	test_mtu();
	test_filter();
	test_rss();
	test_overrun();
	test_pressure();
	test_no_mbufs(15);
	test_no_mbufs(8);
	test_tiny_pool();
	test_loopback();
	test_xstats();
	test_link();
	test_arguments();
	test_hotplug();
	test_leaks();
	printf("1..%u\n", cases);
	rte_eal_cleanup();
	return failures != 0;
}
