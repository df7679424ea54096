/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a fabric out of its configuration, for one of the two clocks. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <rte_vect.h>

#include "alone.h"
#include "bound.h"
#include "carried.h"
#include "config_internal.h"
#include "cycles.h"
#include "delivery.h"
#include "fabric_priv.h"
#include "guards.h"
#include "history.h"
#include "messages.h"
#include "mf_rng.h"
#include "mf_table.h"
#include "regions.h"
#include "stages.h"

static int fail(char *err, size_t errlen, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int fail(char *err, size_t errlen, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, errlen, format, args);
	va_end(args);
	return -EINVAL;
}

static uint32_t power_of_two(uint64_t n)
{
	uint32_t p = 64;

	while (p < n)
		p *= 2;
	return p;
}

/** Blocks of the longest chunk of any operation. Where all are short none is as long as a chunk may be. */
static uint32_t longest_chunk(const struct mf_fabric *f)
{
	uint32_t chunk = f->config->sched.chunk[f->clock], longest = 0;

	for (unsigned int i = 0; i < f->config->workloads; i++) {
		const struct mf_config_workload *w = &f->config->workload[i];
		bool fixed = w->size.dist == MF_CONFIG_FIXED && !w->ycsb.on && w->trace.message == NULL;
		uint32_t octets = fixed && w->size.size[0] < chunk ? (uint32_t)w->size.size[0] : chunk;

		longest = octets > longest ? octets : longest;
	}
	return mf_proto_chunk_blocks(&f->config->proto, longest);
}

/**
 * Room of a multiplexer for memory messages, so that nothing that was let in can find none: a request
 * or single block for every active message of every pair, and what may be granted at a time.
 */
static void mux_room(const struct mf_fabric *f, unsigned int port, struct mf_mux_config *mux)
{
	const struct mf_config_sched *s = &f->config->sched;
	uint64_t messages = 2ULL * s->x * f->nodes;
	uint64_t chunk = bound_chunk_blocks(f);
	/* Wall clock: the window, in the smallest messages that there are (8 octets in 3 blocks). Virtual
	 * clock: what is granted during the longest round trip. */
	uint64_t data = f->clock == MF_CLOCK_WALL ? s->window / 8 * 3ULL : 4ULL * bound_under_way(f, port);

	mux->memory_blocks = power_of_two(messages * MF_REQUEST_BLOCKS_MAX + data + 4 * chunk);
	mux->memory_items =
		power_of_two(2 * messages + (f->clock == MF_CLOCK_WALL ? s->window / 8 : data / 3));
	mux->usual_blocks = longest_chunk(f);
}

static void mux_config(const struct mf_fabric *f, unsigned int i, uint32_t frames, uint32_t frame_bytes,
		       struct mf_mux_config *mux)
{
	const struct mf_config_link *link = &f->config->node[i].link;

	*mux = (struct mf_mux_config){
		.policy = link->policy,
		.period = f->link[i].period,
		.frames = frames,
		.frame_bytes = frame_bytes,
		.quantum = link->quantum,
		.align8 = link->align8,
		.memory_enabled = f->config->node[i].memory_enabled,
	};
	mux_room(f, i, mux);
}

static void make_link(struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_link *c = &f->config->node[i].link;
	bool wall = f->clock == MF_CLOCK_WALL;

	f->link[i] = (struct link_timing){
		.delay = wall ? 0 : mf_config_delay(f->config, i),
		.propagation = wall ? 0 : c->propagation,
		.period = wall ? 0 : c->period,
		.scramble = c->scramble,
	};
}

static int make_backup_links(struct mf_fabric *f)
{
	f->backup.link = malloc(f->nodes * sizeof(*f->backup.link));
	if (f->backup.link == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];
		struct link_timing *link = &f->backup.link[i];

		*link = f->link[i];
		if (!n->up)
			continue;
		if (f->clock == MF_CLOCK_WALL)
			continue;
		link->propagation = n->backup_propagation;
		link->delay += n->backup_propagation - n->link.propagation;
	}
	return 0;
}

static int make_memory(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	struct mf_memory_config config = c->memory_config;
	struct node *n = &f->node[i];

	if (!c->memory)
		return 0;
	if (f->clock == MF_CLOCK_WALL)
		config.dram = 0;
	n->memory_ops = mf_memory_find(c->memory_type);
	n->memory = n->memory_ops != NULL ? n->memory_ops->create(&config) : NULL;
	if (n->memory == NULL)
		return fail(err, errlen, "%s: cannot have %llu octets of memory: %s", c->name,
			    (unsigned long long)config.size, strerror(errno));
	if (regions_make(f, i) != 0)
		return fail(err, errlen, "%s: cannot set up its regions: %s", c->name, strerror(errno));
	return 0;
}

int node_new_memory(struct mf_fabric *f, unsigned int i)
{
	struct node *n = &f->node[i];
	char err[1];

	if (n->memory == NULL)
		return 0;
	n->memory_ops->destroy(n->memory);
	n->memory = NULL;
	return make_memory(f, i, err, sizeof(err)) == 0 ? 0 : -ENOMEM;
}

/** Whether a node's link carries blocks of memory messages: EDM's, or those of a stack. */
static bool carries_blocks(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_stack_ops *stack = f->config->stack_ops;

	return f->config->node[i].memory_enabled && (stack == NULL || stack->messages);
}

/**
 * Frames that wait for a link at most. Virtual clock: a stack or bridge is asked for the one behind that
 * which is being sent, and for no more.
 */
static uint32_t frames_waiting(const struct mf_fabric *f, bool asked, uint32_t frames)
{
	return asked && f->clock == MF_CLOCK_VIRTUAL && frames > 2 ? 2 : frames;
}

#define SMALLEST_BLOCKS 9 /* of a frame of 64 octets with preamble */

/** Of a smallest frame to a node with the same link, and of another one back. */
static mf_time frame_rtt(const struct mf_fabric *f, unsigned int i)
{
	mf_time mac = f->timing.cost[MF_STAGE_MAC], way;

	if (f->clock == MF_CLOCK_WALL)
		return 0;
	way = 2 * (f->link[i].delay + 2 * mac + (mf_time)SMALLEST_BLOCKS * f->link[i].period);
	return 2 * (way + f->config->sw.l2_latency);
}

static uint32_t slowest(const struct mf_fabric *f)
{
	uint32_t period = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && (int)i != f->config->server && f->link[i].period > period)
			period = f->link[i].period;
	return period;
}

/** Whether its port sends with ids of its own: see MF_FAULT_FLOOD_ID. */
static bool shares_ids(const struct mf_config *c, unsigned int i)
{
	for (unsigned int k = 0; k < c->faults; k++)
		if ((c->fault[k].class == MF_FAULT_FLOOD || c->fault[k].class == MF_FAULT_FORGE) &&
		    cfg_set_has(&c->fault[k].link, i))
			return true;
	return false;
}

/** Numbers of uses begin anywhere. */
static uint16_t first_use(const struct mf_fabric *f, unsigned int i)
{
	struct mf_rng rng;

	mf_rng_init(&rng, f->config->seed, "use", i);
	return (uint16_t)mf_rng_next(&rng);
}

/** What two switches and their nodes say of epochs, and was not heard, is said again. */
static mf_time take_again(const struct mf_fabric *f)
{
	return f->clock == MF_CLOCK_VIRTUAL ? MF_US(10) : MF_MS(1);
}

/** No operation takes longer; 0: some may. */
static mf_time longest(const struct mf_fabric *f)
{
	mf_time most = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_host *h = &f->config->node[i].host;
		mf_time last = mf_time_max(h->read_timeout[f->clock], h->write_timeout[f->clock]);

		if (!f->config->node[i].up || !f->config->node[i].compute)
			continue;
		if (h->read_timeout[f->clock] == 0 || h->write_timeout[f->clock] == 0)
			return 0;
		most = mf_time_max(most, last + h->retries * h->retry_timeout[f->clock]);
	}
	return most;
}

static int make_host(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	struct node *n = &f->node[i];
	struct mf_host_config h = {
		.node = (uint16_t)i,
		.nodes = (uint16_t)f->nodes,
		.compute = c->compute,
		.memory_ops = n->memory_ops,
		.memory = n->memory,
		.access = n->regions,
		.region = f->region,
		.regions = c->compute ? f->regions : 0,
		.x = c->host.x,
		.chunk = f->config->sched.chunk[f->clock],
		.mega = c->host.mega,
		.queue = c->host.queue,
		.read_timeout = fabric_timer(f, &n->skew, c->host.read_timeout[f->clock]),
		.write_timeout = fabric_timer(f, &n->skew, c->host.write_timeout[f->clock]),
		.quarantine = fabric_timer(f, &n->skew, c->host.quarantine[f->clock]),
		.proto = f->config->proto,
		.use = first_use(f, i),
		.retries = c->host.retries,
		.retry_timeout = fabric_timer(f, &n->skew, c->host.retry_timeout[f->clock]),
		.timing = f->timing,
		.leaves_ids = shares_ids(f->config, i),
		.memory_enabled = carries_blocks(f, i),
		.ber_window = c->link.ber_window,
		.guard = guards_of(f, i, MF_LINK_NODE),
		.stack = c->memory_enabled ? f->config->stack_ops : NULL,
		.stack_param = f->config->stack.param,
		.stack_shared = f->stack_shared,
		.stack_rtt = frame_rtt(f, i),
		.stack_server = f->config->server,
		.stack_slowest = slowest(f),
		.probe = f->delivery != NULL ? &f->probe : NULL,
		.twin = f->config->backup.on,
		.begins = fabric_whole(f),
		.in_order = f->config->sched.order == MF_ORDER_PAIR,
		.take_again = take_again(f),
	};

	mux_config(f, i, frames_waiting(f, h.stack != NULL && c->ethernet < 0, c->host.frames),
		   c->host.frame_queue, &h.mux);
	n->above = h.stack != NULL;
	n->host = mf_host_new(&h);
	if (n->host == NULL)
		return fail(err, errlen, "%s: cannot set up its stack: %s", c->name, strerror(errno));
	return 0;
}

/**
 * The scheduler believes in fixed delays and in links that are all the chunks'. Frames, /N/, requests
 * and acknowledgements, and grants that wait behind data, bring more than that, and a link that is
 * granted in full never catches up: K and W bound what waits at an egress and in a source (D3).
 */
static void limits(struct mf_fabric *f, unsigned int i, struct mf_switch_port_config *port)
{
	const struct mf_config_switch *c = &f->config->sw;
	struct link_timing *link = &f->link[i];

	link->backlog_k = c->backlog_k;
	link->source_w = c->source_w;
	if (f->clock == MF_CLOCK_VIRTUAL && port->up) {
		link->backlog_k = c->backlog_k != 0 ? c->backlog_k : bound_under_way(f, i);
		link->source_w = c->source_w != 0 ? c->source_w : bound_under_way(f, i);
	}
	port->backlog_k = link->backlog_k;
	port->source_w = link->source_w;
}

/** What each node may ask for. */
static struct mf_switch_limits asked(const struct mf_fabric *f)
{
	const struct mf_config_limits *l = &f->config->limits;
	struct mf_switch_limits limits = {.rate_burst = l->rate_burst};

	if (l->rate > 0)
		limits.rate = (mf_time)(1e12 / l->rate) + 1;
	if (l->share > 0) {
		limits.share = (uint32_t)(1 / l->share + 0.5);
		limits.burst = l->burst / 8;
	}
	return limits;
}

/** What it has to know as one of two. */
static void twin_config(const struct mf_fabric *f, unsigned int number, struct mf_switch_config *s)
{
	s->twin = f->config->backup.on;
	s->number = (uint8_t)number;
	s->epoch_known = s->begins =
		fabric_whole(f); /* else this process may be one that was started again */
	s->in_order = f->config->sched.order == MF_ORDER_PAIR;
	s->chunk = f->config->sched.chunk[f->clock];
	s->take_again = take_again(f);
	s->longest = longest(f);
}

static struct mf_switch *make_switch(struct mf_fabric *f, unsigned int number, char *err, size_t errlen)
{
	const struct mf_config_switch *c = &f->config->sw;
	struct mf_switch_config *s = calloc(1, sizeof(*s));

	struct mf_switch *sw;

	if (s == NULL) {
		fail(err, errlen, "no memory");
		return NULL;
	}
	s->ports = f->nodes;
	for (unsigned int i = 0; i < f->nodes; i++) {
		s->port[i].up = f->config->node[i].up;
		s->port[i].memory_enabled = carries_blocks(f, i);
		s->link_delay[i] = number == 0 ? f->link[i].delay : f->backup.link[i].delay;
		s->port[i].ber_window = f->config->node[i].link.ber_window;
		s->port[i].guard = guards_of(f, i, MF_LINK_SWITCH);
		mux_config(f, i, frames_waiting(f, f->config->bridge_ops != NULL, c->frames), c->frame_queue,
			   &s->port[i].mux);
		limits(f, i, &s->port[i]);
		if (c->align && f->clock == MF_CLOCK_VIRTUAL)
			s->align[i] = bound_align(f, i);
	}
	s->proto = f->config->proto;
	s->timing = f->timing;
	s->x = f->config->sched.x;
	s->requests = c->requests;
	s->window = f->clock == MF_CLOCK_WALL;
	s->grant_timeout = fabric_timer(f, &f->skew, c->grant_timeout[f->clock]);
	s->hold_timeout = fabric_timer(f, &f->skew, c->hold_timeout[f->clock]);
	s->mac_table = c->mac_table;
	s->l2_latency = f->clock == MF_CLOCK_VIRTUAL ? c->l2_latency : 0;
	s->probe = f->stages != NULL ? &f->probe : NULL;
	s->bridge = f->config->bridge_ops;
	s->bridge_param = f->config->bridge.param;
	s->obeyed = mf_config_obeyed(f->config);
	s->seed = f->config->seed;
	s->limits = asked(f);
	twin_config(f, number, s);
	sw = mf_switch_new(s);
	free(s);
	if (sw == NULL)
		fail(err, errlen, "%s: cannot set it up: %s", number == 0 ? c->name : f->config->backup.name,
		     strerror(errno));
	return sw;
}

void fabric_sched_config(const struct mf_fabric *f, struct mf_sched_config *out)
{
	const struct mf_config_sched *c = &f->config->sched;

	*out = (struct mf_sched_config){
		.ports = f->nodes,
		.priority = c->priority,
		.order = c->order,
		.release = f->clock == MF_CLOCK_WALL ? MF_RELEASE_WINDOW : c->release,
		.chunk = c->chunk[f->clock],
		.x = c->x,
		.window = c->window,
		.iterations = c->iterations,
		.srpt_transfer = c->srpt_transfer,
		.slots = f->clock == MF_CLOCK_VIRTUAL && c->slots,
		.chunk_overhead = mf_proto_chunk_blocks(&f->config->proto, 0),
		.max_simd_bits = rte_vect_get_max_simd_bitwidth(),
		.insert = f->clock == MF_CLOCK_VIRTUAL && c->timed ? c->insert : 0,
		.iteration = f->clock == MF_CLOCK_VIRTUAL && c->timed ? c->iteration : 0,
	};

	for (unsigned int i = 0; i < f->nodes; i++)
		out->period[i] = f->link[i].period;
	/* 3.1.3: the next matching, log2(N) iterations, forms while the links are busy. */
	for (unsigned int n = 1; n < f->nodes; n *= 2)
		out->ahead += out->iteration;
}

static struct mf_sched *make_sched(struct mf_fabric *f, char *err, size_t errlen)
{
	struct mf_sched_config s;
	struct mf_sched *sched;

	fabric_sched_config(f, &s);
	f->sched_ops = mf_sched_find(f->config->sched.policy);
	sched = f->sched_ops != NULL ? f->sched_ops->create(&s) : NULL;
	if (sched == NULL)
		fail(err, errlen, "scheduler: cannot set it up: %s", strerror(errno));
	return sched;
}

static int make_switches(struct mf_fabric *f, char *err, size_t errlen)
{
	f->sw = make_switch(f, 0, err, errlen);
	f->sched = f->sw != NULL ? make_sched(f, err, errlen) : NULL;
	if (f->sched == NULL || !f->config->backup.on)
		return f->sched != NULL ? 0 : -EINVAL;
	f->backup.sw = make_switch(f, 1, err, errlen);
	f->backup.sched = f->backup.sw != NULL ? make_sched(f, err, errlen) : NULL;
	return f->backup.sched != NULL ? 0 : -EINVAL;
}

static int make_shared(struct mf_fabric *f, char *err, size_t errlen)
{
	const struct mf_stack_ops *stack = f->config->stack_ops;

	if (stack != NULL && f->clock == MF_CLOCK_WALL && !stack->wall)
		return fail(err, errlen, "stack: \"%s\" runs under the virtual clock only", stack->name);
	if (stack != NULL && f->clock == MF_CLOCK_WALL && f->config->bridge_ops->timed)
		return fail(err, errlen, "switch.bridge: \"%s\" runs under the virtual clock only",
			    f->config->bridge_ops->name);
	if (stack == NULL || stack->share == NULL)
		return 0;
	f->stack_shared = stack->share((uint16_t)f->nodes, f->config->stack.param);
	return f->stack_shared != NULL ? 0 : fail(err, errlen, "no memory");
}

/** Clocks of the roles of this process. */
static void skew_clocks(struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];
		int64_t ppb = (int64_t)(c->ppm * 1000);

		if (c->class != MF_FAULT_SKEW)
			continue;
		for (unsigned int i = 0; i < f->nodes; i++) {
			if (!f->part.node[i] || !cfg_set_has(&c->link, i))
				continue;
			f->node[i].skew.ppb += ppb;
			f->node[i].skew.offset += c->offset;
			f->fault_fired[k]++;
		}
		if (c->role == MF_CONFIG_SWITCH && f->part.sw) {
			f->skew.ppb += ppb;
			f->skew.offset += c->offset;
			f->fault_fired[k]++;
		}
	}
}

/**
 * Roles crash within a process. A partner elsewhere would not know a link that comes back with the same
 * epoch from one that was silent for a while.
 */
static int check_crashes(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];
		bool of_switch = c->class == MF_FAULT_SWITCH_CRASH;

		for (unsigned int i = 0; i < f->nodes; i++)
			if ((of_switch ? f->part.sw
				       : c->class == MF_FAULT_NODE_CRASH && f->part.node[i] &&
						 cfg_set_has(&c->link, i)) &&
			    fabric_carried(f, i))
				return fail(err, errlen,
					    "faults[%u].%s: the link of '%s' is carried by ports: end the "
					    "process of the %s instead",
					    k, of_switch ? "class" : "node", f->config->node[i].name,
					    of_switch ? "switch" : "node");
	}
	return 0;
}

/** Who forges has looked at the regions of the memory nodes: by the wall clock those are other lcores'. */
static int check_forgers(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		if (f->config->fault[k].class == MF_FAULT_FORGE)
			return fail(err, errlen, "faults[%u].class: \"forge\" is for the virtual clock only",
				    k);
	return 0;
}

static int build(struct mf_fabric *f, char *err, size_t errlen)
{
	int e = 0;

	if (f->node == NULL || f->link == NULL || f->fault_fired == NULL ||
	    snapshot_init(&f->at_measure, f->nodes) != 0 || snapshot_init(&f->at_stop, f->nodes) != 0)
		return fail(err, errlen, "no memory");
	if (f->clock == MF_CLOCK_VIRTUAL)
		f->timing = f->config->timing;
	if (f->clock == MF_CLOCK_VIRTUAL && probe_init(f) != 0)
		return fail(err, errlen, "no memory");
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up)
			make_link(f, i);
		else
			f->link[i].period = f->clock == MF_CLOCK_VIRTUAL; /* a port that nothing is at */
	skew_clocks(f);
	if (f->clock == MF_CLOCK_WALL && f->config->faults > 0 && f->config->backup.on)
		return fail(err, errlen, "faults: with \"backup\" under the virtual clock only");
	if (f->clock == MF_CLOCK_WALL && check_forgers(f, err, errlen) != 0)
		return -EINVAL;
	if (f->clock == MF_CLOCK_WALL && check_crashes(f, err, errlen) != 0)
		return -EINVAL;
	if (guards_init(f) != 0)
		return fail(err, errlen, "no memory");
	if (f->config->regions > 0 && regions_map(f) != 0)
		return fail(err, errlen, "no memory");
	if (f->config->backup.on && make_backup_links(f) != 0)
		return fail(err, errlen, "no memory");
	e = make_shared(f, err, errlen);
	for (unsigned int i = 0; i < f->nodes && e == 0; i++) {
		if (!f->part.node[i])
			continue;
		e = make_memory(f, i, err, errlen);
		if (e == 0)
			e = make_host(f, i, err, errlen);
	}
	return e == 0 ? make_switches(f, err, errlen) : e;
}

struct mf_fabric *fabric_new_idle(const struct mf_config *config, enum mf_clock clock,
				  const struct mf_part *part, char *err, size_t errlen)
{
	struct mf_fabric *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		fail(err, errlen, "no memory");
		return NULL;
	}
	pthread_mutex_init(&f->readers, NULL);
	f->config = config;
	f->clock = clock;
	f->nodes = config->sw.ports;
	fabric_take_part(f, part);
	f->measure = config->clock[clock].warmup;
	f->stop = f->measure + config->clock[clock].duration;
	f->drain = config->clock[clock].drain;
	f->node = mf_table_new(f->nodes, sizeof(*f->node));
	f->link = calloc(f->nodes, sizeof(*f->link));
	f->fault_fired = calloc(config->faults + 1, sizeof(*f->fault_fired));
	if (build(f, err, errlen) != 0) {
		mf_fabric_free(f);
		return NULL;
	}
	return f;
}

struct mf_fabric *mf_fabric_new(const struct mf_config *config, enum mf_clock clock, char *err, size_t errlen)
{
	return mf_fabric_new_part(config, clock, NULL, err, errlen);
}

struct mf_fabric *mf_fabric_new_part(const struct mf_config *config, enum mf_clock clock,
				     const struct mf_part *part, char *err, size_t errlen)
{
	struct mf_fabric *f = fabric_new_idle(config, clock, part, err, errlen);

	if (f == NULL)
		return NULL;
	if (load_clients(f, err, errlen) != 0 || load_frames(f, err, errlen) != 0) {
		mf_fabric_free(f);
		return NULL;
	}
	return f;
}

void mf_fabric_free(struct mf_fabric *f)
{
	if (f == NULL)
		return;
	for (unsigned int i = 0; i < f->nodes && f->node != NULL; i++) {
		struct node *n = &f->node[i];

		mf_client_free(n->client);
		mf_ether_free(n->ether);
		mf_host_free(n->host);
		mf_regions_free(n->regions);
		if (n->memory != NULL)
			n->memory_ops->destroy(n->memory);
	}
	if (f->stack_shared != NULL)
		f->config->stack_ops->unshare(f->stack_shared);
	mf_switch_free(f->sw);
	mf_switch_free(f->backup.sw);
	if (f->sched != NULL)
		f->sched_ops->destroy(f->sched);
	if (f->backup.sched != NULL)
		f->sched_ops->destroy(f->backup.sched);
	free(f->backup.link);
	stages_free(f->stages);
	pending_fini(&f->pending);
	delivery_free(f->delivery);
	messages_free(f->messages);
	alone_free(f->alone);
	cycles_free(f);
	carried_free(f->carried);
	guards_fini(f);
	mf_history_free(f->history);
	free(f->watched);
	snapshot_fini(&f->at_measure);
	snapshot_fini(&f->at_stop);
	mf_table_free(f->node);
	free(f->link);
	free(f->fault_fired);
	free(f->region);
	pthread_mutex_destroy(&f->readers);
	free(f);
}

int mf_fabric_run(struct mf_fabric *f, const struct mf_run_options *options)
{
	int err;

	f->captures = options->captures;
	err = history_start(f, options->history);
	if (err != 0)
		return err;
	err = f->clock == MF_CLOCK_VIRTUAL ? virtual_run(f, options) : wall_run(f, options);

	if (err == 0 && f->messages != NULL && f->config->report_normalised && !f->info.interrupted)
		f->alone = alone_new(f, options, f->alone_error, sizeof(f->alone_error));
	return err;
}

const char *mf_fabric_error(const struct mf_fabric *f)
{
	return f->info.error[0] != '\0' ? f->info.error : NULL;
}
