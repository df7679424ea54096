/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole fabric: built from a fabric file for one of the two clocks, run, and asked for its result.
 */
#ifndef MF_FABRIC_H
#define MF_FABRIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "config/mf_config.h"
#include "fabric/mf_run.h"

struct mf_history;

/**
 * Builds a fabric. The configuration must outlive it.
 * @param err  on failure: one line
 * @return NULL on failure
 */
struct mf_fabric *mf_fabric_new(const struct mf_config *config, enum mf_clock clock, char *err,
				size_t errlen);
/** The same, for a process that plays some of the roles only. @param plays  NULL: all. Copied */
struct mf_fabric *mf_fabric_new_process(const struct mf_config *config, enum mf_clock clock,
					const struct mf_process_roles *plays, char *err, size_t errlen);
void mf_fabric_free(struct mf_fabric *f);

/**
 * Whether this machine lets a process have a port, as far as can be known before anything is started: the
 * socket of a memif. Changes nothing.
 * @param root  of all absolute paths; "": this machine's
 * @param err  on failure one line
 * @return 0 or -errno
 */
int mf_port_check(const struct mf_config_port *port, const char *root, char *err, size_t errlen);

/**
 * Whether this machine lets a process have the ports of the roles that it plays: mf_port_check().
 * @param plays  NULL: all roles
 * @param err  on failure one line with the key
 * @return 0 or -errno
 */
int mf_ports_check(const struct mf_config *config, const struct mf_process_roles *plays, char *err,
		   size_t errlen);

/** Runs it to its end; once. @return 0 or -errno */
int mf_fabric_run(struct mf_fabric *f, const struct mf_run_options *options);
/** Of a run that failed: one line that says more than the error number. NULL: there is none */
const char *mf_fabric_error(const struct mf_fabric *f);

/**
 * Repeats a recorded run, role by role, through the libraries alone: no EAL, no clock, no other role.
 * Everything that a role gives is compared octet by octet with what is recorded.
 *
 * @param config  the one that the run was recorded with
 * @param dir     the folder of the record: one file for each role
 * @param out     a line for each role: what was identical, and the first difference; or why its record
 *                cannot be replayed
 * @return 0: all identical; > 0: number of outputs that differ; -ENOENT: a record is missing; -EINVAL: one
 *         is damaged, or of another configuration; or another -errno. The other roles are replayed still
 */
int mf_fabric_replay(const struct mf_config *config, const char *dir, FILE *out);

/**
 * Whether the run was sound: samples in every kind that the workload has, nothing lost, damaged or
 * mismatched.
 * @param err  the first reason why not, one line
 */
bool mf_fabric_sound(const struct mf_fabric *f, char *err, size_t errlen);

/** The result as JSON (docs/result.schema.json): "result" and "run". The caller owns it. NULL: no memory */
json_t *mf_fabric_result(const struct mf_fabric *f);

/**
 * Writes the log of messages as CSV: a line that names the columns with their units, and a line for every
 * measured message, by client, then as they began. Columns are constant; what never was is empty.
 *
 * @return 0; -ENOENT: the run had no log; or -errno of out
 */
int mf_fabric_messages(const struct mf_fabric *f, FILE *out);

/**
 * What the clients of this process began, and what came of it (mf_history.h), behind a run; the fabric's.
 * NULL: the run had no history.
 */
const struct mf_history *mf_fabric_history(const struct mf_fabric *f);

/** The number of a node in its network, by which memory nodes know it (mf_space.h). Any thread. */
uint16_t mf_fabric_number(const struct mf_fabric *f, unsigned int node);

#endif
