/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/edm/proto/mf_proto.h"

const char *mf_kind_name(uint8_t kind)
{
	static const char *const names[MF_KINDS] = {
		[MF_KIND_NONE] = "?",       [MF_RREQ] = "RREQ",     [MF_WREQ] = "WREQ",
		[MF_WREQ_ACK] = "WREQ_ACK", [MF_RMWREQ] = "RMWREQ", [MF_RRES] = "RRES",
		[MF_ACK] = "ACK",           [MF_ERR] = "ERR",       [MF_GRET] = "GRET",
		[MF_NOTIFY] = "NOTIFY",     [MF_GRANT] = "GRANT",   [MF_TAKE] = "TAKE",
	};

	return kind < MF_KINDS ? names[kind] : "?";
}
