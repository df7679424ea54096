/* SPDX-License-Identifier: BSD-3-Clause */
/* What hosts and switches of frames count, for results. */
#include "systems/frames/mf_frame_host.h"
#include "systems/frames/mf_frame_switch.h"

#define HOST(section, key, field) MF_COUNTER(section, key, MF_SUM, struct mf_frame_host_counts, field)

/** Of messages of each kind of EDM, of which there are none. */
#define KINDS(section)                                                                                  \
	HOST(section, "RREQ", none), HOST(section, "WREQ", none), HOST(section, "WREQ_ACK", none),      \
		HOST(section, "RMWREQ", none), HOST(section, "RRES", none), HOST(section, "ACK", none), \
		HOST(section, "ERR", none), HOST(section, "GRET", none), HOST(section, "NOTIFY", none), \
		HOST(section, "GRANT", none), HOST(section, "TAKE", none)

const struct mf_counter_desc mf_frame_host_table[] = {
	HOST("host", "rx_octets", none),
	HOST("host", "tx_octets", none),
	HOST("host", "control_blocks", none),
	HOST("host", "grants_returned", none),
	HOST("host", "stalls", none),
	HOST("host", "failed_with_link", none),
	HOST("host", "responses_given_up", none),
	KINDS("host.rx_messages"),
	KINDS("host.tx_messages"),
	HOST("drops.hosts", "check", none),
	HOST("drops.hosts", "protocol", drop_proto),
	HOST("drops.hosts", "unknown_message", drop_unknown),
	HOST("drops.hosts", "destination", none),
	HOST("drops.hosts", "room", none),
	HOST("drops.hosts", "timeouts", none),
	{0},
};

#define SWITCH(section, key, field) MF_COUNTER(section, key, MF_SUM, struct mf_frame_switch_counts, field)

const struct mf_counter_desc mf_frame_switch_table[] = {
	SWITCH("drops.switch", "check", none),
	SWITCH("drops.switch", "protocol", drop_proto),
	SWITCH("drops.switch", "spoofed_source", none),
	SWITCH("drops.switch", "destination", none),
	SWITCH("drops.switch", "not_granted", none),
	SWITCH("drops.switch", "link_down", drop_link),
	SWITCH("drops.switch", "room", drop_room),
	SWITCH("drops.switch", "cut", none),
	SWITCH("drops.switch", "expired", none),
	SWITCH("drops.switch", "overtaken", none),
	SWITCH("drops.switch", "descriptors", none),
	SWITCH("drops.switch", "frame_room", drop_frame_room),
	SWITCH("drops.switch", "frame_to_own_port", none),
	SWITCH("switch.more", "waited_ps", none),
	{0},
};
