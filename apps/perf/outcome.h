/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run has shown. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "measure/mf_live.h"
#include "plan.h"

/** From where to where a latency counts. */
enum latency {
	LATENCY_ROUND_TRIP, /**< read, atomic: from submission to the last octet of the response */
	LATENCY_ACKNOWLEDGED, /**< write: from submission to its acknowledgement */
	LATENCY_EFFECT, /**< write: from submission to its effect at the memory */
	LATENCY_INTENDED, /**< open loop: from the intended start to completion */
	LATENCIES
};

/** "full round trip", for people; "round_trip", for programs. */
const char *latency_meaning(enum latency l);
const char *latency_name(enum latency l);

#define OUTCOME_SERIES (2 * MF_MIXES)

/** Latencies of one kind of operation. */
struct series {
	enum mf_mix kind;
	enum latency latency;
	struct mf_hist *hist;
};

struct outcome {
	struct point point;
	mf_time from, to; /**< what rates are over, and */
	uint64_t operations, octets; /**< count: see mf_window.h */
	uint64_t iterations; /**< operations measured: begun in the steady state, and completed */
	double peak; /**< octets a second in the best window */
	double offered; /**< open loop: operations a second that were asked for; 0: closed loop */
	uint32_t burst; /**< of them that come together */
	struct series series[OUTCOME_SERIES];
	unsigned int count; /**< of series */
	bool probed; /**< the series are those of the probe, octets those of the load */
	uint64_t failed, verified, mismatches, unverified;
	bool interrupted;
	bool sound;
	char reason[256]; /**< why not */
	json_t *run; /**< versions, machine, placement */
	json_t *config; /**< the effective configuration */
};

/** Octets and operations a second. */
double outcome_bandwidth(const struct outcome *o);
double outcome_rate(const struct outcome *o);

/** Whether less was done than offered: by more than 2 %, and by more than chance. false in a closed loop. */
bool outcome_saturated(const struct outcome *o);

/** The latencies of a kind, NULL: there are none. */
const struct mf_hist *outcome_latency(const struct outcome *o, enum mf_mix kind, enum latency l);

/** All latencies of the kind of latency that the table shows, merged. @return NULL: no memory */
struct mf_hist *outcome_merged(const struct outcome *o, bool intended);

/**
 * Takes the outcome of a fabric that has run.
 * @param peak  octets a second that were seen at best
 * @return 0 or -ENOMEM; outcome_fini() follows in any case
 */
int outcome_take(struct outcome *o, const struct mf_fabric *f, const struct mf_config *config, double peak);
void outcome_fini(struct outcome *o);

#endif
