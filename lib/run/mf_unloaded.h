/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unloaded latency of each message of a log: in a fabric of the same configuration, so with the same
 * stack, in which nothing else is under way. Measured by the same clients, hosts, switch and log: of each
 * kind and size one message, between nodes with links of the same kind, one after the other, with as much
 * time in between as it took itself, so that all of it is over.
 */
#ifndef MF_UNLOADED_H
#define MF_UNLOADED_H

#include "fabric/mf_fabric_state.h"
#include "measure/mf_message_log.h"

struct unloaded_entry {
	uint64_t key; /**< UNLOADED_NONE: there is none here */
	mf_time latency;
	uint16_t client, target; /**< between which it is measured: the first in the log */
};

#define UNLOADED_NONE UINT64_MAX

struct unloaded {
	struct unloaded_entry *slot; /**< open addressing, at most half full: [mask + 1] */
	uint32_t mask, count;
	uint16_t *link_class; /**< [nodes]: nodes of one class are alike */
	const struct unloaded_entry *last; /**< found last */
};

/**
 * Measures all whole messages of f->messages.
 * @param err  on failure one line
 * @return NULL on failure; also when it was interrupted
 */
struct unloaded *unloaded_new(const struct mf_fabric *f, const struct mf_run_options *options, char *err,
			      size_t errlen);
void unloaded_free(struct unloaded *a);

/** Unloaded latency of a whole message of this client, ps. */
mf_time unloaded_latency(struct unloaded *a, unsigned int client, const struct message *m);

#endif
