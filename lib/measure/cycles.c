/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "measure/mf_cycle_account.h"
#include "fabric/mf_fabric_state.h"

int cycles_init(struct mf_fabric *f, unsigned int lcores)
{
	size_t size = sizeof(*f->cycles) + lcores * sizeof(f->cycles->account[0]);

	f->cycles = aligned_alloc(__alignof__(struct cycles_account), size);
	if (f->cycles == NULL)
		return -ENOMEM;
	memset(f->cycles, 0, size);
	f->cycles->lcores = lcores;
	return 0;
}

void cycles_free(struct mf_fabric *f)
{
	free(f->cycles);
}

static void begin(struct cycles_account *a)
{
	a->lcore = rte_lcore_id();
	a->cost = mf_cycles_measure();
	a->state = CYCLES_BEFORE;
}

static void stop(struct cycles_account *a)
{
	mf_cycles_stop(&mf_cycles_here, mf_cycles_now());
	a->found = mf_cycles_here;
	a->state = CYCLES_AFTER;
}

void cycles_turn(struct mf_fabric *f, unsigned int i, mf_time now)
{
	struct cycles_account *a = &f->cycles->account[i];

	if (a->state == CYCLES_NEW)
		begin(a);
	if (a->state == CYCLES_BEFORE && now >= f->measure && now < f->stop) {
		mf_cycles_start(&mf_cycles_here, mf_cycles_now());
		a->state = CYCLES_DURING;
	} else if (a->state == CYCLES_DURING && now >= f->stop) {
		stop(a);
	}
}
