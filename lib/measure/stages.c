/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/mf_delivery.h"
#include "measure/mf_stages.h"

static bool same(const struct stage_record *a, const struct stage_record *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned int i = 0; i < a->count; i++)
		if (a->stamp[i].stage != b->stamp[i].stage ||
		    a->stamp[i].to - a->stamp[i].from != b->stamp[i].to - b->stamp[i].from)
			return false;
	return true;
}

/** Stamps are made by whoever knows first; in time they follow each other. */
static void sort(struct stage_record *r)
{
	for (unsigned int i = 1; i < r->count; i++) {
		struct stage_stamp s = r->stamp[i];
		unsigned int k = i;

		for (; k > 0 && r->stamp[k - 1].from > s.from; k--)
			r->stamp[k] = r->stamp[k - 1];
		r->stamp[k] = s;
	}
}

/** Between being ready and going out a message may have waited for the line: the only gap there can be. */
static void fill_line(struct stage_record *r)
{
	for (unsigned int i = 1; i < r->count && r->count < STAGE_STAMPS_MAX; i++) {
		struct stage_stamp *s = &r->stamp[i];

		if (s->stage != MF_STAGE_PCS_TX || s->from <= s[-1].to)
			continue;
		memmove(s + 1, s, (r->count - i) * sizeof(*s));
		*s = (struct stage_stamp){MF_STAGE_LINE, s[1].place, s[-1].to, s[1].from};
		r->count++;
	}
}

static bool contiguous(const struct stage_record *r)
{
	for (unsigned int i = 1; i < r->count; i++)
		if (r->stamp[i].from != r->stamp[i - 1].to)
			return false;
	return r->count > 0 && r->count < STAGE_STAMPS_MAX;
}

/** Whether a write's effect, which the memory node tells by itself, is where its stages say. */
static bool effect_fits(const struct stage_record *r)
{
	if (r->kind == STAGE_WRITE)
		return r->done == r->stamp[r->count - 1].to;
	for (unsigned int i = 1; i < r->count && r->kind == STAGE_WRITE_ACK; i++)
		if (r->stamp[i].from == r->done)
			return r->stamp[i].stage == MF_STAGE_GRANT_QUEUE;
	return r->kind != STAGE_WRITE_ACK;
}

static void close_record(struct stage_log *log)
{
	struct stage_record *r = &log->now;
	struct stage_record *kept = &log->last[r->kind];
	uint64_t *count = &log->count[r->kind];

	if (!r->whole)
		return;
	sort(r);
	fill_line(r);
	if (!contiguous(r) || !effect_fits(r)) {
		log->broken++;
	} else {
		if (*count > 0 && !same(r, kept))
			log->differ++;
		*kept = *r;
		++*count;
	}
}

static void add(struct stage_log *log, enum mf_stage stage, mf_time from, mf_time to)
{
	struct stage_record *r = &log->now;

	if (r->count == STAGE_STAMPS_MAX)
		return;
	r->stamp[r->count++] = (struct stage_stamp){stage, log->place, from, to};
}

static void begin(struct stage_log *log, bool write)
{
	close_record(log);
	log->now.count = 0;
	log->now.kind = write ? STAGE_WRITE : STAGE_READ;
	log->now.done = MF_NEVER;
	log->now.whole = false;
	log->place = PLACE_COMPUTE;
}

void stages_start(struct stage_log *log, bool write)
{
	log->above = true;
	begin(log, write);
}

/** Whether something that begins then is on the path of the operation under way. */
static bool on_path(const struct stage_log *log, mf_time from)
{
	const struct stage_record *r = &log->now;

	return !log->above || (!r->whole && (r->count == 0 || r->stamp[r->count - 1].to == from));
}

/** A grant is of a write; what is answered behind its effect is acknowledged; who writes what it read is an
 * atomic. */
static void learn_kind(struct stage_record *r, enum mf_stage stage)
{
	if (stage == MF_STAGE_GRANT_PARSE)
		r->kind = STAGE_WRITE;
	if (r->kind == STAGE_WRITE && r->done != MF_NEVER && stage == MF_STAGE_GRANT_QUEUE) {
		r->kind = STAGE_WRITE_ACK;
		r->whole = false;
	}
	if (r->kind == STAGE_READ && stage == MF_STAGE_DRAM && r->stamp[r->count - 1].stage == MF_STAGE_DRAM)
		r->kind = STAGE_ATOMIC;
}

/** Whether an operation ends with this stage; a write does when it has taken effect. */
static bool ends_with(const struct stage_log *log, enum mf_stage stage)
{
	const struct stage_record *r = &log->now;

	if (r->kind == STAGE_WRITE_ACK)
		return stage == MF_STAGE_DATA_PARSE;
	return r->kind != STAGE_WRITE &&
	       (stage == MF_STAGE_DATA_DELIVER ||
		(stage == MF_STAGE_PROTOCOL && r->count > 0 && log->place == PLACE_COMPUTE));
}

void stages_stamp(struct stage_log *log, enum mf_stage stage, mf_time from, mf_time to)
{
	if (stage == MF_STAGE_MESSAGE_QUEUE)
		begin(log, false);
	if (!on_path(log, from))
		return;
	if (log->now.count > 0)
		learn_kind(&log->now, stage);
	if (ends_with(log, stage))
		log->now.whole = true;
	add(log, stage, from, to);
}

void stages_effect(struct stage_log *log, mf_time done)
{
	log->now.whole = true;
	log->now.done = done;
}

struct stage_log *stages_new(const struct mf_timing *timing)
{
	struct stage_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return NULL;
	log->pcs_tx = timing->cost[MF_STAGE_PCS_TX];
	log->pcs_rx = timing->cost[MF_STAGE_PCS_RX];
	log->pma = timing->cost[MF_STAGE_PMA];
	return log;
}

void stages_free(struct stage_log *log)
{
	free(log);
}

/** A frame is whole one block behind its /T/, a message of blocks at its last one. */
static mf_time whole_after(const struct mf_span *span)
{
	mf_time last = span->count - 1u;

	if (span->flags & MF_SPAN_FRAME)
		for (last = 1; last < span->count && span->sync[last] == MF_SYNC_DATA; last++)
			;
	return (last + !!(span->flags & MF_SPAN_FRAME)) * span->period;
}

void stages_link(struct stage_log *log, const struct link_timing *link, const struct mf_span *span,
		 enum stage_place from, enum stage_place to)
{
	const struct stage_record *r = &log->now;
	mf_time t = span->start;

	if (r->count == 0 || (!log->above && span->flags & MF_SPAN_FRAME) || !on_path(log, t))
		return;
	if (span->sync[0] != MF_SYNC_CTRL || mf_block_type(span->word[0]) == MF_BT_MT)
		return; /* the rest of a message whose first block was stamped before */
	log->place = from;
	add(log, MF_STAGE_PCS_TX, t, t + log->pcs_tx);
	t += log->pcs_tx;
	add(log, MF_STAGE_PMA, t, t + log->pma);
	t += log->pma;
	add(log, MF_STAGE_PROPAGATION, t, t + link->propagation);
	t += link->propagation;
	log->place = to;
	add(log, MF_STAGE_PMA, t, t + log->pma);
	t += log->pma;
	add(log, MF_STAGE_PCS_RX, t, t + log->pcs_rx);
	t += log->pcs_rx;
	if (log->above) /* it is used when it is whole */
		add(log, MF_STAGE_SERIALISATION, t, t + whole_after(span));
}

void stages_end(struct stage_log *log)
{
	close_record(log);
	log->now.whole = false;
}

mf_time stages_sum(const struct stage_record *r, enum mf_stage stage, enum stage_place place)
{
	mf_time sum = 0;

	for (unsigned int i = 0; i < r->count; i++)
		if (r->stamp[i].stage == stage && (place == PLACES || r->stamp[i].place == place))
			sum += r->stamp[i].to - r->stamp[i].from;
	return sum;
}

unsigned int stages_count(const struct stage_record *r, enum mf_stage stage, enum stage_place place)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->count; i++)
		n += r->stamp[i].stage == stage && (place == PLACES || r->stamp[i].place == place);
	return n;
}

static mf_time total(const struct stage_record *r)
{
	mf_time sum = 0;

	for (enum mf_stage s = 0; s < MF_STAGES; s++)
		sum += stages_sum(r, s, PLACES);
	return sum;
}

const char *stages_kind_name(enum stage_kind kind)
{
	static const char *const name[] = {"read", "write", "write_ack", "atomic"};

	return name[kind];
}

static bool add_up(const struct stage_record *r, const struct mf_hist *measured, char *err, size_t errlen)
{
	mf_time sum = total(r);

	if (measured->count == 0 || (measured->min == sum && measured->max == sum))
		return true;
	snprintf(err, errlen, "stages: those of a %s take %llu ps, but %llu to %llu ps were measured",
		 stages_kind_name(r->kind), (unsigned long long)sum, (unsigned long long)measured->min,
		 (unsigned long long)measured->max);
	return false;
}

/** What a client calls its operations. */
static enum stage_kind stage_kind_of(int kind)
{
	switch (kind) {
	case MF_CLIENT_READ:
	case MF_CLIENT_CALL:
		return STAGE_READ;
	case MF_CLIENT_WRITE:
		return STAGE_WRITE;
	case MF_CLIENT_WRITE_ACK:
		return STAGE_WRITE_ACK;
	default:
		return STAGE_ATOMIC;
	}
}

bool stages_sound(const struct mf_fabric *f, char *err, size_t errlen)
{
	const struct stage_log *log = f->stages;

	if (log->broken + log->differ > 0) {
		snprintf(err, errlen,
			 "stages: %llu operations with gaps, %llu that differ; they need an idle fabric, one "
			 "operation at a time",
			 (unsigned long long)log->broken, (unsigned long long)log->differ);
		return false;
	}
	for (unsigned int i = 0; i < f->nodes; i++)
		for (int k = 0; f->node[i].client != NULL && k < MF_CLIENT_KINDS; k++)
			if (k != MF_CLIENT_WRITE &&
			    !add_up(&log->last[stage_kind_of(k)],
				    &mf_client_stats(f->node[i].client)->kind[k].latency, err, errlen))
				return false;
	return log->count[STAGE_WRITE] == 0 ||
	       add_up(&log->last[STAGE_WRITE], &f->delivery->effect, err, errlen);
}
