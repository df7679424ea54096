/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How bit errors of the wire fare against the check of messages (docs/bit-errors.md): the parts of memfab-ber
 * and of its tests.
 */
#ifndef BER_H
#define BER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_rng.h"
#include "pcs/mf_lock.h"
#include "pcs/mf_scrambler.h"
#include "systems/edm/fault/mf_witness.h"
#include "systems/edm/proto/mf_proto.h"

/* ---- interval.c ---- */

struct ber_interval {
	double low, high;
};

/**
 * What a share can be of which k of n were seen, with 95 % confidence (Clopper and Pearson, exact). Of none:
 * one-sided, which is the rule of three, 3 / n.
 */
struct ber_interval ber_interval(uint64_t k, uint64_t n);

/* ---- line.c: messages through encoder, scrambler, wire, descrambler, demultiplexer and check ---- */

struct ber_line {
	struct mf_rng rng;
	struct mf_proto proto;
	double rate; /**< of bits of the wire that are wrong, each by itself; 0: none */
	uint64_t left; /**< bits of the wire that pass until the next one that is wrong */
	struct mf_scrambler tx, rx;
	struct mf_witness *witness;
	struct mf_lock lock;
	struct mf_ber ber;
	uint64_t blocks, bits_wrong, messages; /**< sent */
	uint64_t slips; /**< headers at which the receiver lost its lock, or looked for it in vain */
	uint64_t hi_ber; /**< times that it began */
	struct mf_span span;
	struct mf_witness_tag tag[MF_SPAN_MAX];
};

/** @return 0 or -ENOMEM */
int ber_line_init(struct ber_line *l, bool check32, double rate, uint64_t seed, uint64_t number);
void ber_line_fini(struct ber_line *l);
/** Sends until so many have come to the check. */
void ber_line_run(struct ber_line *l, uint64_t checked);

/* ---- strength.c: messages that are damaged on purpose, straight to the check ---- */

/** What is sent. */
enum ber_shape { BER_GRANT, BER_RREQ, BER_CHUNK_8, BER_CHUNK_64, BER_CHUNK_256, BER_SHAPES };

#define BER_BURST 0 /**< in place of a number of errors: a burst of BER_BURST_MIN to BER_BURST_MAX bits */
#define BER_BURST_MIN 2
#define BER_BURST_MAX 64

struct ber_strength {
	uint64_t damaged; /**< messages at which an error struck that fell on them */
	uint64_t aborted; /**< of these: ended by what a receiver sees without the check */
	uint64_t passed; /**< the check */
	uint64_t taken; /**< of those that passed: the fields make sense, too */
};

/** Adds n damaged messages, each with so many wrong bits on the wire. @return 0 or -ENOMEM */
int ber_strength(struct ber_strength *s, enum ber_shape shape, bool check32, unsigned int errors, uint64_t n,
		 uint64_t seed, uint64_t number);

const char *ber_shape_name(enum ber_shape shape);
/** Bits of the wire at which one may be wrong. */
unsigned int ber_shape_bits(enum ber_shape shape, bool check32);

/* ---- pairs.c: all pairs of wrong bits ---- */

struct ber_pairs {
	unsigned int blocks; /**< of the message */
	uint64_t pairs;
	uint64_t passed; /**< the check, or came as sent */
};

/**
 * All pairs of bits of the wire that fall on a message, headers of its blocks and what comes over from the
 * block in front of it included: each is made, and the message is received.
 * @param octets  of its data; 0: a request without any, or, with `single`, a grant
 * @return 0 or -ENOMEM
 */
int ber_pairs(struct ber_pairs *p, unsigned int octets, bool single, bool check32, uint64_t seed);

#endif
