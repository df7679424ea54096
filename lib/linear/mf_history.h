/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories: what the clients of a fabric asked for and what they were told, and whether memory that answers
 * each request at one instant can have told them that (docs/history.md).
 *
 * A history has a log for each client. A log is a table of a size that is set at the start; an operation
 * takes its place when it is begun, so what is recorded is all that a client began until its log was full,
 * and that time is known. A record holds the words of 8 octets, by multiples of 8 of the address, that the
 * operation wrote or found, as they are in memory, the first octet lowest. Where operations are long, of
 * each group of 2^sample words one is recorded, the same one by all clients of a run: words are checked one
 * by one, so what is not recorded of any operation takes nothing from what is found about the others.
 */
#ifndef MF_HISTORY_H
#define MF_HISTORY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mf_time.h"

enum mf_history_kind {
	MF_HISTORY_READ,
	MF_HISTORY_WRITE, /**< not acknowledged: it may take effect after it has returned */
	MF_HISTORY_WRITE_ACK,
	MF_HISTORY_CAS,
	MF_HISTORY_FADD,
	MF_HISTORY_SWAP,
	MF_HISTORY_OR,
	MF_HISTORY_AND,
	MF_HISTORY_OPS,
	/** What the node holds, or what was on its way to it, may be lost: the client was told at .call. */
	MF_HISTORY_CUT = MF_HISTORY_OPS,
	MF_HISTORY_UNKNOWN, /**< nobody knows what these octets held before the history; others: 0 */
	/**
	 * These octets become 0, between call and return: a region has another owner, or pages are fresh or
	 * freed.
	 */
	MF_HISTORY_ZEROED,
	MF_HISTORY_KINDS
};

enum mf_history_outcome {
	MF_HISTORY_UNDER_WAY, /**< it has not returned */
	MF_HISTORY_OK,
	MF_HISTORY_FAILED, /**< it may have taken effect, may do so yet, or never will */
	MF_HISTORY_RESTARTED, /**< failed with a cut: it has taken effect until now or never will */
	MF_HISTORY_REFUSED, /**< failed as a whole, since the client may not do it: it never takes effect */
	/** The same, for a limit or want of room. If it was sent twice the first may have taken effect. */
	MF_HISTORY_NO_ROOM,
	MF_HISTORY_OUTCOMES
};

/** In a log, in memory and in a file; .words words follow. */
struct mf_history_record {
	mf_time call;
	mf_time ret; /**< MF_NEVER: it has not returned */
	uint64_t addr;
	uint64_t len; /**< octets; RMW: 8 */
	uint16_t client; /**< its node */
	uint16_t node; /**< memory node */
	uint8_t kind; /**< enum mf_history_kind */
	uint8_t outcome; /**< enum mf_history_outcome */
	uint8_t status; /**< what the client was told, enum mf_status: for people */
	uint8_t reserved; /**< 0 */
	/** Whose address it is, below MF_HISTORY_SPACES; 0: the node's. That of a cut is 0. */
	uint32_t space;
	/** RMW: two arguments and what was found, 0 where nothing was. Else those of the octets. */
	uint32_t words;
};
static_assert(sizeof(struct mf_history_record) == 48, "records stand one behind the other");

#define MF_HISTORY_SPACES (UINT32_C(1) << 22) /**< address spaces of a node have numbers below it */

/** Of a run, in all of its processes. */
struct mf_history_config {
	uint64_t fingerprint; /**< of its configuration: histories with different ones are not of one run */
	/**
	 * Of each aligned 2^sample words one is recorded: 0..MF_HISTORY_SAMPLE_MAX. Which one is a matter of
	 * fingerprint, node and address; those of a larger sample are among those of a smaller one.
	 */
	uint32_t sample;
	/**
	 * Requests of a client to a node take effect in the order in which they were begun: an unacknowledged
	 * write has taken effect when a younger request to its node, to be answered, has been.
	 */
	bool in_order;
	bool lossless; /**< and nothing is lost but by a cut */
	bool tells; /**< a client is told (CUT) of another incarnation of a node before anything that it
		       answers */
};

#define MF_HISTORY_SAMPLE_MAX 16

/** The least sample with which no operation of so many octets has more than 64 words. */
uint32_t mf_history_sample(uint64_t octets_max);

struct mf_history;
struct mf_history_log;

/**
 * @param logs    1..65536
 * @param octets  room of each log; memory is taken when it is first written
 * @return NULL with errno: EINVAL, ENOMEM
 */
struct mf_history *mf_history_new(const struct mf_history_config *config, unsigned int logs, uint64_t octets);
void mf_history_free(struct mf_history *h);
struct mf_history_log *mf_history_log(struct mf_history *h, unsigned int i);

/** Wall clock: of a process. */
struct mf_history_clock {
	mf_time (*now)(void *ctx); /**< dates what returns: a client's time may be older than the answer */
	void *ctx;
	/* Its times, by a clock that all processes of the machine have: tick0 + t hz / 10^12. */
	uint64_t tick0, hz;
	uint8_t machine[16]; /**< equal for processes that share the clock, and for no others */
};

/** Before anything is recorded. Without it, times are those that the callers give. */
void mf_history_set_clock(struct mf_history *h, const struct mf_history_clock *clock);

/* Of a log one thread at a time calls what follows, as the client does what it says. */

#define MF_HISTORY_NONE UINT64_MAX

/**
 * An operation begins.
 * @param data  write: all its octets; RMW: the two arguments; read: NULL
 * @return its place; MF_HISTORY_NONE: the log is full, from now on and for good
 */
uint64_t mf_history_begin(struct mf_history_log *l, const struct mf_history_record *op, const void *data);

/**
 * It has returned.
 * @param place    MF_HISTORY_NONE: nothing is done
 * @param outcome  anything but UNDER_WAY
 * @param data     OK: read: its octets; RMW: the word that was there. Else NULL
 */
void mf_history_end(struct mf_history_log *l, uint64_t place, mf_time ret, enum mf_history_outcome outcome,
		    uint8_t status, const void *data);

/** A client learns that what a node holds may be lost, or what it sent there; or it begins anew. */
void mf_history_cut(struct mf_history_log *l, uint16_t client, uint16_t node, mf_time at);

/** Nobody knows what these octets held before the first operation. */
void mf_history_unknown(struct mf_history_log *l, uint16_t node, uint64_t addr, uint64_t len);

/** It has turned out that something was lost, and not by a cut. */
void mf_history_lossy(struct mf_history *h);

/** When the first of its logs was full; MF_NEVER: none is. */
mf_time mf_history_full(const struct mf_history *h);
uint64_t mf_history_records(const struct mf_history *h);

/** Calls see() for each record: log by log, in each in the order in which operations were called. */
void mf_history_each(const struct mf_history *h, void (*see)(void *ctx, const struct mf_history_record *r),
		     void *ctx);

/** Of a word: an operation, with its part of it. */
struct mf_history_op {
	const struct mf_history_record *op; /**< of the history, which has to be there still */
	mf_time call, ret; /**< in the time of all histories together; ret MF_NEVER: open */
	uint64_t mask; /**< the octets of the word that it touched */
	uint64_t value; /**< written or found: those octets; RMW: found */
	bool must; /**< it has happened between call and ret; if not: or later, or never */
	bool found; /**< it says what it found */
};

enum mf_history_answer {
	MF_HISTORY_YES,
	MF_HISTORY_NO, /**< some word has no order of its operations that explains them */
	MF_HISTORY_GAVE_UP, /**< of some words it is not known, of the others it is yes */
};

struct mf_history_verdict {
	enum mf_history_answer answer;
	uint64_t operations, words; /**< that were looked at */
	uint64_t cuts; /**< intervals in which what a node held may have been lost */
	uint64_t unread; /**< open writes that nobody has seen: their places in the order do not count */
	/** What was found, by word, while memory may have been lost: it is not looked at. */
	uint64_t across;
	uint64_t gave_up; /**< words */
	/** Words that are not looked at: written in part, and nobody knows what they held at first. */
	uint64_t parts;
	mf_time full; /**< what was begun from here on was not looked at: a log was full; MF_NEVER */
	/* NO: the first word that is wrong, by node, space and address; GAVE_UP: the first one. */
	uint16_t node;
	uint32_t space;
	uint64_t addr;
	uint64_t initial; /**< what it held before op[0]; of several the last that was tried */
	struct mf_history_op *op; /**< its operations, by call */
	size_t ops;
	size_t bad; /**< NO: place of the one that no order explains which explains all before it */
};

/**
 * Checks histories of one run together.
 *
 * @param states  that the search for the order of a word may remember; 0: 2^20
 * @param out     mf_history_verdict_free() gives back what it holds
 * @return 0; -EINVAL: not of one run; -EXDEV: no common time; -ENOMEM
 */
int mf_history_check(const struct mf_history *const *h, unsigned int n, size_t states,
		     struct mf_history_verdict *out);
void mf_history_verdict_free(struct mf_history_verdict *v);

/** Says it in words: a line if all is well; else the word and the operations around the one that is wrong. */
void mf_history_explain(const struct mf_history_verdict *v, FILE *out);

/**
 * Reads files, checks them together and says what it has found; what goes wrong on standard error, in a line.
 * @return exit status of a program: 0 linearizable; 1 not; 2 no answer
 */
int mf_history_check_files(const char *program, const char *const *path, unsigned int n, FILE *out);

/** Where a history is to be written, and what it may take. */
struct mf_history_target {
	char name[4096]; /**< of the file, not opened yet */
	uint64_t capacity; /**< octets for the logs of all clients together: 64 KiB to 1 TiB */
};

/** Reads FILE[,room=SIZE]; without room it is 256 MiB. @return 0 or -EINVAL, with one line in err */
int mf_history_target(const char *text, struct mf_history_target *out, char *err, size_t errlen);

/** Writes a history as a file. @return 0 or -errno */
int mf_history_write(const struct mf_history *h, FILE *out);

/**
 * Reads a file. Damaged ones are refused: nothing of them that was not checked is used.
 * @param err  on failure: one line
 * @return NULL on failure
 */
struct mf_history *mf_history_read(const char *path, char *err, size_t errlen);
/** The same from memory. @param octets  copied */
struct mf_history *mf_history_parse(const void *octets, size_t len, char *err, size_t errlen);

#endif
