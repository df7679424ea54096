/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_window.h"

#include <math.h>

#include <rte_common.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_delivery.h"

/** So much more than arrived may complete in the steady state: what had arrived before of operations under
 * way. */
#define TOLERANCE 0.01

static const struct mf_client_stats *client_of(const struct mf_fabric *f, unsigned int i)
{
	return f->node[i].client != NULL ? mf_client_stats(f->node[i].client) : NULL;
}

/** By the clock of the fabric what a node's clock has shown. */
static mf_time fabric_time(const struct mf_fabric *f, unsigned int i, mf_time own)
{
	mf_time measure = node_clock(f, i, f->measure);

	return own >= measure ? f->measure + (own - measure)
			      : f->measure - mf_time_min(f->measure, measure - own);
}

/** All clients together. */
struct sum {
	mf_time first_begun, last; /**< of measured operations; of all that completed */
	mf_time longest; /**< of measured ones that completed */
	mf_time carried_done; /**< when the first of the warm-up's operations completed after it; or MF_NEVER
			       */
	uint64_t warmup; /**< begun in it */
	uint64_t measured; /**< completed, whenever */
	uint64_t steady, octets; /**< completed in the steady state; their payload, but for atomics */
	uint64_t carried_over; /**< payload of the warm-up's operations that completed after it */
};

static void add_kind(struct sum *sum, const struct mf_client_stats *s, enum mf_client_kind kind)
{
	struct mf_client_done done = mf_client_steady(s, kind);

	sum->longest = mf_time_max(sum->longest, s->kind[kind].latency.max);
	sum->measured += s->kind[kind].completed;
	sum->steady += done.operations;
	if ((kind > MF_CLIENT_WRITE_ACK && !mf_client_reads(kind)) || s->phase == MF_CLIENT_WARMUP)
		return;
	sum->octets += done.octets;
	sum->carried_over += s->kind[kind].unmeasured.octets - s->at[MF_CLIENT_WARMUP].done[kind].octets;
}

static void add_queries(struct sum *sum, const struct mf_client_stats *s)
{
	for (unsigned int k = 0; k < MF_QUERY_KINDS; k++) {
		sum->longest = mf_time_max(sum->longest, s->query[k].latency.max);
		sum->measured += s->query[k].completed;
		sum->steady += mf_client_steady_queries(s, (enum mf_query_kind)k);
	}
}

static struct sum sum_clients(const struct mf_fabric *f)
{
	struct sum sum = {.first_begun = MF_NEVER, .carried_done = MF_NEVER};

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_client_stats *s = client_of(f, i);

		if (s == NULL)
			continue;
		for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
			add_kind(&sum, s, (enum mf_client_kind)k);
		add_queries(&sum, s);
		sum.warmup += s->unmeasured.begun;
		sum.last = mf_time_max(sum.last, fabric_time(f, i, mf_client_last(s)));
		if (s->carried_done != MF_NEVER)
			sum.carried_done = mf_time_min(sum.carried_done, fabric_time(f, i, s->carried_done));
		if (s->first_begun != MF_NEVER)
			sum.first_begun = mf_time_min(sum.first_begun, fabric_time(f, i, s->first_begun));
	}
	return sum;
}

/** Payload that arrived in the steady state, at compute nodes and at memories; virtual clock. */
struct arrived {
	uint64_t octets;
	double busiest; /**< ps that the busiest line has taken for it, without framing */
};

static struct arrived arrived(const struct mf_fabric *f)
{
	struct arrived a = {0};

	for (uint32_t i = 0; i < fabric_host_ends(f); i++) {
		const struct delivery_payload *p = &f->delivery->payload[i];
		uint32_t link = fabric_host_end(f, i)->link;

		a.octets += fabric_is_direct(f, link) ? p->up : p->down;
		a.busiest = fmax(a.busiest, (double)RTE_MAX(p->up, p->down) / 8 * f->link[link].period);
	}
	return a;
}

/**
 * Whether too much of what completed in a time was not carried in it. Of the operations of the warm-up either
 * too much counts, as here, or what was carried in it does not, where only measured ones do. So the former is
 * left when it is more than the latter; or when a line would have carried more than it can.
 */
static bool is_early(const struct mf_fabric *f, const struct sum *sum, mf_time time)
{
	const struct arrived a = arrived(f);
	double octets = (double)a.octets, early = (double)sum->octets - octets;

	if (early > 0 && a.busiest * ((double)sum->octets / octets) > (double)time)
		return true;
	return early > TOLERANCE * octets && 2 * early > (double)sum->carried_over;
}

static enum mf_window_reason reason(const struct mf_fabric *f, const struct sum *sum, mf_time time)
{
	if (sum->measured > 0 && (sum->longest > time || sum->steady == 0))
		return MF_WINDOW_SHORT;
	return f->delivery != NULL && is_early(f, sum, time) ? MF_WINDOW_EARLY : MF_WINDOW_FITS;
}

struct mf_window mf_fabric_window(const struct mf_fabric *f)
{
	struct mf_window w = {.from = mf_time_min(f->measure, f->stop), .to = mf_time_min(f->stop, f->ended)};
	const struct sum sum = sum_clients(f);

	if (f->load_over && sum.measured > 0) {
		w.apart = sum.carried_done != MF_NEVER;
		w.from = w.apart ? sum.carried_done : sum.warmup > 0 ? w.from : sum.first_begun;
		w.to = mf_time_max(w.from, mf_time_min(w.to, sum.last));
	}
	w.reason = reason(f, &sum, w.to - w.from);
	if (w.reason != MF_WINDOW_FITS && sum.measured > 0) {
		w.apart = false;
		w.from = sum.first_begun;
		w.to = sum.last;
	}
	return w;
}

double mf_window_rate(const struct mf_window *w, uint64_t count)
{
	return w->to > w->from ? (double)count * 1e12 / (double)(w->to - w->from) : 0;
}

struct mf_client_done mf_window_counts(const struct mf_window *w, const struct mf_client_stats *s,
				       enum mf_client_kind kind)
{
	if (w->reason == MF_WINDOW_FITS) {
		struct mf_client_done done = mf_client_steady(s, kind);

		if (w->apart && s->carried_done == w->from && s->carried_kind == kind &&
		    done.operations > 0) {
			done.operations--;
			done.octets -= s->carried_octets;
		}
		return done;
	}
	return (struct mf_client_done){s->kind[kind].completed, s->kind[kind].octets};
}

uint64_t mf_window_queries(const struct mf_window *w, const struct mf_client_stats *s,
			   enum mf_query_kind kind)
{
	return w->reason == MF_WINDOW_FITS ? mf_client_steady_queries(s, kind) : s->query[kind].completed;
}
