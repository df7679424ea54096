/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "role/mf_ports.h"

int mf_port_init(struct mf_port_shell *p, const struct mf_port_config *c)
{
	const struct mf_receiver_config rx = {.blocks = c->memory_enabled,
					      .period = c->mux.period,
					      .ber_window = c->ber_window,
					      .guard = c->guard,
					      .room = c->room};
	struct mf_mux_config mux = c->mux;

	p->up = c->up;
	p->memory_enabled = c->memory_enabled;
	p->period = mux.period;
	p->paced = mux.period != 0 || mux.shaped;
	mux.memory_enabled = c->memory_enabled;
	p->mux = mf_mux_new(&mux);
	return p->mux != NULL ? mf_receiver_init(&p->rx, &rx) : -errno;
}

void mf_port_fini(struct mf_port_shell *p)
{
	mf_mux_free(p->mux);
	mf_receiver_fini(&p->rx);
}

mf_time mf_ports_accept(struct mf_ports *s, mf_time now, mf_ports_take_fn take)
{
	mf_time next = MF_NEVER;
	struct mf_rx_item item;

	for (unsigned int w = 0; w <= (s->ports - 1) / 64; w++)
		for (uint64_t set = s->ending[w]; set != 0; set &= set - 1) {
			unsigned int port = w * 64 + (unsigned int)__builtin_ctzll(set);
			struct mf_demux *d = &mf_port(s, port)->rx.demux;
			mf_time at = mf_demux_next(d);

			if (at <= now) {
				if (mf_demux_poll(d, now, &item) > 0)
					take(s, port, now, &item);
				mf_ports_watch(s, port);
			} else {
				next = mf_time_min(next, at);
			}
		}
	return next;
}
