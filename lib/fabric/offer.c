/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of all clients, in the order of time. */
#include "fabric/mf_offer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_make.h"

#define REQUEST 16 /* bytes that ask for a read, in the traces of EDM's own generator */

#define DRAWN UINT64_MAX /* there is no such address */

struct mf_offer {
	struct mf_fabric f; /**< networks and nodes with clients, without anything else */
	struct mf_client_message *next; /**< [f.nodes] */
	uint64_t *addr; /**< [f.nodes] where that is, of a trace that says it; otherwise DRAWN */
	uint16_t *heap; /**< of nodes that have one: the earliest, and of those the least, is on top */
	unsigned int heaped;
	bool keyed; /**< queries of one store instead of messages; the heap has its clients in their order */
	unsigned int turn; /**< keyed: in the heap, who is next */
};

static bool before(const struct mf_offer *m, uint16_t a, uint16_t b)
{
	mf_time at = m->next[a].start, bt = m->next[b].start;

	return at < bt || (at == bt && a < b);
}

/** The node at place i may be too late for it. */
static void sink(struct mf_offer *m, unsigned int i)
{
	uint16_t node = m->heap[i];

	for (unsigned int child = 2 * i + 1; child < m->heaped; child = 2 * i + 1) {
		if (child + 1 < m->heaped && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], node))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = node;
}

static bool has_store(const struct mf_config *config, char *err, size_t errlen)
{
	if (config->workloads == 1 && config->workload[0].ycsb.on)
		return true;
	snprintf(err, errlen, "queries are those of one workload with a store (ycsb)");
	return false;
}

static bool has_times(const struct mf_config *config, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < config->workloads; i++) {
		if (config->workload[i].open)
			continue;
		snprintf(err, errlen, "workload[%u]: in a closed loop there are no times before it has run",
			 i);
		return false;
	}
	if (config->workloads == 0)
		snprintf(err, errlen, "there is no workload");
	return config->workloads > 0;
}

static bool start(struct mf_offer *m, char *err, size_t errlen)
{
	struct mf_fabric *f = &m->f;

	f->node = mf_table_new(f->nodes, sizeof(*f->node));
	m->next = calloc(f->nodes, sizeof(*m->next));
	m->addr = calloc(f->nodes, sizeof(*m->addr));
	m->heap = calloc(f->nodes, sizeof(*m->heap));
	if (f->node == NULL || m->next == NULL || m->addr == NULL || m->heap == NULL || make_tiers(f) != 0 ||
	    make_graph(f) != 0) {
		snprintf(err, errlen, "no memory");
		return false;
	}
	if (load_clients(f, err, errlen) != 0)
		return false;
	for (unsigned int i = 0; i < f->nodes; i++)
		m->addr[i] = DRAWN;
	for (unsigned int i = 0; i < f->nodes && m->keyed; i++)
		if (f->node[i].client != NULL)
			m->heap[m->heaped++] = (uint16_t)i;
	for (unsigned int i = 0; i < f->nodes && !m->keyed; i++)
		if (f->node[i].client != NULL && mf_client_draw(f->node[i].client, &m->next[i], &m->addr[i]))
			m->heap[m->heaped++] = (uint16_t)i;
	for (unsigned int i = m->heaped; !m->keyed && i-- > 0;)
		sink(m, i);
	return true;
}

struct mf_offer *mf_offer_new(const struct mf_config *config, enum mf_clock clock, bool keyed, char *err,
			      size_t errlen)
{
	struct mf_offer *m;

	if (keyed ? !has_store(config, err, errlen) : !has_times(config, err, errlen))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (m == NULL) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	m->keyed = keyed;
	m->f.config = config;
	m->f.clock = clock;
	m->f.nodes = config->slots;
	fabric_take_roles(&m->f, NULL);
	m->f.measure = config->clock[clock].warmup;
	m->f.stop = m->f.measure + config->clock[clock].duration;
	if (start(m, err, errlen))
		return m;
	mf_offer_free(m);
	return NULL;
}

void mf_offer_free(struct mf_offer *m)
{
	if (m == NULL)
		return;
	for (unsigned int i = 0; i < m->f.nodes && m->f.node != NULL; i++)
		mf_client_free(m->f.node[i].client);
	load_clients_fini(&m->f);
	mf_table_free(m->f.node);
	for (unsigned int k = 0; m->f.sw != NULL && k < m->f.graph->switches; k++)
		if (m->f.sw[k].routes != m->f.routes)
			mf_routes_free(m->f.sw[k].routes);
	free(m->f.sw);
	tiers_free(&m->f);
	mf_routes_free(m->f.routes);
	free(m->f.trunk);
	free(m->f.link);
	mf_topology_free(m->f.graph);
	free(m->next);
	free(m->addr);
	free(m->heap);
	free(m);
}

/** Clients take turns, as they do where their queries are read from a file. */
static bool next_query(struct mf_offer *m, struct mf_trace_row *row)
{
	struct mf_query q;

	if (m->heaped == 0 || !mf_client_draw_query(m->f.node[m->heap[m->turn]].client, &q))
		return false;
	m->turn = m->turn + 1 < m->heaped ? m->turn + 1 : 0;
	*row = (struct mf_trace_row){.key = q.key, .octets = q.length, .kind = q.kind};
	return true;
}

bool mf_offer_next(struct mf_offer *m, struct mf_trace_row *row)
{
	const struct mf_client_message *next;
	uint16_t node;

	if (m->keyed)
		return next_query(m, row);
	if (m->heaped == 0)
		return false;
	node = m->heap[0];
	next = &m->next[node];
	*row = (struct mf_trace_row){.start = next->start,
				     .octets = next->octets,
				     .request = next->kind == MF_CLIENT_READ ? REQUEST : 0,
				     .src = node,
				     .dst = next->node,
				     .kind = next->kind,
				     .has_addr = m->addr[node] != DRAWN,
				     .addr = m->addr[node] != DRAWN ? m->addr[node] : 0};
	if (!mf_client_draw(m->f.node[node].client, &m->next[node], &m->addr[node]))
		m->heap[0] = m->heap[--m->heaped];
	if (m->heaped > 0)
		sink(m, 0);
	return true;
}
