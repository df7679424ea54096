/* SPDX-License-Identifier: BSD-3-Clause */
/* What is worth saying of a link's state, in words. */
#include <inttypes.h>
#include <stdio.h>

#include "link/mf_link.h"

/** Short frames pass, long ones do not. */
static void unproven(const struct mf_link_status *st, char *text, size_t len)
{
	size_t at = (size_t)snprintf(
		text, len,
		"is not up: short frames pass, but an MTU on the way %s the partner is below "
		"the %u bytes of a full one; ",
		st->by_partner ? "to" : "from", mf_link_mtu((unsigned int)st->got));

	if (at >= len)
		return;
	if (st->have != 0)
		snprintf(text + at, len - at, "set \"mtu\" of this port to %u, or raise that MTU",
			 mf_link_mtu((unsigned int)st->have));
	else
		snprintf(text + at, len - at, "set a lower \"mtu\" of this port, or raise that MTU");
}

/** What a refusal compares. */
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
	case MF_LINK_REASON_MTU:
		unproven(st, text, len);
		break;
	case MF_LINK_REASON_FEATURES:
		snprintf(text, len, "%s: %s", who,
			 (st->have ^ st->got) & MF_LINK_RETRANSMITS
				 ? mf_link_reason_text(st->refused)
				 : "other features: another version of memfab on one side");
		break;
	default:
		snprintf(text, len, "%s: %s (%" PRIu64 " against %" PRIu64 ")", who,
			 mf_link_reason_text(st->refused), st->have, st->got);
	}
}

bool mf_link_status_text(const struct mf_link_status *st, char *text, size_t len)
{
	if (st->refused != 0)
		refusal(st, text, len);
	else if (st->up)
		snprintf(text, len, "is up (%s%s)", st->partner_name, st->connections > 1 ? ", again" : "");
	else if (st->down != MF_LINK_DOWN_FIRST)
		snprintf(text, len, "is down: %s", mf_link_down_text(st->down));
	else
		return false;
	return true;
}
