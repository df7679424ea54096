/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that both ends of a CXL link have, at the start of the tables of the stack and of the bridge. */
#ifndef CXL_PARAM_H
#define CXL_PARAM_H

#include "base/mf_param.h"
#include "systems/cxl/cxl_link.h"

enum {
	CXL_FLIT,
	CXL_CREDITS_REQ,
	CXL_CREDITS_RWD,
	CXL_CREDITS_NDR,
	CXL_CREDITS_DRS,
	CXL_REPLAY,
	CXL_REPLAY_TIMEOUT,
	CXL_TELL_DELAY,
	CXL_LINK_PARAMS
};
#define CXL_PARAM_FLIT "flit", MF_PARAM_COUNT, 68, 68, 256, "octets: 68 (CXL 1.1 to 2.0) or 256 (CXL 3.0)"
#define CXL_PARAM_REQ "credits_req", MF_PARAM_COUNT, 64, 1, CXL_CREDITS_MAX, "buffers for requests"
#define CXL_PARAM_RWD "credits_rwd", MF_PARAM_COUNT, 64, 1, CXL_CREDITS_MAX, "for requests with data"
#define CXL_PARAM_NDR "credits_ndr", MF_PARAM_COUNT, 64, 1, CXL_CREDITS_MAX, "for responses without data"
#define CXL_PARAM_DRS "credits_drs", MF_PARAM_COUNT, 64, 1, CXL_CREDITS_MAX, "for responses with data"
#define CXL_PARAM_REPLAY \
	"replay", MF_PARAM_COUNT, 64, 4, CXL_REPLAY_MAX, "flits that wait for acknowledgement, power of two"
#define CXL_PARAM_TIMEOUT                                     \
	"replay_timeout", MF_PARAM_LINE_TIME, 2e6, 1e3, 1e12, \
		"of acknowledgements and credits that do not come"
#define CXL_PARAM_TELL "tell_delay", MF_PARAM_TIME, 1e5, 0, 1e9, "after which they go without a message"

/** The part of a link's configuration that they say. @return false: they cannot be */
static inline bool cxl_param_link(const double *param, struct cxl_link_config *c)
{
	c->format = param[CXL_FLIT] == 256 ? &cxl_format_256 : &cxl_format_68;
	c->replay = (uint32_t)param[CXL_REPLAY];
	c->replay_timeout = (mf_time)param[CXL_REPLAY_TIMEOUT];
	c->tell_delay = (mf_time)param[CXL_TELL_DELAY];
	for (unsigned int i = 0; i < CXL_CLASSES; i++)
		c->buffers[i] = (uint8_t)param[CXL_CREDITS_REQ + i];
	return c->format->octets == param[CXL_FLIT] && (c->replay & (c->replay - 1)) == 0;
}

#endif
