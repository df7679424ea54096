/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of this room: what its files share. The mechanisms of EDM 3.2.1 by name:
 *
 *   message_queue.c  operations wait for X, an id and room; a FIFO for each destination
 *   state_table.c    message state table
 *   timers.c         timers of messages, quarantine, and what falls due at a date
 *   op_timer.c       read and write timers: of operations, from their submission
 *   grant_queue.c    grants, and what else could not be sent at once
 *   chunks.c         WREQ chunks
 *   mega.c           several WREQs behind one notification (3.1.2)
 *   requester.c      responses, acknowledgements, errors
 *   responder.c      the memory node: requests and writes
 *   responses.c      the memory node: what is still to be sent
 *   keys.c           keys of the regions of memory nodes
 *   once.c           the memory node: what it has executed
 *   retry.c          what is not answered is sent again
 *   data_buffer.c    what long responses still have to send
 *   rx.c             spans to messages
 *   link.c           the link is lost, or that of another node was
 *   redundancy.c           two links to two switches
 *   restart.c        a new incarnation
 *   exhaust.c        no room, on purpose
 */
#ifndef HOST_H
#define HOST_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "role/mf_receiver.h"
#include "systems/edm/host/mf_host.h"

/** Kept out of the way of what happens at every message. */
#define HOST_ASIDE __attribute__((noinline))

#define HOST_NIL UINT32_MAX
#define HOST_NO_NODE UINT16_MAX
#define HOST_NOT_READY (UINT16_MAX - 1)

/** An operation, from its submission until its completion was taken. */
struct host_op {
	/** As the client gets it; until then len is that of the operation, and done its deadline. */
	struct mf_completion c;
	uint64_t addr;
	/* second cache line */
	uint8_t *buf;
	uint64_t issued; /**< octets for which messages were started */
	uint32_t live; /**< messages under way */
	uint32_t next; /**< in the FIFO of its destination, among the completions, or the free ones */
	uint64_t arg[2];
	uint64_t key; /**< of what it does where (keys.h); 0: it needs none, or has none yet */
	uint32_t prev; /**< in the FIFO of its destination, but of its head */
	uint32_t timer_prev, timer_next; /**< among those with its timer; itself: it has none */
	uint8_t rmw;
	bool asks; /**< its key is asked for */
	uint16_t room; /**< CALL: octets of buf; .c.len is then that of the response */
} __attribute__((aligned(64)));
static_assert(offsetof(struct host_op, buf) == 64 && sizeof(struct host_op) == 128, "two cache lines");

/*
 * A message under way.
 *
 *             start           last chunk queued         last block out
 *      FREE ---------> ACTIVE ------------------> SENT ----------------> DONE (WREQ)
 *       ^               |                          |  (WREQ_ACK)
 *       |  response     |                          v
 *       |  complete     v               ACK  AWAIT_ACK
 *       |<--(date)--- DONE <--------------------'  |
 *       |                                          v  timer, or refused while grants or a copy may come
 *       |<--(date)--- LATE <-- QUARANTINE <--(date)-- FAILED <-- ACTIVE, SENT, AWAIT_ACK
 *
 * What was sent again ends as FAILED, whatever its status: answers to its other sendings may come.
 *
 * "(date)": a step that is known before it happens, because a span says when its last block comes.
 * Such a state stands in the list of events and takes the step at its date: the block-by-block mode
 * sees the same.
 */
enum host_phase {
	HOST_FREE,
	HOST_ACTIVE,
	HOST_SENT,
	HOST_AWAIT_ACK,
	HOST_DONE,
	HOST_FAILED,
	HOST_QUARANTINE,
	HOST_LATE
};

/** Of messages. */
enum host_timer_class {
	HOST_TIMER_RETRY,
	HOST_TIMER_GRANTS, /**< with once, of an id that rests: /G/, which say no use, may come */
	HOST_TIMER_QUARANTINE,
	HOST_TIMERS
};

/** Of operations. */
enum host_op_timer_class { HOST_OP_TIMER_READ, HOST_OP_TIMER_WRITE, HOST_OP_TIMERS };

enum {
	HOST_HOLDS_SLOT = 1, /**< counts as one of the X of its pair */
	HOST_HAS_EVENT = 2,
	HOST_LATE_END = 4, /**< FAILED: what it waited for ends at `deadline` all the same */
	HOST_MEGA_HEAD = 8, /**< its grant is that of the members behind it, too */
	HOST_MEGA_MEMBER = 16, /**< no grant names it */
	HOST_MEGA_MORE = 32, /**< mega_next is there */
	HOST_TIMED = 64, /**< stands in the list of a timer */
	HOST_UNSENT = 128, /**< from FAILED on: something of it may not have been sent yet */
};

/** Entry of the message state table. */
struct host_state {
	mf_time deadline; /**< of its own timer; its operation's is another one */
	mf_time event_at; /**< of its event; until it has one, when it was sent last */
	uint32_t op;
	uint32_t piece; /**< which 64 KiB of the operation */
	uint32_t size;
	uint32_t moved; /**< octets sent or received */
	uint32_t prev, next; /**< timer list */
	uint32_t event_prev, event_next;
	uint32_t seq; /**< orders events of equal date: by the start of the message */
	uint16_t node;
	uint8_t id;
	uint8_t kind; /**< enum mf_op_kind */
	uint8_t phase; /**< enum host_phase */
	uint8_t status; /**< enum mf_status, from FAILED or DONE on */
	uint8_t flags;
	uint8_t mega_next;
	uint8_t again; /**< how often it was sent again */
	/** Retries: what had moved when its timer ended last, in 256 octets. From FAILED on: the switches by
	 * which its refusal has come, a bit each. */
	uint8_t mark;
	bool early; /**< its id had not rested: uses of the id tell what comes for the one before */
	union {
		bool open; /**< QUARANTINE: another use may take the id */
		uint8_t applied; /**< while it waits, with uses: what is known of that, in MF_GAP_UNIT */
	};
};
static_assert(sizeof(struct host_state) == 64, "one cache line");

/**
 * States, or operations, whose deadlines are in order: all of a class have the same timeout. The list is a
 * ring through an entry of its own, so nothing has to be asked when one is put in or taken out.
 */
struct host_timer {
	mf_time timeout;
	mf_time at; /**< not later than the first deadline */
};

/** What is sent to a peer in the order of its grants: own messages, responses, single blocks. */
enum host_lane { HOST_LANE_OWN, HOST_LANE_RESPONSE, HOST_LANE_SINGLE, HOST_LANES };

/** Ids whose entries' numbers are in a cache line. */
#define HOST_IDS_LINE 16

/** The first entries of the table are no messages: */
enum {
	HOST_NOBODY, /**< that of a free id */
	HOST_RINGS, /**< of the timers, and behind them of the events */
	HOST_ENTRIES_FIRST = HOST_RINGS + HOST_TIMERS + 1,
};

/** What is known of a destination. */
struct host_peer {
	uint64_t ids[MF_IDS / 64]; /**< free ids */
	uint32_t head, tail; /**< operations that wait */
	uint32_t held_scan[HOST_LANES]; /**< grant queue: last scan in which one of the lane had no room */
	uint16_t held[HOST_LANES]; /**< grant queue: entries of the lane */
	uint16_t free_ids;
	uint16_t ready_next; /**< in the ready list; HOST_NOT_READY: does not stand there */
	uint8_t active[2]; /**< [0] reads and RMWs, [1] writes: at most X each */
};
static_assert(sizeof(struct host_peer) == 64, "one cache line");

/** What a host still has to send. */
enum host_job_kind { HOST_JOB_OWN, HOST_JOB_MEGA, HOST_JOB_RESPONSE, HOST_JOB_SINGLE };

struct host_job {
	mf_time at; /**< arrival of its grant */
	mf_time ready;
	uint64_t word; /**< SINGLE */
	uint32_t size;
	uint16_t node;
	uint8_t id;
	uint8_t kind; /**< enum host_job_kind */
	uint8_t lane; /**< enum host_lane */
	uint8_t message; /**< SINGLE: enum mf_kind */
};

#define HOST_GRANT_QUEUE 4096 /**< entries, a power of two */

/** The state of a response at a memory node, indexed by <requester, id>. */
struct host_response {
	uint8_t *data; /**< a data buffer; NULL: there is no response */
	mf_time ready; /**< not before the memory has answered */
	uint32_t size;
	uint32_t sent;
	uint32_t prev, next; /**< from the oldest to the newest */
};
static_assert(sizeof(struct host_response) == 32, "two a cache line");

/** Buffers of one size. Last in, first out: what was used last is in the cache. */
struct host_pool {
	uint8_t *base;
	size_t octets;
	uint32_t *free; /**< numbers of free buffers */
	uint32_t count; /**< of them */
	uint32_t shift; /**< log2 of the size of a buffer */
};

enum { HOST_POOL_SMALL, HOST_POOL_LARGE, HOST_POOLS };

/** What mf_host_exhaust() has taken away. */
struct host_taken {
	uint32_t what; /**< a bit for each enum mf_host_pool */
	uint32_t op_free, queue;
	uint32_t buffers[HOST_POOLS];
};

/** Orders messages of equal ready time, with the peer behind it. */
enum host_tie { HOST_TIE_REQUEST, HOST_TIE_OWN, HOST_TIE_RESPONSE, HOST_TIE_SINGLE };

struct host_keys;

struct mf_host {
	/* read by every poll */
	struct mf_node_shell shell; /**< `submits`: a compute node whose port has memory blocks */
	mf_time wake; /**< not later than the first event or timer */
	uint32_t due_head, due_tail; /**< operations whose completion can be taken */
	uint32_t job_head, job_tail; /**< grant queue: entries job_head..job_tail - 1 */
	uint16_t ready_head, ready_tail; /**< destinations that wait for room in the multiplexer */
	bool deaf; /**< what is received comes by a link whose switch is not obeyed: redundancy.c */
	bool stamps; /**< stages are stamped */
	uint32_t op_free, op_fresh, op_count;
	/* and by every message */
	struct host_op *op;
	struct host_state *state;
	uint32_t *entry; /**< of the table, by host_id_index() */
	struct host_peer *peer;
	uint32_t seq, scan;
	uint32_t state_free, state_fresh; /**< entries: a stack, and the first that never was in use */
	struct host_timer timer[HOST_TIMERS], op_timer[HOST_OP_TIMERS];
	uint32_t op_rings; /**< operations that are none: of the timers */
	mf_time patient_until, excuse_at; /**< wall clock: timers.c, excused() */
	/* sums of mf_timing: */
	mf_time cost_request; /**< submission or dequeue -> /N/ or request made */
	mf_time cost_grant; /**< /G/ -> chunk made */
	mf_time cost_return; /**< /G/ -> known that it is of no use, and the GRET made */
	mf_time cost_parse; /**< request -> memory controller */
	mf_time cost_data_tx; /**< memory has answered -> chunk made */
	mf_time cost_data; /**< block of data -> delivered */
	mf_time cost_answer; /**< known -> ACK or ERR made */
	mf_time cost_single; /**< ACK or ERR -> known */
	mf_time heard_at; /**< no answer and no request goes before: link.c */

	struct host_job *job;
	uint32_t job_room; /**< HOST_GRANT_QUEUE, or less for a test */
	struct host_response *response;
	uint32_t response_head, response_tail;
	uint16_t *incarnation; /**< [nodes]: which of its incarnations a node was said to have; 0: nothing was
				  said */
	uint8_t *write_next; /**< [nodes]: the first id that the next write may have */
	uint32_t *written; /**< acknowledged writes at a memory node: offset expected next; not with once */
	struct host_once
		*once; /**< memory node: last uses, indexed by <requester, id>; NULL: there are none */
	uint32_t attach_op; /**< attaches have the places behind the message queue's, a node each */
	uint16_t *resting; /**< with once, [nodes]: ids that rest, and may be taken by another use all the
			      same */
	uint16_t *use; /**< with once: how often an id was used, by host_id_index() */
	struct host_keys *keys; /**< NULL: no node has regions that this one knows of */
	struct host_pool pool[HOST_POOLS];

	struct mf_frame_sink sink;
	mf_host_restart_fn restart_fn;
	void *restart_ctx;
	bool link_lost; /**< while the client is told of it */
	struct host_taken taken;
	struct mf_host_config config;
	struct mf_host_stats stats;
	struct host_redundancy *redundancy; /**< NULL: there is one switch */
	struct mf_receiver rx; /**< of the link that something came by last */
};
static_assert(offsetof(struct mf_host, op) == 64, "what every poll reads is one cache line");

/** Ids of a pair that are its own: see mf_host_config.leaves_ids. */
static inline uint32_t host_ids(const struct mf_host *h)
{
	return h->config.leaves_ids ? MF_IDS / 4 * 3 : MF_IDS;
}

static inline bool host_is_write(uint8_t op_kind)
{
	return op_kind == MF_OP_WRITE || op_kind == MF_OP_WRITE_ACK;
}

/** Rows of ids: the lowest free id is taken, so only the first few rows are ever touched. */
static inline uint32_t host_index(const struct mf_host *h, uint16_t node, uint8_t id)
{
	return (uint32_t)id * h->shell.nodes + node;
}

/**
 * Of what a host knows of its own ids: a line of several ids of a destination, then of the next one. Those in
 * use are the lowest, or, as writes take them in turn, close together.
 */
static inline uint32_t host_id_index(const struct mf_host *h, uint16_t node, uint8_t id)
{
	return ((uint32_t)id / HOST_IDS_LINE * h->shell.nodes + node) * HOST_IDS_LINE + id % HOST_IDS_LINE;
}

/** The entry of an id; HOST_NOBODY's, which is HOST_FREE, where it has none. */
static inline struct host_state *host_state_at(const struct mf_host *h, uint16_t node, uint8_t id)
{
	return &h->state[h->entry[host_id_index(h, node, id)]];
}

static inline uint32_t host_state_index(const struct mf_host *h, const struct host_state *s)
{
	return (uint32_t)(s - h->state);
}

/** Under the wall clock the order of the calls is the order of the messages. */
static inline uint32_t host_tie(const struct mf_host *h, enum host_tie tie, uint16_t node)
{
	return h->shell.wall ? 0 : (uint32_t)tie << 9 | node;
}

/* host.c: all of it but what counts, and where it is */
int host_init(struct mf_host *h, const struct mf_host_config *config);
void host_fini(struct mf_host *h);

/* message_queue.c */
void host_kick(struct mf_host *h, uint16_t node, mf_time at);
/** What waits for a link for longer than any timer is thrown away. @return whether it was */
bool host_make_room(struct mf_host *h, mf_time now);
void host_ready_run(struct mf_host *h, mf_time now);
struct host_state *host_message_start(struct mf_host *h, uint16_t node, uint32_t size, mf_time at);
void host_notify_put(struct mf_host *h, uint64_t *word, const struct mf_msg *m, mf_time at);

/** D7: what a transfer has behind a piece, so that the scheduler's SRPT may look at all of it. */
static inline uint16_t host_behind(uint64_t left)
{
	uint64_t units;

	if (likely(left <= MF_MESSAGE_MAX))
		return 0;
	units = (left - MF_MESSAGE_MAX + MF_BEHIND_UNIT - 1) / MF_BEHIND_UNIT;
	return (uint16_t)(units < MF_BEHIND_MAX ? units : MF_BEHIND_MAX);
}

/** Takes the head out of a destination's FIFO. */
static inline void host_queue_pop(struct mf_host *h, struct host_peer *p)
{
	p->head = h->op[p->head].next;
}

/* op_timer.c */
/** The deadline of an operation has come: what of it waits will not begin, what is under way has failed. */
HOST_ASIDE void host_op_expire(struct mf_host *h, uint32_t i, mf_time date);

/* mega.c */
unsigned int host_mega_collect(const struct mf_host *h, const struct host_peer *p, uint32_t *octets);
bool host_mega_start(struct mf_host *h, uint16_t node, unsigned int count, uint32_t octets, mf_time at);
bool host_mega_send(struct mf_host *h, struct host_job *job);
/** Wire octets of a mega-message, by its first member. */
uint32_t host_mega_octets(const struct mf_host *h, const struct host_state *s);

/* state_table.c; state_table.h has what every message does */
/** The deadline of a message that waits has come, its own or its operation's. */
HOST_ASIDE void host_state_expire(struct mf_host *h, struct host_state *s);
/** The time of a message that waits is over. */
void host_state_over(struct mf_host *h, struct host_state *s, mf_time date);
/** Frees the id of a destination that has rested longest, of those that another use may take. There is one.
 */
HOST_ASIDE void host_id_wake(struct mf_host *h, uint16_t node);
void host_state_done(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date);
void host_state_fail(struct mf_host *h, struct host_state *s, uint8_t status, mf_time date);
/** No /G/ come for an id any more that rests. */
void host_state_opens(struct mf_host *h, struct host_state *s, mf_time date);
/** The quarantine of an id has ended at date. */
void host_state_rested(struct mf_host *h, struct host_state *s, mf_time date);
void host_state_late(struct mf_host *h, struct host_state *s, mf_time date);
void host_state_step(struct mf_host *h, struct host_state *s);
void host_state_sent(struct mf_host *h, uint64_t cookie, mf_time at);
uint64_t host_state_cookie(const struct mf_host *h, const struct host_state *s, unsigned int blocks,
			   bool first, bool last);

/* retry.c */
/** The timer of a message has ended: it is sent again, unless something of it has moved, and waits on. */
void host_retry(struct mf_host *h, struct host_state *s);

/* timers.c; timers.h has what every message does */
void host_event_list(struct mf_host *h, struct host_state *s);
void host_advance(struct mf_host *h, mf_time now);
void host_advance_rx(struct mf_host *h, mf_time now);

/* grant_queue.c */
static inline bool host_jobs_full(const struct mf_host *h, uint32_t more)
{
	return h->job_tail - h->job_head + more > h->job_room;
}

/** When a request is made that is begun at a time: behind what was said of incarnations that have been heard.
 */
static inline mf_time host_request_ready(const struct mf_host *h, mf_time at)
{
	return mf_time_max(at + h->cost_request, h->heard_at);
}

/** Whether something of a lane to a peer waits. Mostly nothing does at all, and the peer is not looked at. */
static inline bool host_lane_held(const struct mf_host *h, uint16_t node, uint8_t lane)
{
	return h->job_head != h->job_tail && h->peer[node].held[lane] != 0;
}

void host_rx_grant(struct mf_host *h, uint64_t word, mf_time at);
void host_job_put(struct mf_host *h, struct host_job *job);
void host_jobs_run(struct mf_host *h);
void host_single_put(struct mf_host *h, const struct mf_msg *m, mf_time ready);
void host_single_put_ahead(struct mf_host *h, const struct mf_msg *m, mf_time ready);
bool host_job_return(struct mf_host *h, struct host_job *job);

/* chunks.c */
bool host_chunk_send(struct mf_host *h, struct host_job *job);
bool host_chunk_push(struct mf_host *h, struct host_state *s, uint32_t size, mf_time ready);

/* requester.c */
void host_rx_response(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last);
void host_rx_ack(struct mf_host *h, const struct mf_msg *m, mf_time at);
void host_rx_error(struct mf_host *h, const struct mf_msg *m, mf_time at);

/* responses.c */
/** Ends a response, if there is one. */
void host_response_end(struct mf_host *h, struct host_response *r);
uint8_t *host_response_buffer(struct mf_host *h, uint16_t node, uint32_t size, mf_time at);
void host_response_begin(struct mf_host *h, uint16_t node, uint8_t id, uint8_t *data, uint32_t size,
			 mf_time ready);
bool host_response_send(struct mf_host *h, struct host_job *job);

/* responder.c */
void host_rx_read(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last);
void host_rx_rmw(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last);
void host_rx_write(struct mf_host *h, const uint64_t *word, unsigned int n, mf_time first, mf_time last);

/* rx.c */
/** @param link  0 or 1. @return 0, -EINVAL or -ENOMEM */
int host_receiver_init(struct mf_receiver *r, const struct mf_host_config *config, unsigned int link);
void host_rx_idle(struct mf_host *h, mf_time now);

/* link.c */
/** The switch tells of an incarnation of a node (mf_proto_of_incarnation()); it does so several times. */
void host_link_restarted(struct mf_host *h, const struct mf_msg *m, mf_time at);
/** Messages that began before the one of this number are not known to who should see to them. */
void host_link_forgotten(struct mf_host *h, uint32_t since, mf_time now);

/* data_buffer.c */
int host_pool_init(struct host_pool *p, uint32_t count, uint32_t shift);
void host_pool_fini(struct host_pool *p);
uint8_t *host_buffer_get(struct mf_host *h, uint32_t size);
void host_buffer_put(struct mf_host *h, uint8_t *data);

static inline bool host_stamps(const struct mf_host *h)
{
	return unlikely(h->stamps);
}

/* probe.c: call only where host_stamps() */
mf_time host_stamp(const struct mf_host *h, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage first,
		   enum mf_stage last, mf_time from);
void host_stamp_one(const struct mf_host *h, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage,
		    mf_time from, mf_time to);
/** An ACK is made; done: when what it acknowledges has happened. */
void host_stamp_ack(const struct mf_host *h, uint16_t cn, uint8_t id, mf_time done);
void host_stamp_data(const struct mf_host *h, uint16_t cn, uint16_t mn, const struct mf_msg *m, mf_time first,
		     mf_time last);

#endif
