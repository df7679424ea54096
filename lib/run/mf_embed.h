/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric within somebody else's program: nobody runs it, the program turns it. Each turn polls all roles
 * of this process once, by the wall clock, on the thread that calls.
 *
 * One thread at a time may call any of these functions for a fabric; it may be another one each time, if
 * whoever hands it on orders memory (a lock does).
 */
#ifndef MF_EMBED_H
#define MF_EMBED_H

#include "run/mf_fabric.h"

struct mf_history_log;

/**
 * Builds a fabric for the wall clock that has no clients and sends no frames by itself, whatever the file
 * says of workloads; otherwise as mf_fabric_new_part(), whose fabrics may be embedded, too: then the nodes
 * that have no workload are there for guests. EAL must be up.
 */
struct mf_fabric *mf_fabric_new_embedded(const struct mf_config *config, const struct mf_part *part,
					 char *err, size_t errlen);

/**
 * Sets up what turns the fabric: links, ports, places. Nobody has to be there yet.
 * @param options  of it count: say, waiting, say_ctx, captures, tick, history. Copied
 * @return 0, or -errno; mf_fabric_error() may say more
 */
int mf_fabric_start(struct mf_fabric *f, const struct mf_run_options *options);

/**
 * One turn. Until all partners in other processes have been there, it looks for them instead, and nodes
 * do nothing.
 * @return how much work was found; 0: the CPU may be wanted elsewhere
 */
unsigned int mf_fabric_turn(struct mf_fabric *f);

/** Whether all partners have been there, so that nodes are run; at once where there are none. */
bool mf_fabric_ready(const struct mf_fabric *f);

/**
 * Whether blocks of a node's link can pass: all partners have been there once, and where ports carry the link
 * its other end is there now. Any thread; the answer is as old as the last turn.
 */
bool mf_fabric_link_up(const struct mf_fabric *f, unsigned int node);

/**
 * EAL's interrupt thread comes by soon, and runs what is due: alarms, interrupts. While memifs carry links it
 * is kept from that for up to a second (memif_sync.h). Any thread.
 */
void mf_fabric_interrupts(void);

/** Time of the last turn, ps since the fabric was ready. Any thread. */
mf_time mf_fabric_turned(const struct mf_fabric *f);

/**
 * A guest comes to a node, or leaves it; what it has submitted must have completed by then.
 * @return 0; -ENOENT: no such node in this process; -EBUSY: the node has a workload
 */
int mf_fabric_seat(struct mf_fabric *f, unsigned int node, struct mf_guest *g);
void mf_fabric_unseat(struct mf_fabric *f, unsigned int node, struct mf_guest *g);

/**
 * The log of a node for its guest, between mf_fabric_start() and mf_fabric_free().
 * @return the fabric's; NULL: mf_run_options.history is 0, or the node never asks
 */
struct mf_history_log *mf_fabric_history_log(struct mf_fabric *f, unsigned int node);

/**
 * Ends what mf_fabric_start() began: partners are told, which may take a second. mf_fabric_result() may
 * follow, and mf_fabric_free() has to.
 */
void mf_fabric_end(struct mf_fabric *f);

#endif
