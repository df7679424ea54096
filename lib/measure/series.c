/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "base/mf_unit.h"

#define EDGES 3 /* rows that the ends of the measured time and of the run may need beside regular ones */
#define DRAIN_STEPS 4096 /* of a drain, at most: few last as long as they may */

/* ---- how many steps there can be ---- */

static uint64_t steps_in(mf_time time, mf_time every)
{
	return (time + every - 1) / every;
}

/** The length of a step with which a time has at most so many, in two digits, rounded up. */
static mf_time long_enough(mf_time time, uint64_t most)
{
	mf_time every = steps_in(time, most), unit = 1;

	while (every / unit >= 100)
		unit *= 10;
	return steps_in(every, unit) * unit;
}

static uint64_t values(const struct series *s)
{
	return 1 + (uint64_t)s->lines * (sizeof(struct series_line) / sizeof(uint64_t)) +
	       (uint64_t)s->memories * (sizeof(struct mf_memory_use) / sizeof(uint64_t));
}

/** Sets the room. @return 0 or -EINVAL */
static int set_room(const struct mf_fabric *f, struct series *s, char *err, size_t errlen)
{
	uint64_t most = RTE_MIN(SERIES_STEPS_MAX, SERIES_VALUES_MAX / values(s)), need;
	bool known = f->config->clock[f->clock].duration < MF_CONFIG_DURATION_MAX;
	mf_time time = known ? f->stop : f->measure;
	char a[MF_UNIT_LEN], b[MF_UNIT_LEN], c[MF_UNIT_LEN];

	need = steps_in(f->measure, s->every) + (known ? steps_in(f->stop - f->measure, s->every) : 0);
	if (need > most) {
		snprintf(err, errlen,
			 "report.series.every: %" PRIu64 " steps of %s in %s, the most is %" PRIu64
			 ": try \"%s\"",
			 need, mf_unit_put_time(a, s->every), mf_unit_put_time(b, time), most,
			 mf_unit_put_time(c, long_enough(time, most - 1)));
		return -EINVAL;
	}
	if (!known)
		need = most;
	need += RTE_MIN(steps_in(f->drain, s->every), (uint64_t)DRAIN_STEPS);
	s->capacity = (uint32_t)need + EDGES + 1;
	return 0;
}

/* ---- what there is to be read ---- */

/** Whether this process sends by an end of the graph. */
static bool sends(const struct mf_fabric *f, uint32_t end)
{
	const struct mf_vertex *r = &f->graph->role[f->graph->end[end].role];

	if (r->kind == MF_VERTEX_NODE)
		return f->node[r->number].host != NULL;
	return fabric_switch_of(f, end - fabric_first_port(f)) != NULL;
}

/** Ends and memories. @return 0 or -ENOMEM */
static int find(const struct mf_fabric *f, struct series *s)
{
	s->end = malloc(f->graph->ends * sizeof(*s->end));
	s->line_of = malloc(f->graph->ends * sizeof(*s->line_of));
	s->node = malloc(f->nodes * sizeof(*s->node));
	if (s->end == NULL || s->line_of == NULL || s->node == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->graph->links; i++)
		for (unsigned int k = 0; k < 2; k++) {
			uint32_t end = f->graph->link[i].end[k];

			s->line_of[end] = s->lines;
			if (sends(f, end))
				s->end[s->lines++] = end;
		}
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].memory != NULL)
			s->node[s->memories++] = (uint16_t)i;
	return 0;
}

int series_new(struct mf_fabric *f, char *err, size_t errlen)
{
	struct series *s = calloc(1, sizeof(*s));

	f->series = s;
	if (s == NULL || find(f, s) != 0) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	s->every = f->config->report_series;
	s->next = MF_NEVER;
	if (set_room(f, s, err, errlen) != 0)
		return -EINVAL;
	s->at = calloc(s->capacity, sizeof(*s->at));
	s->line = calloc((size_t)s->capacity * s->lines + 1, sizeof(*s->line));
	s->memory = calloc((size_t)s->capacity * s->memories + 1, sizeof(*s->memory));
	if (s->at != NULL && s->line != NULL && s->memory != NULL)
		return 0;
	snprintf(err, errlen, "report.series: no memory for %u steps", s->capacity);
	return -ENOMEM;
}

void series_free(struct series *s)
{
	if (s == NULL)
		return;
	free(s->end);
	free(s->line_of);
	free(s->node);
	free(s->at);
	free(s->line);
	free(s->memory);
	free(s);
}

/* ---- while it runs ---- */

/** Counters of the sender at an end now: what has not started yet is not on the wire. */
static void read_line(const struct mf_fabric *f, const struct mf_end *e, mf_time now, struct series_line *out)
{
	const struct mf_vertex *r = &f->graph->role[e->role];
	const struct mf_mux_stats *sent;
	uint32_t ahead;

	if (r->kind == MF_VERTEX_NODE) {
		const struct mf_mux *mux = mf_node_mux(f->node[r->number].host, e->port);

		sent = mf_mux_stats(mux);
		ahead = mf_mux_ahead(mux, now);
	} else {
		sent = mf_sw_mux_stats(f->sw[r->number].sw, e->port);
		ahead = mf_sw_ahead(f->sw[r->number].sw, e->port, now);
	}
	out->memory_blocks = sent->memory_blocks - ahead;
	out->frame_blocks = sent->frame_blocks;
}

/** The same of a snapshot. */
static void copy_line(const struct mf_fabric *f, const struct mf_end *e, const struct snapshot *from,
		      struct series_line *out)
{
	const struct mf_vertex *r = &f->graph->role[e->role];
	const struct mf_mux_stats *sent;

	if (r->kind == MF_VERTEX_SWITCH)
		sent = &from->port[e - f->graph->end - fabric_first_port(f)];
	else /* both links of 1+1 protection carry the same */
		sent = &from->host[f->config->backup.on ? r->number
							: fabric_host_number(f, e->link, r->number)];
	out->memory_blocks = sent->memory_blocks;
	out->frame_blocks = sent->frame_blocks;
}

static void read_queue(const struct mf_fabric *f, const struct mf_end *e, mf_time now,
		       struct series_line *out)
{
	const struct mf_vertex *r = &f->graph->role[e->role];
	bool simulated = f->clock == MF_CLOCK_VIRTUAL;
	struct mf_queue_depth depth = {0};

	if (r->kind == MF_VERTEX_NODE)
		depth.octets = mf_mux_octets(mf_node_mux(f->node[r->number].host, e->port), now);
	else
		mf_sw_depth(f->sw[r->number].sw, e->port, now, simulated, &depth);
	out->queue_octets = depth.octets;
	out->queue_max_octets = simulated ? RTE_MAX(out->queue_max_octets, depth.max) : 0;
}

/** A row of what there is now; that of the last step, if no time has passed since. @param from  or NULL */
static void fill(struct mf_fabric *f, mf_time now, const struct snapshot *from)
{
	struct series *s = f->series;
	uint32_t row;

	if (s->rows == 0 || s->at[s->rows - 1] != now)
		s->rows++;
	row = s->rows - 1;
	s->at[row] = now;
	for (uint32_t i = 0; i < s->lines; i++) {
		const struct mf_end *e = &f->graph->end[s->end[i]];
		struct series_line *l = series_line(s, row, i);

		if (from != NULL)
			copy_line(f, e, from, l);
		else
			read_line(f, e, now, l);
		read_queue(f, e, now, l);
	}
	for (uint32_t i = 0; i < s->memories; i++) {
		const struct mf_memory_use *use = &f->node[s->node[i]].memory_use;

		series_memory(s, row, i)->read = __atomic_load_n(&use->read, __ATOMIC_RELAXED);
		series_memory(s, row, i)->written = __atomic_load_n(&use->written, __ATOMIC_RELAXED);
	}
}

/** Ends of the measured time that have been there. */
static unsigned int edges(const struct mf_fabric *f)
{
	return (unsigned int)f->at_measure.taken + (unsigned int)f->at_stop.taken;
}

/** Steps are counted from the begin of the measured time, backwards too, and anew from its end. */
static mf_time next_end(const struct mf_fabric *f, mf_time now)
{
	const struct series *s = f->series;
	mf_time from = f->at_stop.taken ? f->at_stop.at : f->at_measure.taken ? f->at_measure.at : f->measure;

	if (s->rows + EDGES - s->edges > s->capacity - 1)
		return MF_NEVER;
	if (now < from)
		return from - (from - now - 1) / s->every * s->every;
	return from + ((now - from) / s->every + 1) * s->every;
}

void series_begin(struct mf_fabric *f)
{
	fill(f, 0, NULL);
	f->series->next = next_end(f, 0);
}

bool series_due(const struct mf_fabric *f, mf_time now)
{
	return f->series != NULL && (now >= f->series->next || edges(f) != f->series->edges);
}

/** Steps that end where the measured time begins or ends have the numbers of its snapshots. */
static void fill_edges(struct mf_fabric *f)
{
	struct series *s = f->series;

	for (; s->edges < edges(f); s->edges++) {
		const struct snapshot *edge = s->edges == 0 ? &f->at_measure : &f->at_stop;

		fill(f, mf_time_max(edge->at, s->at[s->rows - 1]), edge);
	}
}

void series_step(struct mf_fabric *f, mf_time now)
{
	struct series *s = f->series;

	fill_edges(f);
	if (now >= s->next && now > s->at[s->rows - 1])
		fill(f, now, NULL);
	s->next = next_end(f, now);
}

/** Blocks of a frame, gaps left out, that began before a time. */
static unsigned int begun_before(const struct mf_span *span, mf_time t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < span->count && span->start + (mf_time)i * span->period < t; i++)
		n += span->sync[i] != MF_SYNC_CTRL || mf_block_type(span->word[i]) != MF_BT_C;
	return n;
}

void series_sent(struct series *s, uint32_t end, const struct mf_span *span)
{
	if ((span->flags & MF_SPAN_FRAME) == 0)
		return;
	for (uint32_t row = s->rows; row > 0 && s->at[row - 1] > span->start; row--)
		series_line(s, row - 1, s->line_of[end])->frame_blocks += begun_before(span, s->at[row - 1]);
}

void series_end(struct mf_fabric *f, mf_time now)
{
	fill_edges(f);
	fill(f, now, NULL);
	f->series->next = MF_NEVER;
}
