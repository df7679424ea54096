/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: what it is, and how its client is getting on. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mf_unit.h"
#include "hist_summary.h"
#include "show.h"

static void put_config(FILE *out, const struct mf_config *config, unsigned int port)
{
	const struct mf_config_node *n = &config->node[port];
	char text[MF_UNIT_LEN];

	show_line(out, "name", "%s", n->name);
	show_line(out, "role", "%s", mf_config_role_name(n->role));
	show_line(out, "link", "%s, propagation %" PRIu64 " ps", mf_unit_put_rate(text, n->link.period),
		  n->link.propagation);
	if (n->memory)
		show_line(out, "memory", "%s, %s", n->memory_type,
			  mf_unit_put_size(text, n->memory_config.size));
	if (n->compute)
		show_line(out, "active notifications", "%u of a pair at most", n->host.x);
}

/** A histogram that is being added to: what has been added by now. @return NULL: no memory, or nothing */
static struct mf_hist *copy_of(const struct mf_hist *live)
{
	struct mf_hist *h = malloc(sizeof(*h));

	if (h == NULL)
		return NULL;
	*h = *live;
	h->count = 0;
	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++)
		h->count += h->bucket[i];
	if (h->count > 0)
		return h;
	free(h);
	return NULL;
}

static void put_kind(FILE *out, const struct mf_client_stats *s, unsigned int k)
{
	struct mf_hist *h = copy_of(&s->kind[k].latency);
	struct hist_summary f;

	if (h == NULL)
		return;
	f = hist_summary_of(h);
	show_line(out, mf_client_kind_name((enum mf_client_kind)k),
		  "%" PRIu64 " measured; p50 %.3f us, p99 %.3f us, p99.9 %.3f us, max %.3f us%s", f.count,
		  f.p50 / 1e3, f.p99 / 1e3, f.p99_9 / 1e3, f.max / 1e3,
		  k == MF_CLIENT_WRITE ? " until it has left the node" : "");
	free(h);
}

static void put_client(FILE *out, const struct mf_client_stats *s)
{
	show_line(out, "operations", "%" PRIu64 " begun, %" PRIu64 " completed, %" PRIu64 " failed",
		  s->begun_all, s->completed_all, s->failed_all);
	show_line(out, "results", "%" PRIu64 " verified, %" PRIu64 " wrong", s->verified, s->mismatches);
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		put_kind(out, s, k);
}

/** A host of frames has the drops alone. */
static void put_host(FILE *out, const struct view *v, const struct mf_host_stats *h)
{
	const struct shown_table table = {.v = v, .table = mf_host_counters, .now = h};

	show_line(out, "payload", "%" PRIu64 " octets received, %" PRIu64 " sent", h->rx_octets,
		  h->tx_octets);
	show_line(out, "timeouts", "%" PRIu64, h->timeouts);
	show_line(out, "dropped", "%" PRIu64,
		  h->drop_check + h->drop_proto + h->drop_unknown + h->drop_dst + h->drop_room);
	if (v->run->config->tier->stack_ops == NULL)
		show_table(out, &table);
	else
		show_section(out, &table, "drops.hosts");
}

void show_node(FILE *out, struct view *v, unsigned int port)
{
	struct run *r = v->run;
	struct mf_host_stats host;
	char title[64];

	snprintf(title, sizeof(title), "Node at port %u", port);
	show_head(out, title);
	put_config(out, r->config, port);
	pthread_mutex_lock(&r->lock);
	if (r->fabric == NULL)
		show_line(out, "client", "no test is running");
	else if (mf_fabric_client(r->fabric, port) != NULL)
		put_client(out, mf_fabric_client(r->fabric, port));
	else
		show_line(out, "client", "none in this test");
	if (r->fabric != NULL && mf_fabric_host(r->fabric, port, &host))
		put_host(out, v, &host);
	pthread_mutex_unlock(&r->lock);
	show_end(out);
}
