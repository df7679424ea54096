/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches (EDM 3.3, D21; docs/fault-tolerance.md): what the one that does not schedule knows of what is
 * left to be scheduled (standby.c), and which of the two schedules (takeover.c). A switch that has no other
 * has none of this.
 */
#ifndef STANDBY_H
#define STANDBY_H

#include "systems/edm/switch/incarnation.h"

/**
 * A demand that is not over: a request (then slot has its blocks, until it is let out), or an /N/. Or what
 * has passed of a response whose request is still to come.
 */
struct log_entry {
	mf_time at; /**< when its demand would have been told to the scheduler */
	uint32_t next; /**< of the pair, or of the free ones */
	uint32_t older, younger; /**< of all */
	uint32_t pair;
	uint32_t slot; /**< NONE: no request, or it has been let out */
	uint32_t size; /**< octets of the demand; mega: of the wire */
	uint32_t passed; /**< of these */
	uint32_t end; /**< octets up to the last that passed; mega: the last message's id + 1 */
	uint16_t behind;
	uint16_t use; /**< of its id; of requests and responses */
	uint16_t by; /**< port that it came by */
	uint8_t id;
	uint8_t blocks; /**< of the request */
	bool resp;
	bool mega;
	bool early; /**< the request is still to come */
	bool out; /**< the request has been let out, since it was granted: see evidence() */
	bool former; /**< who asked it has heard since of another incarnation of the memory node */
};

/** Of a compute and a memory node: demands in the order in which they came. */
struct log_pair {
	uint32_t head, tail;
	bool released; /**< its demands are the scheduler's */
	bool held; /**< a chunk of a write did not pass here, and is not known to be there */
	bool plain; /**< held, and that or one held before it is not acknowledged */
	uint8_t held_id; /**< of that write */
	mf_time held_at;
};

/** What is known of the node of a port. */
struct log_port {
	mf_time since; /**< what came before may not be in the log */
	mf_time lone; /**< from when on it has wanted another epoch than most; MF_NEVER: it does not */
	mf_time reborn; /**< its incarnations until now are paid for then */
	mf_time calm; /**< its lost link demotes nobody before: it did so a short time ago */
	uint32_t held; /**< entries that came by it */
	uint16_t word; /**< epoch that it has told */
	bool strange; /**< its link came up at the active switch: an incarnation that was not known is news */
	uint8_t lost; /**< times that it demoted this switch, each soon after the one before */
	uint64_t lost_by[MF_PORTS_MAX / 64]; /**< ports whose node passes on that it has lost this switch */
};

struct standby {
	uint16_t epoch; /**< switch epoch % 2 is active */
	uint16_t begun; /**< epoch from which on nothing was forgotten */
	uint8_t number; /**< which of the two this is */
	bool knows; /**< somebody has told what the epoch is */
	bool demoted; /**< the other one schedules, and has been told of: what is held here is of no use */
	bool in_order; /**< a write that passes says that what was asked before it was granted (D9) */
	uint32_t chunk; /**< the first grant of a response */
	mf_time again; /**< TAKE is said again after that time */
	mf_time longest; /**< no operation takes longer; 0: nobody knows */
	mf_time tick; /**< MF_NEVER: all has been said */
	bool owes; /**< pairs are to be released, when the scheduler has taken others */
	uint64_t told[MF_PORTS_MAX / 64]; /**< ports whose node has told an epoch */
	uint64_t took[MF_PORTS_MAX / 64]; /**< ports whose node obeys this epoch */
	uint64_t coming[MF_PORTS_MAX / 64]; /**< it was demoted: ports that live, and are to be up again */
	struct log_port *port; /**< [ports] */
	uint32_t free, used, end; /**< entries */
	uint32_t oldest, youngest;
	uint32_t most; /**< entries that came by one port */
	struct log_entry *entry;
	struct log_pair *pair; /**< [cn * ports + mn] */
};

int standby_init(struct mf_switch *sw, const struct mf_switch_config *config);
void standby_fini(struct mf_switch *sw);

/** Whether the other switch is the active one. */
static inline bool standby_idles(const struct standby *s)
{
	return (s->epoch & 1) != s->number || !s->knows;
}

static inline bool standby_idle(const struct mf_switch *sw)
{
	return unlikely(sw->standby != NULL) && standby_idles(sw->standby);
}

/** Whether nothing may come in or out any more: it has told its nodes that the other one schedules. */
static inline bool standby_is_demoted(const struct mf_switch *sw)
{
	return unlikely(sw->standby != NULL) && sw->standby->demoted;
}

/**
 * Whether a port will be up again, of a switch that was demoted. Its node takes the switch for one that knows
 * what is asked from now on, so that goes to the log.
 */
static inline bool standby_awaits(const struct mf_switch *sw, uint16_t port)
{
	return unlikely(sw->standby != NULL) && port < sw->shell.ports && test_bit(sw->standby->coming, port);
}

/** Whether what a node answers another one may be for a former incarnation of that: so it is until that
 * tells. */
static inline bool standby_bars(const struct mf_switch *sw, unsigned int from, unsigned int to)
{
	return incarnation_bar(sw, from, to) ||
	       (unlikely(sw->standby != NULL) && !test_bit(sw->standby->told, to));
}

/**
 * Whether what a node sends to another one does not pass here: one of them may have been started again, and
 * the other one not have been told, and would take what comes for a message of the incarnation before.
 */
static inline bool standby_hushes(const struct mf_switch *sw, unsigned int from, unsigned int to)
{
	const struct standby *s = sw->standby;

	return unlikely(s != NULL) && (!test_bit(s->told, from) || !test_bit(s->told, to) ||
				       test_bit(sw->incarnations->of[from].untold, to));
}

static inline struct log_pair *standby_pair(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return &sw->standby->pair[cn * sw->shell.ports + mn];
}

/** Whether what a pair asks and sends is for the log, not for the scheduler and its circuits. */
static inline bool standby_logs(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return unlikely(sw->standby != NULL) && !standby_pair(sw, cn, mn)->released;
}

/* Only where standby_logs(): */
/** A demand of a pair, as it would be told to the scheduler; the cookie is the slot of a request. */
void standby_demand(struct mf_switch *sw, const struct mf_sched_msg *demand, uint16_t use);
/** The rest of a demand is not wanted. */
void standby_cancel(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp);
/** A write of a pair is answered: it is there. */
void standby_answered(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id);
/** A chunk, whole, whose last block came at `at`. */
void standby_chunk(struct mf_switch *sw, unsigned int port, mf_time now, const uint64_t *word, unsigned int n,
		   mf_time at);

/* Where there are two switches: */
/** TAKE has come at a port. */
void standby_take(struct mf_switch *sw, unsigned int port, const struct mf_msg *m, mf_time now);
/** The link of a port is lost: what its node has asked it will not want of this switch. */
void standby_link_down(struct mf_switch *sw, unsigned int port);
/** And there again: tells it the epoch. */
void standby_link_up(struct mf_switch *sw, unsigned int port, mf_time now);
/** What a crash leaves: nothing, not even the epoch; what being demoted leaves: that. */
void standby_forget(struct mf_switch *sw);
/** Says again what was not heard, and forgets what nobody waits for. @return the next time */
mf_time standby_run(struct mf_switch *sw, mf_time now);

/** Who asks has heard of an incarnation of a memory node before this switch: what it asked before is over by
 * then. */
void standby_was_former(struct mf_switch *sw, uint16_t cn, uint16_t mn);

/* takeover.c, for standby.c */
int takeover_init(struct mf_switch *sw, const struct mf_switch_config *config);
mf_time takeover_run(struct mf_switch *sw, mf_time now);
/* standby.c, for takeover.c */
/** Forgets all of a pair. */
void standby_unlog(struct mf_switch *sw, struct log_pair *p);
/** Forgets what of a pair was asked of a former incarnation. */
void standby_unlog_former(struct mf_switch *sw, struct log_pair *p);
/**
 * Both nodes of a pair obey this switch: what is left of the pair's demands goes to the scheduler.
 * @return false: not yet, that has to take others first
 */
bool standby_release(struct mf_switch *sw, uint16_t cn, uint16_t mn, mf_time now);

#endif
