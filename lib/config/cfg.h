/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the fabric file is read: every object of it has a table of its keys, which reads them, checks
 * them by themselves, and writes them again. What concerns several keys is checked by the section.
 *
 * Functions that can fail return 0 or -EINVAL (-ENOMEM) and have then written the message.
 */
#ifndef CONFIG_CFG_H
#define CONFIG_CFG_H

#include <jansson.h>

#include "config/mf_config.h"
#include "config/mf_config_query.h"
#include "workload/mf_workload.h"

#define CFG_DEPTH 16 /* of our own structure; the deepest path has 6 steps */

/* A step of the path to a value: a key, or an index where key is NULL. */
struct cfg_step {
	const char *key;
	size_t index;
};

/* A node between its entry in "nodes" and its port. */
struct cfg_node {
	struct mf_config_node node;
	unsigned int entry; /* in "nodes" */
	int port; /* -1: none yet */
	int link; /* its entry in "links", -1: none yet */
	int place; /* of "topology"; -1: there is none */
	bool added; /* it is not in the file */
};

/* A place for a node at a switch, and a link between two switches: of "topology". */
struct cfg_place {
	uint16_t sw; /* in switch_list */
	bool taken;
	uint32_t period; /* of its link; 0: that of "link" */
	mf_time propagation; /* MF_NEVER: that of "link" */
};

struct cfg_wire {
	uint16_t a, b;
	uint32_t period;
	mf_time propagation;
};

/* All 0: there is no "topology". */
struct cfg_topology {
	struct cfg_place *place;
	struct cfg_wire *wire;
	unsigned int places, wires;
};

/* One reading of one file. */
struct cfg {
	const char *file; /* name for messages; NULL: not from a file, the messages have no line either */
	const char *text;
	size_t len;
	char *err;
	size_t errlen;
	struct cfg_step step[CFG_DEPTH]; /* where we are */
	unsigned int depth;
	struct mf_config *config; /* what is being filled in */
	/* Defaults for the nodes. */
	struct mf_memory_config memory;
	char memory_type[MF_CONFIG_NAME_LEN];
	struct mf_config_host host;
	uint32_t once; /* of all: enum mf_config_auto */
	struct mf_config_link link;
	struct cfg_node *list; /* nodes in the order of the file, MF_PORTS_MAX */
	struct cfg_topology topology;
};

enum cfg_kind {
	CFG_NESTED, /* read by the section itself */
	CFG_BOOL,
	CFG_U16,
	CFG_U32,
	CFG_U64,
	CFG_REAL,
	CFG_TIME, /* string with unit -> mf_time */
	CFG_SIZE32, /* number, or string with unit */
	CFG_SIZE64,
	CFG_RATE, /* "25G" -> ps a block, uint32_t */
	CFG_ENUM, /* a name -> its place in names */
	CFG_CHOICE, /* a name -> the name, char[MF_CONFIG_NAME_LEN] */
	CFG_NAME, /* letters, digits, _ and -; char[MF_CONFIG_NAME_LEN] */
	CFG_TEXT, /* char[hi] */
};

/* A key of an object and the member that it fills. */
struct cfg_field {
	const char *key; /* NULL ends a table */
	enum cfg_kind kind;
	size_t offset;
	uint64_t lo, hi; /* inclusive */
	double rlo, rhi; /* REAL */
	const char *const *names; /* ENUM, CHOICE: NULL ends it */
	bool pow2;
	unsigned int multiple; /* of it; 0: any */
	bool per_clock; /* an array of MF_CLOCKS: {"wall": a, "virtual": b}, or one value for both */
};

#define CFG_AT(type, member) .offset = offsetof(type, member)
#define CFG_RANGE(from, to) .lo = (from), .hi = (to)

/* Of links. */
#define CFG_PERIOD_MIN 80 /* ps a block */
#define CFG_PERIOD_MAX 64000
#define CFG_PROPAGATION_MAX MF_US(100)

#define CFG_FILE_MAX (16 << 20) /* octets of a file that is read as a whole */

/* Tables that reader and writer share. */
extern const struct cfg_field cfg_clock_fields[], cfg_memory_fields[], cfg_host_fields[], cfg_link_fields[],
	cfg_switch_fields[], cfg_sched_fields[], cfg_sched_time_fields[], cfg_ethernet_fields[],
	cfg_workload_fields[], cfg_trace_fields[], cfg_ycsb_fields[], cfg_report_fields[];
extern const char *const cfg_clock_names[],
	*const cfg_direction_names[], *const cfg_role_names[],
					      *const cfg_mix_names[],
						      *const cfg_pattern_names[],
							      *const cfg_dist_names[],
								      *const cfg_app_names[],
									      *const cfg_stage_names[];

/* error.c */
void cfg_push(struct cfg *c, const char *key);
void cfg_push_index(struct cfg *c, size_t index);
void cfg_pop(struct cfg *c);
/* Writes "FILE:LINE: path: reason" for where we are. @return -EINVAL */
int cfg_fail(struct cfg *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a key of the object where we are. */
int cfg_fail_key(struct cfg *c, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int cfg_fail_json(struct cfg *c, const json_error_t *error);
int cfg_fail_memory(struct cfg *c);
/* The path to a key of the object where we are. */
void cfg_where(struct cfg *c, const char *key, char *buf, size_t room);

/* A file is read that a key of the object where we are names; files.c */
int cfg_file(struct cfg *c, const char *key, const char *path);
void cfg_files_free(struct mf_config *config);

/* field.c */
int cfg_is(struct cfg *c, const json_t *json, json_type type);
/* json is an object with no keys but those of the two tables (more may be NULL). */
int cfg_known(struct cfg *c, const json_t *json, const struct cfg_field *table, const struct cfg_field *more);
/* Reads those keys of the table that are there into base. */
int cfg_read(struct cfg *c, const json_t *json, const struct cfg_field *table, void *base);
/* cfg_known() and cfg_read(). */
int cfg_object(struct cfg *c, const json_t *json, const struct cfg_field *table, void *base);
/* Goes to json[key] and reads it with fn, if it is there. */
int cfg_section(struct cfg *c, const json_t *json, const char *key,
		int (*fn)(struct cfg *c, const json_t *json));
/* Refuses the keys of a NULL-terminated list, because of reason. */
int cfg_refuse(struct cfg *c, const json_t *json, const char *const *keys, const char *reason);
/* A size in octets, lo..hi. */
int cfg_size(struct cfg *c, const json_t *json, uint64_t lo, uint64_t hi, uint64_t *out);
int cfg_real(struct cfg *c, const json_t *json, double lo, double hi, double *out);
int cfg_enum(struct cfg *c, const json_t *json, const char *const *names, uint32_t *out);

/* workload.c */
int cfg_loop(struct cfg *c, const json_t *json, struct mf_config_workload *w);
void cfg_workload_free(struct mf_config *config);

/* The sections, in the order in which they are read. */
int cfg_watchdog(struct cfg *c); /* sections.c */
int cfg_clock(struct cfg *c, const json_t *json);
int cfg_proto(struct cfg *c, const json_t *json);
int cfg_switch(struct cfg *c, const json_t *json);
int cfg_sched(struct cfg *c, const json_t *json);
int cfg_report(struct cfg *c, const json_t *json);
int cfg_placement(struct cfg *c, const json_t *json);
/* Whether a bridge can do what it promises on these links. */
int cfg_bridge_check(struct cfg *c); /* bridge.c */
int cfg_stack(struct cfg *c, const json_t *json); /* policy.c */
int cfg_bridge(struct cfg *c, const json_t *json);
int cfg_timing(struct cfg *c, const json_t *json); /* timing.c */
int cfg_nodes(struct cfg *c, const json_t *root); /* node.c: memory, host, nodes */
int cfg_links(struct cfg *c, const json_t *root); /* link.c: link, links of nodes */
/* The keys of a link that stand in json. */
int cfg_link(struct cfg *c, const json_t *json, bool trunk, struct mf_config_link *link);
int cfg_switches(struct cfg *c, const json_t *root); /* switches.c: switches, routing */
/* Adds switches of an entry that has no more than this: count, named by name and number, or one. */
int cfg_add_switches(struct cfg *c, const char *name, uint32_t count);
int cfg_topology(struct cfg *c, const json_t *json); /* topology.c: switches, links and places */
/* The link of a place, or the default. @param place  -1: none */
struct mf_config_link cfg_place_link(const struct cfg *c, int place);
/*
 * ends.c: "ends" of an entry of "nodes", which stands for count nodes: node i is at switch to[i].
 * @param to     [count], set
 * @param place  [count], set: places of "topology" that they take; -1: there are none
 */
int cfg_ends(struct cfg *c, const json_t *entry, unsigned int count, uint16_t *to, int *place);
int cfg_trunks(struct cfg *c, const json_t *root); /* trunk.c: links between switches */
int cfg_between(struct cfg *c, const json_t *json, struct mf_config_between *b); /* between.c: their ends */
int cfg_ports(struct cfg *c, const json_t *json); /* port.c */
/* "carried" of a link. trunk: between switches. */
int cfg_carried(struct cfg *c, const json_t *link, bool trunk, struct mf_config_llr *llr);
/* "disable" of a link; disable.c */
int cfg_disable(struct cfg *c, const json_t *link, struct mf_config_disable *d);
int cfg_ports_used(struct cfg *c);
/** Sets the link to a second switch as that to the first one, but at no port yet. */
void cfg_llr_second(struct mf_config_node *n);
void cfg_llr_default(struct mf_config_llr *llr);
/* sections.c: the clocks' times where the workload has an end, and the file does not say them. */
void cfg_clock_finite(struct mf_config *config, const json_t *root);
int cfg_regions(struct cfg *c, const json_t *json); /* access.c */
int cfg_limits(struct cfg *c, const json_t *json);
int cfg_backup(struct cfg *c, const json_t *json); /* backup.c */
int cfg_faults(struct cfg *c, const json_t *json); /* fault.c */
int cfg_tests(struct cfg *c, const json_t *json); /* test_pattern.c: test_patterns */
int cfg_ethernet(struct cfg *c, const json_t *json); /* traffic.c */
int cfg_workload(struct cfg *c, const json_t *json); /* workload.c */
/* ycsb.c: a workload with the key "ycsb". */
int cfg_ycsb(struct cfg *c, const json_t *json, struct mf_config_workload *w);
/* trace.c: a workload with the key "trace". */
int cfg_trace(struct cfg *c, const json_t *json, struct mf_config_workload *w);
void cfg_trace_free(struct mf_config_trace *t);
int cfg_size_dist(struct cfg *c, const json_t *json, struct mf_config_size *s); /* size.c */
int cfg_size_app(struct cfg *c, const json_t *json, struct mf_config_size *s); /* application.c */
/* The points of a file; cdf.c */
int cfg_size_file(struct cfg *c, const json_t *path, struct mf_config_size *s);
/* Adds point i of a distribution to its mean. */
void cfg_size_point(struct mf_config_size *s, unsigned int i);
/* A path that does not begin at the root begins where the fabric file is. @return to be freed; NULL: no
 * memory */
char *cfg_path(const struct cfg *c, const char *path); /* trace.c */

/*
 * node_set.c: nodes by name: "*", a node, an entry of "nodes", or an array of such names.
 * Names must have the ability (NULL: any); "*" are those that have it.
 */
int cfg_set(struct cfg *c, const json_t *object, const char *key, bool (*able)(const struct mf_config_node *),
	    const char *ability, struct mf_config_set *set);
/* Whether the set has another node than this one. */
bool cfg_set_other(const struct mf_config_set *set, unsigned int node);
bool cfg_is_compute(const struct mf_config_node *n);
bool cfg_is_memory(const struct mf_config_node *n);

#endif
