/* SPDX-License-Identifier: BSD-3-Clause */
/* A scheduler is made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "shortage.h"
#include "systems/edm/sched/mf_sched.h"

static const struct mf_sched_ops *ops;

static int make(const void *of)
{
	struct mf_sched *s = ops->create(of);

	if (s == NULL)
		return -errno;
	ops->destroy(s);
	return 0;
}

static void each(const struct mf_sched_config *c)
{
	ops = &mf_sched_pim;
	shortage_each(make, c);
	ops = &mf_sched_greedy;
	shortage_each(make, c);
}

Test(sched_shortage, nothing_stays_behind)
{
	struct mf_sched_config c = {.ports = 70, .chunk = 256, .x = 3, .chunk_overhead = 2};

	for (unsigned int p = 0; p < c.ports; p++)
		c.period[p] = 2560;
	each(&c);
	c.order = MF_ORDER_DIRECTION;
	each(&c);
	c.release = MF_RELEASE_WINDOW;
	c.window = 1024;
	each(&c);
}
