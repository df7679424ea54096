/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that drive a host: memory operations with verified data, and ordinary Ethernet frames.
 *
 * Sans-I/O, as the host itself: the engine calls run() with the time. A client owns its data buffers
 * and its shadow of the regions that it writes, so that every read proves which write it came from.
 */
#ifndef MF_WORKLOAD_H
#define MF_WORKLOAD_H

#include <assert.h>

#include "base/mf_hist.h"
#include "systems/mf_layer.h"

/**
 * Chooses how contents are made and compared: by the widest vectors that this CPU has. For the whole
 * process, before any other thread runs; the results are the same.
 *
 * @param simd_bits  widest vectors that are allowed, as rte_vect_get_max_simd_bitwidth() says it
 */
void mf_workload_select(unsigned int simd_bits);

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
	MF_CLIENT_CALL, /**< an echo (mf_call.h): what it answers is what a read would find. Not in traces */
	MF_CLIENT_KINDS
};

const char *mf_client_kind_name(enum mf_client_kind kind);

/** Whether it brings octets and changes none: reads and calls. */
static inline bool mf_client_reads(enum mf_client_kind kind)
{
	return kind == MF_CLIENT_READ || kind == MF_CLIENT_CALL;
}

/** What YCSB asks of a store; each is one or more of the above. */
enum mf_query_kind {
	MF_QUERY_READ,
	MF_QUERY_UPDATE,
	MF_QUERY_INSERT,
	MF_QUERY_SCAN,
	MF_QUERY_RMW, /**< reads a record, then writes it */
	MF_QUERY_KINDS
};

/** "READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE" */
const char *mf_query_kind_name(enum mf_query_kind kind);
/** By that name, or "READ-MODIFY-WRITE". @return MF_QUERY_KINDS: there is none */
enum mf_query_kind mf_query_kind_find(const char *name);

enum mf_client_size {
	MF_CLIENT_SIZE_FIXED, /**< size_min */
	MF_CLIENT_SIZE_UNIFORM, /**< size_min..size_max */
	MF_CLIENT_SIZE_CDF, /**< points of a cumulative distribution, linear between them */
};

/**
 * P(size <= .size) = .cum. The first point's cum have its size; the last one's is 1. Two points of equal
 * size make a step: {0, 64}, {.7, 64}, {.7, 4096}, {1, 4096} is 64 in 70 % and 4096 in the others.
 */
struct mf_cdf_point {
	double cum; /**< 0..1, not falling */
	uint64_t size; /**< octets, 1.., not falling */
};

/** Which target an operation goes to; never the client's own node. */
enum mf_client_pattern {
	MF_CLIENT_TO_UNIFORM, /**< any of them */
	MF_CLIENT_TO_ONE, /**< targets[first]: permutation, incast */
	MF_CLIENT_TO_ROUND, /**< one after the other from targets[first] on: all-to-all */
	MF_CLIENT_TO_ZIPF, /**< hot targets: targets[0] is the hottest */
};

/**
 * Where in the region. RMW: multiples of 8. Reads and writes: multiples of 64; of the size rounded up to
 * 64 where all have the same size.
 */
enum mf_client_address {
	MF_CLIENT_AT_UNIFORM,
	MF_CLIENT_AT_SEQUENTIAL, /**< one behind the other in each region, and from its start again */
	MF_CLIENT_AT_ZIPF, /**< hot slots, of the largest size; hot words for RMW */
};

/** What is sure of the order in which operations of a pair take effect: what verification relies on. */
enum mf_client_order {
	MF_CLIENT_IN_ORDER, /**< that of their submission */
	MF_CLIENT_BY_DIRECTION, /**< reads and RMW among themselves, writes among themselves */
	MF_CLIENT_WRITES_IN_ORDER, /**< the same, but a read may find what an RMW behind it has done */
	MF_CLIENT_LOSSY, /**< the same, and an unacknowledged write may never take effect */
	MF_CLIENT_ANY_ORDER, /**< none; but a write that has completed has taken effect */
};

struct mf_client_target {
	uint16_t node;
	uint64_t base; /**< where the regions of its clients begin */
};

/** Who is told of every measured operation. */
struct mf_client_watch {
	/** It was handed to the host at now. */
	void (*begun)(void *ctx, const struct mf_op *op, enum mf_client_kind kind, mf_time intended,
		      mf_time now);
	/** It has completed or failed. */
	void (*done)(void *ctx, const struct mf_completion *done);
	void *ctx;
};

#define MF_CLIENT_SLOT_BITS 16

/** A client's operations are numbered from 0 on, as they begin: the number that is in mf_op.user. */
static inline uint64_t mf_client_number(uint64_t user)
{
	return user >> MF_CLIENT_SLOT_BITS;
}

/** An operation that is given, not drawn: of a trace. Its address may be (mf_client_config.addresses). */
struct mf_client_message {
	mf_time start; /**< intended */
	uint32_t octets; /**< 1..size_max; RMW: 8 */
	uint16_t node; /**< one of the targets */
	uint8_t kind; /**< enum mf_client_kind, one that has a weight in mix */
};
static_assert(sizeof(struct mf_client_message) == 16, "there may be millions");

/** How a client of a store chooses the key of a query; as YCSB does. */
enum mf_store_keys {
	MF_STORE_ZIPFIAN, /**< some more often, wherever they are */
	MF_STORE_UNIFORM,
	MF_STORE_LATEST, /**< the youngest most often */
};

/** Where the records lie. */
enum mf_store_place {
	MF_STORE_STRIPE, /**< record n at target n mod targets, one behind the other there */
	MF_STORE_RANGE, /**< the first ones at the first target, and so on */
};

/**
 * A store of records with as many fields each, on the memory of the targets; all clients share it. Records
 * 0..records - 1 are there from the start, behind them each client inserts its own.
 */
struct mf_store {
	uint64_t records; /**< 1.. */
	uint64_t inserts; /**< room for those of a client; then it begins again with its first */
	uint32_t fields; /**< of a record, 1.. */
	uint32_t field; /**< octets, MF_STORE_FIELD_MIN.. */
	uint32_t targets, clients;
	enum mf_store_place place;
};

#define MF_STORE_FIELD_MIN 24

/** Records that there is room for. */
static inline uint64_t mf_store_room(const struct mf_store *s)
{
	return s->records + s->inserts * s->clients;
}

static inline uint64_t mf_store_record(const struct mf_store *s)
{
	return (uint64_t)s->fields * s->field;
}

/** Octets that it takes at each target. */
uint64_t mf_store_extent(const struct mf_store *s);
/** Where a record lies: place in the list of targets, and offset behind their base. */
void mf_store_find(const struct mf_store *s, uint64_t key, uint32_t *target, uint64_t *offset);
/** Writes a record as it is at the start. */
void mf_store_fill(const struct mf_store *s, uint64_t key, void *record);

/** Most reads that a scan may consist of, and octets of the longest of them. */
uint32_t mf_store_scan_parts(const struct mf_store *s, uint32_t records);
uint64_t mf_store_scan_octets(const struct mf_store *s, uint32_t records);
/** A scan's reads: number i of those of a scan of so many records from key on. @return octets */
uint64_t mf_store_scan_part(const struct mf_store *s, uint64_t key, uint32_t records, uint32_t i,
			    uint32_t *target, uint64_t *offset);

/** An operation of YCSB that is given, not drawn. */
struct mf_query {
	uint64_t key; /**< a larger one than there are records is taken modulo them */
	uint32_t length; /**< of a scan, records; 0: drawn */
	uint8_t kind; /**< enum mf_query_kind */
};
static_assert(sizeof(struct mf_query) == 16, "there may be millions");

/** What a client of a store asks for. */
struct mf_store_client {
	struct mf_store store;
	uint32_t client; /**< place among the clients */
	double mix[MF_QUERY_KINDS]; /**< weights, sum > 0 */
	enum mf_store_keys keys;
	double theta; /**< of the zipf distributions */
	bool read_all, write_all; /**< fields; or one of them */
	bool acknowledge; /**< writes */
	uint32_t scan; /**< records of the longest */
	bool scan_zipfian; /**< lengths; or all of them as often */
	double local; /**< share of queries that stay at the client's own memory */
	mf_time local_time; /**< and take this long; as those for records that are on the own node */
	uint32_t whole; /**< octets that are written at once: longer writes may be seen in part */
	const struct mf_query *queries; /**< instead of what is drawn; the caller's. NULL: none */
	uint64_t queries_count;
};

/**
 * Address spaces that clients share, while they are made and ended, and pages in them allocated and freed.
 * Each client makes `spaces` at each target, and gives the others rights. The region is all pages of all of
 * them, those of the first client's first space first, whether they are there or not.
 */
struct mf_churn {
	double share; /**< of operations that ask something of a space, 0..1 */
	uint32_t client, clients; /**< place among them */
	const uint16_t
		*number; /**< [clients]: of their nodes for memory nodes. The caller's, must outlive them */
	uint32_t spaces; /**< of each client at each target, below 2^13 */
	uint64_t pages; /**< of each */
	uint8_t shift; /**< 2^shift octets are a page */
	const uint8_t *page_class; /**< [nodes]: of such pages at each target. Likewise */
};

struct mf_client_config {
	struct mf_node *host; /**< NULL: only for mf_client_draw() */
	struct mf_layer *layer; /**< over the host, to be asked instead; NULL: there is none */
	uint16_t node; /**< own node number: part of the content that it writes */
	uint64_t seed; /**< of this client */
	double mix[MF_CLIENT_KINDS]; /**< weights, sum > 0 */
	enum mf_client_size size_dist;
	uint64_t size_min, size_max; /**< octets, of reads and writes; not larger than span */
	uint64_t size_unit; /**< CDF: sizes are multiples of it, rounded up, as its points are; 0: 1 */
	const struct mf_cdf_point *cdf; /**< copied */
	unsigned int cdf_points;
	enum mf_client_pattern pattern;
	enum mf_client_address address;
	double theta; /**< of the zipf distributions */
	/** Each node once; the own one is left out. The caller's, of many clients; must outlive them. */
	const struct mf_client_target *targets;
	unsigned int targets_count, first;
	/** Behind a target's base: this client's own region, zero at the start. No other one writes it. */
	uint64_t base;
	uint64_t span; /**< octets of the region at each target */
	unsigned int depth; /**< 1..65536. Closed loop: operations under way; open loop: at most so many,
			       others wait here and their latency counts from the intended start */
	mf_time interval; /**< open loop: mean time between operations, ps; 0: closed loop */
	bool poisson; /**< open loop: exponential times; otherwise constant, at a random phase */
	uint32_t burst; /**< open loop: operations that arrive together, interval is between bursts; 0: 1 */
	mf_time delay; /**< closed loop: least time from the start of an operation to that of the next */
	uint64_t operations; /**< stop after so many; 0: no limit */
	uint64_t measured; /**< stop after so many measured ones; 0: no limit */
	mf_time start, stop; /**< no operation is begun (open loop: intended) before start or from stop on */
	mf_time measure; /**< operations begun (intended) before are not measured: warm-up */
	bool verify;
	/** All targets are sinks (mf_memory.h): it writes what they hold. Neither RMW nor a store. */
	bool sink;
	enum mf_client_order order;
	/**
	 * In order: a target that was lost comes back with zero in it, so what its regions hold is known.
	 * What had been begun at the old one must not take effect at the new one. Else they are unknown
	 * until written again.
	 */
	bool lost_is_empty;
	uint64_t idle_max; /**< open loop: octets of buffers without an operation that stay in memory */
	const struct mf_client_watch *watch; /**< or NULL */
	/**
	 * Open loop: instead of what is drawn, ascending in time; the caller's, must outlive the client. mix,
	 * size_min and size_max say what there is in it; pattern, interval, burst and start have no effect.
	 */
	const struct mf_client_message *messages;
	uint64_t messages_count; /**< with messages NULL: it is no trace */
	/**
	 * Of the messages, behind base of their target: within span, RMW multiples of 8. NULL: drawn. The
	 * caller's, as they are. What is verified relies on that nobody else writes there, as elsewhere.
	 */
	const uint64_t *addresses;
	/**
	 * Queries to a store instead of operations; NULL: none. targets are those of the store, the own node
	 * where it is one of them; base is that of the store. depth and operations count queries. mix, sizes,
	 * pattern, address, span and burst have no effect.
	 */
	const struct mf_store_client *store;
	/**
	 * Spaces that it shares with others; NULL: none. It has a layer of address spaces. span is that of
	 * all of them, and nothing is verified: others write there, too.
	 */
	const struct mf_churn *churn;
};

/** What has completed. */
struct mf_client_done {
	uint64_t operations, octets;
};

/** Of the measured operations of a kind. */
struct mf_client_kind_stats {
	uint64_t begun, completed, failed;
	uint64_t octets; /**< payload of completed ones */
	uint64_t octets_begun;
	mf_time last; /**< when the last one completed, measured or not; 0: none has */
	struct mf_client_done unmeasured; /**< of the warm-up's operations, whenever they completed */
	mf_time failed_max; /**< longest from submission to failure, measured or not */
	bool apart; /**< some first block came before its last one */
	bool late; /**< some began later than intended */
	struct mf_hist latency; /**< from submission to completion, ps */
	struct mf_hist intended; /**< from the intended start, where late; see mf_client_intended() */
	struct mf_hist first; /**< to the first block, where apart; see mf_client_first() */
};

/** Of the measured queries of a kind. */
struct mf_query_stats {
	uint64_t begun, completed, failed;
	uint64_t local; /**< of the completed ones: those without the network */
	uint64_t unmeasured; /**< completed, of those that began in the warm-up */
	mf_time last; /**< when the last one completed, measured or not; 0: none has */
	struct mf_hist latency; /**< of all, from their begin, ps */
	struct mf_hist remote; /**< of those with the network */
	struct mf_hist intended; /**< of all, from the intended start; open loop only */
};

/** What a client does before `measure`, until `stop`, and from then on. */
enum mf_client_phase { MF_CLIENT_WARMUP, MF_CLIENT_STEADY, MF_CLIENT_DRAIN, MF_CLIENT_PHASES };

/** Operations, and their octets. */
struct mf_client_totals {
	uint64_t begun, completed, failed;
	uint64_t octets_begun, octets_completed, octets_failed;
};

/** What had happened by the end of a phase. */
struct mf_client_at {
	struct mf_client_totals all;
	struct mf_client_done done[MF_CLIENT_KINDS]; /**< measured or not */
	uint64_t queries[MF_QUERY_KINDS]; /**< that had completed, measured or not */
};

struct mf_client_stats {
	struct mf_client_kind_stats kind[MF_CLIENT_KINDS];
	struct mf_query_stats query[MF_QUERY_KINDS]; /**< store only; kind has the messages of theirs */
	uint64_t tasks, tasks_done; /**< churn: what was asked of spaces, and did what was asked */
	uint64_t denied; /**< churn: operations without the right, or without a page: they have not failed */
	uint64_t torn; /**< fields that were read while somebody wrote them in several pieces */
	uint64_t absent; /**< fields of records that nobody had inserted yet, in scans, or that were lost */
	bool open; /**< loop: there is an intended start */
	uint64_t begun_all, completed_all, failed_all; /**< warm-up and drain included */
	/** Of the warm-up's operations: begun, failed, octets_begun; octets_failed is of all. */
	struct mf_client_totals unmeasured;
	struct mf_client_at at[MF_CLIENT_PHASES - 1]; /**< at the end of each phase */
	unsigned int phase; /**< enum mf_client_phase: at was written for those before */
	uint64_t failed_status[MF_STATUSES];
	uint64_t verified, mismatches; /**< reads and RMW whose data was compared; those that differed */
	/** Of octets that nobody can tell: a write failed, may have passed, or be lost. */
	uint64_t unverified;
	uint64_t restarts; /**< times that a target, or the way to it, was lost: mf_node_on_restart() */
	/** The first of mismatches: what was asked, of which memory. */
	struct mf_client_mismatch {
		uint64_t addr;
		uint32_t octets;
		uint16_t node;
		uint8_t kind; /**< enum mf_client_kind */
	} mismatch;
	uint64_t stray; /**< completions of no operation that is under way */
	uint64_t refused; /**< operations that found the host's message queue full, and waited */
	int submit_error; /**< -errno: the host cannot do what was configured; nothing more is begun */
	mf_time first_begun; /**< (intended) begin of the first measured operation; MF_NEVER: none was */
	/** The first of the warm-up's operations that completed after it: when, MF_NEVER if there is none. */
	mf_time carried_done;
	uint64_t carried_octets;
	uint8_t carried_kind; /**< enum mf_client_kind */
	mf_time last_done; /**< when the last operation completed */
};

/** Times from submission to the first block: reads and RMW. */
static inline const struct mf_hist *mf_client_first(const struct mf_client_stats *s, enum mf_client_kind k)
{
	bool returns = k != MF_CLIENT_WRITE && k != MF_CLIENT_WRITE_ACK;

	return returns && !s->kind[k].apart ? &s->kind[k].latency : &s->kind[k].first;
}

/** Times from the intended start to completion; of a closed loop there are none. */
static inline const struct mf_hist *mf_client_intended(const struct mf_client_stats *s, enum mf_client_kind k)
{
	return s->open && !s->kind[k].late ? &s->kind[k].latency : &s->kind[k].intended;
}

struct mf_client;
struct mf_history_log;

/** The one client of its host: it takes all completions. @return NULL with errno: EINVAL, ENOMEM */
struct mf_client *mf_client_new(const struct mf_client_config *config);
void mf_client_free(struct mf_client *c);

/**
 * Has all that the client begins, and what comes of it, recorded (mf_history.h). Before it is run.
 * @param log        must outlive the client; nobody else writes there, but the layer of its node
 * @param cuts_only  that layer records operations: the client what it is told of losses
 * @return 0, -ENOMEM
 */
int mf_client_record(struct mf_client *c, struct mf_history_log *log, bool cuts_only);

/**
 * Takes the host's completions, verifies, measures, and begins what is due.
 * @return when it wants to be called next, apart from completions; MF_NEVER: only for those
 */
mf_time mf_client_run(struct mf_client *c, mf_time now);
/** Whether mf_client_run() would only look for completions before the time that it gave last. */
bool mf_client_waits(const struct mf_client *c, mf_time now);

/**
 * Instead of running an open loop: what it would do next, and when. A client that only draws needs no host.
 * @param addr  where, of a trace that says it (mf_client_config.addresses); else untouched. NULL: not asked
 * @return false: nothing more, or the loop is closed
 */
bool mf_client_draw(struct mf_client *c, struct mf_client_message *out, uint64_t *addr);

/**
 * The same of a client of a store: its queries, in closed loops as well, but for those that are given, and
 * without any times.
 * @return false: nothing more, or there is no store
 */
bool mf_client_draw_query(struct mf_client *c, struct mf_query *out);

/* Hints, which change nothing: what is named will soon be looked at, and is fetched into the caches. */
/** The client. */
void mf_client_fetch(const struct mf_client *c);
/** What the operations look at that are begun up to a time. */
void mf_client_fetch_next(const struct mf_client *c, mf_time until);
/** An operation that is about to complete, by mf_op.user. */
void mf_client_fetch_op(const struct mf_client *c, uint64_t user);

/**
 * The process of the node is gone, and there again, or will be: what was under way has failed, its outcome
 * unknown, and so is what its regions hold. It goes on with what it was to do next.
 */
void mf_client_crashed(struct mf_client *c, mf_time now);

/** No operation is begun (intended) from this time on, if that is before stop. Any thread may call. */
void mf_client_stop(struct mf_client *c, mf_time at);

/** Whether it has begun all up to its limit, or the end of its trace. Where it has neither it never has. */
bool mf_client_at_end(const struct mf_client *c);
/** Whether the operation of this mf_op.user has neither completed nor failed. */
bool mf_client_under_way(const struct mf_client *c, uint64_t user);
/** Nothing under way and nothing more to begin. */
bool mf_client_finished(const struct mf_client *c, mf_time now);
const struct mf_client_stats *mf_client_stats(const struct mf_client *c);

/** What was begun, completed, failed in a phase, when the client has been called for the last time. */
struct mf_client_totals mf_client_totals(const struct mf_client_stats *s, enum mf_client_phase phase);

/**
 * What completed within the steady state, whether it began in it or in the warm-up: all kinds of it together
 * are what mf_client_totals() has as completed. When the client has been called for the last time.
 */
struct mf_client_done mf_client_steady(const struct mf_client_stats *s, enum mf_client_kind kind);
/** The same of queries. */
uint64_t mf_client_steady_queries(const struct mf_client_stats *s, enum mf_query_kind kind);
/** When an operation or a query completed last; 0: none has. */
mf_time mf_client_last(const struct mf_client_stats *s);

/**
 * Operations of an open loop that were intended in [from, to), to not beyond stop, and have not been begun:
 * they waited, and nothing is known of them but their number.
 */
uint64_t mf_client_not_begun(const struct mf_client *c, mf_time from, mf_time to);

/**
 * Where it has an end, a limit or that of a trace: how many operations (queries) it had not begun before it
 * was stopped, but for those of mf_client_not_begun(). 0: all, or there is no end.
 */
uint64_t mf_client_not_reached(const struct mf_client *c);

/** A flow of frames. */
struct mf_ether_flow {
	const uint16_t
		*targets; /**< nodes, copied, without the own one; each frame goes to one of them at random */
	unsigned int targets_count;
	uint16_t size; /**< octets with FCS, as Ethernet counts: 64..9004 */
	mf_time interval; /**< mean time between frames, ps */
	bool poisson; /**< exponential times; otherwise constant, at a random phase */
};

/** Ordinary Ethernet frames of one node: sends flows, receives from everybody. */
struct mf_ether_config {
	struct mf_node *host;
	uint16_t node; /**< the MAC address of node n is 02:00:00:00:nn:nn */
	uint16_t nodes; /**< of the fabric: a frame of another one is damaged */
	const struct mf_ether_flow *flows; /**< copied */
	unsigned int flows_count; /**< 0: only receives */
	uint64_t seed;
	mf_time start, stop, measure;
};

/** Of the whole run, but for octets and latency: those of frames intended from measure on. */
struct mf_ether_stats {
	uint64_t sent, received; /**< received: each frame once, and whole */
	uint64_t octets; /**< of received frames, with FCS */
	uint64_t refused; /**< frames that found no room in the multiplexer: back-pressure, sent later */
	uint64_t lost; /**< gaps in the sequence numbers of each sender; a damaged frame leaves one, too */
	uint64_t reordered; /**< came behind a later one: no longer counted as lost */
	uint64_t duplicated; /**< came again, or more than MF_ETHER_WINDOW behind a later one */
	uint64_t damaged; /**< one of ours by its EtherType, but not as it was sent */
	uint64_t foreign; /**< for somebody else (flooded), or not one of ours */
	uint64_t early; /**< by the receiver's clock they came before they were sent: no latency is known */
	struct mf_hist latency; /**< from the intended start to reception, ps, by the receiver's clock */
};

#define MF_ETHER_TYPE 0x88b6 /**< IEEE 802 local experimental EtherType 2 */
#define MF_ETHER_WINDOW 1024

struct mf_ether;

/** The one receiver of its host's frames. @return NULL with errno: EINVAL, ENOMEM */
struct mf_ether *mf_ether_new(const struct mf_ether_config *config);
/** The host must still be there. */
void mf_ether_free(struct mf_ether *e);

/** Sends what is due. @return when it wants to be called next, or MF_NEVER */
mf_time mf_ether_run(struct mf_ether *e, mf_time now);

/** No frame is intended from this time on, if that is before stop. Any thread may call. */
void mf_ether_stop(struct mf_ether *e, mf_time at);

/** Every frame that was intended before stop has been handed to the host. */
bool mf_ether_finished(const struct mf_ether *e);
const struct mf_ether_stats *mf_ether_stats(const struct mf_ether *e);

/** For comparing both ends of a pair: the loss of the last frames leaves no gap. */
uint64_t mf_ether_sent_to(const struct mf_ether *e, uint16_t node);
uint64_t mf_ether_received_from(const struct mf_ether *e, uint16_t node);

#endif
