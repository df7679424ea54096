/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of all clients, in the order of time. */
#include "mf_offer.h"

#include <stdlib.h>

#include "fabric_priv.h"
#include "mf_table.h"

#define REQUEST 8 /* octets that ask for a read, as the paper counts them (Table 1) */

struct mf_offer {
	struct mf_fabric f; /**< nodes with clients and without anything else */
	struct mf_client_message *next; /**< [f.nodes] */
	uint16_t *heap; /**< of nodes that have one: the earliest, and of those the least, is on top */
	unsigned int heaped;
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
	m->heap = calloc(f->nodes, sizeof(*m->heap));
	if (f->node == NULL || m->next == NULL || m->heap == NULL) {
		snprintf(err, errlen, "no memory");
		return false;
	}
	if (load_clients(f, err, errlen) != 0)
		return false;
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL && mf_client_draw(f->node[i].client, &m->next[i]))
			m->heap[m->heaped++] = (uint16_t)i;
	for (unsigned int i = m->heaped; i-- > 0;)
		sink(m, i);
	return true;
}

struct mf_offer *mf_offer_new(const struct mf_config *config, enum mf_clock clock, char *err, size_t errlen)
{
	struct mf_offer *m;

	if (!has_times(config, err, errlen))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (m == NULL) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	m->f.config = config;
	m->f.clock = clock;
	m->f.nodes = config->sw.ports;
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
	mf_table_free(m->f.node);
	free(m->next);
	free(m->heap);
	free(m);
}

bool mf_offer_next(struct mf_offer *m, struct mf_trace_row *row)
{
	const struct mf_client_message *next;
	uint16_t node;

	if (m->heaped == 0)
		return false;
	node = m->heap[0];
	next = &m->next[node];
	*row = (struct mf_trace_row){.start = next->start,
				     .octets = next->octets,
				     .request = next->kind == MF_CLIENT_READ ? REQUEST : 0,
				     .src = node,
				     .dst = next->node,
				     .kind = next->kind};
	if (!mf_client_draw(m->f.node[node].client, &m->next[node]))
		m->heap[0] = m->heap[--m->heaped];
	if (m->heaped > 0)
		sink(m, 0);
	return true;
}
