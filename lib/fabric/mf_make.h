/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of fabric.c: what it makes a fabric of. Whatever is made is the fabric's, and freed with it. */
#ifndef MF_MAKE_H
#define MF_MAKE_H

#include "fabric/mf_fabric_state.h"

/** Says in one line why there is no fabric. @return -EINVAL */
int make_fail(char *err, size_t errlen, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** The networks, without their nodes. tiers_free() always follows. @return 0 or -ENOMEM */
int make_tiers(struct mf_fabric *f);
/** A link of a node is at one of its ends, and so in a network. Called by make_graph(). */
void make_tier_link(struct mf_fabric *f, uint32_t link, unsigned int node, unsigned int end);
void tiers_free(struct mf_fabric *f);

/** The graph: all nodes, all switches, a link from each node to each switch. @return 0 or -ENOMEM */
int make_graph(struct mf_fabric *f);
/** Sets f->routes of a graph with several switches. Called by make_graph(). @return 0, -ENOMEM or -ERANGE */
int make_routes(struct mf_fabric *f);
/** mf_bridge_config.route. @param ctx  struct fabric_switch */
int fabric_route(const void *ctx, uint16_t node, const uint8_t *frame, uint16_t len);
/**
 * Sets longest_rtt of a network of frames with several switches: of the smallest frame, between the two nodes
 * that are farthest from each other, and back. @return 0 or -ENOMEM
 */
int make_longest_rtt(struct fabric_tier *t);
/** Refuses routes with which a bridge that loses nothing can deadlock. @return 0 or -EINVAL */
int make_check_routes(const struct mf_fabric *f, char *err, size_t errlen);
/** Sets f->link. */
void make_links(struct mf_fabric *f);

/** Sets skewed clocks, and refuses what cannot break in this process. @return 0 or -EINVAL */
int make_faults(struct mf_fabric *f, char *err, size_t errlen);

/** Memory and host of a node. @return 0 or -EINVAL */
int make_node(struct mf_fabric *f, unsigned int i, char *err, size_t errlen);

/** Memory of the type "virtual", with other secrets at each start. @return NULL: err says why
 */
struct mf_memory *make_virtual_memory(struct mf_fabric *f, unsigned int i, const struct mf_memory_config *m,
				      char *err, size_t errlen);

/** Bytes of the answer to a call, at most, of all memory nodes; 0: there are no calls. */
uint32_t make_answer_max(const struct mf_fabric *f);

/** The class of a memory's pages of so many octets; 0: of its least. */
uint8_t page_class_of(const struct mf_vm_config *vm, uint64_t page);

/**
 * The layer of a node in a fabric where memory has address spaces.
 * @return 0; -EINVAL: err says why. Where there is no such memory, or the node takes no operations, it gets
 * none
 */
int make_spaces(struct mf_fabric *f, unsigned int i, char *err, size_t errlen);

/** @param number  0, or 1: the backup @return NULL: err says why */
struct mf_sw *make_switch(struct mf_fabric *f, unsigned int number, char *err, size_t errlen);
/** The same. */
struct mf_scheduler *make_sched(const struct mf_fabric *f, unsigned int number, char *err, size_t errlen);

/* What nodes and switches have in common. */

/** Whether a node's link in a network carries blocks of memory messages: EDM's, or those of a stack. */
bool make_carries_blocks(const struct fabric_tier *t, unsigned int node);

/**
 * A multiplexer at an end of a link.
 * @param link         its number
 * @param asked        a stack or bridge sends the frames, and is asked for each
 * @param frames       that may wait
 * @param frame_bytes  and their octets
 */
void make_mux(const struct mf_fabric *f, unsigned int link, bool asked, uint32_t frames, uint32_t frame_bytes,
	      struct mf_mux_config *mux);

/* Where there are two switches. */

/** Sets f->link of those to the second switch. Called by make_links() */
void make_backup_links(struct mf_fabric *f);
/** What a switch has to know as one of two. */
void make_redundancy(const struct fabric_tier *t, unsigned int number, struct mf_switch_config *s);
/** After so long what was said of epochs, and was not heard, is said again: ps. */
mf_time make_take_again(const struct mf_fabric *f);

#endif
