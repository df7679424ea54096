/* SPDX-License-Identifier: BSD-3-Clause */
/* A turn of a port: frames in, spans to the roles; spans of the roles, frames out. */
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "wall/ports/mf_memif_sync.h"
#include "wall/ports/netdev.h"

#define STUCK MF_SEC(1) /**< so long a port may take nothing before what waits is thrown away */
#define REFUSE_PERIOD MF_SEC(1)
#define RX_BURSTS 8 /**< of a turn, so that the roles have theirs */
#define AWAY MF_MS(5) /**< from one turn to the next: a port that is polled is never so late */

static void refuse(struct wall_port *p, const uint8_t *frame, mf_time now);

static inline void capture(const struct wall_port *p, struct capture_tap *tap, const uint8_t *frame,
			   uint32_t len)
{
	if (unlikely(tap != NULL))
		capture_ring_frame(tap, p->turn, frame, (uint16_t)len);
}

/** A frame that is of one of our links. */
static void receive(struct wall_port *p, const uint8_t *frame, uint32_t len, mf_time now)
{
	const struct mf_link_head *h = mf_link_frame_head(frame);
	/* From the switch: it is for the node's end. */
	unsigned int end = h->flags & MF_LINK_FROM_SWITCH ? MF_LINK_NODE : MF_LINK_SWITCH, at = 0;

	if (likely(h->link < p->link_ids))
		at = p->at[end][h->link];
	if (unlikely(at == 0) && h->link < p->link_ids) /* an own frame, thrown back: its end counts it */
		at = p->at[!end][h->link];
	if (likely(at != 0)) {
		if (unlikely(p->end[at - 1].cut)) {
			p->stats.rx_cut_frames++;
			return;
		}
		capture(p, p->end[at - 1].rx_tap, frame, len);
		mf_link_rx(p->end[at - 1].link, now, frame);
		return;
	}
	p->stats.rx_link_frames++;
	refuse(p, frame, now);
}

static void receive_any(struct wall_port *p, const uint8_t *frame, uint32_t len, mf_time now)
{
	p->stats.rx_frames++;
	p->stats.rx_octets += len;
	switch (mf_link_frame_check(frame, len, p->config->ethertype)) {
	case MF_LINK_GOOD:
	case MF_LINK_FAULT_VERSION:
		receive(p, frame, len, now);
		break;
	case MF_LINK_FAULT_ETHERTYPE:
		p->stats.rx_ethertype_frames++;
		break;
	case MF_LINK_FAULT_SHORT:
		p->stats.rx_short_frames++;
		break;
	case MF_LINK_FAULT_CRC:
		p->stats.rx_crc_frames++;
		if (p->ends == 1)
			mf_link_damaged(p->end[0].link, now);
		break;
	}
}

static void receive_mbuf(struct wall_port *p, struct rte_mbuf *m, mf_time now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	if (unlikely(m->nb_segs > 1)) {
		if (m->pkt_len > sizeof(p->flat)) {
			p->stats.rx_long_frames++;
			return;
		}
		frame = rte_pktmbuf_read(m, 0, m->pkt_len, p->flat);
	}
	receive_any(p, frame, m->pkt_len, now);
}

static unsigned int receive_all(struct wall_port *p, mf_time now)
{
	struct rte_mbuf *m[PORT_BURST];
	unsigned int n, all = 0;

	do {
		n = rte_eth_rx_burst(p->id, 0, m, PORT_BURST);
		for (unsigned int i = 0; i < n; i++)
			receive_mbuf(p, m[i], now);
		if (n > 0)
			rte_pktmbuf_free_bulk(m, n);
		all += n;
	} while (unlikely(n == PORT_BURST) && all < RX_BURSTS * PORT_BURST);
	return all;
}

static uint64_t octets_of(struct rte_mbuf *const *m, unsigned int n)
{
	uint64_t octets = 0;

	for (unsigned int i = 0; i < n; i++)
		octets += m[i]->pkt_len;
	return octets;
}

/** @return whether the port has taken all that waited */
static bool flush(struct wall_port *p, mf_time now)
{
	uint64_t octets;
	unsigned int n;

	if (p->pendings == 0)
		return true;
	octets = octets_of(p->pending, p->pendings); /* those of frames that are taken are gone then */
	n = rte_eth_tx_burst(p->id, 0, p->pending, (uint16_t)p->pendings);
	p->stats.tx_frames += n;
	p->stats.tx_octets += octets;
	p->pendings -= n;
	if (likely(p->pendings == 0)) {
		p->stuck = MF_NEVER;
		return true;
	}
	memmove(p->pending, p->pending + n, p->pendings * sizeof(p->pending[0]));
	p->stats.tx_octets -= octets_of(p->pending, p->pendings);
	if (n > 0 || p->stuck == MF_NEVER) {
		p->stuck = now;
	} else if (now >= p->stuck + STUCK) {
		rte_pktmbuf_free_bulk(p->pending, p->pendings);
		p->stats.tx_dropped_frames += p->pendings;
		p->pendings = 0;
		p->stuck = MF_NEVER;
	}
	return p->pendings == 0;
}

static struct rte_mbuf *copy_frame(struct wall_port *p, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->tx_pool);
	uint8_t *to = m != NULL ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len) : NULL;

	if (unlikely(to == NULL)) {
		p->stats.tx_no_buffer_frames++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(to, frame, len);
	return m;
}

/** What the stage that impairs frames makes of one. */
static void send_impaired(struct wall_port *p, struct rte_mbuf *m)
{
	struct mf_impair_frame in = {.frame = m, .data = rte_pktmbuf_mtod(m, uint8_t *), .len = m->pkt_len};
	struct mf_impair_step step[MF_IMPAIR_OUT];
	unsigned int n = mf_impair(&p->impair, &in, step);

	for (unsigned int i = 0; i < n; i++) {
		m = step[i].frame.frame;
		if (step[i].what == MF_IMPAIR_SEND_COPY)
			m = copy_frame(p, step[i].frame.data, step[i].frame.len);
		if (step[i].what == MF_IMPAIR_DROP)
			rte_pktmbuf_free(m);
		else if (m != NULL)
			p->pending[p->pendings++] = m;
	}
}

static void send_frame(struct wall_port *p, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m = copy_frame(p, frame, len);

	if (unlikely(m == NULL))
		return;
	if (unlikely(p->impaired))
		send_impaired(p, m);
	else
		p->pending[p->pendings++] = m;
}

/** Somebody has a link here that nobody has told us of. */
static void refuse(struct wall_port *p, const uint8_t *frame, mf_time now)
{
	uint8_t out[sizeof(struct mf_link_head) + sizeof(struct mf_link_refuse)];
	uint16_t len;
	bool has_switch = false;

	for (unsigned int i = 0; i < p->ends; i++)
		has_switch |= p->end[i].switch_end || p->end[i].trunk;
	if (!has_switch || now < p->refuse_at || p->pendings >= PORT_BURST)
		return;
	len = mf_link_refuse_unknown(frame, p->mac, out);
	if (len == 0)
		return;
	p->refuse_at = now + REFUSE_PERIOD;
	p->unknown = mf_link_frame_head(frame)->link + 1U;
	p->stats.tx_refusals++;
	send_frame(p, out, len);
}

static void transmit_all(struct wall_port *p, mf_time now)
{
	const uint8_t *frame;
	uint16_t len;

	if (!flush(p, now))
		return;
	for (unsigned int i = 0; i < p->ends; i++)
		while ((frame = mf_link_tx(p->end[i].link, now, &len)) != NULL) {
			capture(p, p->end[i].tx_tap, frame, len);
			if (unlikely(p->end[i].cut)) {
				p->stats.tx_cut_frames++;
				continue;
			}
			send_frame(p, frame, len);
			if (p->pendings >= PORT_BURST && !flush(p, now))
				return;
		}
	flush(p, now);
}

static void tell_state(struct port_end *e)
{
	uint16_t state = __atomic_load_n(&e->state, __ATOMIC_RELAXED) & e->mask;

	if (likely(state == e->told))
		return;
	e->told = state;
	mf_link_set_state(e->link, state);
}

static void run_links(struct wall_port *p, mf_time now)
{
	for (unsigned int i = 0; i < p->ends; i++) {
		struct port_end *e = &p->end[i];

		tell_state(e);
		if (unlikely(mf_link_next(e->link) <= now))
			mf_link_run(e->link, now);
	}
}

/** Says that a link is up, down, or why it does not come up, each time that this is news. */
static void say(const struct wall *w, const struct wall_port *p, struct port_end *e,
		const struct mf_link_status *st)
{
	uint64_t news = (uint64_t)st->connections << 32 | (uint64_t)st->refused << 16 |
			(uint64_t)st->by_partner << 9 | (uint64_t)st->down << 1 | st->up;
	char link[PORT_LINK_NAME];

	if (news == e->said || (st->refused != 0 && port_now(w) < e->refusal_at))
		return;
	e->said = news;
	e->refusal_at = st->refused != 0 ? port_now(w) + REFUSE_PERIOD : 0;
	if (w->options->say != NULL)
		w->options->say(w->options->say_ctx, port_link_name(w->f, port_end_link(w, e), link),
				port_end_name(w->f, e->end), p->config->name, st);
}

/** That a switch leaves where all nodes have finished is no loss: nothing is under way. */
static bool is_loss(const struct port_end *e, const struct mf_link_status *st)
{
	return e->switch_end || e->trunk || !(st->partner_state & MF_LINK_DONE);
}

/** The partner said that it leaves, or nobody but a process that is gone could say anything. */
static bool is_gone(const struct mf_link_status *st)
{
	return !st->up && (st->down == MF_LINK_DOWN_PARTNER_LEFT || st->down == MF_LINK_DOWN_GONE);
}

/** The same of a link that is not at this port. */
static void say_unknown(const struct wall *w, struct wall_port *p)
{
	unsigned int id = p->unknown - 1;
	const struct mf_link_status st = {.refused = MF_LINK_REASON_LINK, .got = id};
	uint32_t link = rendezvous_link_of_id(w, id);
	char name[PORT_LINK_NAME] = "nobody";

	p->unknown_said = p->unknown;
	if (link != MF_NONE)
		port_link_name(w->f, link, name);
	if (w->options->say != NULL)
		w->options->say(w->options->say_ctx, name, "switch", p->config->name, &st);
}

/**
 * Of two switches each link goes down and up by itself; a switch tells that it is ready link by link, and
 * does not in the first HELLO of the next connection: what has been said stays said.
 */
static void tell_of_two(struct port_end *e, const struct mf_link_status *st, mf_time now)
{
	if (e->switch_end) {
		e->mask = e->open ? UINT16_MAX : (uint16_t)~MF_LINK_READY;
		tell_state(e);
	} else if (!e->open && !e->absent && is_loss(e, st)) {
		role_link_lost(e->in.to, e->in.port, now);
	}
	e->absent = !e->open;
}

static void tell_routes(struct wall *w, struct port_end *e)
{
	uint32_t lost = !e->open;

	if (lost == e->lost)
		return;
	__atomic_store_n(&e->lost, lost, __ATOMIC_RELEASE);
	wall_routes_news(w);
}

/**
 * What has changed: a role is told that its link is lost before anything of the next connection reaches it,
 * and takes nothing before it is ready.
 */
static void notice(struct wall *w, struct wall_port *p, struct port_end *e, mf_time now)
{
	struct mf_link_status st;
	bool changed = mf_link_changed(e->link);

	mf_link_status(e->link, &st);
	if (changed && st.up && p->carrier != PORT_CARRIER)
		netdev_look(w, p); /* what carries the link is back */
	if (changed)
		say(w, p, e, &st);
	partner_told(&e->partner, &st.partner_place);
	__atomic_store_n(&e->partner_state, st.partner_state, __ATOMIC_RELAXED);
	__atomic_store_n(&e->echo, st.echo, __ATOMIC_RELAXED);
	__atomic_store_n(&e->up, st.up, __ATOMIC_RELAXED);
	__atomic_store_n(&e->gone, is_gone(&st), __ATOMIC_RELAXED);
	if (!w->met || w->over) {
		e->look = true;
		return;
	}
	if (unlikely(w->faults != NULL))
		now = wall_fault_clock(w, e->in.to, now);
	if (e->open && (!st.up || st.connections != e->connection)) {
		e->open = false;
		e->absent = is_loss(e, &st);
		if (e->absent)
			role_link_lost(e->in.to, e->in.port, now);
	}
	if (st.up && !e->open && !(e->wants & ~st.partner_state)) {
		e->connection = st.connections;
		e->open = role_link_back(e->in.to, e->in.port, now);
		e->opened |= e->open;
	}
	if (unlikely(w->redundant))
		tell_of_two(e, &st, now);
	tell_routes(w, e);
	e->look = st.up && !e->open;
}

bool port_can_put(const struct wall_port *p, unsigned int end)
{
	const struct port_end *e = &p->end[end];

	if (likely(e->open))
		return mf_link_can_put(e->link);
	/* A switch does not wait for a node that may be gone for good; a node has nobody else to send to. */
	return !e->of_node && (e->trunk || e->opened);
}

void port_put(struct wall_port *p, unsigned int end, const struct mf_span *span)
{
	struct port_end *e = &p->end[end];

	if (likely(e->open))
		mf_link_put(e->link, span);
	else
		e->dropped_blocks += span->count;
}

bool port_waits(const struct wall_port *p, unsigned int end)
{
	const struct port_end *e = &p->end[end];

	return e->open && mf_link_waits(e->link) && (likely(!e->far) || mf_link_due(e->link) <= p->polled);
}

/** Dated by who takes it, as what crosses lcores is: a switch puts messages in order by these dates. */
struct mf_span *port_take(struct wall_port *p, unsigned int end, mf_time now)
{
	struct mf_span *s = mf_link_take(p->end[end].link);

	if (likely(s != NULL))
		s->start = now;
	return s;
}

/** Ends links as soon as the device has lost its partner, instead of when they have been silent for long. */
static __rte_noinline __rte_cold void leave_gone(struct wall_port *p, mf_time now)
{
	if (!p->hasty || p->connected)
		return;
	for (unsigned int i = 0; i < p->ends; i++)
		if (mf_link_up(p->end[i].link))
			mf_link_leave(p->end[i].link, now);
}

/** Whether or not the port may be polled now: time goes by for its links. */
static void begin_turn(const struct wall *w, struct wall_port *p, mf_time now)
{
	if (unlikely(now > p->polled + AWAY))
		partners_away(p, now, now - p->polled);
	p->polled = now;
	port_look_after(w, p, now);
	if (likely(memif_sync_enter(p))) {
		receive_all(p, now);
		memif_sync_leave(p);
	} else if (p->memif_sync != NULL) {
		leave_gone(p, now);
	}
	if (unlikely(now >= p->partners_at))
		partners_look(w, p, now, p->turn);
	run_links(p, now);
}

static void end_turn(struct wall_port *p, mf_time now)
{
	if (unlikely(!memif_sync_enter(p)))
		return;
	transmit_all(p, now);
	memif_sync_leave(p);
}

mf_time port_next(const struct wall_port *p)
{
	mf_time next = mf_time_min(p->retry, p->partners_at);

	if (p->pendings > 0)
		return 0;
	for (unsigned int i = 0; i < p->ends; i++)
		next = p->end[i].look || port_waits(p, i) ? 0
							  : mf_time_min(next, mf_link_next(p->end[i].link));
	return next;
}

void port_sleep(struct wall_port *p, mf_time until)
{
	p->polled = until;
}

void port_exchange(struct wall *w, struct wall_port *p)
{
	mf_time now = port_now(w);

	p->turn = now;
	begin_turn(w, p, now);
	for (unsigned int i = 0; i < p->ends; i++)
		if (mf_link_changed(p->end[i].link))
			notice(w, p, &p->end[i], 0);
	if (unlikely(p->unknown != p->unknown_said))
		say_unknown(w, p);
	end_turn(p, now);
}

unsigned int port_poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now)
{
	struct wall_port *p = r->carrier;
	mf_time at = port_now(w);
	unsigned int work = 0;

	p->turn = now;
	begin_turn(w, p, at);
	for (unsigned int i = 0; i < p->ends; i++) {
		struct port_end *e = &p->end[i];

		if (unlikely(e->look || mf_link_changed(e->link)))
			notice(w, p, e, now);
		if (port_waits(p, i))
			wall_give(&e->in, r, i, l->span, now, &work);
	}
	if (unlikely(p->unknown != p->unknown_said))
		say_unknown(w, p);
	end_turn(p, at);
	return work;
}
