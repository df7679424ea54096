/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

/* What cannot be read, or is no list ("(null)"), is an empty set. */
static void read_set(const char *root, const char *file, cpu_set_t *out)
{
	char line[4096];

	tree_line(root, line, sizeof(line), "%s", file);
	if (cpus_parse(line, out) != 0)
		CPU_ZERO(out);
}

/** The list of an option of the kernel, behind the flags that some have: "isolcpus=domain,2-5". */
static void from_command_line(const char *root, const char *option, cpu_set_t *out)
{
	char *text = tree_read(root, "/proc/cmdline"), *rest;
	size_t len = strlen(option);

	for (char *word = text != NULL ? strtok_r(text, " \n", &rest) : NULL; word != NULL;
	     word = strtok_r(NULL, " \n", &rest))
		if (strncmp(word, option, len) == 0) {
			word += len;
			while (strpbrk(word, "abcdefghijklmnopqrstuvwxyz_") != NULL &&
			       strchr(word, ',') != NULL)
				word = strchr(word, ',') + 1;
			if (cpus_parse(word, out) != 0)
				CPU_ZERO(out);
		}
	free(text);
}

static void look_at_cpus(struct machine *m)
{
	char *status = tree_read(m->root, "/proc/self/status"), list[4096] = "";
	const char *value = tree_key(status, "Cpus_allowed_list:");
	cpu_set_t isolated;

	read_set(m->root, CPU_FOLDER "/online", &m->online);
	read_set(m->root, CPU_FOLDER "/isolated", &m->isolated);
	read_set(m->root, CPU_FOLDER "/nohz_full", &m->nohz);
	if (cpus_none(&m->isolated))
		from_command_line(m->root, "isolcpus=", &m->isolated);
	if (cpus_none(&m->nohz))
		from_command_line(m->root, "nohz_full=", &m->nohz);
	if (value != NULL)
		sscanf(value, "%4095s", list);
	if (cpus_parse(list, &m->allowed) != 0)
		CPU_ZERO(&m->allowed);
	/* No thread starts on an isolated CPU, but one that asks for it gets there. */
	isolated = cpus_both(&m->isolated, &m->online);
	if (!cpus_none(&m->allowed))
		CPU_OR(&m->allowed, &m->allowed, &isolated);
	value = tree_key(status, "CapEff:");
	m->capabilities_known = value != NULL;
	if (value != NULL)
		m->capabilities = strtoull(value, NULL, 16);
	free(status);
}

/** Isolated CPUs where there are some; otherwise all that are allowed; not more than there are roles. */
static void choose(struct machine *m)
{
	cpu_set_t from = cpus_both(&m->isolated, &m->allowed);

	if (cpus_none(&from))
		from = m->allowed;
	CPU_ZERO(&m->chosen);
	for (int cpu = cpus_next(&from, 0); cpu >= 0; cpu = cpus_next(&from, cpu + 1))
		if (m->config == NULL || (unsigned int)CPU_COUNT(&m->chosen) < machine_roles(m))
			CPU_SET(cpu, &m->chosen);
	m->lcores = CPU_COUNT(&m->chosen);
}

unsigned int machine_roles(const struct machine *m)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < mf_config_switch_count(m->config); k++)
		if (m->plays.sw[k])
			n += m->config->switches == 0 ? 2 : 1;
	for (unsigned int i = 0; i < m->config->slots; i++)
		n += m->plays.node[i];
	return n;
}

void machine_look(struct machine *m)
{
	look_at_cpus(m);
	if (!m->given)
		choose(m);
	cgroup_read(m->root, &m->cgroup);
	m->nics = nic_list(m->root, m->nic);
	for (unsigned int i = 0; i < m->nics; i++) {
		m->dpdk_nics += m->nic[i].owner != NIC_LINUX;
		m->vfio_nics += m->nic[i].owner == NIC_VFIO;
	}
}
