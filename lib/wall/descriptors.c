/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch and scheduler on different lcores: descriptors cross one way, grants the other, in bursts (D19). */
#include "base/mf_cycles.h"
#include "wall/channel.h"

unsigned int wall_take_grants(struct wall_switch *s, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	burst b;
	unsigned int n = crossing_take(s->to_switch, b);

	if (n == 0)
		return 0;
	n /= words(r->channel->in);
	mf_item_date(r->channel->in, b, n, now); /* as spans are: dated by the call */
	role_give(r, now, b, n);
	return n;
}

void wall_tell_sched(struct wall_switch *s, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	const struct mf_item *item;
	unsigned int room, n;
	burst b;

	if (r->channel == NULL) /* a switch of frames */
		return;
	item = r->channel->out;
	while ((room = burst_room(s->to_sched, item)) > 0) {
		n = role_take(r, now, b, room);
		if (n > 0)
			crossing_put(s->to_sched, b, n * words(item));
		if (n < room)
			break;
	}
}

unsigned int wall_poll_sched(struct wall_switch *s, struct role *r, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	const struct mf_item *out = r->channel->out;
	unsigned int room = burst_room(s->to_switch, out), n, work;
	burst b;

	/* While grants cannot leave, nothing is matched: what was taken in would find no room. */
	if (room == 0)
		return 0;
	work = crossing_take(s->to_sched, b);
	if (work > 0) {
		work /= words(r->channel->in);
		role_give(r, now, b, work);
	} else if (r->next > now) {
		return 0;
	}
	do {
		n = role_take(r, now, b, room);
		if (n > 0)
			crossing_put(s->to_switch, b, n * words(out));
		work += n;
	} while (n == room && (room = burst_room(s->to_switch, out)) > 0);
	role_matched(r);
	return work;
}
