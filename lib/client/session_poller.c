/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/session_poller.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_service.h>
#include <rte_service_component.h>

#define PATIENCE 1000 /* turns without work */

struct session_poller {
	struct mf_session *session;
	uint32_t service;
	pthread_t thread;
	bool threaded;
	atomic_bool over;
};

/**
 * Who asked for what is done here may be on the same CPU, so that gets others when nothing was found for a
 * while (D20). A service lcore has other services, too.
 */
static int32_t serve(void *arg)
{
	static _Thread_local unsigned int empty;
	struct session_poller *p = arg;

	if (session_turn(p->session) > 0) {
		empty = 0;
		return 0;
	}
	if (++empty >= PATIENCE)
		sched_yield();
	return -EAGAIN;
}

/** What it finds no use for, it gives to others: its users may be on the same CPU (D20). */
static void *turn_for_ever(void *arg)
{
	struct session_poller *p = arg;

	while (!atomic_load_explicit(&p->over, memory_order_relaxed))
		if (session_turn(p->session) == 0)
			sched_yield();
	return NULL;
}

/** The lock of the session keeps two turns apart, whoever makes them. */
static int offer_service(struct session_poller *p)
{
	static atomic_uint number;
	struct rte_service_spec spec = {
		.callback = serve,
		.callback_userdata = p,
		.capabilities = RTE_SERVICE_CAP_MT_SAFE,
		.socket_id = (int)rte_socket_id(),
	};
	int rc;

	snprintf(spec.name, sizeof(spec.name), "memfab%u", atomic_fetch_add(&number, 1));
	rc = rte_service_component_register(&spec, &p->service);
	return rc == 0 ? rte_service_component_runstate_set(p->service, 1) : rc;
}

static void withdraw_service(struct session_poller *p)
{
	rte_service_component_runstate_set(p->service, 0);
	rte_service_runstate_set(p->service, 0);
	while (rte_service_may_be_active(p->service) == 1)
		rte_pause();
	rte_service_component_unregister(p->service);
}

int session_poller_start(struct mf_session *s, bool thread, struct session_poller **out)
{
	struct session_poller *p = calloc(1, sizeof(*p));
	int rc;

	if (p == NULL)
		return -ENOMEM;
	p->session = s;
	p->threaded = thread;
	rc = thread ? -pthread_create(&p->thread, NULL, turn_for_ever, p) : offer_service(p);
	if (rc != 0) {
		free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void session_poller_stop(struct session_poller *p)
{
	if (p == NULL)
		return;
	atomic_store_explicit(&p->over, true, memory_order_relaxed);
	if (p->threaded)
		pthread_join(p->thread, NULL);
	else
		withdraw_service(p);
	free(p);
}

bool session_poller_has(const struct session_poller *p)
{
	return p->threaded || rte_service_runstate_get(p->service) == 1;
}
