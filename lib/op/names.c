/* SPDX-License-Identifier: BSD-3-Clause */
#include "op/mf_op.h"

static const char *name(const char *const *names, unsigned int count, unsigned int i)
{
	return i < count ? names[i] : "?";
}

const char *mf_rmw_name(uint8_t op)
{
	static const char *const names[MF_RMW_ALL] = {
		[MF_RMW_CAS] = "cas",     [MF_RMW_FADD] = "fadd",       [MF_RMW_SWAP] = "swap",
		[MF_RMW_FOR] = "for",     [MF_RMW_FAND] = "fand",       [MF_RMW_ATTACH] = "attach",
		[MF_RMW_CLAIM] = "claim", [MF_RMW_RELEASE] = "release", [MF_RMW_SHARE] = "share",
		[MF_RMW_SPACE] = "space", [MF_RMW_CALL] = "call",
	};

	return name(names, MF_RMW_ALL, op);
}

const char *mf_status_name(uint8_t status)
{
	static const char *const names[MF_STATUS_WORDS] = {
		[MF_OK] = "ok",
		[MF_ERR_RANGE] = "range",
		[MF_ERR_ALIGN] = "align",
		[MF_ERR_OPCODE] = "opcode",
		[MF_ERR_RESOURCE] = "resource",
		[MF_ERR_TIMEOUT] = "timeout",
		[MF_ERR_UNKNOWN] = "unknown",
		[MF_ERR_KEY] = "key",
		[MF_ERR_RESTARTED] = "restarted",
		[MF_ERR_INCARNATION] = "life",
		[MF_ERR_GAP] = "gap",
		[MF_ERR_PENDING] = "pending",
		[MF_ERR_BUSY] = "busy",
	};

	return name(names, MF_STATUS_WORDS, status);
}
