/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "systems/mf_slow_path.h"

/* Up to a microsecond, and as much for what the node does of it. Others of the lcore wait so long. */
#define SLICE_STEPS 16
#define STEP_OCTETS 1024 /* that are zeroed for each of them */

struct mf_slow_path {
	struct mf_vm_slow *slow;
	bool more; /**< there is something to do without another item */
};

static const struct mf_counter_desc counters[] = {{0}};

const struct mf_role_ops mf_slow_path_role = {.kind = "slow-path",
					      .placement = MF_PLACE_SHARED,
					      .counters = counters,
					      .channel = &mf_slow_path_channel};

struct mf_slow_path *mf_slow_path_new(const struct mf_vm_config *config, uint8_t *octets)
{
	struct mf_slow_path *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->slow = mf_vm_slow_new(config, octets);
	p->more = true; /* the rings are empty */
	if (p->slow != NULL)
		return p;
	free(p);
	return NULL;
}

void mf_slow_path_free(struct mf_slow_path *p)
{
	if (p == NULL)
		return;
	mf_vm_slow_free(p->slow);
	free(p);
}

void mf_slow_path_give(struct mf_slow_path *p, const struct mf_vm_item *items, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		mf_vm_slow_take(p->slow, &items[i]);
	p->more |= n > 0;
}

unsigned int mf_slow_path_take(struct mf_slow_path *p, mf_time now, struct mf_vm_item *out, unsigned int max)
{
	struct mf_vm_queue *q = mf_vm_slow_out(p->slow);
	unsigned int steps = max < SLICE_STEPS ? max : SLICE_STEPS, n = 0;

	mf_vm_slow_date(p->slow, now);
	if (p->more || mf_vm_slow_next(p->slow) <= now)
		p->more = mf_vm_slow_work(p->slow, steps, steps * STEP_OCTETS);
	for (; n < max && mf_vm_queue_take(q, &out[n]); n++)
		out[n].at = now;
	p->more |= n > 0; /* there are places: what waited for them goes on */
	return n;
}

mf_time mf_slow_path_next(const struct mf_slow_path *p)
{
	return p->more || mf_vm_slow_out(p->slow)->items > 0 ? 0 : mf_vm_slow_next(p->slow);
}

const struct mf_vm_slow *mf_slow_path_slow(const struct mf_slow_path *p)
{
	return p->slow;
}

int mf_slow_path_renew(struct mf_slow_path *p, const struct mf_vm_secrets *secrets)
{
	return mf_vm_slow_renew(p->slow, secrets);
}

bool mf_slow_path_may_come(const struct mf_slow_path *p, const struct mf_vm_item *item)
{
	return mf_vm_slow_may_take(p->slow, item);
}
