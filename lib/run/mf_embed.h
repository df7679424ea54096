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
 * says of workloads; otherwise as mf_fabric_new_process(), whose fabrics may be embedded, too: then the nodes
 * that have no workload are there for embedded clients. EAL must be up.
 */
struct mf_fabric *mf_fabric_new_embedded(const struct mf_config *config, const struct mf_process_roles *plays,
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

/**
 * Does a turn, for whoever would sleep afterwards, and says for how long it may.
 *
 * Timers of roles and links are exact. What comes by a port ends the sleep where mf_fabric_wake_fd() was
 * asked for, and the port can tell: net_af_packet, net_tap, NICs with interrupts of receive queues. With
 * others, as net_memif, it waits until the sleep is over. That takes an eighth of the time since the last
 * work, 50 us to 4 ms; none while an operation of an embedded client is under way and the last work is less
 * than 200 us ago. What an embedded client is given afterwards is no reason to wake: ask again.
 *
 * @return ps; 0: there was work, or may be at once: turn; MF_NEVER: nothing is to be done by itself
 */
mf_time mf_fabric_next(struct mf_fabric *f);
/** The descriptor that becomes readable then. The fabric's, until mf_fabric_end(). @return or -errno */
int mf_fabric_wake_fd(struct mf_fabric *f);
/** It is readable in so long, ps, and not before, but for what comes by ports; MF_NEVER: for that alone. */
void mf_fabric_alarm(struct mf_fabric *f, mf_time by);

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
 * An embedded client comes to a node, or leaves it; what it has submitted must have completed by then.
 * @return 0; -ENOENT: no such node in this process; -EBUSY: the node has a workload
 */
int mf_fabric_attach(struct mf_fabric *f, unsigned int node, struct mf_embedded_client *g);
void mf_fabric_detach(struct mf_fabric *f, unsigned int node, struct mf_embedded_client *g);

/**
 * The log of a node for its embedded client, between mf_fabric_start() and mf_fabric_free().
 * @return the fabric's; NULL: mf_run_options.history is 0, or the node never asks
 */
struct mf_history_log *mf_fabric_history_log(struct mf_fabric *f, unsigned int node);

/**
 * Ends what mf_fabric_start() began: partners are told, which may take a second. mf_fabric_result() may
 * follow, and mf_fabric_free() has to.
 */
void mf_fabric_end(struct mf_fabric *f);

#endif
