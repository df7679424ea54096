/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"
#include "role.h"

const char *role_name(const struct role *r)
{
	switch (r->kind) {
	case ROLE_SWITCH:
		return r->f->config->sw.name;
	case ROLE_SCHED:
		return "scheduler";
	default:
		return r->f->config->node[r->index].name;
	}
}

void role_rx(struct role *r, unsigned int port, mf_time now, const struct mf_span *span)
{
	if (r->record != NULL)
		record_span(r->record, RECORD_RX, port, now, span);
	if (r->kind == ROLE_SWITCH)
		mf_switch_rx(r->f->sw, port, now, span);
	else
		mf_host_rx(r->f->node[r->index].host, now, span);
}

void role_run(struct role *r, mf_time now)
{
	if (r->record != NULL)
		record_call(r->record, RECORD_RUN, 0, now, NULL, 0);
	if (r->kind == ROLE_SWITCH)
		r->next = mf_switch_run(r->f->sw, now);
	else
		r->next = node_run(&r->f->node[r->index], now);
}

unsigned int role_tx(struct role *r, unsigned int port, mf_time now, struct mf_span *out)
{
	unsigned int n;

	if (r->kind == ROLE_SWITCH)
		n = mf_switch_tx(r->f->sw, port, now, MF_SPAN_MAX, out);
	else
		n = mf_host_tx(r->f->node[r->index].host, now, MF_SPAN_MAX, out);
	if (n > 0 && r->record != NULL)
		record_span(r->record, RECORD_TX, port, now, out);
	return n;
}

unsigned int role_to_sched(struct role *r, struct mf_sched_msg *out, unsigned int max)
{
	unsigned int n = mf_switch_to_sched(r->f->sw, out, max);

	if (n > 0 && r->record != NULL)
		record_call(r->record, RECORD_TO_SCHED, n, 0, out, n * sizeof(*out));
	return n;
}

void role_grant(struct role *r, mf_time now, const struct mf_sched_grant *grant)
{
	if (r->record != NULL)
		record_call(r->record, RECORD_GRANT, 0, now, grant, sizeof(*grant));
	mf_switch_grant(r->f->sw, now, grant);
}

void role_input(struct role *r, mf_time now, struct mf_sched_msg *msg)
{
	msg->at = now;
	if (r->record != NULL)
		record_call(r->record, RECORD_INPUT, 0, now, msg, sizeof(*msg));
	r->f->sched_ops->input(r->f->sched, msg);
}

unsigned int role_match(struct role *r, mf_time now, struct mf_sched_grant *out, unsigned int max)
{
	unsigned int n = r->f->sched_ops->run(r->f->sched, now, out, max);

	if (r->record != NULL)
		record_call(r->record, RECORD_MATCH, n, now, out, n * sizeof(*out));
	r->next = r->f->sched_ops->next(r->f->sched);
	return n;
}
