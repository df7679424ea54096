/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls: a memory node does something in an address space, and answers with bytes (the extend path of Clio
 * 3.2, 4.6). The arguments of a call are bytes of the space, which writes before it have put there. A pair is
 * in order, so write and call are one round trip. A call accesses the space as its caller would: it needs
 * membership, the right of the call and the key for it.
 *
 * A request may be sent again after it was answered (host.once). A call that only reads is then done again.
 * One that the slow path does is named by its caller, as a task is (mf_space.h). Its answer is that it is
 * under way (MF_ERR_PENDING), with a ticket. Whoever asks again with the ticket gets the answer, as often as
 * wanted.
 */
#ifndef MF_CALL_H
#define MF_CALL_H

#include "memory/mf_space.h"

enum mf_call {
	MF_CALL_ECHO, /**< answers with its arguments */
	/** Likewise, when what was asked of the space before is done, which the slow path sees to */
	MF_CALL_ECHO_FENCED,
	MF_CALLS
};

/** What is known of a call before it is made. */
struct mf_call_desc {
	const char *name;
	uint8_t right; /**< enum mf_right, whose key it needs */
	bool late; /**< the slow path does it: its caller gives it a slot and a number */
};

/**
 * arg[0] of a request, and the ticket.
 * @param call          enum mf_call, 8 bits
 * @param slot, number  as in MF_SPACE_ASK(); of a call that is not late 0
 */
#define MF_CALL_ASK(call, slot, number) MF_SPACE_ASK(call, slot, number)

/** The call that a first argument names. @return NULL: there is none, or its spare bits are not 0 */
const struct mf_call_desc *mf_call_find(uint64_t ask);

/** "echo"; "?" for others. */
const char *mf_call_name(unsigned int call);

#endif
