/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/mf_config_query.h"
#include "roles.h"

/** Which roles were named: nodes by port; behind them each switch and its scheduler. */
struct chosen {
	bool role[MF_NODES_MAX + 2 * MF_CONFIG_SWITCH_LIST_MAX];
};

/** Names of role i. @return false: there is none */
static bool role_at(const struct mf_config *config, unsigned int i, struct mf_config_member *m)
{
	if (i < config->slots) {
		*m = mf_config_node_member(config, i);
		return config->node[i].up;
	}
	i -= config->slots;
	*m = mf_config_switch_member(config, i / 2);
	if (i % 2 == 0)
		return true;
	m->name = m->entry = mf_config_sched_name(config, i / 2);
	return m->name != NULL;
}

static int choose(const struct mf_config *config, struct chosen *c, const char *name, size_t len)
{
	int found = -ENOENT;

	for (unsigned int i = 0; i < config->slots + 2 * mf_config_switch_count(config); i++) {
		struct mf_config_member m;

		if (!role_at(config, i, &m) || !mf_config_means(config, name, len, &m))
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
static int not_apart(const struct mf_config *config, const struct mf_process_roles *plays, char *err,
		     size_t errlen)
{
	if (!config->backup.on || !(plays->sw[0] || plays->sw[1]) || !roles_missing(config, plays))
		return 0;
	for (unsigned int i = 0; i < config->slots; i++)
		if (plays->node[i]) {
			snprintf(err, errlen,
				 "--run: '%s' and '%s': with two switches a process plays "
				 "nodes, or switches, or all",
				 config->node[i].name, mf_config_switch_name(config, plays->sw[0] ? 0 : 1));
			return -EINVAL;
		}
	return 0;
}

int roles_choose(const struct mf_config *config, const char *list, struct mf_process_roles *plays, char *err,
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
	*plays = (struct mf_process_roles){0};
	for (unsigned int i = 0; i < config->slots; i++)
		plays->node[i] = c.role[i];
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		plays->sw[k] = c.role[config->slots + 2 * k] || c.role[config->slots + 2 * k + 1];
	return not_apart(config, plays, err, errlen);
}

bool roles_missing(const struct mf_config *config, const struct mf_process_roles *plays)
{
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && !plays->node[i])
			return true;
	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		if (!plays->sw[k])
			return true;
	return false;
}
