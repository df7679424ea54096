/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_drain.h"

#include <math.h>

#include "measure/mf_delivery.h"

#define MARGIN 1.1 /* what is last has the lines for itself, and does not fill them */

/** Writes that have completed for their senders and have not taken effect; but for those that failed. */
static uint64_t late_writes(const struct mf_fabric *f, uint64_t failed)
{
	uint64_t late = 0;

	for (uint32_t i = 0; f->pending.slot != NULL && i <= f->pending.mask; i++) {
		const struct pending_write *w = &f->pending.slot[i];
		const struct mf_client *c =
			pending_waits(&f->pending, w) ? f->node[pending_sender(w)].client : NULL;

		late += c != NULL && !mf_client_under_way(c, w->user);
	}
	return late > failed ? late - failed : 0;
}

/** Payload that arrived in the drain, or was of operations that completed in it. */
static uint64_t moved(const struct mf_fabric *f)
{
	uint64_t sum = 0;

	if (f->delivery != NULL)
		return f->delivery->drained;
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL)
			sum += mf_client_totals(mf_client_stats(f->node[i].client), MF_CLIENT_DRAIN)
				       .octets_completed;
	return sum;
}

/** Two digits, rounded up. */
static mf_time rounded(double ps)
{
	double unit = pow(10, fmax(0, floor(log10(ps)) - 1));

	return (mf_time)(ceil(ps / unit) * unit);
}

/** Payload that has arrived of what is under way, as far as that is known. */
static uint64_t arrived(const struct mf_fabric *f, uint64_t completed)
{
	return f->delivery != NULL && f->delivery->arrived > completed ? f->delivery->arrived - completed : 0;
}

/** @param each  octets of an operation, in the mean */
static mf_time enough(const struct mf_fabric *f, const struct drain *d, uint64_t each, uint64_t completed)
{
	double took = (double)(f->ended - f->stop), done = (double)moved(f);
	double left = (double)d->octets_under_way + (double)((d->never_begun + d->late_writes) * each) -
		      (double)arrived(f, completed);

	return done > 0 && took > 0 ? rounded(took * (1 + fmax(0, left) / done) * MARGIN) : 0;
}

struct drain drain_of(const struct mf_fabric *f)
{
	struct drain d = {0};
	uint64_t failed = 0, begun = 0, octets = 0, completed = 0;

	if (f->quiet || f->info.interrupted)
		return d;
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_client *c = f->node[i].client;
		const struct mf_client_stats *s = c != NULL ? mf_client_stats(c) : NULL;

		if (c == NULL || f->node[i].gone)
			continue;
		for (unsigned int p = 0; p < MF_CLIENT_PHASES; p++) {
			struct mf_client_totals t = mf_client_totals(s, (enum mf_client_phase)p);

			d.octets_under_way += t.octets_begun - t.octets_completed - t.octets_failed;
			octets += t.octets_begun;
			completed += t.octets_completed;
		}
		d.under_way += s->begun_all - s->completed_all - s->failed_all;
		d.never_begun += mf_client_not_begun(c, 0, node_clock(f, i, f->ended));
		begun += s->begun_all;
		failed += fabric_failed_writes(f, i);
	}
	d.late_writes = late_writes(f, failed);
	if (d.under_way > 0 || d.never_begun > 0 || d.late_writes > 0)
		d.enough = enough(f, &d, begun > 0 ? octets / begun : 0, completed);
	return d;
}
