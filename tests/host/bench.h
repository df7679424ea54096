/* SPDX-License-Identifier: BSD-3-Clause */
/* One host by itself, with numbered uses of ids: its messages are seen, and it is given others. */
#ifndef BENCH_H
#define BENCH_H

#include "alone.h"

#define SIZE 16384 /**< of the memory */
#define US 0
#define MEMORY 1
#define OTHER 2
#define RETRY MF_US(10)
#define TIMEOUT MF_US(20)
#define QUARANTINE MF_US(100)

struct bench {
	struct mf_host *host;
	struct mf_memory *memory;
	mf_time now;
	struct mf_msg sent; /**< the last message of several blocks that it sent */
	unsigned int messages; /**< how many */
	unsigned int acks;
	unsigned int refusals; /**< of its own */
	unsigned int passed_on; /**< that a demand was refused, or is given up */
	unsigned int passed_behind; /**< so many messages */
	uint8_t asked; /**< id of the last /N/ */
	uint32_t asked_size; /**< and its size */
	unsigned int demands; /**< how many /N/ */
	unsigned int gaps; /**< MF_ERR_GAP */
	struct mf_msg gap; /**< the last one */
};

/**
 * @param node  US: it computes; MEMORY: it has some
 * @param redundant  two switches, and it has begun an epoch
 */
void bench_begin_with(struct bench *b, uint16_t node, bool redundant, unsigned int retries);
/** The same with two retries, */
void bench_begin(struct bench *b, uint16_t node, bool redundant);
/** with two switches, where reads and writes have no order between them, */
void bench_begin_direction(struct bench *b, uint16_t node);
/** and with one switch. */
void bench_start(struct bench *b, uint16_t node);
void bench_stop(struct bench *b);

/** Its line takes all that it sends. */
void bench_run(struct bench *b, mf_time until);
/** A chunk or request comes, by the link to a switch; and 1 us goes by. */
void bench_give_by(struct bench *b, unsigned int link, const struct mf_msg *m, const void *data);
void bench_give(struct bench *b, const struct mf_msg *m, const void *data);
/** A request to the memory node, and no time goes by. */
void bench_request_by(struct bench *b, unsigned int link, const struct mf_msg *m);
/** A switch tells its epoch. */
void bench_tell_epoch(struct bench *b, unsigned int link, uint16_t epoch);
/** ... and that it has forgotten nothing for so many epochs */
void bench_tell_epoch_knowing(struct bench *b, unsigned int link, uint16_t epoch, uint16_t since);
/** A switch says, once, which incarnation the other node has: US or MEMORY. */
void bench_tell_incarnation(struct bench *b, uint16_t node, unsigned int link, uint16_t incarnation,
			    enum mf_status status);

/** A chunk of an acknowledged write to the same offset in memory. */
struct mf_msg bench_chunk(uint16_t src, uint8_t id, uint32_t offset, uint32_t size, bool last);
/** That these octets of the memory have this value. */
void bench_expect(const struct bench *b, unsigned int from, unsigned int to, uint8_t value);

#endif
