/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch of a fabric of frames: its ports, and a bridge (mf_bridge.h) that forwards. What a port sends is
 * asked of the bridge when the line wants it, what arrives is handed to the bridge whole.
 *
 * Sans-I/O; one thread calls, in the order of systems/mf_sw.h. Nothing is allocated after
 * mf_frame_switch_new() but what the bridge itself allocates in its create(). Without a
 * route (mf_bridge.h) port p belongs to node p.
 */
#ifndef MF_FRAME_SWITCH_H
#define MF_FRAME_SWITCH_H

#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "role/mf_ports.h"
#include "role/mf_role.h"
#include "systems/frames/mf_bridge.h"

struct mf_frame_switch_config {
	const struct mf_bridge_ops *bridge;
	struct mf_bridge_config of; /**< given to it; up, period and wants are the switch's to set */
	const struct mf_port_config
		*port; /**< [of.ports]; read only by mf_frame_switch_new(); not its room */
};

/** What it counts; what the bridge counts see mf_frame_switch_counters(). */
struct mf_frame_switch_counts {
	uint64_t none; /**< always 0: counters that the result reports for every kind, and this one has not */
	uint64_t frames; /**< that came, whole */
	uint64_t drop_proto; /**< parts of messages, too long or without a beginning; stray blocks */
	uint64_t drop_room, drop_frame_room; /**< messages, frames for which a port had no room */
	uint64_t drop_link; /**< messages, frames for a port whose link was lost */
};

/** Rows of struct mf_frame_switch_counts. */
extern const struct mf_counter_desc mf_frame_switch_table[];

struct mf_frame_switch;
/** It as a role; see role/mf_role.h. */
extern const struct mf_role_ops mf_frame_switch_role;

/** @return NULL with errno: EINVAL for a bad config, ENOMEM, or what the bridge's create() says */
struct mf_frame_switch *mf_frame_switch_new(const struct mf_frame_switch_config *config);
/** @param sw  or NULL */
void mf_frame_switch_free(struct mf_frame_switch *sw);

/** Takes a span from the link of a port. */
void mf_frame_switch_rx(struct mf_frame_switch *sw, unsigned int port, mf_time now,
			const struct mf_span *span);
/** Next blocks of a port; see mf_mux_pull(). */
unsigned int mf_frame_switch_tx(struct mf_frame_switch *sw, unsigned int port, mf_time now, unsigned int max,
				struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_frame_switch_tx_in_place(struct mf_frame_switch *sw, unsigned int port, mf_time now,
					    struct mf_span *room);
/**
 * Does what is due, and gives lines what they want. It is called when all of an instant has come, so what the
 * bridge gives is decided when it knows that.
 * @return the next time that it wants to be called (TX of ports not included), or MF_NEVER
 */
mf_time mf_frame_switch_run(struct mf_frame_switch *sw, mf_time now);

/** The link of a port is lost: what is arriving is cut, and what the port has to send is thrown away. */
void mf_frame_switch_link_down(struct mf_frame_switch *sw, unsigned int port, mf_time now);
/** The link is there again. @return true: a port without a link keeps nothing */
bool mf_frame_switch_link_up(struct mf_frame_switch *sw, unsigned int port, mf_time now);

/** @return NULL: the bridge has no pools */
const struct mf_pool_desc *mf_frame_switch_pools(const struct mf_frame_switch *sw);
/** Takes away what is free of a pool of the bridge, or gives it back: see mf_bridge_ops.exhaust. */
void mf_frame_switch_exhaust(struct mf_frame_switch *sw, unsigned int pool, unsigned int port, bool on);

/** Whether frames are inside: in the bridge, or before it, behind their /T/. */
bool mf_frame_switch_has_frames(const struct mf_frame_switch *sw);

void mf_frame_switch_counts(const struct mf_frame_switch *sw, struct mf_frame_switch_counts *out);
/** What waits in the bridge for a port: mf_bridge_ops.depth. */
void mf_frame_switch_depth(struct mf_frame_switch *sw, unsigned int port, bool anew,
			   struct mf_queue_depth *out);
/** What the bridge counts. @param out  room for MF_COUNTERS_MAX @return how many */
unsigned int mf_frame_switch_counters(const struct mf_frame_switch *sw, struct mf_counter *out);

#endif
