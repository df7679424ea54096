/* SPDX-License-Identifier: BSD-3-Clause */
/* What the clocks of roles show, where some of them are wrong. */
#include "wall/outages.h"

mf_time wall_role_clock(const struct wall_role *r, mf_time now)
{
	return r->skew != NULL ? skew_clock(r->skew, now) : now;
}

mf_time wall_fault_clock(const struct wall *w, const struct role *r, mf_time now)
{
	return wall_role_clock(wall_faults_of(w, r), now);
}
