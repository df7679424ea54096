/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs on purpose: what a campaign must find (docs/chaos.md). Where the project is built as it ships,
 * MF_SEEDED_BUG() is false when it is compiled, and nothing of them is left. memfab-chaos-planted, which is
 * never installed, is built of the same sources with all of them in, and has one of them at a time.
 */
#ifndef MF_SEEDED_BUG_H
#define MF_SEEDED_BUG_H

#include <stdbool.h>

/** Each stands in place of what is right. */
#define MF_SEEDED_BUGS(X)                                                                                \
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

/** Likewise, of virtual memory: its model test must find them, too (tests/memory). */
#define MF_SEEDED_VM_BUGS(X)                                                                          \
	X(tlb_not_cleared) /* a translation stays when its page is freed */                           \
	X(page_not_zeroed) /* a physical page has what its owner before has written */                \
	X(second_page_unchecked) /* who may use the first page of an access may use the second one */ \
	X(space_not_in_tag) /* pages of all spaces that have an address are one */                    \
	X(page_twice_in_ring) /* a page that is ready is given to two */                              \
	X(slot_leaked) /* slots of the page table are not free again when their pages are freed */    \
	X(late_page_leaked) /* a page that is freed while it is held does not come back */            \
	X(stale_answer) /* a task is answered with what came of the one before it in its slot */

enum mf_seeded_bug {
	MF_BUG_NONE,
#define MF_BUG_ENUM(name) MF_BUG_##name,
	MF_SEEDED_BUGS(MF_BUG_ENUM) MF_SEEDED_VM_BUGS(MF_BUG_ENUM)
#undef MF_BUG_ENUM
		MF_BUG_END
};

#ifdef MF_WITH_SEEDED_BUGS
/** Which one there is. */
extern enum mf_seeded_bug mf_bug_seeded;
#define MF_SEEDED_BUG(name) __builtin_expect(mf_bug_seeded == MF_BUG_##name, 0)
/** Seeds it. @return false: there is no such bug */
bool mf_seed_bug(const char *name);
/** Their names; NULL: there are no more. */
const char *mf_seeded_bug_name(unsigned int n);
#else
#define MF_SEEDED_BUG(name) false
#endif

#endif
