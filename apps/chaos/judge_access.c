/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge_access.h"

#include "fault/mf_fault.h"
#include "systems/edm/proto/mf_proto.h"

struct access {
	const struct mf_config *config;
	struct verdict *v;
	bool guarded[MF_NODES_MAX]; /**< memory nodes that have regions */
	bool certain; /**< nothing else goes wrong, so whoever has the right must not fail */
};

static bool has(const struct mf_config_set *set, unsigned int node)
{
	for (unsigned int i = 0; i < set->n; i++)
		if (set->node[i] == node)
			return true;
	return false;
}

static bool reads(uint8_t kind)
{
	return kind != MF_HISTORY_WRITE && kind != MF_HISTORY_WRITE_ACK;
}

/** Whether a client has the right to all of an operation. */
static bool may(const struct access *a, const struct mf_history_record *r)
{
	for (unsigned int i = 0; i < a->config->regions; i++) {
		const struct mf_config_region *g = &a->config->region[i];

		if (!has(&g->memory, r->node) || r->addr < g->at || r->addr - g->at >= g->size)
			continue;
		if (r->len > g->size - (r->addr - g->at))
			return false;
		if (g->owner == r->client)
			return true;
		return (!reads(r->kind) || has(&g->readers, r->client)) &&
		       (r->kind == MF_HISTORY_READ || has(&g->writers, r->client));
	}
	return !a->guarded[r->node];
}

/** Whether a failure could have befallen any operation: one that says more tells what is there. */
static bool tells_nothing(uint8_t status)
{
	return status != MF_ERR_RANGE && status != MF_ERR_ALIGN && status != MF_ERR_OPCODE;
}

static void violated(struct access *a, const struct mf_history_record *r, const char *what)
{
	verdict_violation(a->v, "access", "%s: kind %u of node %u to node %u, 0x%llx, %llu octets: %s", what,
			  r->kind, r->client, r->node, (unsigned long long)r->addr,
			  (unsigned long long)r->len, mf_status_name(r->status));
}

static void see(void *ctx, const struct mf_history_record *r)
{
	struct access *a = ctx;
	bool done = r->outcome == MF_HISTORY_OK;

	if (r->kind >= MF_HISTORY_OPS || r->outcome == MF_HISTORY_UNDER_WAY)
		return;
	if (!may(a, r)) {
		a->v->sum[SUM_REFUSED]++;
		/* A plain write has completed when it is sent; what its data say is the clients' to find. */
		if (done && r->kind != MF_HISTORY_WRITE)
			violated(a, r, "let in without the right");
		else if (!tells_nothing(r->status))
			violated(a, r, "told why it is refused");
	} else if (r->status == MF_ERR_KEY) {
		violated(a, r, "refused with the right");
	} else if (!done && a->certain) {
		violated(a, r, "failed with the right");
	}
}

void judge_access(const struct mf_config *config, const struct mf_history *h, struct verdict *v)
{
	struct access a = {.config = config,
			   .v = v,
			   .certain = config->limits.rate == 0 && config->limits.outstanding == 0};

	if (config->regions == 0)
		return;
	for (unsigned int i = 0; i < config->regions; i++)
		for (unsigned int k = 0; k < config->region[i].memory.n; k++)
			a.guarded[config->region[i].memory.node[k]] = true;
	for (unsigned int i = 0; i < config->faults; i++)
		a.certain = a.certain && config->fault[i].class == MF_FAULT_FORGE;
	mf_history_each(h, see, &a);
}
