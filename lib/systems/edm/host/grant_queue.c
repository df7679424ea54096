/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grant queue (EDM 3.2.1): grants, the requests that are grants of their response's first chunk,
 * and single blocks. As a rule an entry goes into the multiplexer at once, dated; only what finds no
 * room there stays here. What is ready never waits behind another pair or direction: lanes are in
 * order, and pass each other.
 */
#include "base/mf_cycles.h"
#include "systems/edm/host/rx.h"

static bool single_send(struct mf_host *h, const struct host_job *job)
{
	uint64_t *word = mf_mux_put(h->shell.mux, job->ready, host_tie(h, HOST_TIE_SINGLE, job->node), 1, 0);

	if (!word)
		return false;
	word[0] = job->word;
	h->stats.tx[job->message]++;
	return true;
}

static bool job_try(struct mf_host *h, struct host_job *job)
{
	/* Nobody grants more than c; the multiplexer has room for no more. */
	if (job->size > h->config.chunk && job->kind != HOST_JOB_SINGLE)
		return host_job_return(h, job);
	switch (job->kind) {
	case HOST_JOB_OWN:
		return host_chunk_send(h, job);
	case HOST_JOB_MEGA:
		return host_mega_send(h, job);
	case HOST_JOB_RESPONSE:
		return host_response_send(h, job);
	default:
		return single_send(h, job);
	}
}

/** Sends it, or keeps it until there is room. */
void host_job_put(struct mf_host *h, struct host_job *job)
{
	if (!host_lane_held(h, job->node, job->lane) && job_try(h, job))
		return;
	if (host_jobs_full(h, 1)) {
		h->stats.drop_room++;
		return;
	}
	h->peer[job->node].held[job->lane]++;
	h->job[h->job_tail++ & (HOST_GRANT_QUEUE - 1)] = *job;
}

/** Room was made in the multiplexer: tries what waits, oldest first. */
HOST_ASIDE void host_jobs_run(struct mf_host *h)
{
	uint32_t out = h->job_head;

	if (!mf_mux_room(h->shell.mux, 1))
		return;
	h->scan++;
	for (uint32_t i = h->job_head; i != h->job_tail; i++) {
		struct host_job *job = &h->job[i & (HOST_GRANT_QUEUE - 1)];
		struct host_peer *p = &h->peer[job->node];

		if (p->held_scan[job->lane] != h->scan && job_try(h, job)) {
			p->held[job->lane]--;
			continue;
		}
		p->held_scan[job->lane] = h->scan;
		h->job[out++ & (HOST_GRANT_QUEUE - 1)] = *job;
	}
	h->job_tail = out;
}

/** Takes a /G/: for a chunk of an own message or of a response (D10). */
void host_rx_grant(struct mf_host *h, uint64_t word, mf_time at)
{
	MF_CYCLES(MF_CYCLES_HOST_RX_GRANT);
	struct mf_msg m;
	int err = mf_proto_get_grant(word, &m);

	if (unlikely(err)) {
		host_rx_bad(h, err);
		return;
	}
	h->stats.rx[MF_GRANT]++;
	h->stats.control_blocks++;
	if (unlikely(m.dst >= h->shell.nodes || m.dst == h->shell.node)) {
		h->stats.drop_proto++;
		return;
	}
	if (host_stamps(h)) {
		uint16_t cn = m.resp ? m.dst : h->shell.node, mn = m.resp ? h->shell.node : m.dst;

		host_stamp(h, cn, mn, m.id, MF_STAGE_GRANT_PARSE, MF_STAGE_GRANT_ENQUEUE, at);
	}
	struct host_job job = {.at = at,
			       .ready = at + h->cost_grant,
			       .size = m.size,
			       .node = m.dst,
			       .id = m.id,
			       .kind = m.resp ? HOST_JOB_RESPONSE : HOST_JOB_OWN,
			       .lane = m.resp ? HOST_LANE_RESPONSE : HOST_LANE_OWN};

	host_job_put(h, &job);
}

/** Turns a grant that is of no use here into a grant-return (D5) and sends that. */
bool host_job_return(struct mf_host *h, struct host_job *job)
{
	struct mf_msg m = {.kind = MF_GRET,
			   .src = h->shell.node,
			   .dst = job->node,
			   .id = job->id,
			   .resp = job->lane == HOST_LANE_RESPONSE,
			   .size = job->size};

	h->stats.grants_returned++;
	job->word = mf_proto_put_single(&m);
	job->message = MF_GRET;
	job->kind = HOST_JOB_SINGLE;
	job->ready = job->at + h->cost_return;
	return single_send(h, job);
}

/** Sends an ACK or an ERR, behind what has been heard. */
void host_single_put(struct mf_host *h, const struct mf_msg *m, mf_time ready)
{
	host_single_put_ahead(h, m, mf_time_max(ready, h->heard_at));
}

/** ... or one that answers nothing. */
void host_single_put_ahead(struct mf_host *h, const struct mf_msg *m, mf_time ready)
{
	struct host_job job = {.ready = ready,
			       .word = mf_proto_put_single(m),
			       .node = m->dst,
			       .kind = HOST_JOB_SINGLE,
			       .lane = HOST_LANE_SINGLE,
			       .message = m->kind};

	host_job_put(h, &job);
}
