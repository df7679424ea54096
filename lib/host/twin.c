/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two links, and two switches of which one is obeyed. What is sent goes on both; of what is received the
 * first copy counts (once.c). When the link to the active switch is lost the node goes to the next epoch,
 * whose active switch is the other one, and says so by TAKE: behind all chunks that it sends by grants of the
 * old.
 */
#include <stdlib.h>

#include "rx.h"
#include "twin.h"

int host_twin_init(struct mf_host *h)
{
	struct host_twin *t = calloc(1, sizeof(*t));

	h->twin = t;
	if (!t)
		return -ENOMEM;
	t->up[0] = t->up[1] = true;
	t->other.assembly = malloc(MF_BLOCKS_MAX * sizeof(*t->other.assembly));
	if (!t->other.assembly)
		return -ENOMEM;
	return mf_demux_init(&t->other.demux, h->config.memory_enabled, h->config.mux.period,
			     h->config.ber_window);
}

void host_twin_fini(struct mf_host *h)
{
	if (!h->twin)
		return;
	if (h->twin->other.assembly)
		mf_demux_fini(&h->twin->other.demux);
	free(h->twin->other.assembly);
	free(h->twin);
}

static unsigned int active(const struct host_twin *t)
{
	return t->epoch & 1;
}

/** The receiver of a link takes the place of the other one. */
static void serve(struct mf_host *h, unsigned int link)
{
	struct host_twin *t = h->twin;
	struct host_receiver r = t->other;

	h->deaf = link != active(t);
	if (t->served == link)
		return;
	t->other = (struct host_receiver){.demux = h->demux,
					  .assembly = h->assembly,
					  .assembled = h->assembled,
					  .assembling = h->assembling,
					  .assembly_first = h->assembly_first};
	h->demux = r.demux;
	h->assembly = r.assembly;
	h->assembled = r.assembled;
	h->assembling = r.assembling;
	h->assembly_first = r.assembly_first;
	t->served = (uint8_t)link;
}

void mf_host_rx_by(struct mf_host *h, unsigned int link, mf_time now, const struct mf_span *span)
{
	if (h->twin)
		serve(h, link);
	mf_host_rx(h, now, span);
}

/* A deposed switch that does not know it lets out what the active one will let out again. */
bool host_twin_hears(struct mf_host *h)
{
	const struct host_twin *t = h->twin;

	if (t->said[t->served] == t->epoch)
		return true;
	h->stats.drop_fenced++;
	return false;
}

void host_twin_tell(struct mf_host *h, mf_time now)
{
	const struct mf_msg m = {.kind = MF_TAKE, .epoch = h->twin->epoch};
	uint64_t *word;

	if (!h->twin->owes || h->job_head != h->job_tail)
		return; /* chunks that were granted wait for room */
	word = mf_mux_put(h->mux, mf_mux_behind(h->mux, now), UINT32_MAX, 1, 0);
	if (!word)
		return;
	*word = mf_proto_put_single(&m);
	h->stats.tx[MF_TAKE]++;
	h->twin->owes = false;
}

/** The epoch is a newer one. What its switch does not know of is over. */
static void enter(struct mf_host *h, uint16_t epoch, mf_time now)
{
	struct host_twin *t = h->twin;

	t->epoch = epoch;
	t->owes = true;
	h->deaf = t->served != active(t);
	h->stats.takes++;
	if (h->submits)
		host_link_forgotten(h, t->since[active(t)], now);
	host_twin_tell(h, now);
}

void host_twin_take(struct mf_host *h, uint16_t epoch, mf_time at)
{
	struct host_twin *t = h->twin;
	unsigned int link = t->served;
	int16_t newer = (int16_t)(epoch - t->epoch);

	/* A standby that tells an epoch for the first time begins with it. */
	if (t->fresh[link] || ((epoch & 1) != link && t->said[link] != epoch))
		t->since[link] = h->seq;
	t->fresh[link] = false;
	t->said[link] = epoch;
	if (newer > 0) {
		enter(h, epoch, at);
	} else if (newer < 0) {
		t->owes = true;
		host_twin_tell(h, at);
	}
}

/** The message and the frame that were arriving. */
static void cut(struct mf_host *h, unsigned int link, mf_time now)
{
	struct mf_span s;

	mf_span_no_signal(&s, now);
	mf_host_rx_by(h, link, now, &s);
}

void mf_host_link_down(struct mf_host *h, unsigned int link, mf_time now)
{
	struct host_twin *t = h->twin;

	if (!t) {
		mf_host_link_lost(h, now);
		return;
	}
	if (!t->up[link])
		return;
	t->up[link] = false;
	cut(h, link, now);
	if (!t->up[!link])
		mf_host_link_lost(h, now);
	else if (link == active(t))
		enter(h, (uint16_t)(t->epoch + 1), now);
}

void mf_host_link_up(struct mf_host *h, unsigned int link, mf_time now)
{
	struct host_twin *t = h->twin;

	if (!t || t->up[link])
		return;
	t->up[link] = t->fresh[link] = true;
	if (!t->up[active(t)]) {
		enter(h, (uint16_t)(t->epoch + 1), now);
		return;
	}
	t->owes = true;
	host_twin_tell(h, now);
}

void host_twin_idle(struct mf_host *h, mf_time now)
{
	serve(h, !h->twin->served);
	host_rx_idle(h, now);
}

uint16_t mf_host_epoch(const struct mf_host *h)
{
	return h->twin ? h->twin->epoch : 0;
}
