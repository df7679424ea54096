/* SPDX-License-Identifier: BSD-3-Clause */
/* All times of the wall clock are counts of the time stamp counter: it has to run evenly, and always. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define SOURCE "/sys/devices/system/clocksource/clocksource0"

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = text; (s = strstr(s, word)) != NULL; s += len)
		if ((s == text || s[-1] == ' ' || s[-1] == '\t') &&
		    (s[len] == ' ' || s[len] == '\n' || s[len] == '\0'))
			return true;
	return false;
}

/** @return false: this CPU has no such counter, but perhaps another one */
static bool look_at_flags(const struct machine *m, struct finding *f)
{
	char *text = tree_read(m->root, "/proc/cpuinfo"), *end;
	const char *flags = tree_key(text, "flags");
	bool known = flags != NULL;

	if (known) {
		end = strchr(flags, '\n');
		if (end != NULL)
			*end = '\0';
		if (!has_word(flags, "constant_tsc")) {
			say(f, "the TSC's rate follows that of the CPU (no constant_tsc): times are wrong");
			worse(f, FAIL, "another CPU, or a virtual machine that shows invariant TSC");
		} else if (!has_word(flags, "nonstop_tsc")) {
			say(f, "the TSC stops in deep sleep (no nonstop_tsc)");
			worse(f, WARN, "boot with processor.max_cstate=1");
		} else {
			say(f, "constant_tsc, nonstop_tsc");
		}
	}
	free(text);
	return known;
}

static void look_at_source(const struct machine *m, struct finding *f)
{
	char current[64], available[256];

	if (!tree_line(m->root, current, sizeof(current), SOURCE "/current_clocksource"))
		return;
	tree_line(m->root, available, sizeof(available), SOURCE "/available_clocksource");
	say(f, "the kernel's clock is %s", current);
	if (strcmp(current, "tsc") == 0)
		return;
	if (has_word(available, "tsc"))
		worse(f, WARN, "echo tsc >" SOURCE "/current_clocksource");
	else
		worse(f, WARN, "it did not take the TSC: journalctl -k -g tsc; boot with tsc=reliable");
}

static void run(const struct machine *m, struct finding *f)
{
	if (look_at_flags(m, f))
		look_at_source(m, f);
	else
		say(f, "/proc/cpuinfo says nothing of a time stamp counter");
}

const struct check check_clock = {.name = "clock", .run = run};
