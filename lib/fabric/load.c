/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients and frames of the configuration, and what a load means (D17): offered wire blocks of all
 * kinds on the busiest link direction over its block rate.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "fabric/load_priv.h"
#include "measure/mf_message_log.h"

#define SIZE_SAMPLES 4096
#define IDLE_MAX (UINT64_C(4) << 20) /* octets of buffers of all clients that wait for the next operation */

void load_add_blocks(struct op_blocks *sum, const struct op_blocks *b, double weight)
{
	sum->cn_up += weight * b->cn_up;
	sum->cn_down += weight * b->cn_down;
	sum->mn_up += weight * b->mn_up;
	sum->mn_down += weight * b->mn_down;
}

/** Blocks of a message's chunks, header and check included, and how many there are. */
static double data_blocks(const struct mf_fabric *f, uint64_t size, double *chunks)
{
	uint64_t c = f->config->sched.chunk[f->clock], pieces = (size + MF_MESSAGE_MAX - 1) / MF_MESSAGE_MAX;
	double blocks = 0;

	*chunks = 0;
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t piece = i + 1 < pieces ? MF_MESSAGE_MAX : size - i * MF_MESSAGE_MAX;
		uint64_t n = (piece + c - 1) / c;

		blocks += (double)((piece + 7) / 8 + n * mf_proto_chunk_blocks(&f->config->proto, 0));
		*chunks += (double)n;
	}
	return blocks;
}

static double request_blocks(const struct mf_fabric *f, uint8_t kind, uint8_t op)
{
	return mf_proto_request_blocks(&f->config->proto, &(struct mf_msg){.kind = kind, .op = op});
}

/** The same of a stack above the MAC, which knows its frames. */
static struct op_blocks stack_blocks(const struct mf_fabric *f, unsigned int mix, uint64_t size)
{
	uint8_t kind = mix < MF_MIX_CAS ? (uint8_t)mix : MF_OP_RMW;
	struct mf_op_blocks b = f->config->stack_ops->blocks(f->config->stack.param, kind, size);

	return (struct op_blocks){b.cn_up, b.cn_down, b.mn_up, b.mn_down};
}

struct op_blocks load_kind_blocks(const struct mf_fabric *f, unsigned int mix, uint64_t size)
{
	if (f->config->stack_ops != NULL)
		return stack_blocks(f, mix, size);

	double chunks, data = data_blocks(f, mix >= MF_MIX_CAS ? 8 : size, &chunks), request;
	double pieces = (double)((size + MF_MESSAGE_MAX - 1) / MF_MESSAGE_MAX);

	if (mix == MF_MIX_WRITE || mix == MF_MIX_WRITE_ACK)
		return (struct op_blocks){.cn_up = pieces + data, /* /N/ */
					  .cn_down =
						  chunks + (mix == MF_MIX_WRITE_ACK ? pieces : 0), /* /G/ */
					  .mn_up = mix == MF_MIX_WRITE_ACK ? pieces : 0,
					  .mn_down = data};
	if (mix == MF_MIX_READ)
		request = pieces * request_blocks(f, MF_RREQ, 0);
	else
		request = request_blocks(f, MF_RMWREQ, (uint8_t)(mix - MF_MIX_CAS));
	/* the first grant of each piece is the request itself */
	return (struct op_blocks){
		.cn_up = request, .cn_down = data, .mn_up = data, .mn_down = request + chunks - pieces};
}

/** On the line to point i of a cumulative distribution. */
static uint64_t on_line(const struct mf_config_size *s, unsigned int i, double q)
{
	double share = (q - s->weight[i - 1]) / (s->weight[i] - s->weight[i - 1]);
	double size = share * ((double)s->size[i] - (double)s->size[i - 1]);

	if (s->unit > 0)
		size = ceil(size / s->unit) * s->unit;
	return s->size[i - 1] + (uint64_t)fmax(size, s->size[i - 1] == 0);
}

/** The size at quantile q of a distribution. */
static uint64_t size_at(const struct mf_config_size *s, double q)
{
	double cum = 0, sum = 0;

	switch (s->dist) {
	case MF_CONFIG_FIXED:
		return s->size[0];
	case MF_CONFIG_UNIFORM:
		return s->size[0] + (uint64_t)(q * (double)(s->size[1] - s->size[0] + 1));
	case MF_CONFIG_LIST:
		for (unsigned int i = 0; i < s->n; i++)
			sum += s->weight[i];
		for (unsigned int i = 0; i < s->n; i++) {
			cum += s->weight[i] / sum;
			if (q < cum)
				return s->size[i];
		}
		return s->size[s->n - 1];
	case MF_CONFIG_CDF:
	case MF_CONFIG_APP:
		for (unsigned int i = 0; i < s->n; i++) {
			if (q > s->weight[i])
				continue;
			if (i == 0 || s->weight[i] <= s->weight[i - 1])
				return s->size[i];
			return on_line(s, i, q);
		}
		break;
	}
	return s->max;
}

static struct op_blocks mean_blocks(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	unsigned int samples = w->size.dist == MF_CONFIG_FIXED ? 1 : SIZE_SAMPLES;
	struct op_blocks mean = {0};

	if (w->ycsb.on)
		return load_query_blocks(f, w);
	for (unsigned int i = 0; i < samples; i++) {
		uint64_t size = size_at(&w->size, (i + 0.5) / samples);

		for (unsigned int k = 0; k < MF_MIXES; k++) {
			struct op_blocks b = load_kind_blocks(f, k, size);

			if (w->mix[k] > 0)
				load_add_blocks(&mean, &b, w->mix[k] / w->mix_sum / samples);
		}
	}
	return mean;
}

/** Targets of the client at place i: all but itself. */
static unsigned int targets_of(const struct mf_config_workload *w, unsigned int i)
{
	bool self = false;

	for (unsigned int k = 0; k < w->targets.n; k++)
		self |= w->targets.node[k] == w->clients.node[i];
	return w->targets.n - self;
}

/** How often it sends an operation to the target at place t, where it has others; sums to 1 over t. */
static double target_share(const struct mf_config_workload *w, unsigned int i, unsigned int t,
			   unsigned int others)
{
	unsigned int rank = 0;
	double sum = 0, own = 0;

	if (w->targets.node[t] == w->clients.node[i])
		return 0;
	switch (w->pattern) {
	case MF_CONFIG_INCAST_TARGET:
	case MF_CONFIG_PERMUTATION_TARGET:
		return w->targets.node[t] == permutation_partner(w, i) ? 1 : 0;
	case MF_CONFIG_ZIPF_TARGET:
		for (unsigned int k = 0; k < w->targets.n; k++) {
			if (w->targets.node[k] == w->clients.node[i])
				continue;
			double weight = pow(++rank, -w->theta);

			sum += weight;
			if (k == t)
				own = weight;
		}
		return own / sum;
	default:
		return 1.0 / others;
	}
}

/** What operations of blocks b cost each link direction, so many of each client. */
static void spread(const struct mf_config_workload *w, const struct op_blocks *b, double operations,
		   struct load_link *link)
{
	for (unsigned int i = 0; i < w->clients.n; i++) {
		unsigned int others = targets_of(w, i);

		link[w->clients.node[i]].up += operations * b->cn_up;
		link[w->clients.node[i]].down += operations * b->cn_down;
		for (unsigned int t = 0; t < w->targets.n; t++) {
			double share = operations * target_share(w, i, t, others);

			link[w->targets.node[t]].up += share * b->mn_up;
			link[w->targets.node[t]].down += share * b->mn_down;
		}
	}
}

double load_busiest(const struct mf_fabric *f, const struct load_link *link, struct load_busiest *where)
{
	double most = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
		double period = f->config->node[i].link.period;
		double more = fmax(link[i].up, link[i].down) * period;

		if (more <= most)
			continue;
		most = more;
		if (where != NULL)
			*where = (struct load_busiest){.node = i, .up = link[i].up >= link[i].down};
	}
	return most;
}

/** Block times of the busiest link direction per operation of each client. */
static double busiest(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	struct load_link *link = calloc(f->nodes, sizeof(*link));
	struct op_blocks b = mean_blocks(f, w);
	double most = 0;

	if (link != NULL) {
		spread(w, &b, 1, link);
		most = load_busiest(f, link, NULL);
	}
	free(link);
	return most;
}

/** Mean time between two bursts of a client, ps; 0: closed loop. */
static mf_time interval(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	if (!w->open || w->trace.message != NULL)
		return 0;
	if (w->rate > 0)
		return (mf_time)fmax(1, 1e12 * w->burst / w->rate);
	return (mf_time)fmax(1, busiest(f, w) * w->burst / w->load);
}

/** Payload of an operation, in the same way; an atomic has none. */
static struct op_blocks payload_blocks(const struct mf_config_workload *w)
{
	if (w->ycsb.on)
		return load_query_payload(w);

	double blocks = w->size.mean / 8 / w->mix_sum, read = w->mix[MF_MIX_READ] * blocks,
	       write = (w->mix[MF_MIX_WRITE] + w->mix[MF_MIX_WRITE_ACK]) * blocks;

	return (struct op_blocks){.cn_up = write, .cn_down = read, .mn_up = read, .mn_down = write};
}

static void add_message(const struct mf_fabric *f, unsigned int client, const struct mf_client_message *m,
			double rate, struct load_link *wire, struct load_link *payload)
{
	struct op_blocks b = load_kind_blocks(f, m->kind, m->octets);
	bool read = m->kind == MF_CLIENT_READ;

	wire[client].up += rate * b.cn_up;
	wire[client].down += rate * b.cn_down;
	wire[m->node].up += rate * b.mn_up;
	wire[m->node].down += rate * b.mn_down;
	if (m->kind > MF_CLIENT_WRITE_ACK)
		return;
	payload[read ? m->node : client].up += rate * m->octets / 8;
	payload[read ? client : m->node].down += rate * m->octets / 8;
}

/** The messages of a trace that are intended in the steady state. */
static void offered_trace(const struct mf_fabric *f, const struct mf_config_workload *w,
			  struct load_link *wire, struct load_link *payload)
{
	const struct mf_config_trace *t = &w->trace;
	double rate = f->stop > f->measure ? 1 / (double)(f->stop - f->measure) : 0;

	for (unsigned int i = 0; i < w->clients.n; i++)
		for (uint64_t k = t->first[i]; k < t->first[i + 1]; k++)
			if (t->message[k].start >= f->measure && t->message[k].start < f->stop)
				add_message(f, w->clients.node[i], &t->message[k], rate, wire, payload);
}

static void offered_drawn(const struct mf_fabric *f, const struct mf_config_workload *w,
			  struct load_link *wire, struct load_link *payload)
{
	struct op_blocks b = mean_blocks(f, w), p = payload_blocks(w);
	double rate = w->burst / (double)interval(f, w);

	spread(w, &b, rate, wire);
	spread(w, &p, rate, payload);
}

bool load_offered(const struct mf_fabric *f, struct load_link *wire, struct load_link *payload)
{
	for (unsigned int k = 0; k < f->config->workloads; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];

		if (!w->open)
			return false;
		if (w->trace.message != NULL)
			offered_trace(f, w, wire, payload);
		else
			offered_drawn(f, w, wire, payload);
	}
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];
		double rate = n->ethernet >= 0 ? f->config->ethernet[n->ethernet].load / n->link.period : 0;

		wire[i].up += rate;
		if (rate > 0)
			wire[n->frames_to].down += rate;
	}
	return f->config->workloads > 0;
}

uint16_t permutation_partner(const struct mf_config_workload *w, unsigned int i)
{
	/* Client i has target i + 1, cyclically: as few as can be share one, and nobody has itself. */
	for (unsigned int k = 1; k <= w->targets.n; k++) {
		uint16_t t = w->targets.node[(i + k) % w->targets.n];

		if (t != w->clients.node[i])
			return t;
	}
	return w->clients.node[i];
}

static enum mf_client_pattern pattern_of(enum mf_config_pattern pattern)
{
	switch (pattern) {
	case MF_CONFIG_INCAST_TARGET:
	case MF_CONFIG_PERMUTATION_TARGET:
		return MF_CLIENT_TO_ONE;
	case MF_CONFIG_ALL_TO_ALL_TARGET:
		return MF_CLIENT_TO_ROUND;
	case MF_CONFIG_ZIPF_TARGET:
		return MF_CLIENT_TO_ZIPF;
	default:
		return MF_CLIENT_TO_UNIFORM;
	}
}

/** Where in targets a client begins. */
static unsigned int first_target(const struct mf_config_workload *w, unsigned int i,
				 const struct mf_client_target *targets, unsigned int n)
{
	if (pattern_of(w->pattern) != MF_CLIENT_TO_ONE)
		return i % n;
	for (unsigned int t = 0; t < n; t++)
		if (targets[t].node == permutation_partner(w, i))
			return t;
	return 0;
}

static uint64_t seed_of(const struct mf_fabric *f, const char *what, unsigned int node)
{
	struct mf_rng r;

	mf_rng_init(&r, f->config->seed, what, node);
	return mf_rng_next(&r);
}

/** What verification may rely on. */
static enum mf_client_order order_of(const struct mf_config *c)
{
	if (c->stack_ops == NULL)
		return c->sched.order == MF_ORDER_DIRECTION ? MF_CLIENT_BY_DIRECTION : MF_CLIENT_IN_ORDER;
	if (c->stack_ops->ordered)
		return MF_CLIENT_IN_ORDER;
	if (c->stack_ops->loses)
		return MF_CLIENT_LOSSY;
	return c->stack_ops->writes_ordered ? MF_CLIENT_WRITES_IN_ORDER : MF_CLIENT_ANY_ORDER;
}

/** @param every  mean time between two operations, ps; 0: closed loop */
static struct mf_client *new_client(const struct mf_fabric *f, const struct mf_config_workload *w,
				    unsigned int i, mf_time every)
{
	static const enum mf_client_size dist[] = {[MF_CONFIG_FIXED] = MF_CLIENT_SIZE_FIXED,
						   [MF_CONFIG_UNIFORM] = MF_CLIENT_SIZE_UNIFORM,
						   [MF_CONFIG_LIST] = MF_CLIENT_SIZE_CDF,
						   [MF_CONFIG_CDF] = MF_CLIENT_SIZE_CDF,
						   [MF_CONFIG_APP] = MF_CLIENT_SIZE_CDF};
	static const enum mf_client_address address[] = {[MF_CONFIG_UNIFORM_ADDRESS] = MF_CLIENT_AT_UNIFORM,
							 [MF_CONFIG_ZIPF_ADDRESS] = MF_CLIENT_AT_ZIPF,
							 [MF_CONFIG_SEQUENTIAL_ADDRESS] =
								 MF_CLIENT_AT_SEQUENTIAL};
	struct mf_cdf_point cdf[MF_CONFIG_CDF_MAX];
	struct mf_client_target targets[MF_PORTS_MAX];
	unsigned int n = 0;

	for (unsigned int t = 0; t < w->targets.n; t++)
		if (w->targets.node[t] != w->clients.node[i])
			targets[n++] = (struct mf_client_target){w->targets.node[t], w->base + i * w->span};
	struct mf_client_config c = {
		.host = f->node[w->clients.node[i]].host,
		.node = w->clients.node[i],
		.seed = seed_of(f, "client", w->clients.node[i]),
		.size_dist = dist[w->size.dist],
		.size_min = w->size.size[0],
		.size_max = w->size.max,
		.size_unit = w->size.unit,
		.pattern = pattern_of(w->pattern),
		.address = address[w->address],
		.theta = w->theta,
		.targets = targets,
		.targets_count = n,
		.span = w->span,
		.depth = w->depth,
		.interval = every,
		.poisson = w->arrival == MF_CONFIG_POISSON,
		.burst = w->burst,
		.delay = w->delay,
		.operations = w->operations,
		.measured = w->measured,
		.start = node_clock(f, w->clients.node[i], 0),
		.stop = node_clock(f, w->clients.node[i], f->stop),
		.measure = node_clock(f, w->clients.node[i], f->measure),
		.verify = w->verify,
		.lost_is_empty = w->lost_is_empty,
		.order = order_of(f->config),
		.idle_max = IDLE_MAX / f->nodes,
		.watch = f->messages != NULL ? messages_watch(f->messages, w->clients.node[i]) : NULL,
	};

	if (w->ycsb.on)
		return load_store_client(f, w, i, &c);
	if (w->trace.message != NULL) {
		c.messages = w->trace.message + w->trace.first[i];
		c.messages_count = w->trace.first[i + 1] - w->trace.first[i];
	}
	c.first = first_target(w, i, targets, n);
	memcpy(c.mix, w->mix, sizeof(c.mix));
	if (c.size_dist == MF_CLIENT_SIZE_CDF) {
		c.cdf = cdf;
		c.cdf_points = mf_config_size_cdf(&w->size, cdf);
		c.size_min = cdf[0].size > 0 ? cdf[0].size : 1;
	}
	return mf_client_new(&c);
}

int load_clients(struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->workloads; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];
		mf_time every = interval(f, w);

		if (w->ycsb.on && load_store(f, w) != 0) {
			snprintf(err, errlen, "workload[%u]: no memory to fill its store", k);
			return -ENOMEM;
		}
		for (unsigned int i = 0; i < w->clients.n; i++) {
			struct node *n = &f->node[w->clients.node[i]];

			if (!f->part.node[w->clients.node[i]])
				continue;
			n->client = new_client(f, w, i, every);
			if (n->client == NULL) {
				snprintf(err, errlen, "workload[%u]: cannot set up the client of %s: %s", k,
					 f->config->node[w->clients.node[i]].name, strerror(errno));
				return -errno;
			}
		}
	}
	return 0;
}

/** Mean time between two frames of this size that make up this load, gap and preamble included. */
static mf_time frame_interval(const struct mf_config_ethernet *e, uint32_t period)
{
	return (mf_time)((e->size + 4.0 + 8.0 + 12.0) / 8.0 * period / e->load);
}

int load_frames(struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];
		const struct mf_config_ethernet *e;
		struct mf_ether_flow flow;
		struct mf_ether_config c = {
			.host = f->node[i].host,
			.node = (uint16_t)i,
			.flows = &flow,
			.seed = seed_of(f, "ether", i),
			.start = node_clock(f, i, 0),
			.stop = node_clock(f, i, f->stop),
			.measure = node_clock(f, i, f->measure),
		};

		if (!f->part.node[i])
			continue;
		if (n->ethernet >= 0) {
			e = &f->config->ethernet[n->ethernet];
			flow = (struct mf_ether_flow){
				.targets = &n->frames_to,
				.targets_count = 1,
				.size = (uint16_t)(e->size + MF_FCS_LEN),
				.interval = frame_interval(e, n->link.period),
				.poisson = e->arrival == MF_CONFIG_POISSON,
			};
			c.flows_count = 1;
		}
		f->node[i].ether = mf_ether_new(&c);
		if (f->node[i].ether == NULL) {
			snprintf(err, errlen, "%s: cannot set up its frames: %s", n->name, strerror(errno));
			return -errno;
		}
	}
	return 0;
}
