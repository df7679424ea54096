/* SPDX-License-Identifier: BSD-3-Clause */
#include "show.h"

#include <stdarg.h>
#include <string.h>

#include "setting.h"

#define WIDTH 76 /* of a block, as testpmd's */
#define NAME 28

int view_init(struct view *v, struct run *r)
{
	struct counters *all[] = {&v->now, &v->shown, &v->clear_stats, &v->clear_xstats, &v->clear_sched};
	int rc = 0;

	*v = (struct view){.run = r};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && rc == 0; i++)
		rc = counters_init(all[i], r->config->slots);
	return rc;
}

void view_fini(struct view *v)
{
	counters_fini(&v->now);
	counters_fini(&v->shown);
	counters_fini(&v->clear_stats);
	counters_fini(&v->clear_xstats);
	counters_fini(&v->clear_sched);
}

bool view_take(struct view *v, FILE *out)
{
	if (run_counters(v->run, &v->now))
		return true;
	fputs("nothing has run yet: start a test\n", out);
	return false;
}

uint64_t view_since(const struct view *v, const struct counters *cleared, uint64_t now, uint64_t then)
{
	return cleared->generation == v->now.generation && now >= then ? now - then : now;
}

void show_head(FILE *out, const char *title)
{
	char text[WIDTH];
	int len = snprintf(text, sizeof(text), " %.60s ", title), left = (WIDTH - len) / 2;

	fputs("\n  ", out);
	for (int i = 0; i < left; i++)
		fputc('#', out);
	fputs(text, out);
	for (int i = left + len; i < WIDTH; i++)
		fputc('#', out);
	fputc('\n', out);
}

void show_end(FILE *out)
{
	fputs("  ", out);
	for (int i = 0; i < WIDTH; i++)
		fputc('#', out);
	fputc('\n', out);
}

void show_line(FILE *out, const char *name, const char *format, ...)
{
	va_list args;

	fprintf(out, "  %-*s ", NAME, name);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
}

void show_config(FILE *out, const struct run *r, const struct test *t)
{
	char text[256];

	show_head(out, "Configuration of the test");
	for (enum setting s = 0; s < SETTINGS; s++)
		show_line(out, setting_name(s), "%s",
			  setting_put(t, s, r->config, r->clock, text, sizeof(text)));
	show_line(out, "clock", "%s", r->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall");
	show_line(out, "seed", "%llu", (unsigned long long)r->config->seed);
	show_line(out, "verify", "%s", t->unverified ? "off" : "on");
	show_end(out);
}
