/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

void progress_init(struct progress *p, const struct mf_config *config, enum mf_clock clock)
{
	*p = (struct progress){
		.clock = clock,
		.end = config->clock[clock].warmup + config->clock[clock].duration,
		.terminal = isatty(STDERR_FILENO) == 1,
	};
}

void progress_show(void *ctx, double done, mf_time now)
{
	struct progress *p = ctx;
	double unit = p->clock == MF_CLOCK_WALL ? 1e12 : 1e9;
	const char *name = p->clock == MF_CLOCK_WALL ? "s by the wall clock" : "ms by the virtual clock";

	if (!p->terminal)
		return;
	if (done < 1)
		fprintf(stderr, "\r\033[K%3.0f %%  %.3f of %.3f %s", done * 100, (double)now / unit,
			(double)p->end / unit, name);
	else
		fprintf(stderr, "\r\033[K100 %%  %.3f %s, waiting for what is under way", (double)now / unit,
			name);
	fflush(stderr);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
