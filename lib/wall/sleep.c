/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a fabric that a program turns needs its next turn, so that the program may sleep until then.
 *
 * What roles and links know of time is exact: their timers. What comes by a port is known at once where the
 * port has a descriptor for it (wall/ports/wake.c). Where it has none, as a memif, the thread has to look. It
 * looks the less often, the longer there has been nothing to do: what comes waits for a fraction of the time
 * that it was missing, and for POLL_MAX at most.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "wall/ports/mf_port.h"

#define SPIN MF_US(200) /**< since the last work: so long somebody who waits for an answer does not sleep */
#define FRACTION 8 /**< of the time since the last work */
#define POLL_MIN MF_US(50)
#define POLL_MAX MF_MS(4)

static bool switch_sends(struct mf_sw *sw, unsigned int ports)
{
	const uint64_t *set = mf_sw_tx_set(sw);

	for (unsigned int k = 0; k < (ports + 63) / 64; k++)
		if (set[k] != 0)
			return true;
	return false;
}

static bool node_sends(const struct wall *w, const struct role *r)
{
	unsigned int ends = r->kind == ROLE_ENDS ? w->f->graph->role[r->index].ends : 1;

	for (unsigned int k = 0; k < ends; k++)
		if (role_tx_waits(r, k))
			return true;
	return false;
}

/** Whether a link of a role keeps a rate and a length: what is on its way there is due without a timer. */
static bool is_shaped(const struct wall *w, const struct role *r)
{
	unsigned int ends = role_is_node(r) ? w->f->graph->role[r->index].ends : 0;

	for (uint32_t e = r->first_end; e < r->first_end + ends; e++)
		if (w->line[e].shaper != NULL || wall_in(w, e)->shaper != NULL)
			return true;
	return false;
}

/** @param now  time of the run. @return of the run; 0: at once */
static mf_time role_due(const struct wall *w, const struct role *r, mf_time now)
{
	mf_time due;

	switch (r->kind) {
	case ROLE_PORT:
		due = port_next(r->carrier);
		return due != MF_NEVER ? now + (due - mf_time_min(due, port_now(w))) : MF_NEVER;
	case ROLE_SWITCH:
		return switch_sends(r->sw, w->sw[r->index].ports) ? 0 : mf_sw_next(r->sw);
	case ROLE_SCHED:
	case ROLE_SLOW:
		return r->next;
	default:
		if (r->given || node_sends(w, r))
			return 0;
		return mf_time_min(r->next, mf_below_next(&w->f->node[r->index].below));
	}
}

/** Whether a program waits for an answer. */
static bool is_asking(const struct wall *w)
{
	const struct mf_fabric *f = w->f;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].embedded != NULL && mf_node_outstanding(f->node[i].host) > 0)
			return true;
	return false;
}

/** Until the fabric is looked at again, whatever its timers say. @param wants  something waits */
static mf_time patience(const struct wall *w, bool wants, mf_time now)
{
	mf_time idle = now - mf_time_min(w->worked, now);

	if (wants && idle < SPIN)
		return 0;
	return mf_time_min(mf_time_max(idle / FRACTION, POLL_MIN), POLL_MAX);
}

mf_time wall_next(const struct wall *w, mf_time now)
{
	const struct wall_lcore *l = &w->lcore[0];
	bool deaf = w->faults != NULL;
	mf_time due = MF_NEVER;

	for (unsigned int i = 0; i < l->roles; i++) {
		const struct role *r = l->role[i];

		due = mf_time_min(due, role_due(w, r, now));
		deaf |= r->kind == ROLE_PORT ? !port_wakes(r->carrier) : is_shaped(w, r);
	}
	if (w->loads)
		due = mf_time_min(due, w->next_look);
	/* What is due, and yet found nothing to do, waits for something: room at a port, a link. */
	if (due <= now)
		return now + patience(w, true, now);
	return deaf ? mf_time_min(due, now + patience(w, is_asking(w), now)) : due;
}

int wall_wake_fd(struct wall *w)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (w->wake != 0)
		return w->wake - 1;
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->timer < 0)
		return -errno;
	w->wake = epoll_create1(EPOLL_CLOEXEC) + 1;
	if (w->wake == 0 || epoll_ctl(w->wake - 1, EPOLL_CTL_ADD, w->timer, &event) != 0) {
		int err = -errno;

		wall_wake_end(w);
		return err;
	}
	return w->wake - 1;
}

void wall_wake_end(struct wall *w)
{
	if (w->timer > 0)
		close(w->timer);
	if (w->wake != 0)
		close(w->wake - 1);
	w->timer = w->wake = 0;
}

void wall_wake_arm(struct wall *w)
{
	const struct wall_lcore *l = &w->lcore[0];
	struct epoll_event event = {.events = EPOLLIN};

	for (unsigned int i = 0; i < l->roles && w->wake != 0; i++) {
		struct wall_port *p = l->role[i]->kind == ROLE_PORT ? l->role[i]->carrier : NULL;
		int fd = p != NULL ? port_wake_new(p) : -1;

		if (fd >= 0)
			epoll_ctl(w->wake - 1, EPOLL_CTL_ADD, fd, &event);
		if (p != NULL)
			port_wake_arm(p);
	}
}

void wall_alarm(struct wall *w, mf_time by)
{
	mf_time ns = mf_time_max(by / 1000, 1);
	struct itimerspec at = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}};

	if (by == MF_NEVER)
		at = (struct itimerspec){0};
	if (w->wake != 0)
		timerfd_settime(w->timer, 0, &at, NULL);
}

void wall_sleep(struct wall *w, mf_time by)
{
	const struct wall_lcore *l = &w->lcore[0];

	for (unsigned int i = 0; i < l->roles && by != MF_NEVER; i++)
		if (l->role[i]->kind == ROLE_PORT)
			port_sleep(l->role[i]->carrier, port_now(w) + by);
}
