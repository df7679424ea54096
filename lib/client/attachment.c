/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The embedded client of a node. All queues there share it, since one call of the host takes all completions.
 * It stays when the last queue is closed, to the end of the session: it counts the losses of targets until
 * another queue is opened, and writes them into the history.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_branch_prediction.h>

#include "client/client.h"
#include "linear/mf_history.h"
#include "memory/mf_space.h"
#include "systems/mf_layer.h"

#define BURST 32

struct attachment {
	struct mf_embedded_client embedded; /**< first: the engine's pointer is ours */
	struct mf_session *session;
	unsigned int node;
	struct mf_below below; /**< what it asks; host NULL: it has not had a turn yet */
	atomic_uint lost[MF_NODES_MAX]; /**< of each target, how often; written in a turn */
	struct memfab_queue *queue; /**< whose turn is next, in a circle; NULL: none. The session's lock */
	struct memfab_queue
		*halfway; /**< the host had no room for all of its operation; NULL: none. The same */
	struct attachment *next;
	uint64_t spaces[(1 << MF_SPACE_OF_NODE_BITS) / 64]; /**< numbers that are used; attachments_lock */
	struct mf_history_log *log; /**< NULL: nothing is recorded */
	bool cuts; /**< some of cut[] is set */
	bool cut[MF_NODES_MAX]; /**< the node was lost since the last turn */
};

static pthread_mutex_t attachments_lock = PTHREAD_MUTEX_INITIALIZER;
static struct attachment *attachments;

struct mf_session *attachment_session(const struct attachment *s)
{
	return s->session;
}

unsigned int attachment_node(const struct attachment *s)
{
	return s->node;
}

static unsigned int take_completions(const struct mf_below *below, mf_time now)
{
	struct mf_completion c[BURST];
	unsigned int n, all = 0;

	do {
		n = mf_below_completions(below, now, c, BURST);
		for (unsigned int i = 0; i < n; i++)
			queue_completed(&c[i]);
		all += n;
	} while (n == BURST);
	return all;
}

/** In front of all completions of what comes from there now. */
static void lost(void *ctx, uint16_t node)
{
	struct attachment *s = ctx;

	atomic_fetch_add_explicit(&s->lost[node], 1, memory_order_release);
	if (unlikely(s->log != NULL))
		s->cut[node] = s->cuts = true;
}

unsigned int attachment_lost(const struct attachment *s, unsigned int node)
{
	return atomic_load_explicit(&s->lost[node], memory_order_acquire);
}

uint32_t attachment_space_take(struct attachment *s)
{
	uint32_t number = 0;

	pthread_mutex_lock(&attachments_lock);
	for (uint32_t i = 0; i < 1 << MF_SPACE_OF_NODE_BITS && number == 0; i += 64) {
		uint64_t idle = ~s->spaces[i / 64] & (i == 0 ? ~UINT64_C(1) : UINT64_MAX); /* 0 is none */

		if (idle != 0)
			number = i + (uint32_t)__builtin_ctzll(idle);
	}
	s->spaces[number / 64] |= UINT64_C(1) << number % 64;
	pthread_mutex_unlock(&attachments_lock);
	return number;
}

void attachment_space_give(struct attachment *s, uint32_t number)
{
	pthread_mutex_lock(&attachments_lock);
	s->spaces[number / 64] &= ~(UINT64_C(1) << number % 64);
	pthread_mutex_unlock(&attachments_lock);
}

/** Records nodes that were lost, in front of the operations that complete for it. */
static void record_cuts(struct attachment *s, mf_time now)
{
	for (uint16_t node = 0; node < MF_NODES_MAX; node++) {
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
static unsigned int run(struct mf_embedded_client *g, struct mf_node *host, mf_time now)
{
	struct attachment *s = (struct attachment *)g;
	struct memfab_queue *first = s->queue, *q = first;
	unsigned int work;

	if (unlikely(s->below.host == NULL)) {
		s->below = (struct mf_below){.host = host, .layer = g->layer};
		mf_below_on_restart(&s->below, lost, s);
	}
	if (unlikely(s->cuts))
		record_cuts(s, now);
	work = take_completions(&s->below, now);
	if (first == NULL || (s->halfway != NULL && !queue_go_on(s->halfway, &s->below, now)))
		return work;
	work += s->halfway != NULL;
	s->halfway = NULL;
	do {
		work += queue_begin(q, &s->below, now);
		if (q->halfway != NULL)
			s->halfway = q;
		q = q->next;
	} while (q != first && s->halfway == NULL);
	s->queue = first->next;
	return work;
}

static struct attachment *find(const struct mf_session *session, unsigned int node)
{
	struct attachment *s = attachments;

	while (s != NULL && (s->session != session || s->node != node))
		s = s->next;
	return s;
}

/** The session ends, and with it all attachments there. */
static void leave_all(struct mf_session *session)
{
	pthread_mutex_lock(&attachments_lock);
	for (struct attachment **at = &attachments; *at != NULL;) {
		struct attachment *s = *at;

		if (s->session != session) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		mf_session_detach(s->session, s->node, &s->embedded);
		if (s->below.host != NULL)
			mf_below_on_restart(&s->below, NULL, NULL);
		free(s);
	}
	pthread_mutex_unlock(&attachments_lock);
}

static int new_attachment(struct mf_session *session, unsigned int node, struct attachment **out)
{
	struct attachment *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->embedded.run = run;
	s->session = session;
	s->node = node;
	s->log = mf_session_history(session, node);
	rc = mf_session_attach(session, node, &s->embedded);
	if (rc != 0) {
		free(s);
		return rc;
	}
	mf_session_at_end(session, leave_all);
	s->next = attachments;
	attachments = s;
	*out = s;
	return 0;
}

static void join(struct attachment *s, struct memfab_queue *q)
{
	mf_session_lock(s->session);
	if (s->queue == NULL)
		s->queue = q->next = q;
	q->next = s->queue->next;
	s->queue->next = q;
	mf_session_unlock(s->session);
}

void attachment_leave(struct memfab_queue *q)
{
	struct attachment *s = q->attachment;
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

int attachment_take(struct memfab *m, unsigned int node, struct memfab_queue *q)
{
	struct attachment *s;
	int rc = 0;

	pthread_mutex_lock(&attachments_lock);
	s = find(m->session, node);
	if (s == NULL)
		rc = new_attachment(m->session, node, &s);
	if (rc == 0) {
		q->attachment = s;
		join(s, q);
	}
	pthread_mutex_unlock(&attachments_lock);
	return rc;
}
