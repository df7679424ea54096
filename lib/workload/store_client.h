/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of a store: queries, each of which is one or more operations of the client (messages).
 *
 *   FREE --begin--> TODO --all parts submitted--> WAITING --all parts completed--> FREE
 *     |              ^                                |
 *     |              '------- RMW: it was read -------'
 *     '--begin--> LOCAL --local_time--> FREE
 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "workload/client_priv.h"
#include "workload/store_keys.h"
#include "workload/store_value.h"

#define STORE_RECENT 4096 /**< writes of the client that its reads must not be older than */

struct query {
	mf_time intended;
	mf_time begun; /**< first submission */
	mf_time done; /**< LOCAL */
	uint64_t key;
	uint32_t length; /**< records of a scan */
	uint32_t parts, submitted, left; /**< left: not completed */
	uint32_t field; /**< where it is about one */
	uint8_t kind; /**< enum mf_query_kind */
	bool writing; /**< RMW: it was read */
	bool measured, failed;
};

/** A message of a query. */
struct part {
	uint32_t target;
	uint64_t offset, len; /**< len 0: on the own node */
	uint8_t kind; /**< enum mf_client_kind */
};

/** A queue of queries. */
struct query_ring {
	uint32_t *query; /**< [depth] */
	uint32_t head, count;
};

/** The youngest write to a cell; another one may have taken its place. */
struct recent {
	uint64_t cell; /**< 0: none */
	uint64_t number;
};

struct store_client {
	struct mf_store_client config;
	struct store_keys keys;
	struct mf_rng rng;
	double cum[MF_QUERY_KINDS]; /**< of the mix */
	struct mf_zipf scan_zipf;
	uint32_t own; /**< place of the own node among the targets, UINT32_MAX: it is none */
	bool tears, tears_inserted; /**< writes to the first records, to inserted ones, take several pieces */
	bool lost; /**< some pieces may never have arrived */
	bool *emptied; /**< [targets]: its records may be gone, those of the start as well */
	uint64_t given; /**< queries of the trace so far */
	uint64_t begun; /**< queries */
	struct query *query; /**< [depth] */
	uint32_t *free; /**< stack */
	uint32_t free_count, depth;
	struct query_ring todo, local;
	struct recent *recent; /**< [STORE_RECENT], by a hash of the cell */
	struct query drawn; /**< for store_draw() */
};

/** @return 0, -EINVAL, -ENOMEM */
int store_init(struct mf_client *c, const struct mf_client_config *config);
void store_fini(struct store_client *s);

/** How many messages may be under way, and octets of the longest. */
uint64_t store_slots(const struct mf_store_client *s, uint32_t depth);
uint64_t store_size_max(const struct mf_store_client *s);

/** The next query, but for its times. */
void store_choose(struct store_client *s, struct query *q);
/** Part i of a query. */
void store_part(const struct store_client *s, const struct query *q, uint32_t i, struct part *p);
/** See mf_client_draw(). */
bool store_draw(struct mf_client *c, struct mf_client_message *out);

/* store_run.c: what client_begin(), client_complete() and mf_client_run() are for a store */
void store_begin(struct mf_client *c, mf_time now);
/** A message has completed, at a time. @return false: its verdict, and its query, have to wait */
bool store_judge(struct mf_client *c, const struct slot *s, mf_time at);
void store_failed(struct mf_client *c, const struct slot *s, mf_time at);
mf_time store_next(const struct mf_client *c, mf_time now);
bool store_has_more(const struct mf_client *c, mf_time now);

/* store_verify.c */
/** A write has been submitted. */
void store_wrote(struct mf_client *c, const struct slot *s);
/** It has failed. */
void store_forget(struct mf_client *c, const struct slot *s);
/** What a target holds may be lost. */
void store_lose(struct mf_client *c, uint32_t target);
/** What a read has brought. @return whether nobody but the fabric can be at fault for it */
bool store_verify(struct mf_client *c, const struct slot *s);

#endif
