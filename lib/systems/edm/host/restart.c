/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process of the node is gone and is there again: what it knew is lost, ids in quarantine and all. What
 * is counted goes on, and the engine, the client and the receiver of frames have the same host.
 */
#include "base/mf_rng.h"
#include "systems/edm/host/redundancy.h"

/** What stays of the host before. */
static void inherit(struct mf_host *h, struct mf_host *before)
{
	struct mf_receiver fresh = h->rx;

	h->stats = before->stats;
	mf_mux_inherit(h->shell.mux, before->shell.mux);
	h->rx = before->rx; /* it counts, and has nothing under way either */
	before->rx = fresh;
	if (h->redundancy)
		host_redundancy_inherit(h, before);
}

int mf_host_restart(struct mf_host *h, mf_time now, struct mf_memory *memory)
{
	struct mf_host_config config;
	struct mf_host before;
	struct mf_span s;
	int err;

	for (enum mf_host_pool what = MF_HOST_QUEUE; what <= MF_HOST_MUX; what++)
		mf_host_exhaust(h, what, false);
	config = h->config;
	mf_span_no_signal(&s, now);
	if (h->redundancy)
		host_redundancy_leave(h, now);
	else
		mf_host_rx(h, now, &s);
	before = *h;
	config.memory = memory;
	config.begins = false;
	config.incarnation = h->redundancy ? host_redundancy_next_incarnation(h->redundancy->incarnation) : 0;
	config.use = (uint16_t)mf_hash64(config.use + UINT64_C(1)); /* not what it went on with */
	memset(h, 0, sizeof(*h));
	err = host_init(h, &config);
	if (!err)
		inherit(h, &before);
	h->sink = before.sink;
	h->restart_fn = before.restart_fn;
	h->restart_ctx = before.restart_ctx;
	host_fini(&before);
	return err;
}
