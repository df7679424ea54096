/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session's users share: its lock. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "client/mf_session.h"
#include "rig.h"

#define ROUNDS 50

TestSuite(client_session, .init = rig_init, .fini = rig_fini);

static struct {
	struct mf_session *session;
	struct mf_embedded_client embedded;
	atomic_ulong turns;
	atomic_bool over;
} shared;

static unsigned int count(struct mf_embedded_client *g, struct mf_node *host, mf_time now)
{
	(void)g;
	(void)host;
	(void)now;
	atomic_fetch_add(&shared.turns, 1);
	return 0;
}

static void *turn(void *unused)
{
	while (!atomic_load(&shared.over))
		mf_session_poll(shared.session);
	return unused;
}

/** The first CPU that we may use: for this thread, and those that it begins. */
static void to_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

/**
 * Somebody turns for all he is worth, on the same CPU, so he loses it within a turn nearly each time. The
 * lock is had behind that turn, not thousands of turns later, when he loses the CPU between two of them.
 */
Test(client_session, who_waits_for_the_lock_comes_next)
{
	static const struct mf_session_options options;
	unsigned int late = 0;
	pthread_t thread;

	cr_assert_eq(mf_session_open(rig_file(), &options, &shared.session, rig_err, sizeof(rig_err)), 0);
	shared.embedded.run = count;
	cr_assert_eq(mf_session_attach(shared.session, 0, &shared.embedded), 0);
	to_one_cpu();
	cr_assert_eq(pthread_create(&thread, NULL, turn, NULL), 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned long before;

		usleep(200); /* now he turns */
		before = atomic_load(&shared.turns);
		mf_session_lock(shared.session);
		late += atomic_load(&shared.turns) - before > 2;
		mf_session_unlock(shared.session);
	}
	atomic_store(&shared.over, true);
	pthread_join(thread, NULL);
	cr_assert_gt(atomic_load(&shared.turns), 0);
	cr_assert_lt(late, ROUNDS / 4, "%u of %u", late, ROUNDS);
	mf_session_detach(shared.session, 0, &shared.embedded);
	mf_session_close(shared.session);
}
