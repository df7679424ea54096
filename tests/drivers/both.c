/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_memfab and dma_memfab on one fabric in one process: ports at the nodes between which copies go, too.
 *
 *	test_both EAL-OPTIONS    in TAP; among them net_memfab0, net_memfab1 and dma_memfab0 of one file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dmadev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define ROUNDS 2000
#define LENGTH 3000
#define DESCRIPTORS 8
#define PATIENCE 1000000 /* polls without anything new */

static unsigned int cases, failed;
static uint16_t port[2];
static int16_t dma;
static struct rte_mempool *pool;

static void ok(bool good, const char *what)
{
	cases++;
	failed += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", cases, what);
	fflush(stdout);
}

static bool start_port(unsigned int i)
{
	char name[32];
	struct rte_eth_conf conf = {.rxmode = {.mtu = 4000, .offloads = RTE_ETH_RX_OFFLOAD_SCATTER}};

	snprintf(name, sizeof(name), "net_memfab%u", i);
	return rte_eth_dev_get_port_by_name(name, &port[i]) == 0 &&
	       rte_eth_dev_configure(port[i], 1, 1, &conf) == 0 &&
	       rte_eth_rx_queue_setup(port[i], 0, 512, SOCKET_ID_ANY, NULL, pool) == 0 &&
	       rte_eth_tx_queue_setup(port[i], 0, 512, SOCKET_ID_ANY, NULL) == 0 &&
	       rte_eth_dev_start(port[i]) == 0;
}

/** Channel 0 writes, channel 1 reads. */
static bool start_dma(void)
{
	const struct rte_dma_conf conf = {.nb_vchans = 2};
	struct rte_dma_vchan_conf v = {.direction = RTE_DMA_DIR_MEM_TO_DEV,
				       .nb_desc = DESCRIPTORS,
				       .dst_port = {.port_type = RTE_DMA_PORT_PCIE}};
	bool good;

	dma = (int16_t)rte_dma_get_dev_id_by_name("dma_memfab0");
	good = dma >= 0 && rte_dma_configure(dma, &conf) == 0 && rte_dma_vchan_setup(dma, 0, &v) == 0;
	v = (struct rte_dma_vchan_conf){.direction = RTE_DMA_DIR_DEV_TO_MEM,
					.nb_desc = DESCRIPTORS,
					.src_port = {.port_type = RTE_DMA_PORT_PCIE}};
	return good && rte_dma_vchan_setup(dma, 1, &v) == 0 && rte_dma_start(dma) == 0;
}

static void fill(uint8_t *out, unsigned int round)
{
	for (unsigned int i = 0; i < LENGTH; i++)
		out[i] = (uint8_t)(i * 5 + round);
}

static bool send_frame(unsigned int i, unsigned int round)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_ether_hdr *h = m != NULL ? (void *)rte_pktmbuf_append(m, 1000) : NULL;

	if (h == NULL)
		return false;
	memset(h, (int)(round & 0xff), 1000);
	rte_eth_macaddr_get(port[1 - i], &h->dst_addr);
	rte_eth_macaddr_get(port[i], &h->src_addr);
	h->ether_type = rte_cpu_to_be_16(0x88b6);
	if (rte_eth_tx_burst(port[i], 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/** @return how many frames have come that are as they were sent; others do not count */
static unsigned int receive(unsigned int i)
{
	struct rte_mbuf *m[32];
	unsigned int n = rte_eth_rx_burst(port[i], 0, m, 32), good = 0;

	for (unsigned int k = 0; k < n; k++) {
		const uint8_t *at = rte_pktmbuf_mtod(m[k], const uint8_t *);

		good += m[k]->data_len == 1000 && at[14] == at[999];
		rte_pktmbuf_free(m[k]);
	}
	return good;
}

/** Frames both ways while copies go there and back. */
static void at_once(void)
{
	static uint8_t out[LENGTH], in[LENGTH];
	unsigned int copies = 0, wrong = 0, sent[2] = {0}, got[2] = {0}, idle = 0;
	bool error = false, writing = true, under_way = false;

	while ((copies < ROUNDS || got[0] < sent[1] || got[1] < sent[0]) && idle++ < PATIENCE && !error) {
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int n = receive(i);

			if (sent[i] < ROUNDS && sent[i] < got[1 - i] + 64)
				sent[i] += send_frame(i, sent[i]);
			got[i] += n;
			idle = n > 0 ? 0 : idle;
		}
		if (copies == ROUNDS)
			continue;
		if (!under_way) {
			if (writing)
				fill(out, copies);
			under_way = rte_dma_copy(dma, !writing, writing ? (uintptr_t)out : 64 * copies,
						 writing ? 64 * copies : (uintptr_t)in, LENGTH,
						 RTE_DMA_OP_FLAG_SUBMIT) >= 0;
		} else if (rte_dma_completed(dma, !writing, 1, NULL, &error) == 1) {
			wrong += !writing && memcmp(in, out, LENGTH) != 0;
			copies += !writing;
			writing = !writing;
			under_way = false;
			idle = 0;
		}
	}
	ok(copies == ROUNDS && wrong == 0 && !error, "what is copied to the device is copied back");
	ok(sent[0] == ROUNDS && sent[1] == ROUNDS && got[0] == sent[1] && got[1] == sent[0],
	   "frames pass both ways meanwhile");
	printf("# %u copies there and back, %u and %u frames\n", copies, got[0], got[1]);
}

/** The fabric lives as long as any device is there. */
static void leave(void)
{
	static uint8_t in[LENGTH], out[LENGTH];
	bool error = false;

	ok(rte_eth_dev_stop(port[0]) == 0 && rte_vdev_uninit("net_memfab0") == 0, "a port goes");
	fill(out, 1);
	rte_dma_copy(dma, 0, (uintptr_t)out, 0, LENGTH, RTE_DMA_OP_FLAG_SUBMIT);
	while (rte_dma_completed(dma, 0, 1, NULL, &error) == 0 && !error)
		;
	rte_dma_copy(dma, 1, 0, (uintptr_t)in, LENGTH, RTE_DMA_OP_FLAG_SUBMIT);
	while (rte_dma_completed(dma, 1, 1, NULL, &error) == 0 && !error)
		;
	ok(!error && memcmp(in, out, LENGTH) == 0, "copies go on");
	ok(rte_dma_stop(dma) == 0 && rte_vdev_uninit("dma_memfab0") == 0, "the DMA device goes");
	for (unsigned int i = 0; i < 100; i++)
		receive(1);
	ok(rte_eth_dev_stop(port[1]) == 0 && rte_vdev_uninit("net_memfab1") == 0, "and the last port");
}

int main(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) < 0) {
		printf("1..0 # SKIP EAL does not start\n");
		return 0;
	}
	pool = rte_pktmbuf_pool_create("packets", 2047, 0, 0, 2176, SOCKET_ID_ANY);
	ok(pool != NULL && start_port(0) && start_port(1) && start_dma(), "two ports and a DMA device start");
	if (failed == 0) {
		at_once();
		leave();
	}
	printf("1..%u\n", cases);
	rte_eal_cleanup();
	return failed > 0;
}
