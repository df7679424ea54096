/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts around a tiny switch, for tests: virtual time, a fixed delay on every link, demands of a pair
 * served one after the other (D9) and granted at once. It stores and forwards whole messages.
 *
 * Spans go block by block where asked for, and a filter may drop or delay messages.
 */
#ifndef NET_H
#define NET_H

#include "systems/edm/host/mf_host.h"

#define NET_HOSTS 4
/* All times are whole periods, so that things often happen at the same time. */
#define NET_PERIOD 2560
#define NET_LINK (16 * NET_PERIOD) /**< first bit out -> first bit in */
#define NET_SWITCH (6 * NET_PERIOD)
#define NET_DRAM (32 * NET_PERIOD)
#define NET_DROP MF_NEVER

struct net;

struct net_config {
	unsigned int hosts;
	unsigned int memory_nodes; /**< the last so many */
	uint64_t memory_size;
	bool block_mode;
	struct mf_host_config host; /**< of all: node, compute, memory are filled in */
};

struct net_hooks {
	void *ctx;
	/** A message at the switch. @return delay, NET_DROP to drop it */
	mf_time (*filter)(void *ctx, const struct mf_msg *m);
	void (*completed)(void *ctx, unsigned int host, const struct mf_completion *c);
	/** Called at every time at which something happens, and at the time it returned. @return next time */
	mf_time (*client)(void *ctx, mf_time now);
};

struct net_span {
	mf_time at; /**< when it is delivered */
	struct mf_span span;
};

/** A delay line. */
struct net_link {
	struct net_span *slot;
	unsigned int head, tail;
};

struct net_demand {
	struct mf_msg m; /**< /N/ or request */
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	unsigned int words;
	uint32_t granted; /**< octets (wire octets of a mega) */
	uint32_t passed;
	bool let_out; /**< the request was forwarded */
};

#define NET_PAIR_DEMANDS 512
struct net_pair {
	struct net_demand demand[NET_PAIR_DEMANDS];
	unsigned int head, tail;
	/* observed */
	int active[2];
	int active_max[2];
	bool busy[MF_IDS]; /**< id is under way, or its request was dropped */
	mf_time dropped[MF_IDS]; /**< when */
};

struct net {
	struct net_config config;
	struct net_hooks hooks;
	mf_time now;
	struct mf_host *host[NET_HOSTS];
	struct mf_memory *memory[NET_HOSTS];
	mf_time next[NET_HOSTS];
	struct net_link up[NET_HOSTS], down[NET_HOSTS];
	mf_time free_at[NET_HOSTS]; /**< egress */
	uint64_t part[NET_HOSTS][MF_BLOCKS_MAX]; /**< ingress: message in progress */
	unsigned int parts[NET_HOSTS];
	bool in_message[NET_HOSTS];
	struct net_pair *pair[NET_HOSTS][NET_HOSTS]; /**< [compute][memory] */
	bool lose_grants; /**< /G/ are made, but do not arrive */
	uint64_t id_reuse; /**< ids that were used while under way */
	uint64_t returns, errors, acks, megas;
	uint64_t behind[MF_BEHIND_MAX + 1]; /**< demands that have so much behind them */
	mf_time id_rest_min; /**< shortest time from a drop to the next use of its id */
};

void net_config_default(struct net_config *c);
struct net *net_new(const struct net_config *c, const struct net_hooks *hooks);
void net_free(struct net *n);
/** Runs until nothing is left to do, or past a time. */
void net_run(struct net *n, mf_time until);
/** Puts words on the way down to a host as they are; the first and the last are control blocks. */
void net_inject(struct net *n, unsigned int host, mf_time at, const uint64_t *word, const uint8_t *sync,
		unsigned int count);
/** Octets at a memory node. */
uint8_t *net_memory_at(struct net *n, unsigned int host, uint64_t addr, uint32_t len);

#endif
