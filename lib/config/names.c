/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of roles. */
#include "config/mf_config.h"

unsigned int mf_config_switch_count(const struct mf_config *config)
{
	if (config->switches > 0)
		return config->switches;
	return config->backup.on ? MF_CONFIG_SWITCHES : 1;
}

const char *mf_config_switch_name(const struct mf_config *config, unsigned int sw)
{
	if (config->switches > 0)
		return config->switch_list[sw].name;
	return sw == 0 ? config->sw.name : config->backup.name;
}

const char *mf_config_sched_name(unsigned int sw)
{
	return sw == 0 ? "scheduler" : "backup-scheduler";
}
