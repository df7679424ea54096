/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message through both ends of a carried link, without a port: put, sealed in a link frame, copied as into
 * the port's buffer, checked, taken. The ends answer each other, as in a closed loop, so nothing but DATA
 * goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "link/mf_link.h"

#define ROUNDS 256

struct link_param {
	const char *name;
	const char *what;
	unsigned int blocks; /**< of a message */
	unsigned int batch; /**< messages that are put before a frame is asked for */
	double goal; /**< ns a message; 0: none */
	const char *beside;
};

struct link {
	const struct bench_env *env;
	const struct link_param *param;
	struct mf_link *end[2];
	mf_time now;
	uint64_t put, taken;
	struct mf_span span;
	uint8_t buffer[MF_LINK_FRAME_MAX + 64] __attribute__((aligned(64)));
};

/** All that an end has to send, to the other. */
static void carry(struct link *l, int from)
{
	const uint8_t *frame;
	uint16_t len;

	while ((frame = mf_link_tx(l->end[from], l->now, &len)) != NULL) {
		memcpy(l->buffer, frame, len);
		if (mf_link_frame_check(l->buffer, len, MF_LINK_ETHERTYPE) == MF_LINK_GOOD)
			mf_link_rx(l->end[!from], l->now, l->buffer);
	}
}

static uint64_t link_step(void *ctx)
{
	struct link *l = ctx;
	unsigned int batch = l->param->batch;
	struct mf_span *s;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		l->now += MF_NS(500);
		for (unsigned int k = 0; k < batch; k++)
			mf_link_put(l->end[i % 2], &l->span);
		l->put += batch * l->span.count;
		carry(l, i % 2);
		while ((s = mf_link_take(l->end[!(i % 2)])) != NULL)
			l->taken += s->count;
	}
	return ROUNDS * batch;
}

static void link_close(void *state)
{
	struct link *l = state;

	mf_link_free(l->end[0]);
	mf_link_free(l->end[1]);
	free(l);
}

static void *link_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct link *l = aligned_alloc(64, (sizeof(*l) + 63) / 64 * 64);
	struct mf_rng rng;

	if (l == NULL)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->env = env;
	l->param = line->param;
	mf_rng_init(&rng, 1, "link", 0);
	for (unsigned int i = 0; i < l->param->blocks; i++)
		mf_span_put(&l->span, i == 0 ? MF_SYNC_CTRL : MF_SYNC_DATA, mf_rng_next(&rng));
	for (int i = 0; i < 2; i++) {
		struct mf_link_config c;

		mf_link_config_default(&c);
		c.switch_end = i;
		c.node = i ? MF_LINK_NODE_SWITCH : 0;
		c.name = "bench";
		c.epoch = c.fabric = 1;
		c.period = 640;
		l->end[i] = mf_link_new(&c, 0);
	}
	for (int i = 0; i < 4 && l->end[0] != NULL && l->end[1] != NULL; i++)
		carry(l, i % 2);
	if (l->end[0] != NULL && l->end[1] != NULL && mf_link_up(l->end[0]) && mf_link_up(l->end[1]))
		return l;
	snprintf(why, BENCH_REASON, "cannot be set up");
	link_close(l);
	return NULL;
}

static int link_run(void *state, struct bench_sample *out, char *why)
{
	struct link *l = state;
	double messages = bench_loop(l->env, NULL, link_step, l, out);

	out->value = out->cpu * 1e9 / messages;
	if (l->taken == l->put && mf_link_stats(l->end[0])->tx_replayed_frames == 0)
		return 0;
	snprintf(why, BENCH_REASON, "%lu of %lu blocks came through", (unsigned long)l->taken,
		 (unsigned long)l->put);
	return -EIO;
}

static const struct bench_ops link_ops = {.open = link_open, .run = link_run, .close = link_close};

void bench_link(struct bench_suite *s)
{
	static const struct link_param param[] = {
		{"request", "a request", 2, 1, 100, "reference.memcpy.64.ns"},
		{"64", "a chunk of 64 B", 10, 1, 100, "reference.memcpy.64.ns"},
		{"64.batch", "a chunk of 64 B, 32 at a time", 10, 32, 0, "reference.memcpy.64.ns"},
		{"4k", "a chunk of 4 KiB", 514, 1, 1000, "reference.memcpy.4096.ns"},
	};

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
		struct bench_line l = {.unit = "ns", .crosses = -1, .ops = &link_ops, .param = &param[i]};

		snprintf(l.name, sizeof(l.name), "link.%s", param[i].name);
		snprintf(l.what, sizeof(l.what), "both ends of a carried link, %s", param[i].what);
		l.beside[0] = param[i].beside;
		l.goal = param[i].goal;
		l.goal_kind = l.goal > 0 ? BENCH_GOAL : BENCH_NO_GOAL;
		bench_add(s, &l);
	}
}
