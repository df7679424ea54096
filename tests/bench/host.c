/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts back to back under the wall clock's settings: both ends of an operation and all its blocks,
 * without a switch. /N/ are granted at once.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "systems/edm/host/mf_host.h"

#define DEPTH 32
#define OPERATIONS 1024 /* of a step */

struct host_param {
	struct mf_op op;
	const char *name, *what, *beside;
};

struct host {
	const struct bench_env *env;
	struct mf_op op;
	struct mf_memory *memory;
	struct mf_host *a, *b;
	mf_time now;
	uint64_t submitted, done, failed;
	uint8_t *buf;
};

static struct mf_host *make_host(uint16_t node, struct mf_memory *memory)
{
	struct mf_host_config c = {.node = node,
				   .nodes = 2,
				   .compute = true,
				   .x = 16,
				   .chunk = 4096,
				   .queue = 256,
				   .read_timeout = MF_MS(10),
				   .write_timeout = MF_MS(10),
				   .memory_enabled = true,
				   .ber_window = MF_US(125)};

	c.memory_ops = memory != NULL ? &mf_memory_flat : NULL;
	c.memory = memory;
	c.mux = (struct mf_mux_config){.policy = MF_MUX_MEMORY_FIRST,
				       .memory_blocks = 16384,
				       .memory_items = 1024,
				       .quantum = 64,
				       .memory_enabled = true};
	return mf_host_new(&c);
}

/** Takes the /N/ out of a span, and grants them. */
static void grant(struct mf_host *from, mf_time now, struct mf_span *span)
{
	struct mf_span back = {.start = now};
	unsigned int kept = 0;

	for (unsigned int i = 0; i < span->count; i++) {
		struct mf_msg m;

		if (span->sync[i] == MF_SYNC_CTRL && mf_block_type(span->word[i]) == MF_BT_N) {
			mf_proto_get_single(span->word[i], &m);
			m.kind = MF_GRANT;
			mf_span_put(&back, MF_SYNC_CTRL, mf_proto_put_single(&m));
			continue;
		}
		span->sync[kept] = span->sync[i];
		span->word[kept++] = span->word[i];
	}
	span->count = (uint16_t)kept;
	if (back.count > 0)
		mf_host_rx(from, now, &back);
}

static void pass(struct host *h, struct mf_host *from, struct mf_host *to)
{
	bool writes = h->op.kind == MF_OP_WRITE || h->op.kind == MF_OP_WRITE_ACK;
	struct mf_span span;

	while (mf_host_tx(from, h->now, MF_SPAN_MAX, &span) != 0) {
		if (writes)
			grant(from, h->now, &span);
		if (span.count > 0)
			mf_host_rx(to, h->now, &span);
	}
}

static void submit(struct host *h)
{
	while (h->submitted - h->done < DEPTH) {
		h->op.addr = h->submitted % 128 * 64;
		h->op.buf = h->buf + h->submitted % DEPTH * h->op.len;
		if (mf_host_submit(h->a, h->now, &h->op) != 0)
			break;
		h->submitted++;
	}
}

static uint64_t host_step(void *ctx)
{
	struct host *h = ctx;
	struct mf_completion c[DEPTH];
	uint64_t before = h->done;

	while (h->done - before < OPERATIONS) {
		unsigned int n;

		h->now += MF_NS(100);
		submit(h);
		pass(h, h->a, h->b);
		pass(h, h->b, h->a);
		mf_host_run(h->a, h->now);
		mf_host_run(h->b, h->now);
		n = mf_host_completions(h->a, h->now, c, DEPTH);
		for (unsigned int i = 0; i < n; i++)
			h->failed += c[i].status != MF_OK;
		h->done += n;
	}
	return h->done - before;
}

static void host_close(void *state)
{
	struct host *h = state;

	if (h->a != NULL)
		mf_host_free(h->a);
	if (h->b != NULL)
		mf_host_free(h->b);
	if (h->memory != NULL)
		mf_memory_flat.destroy(h->memory);
	free(h->buf);
	free(h);
}

static void *host_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct mf_memory_config memory = {.size = 1 << 20, .numa_node = -1};
	const struct host_param *param = line->param;
	struct host *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	h->env = env;
	h->op = param->op;
	h->op.node = 1;
	h->memory = mf_memory_flat.create(&memory);
	h->buf = calloc(DEPTH, h->op.len > 8 ? h->op.len : 8);
	h->a = make_host(0, NULL);
	h->b = h->memory != NULL ? make_host(1, h->memory) : NULL;
	if (h->a != NULL && h->b != NULL && h->buf != NULL)
		return h;
	snprintf(why, BENCH_REASON, "no memory");
	host_close(h);
	return NULL;
}

static int host_run(void *state, struct bench_sample *out, char *why)
{
	struct host *h = state;

	out->value = 1e9 / bench_loop(h->env, NULL, host_step, h, out);
	out->value *= out->cpu;
	if (h->failed == 0)
		return 0;
	snprintf(why, BENCH_REASON, "%lu operations failed", (unsigned long)h->failed);
	return -1;
}

static const struct bench_ops host_ops = {.open = host_open, .run = host_run, .close = host_close};

void bench_host(struct bench_suite *s)
{
	static const struct host_param param[] = {
		{{.kind = MF_OP_READ, .len = 64}, "host.read64", "64 B read", "reference.memcpy.64.ns"},
		{{.kind = MF_OP_READ, .len = 4096}, "host.read4k", "4 KiB read", "reference.memcpy.4096.ns"},
		{{.kind = MF_OP_WRITE, .len = 64}, "host.write64", "64 B write", "reference.memcpy.64.ns"},
		{{.kind = MF_OP_WRITE, .len = 4096},
		 "host.write4k",
		 "4 KiB write",
		 "reference.memcpy.4096.ns"},
		{{.kind = MF_OP_WRITE_ACK, .len = 64}, "host.write64.ack", "64 B acknowledged write", NULL},
		{{.kind = MF_OP_RMW, .rmw = MF_RMW_FADD}, "host.fadd", "fetch-and-add", NULL},
	};

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
		struct bench_line l = {.unit = "ns",
				       .crosses = -1,
				       .beside = {param[i].beside},
				       .ops = &host_ops,
				       .param = &param[i]};

		snprintf(l.name, sizeof(l.name), "%s", param[i].name);
		snprintf(l.what, sizeof(l.what), "host, both ends of a %s, depth %d, X 16", param[i].what,
			 DEPTH);
		bench_add(s, &l);
	}
}
