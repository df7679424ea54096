/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest of a node: one for all queues there, since whoever asks a host gets all that has completed. It
 * stays when the last of them is gone, to the end of the session: what is lost until there is another one is
 * counted, and stands in the history.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>

#include "client/client.h"
#include "linear/mf_history.h"
#include "systems/mf_node.h"

#define BURST 32

struct seat {
	struct mf_guest guest; /**< first: the engine's pointer is ours */
	struct mf_session *session;
	unsigned int node;
	struct mf_node *host; /**< NULL: it has not had a turn yet */
	atomic_uint lost[MF_PORTS_MAX]; /**< of each target, how often; written in a turn */
	struct memfab_queue *queue; /**< whose turn is next, in a circle; NULL: none. The session's lock */
	struct memfab_queue
		*halfway; /**< the host had no room for all of its operation; NULL: none. The same */
	struct seat *next;
	struct mf_history_log *log; /**< NULL: nothing is recorded */
	bool cuts; /**< some of cut[] is set */
	bool cut[MF_PORTS_MAX]; /**< the node was lost since the last turn */
};

static pthread_mutex_t seats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct seat *seats;

struct mf_session *seat_session(const struct seat *s)
{
	return s->session;
}

unsigned int seat_node(const struct seat *s)
{
	return s->node;
}

static unsigned int take_completions(struct mf_node *host, mf_time now)
{
	struct mf_completion c[BURST];
	unsigned int n, all = 0;

	do {
		n = mf_node_completions(host, now, c, BURST);
		for (unsigned int i = 0; i < n; i++)
			queue_completed(&c[i]);
		all += n;
	} while (n == BURST);
	return all;
}

/** In front of all completions of what comes from there now. */
static void lost(void *ctx, uint16_t node)
{
	struct seat *s = ctx;

	atomic_fetch_add_explicit(&s->lost[node], 1, memory_order_release);
	if (unlikely(s->log != NULL))
		s->cut[node] = s->cuts = true;
}

unsigned int seat_lost(const struct seat *s, unsigned int node)
{
	return atomic_load_explicit(&s->lost[node], memory_order_acquire);
}

/** Records nodes that were lost, in front of the operations that complete for it. */
static void record_cuts(struct seat *s, mf_time now)
{
	for (uint16_t node = 0; node < MF_PORTS_MAX; node++) {
		if (s->cut[node])
			mf_history_cut(s->log, (uint16_t)s->node, node, now);
		s->cut[node] = false;
	}
	s->cuts = false;
}

/**
 * When the host has room for few, another queue is the first one each time. What was begun in part goes
 * before: what a node asks of another one takes effect in the order in which it was begun, whatever queue it
 * is of.
 */
static unsigned int run(struct mf_guest *g, struct mf_node *host, mf_time now)
{
	struct seat *s = (struct seat *)g;
	struct memfab_queue *first = s->queue, *q = first;
	unsigned int work;

	if (unlikely(s->host == NULL)) {
		s->host = host;
		mf_node_on_restart(host, lost, s);
	}
	if (unlikely(s->cuts))
		record_cuts(s, now);
	work = take_completions(host, now);
	if (first == NULL || (s->halfway != NULL && !queue_go_on(s->halfway, host, now)))
		return work;
	work += s->halfway != NULL;
	s->halfway = NULL;
	do {
		work += queue_begin(q, host, now);
		if (q->halfway != NULL)
			s->halfway = q;
		q = q->next;
	} while (q != first && s->halfway == NULL);
	s->queue = first->next;
	return work;
}

static struct seat *find(const struct mf_session *session, unsigned int node)
{
	struct seat *s = seats;

	while (s != NULL && (s->session != session || s->node != node))
		s = s->next;
	return s;
}

/** The session ends, and with it all seats there. */
static void leave_all(struct mf_session *session)
{
	pthread_mutex_lock(&seats_lock);
	for (struct seat **at = &seats; *at != NULL;) {
		struct seat *s = *at;

		if (s->session != session) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		mf_session_unseat(s->session, s->node, &s->guest);
		if (s->host != NULL)
			mf_node_on_restart(s->host, NULL, NULL);
		free(s);
	}
	pthread_mutex_unlock(&seats_lock);
}

static int new_seat(struct mf_session *session, unsigned int node, struct seat **out)
{
	struct seat *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->guest.run = run;
	s->session = session;
	s->node = node;
	s->log = mf_session_history(session, node);
	rc = mf_session_seat(session, node, &s->guest);
	if (rc != 0) {
		free(s);
		return rc;
	}
	mf_session_at_end(session, leave_all);
	s->next = seats;
	seats = s;
	*out = s;
	return 0;
}

static void join(struct seat *s, struct memfab_queue *q)
{
	mf_session_lock(s->session);
	if (s->queue == NULL)
		s->queue = q->next = q;
	q->next = s->queue->next;
	s->queue->next = q;
	mf_session_unlock(s->session);
}

void seat_leave(struct memfab_queue *q)
{
	struct seat *s = q->seat;
	struct memfab_queue *before = q;

	mf_session_lock(s->session);
	while (before->next != q)
		before = before->next;
	before->next = q->next;
	if (s->halfway == q)
		s->halfway = NULL;
	if (s->queue == q)
		s->queue = q->next != q ? q->next : NULL;
	mf_session_unlock(s->session);
}

int seat_take(struct memfab *m, unsigned int node, struct memfab_queue *q)
{
	struct seat *s;
	int rc = 0;

	pthread_mutex_lock(&seats_lock);
	s = find(m->session, node);
	if (s == NULL)
		rc = new_seat(m->session, node, &s);
	if (rc == 0) {
		q->seat = s;
		join(s, q);
	}
	pthread_mutex_unlock(&seats_lock);
	return rc;
}
