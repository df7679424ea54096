/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch's own words to a node. */
#include "systems/edm/switch/switch_priv.h"

bool link_say(struct mf_switch *sw, uint16_t to, uint16_t of, enum mf_status status, uint16_t incarnation,
	      unsigned int times, mf_time now)
{
	struct mf_msg m = {.kind = MF_ERR, .src = of, .dst = to, .status = (uint8_t)status};
	uint64_t *word;

	mf_proto_set_incarnation(&m, incarnation);
	for (unsigned int i = 0; i < times; i++) {
		word = mf_mux_put(sw->port[to].shell.mux, now, tie(TIE_CHUNK, of), 1, 0);
		if (word == NULL)
			return false;
		*word = mf_proto_put_single(&m);
		switch_dirty(sw, to);
		switch_backlog(sw, to, now);
	}
	return true;
}
