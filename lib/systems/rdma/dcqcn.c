/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "systems/rdma/dcqcn.h"

/** A rate that is this near to the line's is the line's: RC comes halfway towards RT each time. */
#define NEAR 0.999

/** A cut of a flow that is not limited is that of a flow at line rate, with alpha = 1 the first time. */
static void begin(const struct dcqcn_config *c, struct dcqcn *d, mf_time now)
{
	if (d->alpha == 0) {
		d->alpha = 1;
		d->alpha_at = now;
	}
	d->rc = d->rt = c->line;
	d->limited = true;
}

static void bring_alpha(const struct dcqcn_config *c, struct dcqcn *d, mf_time now)
{
	mf_time periods = now > d->alpha_at ? (now - d->alpha_at) / c->alpha_timer : 0;

	if (periods == 0)
		return;
	d->alpha *= pow(1 - c->g, (double)periods);
	d->alpha_at += periods * c->alpha_timer;
}

/** The timer or the byte counter has run out once more. */
static void increase(const struct dcqcn_config *c, struct dcqcn *d)
{
	uint32_t least = d->timers < d->counters ? d->timers : d->counters;
	uint32_t most = d->timers < d->counters ? d->counters : d->timers;

	if (least > c->recovery)
		d->rt += (least - c->recovery) * c->hyper;
	else if (most >= c->recovery)
		d->rt += c->additive;
	d->rt = fmin(d->rt, c->line);
	d->rc = (d->rc + d->rt) / 2;
	if (d->rc >= NEAR * c->line)
		d->limited = false;
}

static void bring_rate(const struct dcqcn_config *c, struct dcqcn *d, mf_time now)
{
	while (d->limited && now >= d->rate_at + c->rate_timer) {
		d->rate_at += c->rate_timer;
		d->timers++;
		increase(c, d);
	}
}

void dcqcn_cut(const struct dcqcn_config *c, struct dcqcn *d, mf_time now)
{
	bring_rate(c, d, now);
	if (!d->limited)
		begin(c, d, now);
	bring_alpha(c, d, now);
	d->rt = d->rc;
	d->rc = fmax(c->least, d->rc * (1 - d->alpha / 2));
	d->alpha = (1 - c->g) * d->alpha + c->g;
	d->alpha_at = d->rate_at = now;
	d->timers = d->counters = 0;
	d->octets = 0;
}

double dcqcn_rate(const struct dcqcn_config *c, struct dcqcn *d, mf_time now)
{
	bring_rate(c, d, now);
	return d->limited ? d->rc : c->line;
}

mf_time dcqcn_sent(const struct dcqcn_config *c, struct dcqcn *d, mf_time now, uint32_t octets)
{
	double rate;

	if (!d->limited)
		return 0;
	rate = dcqcn_rate(c, d, now);
	d->octets += octets;
	while (d->limited && d->octets >= c->byte_counter) {
		d->octets -= c->byte_counter;
		d->counters++;
		increase(c, d);
	}
	return (mf_time)((double)octets / rate * 1e12);
}
