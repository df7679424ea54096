/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of a fabric that corruption disables ("disable" of a link, EDM 3.3): what watches them, what came of it. */
#ifndef GUARDS_H
#define GUARDS_H

#include <jansson.h>

#include "mf_config.h"
#include "mf_guard.h"

struct mf_fabric;
struct mf_run_options;

/** Both ends of a link. */
struct link_guard {
	struct mf_guard end[MF_LINK_ENDS]; /**< what arrives there */
	bool on;
	bool disabled;
	uint64_t times[MF_GUARD_CAUSES]; /**< that it was disabled, by cause */
	uint64_t repaired;
	enum mf_guard_cause cause; /**< of the last time, */
	enum mf_link_end seen_by; /**< the end that saw it, */
	mf_time at; /**< and when it was too much */
};

/** Where a link of the file has "disable". @return 0 or -ENOMEM */
int guards_init(struct mf_fabric *f);
void guards_fini(struct mf_fabric *f);

/** What watches an end; NULL: nothing does. */
struct mf_guard *guards_of(const struct mf_fabric *f, unsigned int node, enum mf_link_end end);

/** When corruption was too much at either end, and is not mended; MF_NEVER: it was not. */
static inline mf_time guard_tripped(const struct link_guard *g)
{
	return mf_time_min(g->end[MF_LINK_NODE].tripped, g->end[MF_LINK_SWITCH].tripped);
}

/** It is disabled, and told. */
void guards_disable(struct mf_fabric *f, unsigned int node, const struct mf_run_options *options);
/** Somebody has mended it. */
void guards_repair(struct mf_fabric *f, unsigned int node);

/** What has been disabled. */
json_t *guards_json(const struct mf_fabric *f);

#endif
