/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow path of a memory node as a role of its own, on an lcore of its own or polled in turn (Clio 3.2).
 *
 *      node (fast path: mf_vm.h) ── tasks, pages back ──> channel ──> slow path (mf_vm_slow.h)
 *                                <── entries, pages, answers ── channel ──
 *
 * Sans-I/O; one thread calls, that of the role. Nothing is allocated after it was made.
 */
#ifndef MF_SLOW_PATH_H
#define MF_SLOW_PATH_H

#include "memory/mf_vm_slow.h"
#include "role/mf_role.h"

struct mf_slow_path;

/** What crosses: struct mf_vm_item, as the slow path takes and gives it; and as its node does. */
extern const struct mf_item mf_vm_item_to_slow, mf_vm_item_to_node;
extern const struct mf_channel mf_slow_path_channel, mf_slow_path_node_channel;
/** Of the functions of a role it has none. */
extern const struct mf_role_ops mf_slow_path_role;

/**
 * @param config  that of the fast path
 * @param octets  mf_vm_octets(), which outlive it
 * @return NULL with errno: EINVAL, ENOMEM
 */
struct mf_slow_path *mf_slow_path_new(const struct mf_vm_config *config, uint8_t *octets);
/** @param p  or NULL */
void mf_slow_path_free(struct mf_slow_path *p);

/** Takes items of its channel, one after the other. */
void mf_slow_path_give(struct mf_slow_path *p, const struct mf_vm_item *items, unsigned int n);
/**
 * Goes on for a slice, and gives what there is for the node. Call again while it gives max.
 * @param out  room for max
 * @param max  a slice has at most as many steps, too, so that a caller in a hurry asks for a short one
 * @return how many
 */
unsigned int mf_slow_path_take(struct mf_slow_path *p, mf_time now, struct mf_vm_item *out, unsigned int max);
/** When mf_slow_path_take() has something to do, beside items that come: at once, at a time, or MF_NEVER. */
mf_time mf_slow_path_next(const struct mf_slow_path *p);

const struct mf_vm_slow *mf_slow_path_slow(const struct mf_slow_path *p);
/** Other secrets, before any item has come. @return 0 or -ENOMEM */
int mf_slow_path_renew(struct mf_slow_path *p, const struct mf_vm_secrets *secrets);
/** Whether an item can be one that the fast path gives: a record that was made by hand may have others. */
bool mf_slow_path_may_come(const struct mf_slow_path *p, const struct mf_vm_item *item);

#endif
