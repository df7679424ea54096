/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection begins and ends. A pair of epochs makes one at most: an end that ends it by itself takes its
 * next epoch at that moment; one whose partner shows a newer epoch keeps its own, and takes no older one of
 * the partner's from then on. So whatever the network still holds of an old connection has another tag.
 */
#include <string.h>

#include "link/link.h"

uint32_t link_tag(const struct mf_link *l, uint64_t partner)
{
	return l->config.switch_end ? mf_link_tag(partner, l->own) : mf_link_tag(l->own, partner);
}

static void start_llr(struct mf_link *l)
{
	const struct mf_link_config *c = &l->config;
	const struct llr_config config = {
		.window = c->window,
		.partner_window = l->hello.window,
		.send_window = l->hello.window < c->window ? l->hello.window : c->window,
		.ack_every = c->ack_every,
		.replays = c->replays,
		.ack_after = c->ack_after,
		.replay_after = c->replay_after,
		.replay_max = c->replay_max,
		.poll_max = c->hello_period,
	};

	llr_init(&l->llr, &config, c->first, l->hello.first);
}

void link_up(struct mf_link *l, mf_time now)
{
	l->up = l->ever = l->changed = true;
	l->connections++;
	l->stats.up_events++;
	l->partner = l->known = l->hello.epoch;
	l->told_state = l->hello.state;
	l->told_echo = l->hello.echo;
	l->tag = link_tag(l, l->partner);
	l->head = link_head(l, l->mac, MF_LINK_DATA);
	l->head.epoch = l->tag;
	l->refusal.reason = 0;
	l->slow = false;
	l->answer = 0;
	l->heard = now;
	l->silence = l->config.silence;
	l->probe = LINK_PROBE_NONE;
	start_llr(l);
	link_tx_reset(l);
	link_greet_now(l);
}

static void count_down(struct mf_link *l, enum mf_link_down down)
{
	struct mf_link_stats *s = &l->stats;
	uint64_t *const event[MF_LINK_DOWNS] = {
		[MF_LINK_DOWN_FIRST] = NULL,
		[MF_LINK_DOWN_SILENCE] = &s->down_silence_events,
		[MF_LINK_DOWN_RESTARTED] = &s->down_restarted_events,
		[MF_LINK_DOWN_GAVE_UP] = &s->down_gave_up_events,
		[MF_LINK_DOWN_PARTNER_LEFT] = &s->down_partner_left_events,
		[MF_LINK_DOWN_PARTNER_GAVE_UP] = &s->down_partner_gave_up_events,
		[MF_LINK_DOWN_LEFT] = &s->down_left_events,
		[MF_LINK_DOWN_GONE] = &s->down_gone_events,
	};

	++*event[down];
}

static void part(struct mf_link *l, enum mf_link_leave leave)
{
	const struct mf_link_bye body = {.leave = leave};
	struct mf_link_head h = l->head;

	h.type = MF_LINK_BYE;
	h.seq = l->llr.nxt;
	h.ack = l->llr.expected;
	h.limit = link_limit(l);
	l->bye.len = mf_link_frame_put_control(l->bye.frame, &h, &body, sizeof(body));
}

void link_down(struct mf_link *l, enum mf_link_down down, enum mf_link_leave leave)
{
	if (leave != 0)
		part(l, leave);
	link_tx_drop(l);
	link_rx_drop(l);
	count_down(l, down);
	l->up = false;
	l->changed = true;
	l->down = down;
	l->refusal.reason = 0;
	if (down == MF_LINK_DOWN_RESTARTED)
		l->known = l->partner + 1; /* the network may still hold its HELLO: that pair has been used */
	l->partner = 0;
	l->answer = 0;
	link_probe_reset(l);
	if (down != MF_LINK_DOWN_RESTARTED)
		l->own += l->own == UINT64_MAX ? 2 : 1; /* never 0 */
	link_greet_now(l);
}

bool link_prove(struct mf_link *l, mf_time now, uint32_t tag)
{
	if (l->partner == 0 || tag != link_tag(l, l->partner))
		return false;
	link_up(l, now);
	return true;
}
