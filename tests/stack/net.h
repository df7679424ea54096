/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few stacks on a network of wires, or with a bridge between them, on a clock of its own. What a wire does
 * to a frame is a script's.
 */
#ifndef NET_H
#define NET_H

#include "base/mf_rng.h"
#include "pcs/mf_frame.h"
#include "systems/edm/host/mf_host.h"
#include "systems/frames/mf_bridge.h"
#include "systems/mf_systems.h"

#define NET_NODES 8
#define NET_OPS 4096
#define NET_PERIOD 640 /* 100 Gb/s */
#define NET_WAY MF_NS(600) /* without a bridge: from a node to another */
#define NET_LINK MF_NS(60) /* with one: to it, or from it */
#define NET_MEMORY (1 << 25)

struct net;

/** A frame is sent. @return when it arrives, counted from when it would; MF_NEVER: it is lost */
typedef mf_time (*net_script)(struct net *n, unsigned int from, uint8_t *frame, uint16_t len);

struct net_frame {
	mf_time at;
	unsigned int from, to;
	uint64_t number;
	uint16_t len;
	uint8_t octets[1600];
};

struct net {
	const struct mf_stack_ops *ops;
	const struct mf_bridge_ops *bridge_ops;
	const struct mf_memory_ops *memory_ops; /**< of net_init(): flat */
	struct mf_stack_config config;
	double param[MF_PARAMS_MAX], bridge_param[MF_PARAMS_MAX];
	mf_time read_timeout, write_timeout;
	unsigned int nodes;
	net_script script;
	uint32_t egress_period; /**< of the bridge's ports; NET_PERIOD */
	void *ctx;

	mf_time now;
	struct mf_stack *stack[NET_NODES];
	struct mf_bridge *bridge;
	struct mf_memory *memory[NET_NODES];
	mf_time line[2][NET_NODES]; /**< free from then on: of a node, of a port of the bridge */
	uint64_t wants;
	struct net_frame *flying; /**< sorted by their time */
	unsigned int flies, room;
	uint64_t frames, lost, blocks[NET_NODES]; /**< sent by the nodes; blocks: with gaps */
	struct mf_completion done[NET_OPS]; /**< by user */
	bool is_done[NET_OPS];
	unsigned int begun, completed;
	uint8_t *buffer[NET_OPS];
};

/** @param bridge  its name, or NULL. Parameters may be changed before net_start() */
void net_init(struct net *n, const char *stack, const char *bridge, unsigned int nodes);
/** Number of a parameter of a table. */
unsigned int net_param(const struct mf_param *params, const char *key);
void net_start(struct net *n);
void net_stop(struct net *n);
/** The process of a node is gone, and all that it had begun; the next one has this incarnation. Its memory
 * stays. */
void net_restart(struct net *n, unsigned int node, uint32_t incarnation);

/** Submits an operation. A write has octets that hang on its number. @return its number */
unsigned int net_op(struct net *n, unsigned int from, unsigned int to, enum mf_op_kind kind, uint64_t addr,
		    uint64_t len);
/** The octets of write number i. */
void net_content(unsigned int i, uint8_t *octets, uint64_t len);
/** Whether memory has the octets of write i. */
bool net_written(const struct net *n, unsigned int i, unsigned int to, uint64_t addr, uint64_t len);

/** Runs to a date, that included. */
void net_run(struct net *n, mf_time until);
/** Runs until all operations are over; the test fails if they are not by then. */
void net_finish(struct net *n, mf_time until);

/** Drops frames by their number among those that a node sends with data, or without. */
struct net_losses {
	unsigned int from;
	bool data;
	uint64_t first, every; /**< numbers first .. first + every - 1 */
	double share; /**< of all, beside that */
	struct mf_rng rng;
	uint64_t count;
	mf_time late; /**< not lost, but so much later */
};

/** The script of struct net_losses, which is its ctx. */
mf_time net_lose(struct net *n, unsigned int from, uint8_t *frame, uint16_t len);

/** Reads, writes and counting between nodes 0 and 1, both ways; all of it must come out right. */
void net_traffic(struct net *n, unsigned int ops);

uint64_t net_counter(const struct net *n, unsigned int node, const char *name);
uint64_t net_bridge_counter(const struct net *n, const char *name);

#endif
