/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts back to back under the wall clock's settings, on one core: time of an operation, both ends
 * and all blocks included. /N/ are granted at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mf_host.h"

#define DEPTH 32

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct mf_host *host_create(uint16_t node, struct mf_memory *memory)
{
	struct mf_host_config c = {.node = node,
				   .nodes = 2,
				   .compute = true,
				   .x = 16,
				   .chunk = 4096,
				   .queue = 256,
				   .read_timeout = MF_MS(10),
				   .write_timeout = MF_MS(10),
				   .memory_enabled = true};

	c.memory_ops = memory ? &mf_memory_flat : NULL;
	c.memory = memory;
	c.ber_window = MF_US(125);
	c.mux = (struct mf_mux_config){
		.policy = MF_MUX_MEMORY_FIRST, .memory_blocks = 16384, .memory_items = 1024, .quantum = 64};
	return mf_host_new(&c);
}

static void grant(struct mf_host *to, mf_time now, uint64_t notify)
{
	struct mf_span span = {.start = now};
	struct mf_msg m;

	mf_proto_get_single(notify, &m);
	m.kind = MF_GRANT;
	mf_span_put(&span, MF_SYNC_CTRL, mf_proto_put_single(&m));
	mf_host_rx(to, now, &span);
}

/** Hands on spans as they are: an /N/ says nothing to a host. Grants each /N/. */
static void pass(struct mf_host *from, struct mf_host *to, mf_time now, bool notifies)
{
	struct mf_span span;

	while (mf_host_tx(from, now, MF_SPAN_MAX, &span)) {
		for (unsigned int i = 0; notifies && i < span.count; i++)
			if (span.sync[i] == MF_SYNC_CTRL && mf_block_type(span.word[i]) == MF_BT_N)
				grant(from, now, span.word[i]);
		mf_host_rx(to, now, &span);
	}
}

static void bench(const char *name, struct mf_op op, unsigned int total)
{
	struct mf_memory_config mc = {.size = 1 << 20, .numa_node = -1};
	struct mf_memory *memory = mf_memory_flat.create(&mc);
	struct mf_host *a = host_create(0, NULL), *b = host_create(1, memory);
	unsigned int submitted = 0, done = 0;
	struct mf_completion c[DEPTH];
	uint8_t *buf = calloc(DEPTH, 65536);
	double start = seconds();
	mf_time now = 0;

	while (done < total) {
		now += MF_NS(100);
		for (; submitted < total && submitted - done < DEPTH; submitted++) {
			op.addr = submitted % 128 * 64;
			op.buf = buf + submitted % DEPTH * op.len;
			mf_host_submit(a, now, &op);
		}
		pass(a, b, now, op.kind == MF_OP_WRITE || op.kind == MF_OP_WRITE_ACK);
		pass(b, a, now, false);
		mf_host_run(a, now);
		mf_host_run(b, now);
		done += mf_host_completions(a, now, c, DEPTH);
	}
	printf("%-14s %7.1f ns\n", name, (seconds() - start) / total * 1e9);
	mf_host_free(a);
	mf_host_free(b);
	mf_memory_flat.destroy(memory);
	free(buf);
}

static void bench_idle(void)
{
	struct mf_host *a = host_create(0, NULL);
	unsigned int polls = 20000000;
	double start = seconds();

	for (unsigned int i = 0; i < polls; i++)
		mf_host_run(a, i);
	printf("%-14s %7.1f ns\n", "idle run", (seconds() - start) / polls * 1e9);
	mf_host_free(a);
}

int main(void)
{
	mf_proto_select(512);
	bench("read 64", (struct mf_op){.kind = MF_OP_READ, .node = 1, .len = 64}, 2000000);
	bench("read 4096", (struct mf_op){.kind = MF_OP_READ, .node = 1, .len = 4096}, 200000);
	bench("write 64", (struct mf_op){.kind = MF_OP_WRITE, .node = 1, .len = 64}, 2000000);
	bench("write ack 64", (struct mf_op){.kind = MF_OP_WRITE_ACK, .node = 1, .len = 64}, 2000000);
	bench("fetch and add", (struct mf_op){.kind = MF_OP_RMW, .rmw = MF_RMW_FADD, .node = 1}, 2000000);
	bench_idle();
	return 0;
}
