/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints. Nothing is checked: what is wrong in a message is only fetched. */
#include "base/mf_fetch.h"
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/switch/circuit.h"

#define FETCH_ITEMS 1

static inline void fetch_port(const struct port *p)
{
	__builtin_prefetch(p, 1);
	__builtin_prefetch(&p->shell.rx.demux.ber, 1);
	__builtin_prefetch(&p->shell.rx.demux.stats, 1);
	__builtin_prefetch(&p->backlog_k, 1);
}

/** The port that a message names as its destination. */
static inline unsigned int port_of(const struct mf_switch *sw, uint64_t word)
{
	uint8_t type = mf_block_type(word);
	uint64_t dst = type == MF_BT_MS ? field_of(word, MS_DST) : field_of(word, NG_DST);

	return dst < sw->shell.ports ? (unsigned int)dst : 0;
}

void mf_switch_fetch(const struct mf_switch *sw, unsigned int port, uint64_t word)
{
	unsigned int to = port_of(sw, word);

	mf_fetch_only();
	fetch_port(&sw->port[port]);
	fetch_port(&sw->port[to]);
	__builtin_prefetch(&sw->circuits[port], 1);
	__builtin_prefetch(circuit_pair(sw, (uint16_t)port, (uint16_t)to), 1);
}

void mf_switch_fetch_mux(const struct mf_switch *sw, unsigned int port, uint64_t word)
{
	mf_fetch_only();
	__builtin_prefetch(&sw->circuits[sw->circuits[port].next], 1);
	mf_mux_fetch(sw->port[mf_block_type(word) == MF_BT_MS ? port_of(sw, word) : port].shell.mux);
}

void mf_switch_fetch_items(const struct mf_switch *sw, unsigned int port, uint64_t word)
{
	mf_fetch_only();
	mf_mux_fetch_items(sw->port[mf_block_type(word) == MF_BT_MS ? port_of(sw, word) : port].shell.mux,
			   FETCH_ITEMS);
}

void mf_switch_fetch_tx(const struct mf_switch *sw, unsigned int port)
{
	const struct port *p = &sw->port[port];

	mf_fetch_only();
	__builtin_prefetch(&p->backlog_k, 1);
	mf_mux_fetch(p->shell.mux);
}

void mf_switch_fetch_head(const struct mf_switch *sw, unsigned int port)
{
	mf_fetch_only();
	mf_mux_fetch_head(sw->port[port].shell.mux);
}
