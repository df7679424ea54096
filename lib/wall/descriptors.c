/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch and scheduler on different lcores: descriptors cross one way, grants the other, in bursts (D19). */
#include "base/mf_cycles.h"
#include "record/mf_record.h"
#include "wall/wall.h"

#define BURST RECORD_ITEMS_MAX

/** A burst of descriptors or of grants, as it crosses. */
union burst {
	struct mf_sched_msg msg[BURST];
	struct mf_sched_grant grant[BURST];
	uint64_t word[BURST * sizeof(struct mf_sched_grant) / sizeof(uint64_t) + CELL_WORDS];
};

#define WORDS(type) (sizeof(type) / sizeof(uint64_t))
static_assert(sizeof(struct mf_sched_msg) % sizeof(uint64_t) == 0 &&
		      sizeof(struct mf_sched_grant) % sizeof(uint64_t) == 0,
	      "they cross by words");

/** Room for a whole burst of items of so many words, or for fewer. @return items */
static inline unsigned int burst_room(struct crossing *c, unsigned int words)
{
	unsigned int cells = CROSSING_CELLS(BURST * words), room = crossing_room(c, cells);

	return room >= cells ? BURST : room * CELL_WORDS / words;
}

unsigned int wall_take_grants(struct wall_net *net, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	union burst b;
	unsigned int n = crossing_take(net->to_switch, b.word) / WORDS(struct mf_sched_grant);

	for (unsigned int i = 0; i < n; i++) {
		b.grant[i].at = now; /* as spans are: dated by the call */
		role_grant(r, now, &b.grant[i]);
	}
	return n;
}

void wall_tell_sched(struct wall_net *net, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	unsigned int room, n;
	union burst b;

	while ((room = burst_room(net->to_sched, WORDS(struct mf_sched_msg))) > 0) {
		n = role_to_sched(r, now, b.msg, room);
		if (n > 0)
			crossing_put(net->to_sched, b.word, n * WORDS(struct mf_sched_msg));
		if (n < room)
			break;
	}
}

unsigned int wall_poll_sched(struct wall_net *net, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	unsigned int room = burst_room(net->to_switch, WORDS(struct mf_sched_grant)), n, work;
	union burst b;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (room == 0)
		return 0;
	work = crossing_take(net->to_sched, b.word) / WORDS(struct mf_sched_msg);
	role_inputs(r, now, b.msg, work);
	if (work == 0 && r->next > now)
		return 0;
	do {
		n = role_match(r, now, b.grant, room);
		if (n > 0)
			crossing_put(net->to_switch, b.word, n * WORDS(struct mf_sched_grant));
		work += n;
	} while (n == room && (room = burst_room(net->to_switch, WORDS(struct mf_sched_grant))) > 0);
	role_matched(r);
	return work;
}
