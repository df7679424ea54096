/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory message through the multiplexer, as a host queues it, and through the demultiplexer at the
 * other end; without frames, and between the blocks of frames.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "systems/edm/proto/mf_proto.h"

#define BATCH 8 /* messages that wait at a time */
#define ROUNDS 16
#define MESSAGES 64 /* different ones, in turn */
#define ITEMS 16
#define FRAME 1500
#define CHUNK_MAX 4096

struct mux_param {
	uint32_t octets;
	bool frames;
};

struct message {
	unsigned int blocks;
	uint64_t word[2 + CHUNK_MAX / 8];
};

struct mux {
	const struct bench_env *env;
	const struct mux_param *param;
	struct mf_mux *tx;
	struct mf_demux rx;
	mf_time now;
	unsigned int next;
	uint64_t sent, received, frames;
	uint8_t frame[FRAME];
	struct message message[MESSAGES];
};

static void queue(struct mux *m)
{
	for (unsigned int i = 0; i < BATCH; i++) {
		const struct message *msg = &m->message[m->next++ % MESSAGES];
		uint64_t *word = mf_mux_put(m->tx, m->now, 0, msg->blocks, 0);

		if (word == NULL)
			break;
		memcpy(word, msg->word, msg->blocks * sizeof(*word));
		m->sent++;
	}
	if (m->param->frames)
		mf_mux_frame(m->tx, m->now, m->frame, FRAME);
}

static void take(struct mux *m, const struct mf_span *span)
{
	struct mf_rx_item item[ITEMS];
	unsigned int pos = 0, n;

	while ((n = mf_demux_span(&m->rx, span, &pos, item, ITEMS)) != 0)
		for (unsigned int i = 0; i < n; i++) {
			m->received += item[i].kind == MF_RX_RUN && item[i].ends;
			m->frames += item[i].kind == MF_RX_FRAME;
		}
}

static uint64_t mux_step(void *ctx)
{
	struct mux *m = ctx;
	uint64_t before = m->sent;
	struct mf_span span;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		m->now += MF_NS(100);
		queue(m);
		while (mf_mux_pull(m->tx, m->now, MF_SPAN_MAX, &span) != 0) {
			span.start = m->now;
			take(m, &span);
		}
	}
	return m->sent - before;
}

static void mux_close(void *state)
{
	struct mux *m = state;

	if (m->tx != NULL)
		mf_mux_free(m->tx);
	mf_demux_fini(&m->rx);
	free(m);
}

static void make_messages(struct mux *m)
{
	static const struct mf_proto check16;
	uint8_t data[CHUNK_MAX];
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "mux", 0);
	for (unsigned int i = 0; i < FRAME; i++)
		m->frame[i] = (uint8_t)mf_rng_next(&rng);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct mf_msg msg = {.kind = MF_RRES,
				     .id = (uint8_t)i,
				     .src = 1,
				     .dst = 2,
				     .size = m->param->octets,
				     .last = true};

		for (unsigned int k = 0; k < CHUNK_MAX; k++)
			data[k] = (uint8_t)mf_rng_next(&rng);
		m->message[i].blocks = mf_proto_put_chunk(&check16, &msg, data, m->message[i].word);
	}
}

static void *mux_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	const struct mf_mux_config c = {.policy = MF_MUX_FAIR,
					.memory_blocks = 1 << 14,
					.memory_items = 1 << 10,
					.frames = 64,
					.frame_bytes = 1 << 18,
					.quantum = 16,
					.memory_enabled = true};
	struct mux *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->env = env;
	m->param = line->param;
	make_messages(m);
	m->tx = mf_mux_new(&c);
	if (m->tx != NULL && mf_demux_init(&m->rx, true, 0, MF_US(125)) == 0)
		return m;
	snprintf(why, BENCH_REASON, "cannot be set up");
	mux_close(m);
	return NULL;
}

static int mux_run(void *state, struct bench_sample *out, char *why)
{
	struct mux *m = state;
	double messages = bench_loop(m->env, NULL, mux_step, m, out);

	out->value = out->cpu * 1e9 / messages;
	if (m->received == m->sent && (m->frames > 0) == m->param->frames)
		return 0;
	snprintf(why, BENCH_REASON, "%lu of %lu messages came through", (unsigned long)m->received,
		 (unsigned long)m->sent);
	return -EIO;
}

static const struct bench_ops mux_ops = {.open = mux_open, .run = mux_run, .close = mux_close};

void bench_mux(struct bench_suite *s)
{
	static const struct mux_param param[] = {{64, false}, {4096, false}, {64, true}};

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
		struct bench_line l = {.unit = "ns", .crosses = -1, .ops = &mux_ops, .param = &param[i]};

		snprintf(l.name, sizeof(l.name), "mux.%s%s", param[i].octets == 64 ? "64" : "4k",
			 param[i].frames ? ".frames" : "");
		snprintf(l.what, sizeof(l.what), "mux and demux, a chunk of %u B%s", param[i].octets,
			 param[i].frames ? ", an eighth of a frame" : "");
		l.beside[0] = param[i].octets == 64 ? "reference.memcpy.64.ns" : "reference.memcpy.4096.ns";
		bench_add(s, &l);
	}
}
