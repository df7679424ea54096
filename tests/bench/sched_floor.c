/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left of a scheduler without scheduling: messages are taken in, what is outstanding is kept, and
 * every demand is granted chunk by chunk, as it came. No queue, no priority, no matching: two grants of a
 * round may be of one port.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "sched_floor.h"

#define PORTS_MAX 512
#define ROOM (MF_SCHED_PENDING * PORTS_MAX)

struct forwarded {
	uint16_t src, dst;
	uint32_t size;
};

struct mf_sched {
	uint32_t chunk;
	uint32_t forwards, demands, at; /**< at: of the demands, in the round under way */
	uint32_t kept;
	uint32_t outstanding[2][PORTS_MAX];
	struct mf_sched_stats stats;
	struct forwarded forwarded[ROOM];
	struct mf_sched_msg demand[ROOM];
};

static struct mf_sched *floor_create(const struct mf_sched_config *config)
{
	struct mf_sched *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->chunk = config->chunk;
	return s;
}

static void floor_destroy(struct mf_sched *s)
{
	free(s);
}

static unsigned int floor_inputs(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct mf_sched_msg *m = msgs + i;

		if (s->forwards == ROOM || s->demands == ROOM) {
			s->stats.refused++;
			return i;
		}
		if (m->kind == MF_SCHED_FORWARDED)
			s->forwarded[s->forwards++] = (struct forwarded){m->src, m->dst, m->size};
		else
			s->demand[s->demands++] = *m;
	}
	return n;
}

static int floor_input(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	return floor_inputs(s, msg, 1) == 1 ? 0 : -ENOBUFS;
}

static void release(struct mf_sched *s)
{
	for (const struct forwarded *f = s->forwarded; f < s->forwarded + s->forwards; f++) {
		s->outstanding[0][f->src] -= f->size;
		s->outstanding[1][f->dst] -= f->size;
	}
	s->forwards = 0;
}

static void grant(struct mf_sched *s, mf_time now, struct mf_sched_msg *m, struct mf_sched_grant *g)
{
	uint32_t size = m->size < s->chunk ? m->size : s->chunk;

	*g = (struct mf_sched_grant){.at = now,
				     .since = m->at,
				     .src = m->src,
				     .dst = m->dst,
				     .id = m->id,
				     .resp = m->resp,
				     .first = !m->behind,
				     .last = size == m->size,
				     .size = size,
				     .cookie = m->cookie,
				     .iteration = 1};
	s->outstanding[0][m->src] += size;
	s->outstanding[1][m->dst] += size;
	m->behind = 1; /* it has begun */
	m->size -= size;
}

static unsigned int floor_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
			      unsigned int max)
{
	unsigned int n = 0;

	release(s);
	for (; s->demands != 0; s->demands = s->kept, s->at = s->kept = 0)
		for (; s->at < s->demands; s->at++) {
			struct mf_sched_msg *m = &s->demand[s->at];

			if (n == max)
				return n;
			grant(s, now, m, &grants[n++]);
			s->demand[s->kept] = *m;
			s->kept += m->size != 0;
		}
	return n;
}

static mf_time floor_next(const struct mf_sched *s)
{
	return s->forwards + s->demands != 0 ? 0 : MF_NEVER;
}

static void floor_stats(const struct mf_sched *s, struct mf_sched_stats *out)
{
	*out = s->stats;
}

const struct mf_sched_ops sched_floor = {.name = "floor",
					 .create = floor_create,
					 .destroy = floor_destroy,
					 .input = floor_input,
					 .inputs = floor_inputs,
					 .run = floor_run,
					 .next = floor_next,
					 .stats = floor_stats};
