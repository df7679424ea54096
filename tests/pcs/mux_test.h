/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multiplexer under test: a random script of what is pushed when, an engine that drives it under the
 * virtual clock, and the log of every block that came out.
 */
#ifndef MUX_TEST_H
#define MUX_TEST_H

#include "pcs/mf_mux.h"

#define PERIOD 2560

#define SCRIPT_MESSAGES 300
#define SCRIPT_FRAMES 60
#define SCRIPT_EVENTS 4096
#define MESSAGE_MAX 80
#define FRAME_OCTETS 1600
#define LOG_MAX 65536

enum event_kind {
	EVENT_PUSH,
	EVENT_APPEND,
	EVENT_ABORT,
	EVENT_FRAME,
};

struct event {
	mf_time at;
	uint32_t order; /**< of making: events of one time are stable */
	uint8_t kind;
	uint16_t id; /**< of the message or frame */
	uint16_t words; /**< APPEND */
};

struct message {
	mf_time ready, pushed;
	uint32_t tie, n;
	uint32_t appended; /**< words that come, fewer than n if it is aborted */
	mf_time written[MESSAGE_MAX]; /**< when each word comes */
	bool aborted;
	mf_time aborted_at;
	struct mf_mux_item *item;
	uint64_t *words;
};

struct frame {
	mf_time queued;
	uint16_t len;
	uint8_t octet[FRAME_OCTETS];
};

struct script {
	struct event event[SCRIPT_EVENTS];
	unsigned int events;
	struct message message[SCRIPT_MESSAGES];
	unsigned int messages;
	struct frame frame[SCRIPT_FRAMES];
	unsigned int frames;
};

struct logged {
	mf_time at;
	uint64_t word;
	uint8_t sync;
};

struct done {
	mf_time at;
	uint64_t cookie;
};

struct outcome {
	struct logged block[LOG_MAX];
	unsigned int blocks;
	struct done done[SCRIPT_MESSAGES];
	unsigned int dones;
	uint64_t backlog; /**< hash of the backlog at every event */
	struct mf_mux_stats stats;
};

/** What a script should be like. */
struct load {
	unsigned int messages, frames;
	mf_time span; /**< everything is pushed within it */
	unsigned int longest; /**< message, blocks */
	bool slow; /**< words come later than the push, some with holes, some never */
};

void script_make(struct script *s, const struct load *load, uint64_t *rng);

/** Word i of a message. */
uint64_t message_word(unsigned int id, unsigned int i, unsigned int n);

struct mf_mux_config mux_test_config(enum mf_mux_policy policy, uint32_t period);

/**
 * Runs a script from beginning to end.
 *
 * @param max  blocks a pull; 0: a random number each time
 */
void script_run(struct script *s, const struct mf_mux_config *config, unsigned int max, uint64_t *rng,
		struct outcome *out);

#endif
