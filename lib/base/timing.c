/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_timing.h"

const char *mf_stage_name(enum mf_stage stage)
{
	static const char *const name[MF_STAGES] = {
		[MF_STAGE_MESSAGE_QUEUE] = "read message queue",
		[MF_STAGE_MAKE_REQUEST] = "create request block",
		[MF_STAGE_GRANT_QUEUE] = "read grant queue",
		[MF_STAGE_STATE_TABLE] = "read message state table",
		[MF_STAGE_DATA_BUFFER] = "read data buffer",
		[MF_STAGE_MAKE_DATA] = "create data block",
		[MF_STAGE_GRANT_PARSE] = "parse /G/",
		[MF_STAGE_GRANT_ENQUEUE] = "add to grant queue",
		[MF_STAGE_RREQ_PARSE] = "process RREQ",
		[MF_STAGE_MEMORY_CONTROLLER] = "send to memory controller",
		[MF_STAGE_DATA_PARSE] = "parse data block",
		[MF_STAGE_DATA_ADDRESS] = "extract memory address",
		[MF_STAGE_DATA_DELIVER] = "deliver data",
		[MF_STAGE_IDENTIFY] = "identify block",
		[MF_STAGE_MAKE_GRANT] = "generate /G/",
		[MF_STAGE_FORWARD] = "forward RX to TX",
		[MF_STAGE_PCS_TX] = "PCS, TX",
		[MF_STAGE_PCS_RX] = "PCS, RX",
		[MF_STAGE_MAC] = "MAC",
		[MF_STAGE_PMA] = "PMA, PMD, transceiver",
		[MF_STAGE_PROTOCOL] = "protocol stack",
		[MF_STAGE_L2] = "layer-2 forwarding",
		[MF_STAGE_PROPAGATION] = "propagation",
		[MF_STAGE_SERIALISATION] = "serialisation",
		[MF_STAGE_CHECK] = "wait for the check",
		[MF_STAGE_SCHEDULER] = "scheduler",
		[MF_STAGE_DRAM] = "DRAM",
		[MF_STAGE_LINE] = "wait for the line",
	};

	return (unsigned int)stage < MF_STAGES ? name[stage] : "?";
}
