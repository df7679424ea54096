/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/membarrier.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_pause.h>

#include "wall_gate.h"

/* For EAL's handlers: an alarm that is due sooner may be run with this one, and none of them in between. */
#define TURN_US 50
#define LOOK_US 2000 /**< while a port is not connected */
#define REST_US 1000000
#define RETRY MF_MS(100) /**< of a client whose server is not there, */
#define CONNECT MF_SEC(1) /**< and of one whose server takes so long to answer */
#define POLL_US 20
#define SPINS 10000 /**< a turn is over by then, if its lcore has a CPU */

struct gate {
	struct port_gate pollers; /**< first: what they know of it */
	struct wall *w;
	sem_t asked;
	atomic_bool closing, closed;
};

/** @param pollers  or NULL */
static struct gate *gate_of(struct port_gate *pollers)
{
	void *gate = pollers;

	return gate;
}

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
static unsigned int look(struct gate *g, unsigned int *ports)
{
	struct wall *w = g->w;
	mf_time now = port_now(w);
	unsigned int n = 0;

	*ports = 0;
	for (unsigned int i = 0; i < w->f->config->ports; i++) {
		struct wall_port *p = &w->port[i];

		if (p->gate == NULL)
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
static void open_gate(struct gate *g)
{
	atomic_store_explicit(&g->pollers.open, true, memory_order_seq_cst);
	if (g->pollers.fence)
		atomic_thread_fence(memory_order_seq_cst);
	else
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (unsigned int i = 0, spins = 0; i < g->w->f->config->ports; i++)
		while (atomic_load_explicit(&g->w->port[i].busy, memory_order_acquire)) {
			if (spins++ < SPINS)
				rte_pause();
			else
				usleep(POLL_US);
		}
}

/** Pollers poll until there is something to be done. */
static void shut_for(struct gate *g, uint64_t us)
{
	const struct timespec until = in(us);

	atomic_store_explicit(&g->pollers.open, false, memory_order_release);
	while (sem_clockwait(&g->asked, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
		;
	while (sem_trywait(&g->asked) == 0)
		;
	open_gate(g);
}

static void close_all(struct gate *g)
{
	for (unsigned int i = 0; i < g->w->f->config->ports; i++)
		if (g->w->port[i].gate != NULL)
			port_close(&g->w->port[i]);
	atomic_store_explicit(&g->closed, true, memory_order_release);
}

/** In EAL's interrupt thread. */
static void gate_turn(void *arg)
{
	struct gate *g = arg;
	unsigned int ports, connected;

	if (atomic_load_explicit(&g->closing, memory_order_acquire)) {
		close_all(g);
		return;
	}
	connected = look(g, &ports);
	if (connected > 0)
		shut_for(g, connected == ports ? REST_US : LOOK_US);
	while (rte_eal_alarm_set(connected > 0 ? TURN_US : LOOK_US, gate_turn, g) != 0)
		usleep(LOOK_US); /* no memory for it now */
}

void gate_ask(struct port_gate *pollers)
{
	sem_post(&gate_of(pollers)->asked);
}

/** @return how many ports have it from now on */
static unsigned int give(struct wall *w, struct port_gate *g)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		if (w->port[i].gated) {
			w->port[i].gate = g;
			n++;
		}
	w->gate = g;
	return n;
}

int gate_new(struct wall *w, char *err, size_t errlen)
{
	struct gate *g;
	int rc;

	if (give(w, NULL) == 0)
		return 0;
	g = rte_zmalloc("gate", sizeof(*g), RTE_CACHE_LINE_SIZE);
	if (g == NULL)
		return -ENOMEM;
	g->w = w;
	sem_init(&g->asked, 0, 0);
	g->pollers.open = true;
	g->pollers.fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
	give(w, &g->pollers);
	rc = rte_eal_alarm_set(TURN_US, gate_turn, g);
	if (rc == 0)
		return 0;
	snprintf(err, errlen, "no alarms of EAL: %s", rte_strerror(-rc));
	give(w, NULL);
	rte_free(g);
	return rc;
}

void gate_free(struct wall *w)
{
	struct gate *g = gate_of(w->gate);

	if (g == NULL)
		return;
	atomic_store_explicit(&g->closing, true, memory_order_release);
	sem_post(&g->asked);
	while (!atomic_load_explicit(&g->closed, memory_order_acquire))
		usleep(POLL_US);
	/* Its callback may be about to return. */
	rte_eal_alarm_cancel(gate_turn, g);
	sem_destroy(&g->asked);
	rte_free(g);
	w->gate = NULL;
}
