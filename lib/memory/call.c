/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "memory/mf_call.h"

static const struct mf_call_desc calls[MF_CALLS] = {
	[MF_CALL_ECHO] = {.name = "echo", .right = MF_RIGHT_READ},
	[MF_CALL_ECHO_FENCED] = {.name = "echo_fenced", .right = MF_RIGHT_READ, .late = true},
};

/** Whether slot and number are those that such a call may have. */
static bool is_named_well(const struct mf_call_desc *c, uint64_t ask)
{
	return ask >> 48 == 0 && (c->late || (mf_space_ask_slot(ask) == 0 && mf_space_ask_number(ask) == 0));
}

const struct mf_call_desc *mf_call_find(uint64_t ask)
{
	uint8_t call = mf_space_ask_task(ask);

	return call < MF_CALLS && is_named_well(&calls[call], ask) ? &calls[call] : NULL;
}

const char *mf_call_name(unsigned int call)
{
	return call < MF_CALLS ? calls[call].name : "?";
}
