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

#include "base/mf_unit.h"
#include "config/mf_config.h"
#include "config/mf_config_query.h"
#include "workload/mf_workload.h"

/* Names of schedulers, where there are no "switches". */
#define CFG_SCHEDULER "scheduler"
#define CFG_BACKUP_SCHEDULER "backup-scheduler"

#define CFG_DEPTH 16 /* of our own structure; the deepest path has 6 steps */

/* A step of the path to a value: a key, or an index where key is NULL. */
struct cfg_step {
	const char *key;
	size_t index;
};

/* What an end of a node has while it is read. */
struct cfg_mark {
	const json_t *json; /* its entry of "ends"; NULL: there is none */
	int link; /* its entry in "links", -1: none yet */
};

/* A node between its entry in "nodes" and its port. */
struct cfg_node {
	struct mf_config_node node;
	unsigned int entry; /* in "nodes" */
	int port; /* -1: none yet */
	struct cfg_mark first; /* of its first end */
	int place; /* of "topology", for its end in that tier; -1: there is none */
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
	unsigned int tier; /* that it is of */
	struct cfg_place *place;
	struct cfg_wire *wire;
	unsigned int places, wires;
};

#define CFG_RACK_SECTIONS 4 /* that a rack may have: switches, nodes, links, tiers */

/* The place of an entry in a template: racks[rack].of.SECTION[entry]. */
struct cfg_origin {
	unsigned int rack, entry;
};

/* A section with what racks add to it, behind the file's own entries. */
struct cfg_rack_section {
	size_t own; /* entries of the file */
	bool there; /* the file has the section itself */
	struct cfg_origin *origin;
	size_t origins;
};

/* All 0: there are no "racks". */
struct cfg_racks {
	struct cfg_rack_section section[CFG_RACK_SECTIONS];
	bool *has_of, *used; /* by entry of "racks": it has a template; something is in it */
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
	struct mf_config_tier *tier; /* of it, which is being read */
	/* Defaults for the nodes. */
	struct mf_memory_config memory;
	char memory_type[MF_CONFIG_NAME_LEN];
	struct mf_vm_timed_config vm;
	struct mf_config_host host;
	uint32_t once; /* of all: enum mf_config_auto */
	bool client; /* a "timing" says what the client takes */
	struct mf_config_link link;
	const json_t *nodes; /* "nodes" of the file */
	struct cfg_node *list; /* nodes in the order of the file, MF_NODES_MAX */
	struct cfg_mark *more; /* [config->ends]: of ends behind the first ones */
	struct cfg_topology topology;
	struct cfg_racks racks;
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
	CFG_MEMBER, /* the same, or two such names with a dot between: of what is in a rack */
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
#define CFG_PERIOD_MIN MF_UNIT_BLOCK_MIN /* ps a block */
#define CFG_PERIOD_MAX MF_UNIT_BLOCK_MAX
#define CFG_PROPAGATION_MAX MF_US(100)

/** A time that the file does not say, in whose place cfg_by_line() puts the default. */
#define CFG_BY_LINE MF_NEVER

#define CFG_FILE_MAX (16 << 20) /* octets of a file that is read as a whole */

/* Tables that reader and writer share. */
extern const struct cfg_field cfg_clock_fields[], cfg_memory_fields[], cfg_host_fields[], cfg_link_fields[],
	cfg_switch_fields[], cfg_sched_fields[], cfg_sched_time_fields[], cfg_ethernet_fields[],
	cfg_workload_fields[], cfg_trace_fields[], cfg_ycsb_fields[], cfg_report_fields[],
	cfg_series_fields[];
extern const char *const cfg_clock_names[],
	*const cfg_direction_names[], *const cfg_role_names[],
					      *const cfg_mix_names[],
						      *const cfg_pattern_names[],
							      *const cfg_dist_names[],
								      *const cfg_app_names[],
									      *const cfg_stage_names[];

/* by_line.c: when all links are known */
void cfg_by_line(struct cfg *c, const json_t *root);

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
void cfg_where(struct cfg *c, const char *key, char *buf, size_t capacity);

/* Where we are in the file, which for what a rack has is its template; origin.c. @return how many steps */
unsigned int cfg_steps(const struct cfg *c, struct cfg_step out[CFG_DEPTH + 3]);
/* The path to an entry of a section at the top. */
void cfg_where_entry(struct cfg *c, const char *section, size_t index, char *buf, size_t capacity);

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
int cfg_tiers(struct cfg *c, const json_t *root); /* tier.c: "tiers", or what stands for the only one */
/* Octets at the beginning of a tier's name that are the name of its rack and a dot. */
size_t cfg_tier_prefix(const struct mf_config_tier *t);
/* The key "tier" of an object. *tier stays where it is not there. */
int cfg_tier_of(struct cfg *c, const json_t *json, int *tier);
int cfg_tier_links(struct cfg *c, const json_t *root); /* "link" of each tier */
int cfg_numbers(struct cfg *c); /* numbers of nodes in the tiers */
/* Whether two nodes can talk. key: what names them */
int cfg_share_tier(struct cfg *c, const char *key, unsigned int a, unsigned int b);
/* As mf_config_end_in(). */
struct mf_config_end *cfg_end_in(struct mf_config *config, unsigned int node, unsigned int tier);
void cfg_tiers_free(struct mf_config *config);
int cfg_proto(struct cfg *c, const json_t *json);
int cfg_switch(struct cfg *c, const json_t *json);
int cfg_sched(struct cfg *c, const json_t *json);
int cfg_report(struct cfg *c, const json_t *json);
int cfg_placement(struct cfg *c, const json_t *json);
/* Whether a bridge can do what it promises on these links. */
int cfg_bridge_check(struct cfg *c); /* bridge.c */
int cfg_stack(struct cfg *c, const json_t *json); /* policy.c */
int cfg_bridge(struct cfg *c, const json_t *json);
int cfg_policy(struct cfg *c, const json_t *json);
int cfg_timing(struct cfg *c, const json_t *json); /* timing.c */
extern const char *const cfg_rack_sections[CFG_RACK_SECTIONS]; /* "switches", "nodes", "links", "tiers" */
int cfg_racks(struct cfg *c, json_t *root); /* rack.c: adds what they have to root's sections */
void cfg_racks_free(struct cfg *c);
/* Whether every rack has something in it. */
int cfg_racks_used(struct cfg *c);
/* The name of rack i of an entry. */
void cfg_rack_name(const struct mf_config_group *g, unsigned int i, char out[MF_CONFIG_NAME_LEN + 8]);
/* Whether a rack or an entry of "racks" is called so. */
bool cfg_is_rack(const struct cfg *c, const char *name);
/* Whether a name of a node or switch may have its dot. rack: set, see struct mf_config_node. */
int cfg_rack_of(struct cfg *c, const char *name, uint16_t *rack);
/* Adds what the racks of an entry have to whole[CFG_RACK_SECTIONS]; rack_template.c */
int cfg_rack_write(struct cfg *c, unsigned int rack, const json_t *of, json_t **whole);
int cfg_nodes(struct cfg *c, const json_t *root); /* node.c: memory, host, nodes */
int cfg_links(struct cfg *c, const json_t *root); /* link.c: link, links of nodes */
/* The keys of a link that stand in json. */
int cfg_link(struct cfg *c, const json_t *json, bool trunk, struct mf_config_link *link);
/* direct.c: which tiers are a link between two nodes */
int cfg_direct(struct cfg *c, const json_t *root);
/* Whether an entry of "nodes" has this name, or makes a node that has it. After cfg_direct(). */
bool cfg_is_node(const struct cfg *c, const json_t *name);
/* Whether an entry of "links" is between two nodes. */
bool cfg_is_direct(const struct cfg *c, const json_t *entry);
/* "to" of an end in such a tier; NULL: it is not there. */
int cfg_direct_end(struct cfg *c, const json_t *to);
int cfg_direct_links(struct cfg *c, const json_t *root); /* the links of such tiers */
/* Whether "between" of a fault names two nodes that have such a link. b: set then */
bool cfg_direct_between(const struct mf_config *config, const json_t *json, struct mf_config_between *b);
int cfg_switches(struct cfg *c, const json_t *root); /* switches.c: switches, routing */
/* Adds switches of an entry that has no more than this: count, named by name and number, or one. */
int cfg_add_switches(struct cfg *c, const char *name, uint32_t count);
int cfg_topology(struct cfg *c, const json_t *json); /* topology.c: switches, links and places */
/* The link of a place, if it is of that tier, or the default of the tier. @param place  -1: none */
struct mf_config_link cfg_place_link(const struct cfg *c, unsigned int tier, int place);
#define CFG_ENDS_MAX 64 /* of a node */

/* Ends of the nodes of an entry. */
struct cfg_ends {
	unsigned int n; /* of each */
	uint16_t tier[CFG_ENDS_MAX]; /* [n] */
	const json_t *json[CFG_ENDS_MAX]; /* [n]: what the file says of it, or NULL */
	uint16_t *to; /* [n * count]: end k of node i is at switch to[k * count + i] */
	int *place; /* [count]: of "topology", that their ends in its tier take; -1: there is none */
};

/*
 * ends.c: "ends" of an entry of "nodes", which stands for count nodes.
 * @param entry  NULL: of a node that is not in the file
 * @param tier   of nodes without "ends"
 * @param e      set; freed by cfg_ends_free(), after a failure, too
 */
int cfg_ends(struct cfg *c, const json_t *entry, unsigned int count, unsigned int tier, struct cfg_ends *e);
void cfg_ends_free(struct cfg_ends *e);
/* Gives node number i of an entry its ends. */
int cfg_ends_take(struct cfg *c, const struct cfg_ends *e, unsigned int count, unsigned int i,
		  struct cfg_node *node);
/* End k of a node, and what is read of it. */
struct mf_config_end *cfg_end(struct cfg *c, struct cfg_node *n, unsigned int k);
struct cfg_mark *cfg_mark(struct cfg *c, struct cfg_node *n, unsigned int k);
int cfg_trunks(struct cfg *c, const json_t *root); /* trunk.c: links between switches */
int cfg_between(struct cfg *c, const json_t *json, struct mf_config_between *b); /* between.c: their ends */
int cfg_ports(struct cfg *c, const json_t *json); /* port.c */
/* "carried" of a link. trunk: between switches. */
int cfg_tunnel(struct cfg *c, const json_t *link, bool trunk, struct mf_config_llr *llr);
/* "disable" of a link; disable.c */
int cfg_disable(struct cfg *c, const json_t *link, struct mf_config_disable *d);
int cfg_ports_used(struct cfg *c);
/** Sets the link to a second switch as that to the first one, but at no port yet. */
void cfg_llr_second(struct mf_config_node *n);
void cfg_llr_default(struct mf_config_llr *llr);
/* sections.c: the clocks' times where the workload has an end, and the file does not say them. */
void cfg_clock_finite(struct mf_config *config, const json_t *root);
int cfg_regions(struct cfg *c, const json_t *json); /* access.c */
/* virtual_memory.c: the keys of "memory" that are of the type "virtual". */
#define CFG_VM_KEYS 16 /* with the end of the table */
#define CFG_MEMORY_MAX (UINT64_C(1) << 44)
extern const struct mf_vm_timed_config cfg_vm_default;
/* A table of these keys. @param more  room for CFG_VM_KEYS */
void cfg_vm_known(struct cfg_field *more);
/* Reads them. size: of the file, or set where "pages" says it */
int cfg_vm_read(struct cfg *c, const json_t *json, struct mf_vm_timed_config *vm, uint64_t *size);
/* Refuses them, for another type. */
int cfg_vm_refuse(struct cfg *c, const json_t *json);
/* Whether all else of the file goes with such memories. */
int cfg_vm_fabric(struct cfg *c, const json_t *root);
/** A node with such memory; NULL: none has it. */
const struct mf_config_node *cfg_vm_any(const struct mf_config *config);
/* Where clients of such memories are; after "span" was read. */
#define CFG_SPACES_OF_NODE (1u << MF_SPACE_OF_NODE_BITS)
extern const struct cfg_field cfg_spaces_fields[];
int cfg_workload_spaces(struct cfg *c, const json_t *json, struct mf_config_workload *w);
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
 * set: overwritten; what it has of memory is freed by cfg_set_free(), after a failure, too.
 */
int cfg_set(struct cfg *c, const json_t *object, const char *key, bool (*able)(const struct mf_config_node *),
	    const char *ability, struct mf_config_set *set);
/* The same of a value, where we are. NULL: "*" */
int cfg_set_at(struct cfg *c, const json_t *json, bool (*able)(const struct mf_config_node *),
	       const char *ability, struct mf_config_set *set);
void cfg_set_free(struct mf_config_set *set);
/* Whether the set has another node than this one. */
bool cfg_set_other(const struct mf_config_set *set, unsigned int node);
bool cfg_is_compute(const struct mf_config_node *n);
bool cfg_is_memory(const struct mf_config_node *n);

#endif
