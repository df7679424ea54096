/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define PATIENCE 2 /* seconds that nobody asks how far it is */
#define COLUMNS 80 /* of a terminal that does not say */

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/** As it is now: it may have been made another size. */
static unsigned int columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
}

void progress_add(struct progress_lines *l, const char *format, ...)
{
	va_list args;

	if (l->n == PROGRESS_LINES)
		return;
	va_start(args, format);
	vsnprintf(l->line[l->n++], sizeof(l->line[0]), format, args);
	va_end(args);
}

/* What is in the last column may wrap. */
void progress_put(const struct progress_lines *l)
{
	unsigned int capacity = columns();

	for (unsigned int i = 0; i < l->n; i++)
		if (strlen(l->line[i]) < capacity) {
			fprintf(stderr, "\r\033[K%s", l->line[i]);
			fflush(stderr);
			return;
		}
	fputs("\r\033[K", stderr);
}

void progress_init(struct progress *p, const struct mf_config *config, enum mf_clock clock)
{
	*p = (struct progress){
		.clock = clock,
		.end = config->clock[clock].warmup + config->clock[clock].duration,
		.open = config->clock[clock].duration == MF_CONFIG_DURATION_MAX,
		.begun = seconds(),
		.terminal = isatty(STDERR_FILENO) == 1,
	};
}

/** The whole first, then without what matters least: long words, which run it is, until when. */
static void add_lines(const struct progress *p, double done, mf_time now, struct progress_lines *l)
{
	bool wall = p->clock == MF_CLOCK_WALL;
	double ps = wall ? 1e12 : 1e9, at = (double)now / ps, end = (double)p->end / ps;
	const char *unit = wall ? "s" : "ms", *clock = wall ? "wall" : "virtual";
	const char *colon = p->what[0] != '\0' ? ": " : "";

	if (p->open) {
		progress_add(l, "%s%s%.3f %s by the %s clock", p->what, colon, at, unit, clock);
		progress_add(l, "%s%s%.3f %s, %s", p->what, colon, at, unit, clock);
		progress_add(l, "%.3f %s, %s", at, unit, clock);
		progress_add(l, "%.3f %s", at, unit);
	} else if (done < 1) {
		progress_add(l, "%s%s%3.0f %%  %.3f of %.3f %s by the %s clock", p->what, colon, done * 100,
			     at, end, unit, clock);
		progress_add(l, "%s%s%3.0f %%  %.3f of %.3f %s, %s", p->what, colon, done * 100, at, end,
			     unit, clock);
		progress_add(l, "%3.0f %%  %.3f of %.3f %s, %s", done * 100, at, end, unit, clock);
		progress_add(l, "%3.0f %%  %.3f %s, %s", done * 100, at, unit, clock);
		progress_add(l, "%.0f %%", done * 100);
	} else {
		progress_add(l, "%s%s100 %%  %.3f %s by the %s clock, waiting for what is under way", p->what,
			     colon, at, unit, clock);
		progress_add(l, "%s%s100 %%, waiting for what is under way", p->what, colon);
		progress_add(l, "100 %%, waiting");
		progress_add(l, "100 %%");
	}
}

void progress_show(void *ctx, double done, mf_time now)
{
	struct progress_lines l = {.n = 0};
	struct progress *p = ctx;

	if (!p->terminal || seconds() - p->begun < PATIENCE)
		return;
	add_lines(p, done, now, &l);
	progress_put(&l);
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
