/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the ports of a fabric that this machine is to have are there, and would take link frames. Without
 * --run nobody knows which of them are this machine's: what is not here may be another one's.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device.h"

#define TOLD 8 /* a line has room for so many that are good */

static bool wanted(const struct machine *m)
{
	return m->config != NULL && m->config->ports > 0;
}

/** Some role that is played here has an end of a link there. */
static bool is_here(const struct machine *m, unsigned int port)
{
	for (unsigned int n = 0; n < m->config->slots; n++) {
		const struct mf_config_node *node = &m->config->node[n];

		if (!node->up)
			continue;
		if ((m->plays.node[n] && node->link.llr.port[MF_LINK_NODE] == (int)port) ||
		    (m->plays.node[n] && node->backup_llr.port[MF_LINK_NODE] == (int)port) ||
		    (!node->direct && m->plays.sw[node->to] &&
		     node->link.llr.port[MF_LINK_SWITCH] == (int)port) ||
		    (m->plays.sw[1] && node->backup_llr.port[MF_LINK_SWITCH] == (int)port))
			return true;
	}
	for (unsigned int i = 0; i < m->config->trunks; i++) {
		const struct mf_config_trunk *t = &m->config->trunk[i];
		const bool *role = t->direct ? m->plays.node : m->plays.sw;

		if ((role[t->a] && t->link.llr.port[0] == (int)port) ||
		    (role[t->b] && t->link.llr.port[1] == (int)port))
			return true;
	}
	return false;
}

/** Processes that meet here by memif: the switch, and one for each port that nodes have. */
static unsigned int processes(const struct machine *m)
{
	unsigned int n = 0;
	struct device d;

	for (unsigned int i = 0; i < m->config->ports; i++) {
		bool of_nodes = false;

		for (unsigned int k = 0; k < m->config->slots; k++)
			of_nodes |= m->config->node[k].up &&
				    m->config->node[k].link.llr.port[MF_LINK_NODE] == (int)i;
		device_read(m->config->port[i].device, &d);
		n += of_nodes && strcmp(d.driver, "net_memif") == 0;
	}
	return n > 0 ? n + 1 : 0;
}

static void look_at_cpus(const struct machine *m, struct finding *f)
{
	unsigned int n = m->whole ? processes(m) : 0, cpus = (unsigned int)CPU_COUNT(&m->allowed);

	if (n == 0 || cpus == 0 || n <= cpus)
		return;
	say(f, "%u processes poll on %u CPUs: it works, slowly", n, cpus);
	worse(f, WARN, "%u CPUs, one for each process", n);
}

static void run(const struct machine *m, struct finding *f)
{
	unsigned int good = 0, all = 0;

	for (unsigned int i = 0; i < m->config->ports; i++) {
		const struct mf_config_port *p = &m->config->port[i];
		struct device_fault fault = {0};
		struct device d;

		if (!is_here(m, i))
			continue;
		all++;
		device_read(p->device, &d);
		if (device_look(m, p, &d, &fault) == PASS) {
			if (good++ < TOLD)
				say(f, "%s: %s%s%s", p->name, d.name, fault.what[0] != '\0' ? ", " : "",
				    fault.what);
			continue;
		}
		say(f, "%s: %s: %s", p->name, d.name, fault.what);
		if (fault.level > f->level || strstr(f->mend, fault.mend) == NULL)
			worse(f, fault.level, "%s", fault.mend);
	}
	if (good > TOLD)
		say(f, "and %u more", good - TOLD);
	if (all == 0)
		say(f, "none is of these roles");
	look_at_cpus(m, f);
}

const struct check check_fabric_ports = {.name = "fabric ports", .run = run, .wanted = wanted};
