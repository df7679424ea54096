/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes under the wall clock. Each switch has routes of its own, and changes them in its own turn, so that
 * no lcore waits for another one and a record of the switch says when it heard of a link. A link is up if it
 * is up at both ends. A process knows the ends of its own roles only: where another process loses a link
 * between two of its switches, or to a node, the frames are thrown away there.
 */
#include "wall/link_end.h"

void wall_routes_news(struct wall *w)
{
	if (w->f->routes != NULL)
		atomic_fetch_add_explicit(&w->route_news, 1, memory_order_release);
}

static bool is_up(const struct wall *w, uint32_t link)
{
	const uint32_t *end = w->f->graph->link[link].end;

	return wall_end_up(&w->end[end[0]]) && wall_end_up(&w->end[end[1]]);
}

void wall_routes_look(struct wall *w, struct wall_switch *s, mf_time now)
{
	const struct mf_routes *own = w->f->sw[s->sw->index].routes;

	/* First the number: what is told after it was read is another one. */
	s->routes_seen = atomic_load_explicit(&w->route_news, memory_order_acquire);
	for (uint32_t i = 0; own != NULL && i < w->f->graph->links; i++) { /* NULL: EDM's, which has none */
		struct role_route route = {.link = i, .up = is_up(w, i)};

		if (route.up != mf_routes_up(own, i))
			role_route(s->sw, &route, now);
	}
}
