/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs on purpose: what a campaign must find (docs/chaos.md). Where the project is built as it ships,
 * MF_PLANTED() is false when it is compiled, and nothing of them is left. memfab-chaos-planted, which is
 * never installed, is built of the same sources with all of them in, and has one of them at a time.
 */
#ifndef MF_PLANT_H
#define MF_PLANT_H

#include <stdbool.h>

/** Each stands where it is planted in place of what is right. */
#define MF_PLANTS(X)                                                                                     \
	/* messages and memory */                                                                        \
	X(check_skipped) /* messages are taken whose check fails */                                      \
	X(write_before_check) /* a chunk of a write is stored before its check is looked at */           \
	X(ack_with_gap) /* a write is acknowledged although a chunk of it is missing */                  \
	X(timer_forgotten) /* requests have no timers */                                                 \
	X(not_zeroed) /* a region is not zeroed before another owner gets it */                          \
	X(key_in_part) /* only the low half of a key is compared */                                      \
	/* at most once */                                                                               \
	X(no_duplicate_filter) /* a second copy of a request is executed like the first one */           \
	X(epoch_ignored) /* answers are taken whatever use of the id they are for */                     \
	X(stored_result_dropped) /* what an atomic found is not kept for those who ask again */          \
	/* switch and scheduler */                                                                       \
	X(circuit_leaked) /* a circuit that is closed is not given back */                               \
	X(grant_leaked) /* what was granted and did not come counts as under way for good */             \
	X(request_leaked) /* the buffer of a request that is dismissed is not given back */              \
	X(early_release) /* a port is released a block early */                                          \
	X(stale_backup) /* what passes a standby is not taken off its log */                             \
	X(order_swapped) /* a read does not wait for the write of its pair that was granted before it */ \
	/* links between processes */                                                                    \
	X(duplicate_delivered) /* a frame that comes twice is delivered twice */                         \
	X(wrap_off_by_one) /* sequence numbers are compared as if they did not wrap */                   \
	X(stale_connection) /* frames of a connection that is over are taken */                          \
	X(nack_without_timer) /* a NACK, or the tail, is lost, and no timer makes up for it */

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
