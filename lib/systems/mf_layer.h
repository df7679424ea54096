/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer between the clients of a node and its host: a cache, a prefetcher, memory of programs. What clients
 * ask goes to the layer, which answers it, or asks the host for something, perhaps for something else.
 *
 *      clients (of workloads, embedded)   submit   ^ completions   ^ a target was lost
 *            |                   v     |               |
 *         layer                submit  ^ completions   ^ mf_node_on_restart()
 *            |                   v     |               |
 *          host (mf_node.h), of any system
 *
 * A layer is a const table of functions, and a structure of its own. It is sans-I/O, as the host: one thread
 * calls, time is an argument, and nothing but create() allocates. It takes all completions of its host, and
 * is the one that is told of its restarts. In a turn of the node the host is run, then the layer, then the
 * client, then host and layer again, so that what has been submitted begins at once.
 *
 * Where a node has no layer, what clients ask is the call of the host.
 */
#ifndef MF_LAYER_H
#define MF_LAYER_H

#include "systems/mf_node.h"

struct mf_layer_ops;

/** First member of every layer. */
struct mf_layer {
	const struct mf_layer_ops *ops;
	struct mf_node *host; /**< what is below */
	mf_node_restart_fn restarted; /**< of the client above; NULL: nobody is told */
	void *ctx;
};

struct mf_layer_config {
	uint16_t node, nodes; /**< own number, 0..nodes - 1 */
	bool wall; /**< wall clock: the time of a call is that of all it brings */
	const void *param; /**< its own, of whoever chose it; NULL: none */
};

struct mf_layer_ops {
	const char *name;
	/** mf_layer_new() fills in struct mf_layer afterwards. @return NULL with errno */
	struct mf_layer *(*create)(const struct mf_layer_config *config);
	void (*destroy)(struct mf_layer *l);

	/** As mf_node_submit(). The buffer is the client's: it is not touched after the completion. */
	int (*submit)(struct mf_layer *l, mf_time now, const struct mf_op *op);
	/**
	 * As mf_node_completions(): mf_op.user and node are those that were submitted. What is submitted at a
	 * time of the virtual clock and needs nobody else completes at a later one: time has to go on.
	 */
	unsigned int (*completions)(struct mf_layer *l, mf_time now, struct mf_completion *out,
				    unsigned int max);
	/** Operations that have not completed; the layer's own count, too: the run is not over before. */
	uint32_t (*outstanding)(const struct mf_layer *l);
	/** Takes what the host has completed, does what is due. @return next() */
	mf_time (*run)(struct mf_layer *l, mf_time now);
	/** When run() or completions() has something to do beside what the host brings; MF_NEVER: nothing */
	mf_time (*next)(const struct mf_layer *l);

	/**
	 * What was on its way to a node is over, and what that node held may be lost: mf_host_on_restart().
	 * The client is told next. mf_node_link_is_lost() and mf_node_under_way() of the host may be asked.
	 */
	void (*lost)(struct mf_layer *l, uint16_t node);
	/** As mf_node_under_way(), within lost() of a client: by mf_op.user of what was submitted here. */
	void (*under_way)(const struct mf_layer *l, uint16_t node, void (*fn)(void *ctx, uint64_t user),
			  void *ctx);
	/** The process of the own node is gone, and there again: the layer knows nothing of what was. */
	void (*crashed)(struct mf_layer *l, mf_time now);
	/** The client asks nothing more: what the layer does by itself, over and over, ends. NULL: nothing */
	void (*rest)(struct mf_layer *l);
};

/** A layer over a host, which must outlive it. @return NULL with errno: that of create() */
struct mf_layer *mf_layer_new(const struct mf_layer_ops *ops, struct mf_node *host,
			      const struct mf_layer_config *config);
/** @param l  or NULL */
void mf_layer_free(struct mf_layer *l);

/** What a client asks: the layer of a node, or its host. */
struct mf_below {
	struct mf_node *host;
	struct mf_layer *layer; /**< NULL: there is none */
};

/* As mf_node_submit() and so on. */

static inline int mf_below_submit(const struct mf_below *b, mf_time now, const struct mf_op *op)
{
	if (likely(b->layer == NULL))
		return mf_node_submit(b->host, now, op);
	return b->layer->ops->submit(b->layer, now, op);
}

static inline unsigned int mf_below_completions(const struct mf_below *b, mf_time now,
						struct mf_completion *out, unsigned int max)
{
	if (likely(b->layer == NULL))
		return mf_node_completions(b->host, now, out, max);
	return b->layer->ops->completions(b->layer, now, out, max);
}

static inline void mf_below_on_restart(const struct mf_below *b, mf_node_restart_fn fn, void *ctx)
{
	if (b->layer == NULL) {
		mf_node_on_restart(b->host, fn, ctx);
		return;
	}
	b->layer->restarted = fn;
	b->layer->ctx = ctx;
}

static inline void mf_below_under_way(const struct mf_below *b, uint16_t node,
				      void (*fn)(void *ctx, uint64_t user), void *ctx)
{
	if (b->layer == NULL)
		mf_node_under_way(b->host, node, fn, ctx);
	else
		b->layer->ops->under_way(b->layer, node, fn, ctx);
}

/* What engines ask of a host, with its layer where there is one. */

static inline mf_time mf_below_run(const struct mf_below *b, mf_time now)
{
	mf_time next = mf_node_run(b->host, now);

	return likely(b->layer == NULL) ? next : mf_time_min(next, b->layer->ops->run(b->layer, now));
}

static inline mf_time mf_below_next(const struct mf_below *b)
{
	mf_time next = mf_node_next(b->host);

	return likely(b->layer == NULL) ? next : mf_time_min(next, b->layer->ops->next(b->layer));
}

#endif
