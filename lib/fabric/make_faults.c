/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the file: clocks are skewed from the start, and what cannot break in this process is refused. */
#include <errno.h>

#include "config/mf_config_query.h"
#include "fabric/mf_make.h"

/** Of the roles of this process; several rules for one clock add up. */
static void skew_clocks(struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];
		int64_t ppb = (int64_t)(c->ppm * 1000);

		if (c->class != MF_FAULT_SKEW)
			continue;
		for (unsigned int i = 0; i < f->nodes; i++) {
			if (!f->plays.node[i] || !mf_config_has(&c->link, i))
				continue;
			f->node[i].skew.ppb += ppb;
			f->node[i].skew.offset += c->offset;
			f->fault_fired[k]++;
		}
		if (c->role == MF_CONFIG_SWITCH && fabric_has_switch(f)) {
			f->skew.ppb += ppb;
			f->skew.offset += c->offset;
			f->fault_fired[k]++;
		}
	}
}

/** Whether this process has a role that a rule crashes and that node i's link to switch `plane` is of. */
static bool crashes_at(const struct mf_fabric *f, const struct mf_config_fault *c, unsigned int plane,
		       unsigned int i)
{
	if (c->class == MF_FAULT_SWITCH_CRASH)
		return c->sw == plane && f->plays.sw[plane];
	return c->class == MF_FAULT_NODE_CRASH && f->plays.node[i] && mf_config_has(&c->link, i);
}

static int refuse_crash(const struct mf_fabric *f, unsigned int rule, unsigned int i, char *err,
			size_t errlen)
{
	bool of_switch = f->config->fault[rule].class == MF_FAULT_SWITCH_CRASH;

	return make_fail(err, errlen,
			 "faults[%u].%s: the link of '%s' is carried by ports: end the process of the %s "
			 "instead",
			 rule, of_switch ? "class" : "node", f->config->node[i].name,
			 of_switch ? "switch" : "node");
}

/**
 * Roles crash within a process. A partner elsewhere would not know a link that comes back with the same
 * epoch from one that was silent for a while.
 */
static int check_crashes(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		for (unsigned int plane = 0; plane < 1U + f->config->backup.on; plane++)
			for (unsigned int i = 0; i < f->nodes; i++)
				if (crashes_at(f, &f->config->fault[k], plane, i) &&
				    fabric_is_tunnel(f, fabric_link(f, plane, i)))
					return refuse_crash(f, k, i, err, errlen);
	return 0;
}

/** A forger looks into the regions of the memory nodes, which under the wall clock are other lcores'. */
static int check_forgers(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		if (f->config->fault[k].class == MF_FAULT_FORGE)
			return make_fail(err, errlen,
					 "faults[%u].class: \"forge\" is for the virtual clock only", k);
	return 0;
}

/** The virtual clock has no lcores. */
static int check_lcores(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++)
		if (f->config->fault[k].role == MF_CONFIG_LCORE)
			return make_fail(err, errlen,
					 "faults[%u].lcore: there are lcores under the wall clock only", k);
	return 0;
}

/** "mbufs": a port is where there is a link that is carried, here or in other processes. */
static int check_mbufs(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->config->faults; k++) {
		const struct mf_config_fault *c = &f->config->fault[k];

		if (c->class != MF_FAULT_EXHAUST || c->what != MF_CONFIG_MBUFS || !fabric_whole(f))
			continue;
		for (unsigned int i = 0; i < c->link.n; i++)
			if (!fabric_is_tunnel(f, fabric_link(f, c->sw, c->link.node[i])))
				return make_fail(err, errlen,
						 "faults[%u].node: no port carries the link of '%s'", k,
						 f->config->node[c->link.node[i]].name);
	}
	return 0;
}

int make_faults(struct mf_fabric *f, char *err, size_t errlen)
{
	skew_clocks(f);
	if (f->clock == MF_CLOCK_VIRTUAL)
		return check_lcores(f, err, errlen);
	if (f->config->tests > 0)
		return make_fail(err, errlen, "test_patterns: they are for the virtual clock only");
	if (check_forgers(f, err, errlen) != 0 || check_mbufs(f, err, errlen) != 0)
		return -EINVAL;
	return check_crashes(f, err, errlen);
}
