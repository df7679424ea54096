/* SPDX-License-Identifier: BSD-3-Clause */
/* How the effective configuration is written; see write.c. */
#ifndef CONFIG_CFG_WRITE_H
#define CONFIG_CFG_WRITE_H

#include "config/cfg.h"

/* Writing goes on when memory runs out; who began it looks at failed. */
struct put {
	const struct mf_config *config;
	const struct mf_config_tier *tier; /* that is being written */
	bool failed;
};

/* Both take the value over. @return it, or NULL: no memory */
json_t *cfg_put_set(struct put *p, json_t *object, const char *key, json_t *value);
json_t *cfg_put_append(struct put *p, json_t *array, json_t *value);
json_t *cfg_put_size(uint64_t octets);
/* All keys of a table but the nested ones. */
void cfg_put_fields(struct put *p, json_t *object, const struct cfg_field *f, const void *base);
/* Nodes by name: "*" where they are all that are able, NULL: that are there. */
json_t *cfg_put_nodes(struct put *p, const struct mf_config_set *s,
		      bool (*able)(const struct mf_config_node *));
void cfg_put_racks(struct put *p, json_t *root); /* rack.c: the names of "racks" */
void cfg_put_switches(struct put *p, json_t *root); /* switches.c: "switches", "routing" */
/* "ends" of an entry of "nodes": those of n, one of its nodes; ends.c */
void cfg_put_ends(struct put *p, json_t *entry, const struct mf_config_node *n);
void cfg_put_trunks(struct put *p, json_t *links); /* write_trunk.c: links between switches */
json_t *cfg_put_between(struct put *p, const struct mf_config_between *b); /* between.c: their ends */
void cfg_put_access(struct put *p, json_t *root); /* access.c: "regions", "limits" */
void cfg_put_backup(struct put *p, json_t *root); /* backup.c */
void cfg_put_faults(struct put *p, json_t *root); /* fault.c */
void cfg_put_tests(struct put *p, json_t *root); /* test_pattern.c */
/* Takes keys of a NULL-terminated list out again. */
void cfg_put_drop(json_t *object, const char *const *keys);
/* "stack", "bridge" of the switch, "policy" of the scheduler; policy.c */
void cfg_put_stack(struct put *p, json_t *root);
void cfg_put_bridge(struct put *p, json_t *json);
void cfg_put_policy(struct put *p, json_t *json);
/* "ports", and "carried" of a link; port.c */
void cfg_put_ports(struct put *p, json_t *root);
void cfg_put_tunnel(struct put *p, json_t *link, bool trunk, const struct mf_config_llr *llr);
void cfg_put_disable(struct put *p, json_t *link, const struct mf_config_disable *d); /* disable.c */
/* A workload with a store, but for its nodes and its trace; ycsb.c */
void cfg_put_ycsb(struct put *p, json_t *json, const struct mf_config_workload *w);
/* virtual_memory.c */
void cfg_put_vm(struct put *p, json_t *json, const struct mf_vm_timed_config *vm);
void cfg_put_spaces(struct put *p, json_t *json, const struct mf_config_workload *w);
/* "ethernet" and "workload"; write_traffic.c */
void cfg_put_traffic(struct put *p, json_t *root);

#endif
