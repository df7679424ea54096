/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define PATIENCE 2 /* seconds that nobody asks how far it is */

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

void progress_init(struct progress *p, const struct mf_config *config, enum mf_clock clock)
{
	*p = (struct progress){
		.clock = clock,
		.end = config->clock[clock].warmup + config->clock[clock].duration,
		.begun = seconds(),
		.terminal = isatty(STDERR_FILENO) == 1,
	};
}

void progress_show(void *ctx, double done, mf_time now)
{
	struct progress *p = ctx;
	double unit = p->clock == MF_CLOCK_WALL ? 1e12 : 1e9;
	const char *name = p->clock == MF_CLOCK_WALL ? "s by the wall clock" : "ms by the virtual clock";

	if (!p->terminal || seconds() - p->begun < PATIENCE)
		return;
	fprintf(stderr, "\r\033[K%s%s", p->what, p->what[0] != '\0' ? ": " : "");
	if (p->open)
		fprintf(stderr, "%.3f %s", (double)now / unit, name);
	else if (done < 1)
		fprintf(stderr, "%3.0f %%  %.3f of %.3f %s", done * 100, (double)now / unit,
			(double)p->end / unit, name);
	else
		fprintf(stderr, "100 %%  %.3f %s, waiting for what is under way", (double)now / unit, name);
	fflush(stderr);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
