/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that submit by hand: a net whose completions are kept, and a filter for one kind of message. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "net.h"

#define SCRIPT_COMPLETIONS 4096

struct script {
	struct net *net;
	struct mf_completion done[SCRIPT_COMPLETIONS];
	unsigned int count;
	uint8_t kind; /**< messages of this kind ... */
	mf_time fate; /**< ... are delayed by this, or NET_DROP */
	void (*on_completion)(struct script *s, const struct mf_completion *c);
};

struct script *script_new(const struct net_config *c);
void script_free(struct script *s);
/** Submits at the net's time. */
int script_op(struct script *s, unsigned int host, const struct mf_op *op);
/** Submits, runs until there is nothing left to do, and gives the last completion. */
struct mf_completion script_do(struct script *s, unsigned int host, const struct mf_op *op);

#endif
