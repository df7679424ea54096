/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that frames of full size pass. HELLO is short: an MTU on the way that is below that of the ports
 * lets it through and drops the long DATA frames, and the link would come up only to give up again. So each
 * end sends a PROBE, as long as its longest DATA frame; HELLO says which one has come; and the link is up
 * when both ends have had theirs. Where the long one does not come, shorter ones find out what passes.
 */
#include <string.h>

#include "link/link.h"

/** MTUs that networks have, and a few between them: what is tried when the full size does not pass. */
static const uint16_t rung[] = {4000, 3000, 2000, 1500, 1492, 1480, 1476, 1450,
				1440, 1420, 1400, 1280, 1000, 576,  256};
#define RUNGS (sizeof(rung) / sizeof(rung[0]))
#define LATE 2 /**< HELLO periods without the proof, after which shorter ones are tried */
#define NOTHING 4 /**< times as long it is not said that nothing passes: the shorter ones may be late */

/** Blocks of the longest frame; the same number at both ends. */
static uint16_t full(const struct mf_link *l)
{
	return l->hello.blocks < l->config.blocks ? l->hello.blocks : l->config.blocks;
}

void link_probe_reset(struct mf_link *l)
{
	l->took = 0;
	l->probe = LINK_PROBE_NONE;
	l->unproven_from = MF_NEVER;
}

bool link_proven(const struct mf_link *l)
{
	return l->took >= full(l) && l->hello.took >= full(l);
}

bool link_unproven_at(const struct mf_link *l, const struct mf_link_hello *b)
{
	return b->took < full(l);
}

void link_probe_due(struct mf_link *l, mf_time now)
{
	bool late = l->unproven_from != MF_NEVER && now >= l->unproven_from + LATE * l->config.hello_period;

	if (l->up || l->partner == 0 || l->hello.took >= full(l))
		return;
	l->probe = 0;
	l->probe_end = late ? 1 + RUNGS : 1;
}

static void next_probe(struct mf_link *l)
{
	do
		l->probe++;
	while (l->probe < l->probe_end && mf_link_blocks(rung[l->probe - 1]) >= full(l));
	if (l->probe >= l->probe_end)
		l->probe = LINK_PROBE_NONE;
}

const uint8_t *link_put_probe(struct mf_link *l, uint16_t *len)
{
	struct mf_link_head h = link_head(l, l->mac, MF_LINK_PROBE);
	uint16_t blocks = l->probe == 0 ? full(l) : (uint16_t)mf_link_blocks(rung[l->probe - 1]);

	h.epoch = link_tag(l, l->partner);
	h.blocks = blocks;
	h.length = (uint16_t)MF_LINK_BODY(blocks);
	next_probe(l);
	l->stats.tx_probe_frames++;
	/* No DATA frame has this place while the link is down. */
	memcpy(l->tx_slot, &h, sizeof(h));
	memset(l->tx_slot + sizeof(h), 0, h.length);
	*len = mf_link_frame_seal(l->tx_slot);
	return l->tx_slot;
}

void link_rx_probe(struct mf_link *l, mf_time now, const struct mf_link_head *h)
{
	l->stats.rx_probe_frames++;
	if (l->up || l->partner == 0 || h->epoch != link_tag(l, l->partner) || h->blocks <= l->took)
		return;
	l->took = h->blocks;
	if (l->took < full(l))
		return;
	link_greet_now(l);
	if (link_proven(l))
		link_up(l, now);
}

void link_unproven(struct mf_link *l, mf_time now)
{
	bool comes = l->took >= full(l);
	const struct link_refusal r = {MF_LINK_REASON_MTU, comes, comes ? l->hello.took : l->took, full(l)};

	if (l->unproven_from == MF_NEVER)
		l->unproven_from = now;
	if (now >= l->unproven_from + (r.have > 0 ? 1 : NOTHING) * l->config.refused_period)
		link_note_refusal(l, &r);
}
