/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a link. For lib/link. */
#ifndef LINK_H
#define LINK_H

#include "link/llr.h"
#include "link/mf_link.h"

/** What is told to a partner that does not match, and what was made of it. */
struct link_refusal {
	uint16_t reason; /**< 0: none */
	bool by_partner;
	uint64_t have, got;
};

/** A frame that waits to be sent until link_greet() takes it. */
struct link_parting {
	uint16_t len; /**< 0: none */
	uint8_t frame[sizeof(struct mf_link_head) + sizeof(struct mf_link_refuse)];
};

/* A slot of tx_slot: the payloads have their place, the sync headers end there, the header before them. */
#define LINK_TX_WORDS 192
static_assert(LINK_TX_WORDS >= sizeof(struct mf_link_head) + 8 * MF_LINK_SYNC_WORDS(MF_SPAN_MAX), "slot");

#define LINK_PROBE_NONE UINT8_MAX

struct mf_link {
	/* What a frame of blocks touches */
	mf_time greet_at; /**< when link_greet() has something to send; 0: now */
	bool up;
	bool ever; /**< has been up */
	bool changed; /**< since mf_link_status() */
	uint32_t tag;
	struct llr llr;
	struct mf_link_head head; /**< of frames of this connection */
	mf_time heard; /**< when the partner gave the last sign of life, */
	mf_time silence; /**< and for how long it may give none: configured, and what is excused */
	/* Blocks that are sent: frames [llr.una, tx_end), and the open one behind them */
	uint32_t tx_end;
	uint32_t tx_origin; /**< number of the frame in slot 0 */
	uint32_t tx_mask; /**< slots - 1 */
	uint32_t tx_queue; /**< whole frames that wait to be emitted, above which no more blocks are wanted */
	uint32_t tx_stride; /**< octets of a slot */
	uint16_t tx_cut; /**< most blocks of a frame */
	uint16_t tx_open; /**< blocks of the open frame */
	uint8_t *tx_slot;
	uint16_t *tx_blocks; /**< of each slot */
	mf_time pace_at; /**< from when DATA may be sent */
	uint64_t tx_sync[MF_LINK_SYNC_WORDS(MF_SPAN_MAX)]; /**< of the open frame */
	/* Blocks that have come: spans rx_order[rx_head] and on, rx_held of them; the owner has one, too */
	struct mf_span *rx_span; /**< [rx_size]: window and the owner's */
	uint16_t *rx_order; /**< [rx_size], a ring of numbers of spans */
	uint16_t *rx_free; /**< a stack of those that nobody has: the last one is still in the cache */
	uint32_t rx_size, rx_head, rx_held, rx_frees;
	uint16_t rx_lent; /**< the owner's */
	bool rx_lends;
	struct mf_link_stats stats;
	/* Handshake: hello.c */
	uint64_t own; /**< epoch */
	uint64_t partner; /**< epoch of the connection; while down: the noted one; 0: none */
	uint64_t known; /**< the least epoch of the partner that may come up with own */
	uint64_t answer; /**< newer epoch to be named in a HELLO of its own; 0: none */
	bool hello_now, slow;
	mf_time hello_at, refuse_from;
	uint16_t state;
	enum mf_link_down down;
	uint32_t connections;
	struct mf_link_place place; /**< own */
	struct mf_link_hello hello; /**< of the partner */
	uint16_t told_state, told_echo; /**< by the partner in this connection, or in the last one */
	uint8_t mac[MF_LINK_MAC]; /**< of the partner */
	/* The proof that frames of full size pass: probe.c. Of the pair of epochs that is noted. */
	uint16_t took; /**< blocks of the longest PROBE that has come; 0: none */
	uint8_t probe, probe_end; /**< which one goes next, and behind the last; LINK_PROBE_NONE: none */
	mf_time unproven_from; /**< when a HELLO that names us came first without the proof; MF_NEVER */
	struct link_refusal refusal;
	struct link_parting bye, refuse;
	struct mf_link_config config;
	char name[MF_LINK_NAME];
	uint8_t control[sizeof(struct mf_link_head) + sizeof(struct mf_link_hello)];
};

/** Behind the last frame that there is to send. */
static inline uint32_t link_tx_end(const struct mf_link *l)
{
	return l->tx_end + (l->tx_open != 0);
}

/** The first number for which there is no room. */
static inline uint32_t link_limit(const struct mf_link *l)
{
	return l->llr.expected - l->rx_held + l->config.window;
}

/* connection.c */
/** Tag of the connection with an epoch of the partner. */
uint32_t link_tag(const struct mf_link *l, uint64_t partner);
/** The partner is that of l->hello, and knows our epoch. */
void link_up(struct mf_link *l, mf_time now);
/** @param leave  told to the partner; 0: nothing */
void link_down(struct mf_link *l, enum mf_link_down down, enum mf_link_leave leave);
/** A frame with a tag has come while down: brings the link up if the tag proves that the partner knows us. */
bool link_prove(struct mf_link *l, mf_time now, uint32_t tag);

/* hello.c */
/** What does not match, for the owner. */
void link_note_refusal(struct mf_link *l, const struct link_refusal *r);
void link_rx_hello(struct mf_link *l, mf_time now, const uint8_t *frame);
void link_rx_refuse(struct mf_link *l, const uint8_t *frame);
/** A frame of another version. */
void link_rx_version(struct mf_link *l, mf_time now, const uint8_t *frame);

/* greet.c */
extern const uint8_t link_broadcast[MF_LINK_MAC];
/** A source as a destination: where it is none that frames can be sent to, everybody gets them. */
const uint8_t *link_mac(const uint8_t *src);
struct mf_link_head link_head(const struct mf_link *l, const uint8_t *dst, uint8_t type);
uint64_t link_features(const struct mf_link *l);
/** A HELLO is to be sent now: something in it has changed. */
void link_greet_now(struct mf_link *l);
/** HELLO, REFUSE, BYE and PROBE that are due. NULL: none */
const uint8_t *link_greet(struct mf_link *l, mf_time now, uint16_t *len);

/* probe.c */
/** Another pair of epochs: nothing is proven. */
void link_probe_reset(struct mf_link *l);
/** Whether frames of full size have passed both ways, by the partner's last HELLO. */
bool link_proven(const struct mf_link *l);
/** Whether the partner that says this has no proof: it had one when this end came up, and has lost it. */
bool link_unproven_at(const struct mf_link *l, const struct mf_link_hello *b);
/** A HELLO goes: probes follow it where the partner lacks one. */
void link_probe_due(struct mf_link *l, mf_time now);
/** The probe that is due: there is one. */
const uint8_t *link_put_probe(struct mf_link *l, uint16_t *len);
/** Its tag says that the partner knows us: it may be what brings the link up. */
void link_rx_probe(struct mf_link *l, mf_time now, const struct mf_link_head *h);
/** The partner knows us, and the proof is missing: after a while that is news for the owner. */
void link_unproven(struct mf_link *l, mf_time now);

/* link.c, tx.c, rx.c */
/** A connection begins. */
void link_tx_reset(struct mf_link *l);
/** It ends. */
void link_tx_drop(struct mf_link *l);
void link_rx_drop(struct mf_link *l);

#endif
