/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two links, and two switches of which one is obeyed. What is sent goes on both; of what is received the
 * first copy counts (once.c). When the link to the active switch is lost the node goes to the next epoch,
 * whose active switch is the other one, and says so by TAKE: behind all chunks that it sends by grants of the
 * old. It never goes back, and says it until both switches have heard.
 *
 * A node that was started again knows of no epoch. It obeys nobody until a switch has told it; if no switch
 * knows either, all there is was started again, and any node may begin.
 */
#include <stdlib.h>

#include "base/mf_rng.h"
#include "base/mf_table.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/redundancy.h"
#include "systems/edm/host/rx.h"

int host_redundancy_init(struct mf_host *h)
{
	struct host_redundancy *t = calloc(1, sizeof(*t));

	h->redundancy = t;
	if (!t)
		return -ENOMEM;
	t->knows = t->settled = h->config.begins;
	for (unsigned int i = 0; i < 2; i++)
		t->up[i] = t->told[i] = t->heard[i] = h->config.begins;
	t->again = t->alone = MF_NEVER;
	t->incarnation = t->knows ? 1 : h->config.incarnation;
	h->deaf = !t->knows;
	t->incarnations = calloc(h->shell.nodes, sizeof(*t->incarnations));
	t->asked_of = calloc(h->shell.nodes, sizeof(*t->asked_of));
	t->number = mf_table_new((size_t)h->shell.nodes * MF_IDS, sizeof(*t->number));
	t->newest = calloc(h->shell.nodes, sizeof(*t->newest));
	if (!t->incarnations || !t->asked_of || !t->number || !t->newest)
		return -ENOMEM;
	for (uint16_t i = 0; i < h->shell.nodes && t->knows; i++)
		h->incarnation[i] = t->incarnations[i].by[0] = t->incarnations[i].by[1] = 1;
	return host_receiver_init(&t->other, &h->config, 1);
}

void host_redundancy_fini(struct mf_host *h)
{
	if (!h->redundancy)
		return;
	mf_receiver_fini(&h->redundancy->other);
	free(h->redundancy->incarnations);
	free(h->redundancy->asked_of);
	mf_table_free(h->redundancy->number);
	free(h->redundancy->newest);
	free(h->redundancy);
}

static unsigned int active(const struct host_redundancy *t)
{
	return t->epoch & 1;
}

/** Whether grants that come by a link are ignored. */
static bool is_deaf(const struct host_redundancy *t, unsigned int link)
{
	return !t->knows || link != active(t) || t->stale[link];
}

/** The active switch will be another one. What that of before had sent may come for long. */
static void leave(struct host_redundancy *t)
{
	t->stale[active(t)] = t->up[active(t)];
	t->left[active(t)] = t->epoch;
}

/** The receiver of a link takes the place of the other one. */
static void serve(struct mf_host *h, unsigned int link)
{
	struct host_redundancy *t = h->redundancy;
	struct mf_receiver other = t->other;

	h->deaf = is_deaf(t, link);
	if (t->served == link)
		return;
	t->other = h->rx;
	h->rx = other;
	t->served = (uint8_t)link;
}

void mf_host_rx_by(struct mf_host *h, unsigned int link, mf_time now, const struct mf_span *span)
{
	if (h->redundancy)
		serve(h, link);
	mf_host_rx(h, now, span);
}

/*
 * Both switches tell of a new incarnation, each in front of all that it lets through of it, and who hears it
 * twice has heard it once. What comes of that node by the other link, before the word does there, is of an
 * incarnation that is over: nobody knows any more here whether it was executed. The word may be lost on its
 * way; so that lasts for as long as an operation may take. The other link may be slow, and tell then of the
 * incarnation before: what both tell last is what it is.
 */
bool host_redundancy_is_news(struct mf_host *h, uint16_t node, uint16_t incarnation, bool said, mf_time at)
{
	struct host_incarnations *l = &h->redundancy->incarnations[node];

	l->by[h->redundancy->served] = incarnation;
	if (incarnation == h->incarnation[node] ||
	    (incarnation == l->before && l->by[!h->redundancy->served] != incarnation))
		return false;
	if (h->incarnation[node] == 0 && !said) { /* there was none of which anything could come */
		l->by[!h->redundancy->served] = incarnation;
		return true;
	}
	l->before = h->incarnation[node];
	l->since = at;
	return true;
}

static bool is_former(const struct mf_host *h, uint16_t from, mf_time at)
{
	mf_time longest = mf_time_max(h->config.read_timeout, h->config.write_timeout);
	const struct host_incarnations *l = &h->redundancy->incarnations[from];

	return l->by[h->redundancy->served] != h->incarnation[from] && at < l->since + longest;
}

/*
 * A demoted switch that does not know it lets out what the active one will let out again. And what it had
 * sent before may be behind what the active one sends: a write would be applied behind later reads.
 */
bool host_redundancy_hears(struct mf_host *h, uint16_t from, mf_time at)
{
	const struct host_redundancy *t = h->redundancy;
	bool fenced = h->deaf && (!t->knows || !t->told[t->served] || t->stale[t->served]);

	if (likely(!fenced && (from >= h->shell.nodes || !is_former(h, from, at))))
		return true;
	h->stats.drop_fenced++;
	return false;
}

bool host_redundancy_passes_on(struct mf_host *h, const struct mf_msg *refusal, mf_time at)
{
	const struct mf_msg m = {.kind = MF_ERR,
				 .src = h->shell.node,
				 .dst = refusal->src,
				 .id = refusal->id,
				 .status = refusal->status,
				 .of = refusal->of};

	host_single_put(h, &m, at + h->cost_single);
	return !host_lane_held(h, refusal->src, HOST_LANE_SINGLE);
}

void host_redundancy_asked(struct mf_host *h, const struct mf_msg *asked, mf_time at)
{
	struct mf_msg m = *asked;

	if (h->deaf)
		h->stats.ignored_grants++;
	else if (m.op != MF_GRET_ASKED || m.resp || m.dst >= h->shell.nodes || m.dst == h->shell.node)
		h->stats.drop_proto++;
	else if (h->job_head == h->job_tail) /* else its chunk may wait for room, and it is asked again */
		host_single_put_ahead(h, &m,
				      mf_time_max(at + h->cost_single, mf_mux_behind(h->shell.mux, at)));
}

/** Whether a switch has not heard what the node says. */
static bool is_unheard(const struct host_redundancy *t)
{
	return (t->up[0] && !t->heard[0]) || (t->up[1] && !t->heard[1]);
}

static bool say(struct mf_host *h, const struct mf_msg *m, mf_time now)
{
	uint64_t *word = mf_mux_put(h->shell.mux, mf_mux_behind(h->shell.mux, now), UINT32_MAX, 1, 0);

	if (!word)
		return false;
	*word = mf_proto_put_single(m);
	h->stats.tx[MF_TAKE]++;
	return true;
}

void host_redundancy_tell(struct mf_host *h, mf_time now)
{
	struct host_redundancy *t = h->redundancy;
	struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_ASK, .dst = t->incarnation};

	if (!t->owes || h->job_head != h->job_tail)
		return; /* chunks that were granted wait for room */
	if (t->knows) {
		m.op = MF_TAKE_TELL;
		m.epoch = t->epoch;
	}
	if (!say(h, &m, now))
		return;
	t->owes = false;
	t->again = is_unheard(t) ? now + h->config.take_again : MF_NEVER;
}

static void owe(struct mf_host *h, mf_time now)
{
	h->redundancy->owes = true;
	host_redundancy_tell(h, now);
}

/** What the active switch does not know of is over. */
static void forget(struct mf_host *h, mf_time now)
{
	if (h->shell.submits)
		host_link_forgotten(h, h->redundancy->since[active(h->redundancy)], now);
}

/** The epoch is a newer one. */
static void enter(struct mf_host *h, uint16_t epoch, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	if (t->knows && (epoch & 1) != active(t))
		leave(t);
	t->epoch = epoch;
	t->knows = true;
	t->heard[0] = t->heard[1] = false;
	h->deaf = is_deaf(t, t->served);
	h->stats.takes++;
	forget(h, now);
	owe(h, now);
}

/** The next epoch, whose switch there is a link to. */
static void enter_next(struct mf_host *h, mf_time now)
{
	enter(h, (uint16_t)(h->redundancy->epoch + 1), now);
}

/**
 * What a switch knows of messages under way: it has forgotten nothing for so many epochs.
 * @return it has, since it was heard last
 */
static bool note_since(struct mf_host *h, unsigned int link, const struct mf_msg *m)
{
	struct host_redundancy *t = h->redundancy;
	bool forgot = t->told[link] && (uint16_t)(m->epoch - t->said[link]) > m->dst;

	if (!t->told[link] || forgot)
		t->since[link] = h->seq;
	t->told[link] = true;
	t->said[link] = m->epoch;
	t->stale[link] &= (int16_t)(m->epoch - t->left[link]) <= 0;
	h->deaf = is_deaf(t, link);
	return forgot;
}

/** Both switches have heard; or one, where the other one may be dead. */
static void settle(struct mf_host *h, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	if (t->settled || !t->knows || is_unheard(t))
		return;
	t->settled = t->up[0] && t->up[1];
	if (t->alone == MF_NEVER)
		t->alone = now + h->config.read_timeout;
}

static void epoch_told(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	struct host_redundancy *t = h->redundancy;
	unsigned int link = t->served;
	int16_t newer = (int16_t)(m->epoch - t->epoch);
	bool forgot = note_since(h, link, m);

	t->asked[link] = 0;
	if (t->knows && newer > 0 && !t->up[m->epoch & 1]) /* its switch would hear nothing */
		enter(h, (uint16_t)(m->epoch + 1), at);
	else if (!t->knows || newer > 0)
		enter(h, m->epoch, at);
	else if (forgot && link == active(t)) /* it is obeyed already, and its word came late */
		forget(h, at);
	t->heard[link] = m->op == MF_TAKE_HEARD && m->epoch == t->epoch;
	settle(h, at);
	if (!is_unheard(t))
		t->again = MF_NEVER;
	else if (m->op == MF_TAKE_TELL && newer <= 0)
		owe(h, at);
}

#define ASKED_MOST 3 /* times that a switch does not know the epoch, until a node that does not begins one */

/** The switch of a link knows nothing. */
static void epoch_asked(struct mf_host *h, mf_time at)
{
	struct host_redundancy *t = h->redundancy;
	unsigned int link = t->served;
	bool nobody = !t->knows;

	t->told[link] = t->heard[link] = false;
	t->since[link] = h->seq;
	t->asked[link] += t->asked[link] < ASKED_MOST;
	for (unsigned int i = 0; i < 2; i++)
		nobody &= !t->up[i] || t->asked[i] == ASKED_MOST;
	if (nobody)
		enter(h, t->up[0] ? 0 : 1, at);
	else
		owe(h, at);
}

void host_redundancy_take(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	const struct host_redundancy *t = h->redundancy;

	if (!t->up[t->served])
		return;
	if (m->op == MF_TAKE_ASK)
		epoch_asked(h, at);
	else if (m->op != MF_TAKE_LOST)
		epoch_told(h, m, at);
	else if (t->knows && m->epoch == (uint16_t)(t->epoch + 1) && m->dst != h->shell.node)
		say(h, m, at); /* to the switch that may know; it is asked again if there is no room */
}

/** The message and the frame that were arriving. */
static void cut(struct mf_host *h, unsigned int link, mf_time now)
{
	struct mf_span s;

	mf_span_no_signal(&s, now);
	mf_host_rx_by(h, link, now, &s);
}

void host_redundancy_leave(struct mf_host *h, mf_time now)
{
	cut(h, 1, now);
	cut(h, 0, now);
}

void host_redundancy_inherit(struct mf_host *h, struct mf_host *before)
{
	struct mf_receiver fresh = h->redundancy->other;

	h->redundancy->other = before->redundancy->other;
	before->redundancy->other = fresh;
}

void mf_host_link_down(struct mf_host *h, unsigned int link, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	if (!t) {
		mf_host_link_lost(h, now);
		return;
	}
	if (!t->up[link])
		return;
	t->up[link] = t->told[link] = t->heard[link] = t->stale[link] = false;
	cut(h, link, now);
	if (!t->up[!link]) {
		mf_host_link_lost(h, now);
		t->incarnation = host_redundancy_next_incarnation(t->incarnation);
	} else if (t->knows && link == active(t)) {
		enter_next(h, now);
	}
}

/** Others must not take it for its incarnation before, of which nothing is known here: any other number will
 * do. */
static void begin_incarnation(struct mf_host *h, mf_time now)
{
	if (h->redundancy->incarnation == 0)
		h->redundancy->incarnation =
			(uint16_t)(2 + mf_hash64(now ^ h->config.use) % (MF_INCARNATION_MAX - 1));
}

void mf_host_link_up(struct mf_host *h, unsigned int link, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	if (!t || (!t->up[0] && !t->up[1]))
		mf_mux_line_up(h->shell.mux, now);
	if (!t || t->up[link])
		return;
	begin_incarnation(h, now);
	t->up[link] = true;
	t->asked[link] = 0;
	t->since[link] = h->seq;
	for (uint16_t node = 0; node < h->shell.nodes; node++) /* nothing of before comes by it */
		t->incarnations[node].by[link] = h->incarnation[node];
	if (t->knows && !t->up[active(t)]) {
		enter_next(h, now);
		return;
	}
	if (t->knows && link == active(t) && t->up[!link]) /* the other one was asked meanwhile */
		forget(h, now);
	owe(h, now);
}

/** The other switch was waited for long enough. If it is the active one, this one is to be that. */
static void settle_alone(struct mf_host *h, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	t->settled = true;
	t->alone = MF_NEVER;
	if (!t->up[active(t)] && t->up[!active(t)])
		enter_next(h, now);
}

void host_redundancy_run(struct mf_host *h, mf_time now)
{
	struct host_redundancy *t = h->redundancy;

	if (now >= mf_demux_next(&t->other.demux)) {
		serve(h, !t->served);
		host_rx_idle(h, now);
	}
	if (now >= t->alone)
		settle_alone(h, now);
	if (now < t->again)
		return;
	t->again = now + h->config.take_again;
	owe(h, now);
}

bool mf_host_has_primary(const struct mf_host *h)
{
	return h->redundancy == NULL || h->redundancy->settled;
}

bool mf_host_tells(const struct mf_host *h)
{
	const struct host_redundancy *t = h->redundancy;

	return t != NULL && (t->up[0] || t->up[1]) && (!t->settled || t->owes || is_unheard(t));
}

uint16_t mf_host_epoch(const struct mf_host *h)
{
	return h->redundancy ? h->redundancy->epoch : 0;
}
