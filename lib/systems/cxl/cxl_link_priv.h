/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a CXL link end share. */
#ifndef CXL_LINK_PRIV_H
#define CXL_LINK_PRIV_H

#include "systems/cxl/cxl_link.h"

/** Flags of a CONTROL flit. */
#define CXL_NAK 1
#define CXL_ASK 2

static inline uint16_t cxl_sequence(unsigned int n)
{
	return n & (CXL_SEQUENCES - 1);
}

/** Freed buffers of a class that the other end has not been told of. */
static inline uint8_t cxl_untold(const struct cxl_link *l, unsigned int class)
{
	return (uint8_t)(l->freed[class] - l->told[class]);
}

/** A CONTROL flit is due then, if no other one tells it before. */
static inline void cxl_tell(struct cxl_link *l, mf_time at)
{
	l->tell_at = mf_time_min(l->tell_at, at);
}

/** Goes back N. */
void cxl_link_replay(struct cxl_link *l, mf_time now);

#endif
