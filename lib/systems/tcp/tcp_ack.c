/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP, what acknowledgements and their absence do to the sender: slow start, congestion avoidance, fast
 * retransmit (RFC 5681) and recovery (RFC 6582, slow but steady), the retransmission timer (RFC 6298).
 */
#include "systems/tcp/tcp.h"

/** RFC 6298, 2. */
static void sample(struct tcp *t, struct tcp_conn *c, mf_time rtt)
{
	if (c->srtt == 0) {
		c->srtt = rtt;
		c->rttvar = rtt / 2;
	} else {
		mf_time off = c->srtt > rtt ? c->srtt - rtt : rtt - c->srtt;

		c->rttvar = c->rttvar - c->rttvar / 4 + off / 4;
		c->srtt = c->srtt - c->srtt / 8 + rtt / 8;
	}
	c->rto = mf_time_min(mf_time_max(c->srtt + 4 * c->rttvar, t->rto_min), t->rto_max);
}

/** RFC 5681, 3.1, counted in octets (RFC 3465 with L = 2). */
static void grow(const struct tcp *t, struct tcp_conn *c, uint32_t octets)
{
	if (c->cwnd >= t->window)
		return;
	if (c->cwnd < c->ssthresh) {
		c->cwnd += octets < 2 * t->mss ? octets : 2 * t->mss;
		return;
	}
	c->grown += octets;
	if (c->grown >= c->cwnd) {
		c->grown -= c->cwnd;
		c->cwnd += t->mss;
	}
}

/** An acknowledgement in recovery: of all that was under way when it began, or of a part (RFC 6582, 3.2). */
static void recover(const struct tcp *t, struct tcp_conn *c, uint32_t octets)
{
	uint64_t flight = c->nxt - c->una_known;

	if (c->una_known >= c->recover) {
		flight = (flight > t->mss ? flight : t->mss) + t->mss;
		c->cwnd = c->ssthresh < flight ? c->ssthresh : (uint32_t)flight;
		c->recovering = false;
		c->dupacks = 0;
		return;
	}
	c->retransmitting = true;
	c->timed_at = MF_NEVER;
	c->cwnd = c->cwnd > octets ? c->cwnd - octets : 0;
	if (octets >= t->mss || c->cwnd < t->mss)
		c->cwnd += t->mss;
}

static void new_ack(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e)
{
	uint32_t octets = (uint32_t)(e->ack - c->una_known);
	bool full = c->nxt - c->una_known + t->mss > c->cwnd; /* else the window is not what held it */

	c->una_known = e->ack;
	if (c->timed_at != MF_NEVER && e->ack >= c->timed) {
		sample(t, c, e->due - c->timed_at);
		c->timed_at = MF_NEVER;
	}
	c->rto_at = c->nxt > c->una_known ? e->due + c->rto : MF_NEVER;
	t->echoes += e->echo;
	full = t->cc->acked(t, c, octets, e->echo) && full;
	if (c->recovering) {
		recover(t, c, octets);
		return;
	}
	c->dupacks = 0;
	if (full)
		grow(t, c, octets);
}

/** RFC 5681, 3.2. */
static void duplicate(struct tcp *t, struct tcp_conn *c)
{
	c->dupacks++;
	if (c->recovering) {
		if (c->cwnd < t->window)
			c->cwnd += t->mss;
	} else if (c->dupacks == TCP_DUPACKS && c->una_known >= c->recover) {
		t->fast++;
		c->ssthresh = tcp_half_flight(t, c);
		c->cwnd = c->ssthresh + TCP_DUPACKS * t->mss;
		c->recover = c->top;
		c->recovering = c->retransmitting = true;
		c->timed_at = MF_NEVER;
	}
}

void tcp_acked(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e)
{
	if (e->ack < c->una_known)
		return;
	c->window = e->window;
	if (e->ack > c->una_known)
		new_ack(t, c, e);
	else if (!e->data && c->nxt > c->una_known)
		duplicate(t, c);
	tcp_consider(t, e->peer, e->due);
}

/** RFC 6298, 5.4 to 5.7, and RFC 5681 (4). */
void tcp_timeout(struct tcp *t, uint16_t peer, mf_time now)
{
	struct tcp_conn *c = &t->conn[peer];

	if (c->rto_at != MF_NEVER && c->rto_at > now) {
		mf_deadlines_set(&t->late, peer, c->rto_at);
		return;
	}
	mf_deadlines_remove(&t->late, peer);
	if (c->rto_at == MF_NEVER)
		return;
	c->rto_at = MF_NEVER;
	if (c->una == c->top) /* the acknowledgement has come, and is in the stack */
		return;
	t->timeouts++;
	c->ssthresh = tcp_half_flight(t, c);
	c->cwnd = t->mss;
	c->grown = c->dupacks = 0;
	c->recover = c->top;
	c->recovering = c->retransmitting = false;
	c->timed_at = MF_NEVER;
	c->rto = mf_time_min(2 * c->rto, t->rto_max);
	tcp_rewind(c);
	tcp_consider(t, peer, now);
}
