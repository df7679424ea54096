/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a scheduler that look for things, for any CPU. */
#include "scan_cases.h"

Test(sched_scan, lists)
{
	lists();
}

Test(sched_scan, scans)
{
	scans();
}
