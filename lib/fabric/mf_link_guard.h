/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that corruption disables ("disable", EDM 3.3) or puts into local fault: what watches them, and what
 * came of it. A receiver in local fault hears nothing and tells its sender so (remote fault, IEEE 802.3
 * 46.3.4), so the link is down for both ends until it is over. Where there are two switches a node has a link
 * to each of them, and what happens to the one says nothing of the other: the back-up network takes over.
 */
#ifndef MF_LINK_GUARD_H
#define MF_LINK_GUARD_H

#include <stdatomic.h>

#include "config/mf_config.h"
#include "pcs/mf_guard.h"

struct mf_fabric;
struct mf_run_options;

/** Both ends of a link. */
struct link_guard {
	struct mf_guard end[MF_LINK_ENDS]; /**< what arrives there */
	bool on;
	bool rule; /**< "disable" is there: the link is disabled until it is mended. Else: local fault */
	atomic_bool disabled; /**< it is down for that; wall clock: by the end that set it */
	uint64_t times[MF_GUARD_CAUSES]; /**< that it was disabled, by cause */
	uint64_t repaired;
	enum mf_guard_cause cause; /**< of the last time, */
	enum mf_link_end seen_by; /**< the end that saw it, */
	mf_time at; /**< and when it was too much */
};

/** Makes f->guards, where a link has "disable" or blocks may be damaged. @return 0 or -ENOMEM */
int guards_init(struct mf_fabric *f);
void guards_fini(struct mf_fabric *f);
/** Whether any link is watched. @param rule  with "disable" */
bool guards_watch(const struct mf_fabric *f, bool rule);

/**
 * What watches an end of a link of the graph; NULL: nothing does.
 * @param end  between switches: which of the link's two ends
 */
struct mf_guard *guards_of(const struct mf_fabric *f, uint32_t link, enum mf_link_end end);
/** "node", "switch", or of a link between switches the name of that. */
const char *guards_end_name(const struct mf_fabric *f, uint32_t link, enum mf_link_end end);

/** When corruption was too much at either end, and is not mended; MF_NEVER: it was not. */
static inline mf_time guard_tripped(const struct link_guard *g)
{
	return mf_time_min(g->end[MF_LINK_NODE].tripped, g->end[MF_LINK_SWITCH].tripped);
}

/** Which end saw it first; for an engine that calls both ends from one thread. */
static inline enum mf_link_end guard_seen_by(const struct link_guard *g)
{
	return g->end[MF_LINK_NODE].tripped <= g->end[MF_LINK_SWITCH].tripped ? MF_LINK_NODE : MF_LINK_SWITCH;
}

/** After an end that found too much has set `disabled`: counts it and, with "disable", tells the user. */
void guards_disable(struct mf_fabric *f, uint32_t link, enum mf_link_end seen_by,
		    const struct mf_run_options *options);
/** How long after that the link is mended, or the local fault is over, ps; 0: never. */
mf_time guards_over(const struct mf_fabric *f, uint32_t link);
/** It is mended, or over. The caller resets the guards of both ends, each on its own lcore. */
void guards_repair(struct mf_fabric *f, uint32_t link);

#endif
