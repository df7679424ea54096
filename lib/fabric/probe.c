/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cores say through their probe (mf_timing.h), and who listens. */
#include <errno.h>

#include "delivery.h"
#include "stages.h"

static void stamp(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage, mf_time from,
		  mf_time to)
{
	const struct mf_fabric *f = ctx;

	(void)cn, (void)mn, (void)id;
	stages_stamp(f->stages, stage, from, to);
}

static void start(void *ctx, bool write)
{
	const struct mf_fabric *f = ctx;

	stages_start(f->stages, write);
}

static void begun(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, mf_time submitted)
{
	const struct mf_fabric *f = ctx;

	delivery_begun(f->delivery, cn, mn, id, submitted);
}

static void effect(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, uint32_t offset, uint32_t octets,
		   bool last, mf_time first, mf_time done)
{
	const struct mf_fabric *f = ctx;

	delivery_chunk(f->delivery, DELIVERY_WRITE, cn, mn, id, offset, octets, last, first, done);
	if (last)
		delivery_effect(f->delivery, cn, mn, id, done);
	if (last && f->stages != NULL)
		stages_effect(f->stages, done);
}

static void response(void *ctx, uint16_t cn, uint16_t mn, uint8_t id, uint32_t offset, uint32_t octets,
		     bool last, mf_time first, mf_time done)
{
	const struct mf_fabric *f = ctx;

	delivery_chunk(f->delivery, DELIVERY_READ, cn, mn, id, offset, octets, last, first, done);
}

int probe_init(struct mf_fabric *f)
{
	f->delivery = delivery_new(f);
	if (f->delivery == NULL)
		return -ENOMEM;
	f->probe = (struct mf_probe){.effect = effect, .response = response, .begun = begun, .ctx = f};
	if (!f->config->report_stages)
		return 0;
	f->stages = stages_new(&f->timing);
	f->probe.stamp = stamp;
	f->probe.start = start;
	return f->stages != NULL ? 0 : -ENOMEM;
}
