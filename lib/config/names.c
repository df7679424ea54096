/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of roles, and what they mean. */
#include <string.h>

#include "config/cfg.h"
#include "config/mf_config_query.h"

unsigned int mf_config_switch_count(const struct mf_config *config)
{
	if (config->switches > 0)
		return config->switches;
	if (config->tier->direct)
		return 0;
	return config->backup.on ? MF_CONFIG_SWITCHES : 1;
}

const char *mf_config_switch_name(const struct mf_config *config, unsigned int sw)
{
	if (config->switches > 0)
		return config->switch_list[sw].name;
	return sw == 0 ? config->tier->sw.name : config->backup.name;
}

bool mf_config_means(const struct mf_config *config, const char *name, size_t len,
		     const struct mf_config_member *m)
{
	const char *names[2] = {m->name, m->entry}, *dot = strchr(m->name, '.'), *racks;
	size_t all;

	for (int i = 0; i < 2; i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return true;
	if (m->rack == 0 || dot == NULL)
		return false;
	if (mf_config_means_rack(config, name, len, m))
		return true;
	racks = config->rack[m->rack - 1].name;
	all = strlen(racks);
	if (len <= all || strncmp(name, racks, all) != 0 || name[all] != '.')
		return false;
	for (int i = 0; i < 2; i++) {
		const char *within = strchr(names[i], '.');

		if (within != NULL && strlen(within) == len - all &&
		    strncmp(within, name + all, len - all) == 0)
			return true;
	}
	return false;
}

bool mf_config_means_rack(const struct mf_config *config, const char *name, size_t len,
			  const struct mf_config_member *m)
{
	const char *dot = strchr(m->name, '.'), *racks;

	if (m->rack == 0 || dot == NULL)
		return false;
	racks = config->rack[m->rack - 1].name;
	return ((size_t)(dot - m->name) == len && strncmp(name, m->name, len) == 0) ||
	       (strlen(racks) == len && strncmp(name, racks, len) == 0);
}

struct mf_config_member mf_config_node_member(const struct mf_config *config, unsigned int node)
{
	const struct mf_config_node *n = &config->node[node];

	return (struct mf_config_member){n->name, config->group[n->group].name, n->rack};
}

struct mf_config_member mf_config_switch_member(const struct mf_config *config, unsigned int sw)
{
	const struct mf_config_switch *s = &config->switch_list[sw];

	if (config->switches == 0)
		return (struct mf_config_member){mf_config_switch_name(config, sw),
						 mf_config_switch_name(config, sw), 0};
	return (struct mf_config_member){s->name, config->switch_group[s->group].name, s->rack};
}

unsigned int mf_config_switches(const struct mf_config *config, const char *name,
				struct mf_config_switch_set *set)
{
	size_t len = strlen(name);
	unsigned int n = 0;

	memset(set, 0, sizeof(*set));
	for (unsigned int i = 0; i < config->switches; i++) {
		struct mf_config_member m = mf_config_switch_member(config, i);

		if (!mf_config_means(config, name, len, &m))
			continue;
		set->word[i / 64] |= UINT64_C(1) << i % 64;
		n++;
	}
	return n;
}

const char *mf_config_sched_name(const struct mf_config *config, unsigned int sw)
{
	const char *own;

	if (config->switches == 0)
		return sw == 0 ? CFG_SCHEDULER : CFG_BACKUP_SCHEDULER;
	own = config->switch_list[sw].scheduler;
	return own[0] != '\0' ? own : NULL;
}
