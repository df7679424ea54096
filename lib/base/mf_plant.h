/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs on purpose: what a campaign must find (docs/chaos.md). Where the project is built as it ships,
 * MF_PLANTED() is false when it is compiled, and nothing of them is left. memfab-chaos-planted, which is never
 * installed, is built of the same sources with all of them in, and has one of them at a time.
 */
#ifndef MF_PLANT_H
#define MF_PLANT_H

#include <stdbool.h>

/** Each with the line that stands in for what is right. */
#define MF_PLANTS(X)                                                                        \
	X(check_skipped) /* a host takes messages whose check fails */                      \
	X(write_before_check) /* a write is stored before its check is looked at */         \
	X(ack_before_last) /* a write is acknowledged at its first chunk */                 \
	X(no_duplicate_filter) /* a link delivers what it has delivered before */           \
	X(wrap_off_by_one) /* sequence numbers are compared as if they did not wrap */      \
	X(epoch_ignored) /* a link takes frames of a connection that is over */             \
	X(nack_without_timer) /* a NACK that is lost is not made up for by a timer */       \
	X(circuit_leaked) /* the circuit of a chunk that was cut is not closed */           \
	X(request_leaked) /* the buffer of a request that is dismissed is not given back */ \
	X(grant_leaked) /* a grant is used up although what it was for is over */           \
	X(early_release) /* a port is released a block early */                             \
	X(order_swapped) /* a read does not wait for the write of its pair before it */     \
	X(id_reused) /* an id is used again at once when its request has timed out */       \
	X(timer_forgotten) /* a read of several chunks that stops midway has no timer */

enum mf_plant {
	MF_PLANT_NONE,
#define MF_PLANT_ENUM(name) MF_PLANT_##name,
	MF_PLANTS(MF_PLANT_ENUM)
#undef MF_PLANT_ENUM
		MF_PLANT_END
};

#ifdef MF_WITH_PLANTED
/** Which one there is. */
extern enum mf_plant mf_planted;
#define MF_PLANTED(name) __builtin_expect(mf_planted == MF_PLANT_##name, 0)
/** Plants it. @return false: there is no such bug */
bool mf_plant(const char *name);
/** Its name; NULL: there are no more. */
const char *mf_plant_name(unsigned int n);
#else
#define MF_PLANTED(name) false
#endif

#endif
