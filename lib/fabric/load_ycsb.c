/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores: what is in them at the start, their clients, and what their queries cost. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "config/mf_config_query.h"
#include "fabric/load_priv.h"

static struct op_blocks scan_blocks(const struct fabric_tier *t, const struct mf_store *s, uint32_t length)
{
	uint32_t target, parts = mf_store_scan_parts(s, length);
	struct op_blocks sum = {0};
	uint64_t offset;

	for (uint32_t i = 0; i < parts; i++) {
		uint64_t octets = mf_store_scan_part(s, 0, length, i, &target, &offset);
		struct op_blocks b;

		if (octets == 0)
			continue;
		b = load_kind_blocks(t, MF_MIX_READ, octets);
		load_add_blocks(&sum, &b, 1);
	}
	return sum;
}

/** Of all lengths, as often as they are. */
static struct op_blocks scans_blocks(const struct fabric_tier *t, const struct mf_config_workload *w,
				     const struct mf_store *s)
{
	struct op_blocks mean = {0};
	double weights = 0;

	for (uint32_t n = 1; n <= w->ycsb.scan; n++)
		weights += w->ycsb.scan_lengths != 0 ? pow(n, -w->theta) : 1;
	for (uint32_t n = 1; n <= w->ycsb.scan; n++) {
		struct op_blocks b = scan_blocks(t, s, n);

		load_add_blocks(&mean, &b, (w->ycsb.scan_lengths != 0 ? pow(n, -w->theta) : 1) / weights);
	}
	return mean;
}

/** Share of the queries that stay at their nodes: those that are to, and those about records there. */
static double local_share(const struct mf_config_workload *w)
{
	unsigned int own = 0;

	for (unsigned int i = 0; i < w->clients.n; i++)
		own += mf_config_has(&w->targets, w->clients.node[i]);
	return 1 - (1 - w->ycsb.local) * (1 - (double)own / w->clients.n / w->targets.n);
}

struct op_blocks load_query_blocks(const struct fabric_tier *t, const struct mf_config_workload *w)
{
	const struct mf_config_ycsb *y = &w->ycsb;
	const struct mf_store s = mf_config_store(w);
	unsigned int write = y->acknowledge ? MF_MIX_WRITE_ACK : MF_MIX_WRITE;
	uint64_t record = mf_store_record(&s);
	struct op_blocks sum = {0}, all = {0},
			 reads = load_kind_blocks(t, MF_MIX_READ, y->read_all ? record : y->field),
			 writes = load_kind_blocks(t, write, y->write_all ? record : y->field),
			 inserts = load_kind_blocks(t, write, record);

	load_add_blocks(&sum, &reads, y->mix[MF_QUERY_READ] + y->mix[MF_QUERY_RMW]);
	load_add_blocks(&sum, &writes, y->mix[MF_QUERY_UPDATE] + y->mix[MF_QUERY_RMW]);
	load_add_blocks(&sum, &inserts, y->mix[MF_QUERY_INSERT]);
	if (y->mix[MF_QUERY_SCAN] > 0) {
		struct op_blocks scans = scans_blocks(t, w, &s);

		load_add_blocks(&sum, &scans, y->mix[MF_QUERY_SCAN]);
	}
	load_add_blocks(&all, &sum, (1 - local_share(w)) / y->mix_sum);
	return all;
}

/** Records of a scan in the mean. */
static double scan_mean(const struct mf_config_workload *w)
{
	double sum = 0, weights = 0;

	for (uint32_t n = 1; n <= w->ycsb.scan; n++) {
		double weight = w->ycsb.scan_lengths != 0 ? pow(n, -w->theta) : 1;

		weights += weight;
		sum += weight * n;
	}
	return sum / weights;
}

struct op_blocks load_query_payload(const struct mf_config_workload *w)
{
	const struct mf_config_ycsb *y = &w->ycsb;
	const struct mf_store s = mf_config_store(w);
	double record = (double)mf_store_record(&s), remote = (1 - local_share(w)) / y->mix_sum / 8;
	double reads = (y->mix[MF_QUERY_READ] + y->mix[MF_QUERY_RMW]) * (y->read_all ? record : y->field);
	double writes = (y->mix[MF_QUERY_UPDATE] + y->mix[MF_QUERY_RMW]) * (y->write_all ? record : y->field);

	reads += y->mix[MF_QUERY_SCAN] > 0 ? y->mix[MF_QUERY_SCAN] * scan_mean(w) * record : 0;
	writes += y->mix[MF_QUERY_INSERT] * record;
	return (struct op_blocks){.cn_up = writes * remote,
				  .cn_down = reads * remote,
				  .mn_up = reads * remote,
				  .mn_down = writes * remote};
}

/** Octets from which on a value may lie across messages: the least of all networks. */
static uint32_t whole_of(const struct mf_fabric *f)
{
	uint32_t whole = UINT32_MAX;

	for (unsigned int k = 0; k < f->tiers; k++) {
		const struct mf_config_tier *c = f->tier[k].config;
		uint32_t own = c->stack_ops == NULL ? c->sched.chunk[f->clock] : 1;

		whole = own < whole ? own : whole;
	}
	return whole;
}

struct mf_client *load_store_client(const struct mf_fabric *f, const struct mf_config_workload *w,
				    unsigned int i, struct mf_client_config *c)
{
	const struct mf_config_ycsb *y = &w->ycsb;
	struct mf_store_client s = {
		.store = mf_config_store(w),
		.client = i,
		.keys = (enum mf_store_keys)y->keys,
		.theta = w->theta,
		.read_all = y->read_all,
		.write_all = y->write_all,
		.acknowledge = y->acknowledge,
		.scan = y->scan,
		.scan_zipfian = y->scan_lengths != 0,
		.local = y->local,
		.local_time = y->local_time,
		/* A stack above the MAC cuts where its packets end: any value may lie across. */
		.whole = whole_of(f),
	};

	for (unsigned int k = 0; k < MF_QUERY_KINDS; k++)
		s.mix[k] = y->mix[k];
	if (w->trace.query != NULL) {
		s.queries = w->trace.query + w->trace.first[i];
		s.queries_count = w->trace.first[i + 1] - w->trace.first[i];
	}
	c->first = 0;
	c->base = 0; /* clients share the store */
	c->span = mf_store_extent(&s.store);
	c->pattern = MF_CLIENT_TO_UNIFORM;
	c->burst = 1;
	c->store = &s;
	return mf_client_new(c);
}

int load_store(const struct mf_fabric *f, const struct mf_config_workload *w)
{
	const struct mf_store s = mf_config_store(w);
	uint8_t *record = malloc(mf_store_record(&s));

	if (record == NULL)
		return -ENOMEM;
	for (uint64_t key = 0; key < s.records; key++) {
		const struct node *n;
		uint64_t offset;
		uint32_t target;

		mf_store_find(&s, key, &target, &offset);
		n = &f->node[w->targets.node[target]];
		if (n->memory == NULL)
			continue; /* another process' */
		mf_store_fill(&s, key, record);
		mf_memory_write(n->memory_ops, n->memory, w->base + offset, (uint32_t)mf_store_record(&s),
				record);
	}
	free(record);
	return 0;
}
