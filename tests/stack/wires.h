/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two nodes with a stack each, a wire in each direction, and a clock. What becomes of a frame is a script's:
 * it may be lost, or changed.
 */
#ifndef WIRES_H
#define WIRES_H

#include "systems/edm/host/mf_host.h"
#include "systems/mf_systems.h"

#define WIRES_OPS 1024
#define WIRES_FRAMES 4096
#define WIRES_PERIOD 640 /* 100 Gb/s */
#define WIRES_DELAY MF_NS(500)
#define WIRES_MEMORY (16 << 20)

struct wires;

/** @return false: it is lost */
typedef bool (*wires_script)(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len);

struct wires_frame {
	mf_time at;
	unsigned int to;
	uint16_t len;
	uint8_t octets[1600];
};

struct wires {
	const struct mf_stack_ops *ops;
	double param[MF_PARAMS_MAX];
	struct mf_stack *stack[2];
	struct mf_memory *memory[2];
	mf_time now, free[2]; /**< of a line */
	wires_script script;
	uint64_t seen, ctx; /**< the script's */
	struct wires_frame *flying; /**< a ring, in the order of arrival: both wires have one delay */
	unsigned int head, tail;
	struct mf_completion done[WIRES_OPS]; /**< by user */
	bool is_done[WIRES_OPS];
	uint8_t *buffer[WIRES_OPS];
	unsigned int begun, completed;
	uint64_t frames[2], octets[2]; /**< sent, lost ones included */
};

void wires_init(struct wires *w, const char *stack);
void wires_set(struct wires *w, const char *key, double value);
void wires_start(struct wires *w);
void wires_stop(struct wires *w);
/** Submits an operation of node `from` on the other's memory. @return its number */
unsigned int wires_op(struct wires *w, unsigned int from, enum mf_op_kind kind, uint64_t addr, uint64_t len);
/** Until all are over; the test fails if they are not by then. */
void wires_finish(struct wires *w, mf_time until);
void wires_run(struct wires *w, mf_time until);
/** The octets of a memory from addr on. */
uint8_t *wires_memory(struct wires *w, unsigned int node, uint64_t addr);
uint64_t wires_counter(const struct wires *w, unsigned int node, const char *name);

#endif
