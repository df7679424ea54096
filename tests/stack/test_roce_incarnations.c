/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCE: processes that are gone and come back, while the other end of their queue pairs lives. */
#include <criterion/criterion.h>
#include <string.h>

#include "net.h"

/** A write and a count, 40 times: both complete, and are done. */
static void count(struct net *n)
{
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int write = net_op(n, 0, 1, MF_OP_WRITE_ACK, 4096, 2000);
		unsigned int rmw = net_op(n, 0, 1, MF_OP_RMW, 0, 8);

		net_finish(n, n->now + MF_MS(5));
		cr_assert(n->done[write].status == MF_OK && n->done[rmw].status == MF_OK, "%u", i);
		cr_assert(net_written(n, write, 1, 4096, 2000), "%u", i);
	}
}

/* The responder remembers the queue pair of the process before. Whatever that had sent, and with whichever
 * number the next one begins, a write that completes is done, and an atomic is done once. */
Test(roce_incarnations, a_requester_that_comes_back)
{
	static const uint32_t incarnations[][2] = {{1, 1000},  {7, 16300},  {16383, 200}, {16320, 5},
						   {3, 8195},  {100, 9000}, {100, 101},   {100, 95},
						   {5, 16380}, {100, 96},   {100, 99},    {2, 16383}};

	for (unsigned int k = 0; k < sizeof(incarnations) / sizeof(incarnations[0]); k++) {
		uint64_t sum = 0;
		struct net n;

		net_init(&n, "rocev2", NULL, 2);
		net_start(&n);
		net_restart(&n, 1, 4711);
		net_restart(&n, 0, incarnations[k][0]);
		count(&n);
		net_restart(&n, 0, incarnations[k][1]);
		count(&n);
		memcpy(&sum, mf_memory_flat.at(n.memory[1], 0, 8), 8);
		cr_assert_eq(sum, 80, "%u to %u", incarnations[k][0], incarnations[k][1]);
		net_stop(&n);
	}
}

/* A memory node that comes back knows no queue pair: what it is asked fails, or goes on with the next one. */
Test(roce_incarnations, a_responder_that_comes_back)
{
	for (uint32_t incarnation = 1; incarnation <= 16384; incarnation += 1023) {
		unsigned int write = 0, done = 0;
		struct net n;

		net_init(&n, "rocev2", NULL, 2);
		net_start(&n);
		net_restart(&n, 0, incarnation);
		net_restart(&n, 1, 17);
		for (unsigned int i = 0; i < 20; i++) {
			write = net_op(&n, 0, 1, MF_OP_WRITE_ACK, 4096, 2000);
			if (i == 5)
				net_restart(&n, 1, 18);
			net_finish(&n, n.now + MF_MS(150));
			done += n.done[write].status == MF_OK;
			cr_assert(n.done[write].status != MF_OK || net_written(&n, write, 1, 4096, 2000),
				  "life %u: write %u", incarnation, i);
		}
		cr_assert_eq(n.done[write].status, MF_OK, "life %u: it goes on", incarnation);
		cr_assert_geq(done, 18);
		net_stop(&n);
	}
}
