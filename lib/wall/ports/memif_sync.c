/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "wall/ports/mf_memif_sync.h"

/* For EAL's handlers: an alarm that is due sooner may be run with this one, and none of them in between. */
#define TURN_US 50
#define LOOK_US 2000 /**< while a port is not connected */
#define REST_US 1000000
#define RETRY MF_MS(100) /**< of a client whose server is not there, */
#define CONNECT MF_SEC(1) /**< and of one whose server takes so long to answer */
#define POLL_US 20
#define SPINS 10000 /**< a turn is over by then, if its lcore has a CPU */

/** A fabric with memifs. */
struct memif_sync_fabric {
	struct wall *w;
	bool closing; /**< it is to leave; under the lock */
	atomic_bool closed;
	struct memif_sync_fabric *next;
};

static struct {
	struct memif_sync_pollers pollers; /**< what lcores that poll ports see of it */
	atomic_bool made; /**< there is a semaphore */
	sem_t asked;
	pthread_mutex_t lock; /**< of what follows */
	struct memif_sync_fabric *fabrics;
	bool turning; /**< an alarm is set: the interrupt thread comes by */
} memif_sync = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

static struct timespec in(uint64_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	us += (uint64_t)t.tv_nsec / 1000;
	t.tv_sec += (time_t)(us / 1000000);
	t.tv_nsec = (long)(us % 1000000 * 1000);
	return t;
}

/** A memif client connects when it is started, and never again; a server waits. */
static void start(struct wall_port *p, mf_time now)
{
	if (p->started && !p->client)
		return;
	if (now < p->restart)
		return;
	if (p->started)
		rte_eth_dev_stop(p->id);
	p->started = rte_eth_dev_start(p->id) == 0;
	p->restart = now + (p->started ? CONNECT : RETRY);
	p->stats.starts += p->started;
}

static bool is_connected(const struct wall_port *p)
{
	struct rte_eth_link link;

	return p->started && rte_eth_link_get_nowait(p->id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

/** @return how many are connected */
static unsigned int look_at(struct wall *w, unsigned int *ports)
{
	mf_time now = port_now(w);
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->f->config->ports; i++) {
		struct wall_port *p = &w->port[i];

		if (p->memif_sync == NULL)
			continue;
		p->connected = is_connected(p);
		if (!p->connected)
			start(p, now);
		n += p->connected;
		++*ports;
	}
	return n;
}

/** Until nobody is in a call of the driver. */
static void wait_for(struct wall *w)
{
	for (unsigned int i = 0, spins = 0; i < w->f->config->ports; i++)
		while (atomic_load_explicit(&w->port[i].busy, memory_order_acquire)) {
			if (spins++ < SPINS)
				rte_pause();
			else
				usleep(POLL_US);
		}
}

static void open_to_driver(void)
{
	atomic_store_explicit(&memif_sync.pollers.open, true, memory_order_seq_cst);
	if (memif_sync.pollers.fence)
		atomic_thread_fence(memory_order_seq_cst);
	else
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	pthread_mutex_lock(&memif_sync.lock);
	for (const struct memif_sync_fabric *f = memif_sync.fabrics; f != NULL; f = f->next)
		wait_for(f->w);
	pthread_mutex_unlock(&memif_sync.lock);
}

/** Pollers poll until there is something to be done. */
static void shut_for(uint64_t us)
{
	const struct timespec until = in(us);

	atomic_store_explicit(&memif_sync.pollers.open, false, memory_order_release);
	while (sem_clockwait(&memif_sync.asked, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
		;
	while (sem_trywait(&memif_sync.asked) == 0)
		;
	open_to_driver();
}

static void close_all(struct wall *w)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		if (w->port[i].memif_sync != NULL)
			port_close(&w->port[i]);
}

/** Looks at all fabrics; those that are to leave leave. @return how many ports of the others are connected */
static unsigned int look(unsigned int *ports)
{
	struct memif_sync_fabric **at = &memif_sync.fabrics, *f;
	unsigned int connected = 0;

	*ports = 0;
	while ((f = *at) != NULL) {
		if (!f->closing) {
			connected += look_at(f->w, ports);
			at = &f->next;
			continue;
		}
		*at = f->next;
		close_all(f->w);
		atomic_store_explicit(&f->closed, true, memory_order_release);
	}
	return connected;
}

/** In EAL's interrupt thread. */
static void memif_sync_turn(void *unused)
{
	unsigned int ports, connected;
	bool turning;

	pthread_mutex_lock(&memif_sync.lock);
	connected = look(&ports);
	turning = memif_sync.turning = memif_sync.fabrics != NULL;
	pthread_mutex_unlock(&memif_sync.lock);
	if (!turning)
		return;
	if (connected > 0)
		shut_for(connected == ports ? REST_US : LOOK_US);
	while (rte_eal_alarm_set(connected > 0 ? TURN_US : LOOK_US, memif_sync_turn, unused) != 0)
		usleep(LOOK_US); /* no memory for it now */
}

void memif_sync_ask(void)
{
	if (atomic_load_explicit(&memif_sync.made, memory_order_acquire))
		sem_post(&memif_sync.asked);
}

void memif_sync_interrupts(void)
{
	memif_sync_ask();
}

/** A second time that costs nothing. @return 0; else there is no such thing */
static long register_membarrier(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

void memif_sync_prepare(void)
{
	register_membarrier();
}

/** The first fabric sets the lock up, and has the interrupt thread come. @return 0 or -errno */
static int start_turning(void)
{
	int rc;

	if (!atomic_load_explicit(&memif_sync.made, memory_order_relaxed)) {
		sem_init(&memif_sync.asked, 0, 0);
		memif_sync.pollers.fence = register_membarrier() != 0;
		atomic_store_explicit(&memif_sync.made, true, memory_order_release);
	}
	if (memif_sync.turning)
		return 0;
	atomic_store_explicit(&memif_sync.pollers.open, true, memory_order_relaxed);
	rc = rte_eal_alarm_set(TURN_US, memif_sync_turn, NULL);
	memif_sync.turning = rc == 0;
	return rc;
}

/** The fabric's memif ports are polled in step with the driver's thread. @return how many there are */
static unsigned int give(struct wall *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		if (w->port[i].is_memif) {
			w->port[i].memif_sync = &memif_sync.pollers;
			n++;
		}
	return n;
}

static void take_back(struct wall *w)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		w->port[i].memif_sync = NULL;
}

int memif_sync_join(struct wall *w, char *err, size_t errlen)
{
	struct memif_sync_fabric *f;
	int rc;

	if (give(w) == 0)
		return 0;
	f = calloc(1, sizeof(*f));
	if (f == NULL) {
		take_back(w);
		return -ENOMEM;
	}
	f->w = w;
	pthread_mutex_lock(&memif_sync.lock);
	rc = start_turning();
	if (rc == 0) {
		f->next = memif_sync.fabrics;
		memif_sync.fabrics = w->memif_sync = f;
	}
	pthread_mutex_unlock(&memif_sync.lock);
	if (rc == 0) {
		memif_sync_ask(); /* the interrupt thread starts its devices; it may rest for others */
		return 0;
	}
	snprintf(err, errlen, "no alarms of EAL: %s", rte_strerror(-rc));
	take_back(w);
	free(f);
	return rc;
}

void memif_sync_leave_all(struct wall *w)
{
	struct memif_sync_fabric *f = w->memif_sync;

	if (f == NULL)
		return;
	pthread_mutex_lock(&memif_sync.lock);
	f->closing = true;
	pthread_mutex_unlock(&memif_sync.lock);
	memif_sync_ask();
	while (!atomic_load_explicit(&f->closed, memory_order_acquire))
		usleep(POLL_US);
	w->memif_sync = NULL;
	free(f);
}
