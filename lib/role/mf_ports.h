/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of a switch: what each switch has of its links and its engine, whatever its system. What the
 * switch does with them is its role.
 *
 * One thread calls a switch, and with it all that is here. Nothing is allocated after mf_port_init().
 */
#ifndef MF_PORTS_H
#define MF_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "op/mf_op.h"
#include "pcs/mf_mux.h"
#include "role/mf_receiver.h"

/** First member of every port of a switch. */
struct mf_port_shell {
	struct mf_mux *mux;
	uint32_t period; /**< ps a block; 0: wall clock */
	bool up; /**< something is connected */
	bool memory_enabled; /**< the link carries messages of blocks */
	bool paced; /**< the line has a rate, under either clock */
	struct mf_receiver rx;
};

struct mf_port_config {
	bool up;
	bool memory_enabled; /**< false: a standard Ethernet port (D16); also that of mux */
	struct mf_mux_config mux;
	mf_time ber_window; /**< of the hi-BER monitor, ps, 1.. */
	struct mf_guard *guard; /**< the caller's, must outlive the port: told of bad blocks; or NULL */
	uint32_t room; /**< words of the longest message, with memory_enabled */
};

/**
 * @param p  all zero
 * @return 0, -EINVAL for a bad config, -ENOMEM. mf_port_fini() frees, after a failure, too.
 */
int mf_port_init(struct mf_port_shell *p, const struct mf_port_config *config);
/** @param p  also one that is all zero */
void mf_port_fini(struct mf_port_shell *p);

/** First member of every switch. Engines look at it without asking whose switch it is. */
struct mf_ports {
	mf_time next; /**< earliest deadline that is known of; MF_NEVER: there is none */
	uint8_t *first; /**< the first port */
	uint32_t stride; /**< octets from a port to the next */
	unsigned int ports; /**< 1..MF_NODES_MAX */
	unsigned int links_lost; /**< ports whose link is not up */
	uint8_t kind; /**< of its maker in room systems, which alone writes and reads it */
	bool foresees, makes_room; /**< its maker's: see mf_sw_foresees(), mf_sw_tx_makes_room() */
	uint64_t sending[MF_NODES_MAX / 64]; /**< ports whose TX may have something new */
	uint64_t ending[MF_NODES_MAX / 64]; /**< ports with a frame that waits behind its /T/ */
} __attribute__((aligned(64)));

static inline struct mf_port_shell *mf_port(const struct mf_ports *s, unsigned int port)
{
	return (struct mf_port_shell *)(void *)(s->first + (size_t)port * s->stride);
}

/** Something falls due at `at`. */
static inline void mf_ports_wake(struct mf_ports *s, mf_time at)
{
	if (at < s->next)
		s->next = at;
}

/** The TX of a port may have something new. */
static inline void mf_ports_send(struct mf_ports *s, unsigned int port)
{
	s->sending[port / 64] |= UINT64_C(1) << (port % 64);
}

/** Behind what has come at a port: whether a frame waits there, for the block behind its /T/ or its time. */
static inline void mf_ports_watch(struct mf_ports *s, unsigned int port)
{
	mf_time at = mf_demux_next(&mf_port(s, port)->rx.demux);
	uint64_t bit = UINT64_C(1) << (port % 64);

	if (at != MF_NEVER)
		s->ending[port / 64] |= bit;
	else
		s->ending[port / 64] &= ~bit;
	mf_ports_wake(s, at);
}

/** Takes what has come at a port. */
typedef void (*mf_ports_take_fn)(struct mf_ports *s, unsigned int port, mf_time now,
				 const struct mf_rx_item *item);

/** Has frames taken behind whose /T/ nothing came. @return the next such time */
mf_time mf_ports_accept(struct mf_ports *s, mf_time now, mf_ports_take_fn take);

/** Whether a frame waits at some port. */
static inline bool mf_ports_accepting(const struct mf_ports *s)
{
	for (unsigned int w = 0; w <= (s->ports - 1) / 64; w++)
		if (s->ending[w] != 0)
			return true;
	return false;
}

#endif
