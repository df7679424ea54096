/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch and scheduler on different lcores: descriptors one way, grants the other, in rings (D19). */
#include <rte_ring.h>

#include "mf_cycles.h"
#include "record.h"
#include "wall.h"

#define DESCRIPTORS RECORD_ITEMS_MAX

unsigned int wall_take_grants(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int n =
		rte_ring_sc_dequeue_burst_elem(w->to_switch, grant, sizeof(grant[0]), DESCRIPTORS, NULL);

	for (unsigned int i = 0; i < n; i++) {
		grant[i].at = now; /* as spans are: dated by the call */
		role_grant(r, now, &grant[i]);
	}
	return n;
}

void wall_tell_sched(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_msg msg[DESCRIPTORS];
	unsigned int room, n;

	while ((room = rte_ring_free_count(w->to_sched)) > 0) {
		n = role_to_sched(r, now, msg, RTE_MIN(room, (unsigned int)DESCRIPTORS));
		rte_ring_sp_enqueue_bulk_elem(w->to_sched, msg, sizeof(msg[0]), n, NULL);
		if (n < DESCRIPTORS)
			break;
	}
}

unsigned int wall_poll_sched(struct wall *w, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	struct mf_sched_msg msg[DESCRIPTORS];
	struct mf_sched_grant grant[DESCRIPTORS];
	unsigned int room, n, work;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (rte_ring_free_count(w->to_switch) == 0)
		return 0;
	n = work = rte_ring_sc_dequeue_burst_elem(w->to_sched, msg, sizeof(msg[0]), DESCRIPTORS, NULL);
	for (unsigned int i = 0; i < n; i++)
		role_input(r, now, &msg[i]);
	if (n == 0 && r->next > now)
		return 0;
	while ((room = rte_ring_free_count(w->to_switch)) > 0) {
		room = RTE_MIN(room, (unsigned int)DESCRIPTORS);
		n = role_match(r, now, grant, room);
		rte_ring_sp_enqueue_bulk_elem(w->to_switch, grant, sizeof(grant[0]), n, NULL);
		work += n;
		if (n < room)
			break;
	}
	return work;
}
