/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cycle account: where the cycles of a thread go, stage by stage, in cycles of its own (a cycle is
 * that of the innermost stage only). Compiled in by meson's option `cycles`; without it MF_CYCLES() is
 * nothing, and what else is here is for the tests.
 *
 *	void mf_host_rx(...)
 *	{
 *		MF_CYCLES(MF_CYCLES_HOST_RX);   // until the end of the block, by whatever way it is left
 */
#ifndef MF_CYCLES_H
#define MF_CYCLES_H

#include <stdint.h>

/** Stages: constant, name. The name's first word is the part of the fabric. */
#define MF_CYCLES_LIST(X)                                 \
	X(NONE, "-") /* outside of all others */          \
	X(CLIENT_COMPLETE, "client: complete, verify")    \
	X(CLIENT_BEGIN, "client: begin")                  \
	X(HOST_SUBMIT, "host: submit")                    \
	X(HOST_COMPLETIONS, "host: completions")          \
	X(NODE_RUN, "node: its turn")                     \
	X(HOST_RUN, "host: queues and timers")            \
	X(HOST_TX, "host: transmit")                      \
	X(HOST_RX, "host: receive a span")                \
	X(HOST_RX_REQUEST, "host: RREQ, RMWREQ received") \
	X(HOST_RX_RESPONSE, "host: RRES received")        \
	X(HOST_RX_WRITE, "host: WREQ received")           \
	X(HOST_RX_GRANT, "host: /G/ received")            \
	X(HOST_RX_OTHER, "host: ACK, ERR received")       \
	X(MEMORY, "memory")                               \
	X(MUX_PUSH, "mux: push")                          \
	X(MUX_PULL, "mux: pull")                          \
	X(DEMUX, "demux")                                 \
	X(SCRAMBLE, "scrambler: scramble")                \
	X(DESCRAMBLE, "scrambler: descramble")            \
	X(RING, "ring: between lcores")                   \
	X(SWITCH_RX, "switch: receive a span")            \
	X(SWITCH_RUN, "switch: timers")                   \
	X(SWITCH_GRANT, "switch: grant")                  \
	X(SWITCH_TX, "switch: transmit")                  \
	X(SWITCH_TELL, "switch: descriptors")             \
	X(SCHED_INPUT, "scheduler: input")                \
	X(SCHED_MATCH, "scheduler: match")

enum mf_cycles_stage {
#define X(constant, name) MF_CYCLES_##constant,
	MF_CYCLES_LIST(X)
#undef X
		MF_CYCLES_STAGES
};

const char *mf_cycles_name(enum mf_cycles_stage stage);

/** No stage takes so many cycles at a stretch: the thread had lost its CPU. */
#define MF_CYCLES_AWAY 100000

/** Of one thread, from its start to its stop: the sum of `away` and all `self` is the time in between. */
struct mf_cycles {
	uint64_t since; /**< when the innermost stage was entered, or came back */
	uint64_t away; /**< in stretches of MF_CYCLES_AWAY or more */
	unsigned int stage; /**< the innermost */
	struct {
		uint64_t self; /**< cycles in which it was the innermost */
		uint64_t calls; /**< times that it was entered */
		uint64_t inner; /**< times that another one was entered from it */
	} at[MF_CYCLES_STAGES];
} __attribute__((aligned(64)));

/** All zero, and outside of all stages. */
void mf_cycles_start(struct mf_cycles *c, uint64_t now);

/** Outside of all stages again: the last cycles are theirs. */
void mf_cycles_stop(struct mf_cycles *c, uint64_t now);

/** Adds what another thread has found. */
void mf_cycles_add(struct mf_cycles *sum, const struct mf_cycles *c);

static inline void mf_cycles_spend(struct mf_cycles *c, uint64_t now)
{
	uint64_t spent = now - c->since;

	if (__builtin_expect(spent < MF_CYCLES_AWAY, 1))
		c->at[c->stage].self += spent;
	else
		c->away += spent;
	c->since = now;
}

/** @return the stage to go back to */
static inline unsigned int mf_cycles_enter(struct mf_cycles *c, unsigned int stage, uint64_t now)
{
	unsigned int outer = c->stage;

	mf_cycles_spend(c, now);
	c->at[outer].inner++;
	c->at[stage].calls++;
	c->stage = stage;
	return outer;
}

static inline void mf_cycles_leave(struct mf_cycles *c, unsigned int outer, uint64_t now)
{
	mf_cycles_spend(c, now);
	c->stage = outer;
}

/** What the account itself costs: an empty stage shows so many cycles, and its outer one so many more. */
struct mf_cycles_cost {
	double inside, outside;
};

/** Cycles of a stage without those of the account; not below 0. */
double mf_cycles_net(const struct mf_cycles *c, enum mf_cycles_stage stage, struct mf_cycles_cost cost);

/** Cycles of the account itself, all stages together. */
double mf_cycles_overhead(const struct mf_cycles *c, struct mf_cycles_cost cost);

#ifdef MF_WITH_CYCLES

/** The calling thread's. */
extern _Thread_local struct mf_cycles mf_cycles_here __attribute__((tls_model("initial-exec")));

/** What came before has been done, and nothing of what comes after: else stages pay for each other. */
static inline uint64_t mf_cycles_now(void)
{
	uint64_t now;

	__builtin_ia32_lfence();
	__asm__ volatile("" ::: "memory");
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return now;
}

static inline void mf_cycles_close(const unsigned int *outer)
{
	mf_cycles_leave(&mf_cycles_here, *outer, mf_cycles_now());
}

/** Measured on the calling thread, between its own stop and start. */
struct mf_cycles_cost mf_cycles_measure(void);

/** From here to the end of the block. One a block. */
#define MF_CYCLES(stage)                                                                       \
	__attribute__((cleanup(mf_cycles_close), unused)) const unsigned int mf_cycles_outer = \
		mf_cycles_enter(&mf_cycles_here, stage, mf_cycles_now())

#else
#define MF_CYCLES(stage) ((void)0)
#endif

#endif
