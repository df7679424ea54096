/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch: set-up, what is told to the scheduler, what leaves at a port, timers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/edm/switch/forward.h"
#include "systems/edm/switch/limits.h"
#include "base/mf_table.h"
#include "systems/edm/switch/standby.h"

#define LATE MF_MS(1) /* a switch whose thread has its CPU is never so late */

static bool valid(const struct mf_switch_config *c)
{
	if (c->limits.rate != 0 && c->limits.rate_burst == 0)
		return false;
	if (c->ports < 2 || c->ports > MF_PORTS_MAX || c->x < 1 || c->x > 128 || c->answer > MF_CALL_MAX)
		return false;
	return c->mac_table >= 4 && (c->mac_table & (c->mac_table - 1)) == 0;
}

static int port_init(struct port *p, const struct mf_switch_port_config *c)
{
	const struct mf_port_config shell = {.up = c->up,
					     .memory_enabled = c->memory_enabled,
					     .mux = c->mux,
					     .ber_window = c->ber_window,
					     .guard = c->guard,
					     .room = MF_BLOCKS_MAX};

	p->backlog_k = c->backlog_k;
	p->source_w = c->source_w;
	return mf_port_init(&p->shell, &shell);
}

static int out_init(struct mf_switch *sw)
{
	uint32_t n = 4096; /* many spans' worth: the engine empties it after each call */

	while (n < 64 * sw->shell.ports)
		n *= 2;
	sw->out_mask = n - 1;
	sw->out = malloc(n * sizeof(*sw->out));
	return sw->out != NULL ? 0 : -ENOMEM;
}

struct mf_switch *mf_switch_new(const struct mf_switch_config *c)
{
	struct mf_switch *sw = NULL;
	int err = -EINVAL;

	if (valid(c)) {
		size_t size = (sizeof(*sw) + c->ports * sizeof(sw->port[0]) + 63) / 64 * 64;

		sw = aligned_alloc(64, size);
		err = sw != NULL ? 0 : -ENOMEM;
		if (sw != NULL)
			memset(sw, 0, size);
	}
	if (err != 0) {
		errno = -err;
		return NULL;
	}
	sw->shell.ports = c->ports;
	sw->shell.first = (uint8_t *)sw->port;
	sw->shell.stride = sizeof(sw->port[0]);
	sw->proto = c->proto;
	sw->timing = c->timing;
	sw->identify = c->timing.cost[MF_STAGE_IDENTIFY];
	sw->through = sw->identify + c->timing.cost[MF_STAGE_FORWARD];
	sw->grant_out = c->timing.cost[MF_STAGE_MAKE_GRANT] + c->timing.cost[MF_STAGE_FORWARD];
	sw->window = c->window;
	sw->answer = c->answer;
	sw->grant_timeout = c->grant_timeout;
	sw->hold_timeout = c->hold_timeout;
	sw->l2_latency = c->l2_latency;
	sw->probe = c->probe != NULL && c->probe->stamp != NULL ? c->probe : NULL;
	sw->shell.next = MF_NEVER;
	sw->one_rate = true;
	for (unsigned int i = 0; i < c->ports; i++) {
		sw->align[i] = c->align[i];
		sw->one_rate &= c->port[i].mux.period == c->port[0].mux.period;
		sw->limits |= c->port[i].backlog_k != 0 || c->port[i].source_w != 0;
		if (c->port[i].up && c->port[i].memory_enabled)
			set_bit(sw->reach_set, i);
	}
	err = out_init(sw);
	for (unsigned int i = 0; i < c->ports && err == 0; i++)
		err = port_init(&sw->port[i], &c->port[i]);
	if (err == 0)
		err = circuit_init(sw, c);
	if (err == 0)
		err = l2_init(sw, c);
	if (err == 0)
		err = limits_init(sw, c);
	if (err == 0 && c->redundant)
		err = standby_init(sw, c);
	if (err == 0 && c->redundant && !c->begins)
		link_begin_down(sw);
	if (err == 0)
		err = incarnation_init(sw, c);
	if (err != 0) {
		mf_switch_free(sw);
		errno = -err;
		return NULL;
	}
	return sw;
}

void mf_switch_free(struct mf_switch *sw)
{
	if (sw == NULL)
		return;
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		mf_port_fini(&sw->port[i].shell);
	l2_fini(sw);
	limits_fini(sw);
	standby_fini(sw);
	incarnation_fini(sw);
	mf_table_free(sw->circuits);
	mf_table_free(sw->requests);
	mf_table_free(sw->pair);
	free(sw->out);
	free(sw);
}

void mf_switch_close(struct mf_switch *sw, unsigned int port, bool closed)
{
	if (sw->port[port].shell.memory_enabled)
		mf_mux_close(sw->port[port].shell.mux, closed);
}

void mf_switch_no_requests(struct mf_switch *sw, bool none)
{
	sw->no_requests = none;
}

bool mf_switch_has_requests(const struct mf_switch *sw, unsigned int port, unsigned int n)
{
	if (sw->port[port].requests + n > sw->requests_port)
		return false;
	/* Of all ports: the slots that were never used are those that are certainly free. */
	return sw->requests_port * sw->shell.ports <= sw->requests_max ||
	       sw->requests_used + n * sw->shell.ports <= sw->requests_max;
}

inline struct mf_sched_msg *mf_switch_sched_peek(struct mf_switch *sw, unsigned int *n)
{
	uint32_t tail = sw->out_tail & sw->out_mask, to_end = sw->out_mask + 1 - tail;

	*n = sw->out_head - sw->out_tail;
	if (*n == 0)
		return NULL;
	if (*n > to_end)
		*n = to_end;
	return &sw->out[tail];
}

inline void mf_switch_sched_advance(struct mf_switch *sw, unsigned int n)
{
	sw->out_tail += n;
	if (sw->out_tail == sw->out_head) /* the same few cache lines again */
		sw->out_tail = sw->out_head = 0;
}

unsigned int mf_switch_to_sched(struct mf_switch *sw, struct mf_sched_msg *out, unsigned int max)
{
	const struct mf_sched_msg *msg;
	unsigned int told = 0, n;

	while (told < max && (msg = mf_switch_sched_peek(sw, &n)) != NULL) {
		if (n > max - told)
			n = max - told;
		memcpy(out + told, msg, n * sizeof(*msg));
		mf_switch_sched_advance(sw, n);
		told += n;
	}
	return told;
}

/** A chunk that stops half-way is lost as one that does not come. */
static bool may_abort(struct mf_switch *sw, unsigned int port, mf_time now)
{
	const struct port *p = &sw->port[port];

	return (p->state != RX_STREAM && p->state != RX_COLLECT) || circuit_tell_lost(sw, p->circuit, now);
}

/** Messages that hold their egress and do not go on (D14). @return the next such time */
static mf_time run_holds(struct mf_switch *sw, mf_time now)
{
	mf_time next = MF_NEVER;

	if (sw->hold_timeout == 0)
		return MF_NEVER;
	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++)
		for (uint64_t set = sw->hold_set[w]; set != 0; set &= set - 1) {
			unsigned int port = w * 64 + (unsigned int)__builtin_ctzll(set);
			mf_time at = sw->port[port].last + sw->hold_timeout;

			if (at <= now && may_abort(sw, port, now))
				forward_abort(sw, port, now);
			else
				next = mf_time_min(next, at);
		}
	return next;
}

/**
 * Wall clock: who stood still, alone or with the whole machine, has not waited for what came meanwhile, and
 * looks at that first. Not again at once: who is always late would wait for ever.
 */
static void excuse(struct mf_switch *sw, mf_time now)
{
	mf_time longer = mf_time_max(sw->grant_timeout, sw->hold_timeout);

	if (!sw->window || now < sw->excuse_at || now - sw->shell.next < LATE)
		return;
	sw->patient_until = now + longer / 4;
	sw->excuse_at = now + 2 * longer;
}

/** One of two keeps the place of a late chunk anyway, and the other one forgets it after a time of its own.
 */
void mf_switch_bear(struct mf_switch *sw, unsigned int port, mf_time by)
{
	if (sw->standby != NULL)
		return;
	sw->port[port].last += by;
	circuit_bear(sw, port, by);
}

/** What did not come in time. @return the next such time */
static mf_time run_timers(struct mf_switch *sw, mf_time now)
{
	mf_time held;

	if (now < sw->patient_until)
		return sw->patient_until;
	held = run_holds(sw, now); /* what has begun is cut, and does not expire */
	return mf_time_min(held, circuit_expire(sw, now));
}

mf_time mf_switch_run(struct mf_switch *sw, mf_time now)
{
	if (now < sw->shell.next)
		return sw->shell.next;
	excuse(sw, now);
	sw->shell.next = MF_NEVER;
	wake_at(sw, rx_accept(sw, now));
	wake_at(sw, l2_run(sw, now));
	if (unlikely(sw->ending != 0))
		wake_at(sw, forward_ends(sw, now, sw->shell.ports));
	wake_at(sw, run_timers(sw, now));
	if (unlikely(sw->barring != 0))
		wake_at(sw, incarnation_run(sw, now));
	if (unlikely(sw->standby != NULL))
		wake_at(sw, standby_run(sw, now));
	if (sw->shell.links_lost != 0)
		wake_at(sw, link_run(sw, now));
	return sw->shell.next;
}

mf_time mf_switch_next(const struct mf_switch *sw)
{
	return sw->shell.next;
}

bool mf_switch_has_frames(const struct mf_switch *sw)
{
	return sw->l2.order_tail != sw->l2.order_head || mf_ports_accepting(&sw->shell);
}

uint64_t *mf_switch_tx_set(struct mf_switch *sw)
{
	return sw->shell.sending;
}

unsigned int mf_switch_tx_ports(struct mf_switch *sw, uint16_t *out, unsigned int max)
{
	unsigned int n = 0;

	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++)
		for (uint64_t *set = &sw->shell.sending[w]; *set != 0 && n < max; *set &= *set - 1)
			out[n++] = (uint16_t)(w * 64 + (unsigned int)__builtin_ctzll(*set));
	return n;
}

static inline void sent(struct mf_switch *sw, unsigned int port, mf_time now)
{
	if (sw->window)
		forward_done(sw, port, now);
	switch_backlog(sw, port, now);
}

unsigned int mf_switch_tx(struct mf_switch *sw, unsigned int port, mf_time now, unsigned int max,
			  struct mf_span *out)
{
	unsigned int n;

	if (unlikely(sw->ending != 0)) /* what arrives comes before what is sent */
		forward_ends(sw, now, sw->shell.ports);
	n = mf_mux_pull(sw->port[port].shell.mux, now, max, out);
	if (n > 0)
		sent(sw, port, now);
	return n;
}

inline struct mf_span *mf_switch_tx_in_place(struct mf_switch *sw, unsigned int port, mf_time now,
					     struct mf_span *room)
{
	struct mf_span *s = mf_mux_pull_in_place(sw->port[port].shell.mux, now, room);

	if (s != NULL)
		sent(sw, port, now);
	return s;
}

void mf_switch_short_spans(struct mf_switch *sw, unsigned int port)
{
	mf_mux_short_spans(sw->port[port].shell.mux);
}

inline bool mf_switch_tx_waits(const struct mf_switch *sw, unsigned int port)
{
	return mf_mux_waits(sw->port[port].shell.mux);
}

mf_time mf_switch_tx_next(const struct mf_switch *sw, unsigned int port, mf_time now)
{
	return mf_mux_next(sw->port[port].shell.mux, now);
}

mf_time mf_switch_tx_next_block(const struct mf_switch *sw, unsigned int port, mf_time now)
{
	return mf_mux_next_block(sw->port[port].shell.mux, now);
}

const struct mf_switch_stats *mf_switch_stats(const struct mf_switch *sw)
{
	return &sw->stats;
}

const struct mf_mux_stats *mf_switch_mux_stats(const struct mf_switch *sw, unsigned int port)
{
	return mf_mux_stats(sw->port[port].shell.mux);
}

uint32_t mf_switch_ahead(const struct mf_switch *sw, unsigned int port, mf_time now)
{
	return mf_mux_ahead(sw->port[port].shell.mux, now);
}

const struct mf_demux *mf_switch_demux(const struct mf_switch *sw, unsigned int port)
{
	return &sw->port[port].shell.rx.demux;
}
