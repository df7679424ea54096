/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host counts, for results. */
#include <assert.h>

#include "systems/edm/host/mf_host.h"

#define ROW(section, key, merge, field) MF_COUNTER(section, key, merge, struct mf_host_stats, field)

/** Of messages of each kind. */
#define KINDS(section, field)                                                                             \
	ROW(section, "RREQ", MF_SUM, field[MF_RREQ]), ROW(section, "WREQ", MF_SUM, field[MF_WREQ]),       \
		ROW(section, "WREQ_ACK", MF_SUM, field[MF_WREQ_ACK]),                                     \
		ROW(section, "RMWREQ", MF_SUM, field[MF_RMWREQ]),                                         \
		ROW(section, "RRES", MF_SUM, field[MF_RRES]), ROW(section, "ACK", MF_SUM, field[MF_ACK]), \
		ROW(section, "ERR", MF_SUM, field[MF_ERR]), ROW(section, "GRET", MF_SUM, field[MF_GRET]), \
		ROW(section, "NOTIFY", MF_SUM, field[MF_NOTIFY]),                                         \
		ROW(section, "GRANT", MF_SUM, field[MF_GRANT]), ROW(section, "TAKE", MF_SUM, field[MF_TAKE])

static_assert((int)MF_KINDS == (int)MF_TAKE + 1, "a row for each kind");

const struct mf_counter_desc mf_host_counters[] = {
	ROW("host", "rx_octets", MF_SUM, rx_octets),
	ROW("host", "tx_octets", MF_SUM, tx_octets),
	ROW("host", "control_blocks", MF_SUM, control_blocks),
	ROW("host", "grants_returned", MF_SUM, grants_returned),
	ROW("host", "stalls", MF_SUM, stalls),
	ROW("host", "failed_with_link", MF_SUM, link_lost),
	ROW("host", "responses_given_up", MF_SUM, reclaimed),
	ROW("host", "calls", MF_SUM, calls),
	ROW("host", "calls_pending", MF_SUM, calls_pending),
	ROW("host", "requests_fenced", MF_SUM, drop_fenced),
	ROW("host", "grants_ignored", MF_SUM, ignored_grants),
	KINDS("host.rx_messages", rx),
	KINDS("host.tx_messages", tx),
	ROW("drops.hosts", "check", MF_SUM, drop_check),
	ROW("drops.hosts", "protocol", MF_SUM, drop_proto),
	ROW("drops.hosts", "unknown_message", MF_SUM, drop_unknown),
	ROW("drops.hosts", "destination", MF_SUM, drop_dst),
	ROW("drops.hosts", "room", MF_SUM, drop_room),
	ROW("drops.hosts", "timeouts", MF_SUM, timeouts),
	ROW("once", "sent_again", MF_SUM, retried),
	ROW("once", "answered_again", MF_SUM, again),
	ROW("once", "copies", MF_SUM, copies),
	ROW("once", "old", MF_SUM, old),
	ROW("once", "gaps", MF_SUM, gaps),
	{0},
};
