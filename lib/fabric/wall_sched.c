/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch and scheduler on different lcores: descriptors cross one way, grants the other (D19). */
#include "mf_cycles.h"
#include "record.h"
#include "wall.h"

#define DESCRIPTORS RECORD_ITEMS_MAX

unsigned int wall_take_grants(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_grant grant;
	unsigned int n;

	for (n = 0; n < DESCRIPTORS && crossing_take(w->to_switch, &grant, sizeof(grant)); n++) {
		grant.at = now; /* as spans are: dated by the call */
		role_grant(r, now, &grant);
	}
	return n;
}

void wall_tell_sched(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_msg msg[DESCRIPTORS];
	unsigned int room, n;

	while ((room = crossing_room(w->to_sched, DESCRIPTORS)) > 0) {
		n = role_to_sched(r, now, msg, RTE_MIN(room, (unsigned int)DESCRIPTORS));
		for (unsigned int i = 0; i < n; i++)
			crossing_put(w->to_sched, &msg[i], sizeof(msg[i]));
		if (n < DESCRIPTORS)
			break;
	}
}

unsigned int wall_poll_sched(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int room, n, work = 0;
	struct mf_sched_msg msg;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (crossing_room(w->to_switch, 1) == 0)
		return 0;
	for (; work < DESCRIPTORS && crossing_take(w->to_sched, &msg, sizeof(msg)); work++)
		role_input(r, now, &msg);
	if (work == 0 && r->next > now)
		return 0;
	while ((room = crossing_room(w->to_switch, DESCRIPTORS)) > 0) {
		room = RTE_MIN(room, (unsigned int)DESCRIPTORS);
		n = role_match(r, now, grant, room);
		for (unsigned int i = 0; i < n; i++)
			crossing_put(w->to_switch, &grant[i], sizeof(grant[i]));
		work += n;
		if (n < room)
			break;
	}
	return work;
}
