/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "role/mf_receiver.h"

int mf_receiver_init(struct mf_receiver *r, const struct mf_receiver_config *config)
{
	int err = mf_demux_init(&r->demux, config->blocks, config->period, config->ber_window);

	r->ready = err == 0;
	mf_demux_guard(&r->demux, config->guard);
	if (err || !config->blocks)
		return err;
	r->word = malloc(config->room * sizeof(*r->word));
	if (!r->word)
		return -ENOMEM;
	r->room = config->room;
	return 0;
}

void mf_receiver_fini(struct mf_receiver *r)
{
	if (r->ready)
		mf_demux_fini(&r->demux);
	free(r->word);
	memset(r, 0, sizeof(*r));
}
