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
#include "config/mf_config_query.h"
#include "fabric/load_priv.h"
#include "fabric/mf_make.h"
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
static double data_blocks(const struct fabric_tier *t, uint64_t size, double *chunks)
{
	uint64_t c = t->config->sched.chunk[t->f->clock],
		 pieces = (size + MF_MESSAGE_MAX - 1) / MF_MESSAGE_MAX;
	double blocks = 0;

	*chunks = 0;
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t piece = i + 1 < pieces ? MF_MESSAGE_MAX : size - i * MF_MESSAGE_MAX;
		uint64_t n = (piece + c - 1) / c;

		blocks += (double)((piece + 7) / 8 + n * mf_proto_chunk_blocks(&t->config->proto, 0));
		*chunks += (double)n;
	}
	return blocks;
}

static double request_blocks(const struct fabric_tier *t, uint8_t kind, uint8_t op)
{
	return mf_proto_request_blocks(&t->config->proto, &(struct mf_msg){.kind = kind, .op = op});
}

/** The same of a stack above the MAC, which knows its frames. */
static struct op_blocks stack_blocks(const struct fabric_tier *t, unsigned int mix, uint64_t size)
{
	uint8_t kind = mix < MF_MIX_CAS ? (uint8_t)mix : MF_OP_RMW;
	struct mf_op_blocks b = t->config->stack_ops->blocks(t->config->stack.param, kind, size);

	return (struct op_blocks){b.cn_up, b.cn_down, b.mn_up, b.mn_down};
}

struct op_blocks load_kind_blocks(const struct fabric_tier *t, unsigned int mix, uint64_t size)
{
	if (t->config->stack_ops != NULL)
		return stack_blocks(t, mix, size);

	bool call = mix == MF_MIX_CALL;
	double chunks, data, request;

	if (call) /* it has one piece, and its answer a head */
		size = mf_call_size(size);
	data = data_blocks(t, mix >= MF_MIX_CAS && !call ? 8 : size, &chunks);

	double pieces = (double)((size + MF_MESSAGE_MAX - 1) / MF_MESSAGE_MAX);

	if (mix == MF_MIX_WRITE || mix == MF_MIX_WRITE_ACK)
		return (struct op_blocks){.cn_up = pieces + data, /* /N/ */
					  .cn_down =
						  chunks + (mix == MF_MIX_WRITE_ACK ? pieces : 0), /* /G/ */
					  .mn_up = mix == MF_MIX_WRITE_ACK ? pieces : 0,
					  .mn_down = data};
	if (mix == MF_MIX_READ)
		request = pieces * request_blocks(t, MF_RREQ, 0);
	else
		request = request_blocks(t, MF_RMWREQ, call ? MF_RMW_CALL : (uint8_t)(mix - MF_MIX_CAS));
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

static struct op_blocks mean_blocks(const struct fabric_tier *t, const struct mf_config_workload *w)
{
	unsigned int samples = w->size.dist == MF_CONFIG_FIXED ? 1 : SIZE_SAMPLES;
	struct op_blocks mean = {0};

	if (w->ycsb.on)
		return load_query_blocks(t, w);
	for (unsigned int i = 0; i < samples; i++) {
		uint64_t size = size_at(&w->size, (i + 0.5) / samples);

		for (unsigned int k = 0; k < MF_MIXES; k++) {
			struct op_blocks b = load_kind_blocks(t, k, size);

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

/** Weights of the targets by their rank, from 1, where some are hotter than others. */
struct hot {
	double weight[MF_NODES_MAX + 1];
	unsigned int others; /**< of which sum is the sum */
	double sum;
};

static void find_hot(const struct mf_config_workload *w, struct hot *h)
{
	h->others = 0;
	h->sum = 0;
	for (unsigned int rank = 1; rank <= w->targets.n && w->pattern == MF_CONFIG_ZIPF_TARGET; rank++)
		h->weight[rank] = pow(rank, -w->theta);
}

static double hot_share(struct hot *h, unsigned int rank, unsigned int others)
{
	if (h->others != others) {
		h->others = others;
		h->sum = 0;
		for (unsigned int k = 1; k <= others; k++)
			h->sum += h->weight[k];
	}
	return h->weight[rank] / h->sum;
}

/**
 * How often it sends an operation to a target; sums to 1 over all of them.
 * @param rank  of the target among the others that it has, from 1
 */
static double target_share(const struct mf_config_workload *w, unsigned int i, uint16_t target,
			   unsigned int rank, unsigned int others, struct hot *h)
{
	switch (w->pattern) {
	case MF_CONFIG_INCAST_TARGET:
	case MF_CONFIG_PERMUTATION_TARGET:
		return target == permutation_partner(w, i) ? 1 : 0;
	case MF_CONFIG_ZIPF_TARGET:
		return hot_share(h, rank, others);
	default:
		return 1.0 / others;
	}
}

/** Blocks of an operation in the mean, in each network; they depend on what carries it. */
static struct op_blocks *means_of(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	struct op_blocks *mean = calloc(f->tiers, sizeof(*mean));

	for (unsigned int k = 0; mean != NULL && k < f->tiers; k++)
		mean[k] = mean_blocks(&f->tier[k], w);
	return mean;
}

/** The end that has a number in a network. */
static struct load_link *at(const struct fabric_tier *t, unsigned int number, struct load_link *link)
{
	return &link[fabric_host_number(t->f, t->link[number], t->node[number])];
}

/** What so many operations of a client cost on its own link. @param client  its number in the network */
static void add_client(const struct fabric_tier *t, unsigned int client, const struct op_blocks *b,
		       double operations, struct load_link *link)
{
	at(t, client, link)->up += operations * b->cn_up;
	if (!t->config->direct)
		at(t, client, link)->down += operations * b->cn_down;
}

/** And on that of their target. @param target  its number in the network */
static void add_target(const struct fabric_tier *t, unsigned int target, const struct op_blocks *b,
		       double operations, struct load_link *link)
{
	at(t, target, link)->up += operations * b->mn_up;
	if (!t->config->direct)
		at(t, target, link)->down += operations * b->mn_down;
}

/**
 * What operations cost each link direction, so many of each client.
 * @param b      [tiers], or one for all if `same`
 */
static void spread(const struct mf_fabric *f, const struct mf_config_workload *w, const struct op_blocks *b,
		   bool same, double operations, struct load_link *link)
{
	struct hot hot;

	find_hot(w, &hot);
	for (unsigned int i = 0; i < w->clients.n; i++) {
		const uint16_t client = w->clients.node[i];
		unsigned int others = targets_of(w, i), rank = 0;

		if (fabric_is_plain(f))
			add_client(f->tier, f->tier->number[client], b, operations, link);
		for (unsigned int k = 0; k < w->targets.n; k++) {
			const uint16_t target = w->targets.node[k];
			const struct op_blocks *of;
			struct fabric_way way;
			double share;

			if (target == client)
				continue;
			share = operations * target_share(w, i, target, ++rank, others, &hot);
			if (share == 0)
				continue;
			way = fabric_way_of(f, client, target);
			of = same ? b : &b[way.tier - f->tier];
			if (!fabric_is_plain(f))
				add_client(way.tier, way.from, of, share, link);
			add_target(way.tier, way.to, of, share, link);
		}
	}
}

double load_busiest(const struct mf_fabric *f, const struct load_link *link, struct load_busiest *where)
{
	double most = 0;

	for (uint32_t i = 0; i < fabric_host_ends(f); i++) {
		double period = fabric_link_config(f, fabric_host_end(f, i)->link)->period;
		double more = fmax(link[i].up, link[i].down) * period;

		if (more <= most)
			continue;
		most = more;
		if (where != NULL)
			*where = (struct load_busiest){.end = i, .up = link[i].up >= link[i].down};
	}
	return most;
}

/** Block times of the busiest link direction per operation of each client. */
static double busiest(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	struct load_link *link = calloc(fabric_host_ends(f), sizeof(*link));
	struct op_blocks *b = means_of(f, w);
	double most = 0;

	if (link != NULL && b != NULL) {
		spread(f, w, b, false, 1, link);
		most = load_busiest(f, link, NULL);
	}
	free(b);
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

	double blocks = w->size.mean / 8 / w->mix_sum,
	       read = (w->mix[MF_MIX_READ] + w->mix[MF_MIX_CALL]) * blocks,
	       write = (w->mix[MF_MIX_WRITE] + w->mix[MF_MIX_WRITE_ACK]) * blocks;

	return (struct op_blocks){.cn_up = write, .cn_down = read, .mn_up = read, .mn_down = write};
}

static void add_message(const struct mf_fabric *f, unsigned int client, const struct mf_client_message *m,
			double rate, struct load_link *wire, struct load_link *payload)
{
	const struct fabric_way way = fabric_way_of(f, client, m->node);
	const struct fabric_tier *t = way.tier;
	struct op_blocks b = load_kind_blocks(t, m->kind, m->octets);
	bool read = mf_client_reads((enum mf_client_kind)m->kind);

	add_client(t, way.from, &b, rate, wire);
	add_target(t, way.to, &b, rate, wire);
	if (m->kind > MF_CLIENT_WRITE_ACK && !read)
		return;
	at(t, read ? way.to : way.from, payload)->up += rate * m->octets / 8;
	if (!t->config->direct)
		at(t, read ? way.from : way.to, payload)->down += rate * m->octets / 8;
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
	struct op_blocks *b = means_of(f, w), p = payload_blocks(w);
	double rate = w->burst / (double)interval(f, w);

	if (b != NULL)
		spread(f, w, b, false, rate, wire);
	spread(f, w, &p, true, rate, payload);
	free(b);
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
		const struct fabric_tier *t;
		double rate;

		if (n->ethernet < 0)
			continue;
		t = fabric_common_tier(f, i, n->frames_to);
		rate = f->config->ethernet[n->ethernet].load /
		       fabric_link_config(f, t->link[t->number[i]])->period;
		at(t, t->number[i], wire)->up += rate;
		if (!t->config->direct)
			at(t, t->number[n->frames_to], wire)->down += rate;
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

/** Where in targets a client begins: its own node is none of them. */
static unsigned int first_target(const struct mf_config_workload *w, unsigned int i)
{
	uint16_t own = w->clients.node[i], partner = permutation_partner(w, i);
	bool to_one = pattern_of(w->pattern) == MF_CLIENT_TO_ONE;
	unsigned int left = i % targets_of(w, i), t = 0;

	while (to_one ? w->targets.node[t] != partner : left > 0 || w->targets.node[t] == own)
		left -= w->targets.node[t++] != own;
	return t;
}

uint64_t load_seed(const struct mf_fabric *f, const char *what, unsigned int node)
{
	struct mf_rng r;

	mf_rng_init(&r, f->config->seed, what, node);
	return mf_rng_next(&r);
}

/** What verification may rely on in a network. */
static enum mf_client_order order_in(const struct mf_config_tier *c)
{
	if (c->stack_ops == NULL)
		return c->sched.order == MF_ORDER_DIRECTION ? MF_CLIENT_BY_DIRECTION : MF_CLIENT_IN_ORDER;
	if (c->stack_ops->ordered)
		return MF_CLIENT_IN_ORDER;
	if (c->stack_ops->loses)
		return MF_CLIENT_LOSSY;
	return c->stack_ops->writes_ordered ? MF_CLIENT_WRITES_IN_ORDER : MF_CLIENT_ANY_ORDER;
}

/** And for all targets of client i: where networks differ, on the least. */
static enum mf_client_order order_of(const struct mf_fabric *f, const struct mf_config_workload *w,
				     unsigned int i)
{
	enum mf_client_order order = MF_CLIENT_IN_ORDER;
	bool any = false;

	for (unsigned int k = 0; k < w->targets.n; k++) {
		const uint16_t client = w->clients.node[i], target = w->targets.node[k];
		enum mf_client_order own;

		if (client == target)
			continue;
		own = order_in(fabric_common_tier(f, client, target)->config);
		if (own == MF_CLIENT_LOSSY)
			return own;
		order = !any || own == order ? own : MF_CLIENT_ANY_ORDER;
		any = true;
	}
	return order;
}

/** Numbers of nodes are those of their network, of which there is one. */
static struct mf_churn churn_of(const struct mf_fabric *f, const struct mf_config_workload *w, unsigned int i)
{
	const struct fabric_churn *of = f->churn[w - f->config->workload];

	return (struct mf_churn){.share = w->spaces.churn,
				 .client = i,
				 .clients = w->clients.n,
				 .number = of->number,
				 .page_class = of->page_class,
				 .spaces = w->spaces.spaces,
				 .pages = w->spaces.pages,
				 .shift = (uint8_t)__builtin_ctzll(w->spaces.page)};
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
	struct mf_churn churn;
	struct mf_client_config c = {
		.host = f->node[w->clients.node[i]].host,
		.layer = f->node[w->clients.node[i]].layer,
		.node = w->clients.node[i],
		.seed = load_seed(f, "client", w->clients.node[i]),
		.size_dist = dist[w->size.dist],
		.size_min = w->size.size[0],
		.size_max = w->size.max,
		.size_unit = w->size.unit,
		.pattern = pattern_of(w->pattern),
		.address = address[w->address],
		.theta = w->theta,
		.targets = f->target[w - f->config->workload],
		.targets_count = w->targets.n,
		.base = mf_config_has_all_memory(w) ? 0 : i * w->span,
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
		.sink = mf_config_is_sink(&f->config->node[w->targets.node[0]]),
		.lost_is_empty = w->lost_is_empty,
		.order = order_of(f, w, i),
		.idle_max = IDLE_MAX / f->nodes,
		.watch = f->messages != NULL ? messages_watch(f->messages, w->clients.node[i]) : NULL,
	};

	if (w->ycsb.on)
		return load_store_client(f, w, i, &c);
	if (w->spaces.churn > 0) {
		churn = churn_of(f, w, i);
		c.churn = &churn;
		c.base = 0;
		c.span = w->clients.n * w->span;
	}
	if (w->trace.message != NULL) {
		c.messages = w->trace.message + w->trace.first[i];
		c.messages_count = w->trace.first[i + 1] - w->trace.first[i];
		c.addresses = w->trace.addr != NULL ? w->trace.addr + w->trace.first[i] : NULL;
	}
	c.first = first_target(w, i);
	memcpy(c.mix, w->mix, sizeof(c.mix));
	if (c.size_dist == MF_CLIENT_SIZE_CDF) {
		c.cdf = cdf;
		c.cdf_points = mf_config_size_cdf(&w->size, cdf);
		c.size_min = cdf[0].size > 0 ? cdf[0].size : 1;
	}
	return mf_client_new(&c);
}

/** Of all clients of a workload: see mf_client_config.targets. */
static int find_targets(struct mf_fabric *f)
{
	f->target = calloc(f->config->workloads + 1, sizeof(*f->target));
	for (unsigned int k = 0; k < f->config->workloads && f->target != NULL; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];

		f->target[k] = calloc(w->targets.n, sizeof(*f->target[k]));
		if (f->target[k] == NULL)
			return -ENOMEM;
		const uint64_t base = mf_config_has_all_memory(w) ? 0 : w->base;

		for (unsigned int t = 0; t < w->targets.n; t++)
			f->target[k][t] = (struct mf_client_target){w->targets.node[t], base};
	}
	return f->target != NULL ? 0 : -ENOMEM;
}

/** Of all clients of a workload that share spaces: see struct mf_churn. */
static int find_spaces(struct mf_fabric *f)
{
	f->churn = calloc(f->config->workloads + 1, sizeof(*f->churn));
	for (unsigned int k = 0; k < f->config->workloads && f->churn != NULL; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];
		struct fabric_churn *of = f->churn[k] = calloc(1, sizeof(*of));

		if (of == NULL)
			return -ENOMEM;
		for (unsigned int i = 0; i < w->clients.n; i++)
			of->number[i] = f->tier->number[w->clients.node[i]];
		for (unsigned int t = 0; t < w->targets.n; t++) {
			const struct mf_config_node *n = &f->config->node[w->targets.node[t]];

			of->page_class[w->targets.node[t]] = page_class_of(&n->vm.vm, w->spaces.page);
		}
	}
	return f->churn != NULL ? 0 : -ENOMEM;
}

void load_clients_fini(struct mf_fabric *f)
{
	for (unsigned int k = 0; f->target != NULL && f->target[k] != NULL; k++)
		free(f->target[k]);
	free(f->target);
	for (unsigned int k = 0; f->churn != NULL && f->churn[k] != NULL; k++)
		free(f->churn[k]);
	free(f->churn);
}

int load_clients(struct mf_fabric *f, char *err, size_t errlen)
{
	if (find_targets(f) != 0 || find_spaces(f) != 0) {
		snprintf(err, errlen, "workload: no memory for its targets");
		return -ENOMEM;
	}
	for (unsigned int k = 0; k < f->config->workloads; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];
		mf_time every = interval(f, w);

		if (w->ycsb.on && load_store(f, w) != 0) {
			snprintf(err, errlen, "workload[%u]: no memory to fill its store", k);
			return -ENOMEM;
		}
		for (unsigned int i = 0; i < w->clients.n; i++) {
			struct node *n = &f->node[w->clients.node[i]];

			if (!f->plays.node[w->clients.node[i]])
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
