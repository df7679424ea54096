/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to blocks and back: time of one, with header and check. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "systems/edm/proto/mf_proto.h"

#define MESSAGES 64 /* different ones, in turn */
#define ROUNDS 16
#define CHUNK_MAX 4096

struct proto_param {
	uint8_t kind;
	bool get; /**< otherwise put */
	uint32_t size;
};

struct message {
	struct mf_msg m;
	unsigned int blocks;
	uint8_t data[CHUNK_MAX];
	uint64_t word[2 + CHUNK_MAX / 8];
};

struct proto {
	const struct bench_env *env;
	const struct proto_param *param;
	uint64_t bad;
	struct message message[MESSAGES];
};

static const struct mf_proto check16;

static unsigned int put(const struct mf_msg *m, const uint8_t *data, uint64_t *word)
{
	switch (m->kind) {
	case MF_RREQ:
		return mf_proto_put_request(&check16, m, word);
	case MF_GRANT:
		word[0] = mf_proto_put_single(m);
		return 1;
	default:
		return mf_proto_put_chunk(&check16, m, data, word);
	}
}

static uint64_t put_step(void *ctx)
{
	struct proto *p = ctx;

	for (unsigned int i = 0; i < ROUNDS * MESSAGES; i++) {
		struct message *m = &p->message[i % MESSAGES];

		p->bad += put(&m->m, m->data, m->word) != m->blocks;
	}
	return ROUNDS * MESSAGES;
}

static uint64_t get_step(void *ctx)
{
	struct proto *p = ctx;

	for (unsigned int i = 0; i < ROUNDS * MESSAGES; i++) {
		const struct message *m = &p->message[i % MESSAGES];
		const uint8_t *data;
		struct mf_msg out;

		if (m->blocks == 1)
			p->bad += mf_proto_get_single(m->word[0], &out) != 0;
		else
			p->bad += mf_proto_get(&check16, m->word, m->blocks, &out, &data) != 0;
		p->bad += out.id != m->m.id;
	}
	return ROUNDS * MESSAGES;
}

static void make_message(struct message *m, const struct proto_param *param, struct mf_rng *rng)
{
	m->m = (struct mf_msg){.kind = param->kind,
			       .id = (uint8_t)mf_rng_next(rng),
			       .src = (uint16_t)mf_rng_below(rng, MF_PORTS_MAX),
			       .dst = (uint16_t)mf_rng_below(rng, MF_PORTS_MAX),
			       .last = true,
			       .size = param->size,
			       .addr = mf_rng_next(rng) & MF_ADDR_MAX & ~UINT64_C(63)};
	if (m->m.kind == MF_RRES)
		m->m.addr = 0;
	for (unsigned int i = 0; i < CHUNK_MAX; i++)
		m->data[i] = (uint8_t)mf_rng_next(rng);
	m->blocks = put(&m->m, m->data, m->word);
}

static void *proto_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct proto *p = calloc(1, sizeof(*p));
	struct mf_rng rng;

	if (p == NULL) {
		snprintf(why, BENCH_REASON, "no memory");
		return NULL;
	}
	p->env = env;
	p->param = line->param;
	mf_rng_init(&rng, 1, "proto", 0);
	for (unsigned int i = 0; i < MESSAGES; i++)
		make_message(&p->message[i], p->param, &rng);
	return p;
}

static int proto_run(void *state, struct bench_sample *out, char *why)
{
	struct proto *p = state;
	double messages = bench_loop(p->env, NULL, p->param->get ? get_step : put_step, p, out);

	out->value = out->cpu * 1e9 / messages;
	if (p->bad == 0)
		return 0;
	snprintf(why, BENCH_REASON, "messages do not come out as they went in");
	return -EIO;
}

static const struct bench_ops proto_ops = {.open = proto_open, .run = proto_run, .close = free};

void bench_proto(struct bench_suite *s)
{
	static const struct proto_param param[] = {
		{MF_GRANT, false, 64}, {MF_GRANT, true, 64}, {MF_RREQ, false, 64},   {MF_RREQ, true, 64},
		{MF_RRES, false, 64},  {MF_RRES, true, 64},  {MF_RRES, false, 4096}, {MF_RRES, true, 4096},
	};
	static const char *const name[] = {"grant", "request", "chunk64", "chunk4k"};
	static const char *const what[] = {"a /G/", "an RREQ", "a chunk of 64 B", "a chunk of 4 KiB"};

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
		struct bench_line l = {.unit = "ns", .crosses = -1, .ops = &proto_ops, .param = &param[i]};

		snprintf(l.name, sizeof(l.name), "proto.%s.%s", param[i].get ? "get" : "put", name[i / 2]);
		snprintf(l.what, sizeof(l.what), "messages, %s %s",
			 param[i].get ? "blocks to" : "to blocks:", what[i / 2]);
		if (i >= 4)
			l.beside[0] = i < 6 ? "reference.memcpy.64.ns" : "reference.memcpy.4096.ns";
		bench_add(s, &l);
	}
}
