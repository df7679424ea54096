/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that drive a host: memory operations with verified data, and ordinary Ethernet frames.
 *
 * Sans-I/O, as the host itself: the engine calls run() with the time. A client owns its data buffers
 * and its shadow of the regions that it writes, so that every read proves which write it came from.
 */
#ifndef MF_WORKLOAD_H
#define MF_WORKLOAD_H

#include "mf_hist.h"
#include "mf_host.h"

/** What a client does, for the mix and for the report. */
enum mf_client_kind {
	MF_CLIENT_READ,
	MF_CLIENT_WRITE,
	MF_CLIENT_WRITE_ACK,
	MF_CLIENT_CAS,
	MF_CLIENT_FADD,
	MF_CLIENT_SWAP,
	MF_CLIENT_OR,
	MF_CLIENT_AND,
	MF_CLIENT_KINDS
};

const char *mf_client_kind_name(enum mf_client_kind kind);

enum mf_size_dist {
	MF_SIZE_FIXED,   /**< min */
	MF_SIZE_UNIFORM, /**< min..max */
	MF_SIZE_CDF,     /**< points of a cumulative distribution, linear between them */
};

struct mf_cdf_point {
	double cum;      /**< 0..1, not falling */
	uint64_t size;   /**< octets */
};

enum mf_pattern {
	MF_PATTERN_UNIFORM,     /**< any of the targets */
	MF_PATTERN_PERMUTATION, /**< one target for this client: targets[first] */
	MF_PATTERN_ROUND,       /**< one after the other (all-to-all, incast: from targets[first] on) */
	MF_PATTERN_ZIPF,        /**< hot targets */
};

enum mf_address_dist { MF_ADDR_UNIFORM, MF_ADDR_SEQUENTIAL, MF_ADDR_ZIPF };

struct mf_client_target {
	uint16_t node;
	uint64_t base;   /**< this client's own region there: nobody else writes it */
};

struct mf_client_config {
	struct mf_host *host;
	uint16_t node;            /**< own node number: part of the content that it writes */
	uint64_t seed;            /**< of this client */
	double mix[MF_CLIENT_KINDS]; /**< weights, sum > 0 */
	enum mf_size_dist size_dist;
	uint64_t size_min, size_max;
	const struct mf_cdf_point *cdf;
	unsigned int cdf_points;
	enum mf_pattern pattern;
	enum mf_address_dist address;
	double theta;             /**< of the zipf distributions */
	const struct mf_client_target *targets; /**< copied */
	unsigned int targets_count, first;
	uint64_t span;            /**< octets of the region at each target */
	unsigned int depth;       /**< closed loop: operations under way; open loop: at most so many, others
				       wait here and their latency counts from the intended start */
	mf_time interval;         /**< open loop: mean time between operations, ps; 0: closed loop */
	bool poisson;             /**< open loop: exponential times; otherwise constant */
	uint64_t operations;      /**< stop after so many; 0: no limit */
	mf_time start, stop;      /**< no operation is begun (open loop: intended) before start or from stop on */
	mf_time measure;          /**< operations begun (intended) before are not measured: warm-up */
	bool verify;
};

struct mf_client_stats {
	struct {
		uint64_t begun, completed, failed;   /**< measured ones */
		uint64_t octets;                     /**< payload of completed ones */
		struct mf_hist latency;              /**< from submission to completion, ps */
		struct mf_hist intended;             /**< from the intended start; open loop only */
		struct mf_hist first;                /**< to the first block; reads and RMW */
	} kind[MF_CLIENT_KINDS];
	uint64_t begun_all, completed_all, failed_all; /**< warm-up and drain included */
	uint64_t failed_status[MF_STATUSES];
	uint64_t verified, mismatches;               /**< reads and RMW whose data was compared */
	uint64_t mismatch_addr;                      /**< of the first mismatch */
	uint64_t refused;                            /**< the host's message queue was full */
	mf_time last_done;                           /**< when the last operation completed */
};

struct mf_client;

/** The one client of its host: it takes all completions. @return NULL with errno: EINVAL, ENOMEM */
struct mf_client *mf_client_new(const struct mf_client_config *config);
void mf_client_free(struct mf_client *c);

/**
 * Takes the host's completions, verifies, measures, and begins what is due.
 * @return when it wants to be called next, apart from completions; MF_NEVER: only for those
 */
mf_time mf_client_run(struct mf_client *c, mf_time now);

/** Nothing under way and nothing more to begin. */
bool mf_client_finished(const struct mf_client *c, mf_time now);
const struct mf_client_stats *mf_client_stats(const struct mf_client *c);

/** Ordinary Ethernet frames of one node: sends one flow at most, receives from everybody. */
struct mf_ether_config {
	struct mf_host *host;
	uint16_t node, target;    /**< numbers; the MAC address of node n is 02:00:00:00:nn:nn */
	bool send;                /**< false: only receives */
	uint16_t size;            /**< octets with FCS, as Ethernet counts: 64..9004 */
	mf_time interval;         /**< mean time between frames, ps */
	uint64_t seed;
	mf_time start, stop, measure;
};

struct mf_ether_stats {
	uint64_t sent, received, octets;
	uint64_t refused;         /**< the multiplexer had no room: back-pressure, sent later */
	uint64_t lost, duplicated, damaged; /**< by the sequence number of each sender, and by content */
	uint64_t foreign;         /**< not from one of us, or flooded */
	struct mf_hist latency;   /**< from the intended start to reception, ps (sender and receiver share the clock) */
};

struct mf_ether;

struct mf_ether *mf_ether_new(const struct mf_ether_config *config);
void mf_ether_free(struct mf_ether *e);
mf_time mf_ether_run(struct mf_ether *e, mf_time now);
const struct mf_ether_stats *mf_ether_stats(const struct mf_ether *e);

#endif
