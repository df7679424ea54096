/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "ends.h"
#include "wire.h"

const char *const ends_classes[] = {"drop", "duplicate", "reorder", "corrupt", "kill",
				    "away", "leave",     "cable",   NULL};

/** Of the run under way; a process has one at a time. */
static jmp_buf wrong;
static struct verdict *verdict;

void rig_hold(bool ok, const char *format, ...)
{
	char text[REASON_LEN / 2];
	va_list args;

	if (ok)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	verdict_violation(verdict, "link", "%s", text);
	longjmp(wrong, 1);
}

/** What neither the wire nor a partner that is killed can bring about: an end did it. */
static void judge_ends(const struct mf_link_stats *s, struct verdict *v)
{
	if (s->rx_no_room_frames + s->rx_bad_limits + s->rx_bad_acks > 0)
		verdict_violation(v, "link", "an end has acknowledged or sent what it may not");
	if (s->rx_malformed_frames + s->rx_version_frames + s->rx_type_frames + s->rx_reflected_frames > 0)
		verdict_violation(v, "link", "an end has sent a frame that there is not");
	if (s->tx_no_room_blocks > 0)
		verdict_violation(v, "link", "an end had less room than it said");
}

static void take(const struct wire_seen *seen, struct verdict *v)
{
	const uint64_t fired[] = {seen->faults.dropped_frames,
				  seen->faults.duplicated_frames,
				  seen->faults.reordered_frames,
				  seen->faults.corrupted_frames,
				  seen->kills,
				  seen->pauses,
				  seen->leaves,
				  seen->cables};

	for (unsigned int i = 0; ends_classes[i] != NULL; i++)
		v->fired[i] = fired[i];
	v->sum[SUM_BLOCKS] = seen->delivered;
	v->sum[SUM_CONNECTIONS] = seen->connections;
}

/* What a run that goes wrong has allocated stays: its process ends soon. */
int ends_run(const void *ctx, uint64_t seed, struct verdict *v)
{
	static struct wire_seen seen;

	(void)ctx;
	verdict = v;
	seen = (struct wire_seen){0};
	if (setjmp(wrong) == 0) {
		wire_run(seed, &seen);
		judge_ends(&seen.link, v);
	}
	take(&seen, v);
	return 0;
}
