/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "link/mf_link.h"
#include "partners.h"
#include "program.h"

void partners_say(void *ctx, const char *link, const char *end, const char *port,
		  const struct mf_link_status *st)
{
	char text[256];

	(void)ctx;
	if (mf_link_status_text(st, text, sizeof(text)))
		fprintf(stderr, "%s: link of %s, %s's end, port %s %s\n", program_name, link, end, port,
			text);
}

void partners_device(void *ctx, const char *port, const char *device, const char *what)
{
	(void)ctx;
	fprintf(stderr, "%s: port %s: the interface of %s %s\n", program_name, port, device, what);
}

void partners_disabled(void *ctx, const char *one, const char *other, const char *seen_by, const char *cause,
		       mf_time at)
{
	(void)ctx;
	fprintf(stderr, "%s: link of %s to %s is disabled: %s at %.3f us, seen by the %s\n", program_name,
		one, other, cause, (double)at / MF_US(1), seen_by);
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
