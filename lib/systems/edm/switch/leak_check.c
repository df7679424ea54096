/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/mf_switch_leaks.h"

static uint32_t free_circuits(const struct mf_switch *sw)
{
	uint32_t n = 0;

	for (uint32_t c = sw->circuit_free; c != NONE; c = sw->circuits[c].next)
		n++;
	return n;
}

static uint32_t free_requests(const struct mf_switch *sw, uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t r = first; r != NONE; r = sw->requests[r].next)
		n++;
	return n;
}

void mf_switch_held(const struct mf_switch *sw, mf_time now, struct mf_switch_held *out)
{
	*out = (struct mf_switch_held){.descriptors = sw->out_head - sw->out_tail};
	if (sw->circuits != NULL) {
		out->circuits = sw->circuits_used - sw->shell.ports - free_circuits(sw);
		out->requests = sw->requests_used - free_requests(sw, sw->request_free);
		out->parked =
			sw->parked_grants_used - sw->requests_max - free_requests(sw, sw->parked_grant_free);
	}
	for (unsigned int i = 0; i < sw->shell.ports; i++) {
		const struct port *p = &sw->port[i];

		out->outstanding += sw->outstanding != NULL ? sw->outstanding[i] : 0;
		out->messages += p->state == RX_STREAM || p->state == RX_COLLECT || p->shell.rx.collecting;
		out->granted += p->granted;
		out->inbound += p->inbound;
		if (p->shell.mux != NULL)
			out->blocks += mf_mux_backlog(p->shell.mux, now);
	}
}
