/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler and the switch. */
#include <inttypes.h>

#include "show.h"

static void put(FILE *out, const struct view *v, const char *name, uint64_t now, uint64_t then)
{
	show_line(out, name, "%" PRIu64, view_since(v, &v->clear_sched, now, then));
}

static void put_sched(FILE *out, const struct view *v)
{
	const struct mf_sched_stats *s = &v->now.sched, *c = &v->clear_sched.sched;
	uint64_t grants = view_since(v, &v->clear_sched, s->grants, c->grants);
	uint64_t matchings = view_since(v, &v->clear_sched, s->matchings, c->matchings);

	show_head(out, "Scheduler statistics");
	show_line(out, "policy", "%s/%s", v->run->config->sched.policy,
		  v->run->config->sched.priority == MF_SCHED_SRPT ? "srpt" : "fcfs");
	put(out, v, "demands", s->demands, c->demands);
	put(out, v, "demand_octets", s->demand_octets, c->demand_octets);
	put(out, v, "grants", s->grants, c->grants);
	put(out, v, "granted_octets", s->granted_octets, c->granted_octets);
	put(out, v, "matchings", s->matchings, c->matchings);
	put(out, v, "iterations", s->iterations, c->iterations);
	show_line(out, "grants_per_matching", "%.3f", matchings > 0 ? (double)grants / (double)matchings : 0);
	put(out, v, "dropped_over_x", s->dropped_x, c->dropped_x);
	put(out, v, "dropped_bad", s->dropped_bad, c->dropped_bad);
	put(out, v, "cancelled", s->cancelled, c->cancelled);
	show_line(out, "entries", "%" PRIu64 " now, %" PRIu64 " at most", s->entries, s->entries_max);
	show_line(out, "queue_max", "%" PRIu64 ", the bound is %" PRIu64, s->queue_max, s->queue_bound);
	show_line(out, "matched_max", "%" PRIu64, s->matched_max);
	show_end(out);
}

static void put_switch(FILE *out, const struct view *v)
{
	const struct mf_switch_stats *s = &v->now.sw, *c = &v->clear_sched.sw;

	show_head(out, "Switch statistics");
	put(out, v, "notifications", s->notifications, c->notifications);
	put(out, v, "requests", s->requests, c->requests);
	put(out, v, "grants", s->grants, c->grants);
	put(out, v, "chunks", s->chunks, c->chunks);
	put(out, v, "chunk_blocks", s->chunk_blocks, c->chunk_blocks);
	put(out, v, "frames", s->frames, c->frames);
	put(out, v, "dropped",
	    s->drop_check + s->drop_proto + s->drop_spoof + s->drop_dst + s->drop_link + s->drop_ungranted +
		    s->drop_room + s->drop_cut + s->drop_descriptor + s->drop_frame_room,
	    c->drop_check + c->drop_proto + c->drop_spoof + c->drop_dst + c->drop_link + c->drop_ungranted +
		    c->drop_room + c->drop_cut + c->drop_descriptor + c->drop_frame_room);
	put(out, v, "expired", s->expired, c->expired);
	put(out, v, "overtaken", s->overtaken, c->overtaken);
	show_end(out);
}

void show_sched(FILE *out, struct view *v)
{
	if (!view_take(v, out))
		return;
	put_sched(out, v);
	put_switch(out, v);
}

void clear_sched(struct view *v)
{
	run_counters(v->run, &v->clear_sched);
}
