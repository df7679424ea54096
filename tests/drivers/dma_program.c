/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program finds in dma_memfab, in TAP: test_dma EAL-OPTIONS, among them a vdev whose window is 1 MiB.
 * The errors are those of the device's side, which dpdk-test does not know.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_dmadev.h>
#include <rte_eal.h>

#include "rte_pmd_memfab_dma.h"

#define WINDOW (1U << 20)
#define PARTS 64

static unsigned int cases, failed;
static int16_t dev;

static void ok(bool good, const char *what)
{
	cases++;
	failed += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", cases, what);
}

static void start(uint16_t vchans, const enum rte_dma_direction *direction, uint16_t descriptors)
{
	const struct rte_dma_conf conf = {.nb_vchans = vchans};
	bool good = rte_dma_configure(dev, &conf) == 0;

	for (uint16_t i = 0; i < vchans && good; i++) {
		struct rte_dma_vchan_conf v = {.direction = direction[i], .nb_desc = descriptors};

		/* The one kind of port that dmadev has a name for. */
		v.src_port.port_type =
			direction[i] == RTE_DMA_DIR_DEV_TO_MEM ? RTE_DMA_PORT_PCIE : RTE_DMA_PORT_NONE;
		v.dst_port.port_type =
			direction[i] == RTE_DMA_DIR_MEM_TO_DEV ? RTE_DMA_PORT_PCIE : RTE_DMA_PORT_NONE;

		good = rte_dma_vchan_setup(dev, i, &v) == 0;
	}
	ok(good && rte_dma_start(dev) == 0, "configure, set up, start");
	if (failed > 0)
		exit(1);
}

/** Waits by asking for completions alone. @return how many came before an error */
static unsigned int wait_for(uint16_t vchan, unsigned int n, bool *error)
{
	unsigned int got = 0;

	*error = false;
	while (got < n && !*error)
		got += rte_dma_completed(dev, vchan, (uint16_t)(n - got), NULL, error);
	return got;
}

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

/** Written to the device by one channel, read back by another one: completed is there for all to see. */
static void there_and_back(uint8_t *out, uint8_t *in)
{
	const uint32_t part = WINDOW / PARTS;
	unsigned int done;
	bool error;

	for (unsigned int i = 0; i < WINDOW; i++)
		out[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned int i = 0; i < PARTS; i++)
		rte_dma_copy(dev, 0, at(out + i * part), (uint64_t)i * part, part, 0);
	ok(rte_dma_burst_capacity(dev, 0) == 0, "no room behind as many as there are descriptors");
	ok(rte_dma_copy(dev, 0, at(out), 0, 8, 0) == -ENOSPC, "and one more is refused");
	rte_dma_submit(dev, 0);
	done = wait_for(0, PARTS, &error);
	ok(done == PARTS && !error, "MEM_TO_DEV");
	for (unsigned int i = 0; i < PARTS; i++)
		rte_dma_copy(dev, 1, (uint64_t)i * part, at(in + i * part), part,
			     i + 1 == PARTS ? RTE_DMA_OP_FLAG_SUBMIT : 0);
	done = wait_for(1, PARTS, &error);
	ok(done == PARTS && !error, "DEV_TO_MEM");
	ok(memcmp(in, out, WINDOW) == 0, "what was written is read");
}

static void through(uint8_t *out, uint8_t *in)
{
	bool error;

	memset(in, 0, WINDOW);
	rte_dma_copy(dev, 2, at(out), at(in), 200001, RTE_DMA_OP_FLAG_SUBMIT);
	ok(wait_for(2, 1, &error) == 1 && memcmp(in, out, 200001) == 0 && in[200001] == 0,
	   "MEM_TO_MEM, longer than the stage");
	rte_dma_copy(dev, 1, 0, at(in), WINDOW, RTE_DMA_OP_FLAG_SUBMIT);
	ok(wait_for(1, 1, &error) == 1 && memcmp(in, out, WINDOW) == 0, "which is no part of the window");
}

static bool is_filled(const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i] != i % 8 + 1)
			return false;
	return true;
}

static void fills(uint8_t *in)
{
	const uint64_t pattern = UINT64_C(0x0807060504030201);
	bool error;

	rte_dma_fill(dev, 0, pattern, 100, 5003, RTE_DMA_OP_FLAG_SUBMIT);
	ok(wait_for(0, 1, &error) == 1, "fill of the device");
	memset(in, 0, 6000);
	rte_dma_copy(dev, 1, 100, at(in), 5003, RTE_DMA_OP_FLAG_SUBMIT);
	ok(wait_for(1, 1, &error) == 1 && is_filled(in, 5003), "is there");
	memset(in, 0, 6000);
	rte_dma_fill(dev, 2, pattern, at(in), 5003, RTE_DMA_OP_FLAG_SUBMIT);
	ok(wait_for(2, 1, &error) == 1 && is_filled(in, 5003) && in[5003] == 0, "fill of memory");
}

/** Two good ones around each bad one; completed() stops before it, completed_status() says what it was. */
static void bad(uint16_t vchan, uint64_t src, uint64_t dst, uint32_t length,
		enum rte_dma_status_code expected, uint8_t *buf, const char *what)
{
	enum rte_dma_status_code status[2];
	struct rte_dma_stats before, after;
	uint64_t good_src = vchan == 1 ? 0 : at(buf), good_dst = vchan == 0 ? 0 : at(buf + 4096);
	unsigned int got, n = 0;
	uint16_t first, last;
	bool error;

	rte_dma_stats_get(dev, vchan, &before);
	first = (uint16_t)rte_dma_copy(dev, vchan, good_src, good_dst, 8, 0);
	rte_dma_copy(dev, vchan, src, dst, length, 0);
	rte_dma_copy(dev, vchan, good_src, good_dst, 8, RTE_DMA_OP_FLAG_FENCE | RTE_DMA_OP_FLAG_SUBMIT);
	got = wait_for(vchan, 3, &error);
	while (n < 2)
		n += rte_dma_completed_status(dev, vchan, (uint16_t)(2 - n), &last, status + n);
	rte_dma_stats_get(dev, vchan, &after);
	ok(got == 1 && error && status[0] == expected && status[1] == RTE_DMA_STATUS_SUCCESSFUL &&
		   last == (uint16_t)(first + 2) && after.errors == before.errors + 1 &&
		   after.completed == before.completed + 3 && after.submitted == before.submitted + 3,
	   what);
}

static void errors(uint8_t *buf)
{
	bad(0, 0, 0, 8, RTE_DMA_STATUS_INVALID_SRC_ADDR, buf, "no source");
	bad(0, at(buf), WINDOW, 1, RTE_DMA_STATUS_INVALID_DST_ADDR, buf, "behind the window");
	bad(0, at(buf), WINDOW - 1, 2, RTE_DMA_STATUS_INVALID_DST_ADDR, buf, "across its end");
	bad(0, at(buf), UINT64_MAX, 2, RTE_DMA_STATUS_INVALID_DST_ADDR, buf, "an address that wraps");
	bad(0, at(buf), 0, 0, RTE_DMA_STATUS_INVALID_LENGTH, buf, "nothing");
	bad(1, WINDOW, at(buf), 1, RTE_DMA_STATUS_INVALID_SRC_ADDR, buf, "a source behind the window");
	bad(1, 0, 0, 8, RTE_DMA_STATUS_INVALID_DST_ADDR, buf, "no destination");
	bad(2, at(buf), 0, 8, RTE_DMA_STATUS_INVALID_DST_ADDR, buf, "memory to nowhere");
}

/** The status alone brings the fabric on, as its caller may wait for nothing else. */
static void status(uint8_t *buf)
{
	enum rte_dma_vchan_status st = RTE_DMA_VCHAN_ACTIVE;
	unsigned int looks = 0;
	bool error;

	for (unsigned int i = 0; i < PARTS; i++)
		rte_dma_copy(dev, 2, at(buf), at(buf + 65536), 4096, i % 7 == 0 ? RTE_DMA_OP_FLAG_FENCE : 0);
	rte_dma_submit(dev, 2);
	while (st == RTE_DMA_VCHAN_ACTIVE && rte_dma_vchan_status(dev, 2, &st) == 0)
		looks++;
	ok(looks > 1 && st == RTE_DMA_VCHAN_IDLE && wait_for(2, PARTS, &error) == PARTS,
	   "active, then idle, by asking for the status");
}

static void stop_and_close(uint8_t *buf)
{
	struct rte_dma_stats stats;
	char text[2048] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	ok(f != NULL && rte_dma_dump(dev, f) == 0 && fclose(f) == 0 &&
		   strstr(text, "window: 0x0-0xfffff") != NULL,
	   "dump");
	rte_dma_copy(dev, 0, at(buf), 0, 4096, RTE_DMA_OP_FLAG_SUBMIT);
	rte_dma_copy(dev, 0, at(buf), 0, 4096, 0);
	ok(rte_dma_stop(dev) == 0, "stop with work");
	ok(rte_dma_stats_reset(dev, RTE_DMA_ALL_VCHAN) == 0 &&
		   rte_dma_stats_get(dev, RTE_DMA_ALL_VCHAN, &stats) == 0 && stats.submitted == 0 &&
		   stats.completed == 0 && stats.errors == 0,
	   "statistics are reset");
}

int main(int argc, char **argv)
{
	static const enum rte_dma_direction direction[] = {RTE_DMA_DIR_MEM_TO_DEV, RTE_DMA_DIR_DEV_TO_MEM,
							   RTE_DMA_DIR_MEM_TO_MEM};
	static const enum rte_dma_direction twice[] = {RTE_DMA_DIR_MEM_TO_DEV, RTE_DMA_DIR_DEV_TO_MEM,
						       RTE_DMA_DIR_MEM_TO_MEM, RTE_DMA_DIR_MEM_TO_MEM};
	uint8_t *out = malloc(WINDOW), *in = malloc(WINDOW);
	uint64_t base = 1, size = 0;

	if (rte_eal_init(argc, argv) < 0) {
		printf("1..0 # SKIP EAL does not start\n");
		return 0;
	}
	dev = rte_dma_next_dev(0);
	ok(dev >= 0 && rte_pmd_memfab_dma_window(dev, &base, &size) == 0 && base == 0 && size == WINDOW,
	   "the window");
	ok(rte_pmd_memfab_dma_window((int16_t)(dev + 1), &base, &size) == -EINVAL,
	   "of a device that is not there");
	start(3, direction, PARTS);
	there_and_back(out, in);
	through(out, in);
	fills(in);
	errors(out);
	status(out);
	stop_and_close(out);
	start(4, twice, PARTS);
	there_and_back(out, in);
	through(out, in);
	ok(rte_dma_stop(dev) == 0 && rte_dma_close(dev) == 0, "stop, close");
	printf("1..%u\n", cases);
	rte_eal_cleanup();
	free(out);
	free(in);
	return failed > 0;
}
