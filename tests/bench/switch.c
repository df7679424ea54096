/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch under the wall clock's settings, a read after the other between random ports: request in,
 * demand out, grant in, request out, response in and out. Hosts and scheduler are played; what they say
 * is made outside of what is measured.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "systems/edm/switch/mf_switch.h"

#define READS 64 /* of a step */
#define OCTETS_MAX 4096
#define SPANS_MAX (OCTETS_MAX / 8 / MF_SPAN_MAX + 1)
#define DESCRIPTORS 64

struct switch_param {
	unsigned int ports;
	uint32_t octets;
};

struct read {
	uint16_t cn, mn;
	uint8_t id;
	struct mf_span request;
	struct mf_span response[SPANS_MAX];
	unsigned int spans;
};

struct rig {
	const struct bench_env *env;
	const struct switch_param *param;
	struct mf_switch *sw;
	struct mf_rng rng;
	mf_time now;
	uint64_t blocks, expected; /**< that went out; that should have */
	uint64_t bad;
	struct read read[READS];
};

static const struct mf_proto check16;

static void to_spans(const uint64_t *word, unsigned int n, struct mf_span *s)
{
	for (unsigned int i = 0; i < n; i++) {
		if (i % MF_SPAN_MAX == 0)
			s[i / MF_SPAN_MAX].count = 0;
		mf_span_put(&s[i / MF_SPAN_MAX], i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	}
}

static void make_read(struct rig *r, struct read *read, uint8_t id)
{
	static const uint8_t data[OCTETS_MAX];
	uint64_t word[2 + OCTETS_MAX / 8];
	unsigned int ports = r->param->ports, n;
	struct mf_msg m = {.kind = MF_RREQ, .id = id, .size = r->param->octets};

	read->cn = (uint16_t)mf_rng_below(&r->rng, ports);
	read->mn = (uint16_t)((read->cn + 1 + mf_rng_below(&r->rng, ports - 1)) % ports);
	read->id = id;
	m.src = read->cn;
	m.dst = read->mn;
	m.addr = mf_rng_below(&r->rng, 1 << 20) * 64;
	to_spans(word, mf_proto_put_request(&check16, &m, word), &read->request);
	m = (struct mf_msg){.kind = MF_RRES, .id = id, .size = r->param->octets, .last = true};
	m.src = read->mn;
	m.dst = read->cn;
	n = mf_proto_put_chunk(&check16, &m, data, word);
	to_spans(word, n, read->response);
	read->spans = (n + MF_SPAN_MAX - 1) / MF_SPAN_MAX;
	r->expected += read->request.count + n;
}

static void make_reads(void *ctx)
{
	struct rig *r = ctx;

	for (unsigned int i = 0; i < READS; i++)
		make_read(r, &r->read[i], (uint8_t)i);
}

static void take(struct rig *r, unsigned int port)
{
	struct mf_span out;

	while (mf_switch_tx(r->sw, port, r->now, MF_SPAN_MAX, &out) != 0)
		r->blocks += out.count;
}

/** What the scheduler is told. @return the cookie of the demand among it */
static uint32_t demand(struct rig *r)
{
	struct mf_sched_msg msg[DESCRIPTORS];
	unsigned int n = mf_switch_to_sched(r->sw, msg, DESCRIPTORS);
	uint32_t cookie = MF_SCHED_NO_COOKIE;

	for (unsigned int i = 0; i < n; i++)
		if (msg[i].kind == MF_SCHED_DEMAND)
			cookie = msg[i].cookie;
	return cookie;
}

static void play(struct rig *r, const struct read *read)
{
	struct mf_sched_grant g = {.at = r->now,
				   .since = r->now,
				   .src = read->mn,
				   .dst = read->cn,
				   .id = read->id,
				   .resp = true,
				   .first = true,
				   .last = true,
				   .size = r->param->octets};
	uint16_t port[MF_PORTS_MAX];

	mf_switch_rx(r->sw, read->cn, r->now, &read->request);
	g.cookie = demand(r);
	r->bad += g.cookie == MF_SCHED_NO_COOKIE;
	mf_switch_grant(r->sw, r->now, &g);
	take(r, read->mn);
	for (unsigned int i = 0; i < read->spans; i++) {
		mf_switch_rx(r->sw, read->mn, r->now, &read->response[i]);
		take(r, read->cn);
	}
	demand(r);
	mf_switch_tx_ports(r->sw, port, MF_PORTS_MAX);
}

static uint64_t switch_step(void *ctx)
{
	struct rig *r = ctx;

	for (unsigned int i = 0; i < READS; i++) {
		r->now += MF_NS(100);
		play(r, &r->read[i]);
	}
	return READS;
}

static void switch_close(void *state)
{
	struct rig *r = state;

	if (r->sw != NULL)
		mf_switch_free(r->sw);
	free(r);
}

static struct mf_switch *make_switch(unsigned int ports)
{
	struct mf_switch_config *c = calloc(1, sizeof(*c));
	struct mf_switch *sw;

	if (c == NULL)
		return NULL;
	*c = (struct mf_switch_config){.ports = ports,
				       .x = 3,
				       .window = true,
				       .grant_timeout = MF_SEC(1),
				       .hold_timeout = MF_MS(500),
				       .mac_table = 1024};
	for (unsigned int i = 0; i < ports; i++)
		c->port[i] = (struct mf_switch_port_config){.up = true,
							    .memory_enabled = true,
							    .ber_window = MF_US(125),
							    .mux = {.policy = MF_MUX_FAIR,
								    .memory_blocks = 1 << 14,
								    .memory_items = 1 << 10,
								    .frames = 64,
								    .frame_bytes = 1 << 16,
								    .quantum = 16,
								    .memory_enabled = true}};
	sw = mf_switch_new(c);
	free(c);
	return sw;
}

static void *switch_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct rig *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->env = env;
	r->param = line->param;
	r->sw = make_switch(r->param->ports);
	mf_rng_init(&r->rng, 1, "switch", r->param->ports);
	if (r->sw != NULL)
		return r;
	snprintf(why, BENCH_REASON, "cannot be set up: %s", strerror(errno));
	switch_close(r);
	return NULL;
}

static int switch_run(void *state, struct bench_sample *out, char *why)
{
	struct rig *r = state;
	double reads = bench_loop(r->env, make_reads, switch_step, r, out);

	out->value = out->cpu * 1e9 / reads;
	if (r->bad == 0 && r->blocks == r->expected)
		return 0;
	snprintf(why, BENCH_REASON, "%lu blocks of %lu went out, %lu demands were missing",
		 (unsigned long)r->blocks, (unsigned long)r->expected, (unsigned long)r->bad);
	return -EIO;
}

static const struct bench_ops switch_ops = {.open = switch_open, .run = switch_run, .close = switch_close};

void bench_switch(struct bench_suite *s)
{
	static const struct switch_param param[] = {{2, 64}, {144, 64}, {512, 64}, {2, 4096}};

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
		struct bench_line l = {.unit = "ns", .crosses = -1, .ops = &switch_ops, .param = &param[i]};

		snprintf(l.name, sizeof(l.name), "switch.read%u.%u", param[i].octets, param[i].ports);
		snprintf(l.what, sizeof(l.what), "switch, all of a read of %u B, %u ports, X 3",
			 param[i].octets, param[i].ports);
		l.beside[0] = param[i].octets == 64 ? "reference.memcpy.64.ns" : "reference.memcpy.4096.ns";
		bench_add(s, &l);
	}
}
