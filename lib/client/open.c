/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's fabric: EAL where the program has not started it, and a session. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "client/client.h"
#include "config/mf_config_query.h"
#include "wall/mf_eal.h"

static pthread_mutex_t eal_lock = PTHREAD_MUTEX_INITIALIZER;

/** What EAL keeps memory for is in the file, so that is read before it is opened. */
static int start_chosen(const char *file, char *err, size_t errlen)
{
	struct mf_config *config = malloc(sizeof(*config));
	char words[128];
	int rc;

	if (config == NULL) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	rc = mf_config_load(file, config, err, errlen);
	if (rc == 0) {
		rc = mf_eal_start_one("memfab", config);
		mf_config_free(config);
		if (rc != 0)
			snprintf(err, errlen, "cannot start DPDK's EAL: %s",
				 mf_eal_why(rc, words, sizeof(words)));
	}
	free(config);
	return rc;
}

static int start_given(const char *options, char *err, size_t errlen)
{
	int rc = mf_eal_start_line("memfab", options);
	char words[128];

	if (rc != 0)
		snprintf(err, errlen, "cannot start DPDK's EAL with '%s': %s", options,
			 mf_eal_why(rc, words, sizeof(words)));
	return rc;
}

/** What the CPU can do is used up to what EAL allows: the program's choice where it has started EAL. */
static int start_eal(const char *file, const struct memfab_options *o, char *err, size_t errlen)
{
	static bool chosen;
	bool ours;
	int rc = 0;

	pthread_mutex_lock(&eal_lock);
	ours = rte_get_tsc_hz() == 0; /* it counts lcores long before it can fail */
	if (ours)
		rc = o->eal != NULL ? start_given(o->eal, err, errlen) : start_chosen(file, err, errlen);
	if (rc == 0 && !chosen) {
		mf_eal_choose_variants(ours);
		chosen = true;
	}
	pthread_mutex_unlock(&eal_lock);
	return rc;
}

int memfab_open(const char *file, const struct memfab_options *options, struct memfab **out, char *err,
		size_t errlen)
{
	static const struct memfab_options none;
	const struct memfab_options *o = options != NULL ? options : &none;
	struct mf_session_options so = {
		.only = o->only,
		.workload = o->workload,
		.history = getenv("MEMFAB_HISTORY"),
		.poller = o->thread ? MF_SESSION_THREAD : MF_SESSION_USERS,
	};
	struct memfab *m = calloc(1, sizeof(*m));
	int rc = -ENOMEM;

	if (m == NULL || (o->only != NULL && (m->only = strdup(o->only)) == NULL))
		snprintf(err, errlen, "no memory");
	else
		rc = start_eal(file, o, err, errlen);
	if (rc == 0)
		rc = mf_session_open(file, &so, &m->session, err, errlen);
	if (rc != 0) {
		memfab_close(m);
		return rc;
	}
	m->config = mf_session_config(m->session);
	*out = m;
	return 0;
}

void memfab_close(struct memfab *m)
{
	if (m == NULL)
		return;
	mf_session_close(m->session);
	free(m->only);
	free(m);
}

int memfab_wait_ready(struct memfab *m, int timeout)
{
	uint64_t begin = rte_rdtsc(),
		 limit = (uint64_t)(timeout < 0 ? 0 : timeout) * (rte_get_tsc_hz() / 1000);

	while (!mf_session_ready(m->session)) {
		if (mf_session_forked())
			return -EPERM;
		if (timeout >= 0 && rte_rdtsc() - begin >= limit)
			return -ETIMEDOUT;
		mf_session_poll(m->session);
		sched_yield();
	}
	return 0;
}

int memfab_node(const struct memfab *m, const char *name)
{
	return mf_config_node(m->config, name);
}

uint64_t memfab_memory(const struct memfab *m, int node)
{
	const struct mf_config_node *n;

	if (node < 0 || (unsigned int)node >= m->config->slots)
		return 0;
	n = &m->config->node[node];
	return n->memory ? n->memory_config.size : 0;
}

bool memfab_has_spaces(const struct memfab *m, int node)
{
	return memfab_memory(m, node) != 0 && mf_config_is_virtual(&m->config->node[node]);
}
