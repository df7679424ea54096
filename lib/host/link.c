/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link is lost. What was under way is over: whoever comes back knows nothing of it, and what was to be
 * sent answers what nobody asks any more. Ids rest for their quarantine, as after a timer's end (D10), since
 * messages that name them may still be on their way elsewhere. What waits goes when the link is there again.
 */
#include "responses.h"
#include "state_table.h"

/** The message and the frame that were arriving. */
static void cut(struct mf_host *h, mf_time now)
{
	struct mf_span s;

	mf_span_no_signal(&s, now);
	mf_host_rx(h, now, &s);
}

/** Throws away what is to be sent, and tells nobody. */
static void drop_tx(struct mf_host *h, mf_time now)
{
	struct mf_span s;
	mf_time at;

	for (; h->job_head != h->job_tail; h->job_head++) {
		const struct host_job *job = &h->job[h->job_head & (HOST_GRANT_QUEUE - 1)];

		h->peer[job->node].held[job->lane]--;
	}
	while (mf_mux_pull(h->mux, now, MF_SPAN_MAX, &s) > 0 || mf_mux_done(h->mux, &at) != 0)
		;
}

/**
 * Messages that have begun fail: a read has no octets, the rest may or may not have happened. Not those that
 * begin in the places of others that failed.
 */
static void fail_messages(struct mf_host *h, mf_time now)
{
	uint32_t begun = h->seq;

	for (uint32_t i = 0; i < h->rings; i++) {
		struct host_state *s = &h->state[i];

		if (s->phase < HOST_ACTIVE || s->phase > HOST_AWAIT_ACK || (int32_t)(s->seq - begun) >= 0)
			continue;
		h->stats.link_lost++;
		host_state_fail(h, s, s->kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN, now);
	}
}

void mf_host_link_lost(struct mf_host *h, mf_time now)
{
	cut(h, now);
	drop_tx(h, now);
	if (h->stack != NULL)
		return; /* has timers of its own for what is lost */
	while (h->response_head != HOST_NIL)
		host_response_end(h, &h->response[h->response_head]);
	fail_messages(h, now);
}
