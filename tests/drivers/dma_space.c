/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dma_memfab as an address space, in TAP: test_dma_space FABRIC FOLDER EAL-OPTIONS. The program is one node,
 * makes a space and reads what the device, at another node, has written there; and the other way round.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dmadev.h>
#include <rte_eal.h>

#include "client/memfab.h"
#include "rte_pmd_memfab_dma.h"

#define SIZE (256U << 10)
#define PATH_LEN 4096

static unsigned int cases, failed;
static const char *fabric, *folder;
static struct memfab *m;
static struct memfab_queue *q;
static struct memfab_space *space;
static uint64_t ptr;
static int16_t dev;
static uint8_t out[SIZE], in[SIZE];

static void ok(bool good, const char *what)
{
	cases++;
	failed += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", cases, what);
	fflush(stdout);
}

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

/** A file with the first octets of a token. */
static void put_token(const char *name, size_t len)
{
	struct memfab_token token;
	char path[PATH_LEN];
	FILE *file;

	memfab_space_token(space, &token);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	if (file == NULL || fwrite(&token, 1, len, file) != len || fclose(file) != 0)
		exit(1);
}

/** @param more  behind the file of the fabric */
static int probe(const char *token, const char *more)
{
	char args[3 * PATH_LEN];

	snprintf(args, sizeof(args), "fabric=%s,node=cn0,space=%s/%s%s", fabric, folder, token, more);
	return rte_vdev_init("dma_memfab0", args);
}

/** Channels of these directions. */
static bool start(const enum rte_dma_direction *direction, uint16_t n)
{
	const struct rte_dma_conf conf = {.nb_vchans = n};
	bool good;

	dev = (int16_t)rte_dma_get_dev_id_by_name("dma_memfab0");
	good = dev >= 0 && rte_dma_configure(dev, &conf) == 0;
	for (uint16_t i = 0; i < n && good; i++) {
		struct rte_dma_vchan_conf v = {.direction = direction[i], .nb_desc = 16};

		v.src_port.port_type =
			direction[i] == RTE_DMA_DIR_DEV_TO_MEM ? RTE_DMA_PORT_PCIE : RTE_DMA_PORT_NONE;
		v.dst_port.port_type =
			direction[i] == RTE_DMA_DIR_MEM_TO_DEV ? RTE_DMA_PORT_PCIE : RTE_DMA_PORT_NONE;
		good = rte_dma_vchan_setup(dev, i, &v) == 0;
	}
	return good && rte_dma_start(dev) == 0;
}

/** @return what became of it */
static enum rte_dma_status_code copy(uint16_t vchan, uint64_t src, uint64_t dst, uint32_t len)
{
	enum rte_dma_status_code status = RTE_DMA_STATUS_ERROR_UNKNOWN;

	if (rte_dma_copy(dev, vchan, src, dst, len, RTE_DMA_OP_FLAG_SUBMIT) < 0)
		return RTE_DMA_STATUS_NOT_ATTEMPTED;
	while (rte_dma_completed_status(dev, vchan, 1, NULL, &status) == 0)
		;
	return status;
}

static void copies(void)
{
	static const enum rte_dma_direction all[] = {RTE_DMA_DIR_MEM_TO_DEV, RTE_DMA_DIR_DEV_TO_MEM,
						     RTE_DMA_DIR_MEM_TO_MEM};
	uint64_t base, size;
	unsigned int good = 0;

	ok(start(all, 3), "configure, set up, start");
	ok(rte_pmd_memfab_dma_window(dev, &base, &size) == -ENOTSUP, "there is no window");
	for (unsigned int i = 0; i < SIZE; i++)
		out[i] = (uint8_t)(i * 7 + i / 256);
	ok(copy(0, at(out), ptr, SIZE) == RTE_DMA_STATUS_SUCCESSFUL, "MEM_TO_DEV");
	ok(memfab_rread(q, space, ptr, in, SIZE) == 0 && memcmp(in, out, SIZE) == 0,
	   "another node finds it in the space");
	for (unsigned int i = 0; i < SIZE; i++)
		out[i] = (uint8_t)(out[i] + 1);
	memset(in, 0, SIZE);
	ok(memfab_rwrite(q, space, ptr, out, SIZE) == 0 &&
		   copy(1, ptr, at(in), SIZE) == RTE_DMA_STATUS_SUCCESSFUL && memcmp(in, out, SIZE) == 0,
	   "DEV_TO_MEM, of what another node has written");
	memset(in, 0, SIZE);
	ok(copy(2, at(out), at(in), SIZE) == RTE_DMA_STATUS_SUCCESSFUL && memcmp(in, out, SIZE) == 0,
	   "MEM_TO_MEM");
	for (unsigned int i = 0; i < 16; i++)
		good += rte_dma_fill(dev, 0, 0x0101010101010101 * i, ptr + i * 999, 999,
				     RTE_DMA_OP_FLAG_SUBMIT) >= 0;
	while (good > 0)
		good -= rte_dma_completed(dev, 0, 16, NULL, &(bool){false});
	memset(in, 0xff, SIZE);
	ok(copy(1, ptr, at(in), 16 * 999) == RTE_DMA_STATUS_SUCCESSFUL, "fills");
	for (unsigned int i = 0; i < 16 * 999; i++)
		good += in[i] == i / 999;
	ok(good == 16 * 999, "each is where it belongs");
}

static void refused(void)
{
	ok(copy(0, at(out), 0, 8) == RTE_DMA_STATUS_INVALID_DST_ADDR, "no pointer");
	ok(copy(1, ptr | 0xffffffffffff, at(in), 8) == RTE_DMA_STATUS_INVALID_SRC_ADDR,
	   "out of the addresses of a node");
	ok(copy(1, ptr + (UINT64_C(1) << 48), at(in), 8) != RTE_DMA_STATUS_SUCCESSFUL, "another node");
	ok(memfab_rfree(q, space, ptr + SIZE / 2, SIZE / 2) == 0 &&
		   copy(1, ptr + SIZE / 2 + 8, at(in), 8) == RTE_DMA_STATUS_INVALID_ADDR,
	   "pages that were freed");
	ok(copy(1, ptr + 8, at(in), 8) == RTE_DMA_STATUS_SUCCESSFUL, "and those that were not");
	ok(memfab_space_grant(q, space, memfab_node(m, "cn0"), MEMFAB_RIGHTS_NONE) == 0 &&
		   copy(1, ptr, at(in), 8) == RTE_DMA_STATUS_INVALID_ADDR &&
		   copy(0, at(out), ptr, 8) == RTE_DMA_STATUS_INVALID_ADDR,
	   "a space whose rights were taken");
	ok(rte_dma_stop(dev) == 0 && rte_vdev_uninit("dma_memfab0") == 0, "the device goes");
	ok(probe("token", "") != 0, "a node without rights");
	ok(memfab_space_grant(q, space, memfab_node(m, "cn0"), MEMFAB_RIGHTS_READ) == 0 &&
		   probe("token", "") == 0,
	   "a node that may read");
}

static void read_only(void)
{
	static const enum rte_dma_direction both[] = {RTE_DMA_DIR_MEM_TO_DEV, RTE_DMA_DIR_DEV_TO_MEM};
	struct rte_dma_info info;

	ok(start(both, 2) && rte_dma_info_get(dev, &info) == 0 &&
		   (info.dev_capa & RTE_DMA_CAPA_MEM_TO_MEM) == 0,
	   "has no stage");
	ok(copy(1, ptr, at(in), 8) == RTE_DMA_STATUS_SUCCESSFUL, "reads");
	ok(copy(0, at(out), ptr, 8) == RTE_DMA_STATUS_INVALID_ADDR, "and does not write");
	ok(rte_dma_stop(dev) == 0 && rte_vdev_uninit("dma_memfab0") == 0, "goes");
}

static void files(void)
{
	ok(probe("nothing", "") != 0, "no file");
	put_token("short", sizeof(struct memfab_token) - 1);
	ok(probe("short", "") != 0, "half a token");
	ok(probe("token", ",target=mn") != 0, "a target beside a space");
	ok(probe("token", ",window=4096") != 0, "a window beside a space");
}

int main(int argc, char **argv)
{
	char err[MEMFAB_ERR_LEN];

	if (argc < 4)
		return 2;
	fabric = argv[1];
	folder = argv[2];
	argv[2] = argv[0];
	if (rte_eal_init(argc - 2, argv + 2) < 0) {
		printf("1..0 # SKIP EAL does not start\n");
		return 0;
	}
	if (memfab_open(fabric, NULL, &m, err, sizeof(err)) != 0 ||
	    memfab_queue_new(m, "cn1", 64, &q, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	ok(memfab_space_new(q, NULL, 0, &space) == 0 && memfab_ralloc(q, space, SIZE, 0, &ptr) == 0 &&
		   memfab_space_grant(q, space, memfab_node(m, "cn0"), MEMFAB_RIGHTS_WRITE) == 0,
	   "a space");
	put_token("token", sizeof(struct memfab_token));
	ok(probe("token", "") == 0, "a device of it");
	if (failed == 0) {
		copies();
		refused();
		read_only();
		files();
	}
	ok(memfab_space_end(q, space) == 0, "the space ends");
	memfab_queue_free(q);
	memfab_close(m);
	rte_eal_cleanup();
	printf("1..%u\n", cases);
	return failed > 0;
}
