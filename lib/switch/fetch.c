/* SPDX-License-Identifier: BSD-3-Clause */
/* A hint: what the switch knows of a port, and what it has for it, will soon be looked at. */
#include "switch_priv.h"

#define FETCH_ITEMS 3

void mf_switch_fetch(const struct mf_switch *sw, unsigned int port)
{
	const struct port *p = &sw->port[port];

	for (size_t at = 0; at < sizeof(*p); at += 64)
		__builtin_prefetch((const uint8_t *)p + at, 1);
	__builtin_prefetch(&sw->circuits[port], 1);
	mf_mux_fetch(p->mux);
}

void mf_switch_fetch_items(const struct mf_switch *sw, unsigned int port)
{
	__builtin_prefetch(&sw->circuits[sw->circuits[port].next], 1);
	mf_mux_fetch_items(sw->port[port].mux, FETCH_ITEMS);
}
