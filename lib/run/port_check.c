/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine has of the ports that a process would open, before anything is started. */
#include <stdio.h>

#include "config/mf_memif.h"
#include "run/mf_fabric.h"

static bool is_tunnel(const struct mf_config_node *n, bool node_here, bool switch_here,
		      const struct mf_config_llr *llr)
{
	return n->up && (node_here || switch_here) &&
	       (node_here != switch_here || llr->carry == MF_CARRY_ALWAYS);
}

int mf_port_check(const struct mf_config_port *port, const char *root, char *err, size_t errlen)
{
	struct memif m;

	return memif_read(port->device, &m) ? memif_check(&m, root, err, errlen) : 0;
}

static int check_port(const struct mf_config *config, int port, char *err, size_t errlen)
{
	char why[1024];
	int rc = port >= 0 ? mf_port_check(&config->port[port], "", why, sizeof(why)) : 0;

	if (rc != 0)
		snprintf(err, errlen, "ports[%d].device: %s", port, why);
	return rc;
}

/** The ends of a node's link to a switch that a process would have at ports. */
static int check_link(const struct mf_config *config, const struct mf_process_roles *plays, unsigned int node,
		      bool second, char *err, size_t errlen)
{
	const struct mf_config_node *n = &config->node[node];
	const struct mf_config_llr *llr = second ? &n->backup_llr : &n->link.llr;
	bool switch_here = !n->direct && plays->sw[config->switches > 0 ? n->to : second];
	int rc = 0;

	if (n->direct || !is_tunnel(n, plays->node[node], switch_here, llr))
		return 0;
	if (plays->node[node])
		rc = check_port(config, llr->port[MF_LINK_NODE], err, errlen);
	if (rc == 0 && switch_here)
		rc = check_port(config, llr->port[MF_LINK_SWITCH], err, errlen);
	return rc;
}

/** The same of a link between switches, or between nodes. */
static int check_trunk(const struct mf_config *config, const struct mf_process_roles *plays,
		       const struct mf_config_trunk *t, char *err, size_t errlen)
{
	const struct mf_config_llr *llr = &t->link.llr;
	const bool *role = t->direct ? plays->node : plays->sw, here[MF_LINK_ENDS] = {role[t->a], role[t->b]};
	int rc = 0;

	if (here[0] == here[1] && (!here[0] || llr->carry != MF_CARRY_ALWAYS))
		return 0;
	for (int end = 0; end < MF_LINK_ENDS && rc == 0; end++)
		if (here[end])
			rc = check_port(config, llr->port[end], err, errlen);
	return rc;
}

int mf_ports_check(const struct mf_config *config, const struct mf_process_roles *plays, char *err,
		   size_t errlen)
{
	struct mf_process_roles whole = {0};
	int rc = 0;

	for (unsigned int k = 0; k < mf_config_switch_count(config); k++)
		whole.sw[k] = true;
	for (unsigned int i = 0; i < config->slots; i++)
		whole.node[i] = config->node[i].up;
	if (plays == NULL)
		plays = &whole;
	for (unsigned int i = 0; i < config->slots && rc == 0; i++) {
		rc = check_link(config, plays, i, false, err, errlen);
		if (rc == 0 && config->backup.on)
			rc = check_link(config, plays, i, true, err, errlen);
	}
	for (unsigned int i = 0; i < config->trunks && rc == 0; i++)
		rc = check_trunk(config, plays, &config->trunk[i], err, errlen);
	return rc;
}
