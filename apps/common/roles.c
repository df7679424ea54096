/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "roles.h"

/** Which roles were named: nodes by port; behind them each switch and its scheduler. */
struct chosen {
	bool role[MF_PORTS_MAX + 2 * MF_CONFIG_SWITCH_LIST_MAX];
};

static bool is(const char *name, size_t len, const char *role)
{
	return strlen(role) == len && strncmp(name, role, len) == 0;
}

/** The name of role i, or NULL where there is none. */
static const char *role_at(const struct mf_config *config, unsigned int i)
{
	if (i < config->sw.ports)
		return config->node[i].up ? config->node[i].name : NULL;
	i -= config->sw.ports;
	if (i % 2 == 0)
		return mf_config_switch_name(config, i / 2);
	return config->switches == 0 ? mf_config_sched_name(i / 2) : NULL;
}

/** The entry of the file that has made a role: its name stands for all of them. NULL: it is no entry */
static const char *entry_of(const struct mf_config *config, unsigned int i)
{
	if (i < config->sw.ports)
		return config->group[config->node[i].group].name;
	i = (i - config->sw.ports) / 2;
	for (unsigned int g = 0; g < config->switch_groups; g++) {
		if (i < config->switch_group[g].count)
			return config->switch_group[g].name;
		i -= config->switch_group[g].count;
	}
	return NULL;
}

static int choose(const struct mf_config *config, struct chosen *c, const char *name, size_t len)
{
	int found = -ENOENT;

	for (unsigned int i = 0; i < config->sw.ports + 2 * mf_config_switch_count(config); i++) {
		const char *role = role_at(config, i), *entry = entry_of(config, i);

		if (role == NULL || (!is(name, len, role) && (entry == NULL || !is(name, len, entry))))
			continue;
		if (c->role[i])
			return -EEXIST;
		c->role[i] = true;
		found = 0;
	}
	return found;
}

/**
 * With two switches a process is ready when all its links are, and a node waits for both switches. Two
 * processes that each play a node and a switch would wait for each other for ever.
 */
static int not_apart(const struct mf_config *config, const struct mf_part *part, char *err, size_t errlen)
{
	if (!config->backup.on || !(part->sw[0] || part->sw[1]) || !roles_missing(config, part))
		return 0;
	for (unsigned int i = 0; i < config->sw.ports; i++)
		if (part->node[i]) {
			snprintf(err, errlen,
				 "--run: '%s' and '%s': with two switches a process plays "
				 "nodes, or switches, or all",
				 config->node[i].name, mf_config_switch_name(config, part->sw[0] ? 0 : 1));
			return -EINVAL;
		}
	return 0;
}

int roles_choose(const struct mf_config *config, const char *list, struct mf_part *part, char *err,
		 size_t errlen)
{
	struct chosen c = {0};
	int rc;

	for (const char *name = list;; name++) {
		size_t len = strcspn(name, ",");

		rc = choose(config, &c, name, len);
		if (rc != 0) {
			snprintf(err, errlen, "--run: '%.*s' %s", (int)len, name,
				 rc == -EEXIST ? "is named twice" : "is no role of this fabric");
			return rc;
		}
		name += len;
		if (*name == '\0')
			break;
	}
	*part = (struct mf_part){0};
	for (unsigned int i = 0; i < config->sw.ports; i++)
		part->node[i] = c.role[i];
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		part->sw[k] = c.role[config->sw.ports + 2 * k] || c.role[config->sw.ports + 2 * k + 1];
	return not_apart(config, part, err, errlen);
}

bool roles_missing(const struct mf_config *config, const struct mf_part *part)
{
	for (unsigned int i = 0; i < config->sw.ports; i++)
		if (config->node[i].up && !part->node[i])
			return true;
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		if (!part->sw[k])
			return true;
	return false;
}
