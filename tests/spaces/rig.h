/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of spaces over a host for tests, driven as the virtual clock drives it. */
#ifndef RIG_H
#define RIG_H

#include "far.h"
#include "spaces/mf_spaces.h"

#define RIG_BASE UINT64_C(0x100000)
#define RIG_PAGE UINT64_C(4096)
#define RIG_DONE 256

struct rig_config {
	uint64_t seed;
	unsigned int targets; /**< nodes 1..targets */
	uint32_t spaces;
	uint64_t pages, interleave;
	unsigned int depth;
	bool populate;
	mf_time give_up;
	uint32_t physical, ring; /**< pages of each memory */
	uint8_t tasks;
	uint32_t answer; /**< to a call */
	mf_time step, crossing; /**< of the memory's slow path */
};

/** One target, 2 spaces of 3 pages. */
struct rig_config rig_config(uint64_t seed);

struct rig {
	struct rig_config config;
	struct mf_node *host;
	struct mf_layer *layer;
	mf_time now;
	unsigned int calls, calls_most; /**< of run() at one time */
	struct mf_completion done[RIG_DONE]; /**< in the order in which they came */
	unsigned int dones;
	bool bad_order; /**< a completion came before its time, or behind one of a later time */
	unsigned int lost; /**< times that the client was told of a loss */
	void (*told)(void *ctx, uint16_t node);
	void *ctx;
};

#define RIG_CALLS_MAX 200 /* more at one time: it would go on for good */

void rig_make(struct rig *r, const struct rig_config *config);
void rig_free(struct rig *r);

/** Until a time, or nothing is due. @return false: run() is called at one time for good */
bool rig_drive(struct rig *r, mf_time until);
/** Until all spaces are there, and nothing is under way; a limit of time. @return whether that is so */
bool rig_settle(struct rig *r, mf_time most);

int rig_submit(struct rig *r, const struct mf_op *op);
/** Its place among those that completed; -1: it has not */
int rig_find(const struct rig *r, uint64_t user);
/** The own node is started again. */
void rig_crash(struct rig *r);

/* Operations of the region of node 1. */
struct mf_op rig_read(uint64_t user, uint64_t offset, uint64_t len, void *buf);
struct mf_op rig_write(uint64_t user, uint64_t offset, uint64_t len, void *buf);
struct mf_op rig_write_ack(uint64_t user, uint64_t offset, uint64_t len, void *buf);
/** @param call  enum mf_call. @param len  bytes of its arguments, and of the room for its answer */
struct mf_op rig_call(uint64_t user, uint8_t call, uint64_t offset, uint64_t len, void *buf);
struct mf_op rig_add(uint64_t user, uint64_t offset, uint64_t addend);

struct mf_spaces_stats rig_stats(const struct rig *r);
struct mf_vm_stats rig_memory(const struct rig *r, unsigned int node);
/** All pages of a memory are somewhere, and nothing was strange. @return NULL, or what is wrong */
const char *rig_audit(const struct rig *r, unsigned int node);

#endif
