/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/mf_counter.h"
#include "base/mf_table.h"
#include "systems/cxl/cxl_link_priv.h"

int cxl_link_init(struct cxl_link *l, const struct cxl_link_config *config)
{
	*l = (struct cxl_link){.config = *config,
			       .replay_at = MF_NEVER,
			       .arrival = MF_NEVER,
			       .ask_at = config->replay_timeout}; /* tell_at: 0, the first thing to do */
	memcpy(l->freed, config->buffers, sizeof(l->freed));
	l->replay = mf_table_new(config->replay, config->format->words * sizeof(*l->replay));
	return l->replay != NULL ? 0 : -ENOMEM;
}

void cxl_link_fini(struct cxl_link *l)
{
	mf_table_free(l->replay);
}

void cxl_link_replay(struct cxl_link *l, mf_time now)
{
	if (l->acked == l->next) {
		l->replay_at = MF_NEVER;
		return;
	}
	l->resend = l->acked;
	l->replay_at = now + l->config.replay_timeout;
	l->stats.replays++;
}

void cxl_link_run(struct cxl_link *l, mf_time now)
{
	if (l->replay_at <= now) {
		l->stats.timeouts++;
		cxl_link_replay(l, now);
	}
	if (l->ask_at <= now) {
		l->ask = true;
		l->ask_at = now + l->config.replay_timeout;
	}
}

void cxl_link_freed(struct cxl_link *l, enum cxl_class class, mf_time now)
{
	unsigned int some = (l->config.buffers[class] + 3u) / 4;

	l->held[class]--;
	l->freed[class]++;
	cxl_tell(l, cxl_untold(l, class) >= some ? now : now + l->config.tell_delay);
}

void cxl_link_add(struct cxl_link_stats *sum, const struct cxl_link_stats *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

unsigned int cxl_link_counters(const struct cxl_link_stats *s, struct mf_counter *out)
{
	const struct mf_counter all[] = {mf_counter_sum("flits", s->flits),
					 mf_counter_sum("data_flits", s->data_flits),
					 mf_counter_sum("control_flits", s->control_flits),
					 mf_counter_sum("received", s->received),
					 mf_counter_sum("requests", s->messages[CXL_REQ]),
					 mf_counter_sum("requests_with_data", s->messages[CXL_RWD]),
					 mf_counter_sum("responses", s->messages[CXL_NDR]),
					 mf_counter_sum("data_responses", s->messages[CXL_DRS]),
					 mf_counter_sum("starved", s->starved),
					 mf_counter_sum("asked", s->asked),
					 mf_counter_sum("naks", s->naks),
					 mf_counter_sum("replays", s->replays),
					 mf_counter_sum("replay_timeouts", s->timeouts),
					 mf_counter_sum("replayed", s->replayed),
					 mf_counter_sum("duplicates", s->duplicates),
					 mf_counter_sum("drop_crc", s->drop_crc),
					 mf_counter_sum("drop_sequence", s->drop_sequence),
					 mf_counter_sum("drop_message", s->drop_message),
					 mf_counter_sum("drop_credit", s->drop_credit)};

	memcpy(out, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}
