/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "mf_link.h"
#include "partners.h"
#include "program.h"

/** What a refusal compares, in words. */
static void refusal(const struct mf_link_status *st, char *text, size_t len)
{
	const char *who = st->by_partner ? "refuses us" : "is refused";

	switch (st->refused) {
	case MF_LINK_REASON_FABRIC:
		snprintf(text, len, "%s: %s (%016" PRIx64 " against %016" PRIx64 ")", who,
			 mf_link_reason_text(st->refused), st->have, st->got);
		break;
	case MF_LINK_REASON_LINK:
		snprintf(text, len, "%s: %s (number %" PRIu64 ")", who, mf_link_reason_text(st->refused),
			 st->got);
		break;
	default:
		snprintf(text, len, "%s: %s (%" PRIu64 " against %" PRIu64 ")", who,
			 mf_link_reason_text(st->refused), st->have, st->got);
	}
}

void partners_say(void *ctx, const char *node, bool switch_end, const char *port,
		  const struct mf_link_status *st)
{
	char text[256];

	(void)ctx;
	if (st->refused != 0)
		refusal(st, text, sizeof(text));
	else if (st->up)
		snprintf(text, sizeof(text), "is up (%s%s)", st->partner_name,
			 st->connections > 1 ? ", again" : "");
	else if (st->down != MF_LINK_DOWN_FIRST)
		snprintf(text, sizeof(text), "is down: %s", mf_link_down_text(st->down));
	else
		return;
	fprintf(stderr, "%s: link of %s, %s's end, port %s %s\n", program_name, node,
		switch_end ? "switch" : "node", port, text);
}

void partners_device(void *ctx, const char *port, const char *device, bool gone)
{
	(void)ctx;
	fprintf(stderr, "%s: port %s: the interface of %s %s\n", program_name, port, device,
		gone ? "is gone" : "is there again");
}

void partners_disabled(void *ctx, const char *node, bool switch_end, const char *cause, mf_time at)
{
	(void)ctx;
	fprintf(stderr, "%s: link of %s is disabled: %s at %.3f us, seen by the %s\n", program_name, node,
		cause, (double)at / MF_US(1), switch_end ? "switch" : "node");
}

void partners_stalled(void *ctx, const struct mf_stall *s)
{
	double ms = (double)s->time / (double)MF_MS(1);

	(void)ctx;
	if (s->over)
		fprintf(stderr, "%s: %s on lcore %u gets on again, after %.0f ms\n", program_name, s->role,
			s->lcore, ms);
	else
		fprintf(stderr, "%s: %s on lcore %u is stalled: no turn for %.0f ms, %s%s\n", program_name,
			s->role, s->lcore, ms,
			s->asleep ? "and its thread sleeps in the kernel" : "though its thread has a CPU",
			s->replaced ? "; its switch is cut off" : "");
}

void partners_wait(void *ctx, const char *whom)
{
	(void)ctx;
	fprintf(stderr, "%s: waiting for %s\n", program_name, whom);
}
