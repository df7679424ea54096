/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's side of a queue. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/mf_rng.h"
#include "client/history.h"

#define PATIENCE 64 /* turns without work before others get the CPU: they may be who has to answer (D20) */

static int first_compute(const struct memfab *m)
{
	for (unsigned int i = 0; i < m->config->slots; i++)
		if (m->config->node[i].up && m->config->node[i].compute)
			return (int)i;
	return -ENOENT;
}

static int find_node(const struct memfab *m, const char *name, char *err, size_t errlen)
{
	int node;

	if (name == NULL)
		name = m->only;
	node = name != NULL ? mf_session_node(m->session, name) : first_compute(m);
	if (node < 0)
		snprintf(err, errlen,
			 name != NULL ? "there is no node '%s' in this process" : "no node computes", name);
	else if (!m->config->node[node].compute)
		snprintf(err, errlen, "'%s' is no compute node", m->config->node[node].name);
	else
		return node;
	return node < 0 ? node : -EINVAL;
}

static void free_memory(struct memfab_queue *q)
{
	queue_history_free(q);
	free(q->slot);
	free(q->sq);
	free(q->cq);
	free(q->idle);
	free(q);
}

static struct memfab_queue *new_memory(uint32_t entries)
{
	struct memfab_queue *q = aligned_alloc(CLIENT_LINE, sizeof(*q));

	if (q == NULL)
		return NULL;
	memset(q, 0, sizeof(*q));
	q->mask = entries - 1;
	q->slot = aligned_alloc(CLIENT_LINE, entries * sizeof(*q->slot));
	q->sq = calloc(entries, sizeof(*q->sq));
	q->cq = calloc(entries, sizeof(*q->cq));
	q->idle = calloc(entries, sizeof(*q->idle));
	if (q->slot == NULL || q->sq == NULL || q->cq == NULL || q->idle == NULL) {
		free_memory(q);
		return NULL;
	}
	memset(q->slot, 0, entries * sizeof(*q->slot));
	while (q->idles < entries) {
		q->slot[q->idles].queue = q;
		q->idle[q->idles] = (uint16_t)q->idles;
		q->idles++;
	}
	return q;
}

static uint32_t power_of_two(uint32_t n)
{
	return n <= 1 ? 1 : 1U << (32 - __builtin_clz(n - 1));
}

/** Of the queues of a node, in whatever process: bits of the process, and a number there. */
static uint32_t new_holder(void)
{
	static atomic_uint queues;
	uint64_t process = mf_hash64(rte_rdtsc() ^ (uint64_t)getpid() << 40);
	unsigned int number = atomic_fetch_add_explicit(&queues, 1, memory_order_relaxed);

	return (uint32_t)process << 16 | (number & UINT16_MAX);
}

int memfab_queue_new(struct memfab *m, const char *name, unsigned int entries, struct memfab_queue **out,
		     char *err, size_t errlen)
{
	struct memfab_queue *q;
	int node, rc;

	if (mf_session_forked()) {
		snprintf(err, errlen, "the fabric belongs to the process that this one was forked from");
		return -EPERM;
	}
	if (entries == 0 || entries > CLIENT_ENTRIES_MAX) {
		snprintf(err, errlen, "a queue has 1 to %d entries", CLIENT_ENTRIES_MAX);
		return -EINVAL;
	}
	node = find_node(m, name, err, errlen);
	if (node < 0)
		return node;
	q = new_memory(power_of_two(entries));
	rc = q != NULL ? attachment_take(m, (unsigned int)node, q) : -ENOMEM;
	if (q != NULL)
		q->holder = new_holder();
	if (rc == 0 && queue_history_new(q) != 0) {
		attachment_leave(q);
		rc = -ENOMEM;
	}
	if (rc == 0) {
		*out = q;
		return 0;
	}
	snprintf(err, errlen, rc == -EBUSY ? "a workload of the file has '%s'" : "'%s': %s",
		 m->config->node[node].name, strerror(-rc));
	if (q != NULL)
		free_memory(q);
	return rc;
}

/** Turns the fabric where nobody else does, and gives way where that has found nothing for a while. */
static void turn(const struct memfab_queue *q, unsigned int *empty)
{
	if (mf_session_poll(attachment_session(q->attachment)) > 0)
		*empty = 0;
	else if (++*empty < PATIENCE)
		rte_pause();
	else
		sched_yield();
}

void memfab_queue_free(struct memfab_queue *q)
{
	struct mf_session *s;
	unsigned int empty = 0;
	uint32_t end;

	if (q == NULL || mf_session_forked())
		return;
	s = attachment_session(q->attachment);
	mf_session_lock(s);
	end = queue_stop(q);
	mf_session_unlock(s);
	while (atomic_load_explicit(&q->completed, memory_order_acquire) != end)
		turn(q, &empty);
	attachment_leave(q);
	free_memory(q);
}

struct memfab_sqe *memfab_get_sqe(struct memfab_queue *q)
{
	struct memfab_sqe *s;
	uint16_t slot;

	if (unlikely(q->idles == 0 || mf_session_forked()))
		return NULL;
	slot = q->idle[--q->idles];
	q->sq[q->prepared++ & q->mask] = slot;
	s = &q->slot[slot].sqe;
	memset(s, 0, sizeof(*s));
	return s;
}

unsigned int memfab_submit(struct memfab_queue *q)
{
	uint32_t before = atomic_load_explicit(&q->submitted, memory_order_relaxed);

	/* Guards the slots, and what the program has put into buffers that are to be written. */
	atomic_store_explicit(&q->submitted, q->prepared, memory_order_release);
	return q->prepared - before;
}

unsigned int memfab_losses(const struct memfab_queue *q, int node)
{
	return node >= 0 && node < MF_NODES_MAX ? attachment_lost(q->attachment, (unsigned int)node) : 0;
}

unsigned int memfab_outstanding(const struct memfab_queue *q)
{
	return atomic_load_explicit(&q->submitted, memory_order_relaxed) - q->taken;
}

/** Completions that are there. */
static uint32_t ready(const struct memfab_queue *q)
{
	/* Guards completions up to there, and the buffers that reads have filled. */
	return atomic_load_explicit(&q->completed, memory_order_acquire) - q->taken;
}

unsigned int memfab_peek_batch_cqe(struct memfab_queue *q, const struct memfab_cqe **out, unsigned int max)
{
	uint32_t n = ready(q);

	if (unlikely(mf_session_forked()))
		return 0; /* what completed before the fork is the parent's to take: memory is shared */
	if (n == 0) {
		mf_session_poll(attachment_session(q->attachment));
		n = ready(q);
	}
	n = n < max ? n : max;
	for (uint32_t i = 0; i < n; i++)
		out[i] = &q->cq[(q->taken + i) & q->mask].cqe;
	return n;
}

const struct memfab_cqe *memfab_peek_cqe(struct memfab_queue *q)
{
	const struct memfab_cqe *c;

	return memfab_peek_batch_cqe(q, &c, 1) > 0 ? c : NULL;
}

void memfab_cq_advance(struct memfab_queue *q, unsigned int n)
{
	uint32_t most = ready(q);

	n = n < most ? n : most;
	for (; n > 0; n--)
		q->idle[q->idles++] = (uint16_t)q->cq[q->taken++ & q->mask].slot;
}

/** Cycles in this many us; as many as there can be where they are more. */
static uint64_t cycles_of(int64_t us)
{
	unsigned __int128 cycles = (unsigned __int128)us * rte_get_tsc_hz() / 1000000;

	return cycles < UINT64_MAX ? (uint64_t)cycles : UINT64_MAX;
}

void queue_turn_for(struct memfab_queue *q, int64_t time)
{
	uint64_t begin = rte_rdtsc();
	unsigned int empty = 0;

	do {
		turn(q, &empty);
	} while (rte_rdtsc() - begin < cycles_of(time));
}

int memfab_wait_cqe(struct memfab_queue *q, unsigned int n, int64_t timeout)
{
	unsigned int empty = 0;
	uint64_t begin;

	if (mf_session_forked())
		return -EPERM;
	if (n > memfab_outstanding(q))
		return -ENOENT;
	if (ready(q) >= n)
		return 0;
	begin = rte_rdtsc();
	do {
		turn(q, &empty);
		if (ready(q) >= n)
			return 0;
	} while (timeout < 0 || rte_rdtsc() - begin < cycles_of(timeout));
	return -ETIMEDOUT;
}
