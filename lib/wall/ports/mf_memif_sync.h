/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the pollers of memif ports and the driver's own thread. When a partner of a memif is gone, its
 * driver unmaps the memory of the queues in EAL's interrupt thread, whoever reads it at that moment; and when
 * one comes, a poller may see half of it. So that thread is kept in a callback of ours (EAL's alarms run
 * there) and let go only while nobody is in a call of the driver:
 *
 *      shut  pollers poll, the interrupt thread waits in memif_sync_turn()
 *      open  pollers leave their ports alone; EAL's handlers run, then memif_sync_turn() again
 *
 * It opens for a moment when a port has been silent or is not connected, and each second; and it stays open
 * while no port is connected. Starting, stopping and closing of devices is done in that thread, too, for the
 * same reason. There is one such thread, so there is one such lock, for the memifs of all fabrics of the
 * process.
 */
#ifndef MF_MEMIF_SYNC_H
#define MF_MEMIF_SYNC_H

#include <stdatomic.h>

#include <rte_branch_prediction.h>

#include "wall/ports/mf_port.h"

/**
 * To be called before EAL starts threads, best of all while the process has one alone: what this asks of
 * the kernel takes no time then, and later until each CPU has been seen to switch, which where others keep
 * them busy may be many seconds. It is asked all the same where this was not called.
 */
void memif_sync_prepare(void);
/**
 * Polls the memif ports of a fabric, if it has any, in step with the driver's thread.
 * @return 0, or -errno with one line in err
 */
int memif_sync_join(struct wall *w, char *err, size_t errlen);
/** Closes those ports, and waits for that. */
void memif_sync_leave_all(struct wall *w);
/** There may be something to be done in the interrupt thread: it comes by. Any thread */
void memif_sync_ask(void);

struct memif_sync_pollers {
	atomic_bool open; /**< written by the interrupt thread */
	bool fence; /**< pollers have to order their stores and loads themselves */
};

/**
 * A port may be polled until memif_sync_leave(). What is stored first has to be seen by the interrupt thread
 * before `open` is looked at: that thread sees to it with membarrier(2), where there is one.
 */
static inline bool memif_sync_enter(struct wall_port *p)
{
	const struct memif_sync_pollers *g = p->memif_sync;

	if (likely(g == NULL))
		return atomic_load_explicit(&p->started, memory_order_relaxed);
	atomic_store_explicit(&p->busy, true, memory_order_relaxed);
	if (unlikely(g->fence))
		atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
	if (likely(!atomic_load_explicit(&g->open, memory_order_acquire) &&
		   atomic_load_explicit(&p->connected, memory_order_relaxed)))
		return true;
	atomic_store_explicit(&p->busy, false, memory_order_release);
	return false;
}

static inline void memif_sync_leave(struct wall_port *p)
{
	atomic_store_explicit(&p->busy, false, memory_order_release);
}

/** See mf_fabric_interrupts(). Any thread. */
void memif_sync_interrupts(void);

#endif
