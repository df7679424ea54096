/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric that a program has open: built once in the process, used by everything there that names the same
 * file, whether clients (memfab.h) or drivers, and turned by whoever has time for it.
 *
 * Who turns it: a service lcore where the program gives one (the service "memfab"); or a thread of its own,
 * where that was asked for; else whoever uses the fabric, when it looks for what has arrived. Of several
 * threads that would turn at the same time one does, and the others go on with their work.
 */
#ifndef MF_SESSION_H
#define MF_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/mf_config.h"
#include "run/mf_embed.h"

enum mf_session_poller {
	MF_SESSION_USERS, /**< whoever uses it, unless a service lcore does */
	MF_SESSION_THREAD, /**< a thread of the session's own */
};

struct mf_session_options {
	/**
	 * NULL: all roles are played here. A node's name: that one only, and the others are partners in other
	 * processes, behind the port that the file names for its link. With several nodes of a file a process
	 * has a session for each, whose ports are devices of their own.
	 */
	const char *only;
	bool workload; /**< the file's workloads run, too, each at its node and for the file's duration */
	enum mf_session_poller poller;
	const char *history; /**< FILE[,room=SIZE] (mf_history_target()), written when closed; NULL: none */
};

struct mf_history_log;
struct mf_session;

/**
 * Opens the fabric of a file, or takes the one that is open already. EAL must be up. Any thread.
 *
 * @param file     JSON
 * @param options  count for the first one of a file, or of a file and an `only`; later ones must agree in
 *                 `workload`, and in whether all roles are played here
 * @param err      on failure: one line
 * @return 0; -EINVAL: bad file; -EEXIST: open with other options; or another -errno
 */
int mf_session_open(const char *file, const struct mf_session_options *options, struct mf_session **out,
		    char *err, size_t errlen);
/** The last one ends the fabric. Its embedded clients must have gone. Any thread, no lock held. NULL: nothing
 */
void mf_session_close(struct mf_session *s);

/**
 * Whether this process was forked from one that had a fabric open. It has none: -EPERM, nothing is turned,
 * and what is closed is left alone. Any thread.
 */
bool mf_session_forked(void);

const struct mf_config *mf_session_config(const struct mf_session *s);
/** Counters (mf_live.h) may be read by any thread. */
const struct mf_fabric *mf_session_fabric(const struct mf_session *s);
/** Number of a node of this process by its name. @return -ENOENT: there is none */
int mf_session_node(const struct mf_session *s, const char *name);
/** Log of a node of this process, the session's; NULL: there is no history, or the node never asks. */
struct mf_history_log *mf_session_history(const struct mf_session *s, unsigned int node);
/** Whether all partners have been there; before that nothing is sent. Any thread. */
bool mf_session_ready(const struct mf_session *s);

/** As mf_fabric_link_up(): whether blocks of the node's link can pass. Any thread. */
bool mf_session_link_up(const struct mf_session *s, unsigned int node);

/**
 * A turn, if nobody else does it: a service lcore or a thread that is there for it, or another user right
 * now. Any thread, no lock held; never waits.
 * @return how much work was found; 0 too where somebody else turns
 */
unsigned int mf_session_poll(struct mf_session *s);

/** Whether a service lcore or a thread turns it, so that users need not. Any thread. */
bool mf_session_turned(const struct mf_session *s);
/**
 * As mf_fabric_next(), and the alarm of mf_session_wake_fd() is set to it. Where others turn it: 1 ms. Any
 * thread, no lock held, not where mf_session_forked().
 */
mf_time mf_session_next(struct mf_session *s);
/** As mf_fabric_wake_fd(). Any thread, no lock held. */
int mf_session_wake_fd(struct mf_session *s);

/** As mf_fabric_attach() and mf_fabric_detach(), from any thread, no lock held. */
int mf_session_attach(struct mf_session *s, unsigned int node, struct mf_embedded_client *g);
void mf_session_detach(struct mf_session *s, unsigned int node, struct mf_embedded_client *g);
/**
 * Sets what is called when the last user closes the session. No thread turns it any more then, and all of it
 * is still there. The callee detaches the embedded clients that have stayed. One at most. By one thread at a
 * time.
 */
void mf_session_at_end(struct mf_session *s, void (*ending)(struct mf_session *s));

/** Keeps turns away: what embedded clients share with other threads may be changed. Not from within a turn.
 */
void mf_session_lock(struct mf_session *s);
void mf_session_unlock(struct mf_session *s);

#endif
