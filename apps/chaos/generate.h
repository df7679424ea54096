/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of a campaign: a seed and a base file give a fabric file, faults included, and nothing else does. It
 * is what is run, so whoever has it repeats the run.
 */
#ifndef GENERATE_H
#define GENERATE_H

#include <jansson.h>

#include "draw.h"
#include "fault/mf_fault.h"
#include "systems/mf_systems.h"

/** Which classes of faults a campaign may have. */
struct classes {
	bool on[MF_FAULT_CLASSES];
};

/** What is known of a case while it is drawn. */
struct draft {
	json_t *json; /**< the case */
	struct mf_rng *rng;
	const struct mf_stack_ops *stack; /**< of the base; NULL: EDM's */
	bool has[MF_FAULT_CLASSES]; /**< classes that it has; not SKEW */
	bool skews; /**< it may have skewed clocks, too */
	bool retries; /**< requests are sent again */
	json_t *askers; /**< names of entries of "nodes" that have clients */
	const char *strangers; /**< name of the entry of nodes without clients; NULL: there is none */
	bool spaces; /**< memory has address spaces */
	bool churn; /**< which clients share, while they come and go */
	uint64_t pieces; /**< at most, into which all that a client has under way at a target is cut there */
	bool store; /**< clients ask for records of a store */
	bool refuses; /**< some operations are refused: they have no right to them, or ask for too much */
	bool backup; /**< there is a second switch */
	mf_time active; /**< faults may strike until then */
	mf_time down; /**< a link may be down for so long behind that, for what was damaged on it */
	mf_time timeout; /**< of reads and writes: longer than anything takes that is not lost */
	mf_time over; /**< what a fault has held up is over after that, by a clock that is right (judge.c) */
	mf_time way; /**< the longest cable */
	uint64_t x; /**< of the scheduler */
	uint64_t clients, depth, octets; /**< at most: nodes that ask, operations of each, octets of one */
	uint64_t rate; /**< of operations of each in a second, in an open loop; 0: in a closed one */
	uint64_t span; /**< octets that each client uses of each memory */
};

/**
 * A case.
 * @param base  object of a fabric file; not changed. Its entries of nodes say how many there are at most
 * @return the caller's; NULL: no memory
 */
json_t *generate(const json_t *base, uint64_t seed, const struct classes *classes);

/** The stack that a base names. @return NULL: EDM's, or one that there is not */
const struct mf_stack_ops *generate_stack(const json_t *base);
/** Whether cases with a stack have faults of a class. @param stack  NULL: EDM's, which has all */
bool generate_takes(const struct mf_stack_ops *stack, unsigned int class);

/** Whether it has any fault. */
bool draft_any_fault(const struct draft *d);
/** Whether it has one that may lose messages, or damage them: any but DELAY and FORGE. */
bool draft_loses(const struct draft *d);
/** Whether it has one that damages blocks, or sends such: links are disabled for that. */
bool draft_damages(const struct draft *d);
/**
 * Whether operations of a pair take effect in the order in which they were begun (docs/chaos.md). Where
 * messages pass each other, or are sent again, nobody promises that: there each client has one operation
 * under way, or does not verify what it reads, and only the history is judged.
 */
bool draft_keeps_order(const struct draft *d);

/* generate_store.c */
/** Draws whether clients ask a store, and if so all of their load. @return whether they do */
bool generate_store(struct draft *d);

/* generate_spaces.c */
/** Whether the memory of all cases has address spaces. */
bool generate_has_spaces(const json_t *base);
/** Decides whether memory has address spaces, and whether these come and go. d->has and d->stack are set. */
void generate_decide_spaces(struct draft *d, const json_t *base, uint64_t seed);
/** Draws them, and what a workload does there. Its mix and depth are set. */
void generate_spaces(struct draft *d, json_t *workload);

/* generate_graph.c */
/** Whether all cases are of several switches: the base has a stack of frames. */
bool generate_has_graphs(const json_t *base);
/** Leaves those classes that such a case may have. */
void generate_graph_classes(struct classes *classes);
/** Whether a seed gives such a case. */
bool generate_is_graph(const json_t *base, uint64_t seed, const struct classes *classes);
/** Draws all of it, d->json and d->active are set. */
void generate_graph(struct draft *d, const struct classes *classes);

/* generate_access.c */
/** Draws regions, and limits of what nodes may ask for. */
void generate_access(struct draft *d);

/* generate_faults.c */
/** Which classes the case has: before the rest, since much hangs on it. */
void generate_classes(struct draft *d, const struct classes *classes);
/** How often a class of a link's stages strikes, and when. @param class  to MF_FAULT_REORDER */
void generate_stage(struct draft *d, unsigned int class, json_t *rule);
/** When something breaks and when it is repaired; sometimes again and again. */
void generate_event(struct draft *d, json_t *rule);
/** Their rules. */
void generate_faults(struct draft *d);
/** A class that the generator does not know; NULL: it knows all of mf_fault_names. */
const char *generate_unknown(void);

#endif
