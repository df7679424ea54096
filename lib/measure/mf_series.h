/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fabric has done in steps of time (`report.series`): what each direction of a link carried,
 * what waited at its sender, what each memory read and wrote.
 *
 *     time 0        measured time begins              ends               the run ends
 *       |--|-----|-----|-----|-----|-----|-----|---|-----|-----|--|
 *        short  steps of `every` length         short      short
 *
 * At the end of each step the engine has the counters read, which run on: a step is the difference of two
 * rows, and all steps together are the counters at the end of the run. Nothing is counted for it in a role
 * but by memories, and the longest queue of a port. All rows are allocated before the run. When they are used
 * up, the last step goes on until the measured time begins or ends, or the run does.
 *
 * One thread calls: that of the engine's snapshots. Times are ps.
 */
#ifndef MF_SERIES_H
#define MF_SERIES_H

#include "fabric/mf_fabric_state.h"

#define SERIES_STEPS_MAX 65536
#define SERIES_VALUES_MAX (UINT64_C(1) << 27) /**< of all steps */

/** Counters of a direction of a link at the end of a step, and its sender's queue then. */
struct series_line {
	uint64_t memory_blocks, frame_blocks; /**< sent so far */
	uint64_t queue_octets; /**< waiting then */
	uint64_t queue_max_octets; /**< longest queue of the sender within the step; virtual clock */
};

struct series {
	mf_time every;
	mf_time next; /**< end of the step under way; MF_NEVER: it goes on, since rows are used up */
	unsigned int edges; /**< ends of the measured time that have been seen: 0, 1, 2 */
	uint32_t lines, memories;
	uint32_t *end; /**< [lines]: ends of the graph by which this process sends */
	uint32_t *line_of; /**< [ends of the graph]: the reverse */
	uint16_t *node; /**< [memories] */
	uint32_t rows, capacity; /**< rows that are filled in: one more than steps; and all */
	mf_time *at; /**< [room] */
	struct series_line *line; /**< [room][lines] */
	struct mf_memory_use *memory; /**< [room][memories] */
};

/**
 * Makes f->series: after all that the fabric is made of. series_free() frees it, after a failure, too.
 * @param err  on failure one line
 * @return 0, -EINVAL: there are too many steps, -ENOMEM
 */
int series_new(struct mf_fabric *f, char *err, size_t errlen);
/** @param s  or NULL */
void series_free(struct series *s);

/** Time 0 of the run. */
void series_begin(struct mf_fabric *f);
/** Whether a step is to end now; false without a series. */
bool series_due(const struct mf_fabric *f, mf_time now);
/** Ends the step under way. Virtual clock: all that happens by now has happened. */
void series_step(struct mf_fabric *f, mf_time now);
/**
 * Virtual clock: a span is sent by an end of the graph. Blocks of a frame are given out late, so the
 * steps in which they began may be over.
 */
void series_sent(struct series *s, uint32_t end, const struct mf_span *span);
/** The run is over: ends the last step. */
void series_end(struct mf_fabric *f, mf_time now);

/** When series_due() is to be asked next. @param s  NULL: never */
static inline mf_time series_next(const struct series *s)
{
	return s != NULL ? s->next : MF_NEVER;
}

static inline struct series_line *series_line(const struct series *s, uint32_t row, uint32_t i)
{
	return &s->line[(size_t)row * s->lines + i];
}

static inline struct mf_memory_use *series_memory(const struct series *s, uint32_t row, uint32_t i)
{
	return &s->memory[(size_t)row * s->memories + i];
}

#endif
