/* SPDX-License-Identifier: BSD-3-Clause */
/* What has memory of its own is made whole or not at all: where there is none, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "pcs/mf_demux.h"
#include "pcs/mf_guard.h"
#include "pcs/mf_mux.h"
#include "shortage.h"

static int mux(const void *of)
{
	struct mf_mux *m = mf_mux_new(of);

	if (m == NULL)
		return -errno;
	mf_mux_free(m);
	return 0;
}

Test(pcs_shortage, of_a_multiplexer)
{
	struct mf_mux_config c = {.policy = MF_MUX_FAIR,
				  .period = 2560,
				  .memory_blocks = 1 << 10,
				  .memory_items = 1 << 8,
				  .frames = 16,
				  .frame_bytes = 1 << 14,
				  .quantum = 16,
				  .memory_enabled = true};

	shortage_each(mux, &c);
	c.period = 0;
	shortage_each(mux, &c);
	c.memory_enabled = false;
	shortage_each(mux, &c);
}

static int demux(const void *of)
{
	struct mf_demux d;
	int rc = mf_demux_init(&d, true, 2560, MF_US(125));

	(void)of;
	if (rc == 0)
		mf_demux_fini(&d);
	return rc;
}

Test(pcs_shortage, of_a_demultiplexer)
{
	shortage_each(demux, NULL);
}

static int guard(const void *of)
{
	struct mf_guard g;
	int rc = mf_guard_init(&g, 100, MF_US(1));

	(void)of;
	if (rc == 0)
		mf_guard_fini(&g);
	return rc;
}

Test(pcs_shortage, of_a_guard)
{
	shortage_each(guard, NULL);
}
