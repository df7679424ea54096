/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that no key of the file gives. */
#include "config/mf_config.h"

const char *mf_config_sched_name(unsigned int sw)
{
	return sw == 0 ? "scheduler" : "backup-scheduler";
}
