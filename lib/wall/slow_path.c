/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory node and its slow path. On one lcore the slow path's turn hands over both ways; on different ones
 * items cross, and each takes and gives them in its own turn.
 */
#include "base/mf_cycles.h"
#include "wall/channel.h"

/*
 * While other roles of its lcore have work, a slow path goes on in one of BUSY_TURNS turns, for BUSY_STEPS
 * steps. An access takes up to three turns, of some hundred ns each. So it waits for one such slice at most.
 */
#define BUSY_TURNS 4
#define BUSY_STEPS 4

/** Sends what a role has, as much as there is room for. @param most  items; steps of a slow path */
static unsigned int send(struct role *r, struct crossing *to, mf_time now, unsigned int most)
{
	MF_CYCLES(MF_CYCLES_RING);
	const struct mf_item *item = r->channel->out;
	unsigned int room = burst_room(to, item), n;
	burst b;

	if (room == 0)
		return 0;
	n = role_take(r, now, b, room < most ? room : most);
	if (n > 0)
		crossing_put(to, b, n * words(item));
	return n;
}

/** Takes a burst of what has come for a role. */
static unsigned int take(struct role *r, struct crossing *from, mf_time now)
{
	MF_CYCLES(MF_CYCLES_RING);
	burst b;
	unsigned int n = crossing_take(from, b) / words(r->channel->in);

	role_give(r, now, b, n);
	return n;
}

unsigned int wall_exchange_memory(struct wall *w, struct role *r, mf_time now)
{
	struct wall_memory *m = &w->memory[r->index];

	return take(r, m->to_node, now) + send(r, m->to_slow, now, BURST);
}

/** A slice of its work, and what comes of it. */
static unsigned int slice(struct wall_memory *m, struct role *r, mf_time now, unsigned int steps)
{
	uint64_t items[BURST * MF_ITEM_WORDS];
	unsigned int n;

	if (m->to_node != NULL) {
		n = send(r, m->to_node, now, steps);
	} else {
		n = role_take(r, now, items, steps);
		role_give(m->node, now, items, n);
	}
	role_slow_asked(r);
	return n;
}

unsigned int wall_poll_slow(struct wall *w, struct role *r, mf_time now, bool busy)
{
	struct wall_memory *m = &w->memory[r->index];
	uint64_t items[BURST * MF_ITEM_WORDS];
	unsigned int work;

	if (busy && ++m->waited < BUSY_TURNS)
		return 1;
	m->waited = 0;
	if (m->to_slow != NULL) {
		work = take(r, m->to_slow, now);
	} else {
		work = role_take(m->node, now, items, BURST);
		role_give(r, now, items, work);
	}
	if (work > 0 || r->next <= now)
		work += slice(m, r, now, busy ? BUSY_STEPS : BURST);
	if (r->next > now) /* it rests: what comes next need not wait */
		m->waited = BUSY_TURNS - 1;
	return work + (r->next <= now);
}
