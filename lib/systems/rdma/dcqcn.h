/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction point of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015): the rate of one flow, which here is a queue pair.
 *
 *      CNP:                     RT = RC, RC = RC (1 - alpha / 2), alpha = (1 - g) alpha + g
 *      no CNP for K:            alpha = (1 - g) alpha
 *      every T, every B octets: fast recovery F times (RC towards RT), then RT grows by R_AI, then, when
 *                               both have come more than F times, by a multiple of R_HAI
 *
 * A flow begins at line rate, and is not limited before its first CNP. What timers do is done when somebody
 * asks for the rate: between two packets nobody could tell.
 */
#ifndef DCQCN_H
#define DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

/** Rates are octets a second of the wire, preamble and gap included. */
struct dcqcn_config {
	double line;
	double g;
	mf_time alpha_timer; /**< K */
	mf_time rate_timer; /**< T */
	uint64_t byte_counter; /**< B */
	uint32_t recovery; /**< F */
	double additive, hyper, least;
	mf_time cnp_interval; /**< N, of the notification point */
};

struct dcqcn {
	double rc, rt, alpha;
	mf_time alpha_at; /**< until when alpha has been brought */
	mf_time rate_at; /**< when T began to run */
	uint64_t octets; /**< since the byte counter last ran out */
	uint32_t timers, counters; /**< how often they have, since the last CNP */
	bool limited;
};

/** A CNP has come. */
void dcqcn_cut(const struct dcqcn_config *c, struct dcqcn *d, mf_time now);
/** So many octets are sent at now. @return how long they take at this rate; 0: the flow is not limited */
mf_time dcqcn_sent(const struct dcqcn_config *c, struct dcqcn *d, mf_time now, uint32_t octets);
/** The rate at now. */
double dcqcn_rate(const struct dcqcn_config *c, struct dcqcn *d, mf_time now);

#endif
