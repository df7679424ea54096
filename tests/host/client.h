/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that issue random operations on every memory node and check every result: a pair is in
 * order, so a read returns what its region held when the read was submitted. Each host has a region
 * of its own at each memory node.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "net.h"

#define CLIENT_DEPTH_MAX 64
#define CLIENT_OPS_MAX 20000

struct client_config {
	unsigned int ops; /**< of each host */
	unsigned int depth; /**< at most so many under way */
	uint32_t size_max;
	mf_time think; /**< at most so long from one submission to the next */
	unsigned int weight[MF_OPS]; /**< how often each kind */
	bool may_fail; /**< results of failed operations are not looked at, and reads not compared */
	uint64_t seed;
	/* of a thousand messages at the switch: */
	unsigned int lost, late;
	mf_time lateness;
};

struct client_slot {
	struct mf_op op;
	uint8_t *expected; /**< read: data; write: what was written */
	uint64_t old; /**< RMW */
	bool used;
};

struct client {
	uint64_t rng;
	mf_time next;
	unsigned int issued, done;
	bool drawn; /**< an operation is drawn, but found the queue full */
	struct mf_op op;
	struct client_slot slot[CLIENT_DEPTH_MAX];
	uint8_t *shadow[NET_HOSTS];
	struct mf_completion *log;
	uint64_t failed[MF_STATUSES], again;
};

struct clients {
	struct client_config config;
	struct net *net;
	uint64_t region;
	struct client client[NET_HOSTS];
	uint64_t fault_rng[NET_HOSTS]; /**< one for each source: its messages come in order in every mode */
	uint64_t faults;
	uint64_t mismatches;
};

uint64_t client_random(uint64_t *rng);
struct clients *clients_new(const struct client_config *c);
/** Hooks for net_new(); clients_start() then takes the net. */
struct net_hooks clients_hooks(struct clients *cs);
void clients_start(struct clients *cs, struct net *n);
void clients_free(struct clients *cs);
/** Same completions at the same times: the first that differs in *host, *index. */
bool clients_same(const struct clients *a, const struct clients *b, unsigned int *host, unsigned int *index);
/** All operations of all hosts are done. */
bool clients_done(const struct clients *cs);

#endif
