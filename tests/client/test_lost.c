/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory node that crashes: whoever has a queue is told, and so is who has none just then. */
#include "rig.h"

static void init(void)
{
	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_CRASH"), 1);
	rig_open(NULL);
}

TestSuite(client_lost, .init = init, .fini = rig_fini);

/** What a node has lost between its last queue and the next is not forgotten with the queue. */
Test(client_lost, between_two_queues)
{
	struct memfab_queue *watcher = rig_queue("cn1", 4), *q = rig_queue("cn0", 4);
	unsigned int seen, before;
	uint64_t word;

	seen = memfab_losses(watcher, mn0);
	before = memfab_losses(q, mn0);
	memfab_queue_free(q);
	while (memfab_losses(watcher, mn0) < seen + 2)
		memfab_read(watcher, mn1, 0, &word, 8);
	q = rig_queue("cn0", 4);
	cr_expect_gt(memfab_losses(q, mn0), before);
	cr_expect_eq(memfab_losses(q, mn1), 0);
	memfab_queue_free(q);
	memfab_queue_free(watcher);
}
