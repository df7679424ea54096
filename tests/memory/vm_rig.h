/* SPDX-License-Identifier: BSD-3-Clause */
/* Both paths of a virtual memory in one thread. What crosses goes through their two queues. */
#ifndef VM_RIG_H
#define VM_RIG_H

#include "memory/mf_vm_slow.h"

#define VM_RIG_NODES 8

/** What nodes have asked, to be asked again. */
struct vm_rig_asked {
	struct mf_vm_request request;
	bool busy; /**< its answer was not heard */
};

struct vm_rig {
	struct mf_vm_config config;
	struct vm_rig_asked asked[VM_RIG_NODES][MF_VM_NODE_TASKS_MAX]; /**< of the nodes below VM_RIG_NODES */
	uint32_t number; /**< the last one */
	struct mf_vm *fast;
	struct mf_vm_slow *slow;
	struct mf_memory *memory;
};

/** A small one: two classes, 4 KiB and 8 KiB, secrets of a seed. */
struct mf_vm_config vm_rig_config(uint64_t seed);

/** @return false: with errno */
bool vm_rig_make(struct vm_rig *r, const struct mf_vm_config *config);
void vm_rig_free(struct vm_rig *r);

/** Some items each way, and work of the slow path. @return something was done */
bool vm_rig_turn(struct vm_rig *r, unsigned int items, uint64_t steps, uint64_t octets);

/** Until nothing is left to do. */
void vm_rig_settle(struct vm_rig *r);

/**
 * Asks for a task in a slot of the node that has none.
 * @param ticket  what vm_rig_answer() is asked by
 * @return MF_OK: it has begun; or why not
 */
uint8_t vm_rig_begin(struct vm_rig *r, const struct mf_vm_request *request, uint64_t *ticket);
/** Asks again. @return false: it is under way */
bool vm_rig_answer(struct vm_rig *r, uint16_t node, uint64_t ticket, uint8_t *status, uint64_t *result);

/** Asks, and settles. @return enum mf_status */
uint8_t vm_rig_ask(struct vm_rig *r, const struct mf_vm_request *request, uint64_t *result);

#endif
