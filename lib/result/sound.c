/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a run was sound: nothing lost, nothing twice, nothing damaged, and every bound kept. */
#include <stdarg.h>
#include <stdio.h>

#include "base/mf_unit.h"
#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_delivery.h"
#include "measure/mf_drain.h"
#include "measure/mf_message_log.h"
#include "measure/mf_stages.h"
#include "result/mf_result.h"
#include "run/mf_fabric.h"
#include "wall/ports/mf_tunnel_stats.h"

/** The file breaks something, or takes links away for a test pattern. */
static bool disturbed(const struct mf_fabric *f)
{
	return f->config->faults > 0 || f->config->tests > 0;
}

struct reason {
	char *err;
	size_t errlen;
};

static bool no(const struct reason *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool no(const struct reason *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->err, r->errlen, format, args);
	va_end(args);
	return false;
}

static bool client_sound(const struct mf_fabric *f, unsigned int i, const struct reason *r)
{
	const struct mf_client_stats *c = mf_client_stats(f->node[i].client);
	const char *name = f->config->node[i].name;

	if (c->mismatches > 0)
		return no(r,
			  "%s: %llu reads returned wrong data, the first a %s of %u octets of %s "
			  "at 0x%llx",
			  name, (unsigned long long)c->mismatches,
			  mf_client_kind_name((enum mf_client_kind)c->mismatch.kind), c->mismatch.octets,
			  f->config->node[c->mismatch.node].name, (unsigned long long)c->mismatch.addr);
	if (c->submit_error != 0)
		return no(r, "%s: its stack refuses what it is to do", name);
	if (c->restarts > 0 && !disturbed(f))
		return no(r,
			  "%s: %llu times a memory node lost its link, and what was under way, or its memory",
			  name, (unsigned long long)c->restarts);
	if (c->stray > 0)
		return no(r, "%s: %llu completions of nothing", name, (unsigned long long)c->stray);
	if (c->failed_all > 0 && !disturbed(f))
		return no(r, "%s: %llu operations failed", name, (unsigned long long)c->failed_all);
	return true;
}

/** Without faults what did not arrive was dropped by the fabric. First: it explains wrong data. */
static bool writes_sound(const struct mf_fabric *f, const struct reason *r)
{
	uint64_t lost = fabric_lost_writes(f);

	return lost == 0 || disturbed(f) ||
	       no(r, "%llu writes completed for their senders, but never took effect",
		  (unsigned long long)lost);
}

/** What sinks have compared. */
static bool sinks_sound(const struct mf_fabric *f, const struct reason *r)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct node *n = &f->node[i];
		const struct mf_memory_checked *c = n->memory != NULL && n->memory_ops->checked != NULL
							    ? n->memory_ops->checked(n->memory)
							    : NULL;

		if (c != NULL && c->wrong > 0)
			return no(r, "%s: %llu pieces of writes were wrong, the first of %u octets at 0x%llx",
				  f->config->node[i].name, (unsigned long long)c->wrong, c->wrong_octets,
				  (unsigned long long)c->wrong_addr);
	}
	return true;
}

/** What became of the operations of all clients of this process. */
struct taken {
	bool clients;
	uint64_t begun; /**< in all */
	uint64_t measured,
		samples; /**< begun in the steady state; with faults those that failed are samples, too */
};

static void add_taken(const struct mf_fabric *f, const struct mf_client_stats *s, struct taken *t)
{
	bool faults = disturbed(f);

	t->clients = true;
	t->begun += s->begun_all;
	t->measured += s->tasks;
	t->samples += s->tasks; /* what was asked of spaces says something, too */
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		t->measured += s->kind[k].begun;
		t->samples += s->kind[k].completed + (faults ? s->kind[k].failed : 0);
	}
	for (unsigned int k = 0; k < MF_QUERY_KINDS; k++) {
		t->begun += s->query[k].begun + s->query[k].unmeasured;
		t->measured += s->query[k].begun;
		t->samples += s->query[k].completed;
	}
}

/** Whoever has clients wants to know what they measure: a run without a sample says nothing. */
static bool has_samples(const struct mf_fabric *f, const struct taken *t, const struct reason *r)
{
	char warmup[MF_UNIT_LEN];

	if (!t->clients || t->samples > 0)
		return true;
	mf_unit_put_time(warmup, f->config->clock[f->clock].warmup);
	if (f->info.interrupted)
		return no(r, "nothing was measured: interrupted %s the warm-up of %s",
			  f->ended < f->measure ? "in" : "just after", warmup);
	if (f->stop < f->measure && !f->load_over)
		return no(r, "nothing was measured: stopped in the warm-up of %s", warmup);
	if (t->begun == 0)
		return no(r, "nothing was measured: no operation began");
	if (t->measured == 0)
		return no(r, "nothing was measured: all %llu operations began in the warm-up of %s",
			  (unsigned long long)t->begun, warmup);
	return no(r, "nothing was measured: none of %llu operations completed",
		  (unsigned long long)t->measured);
}

/** Whether all was over when the drain was. */
static bool drain_sound(const struct mf_fabric *f, const struct reason *r)
{
	const struct drain d = drain_of(f);
	char drain[MF_UNIT_LEN], enough[MF_UNIT_LEN], hint[MF_UNIT_LEN + 64] = "nothing moved in it";

	if (drain_is_over(&d))
		return true;
	mf_unit_put_time(drain, f->drain);
	if (d.enough > 0)
		snprintf(hint, sizeof(hint), "at its pace \"drain\": \"%s\" would do, about",
			 mf_unit_put_time(enough, d.enough));
	return no(
		r,
		"the drain of %s was over with %llu operations under way, %llu never begun, and %llu writes "
		"that had not taken effect: %s",
		drain, (unsigned long long)d.under_way, (unsigned long long)d.never_begun,
		(unsigned long long)d.late_writes, hint);
}

static bool clients_sound(const struct mf_fabric *f, const struct reason *r)
{
	struct taken t = {0};

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].client == NULL)
			continue;
		if (!client_sound(f, i, r))
			return false;
		add_taken(f, mf_client_stats(f->node[i].client), &t);
	}
	return drain_sound(f, r) && has_samples(f, &t, r);
}

static bool frames_sound(const struct mf_fabric *f, const struct reason *r)
{
	uint64_t sent = 0, received = 0;
	struct result_counts switched;

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].ether == NULL)
			continue;
		const struct mf_ether_stats *e = mf_ether_stats(f->node[i].ether);

		sent += e->sent;
		received += e->received;
		if (e->damaged + e->duplicated > 0 && !disturbed(f))
			return no(r, "%s: %llu frames damaged or duplicated", f->config->node[i].name,
				  (unsigned long long)(e->damaged + e->duplicated));
	}
	if (f->info.interrupted || sent == received || !fabric_whole(f) || disturbed(f))
		return true;
	if (!fabric_has_switch(f))
		return no(r, "%llu of %llu frames did not arrive", (unsigned long long)(sent - received),
			  (unsigned long long)sent);
	result_switches_counted(f->tier, &switched);
	return no(r, "%llu of %llu frames did not arrive; the switch had no room for %llu",
		  (unsigned long long)(sent - received), (unsigned long long)sent,
		  (unsigned long long)result_value(&switched, "drops.switch", "frame_room"));
}

/** What waited at a stalled role, or for it, waited so much longer than the bound says. */
static uint64_t stalled_blocks(const struct mf_fabric *f, uint32_t link)
{
	mf_time stalled = 0;

	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];

		if (c->class == MF_FAULT_STALL)
			stalled += c->until - c->from;
	}
	return stalled / f->link[link].period;
}

/**
 * What waits is measured by its time: behind a message that a fault has cut that is the hold timer's, which
 * no bound of the schedule knows.
 */
static bool backlog_is_bounded(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		if (f->config->fault[k].class != MF_FAULT_STALL)
			return false;
	return f->clock == MF_CLOCK_VIRTUAL;
}

static bool descriptors_sound(const struct mf_sw *sw, const struct mf_scheduler *sched,
			      const struct reason *r)
{
	struct result_counts switched, scheduled;
	uint64_t lost;

	result_sched_counted(sched, &scheduled);
	result_switch_counted(sw, &switched);
	lost = result_value(&scheduled, "scheduler.more", "refused") +
	       result_value(&switched, "drops.switch", "descriptors");
	return lost == 0 ||
	       no(r, "%llu descriptors were lost between switch and scheduler", (unsigned long long)lost);
}

/** Whether no egress of a network was over its bound (D3). */
static bool backlog_sound(const struct fabric_tier *t, const struct reason *r)
{
	const struct mf_fabric *f = t->f;

	for (unsigned int i = 0; i < t->nodes && backlog_is_bounded(f); i++) {
		uint32_t link = t->link[i], max;

		if (f->node[t->node[i]].host == NULL)
			continue;
		max = fabric_sent_to(f, fabric_link_end(f, link), t->node[i])->backlog_message_max;
		if (max > bound_backlog(t, i) + stalled_blocks(f, link))
			return no(r, "%s: %u blocks waited at its egress, the bound is %u",
				  f->config->node[t->node[i]].name, max, bound_backlog(t, i));
	}
	return true;
}

/** Whether schedulers have seen all descriptors, and no egress was over its bound (D3). */
static bool switch_sound(const struct mf_fabric *f, const struct reason *r)
{
	if (!fabric_has_switch(f))
		return true;
	for (unsigned int k = 0; k < f->graph->switches; k++)
		if (!descriptors_sound(f->sw[k].sw, f->sw[k].sched, r))
			return false;
	for (unsigned int k = 0; k < f->tiers; k++)
		if (fabric_schedules(&f->tier[k]) && !backlog_sound(&f->tier[k], r))
			return false;
	return true;
}

/** First of all: what is wrong behind a check that lets it pass has this cause. */
static bool checks_sound(const struct mf_fabric *f, const struct reason *r)
{
	const struct mf_witness_stats *w = &f->witness;

	return w->undetected == 0 || no(r, "%llu of %llu damaged messages passed the check of %u bits",
					(unsigned long long)w->undetected, (unsigned long long)w->damaged,
					f->config->tier->proto.check32 ? 32 : 16);
}

/** Whether all that was forged was refused, and told and left nothing. */
static bool access_sound(const struct mf_fabric *f, const struct reason *r)
{
	const struct mf_forge_stats *s = &f->forged;

	if (s->let_in > 0)
		return no(r, "%llu of %llu forged requests were let in", (unsigned long long)s->let_in,
			  (unsigned long long)s->sent);
	if (s->found > 0)
		return no(r, "%llu times something was left in a region for its next owner",
			  (unsigned long long)s->found);
	return s->told == 0 || no(r, "%llu of %llu forged requests were told why they are refused",
				  (unsigned long long)s->told, (unsigned long long)s->sent);
}

/** Buffers that ports, now closed, have not given back. */
static bool ports_sound(const struct mf_fabric *f, const struct reason *r)
{
	for (unsigned int i = 0; f->tunnels != NULL && i < f->tunnels->ports; i++)
		if (f->tunnels->port[i].lost_buffers > 0)
			return no(r, "%s: %u buffers of the port were not given back",
				  f->tunnels->port[i].config->name, f->tunnels->port[i].lost_buffers);
	return true;
}

bool mf_fabric_sound(const struct mf_fabric *f, char *err, size_t errlen)
{
	const struct reason r = {err, errlen};

	if (!checks_sound(f, &r) || !access_sound(f, &r) || !writes_sound(f, &r) || !sinks_sound(f, &r) ||
	    !clients_sound(f, &r) || !frames_sound(f, &r) || !switch_sound(f, &r) || !ports_sound(f, &r))
		return false;
	if (f->pending.incomplete || (f->messages != NULL && f->messages->incomplete) ||
	    (f->delivery != NULL && f->delivery->incomplete))
		return no(&r, "no memory for the log of messages");
	if (f->config->report_normalised && f->messages != NULL && f->unloaded == NULL &&
	    !f->info.interrupted)
		return no(&r, "nothing to normalise latencies by: %s", f->unloaded_error);
	return f->stages == NULL || stages_sound(f, err, errlen);
}
