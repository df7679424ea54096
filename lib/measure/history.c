/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_run_history.h"

#include <errno.h>
#include <stdio.h>

#include "config/mf_config_query.h"
#include "spaces/mf_spaces.h"

#define LOG_MIN 4096 /* octets */

static uint64_t longest_of(const struct mf_config_workload *w)
{
	struct mf_store s;
	uint64_t record, scan;

	if (!w->ycsb.on)
		return w->size.max;
	s = mf_config_store(w);
	record = mf_store_record(&s);
	scan = w->ycsb.mix[MF_QUERY_SCAN] > 0 ? mf_store_scan_octets(&s, w->ycsb.scan) : 0;
	return scan > record ? scan : record;
}

/** A fault that loses single messages, so that one of two switches may know less of a pair than the other. */
static bool makes_holes(const struct mf_config_fault *f)
{
	return f->class <= MF_FAULT_LOSE || f->class == MF_FAULT_EXHAUST;
}

/** Whether requests of a pair take effect as they were begun (D9), but for what is broken on purpose. */
static bool in_order(const struct mf_config *c)
{
	bool order = true;

	for (unsigned int k = 0; k < c->tiers; k++)
		order &= c->tier[k].stack_ops == NULL ? c->tier[k].sched.order != MF_ORDER_DIRECTION
						      : c->tier[k].stack_ops->ordered;
	for (unsigned int i = 0; i < c->faults; i++)
		order &= c->fault[i].class != MF_FAULT_DUPLICATE && c->fault[i].class != MF_FAULT_REORDER &&
			 !(c->backup.on && makes_holes(&c->fault[i]));
	/* What is sent again comes behind younger ones. So does what is asked of a page that is not ready. */
	for (unsigned int i = 0; i < c->nodes; i++)
		order &=
			c->node[i].host.retries == 0 && !(c->node[i].up && mf_config_is_virtual(&c->node[i]));
	return order;
}

/** Links that ports carry and that send nothing again; all in one process: those that are carried always. */
static bool carries_without_llr(const struct mf_fabric *f)
{
	const struct mf_config *c = f->config;
	bool whole = fabric_whole(f), any = false;

	for (unsigned int i = 0; i < c->nodes && f->clock == MF_CLOCK_WALL; i++) {
		const struct mf_config_llr *of[] = {&c->node[i].link.llr, &c->node[i].backup_llr};

		for (unsigned int k = 0; k < 1U + c->backup.on; k++)
			any |= c->node[i].up && of[k]->port[MF_LINK_NODE] >= 0 && !of[k]->retransmit &&
			       (!whole || of[k]->carry == MF_CARRY_ALWAYS);
	}
	return any;
}

/**
 * Whether an unacknowledged write that is lost without a word (D11) would be known here. It may be so behind
 * a chunk that came too late for its grant, or was held up on its way out: its switch knows. Where that is
 * another process nobody here does, nor whether one of two switches died.
 */
static bool knows_losses(const struct mf_fabric *f)
{
	if (f->clock == MF_CLOCK_WALL && f->config->backup.on)
		return false;
	if (fabric_whole(f))
		return true;
	for (unsigned int k = 0; k < f->tiers; k++) {
		const struct mf_config_switch *sw;

		if (f->tier[k].switches == 0)
			continue;
		sw = fabric_switch_config(f, f->tier[k].first_switch);

		if (sw->grant_timeout[f->clock] != 0 || sw->hold_timeout[f->clock] != 0 ||
		    !f->plays.sw[f->tier[k].first_switch])
			return false;
	}
	return true;
}

/** Whether somebody may take a right away: what is on its way by then is refused without a word. */
static bool rights_change(const struct mf_fabric *f)
{
	return f->config->regions > 0 && (f->embedded != NULL || !fabric_whole(f));
}

static bool all_edm(const struct mf_config *c)
{
	for (unsigned int k = 0; k < c->tiers; k++)
		if (c->tier[k].stack_ops != NULL || c->tier[k].bridge_ops != NULL)
			return false;
	return true;
}

/** Whether nothing is lost without a word, as far as is known before the run. */
static bool lossless(const struct mf_fabric *f)
{
	const struct mf_config *c = f->config;

	return c->faults == 0 && all_edm(c) && !carries_without_llr(f) && knows_losses(f) &&
	       !rights_change(f);
}

/** In a switch. */
static uint64_t lost_at(const struct mf_fabric *f, unsigned int number)
{
	const struct mf_vertex *r = &f->graph->role[f->nodes + number];
	const struct mf_sw *sw = f->sw[number].sw;
	struct mf_switch_stats s;
	uint64_t lost;

	mf_sw_stats(sw, &s);
	lost = s.drop_check + s.drop_proto + s.drop_spoof + s.drop_dst + s.drop_ungranted + s.drop_room +
	       s.drop_cut + s.drop_descriptor + s.expired;

	for (uint32_t port = 0; port < r->ends; port++)
		lost += mf_sw_mux_stats(sw, port)->aborted;
	return lost;
}

/** Messages that this process threw away without a word: some may have been of such a write. */
static uint64_t lost_here(const struct mf_fabric *f)
{
	uint64_t lost = 0;

	for (unsigned int k = 0; k < f->graph->switches; k++)
		lost += lost_at(f, k);
	for (unsigned int i = 0; i < f->nodes; i++) {
		struct mf_host_stats s;

		if (f->node[i].host == NULL)
			continue;
		mf_node_stats(f->node[i].host, &s);
		lost += s.drop_check + s.drop_proto + s.drop_dst + s.drop_room;
	}
	return lost;
}

/**
 * Whether clients are told of another life of a node before that answers them. One switch lets nothing be
 * asked before they have said that they have heard. With two the word is in front of all answers, on both
 * links, which does not help where it is lost or overtaken (docs/fault-tolerance.md). Other stacks have no
 * such word.
 */
static bool tells(const struct mf_fabric *f)
{
	const struct mf_config *c = f->config;
	bool tells = all_edm(c);

	for (unsigned int i = 0; i < c->faults && c->backup.on; i++)
		tells &= !makes_holes(&c->fault[i]) && c->fault[i].class != MF_FAULT_REORDER;
	return tells && !(c->backup.on && carries_without_llr(f));
}

static struct mf_history_config config_of(const struct mf_fabric *f)
{
	const struct mf_config *c = f->config;
	struct mf_history_config h = {.in_order = in_order(c), .lossless = lossless(f), .tells = tells(f)};
	uint64_t longest = 0;

	for (unsigned int i = 0; i < c->workloads; i++) {
		uint64_t octets = longest_of(&c->workload[i]);

		longest = octets > longest ? octets : longest;
	}
	h.sample = mf_history_sample(longest);
	if (mf_config_fingerprint(c, &h.fingerprint) != 0)
		h.fingerprint = 0;
	return h;
}

/** What a store, or a sink, holds at the start is not 0. */
static void stores(struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->config->workloads; k++) {
		const struct mf_config_workload *w = &f->config->workload[k];
		struct mf_store s;

		if (!w->ycsb.on && !mf_config_is_sink(&f->config->node[w->targets.node[0]]))
			continue;
		s = mf_config_store(w);
		for (unsigned int t = 0; t < w->targets.n; t++)
			mf_history_unknown(mf_history_log(f->history, 0), w->targets.node[t], w->base,
					   w->ycsb.on ? mf_store_extent(&s) : w->clients.n * w->span);
	}
}

/** Whether a node has a client, or may have an embedded client, whose operations are recorded. */
static bool asks(const struct mf_fabric *f, unsigned int i)
{
	const struct node *n = &f->node[i];

	return n->client != NULL || (f->embedded != NULL && n->host != NULL && f->config->node[i].compute);
}

static unsigned int clients(const struct mf_fabric *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		n += asks(f, i);
	return n;
}

/** The client of a node, or its layer of address spaces, records operations. @return 0 or -ENOMEM */
static int record(struct mf_fabric *f, unsigned int i)
{
	const struct node *n = &f->node[i];
	struct mf_history_log *log = mf_history_log(f->history, i);
	int w = f->config->node[i].workload;

	if (n->layer != NULL && n->layer->ops == &mf_spaces_layer)
		mf_spaces_record(n->layer, log);
	if (n->client == NULL)
		return 0;
	return mf_client_record(n->client, log, w >= 0 && f->config->workload[w].spaces.spaces > 0);
}

int history_start(struct mf_fabric *f, uint64_t octets)
{
	const struct mf_history_config config = config_of(f);
	unsigned int n = clients(f);
	int rc = 0;

	if (octets == 0)
		return 0;
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->clock == MF_CLOCK_WALL && f->node[i].client != NULL &&
		    (f->node[i].skew.ppb != 0 || f->node[i].skew.offset != 0)) {
			snprintf(f->info.error, sizeof(f->info.error),
				 "faults: the clock of '%s' is skewed: its history would show wrong times",
				 f->config->node[i].name);
			return -EINVAL;
		}
	octets /= n > 0 ? n : 1;
	f->history = mf_history_new(&config, f->nodes, octets > LOG_MIN ? octets : LOG_MIN);
	if (f->history == NULL)
		return -ENOMEM;
	stores(f);
	for (unsigned int i = 0; i < f->nodes && rc == 0; i++)
		if (asks(f, i))
			rc = record(f, i);
	return rc;
}

struct mf_history_log *history_log(struct mf_fabric *f, unsigned int node)
{
	return f->history != NULL && asks(f, node) ? mf_history_log(f->history, node) : NULL;
}

/** The same for all processes of a machine, as long as it runs. @return false: there is none */
static bool machine_of(uint8_t machine[16])
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "r");
	unsigned int octet, n = 0;

	if (in == NULL)
		return false;
	for (; n < 16 && fscanf(in, "%2x", &octet) == 1; n++) {
		machine[n] = (uint8_t)octet;
		if (fscanf(in, "-") == EOF)
			break;
	}
	fclose(in);
	return n >= 15;
}

void history_clock(struct mf_fabric *f, mf_time (*now)(void *ctx), void *ctx, uint64_t tick0, uint64_t hz)
{
	struct mf_history_clock clock = {.now = now, .ctx = ctx, .tick0 = tick0, .hz = hz};

	if (f->history == NULL)
		return;
	if (!machine_of(clock.machine))
		clock.hz = 0; /* its times cannot be compared with those of others */
	mf_history_set_clock(f->history, &clock);
}

const struct mf_history *history_of(const struct mf_fabric *f)
{
	if (f->history != NULL && lost_here(f) > 0)
		mf_history_lossy(f->history);
	return f->history;
}
