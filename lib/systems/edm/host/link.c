/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link is lost, or that of another node was. What was under way is over: whoever comes back knows nothing
 * of it, and what was to be sent answers what nobody asks any more. Ids rest for their quarantine, as after a
 * timer's end (D10), since messages that name them may still be on their way elsewhere, or be answered by who
 * came back. What waits goes when the link is there again.
 *
 * What has completed may be lost, too: unacknowledged writes on their way (D11), and all of the memory of a
 * node that was started again. So the client is told.
 */
#include "systems/edm/host/give_up.h"
#include "systems/edm/host/keys.h"
#include "systems/edm/host/once.h"
#include "systems/edm/host/redundancy.h"

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
	for (; h->job_head != h->job_tail; h->job_head++) {
		const struct host_job *job = &h->job[h->job_head & (HOST_GRANT_QUEUE - 1)];

		h->peer[job->node].held[job->lane]--;
	}
	mf_mux_flush(h->shell.mux, now);
}

/**
 * Messages to a node that have begun fail: a read has no octets, the rest may or may not have happened. Not
 * those from number `begun` on, as those are that begin in the places of others that failed.
 * @param tells  whether there is a switch that may have them, and is told
 */
static void fail_messages(struct mf_host *h, uint16_t node, enum mf_status read, uint32_t begun, bool tells,
			  mf_time date)
{
	for (uint32_t id = 0; id < MF_IDS; id++) {
		struct host_state *s = host_state_at(h, node, (uint8_t)id);

		if (!host_state_waits(s) || (int32_t)(s->seq - begun) >= 0)
			continue;
		h->stats.link_lost++;
		if (tells && h->redundancy)
			host_gives_up(h, node, s->id, date);
		host_state_fail(h, s, s->kind == MF_OP_READ ? (uint8_t)read : MF_ERR_UNKNOWN, date);
	}
}

/** The client has a turn at once: that is when it knows. */
static void tell(struct mf_host *h, uint16_t node, mf_time at)
{
	if (!h->restart_fn)
		return;
	h->restart_fn(h->restart_ctx, node);
	host_wake_by(h, at);
}

/** Nothing has happened to the node itself. @param all  what is under way is over, too */
static void writes_lost(struct mf_host *h, uint16_t node, bool all, mf_time at)
{
	if (!h->shell.submits)
		return;
	if (all)
		fail_messages(h, node, MF_ERR_RESTARTED, h->seq, true, at + h->cost_single);
	h->link_lost = true;
	tell(h, node, at);
	h->link_lost = false;
}

/** A node does not know what it has asked of this one. */
static void forget_source(struct mf_host *h, uint16_t node, mf_time at)
{
	host_once_forget(h, node);
	if (h->config.memory_ops != NULL && h->config.memory_ops->forget != NULL)
		h->config.memory_ops->forget(h->config.memory, node, at);
}

/** Nothing of what a node was asked before is known to it, nor what it asked. */
static void begin_anew(struct mf_host *h, uint16_t node, mf_time at)
{
	forget_source(h, node, at);
	if (!h->shell.submits)
		return;
	host_keys_forget(h, node);
	fail_messages(h, node, MF_ERR_RESTARTED, h->seq, true, at + h->cost_single);
	tell(h, node, at);
}

/** Whether an incarnation is not the one that was known. Where none was known it is news if that is said. */
static bool is_news(struct mf_host *h, uint16_t node, uint16_t incarnation, bool said, mf_time at)
{
	uint16_t before = h->incarnation[node];

	if (h->redundancy ? !host_redundancy_is_news(h, node, incarnation, said, at) : incarnation == before)
		return false;
	h->incarnation[node] = incarnation;
	return before != 0 || said;
}

/**
 * Behind all that answers the incarnation before: until the switch hears it, it lets nothing through that
 * answers the new one, nor asks it, so no answer and no request goes in front of it from now on. If there is
 * no room for it here, the switch asks again.
 */
static void say_heard(struct mf_host *h, uint16_t node, uint16_t incarnation, mf_time at)
{
	struct mf_msg m = {.kind = MF_ERR, .src = h->shell.node, .dst = node, .status = MF_ERR_INCARNATION};
	mf_time ready = mf_mux_behind(h->shell.mux, at + h->cost_single);

	mf_proto_set_incarnation(&m, incarnation);
	host_single_put(h, &m, ready);
	h->heard_at = ready + 1;
}

void host_link_restarted(struct mf_host *h, const struct mf_msg *m, mf_time at)
{
	uint16_t incarnation = mf_proto_incarnation(m);
	bool news;

	if (incarnation == 0) {
		writes_lost(h, m->src, m->status == MF_ERR_RESTARTED, at);
		return;
	}
	news = is_news(h, m->src, incarnation, m->status == MF_ERR_RESTARTED, at);
	/* A switch that is alone takes no request before the word. Two are told first what is given up. */
	if (h->redundancy == NULL)
		say_heard(h, m->src, incarnation, at);
	if (news)
		begin_anew(h, m->src, at);
	if (h->redundancy != NULL)
		say_heard(h, m->src, incarnation, at);
}

void mf_host_link_lost(struct mf_host *h, mf_time now)
{
	uint32_t begun;

	cut(h, now);
	drop_tx(h, now);
	while (h->response_head != HOST_NIL)
		host_response_end(h, &h->response[h->response_head]);
	/* Nobody tells a node whose own link was lost who was started again meanwhile. */
	for (uint16_t node = 0; node < h->shell.nodes; node++)
		forget_source(h, node, now);
	h->link_lost = true;
	begun = h->seq;
	for (uint16_t node = 0; node < h->shell.nodes && h->shell.submits; node++) {
		if (node == h->shell.node)
			continue;
		host_keys_forget(h, node);
		fail_messages(h, node, MF_ERR_TIMEOUT, begun, false, now);
		tell(h, node, now);
	}
	h->link_lost = false;
}

bool mf_host_link_is_lost(const struct mf_host *h)
{
	return h->link_lost;
}

void mf_host_under_way(const struct mf_host *h, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	for (uint32_t id = 0; id < MF_IDS; id++) {
		const struct host_state *s = host_state_at(h, node, (uint8_t)id);

		if (host_state_waits(s) && !host_is_attach(h, s->op))
			fn(ctx, h->op[s->op].c.user);
	}
	for (uint32_t i = h->peer[node].head; i != HOST_NIL; i = h->op[i].next)
		fn(ctx, h->op[i].c.user);
}

void host_link_forgotten(struct mf_host *h, uint32_t since, mf_time now)
{
	for (uint16_t node = 0; node < h->shell.nodes; node++)
		if (node != h->shell.node)
			fail_messages(h, node, MF_ERR_TIMEOUT, since, true, now);
}

void mf_host_on_restart(struct mf_host *h, mf_host_restart_fn fn, void *ctx)
{
	h->restart_fn = fn;
	h->restart_ctx = ctx;
}
