/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an end, its configuration, its timers, and what it tells its owner. */
#include "link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"

/** Frames behind the window: a span in the smallest ones twice, and a few of any size. */
#define QUEUE_MIN 8
#define SPAN_FRAMES(blocks) ((MF_SPAN_MAX + (blocks)-1) / (blocks) + 1)
#define SLOTS_MORE (2 * SPAN_FRAMES(MF_LINK_BLOCKS_MIN) + QUEUE_MIN)

void mf_link_config_default(struct mf_link_config *c)
{
	*c = (struct mf_link_config){
		.retransmit = true,
		.ethertype = MF_LINK_ETHERTYPE,
		.blocks = MF_SPAN_MAX,
		.window = 256,
		.replays = 16,
		.ack_after = MF_US(50),
		.replay_after = MF_US(500),
		.replay_max = MF_MS(100),
		.hello_period = MF_MS(100),
		.refused_period = MF_SEC(1),
		.silence = MF_SEC(3),
	};
}

/** How long an end tries before it gives up, if nothing ever comes back. */
static mf_time budget(const struct mf_link_config *c)
{
	mf_time wait = mf_time_max(c->replay_after, c->ack_after), sum = wait;

	for (unsigned int i = 0; i < c->replays && sum < c->silence; i++) {
		wait = mf_time_min(2 * wait, mf_time_max(c->replay_max, wait));
		sum += wait;
	}
	return sum;
}

const char *mf_link_config_fault(const struct mf_link_config *c)
{
	if (c->switch_end != (c->node == MF_LINK_NODE_SWITCH))
		return "node and switch_end contradict each other";
	if (c->name == NULL || c->epoch == 0 || c->period == 0)
		return "name, epoch or period is missing";
	if (c->blocks < MF_LINK_BLOCKS_MIN || c->blocks > MF_SPAN_MAX)
		return "the MTU does not hold a frame";
	if (c->burst != 0 && c->burst < c->period)
		return "a burst is shorter than a block";
	if (c->window == 0 || c->window > MF_LINK_WINDOW_MAX)
		return "the window is not 1 to 16384";
	if (c->replays == 0 || c->replay_after == 0 || c->hello_period == 0 || c->refused_period == 0)
		return "a timer or the number of replays is 0";
	if (c->silence / 10 < c->hello_period)
		return "silence is shorter than ten HELLO periods";
	if (c->retransmit && c->silence <= budget(c))
		return "silence is not longer than all replays take: a loss would look like it";
	return NULL;
}

static uint32_t slots_of(const struct mf_link_config *c)
{
	uint32_t n = 1;

	while (n < (uint32_t)c->window + SLOTS_MORE)
		n *= 2;
	return n;
}

/* Of a name that is too long for HELLO its end: names in a rack begin with that of the rack. */
static void link_name(char out[MF_LINK_NAME], const char *name)
{
	size_t len = strlen(name), skip = len > MF_LINK_NAME ? len - MF_LINK_NAME : 0;

	memcpy(out, name + skip, len - skip);
}

static bool allocate(struct mf_link *l)
{
	uint32_t slots = slots_of(&l->config);

	l->tx_mask = slots - 1;
	/* Whole words are copied behind the last one; no slots begin at the same place of a page. */
	l->tx_stride = (LINK_TX_WORDS + 8 * (l->config.blocks + 1u) + 63) / 64 * 64;
	l->rx_size = l->config.window + 1u;
	l->tx_slot = mf_table_new(slots, l->tx_stride);
	l->tx_blocks = mf_table_new(slots, sizeof(*l->tx_blocks));
	l->rx_span = mf_table_new(l->rx_size, sizeof(*l->rx_span));
	l->rx_order = mf_table_new(l->rx_size, sizeof(*l->rx_order));
	l->rx_free = mf_table_new(l->rx_size, sizeof(*l->rx_free));
	if (l->tx_slot == NULL || l->tx_blocks == NULL || l->rx_span == NULL || l->rx_order == NULL ||
	    l->rx_free == NULL)
		return false;
	while (l->rx_frees < l->rx_size) {
		l->rx_free[l->rx_frees] = (uint16_t)l->rx_frees;
		l->rx_frees++;
	}
	return true;
}

struct mf_link *mf_link_new(const struct mf_link_config *config, mf_time now)
{
	struct mf_link *l;

	if (mf_link_config_fault(config) != NULL) {
		errno = EINVAL;
		return NULL;
	}
	l = mf_table_new(1, sizeof(*l));
	if (l == NULL)
		return NULL;
	l->config = *config;
	if (l->config.ack_every == 0)
		l->config.ack_every = (uint16_t)(config->window >= 4 ? config->window / 4 : 1);
	link_name(l->name, config->name);
	l->config.name = NULL;
	if (!allocate(l)) {
		mf_link_free(l);
		errno = ENOMEM;
		return NULL;
	}
	l->own = config->epoch;
	l->heard = now;
	link_probe_reset(l);
	link_greet_now(l);
	return l;
}

void mf_link_free(struct mf_link *l)
{
	if (l == NULL)
		return;
	mf_table_free(l->tx_slot);
	mf_table_free(l->tx_blocks);
	mf_table_free(l->rx_span);
	mf_table_free(l->rx_order);
	mf_table_free(l->rx_free);
	mf_table_free(l);
}

void link_tx_reset(struct mf_link *l)
{
	uint32_t frames;

	l->tx_cut = l->hello.blocks < l->config.blocks ? l->hello.blocks : l->config.blocks;
	frames = SPAN_FRAMES(l->tx_cut);
	l->tx_queue = frames > QUEUE_MIN ? frames : QUEUE_MIN;
	if (l->config.burst != 0 && l->config.burst / l->config.period < l->tx_cut)
		l->tx_cut = (uint16_t)(l->config.burst / l->config.period);
	l->tx_end = l->tx_origin = l->config.first;
	l->tx_open = 0;
	l->pace_at = 0;
}

bool mf_link_up(const struct mf_link *l)
{
	return l->up;
}

bool mf_link_changed(const struct mf_link *l)
{
	return l->changed;
}

void mf_link_look(const struct mf_link *l, struct mf_link_status *out)
{
	*out = (struct mf_link_status){
		.up = l->up,
		.down = l->down,
		.connections = l->connections,
		.refused = l->refusal.reason,
		.by_partner = l->refusal.by_partner,
		.have = l->refusal.have,
		.got = l->refusal.got,
		.epoch = l->own,
		.partner_epoch = l->partner,
		.partner_state = l->told_state,
		.echo = l->told_echo,
		.partner_node = l->hello.node,
		.partner_place = {.host = l->hello.host, .thread = l->hello.thread},
		.round_trip = l->config.retransmit ? l->llr.srtt : 0,
	};
	mf_link_name_copy(out->partner_name, l->hello.name);
}

void mf_link_status(struct mf_link *l, struct mf_link_status *out)
{
	mf_link_look(l, out);
	l->changed = false;
}

const struct mf_link_stats *mf_link_stats(const struct mf_link *l)
{
	return &l->stats;
}

void mf_link_set_state(struct mf_link *l, uint16_t state)
{
	if (state == l->state)
		return;
	l->state = state;
	link_greet_now(l);
}

void mf_link_set_mac(struct mf_link *l, const uint8_t mac[MF_LINK_MAC])
{
	memcpy(l->config.mac, mac, MF_LINK_MAC);
}

void mf_link_set_place(struct mf_link *l, const struct mf_link_place *place)
{
	if (place->host == l->place.host && place->thread == l->place.thread)
		return;
	l->place = *place;
	link_greet_now(l);
}

void mf_link_leave(struct mf_link *l, mf_time now)
{
	(void)now;
	if (l->up)
		link_down(l, MF_LINK_DOWN_LEFT, MF_LINK_LEFT);
}

void mf_link_gone(struct mf_link *l)
{
	if (l->up)
		link_down(l, MF_LINK_DOWN_GONE, 0);
}

mf_time mf_link_unheard(const struct mf_link *l, mf_time now)
{
	return l->up ? now - mf_time_min(l->heard, now) : 0;
}

bool mf_link_recovers(const struct mf_link *l)
{
	return l->up && llr_recovers(&l->llr);
}

void mf_link_excuse(struct mf_link *l, mf_time by)
{
	l->stats.excuse_events += l->silence == l->config.silence && by > 0;
	l->silence = l->config.silence + by;
}

void mf_link_away(struct mf_link *l, mf_time now, mf_time by)
{
	if (!l->up)
		return;
	/* In less than a HELLO's time a partner need not have said anything; what it said waits to be heard.
	 */
	if (by > l->config.hello_period) {
		l->stats.stall_events++;
		l->heard = mf_time_min(l->heard + by, now);
	}
	llr_shift(&l->llr, now, by);
}

/** When there is something to send of the connection. */
static mf_time tx_next(const struct mf_link *l)
{
	const struct llr *r = &l->llr;

	if (r->nack || r->poll || r->ack)
		return 0;
	if (llr_may_emit(r, link_tx_end(l)) != LLR_EMIT_NONE)
		return mf_time_min(l->pace_at, r->ack_at);
	return r->ack_at;
}

mf_time mf_link_next(const struct mf_link *l)
{
	if (!l->up)
		return l->greet_at;
	return mf_time_min(mf_time_min(l->greet_at, l->heard + l->silence),
			   mf_time_min(llr_next(&l->llr), tx_next(l)));
}

void mf_link_run(struct mf_link *l, mf_time now)
{
	if (!l->up)
		return;
	if (now >= l->heard + l->silence) {
		link_down(l, MF_LINK_DOWN_SILENCE, 0);
		return;
	}
	switch (llr_run(&l->llr, now, l->heard)) {
	case LLR_TIMER_NONE:
		break;
	case LLR_TIMER_REPLAY:
		l->stats.tx_timer_replays++;
		break;
	case LLR_TIMER_GAVE_UP:
		link_down(l, MF_LINK_DOWN_GAVE_UP, MF_LINK_GAVE_UP);
		break;
	}
}

const char *mf_link_down_text(enum mf_link_down down)
{
	static const char *const text[MF_LINK_DOWNS] = {
		[MF_LINK_DOWN_FIRST] = "has not been up yet",
		[MF_LINK_DOWN_SILENCE] = "nothing comes from the partner",
		[MF_LINK_DOWN_RESTARTED] = "the partner has begun anew",
		[MF_LINK_DOWN_GAVE_UP] = "all replays were lost",
		[MF_LINK_DOWN_PARTNER_LEFT] = "the partner has left",
		[MF_LINK_DOWN_PARTNER_GAVE_UP] = "all replays of the partner were lost",
		[MF_LINK_DOWN_LEFT] = "this end has left",
		[MF_LINK_DOWN_GONE] = "the partner's process is gone"};

	return down < MF_LINK_DOWNS ? text[down] : "?";
}
