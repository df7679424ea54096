/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An Ethernet port that carries links, as a role: to the roles of this process it is what stands at the other
 * ends of their links. It takes spans and gives spans; in between are link frames (mf_link.h).
 *
 * It is polled by the lcore of the roles whose links it carries, so nothing of it is shared.
 */
#ifndef MF_PORT_H
#define MF_PORT_H

#include <rte_ethdev.h>

#include "link/mf_impair.h"
#include "link/mf_link.h"
#include "wall/ports/partner.h"
#include "wall/wall.h"

#define PORT_BURST 32

/** An end of a link, at a port. */
struct port_end {
	struct mf_link *link;
	struct partner partner;
	/** Captures of what is sent and, where the partner is another process, received. NULL: none */
	struct capture_tap *tx_tap, *rx_tap;
	struct wall_link in; /**< from the port to the role of this process, and where that has the link */
	uint32_t end; /**< in the graph */
	bool switch_end; /**< the second end of its link: that of the switch, where the first is a node's */
	bool trunk; /**< its link is between switches, or between nodes */
	bool of_node; /**< its role is a node */
	bool near; /**< its partner is in this process */
	bool open; /**< blocks pass */
	bool opened; /**< has ever been open */
	bool look; /**< the link is up, and the role is not ready for it yet */
	bool far; /**< its link has a length: what comes is taken when that is over */
	bool cut; /**< by a fault of the file: its frames are lost, both ways */
	uint32_t connection; /**< which one the role knows */
	uint16_t
		state; /**< what is told to the partner: MF_LINK_READY, MF_LINK_DONE; set by the main lcore */
	uint16_t told;
	/* Two switches: each link tells by itself when it is ready, instead of all of a process together. */
	uint16_t mask; /**< bits of `state` that may be told */
	uint16_t wants; /**< what the partner must have told before blocks pass */
	bool absent; /**< the role knows that there is no link */
	uint32_t lost; /**< in a run it is not open: for the routes of any lcore */
	uint16_t partner_state; /**< written by the lcore of the port, read by the main one */
	uint16_t echo; /**< the same */
	bool up; /**< the same */
	bool gone; /**< the same: the partner has left, or its process is gone */
	uint64_t said; /**< what was said of it last */
	mf_time refusal_at; /**< no other refusal is said before this: whoever lies may do so all the time */
	uint64_t dropped_blocks; /**< sent while the link was down */
};

struct port_stats {
	uint64_t rx_frames, rx_octets, tx_frames, tx_octets;
	/* received and thrown away */
	uint64_t rx_ethertype_frames, rx_short_frames, rx_crc_frames, rx_link_frames, rx_long_frames;
	uint64_t tx_refusals; /**< of links that are not at this port */
	uint64_t tx_dropped_frames; /**< the port took none for too long */
	uint64_t tx_no_buffer_frames;
	uint64_t rx_cut_frames, tx_cut_frames; /**< lost while a fault of the file cut their link */
	uint64_t starts; /**< of the device */
};

/** Whether frames can pass an interface. */
enum port_carrier { PORT_CARRIER, PORT_NO_CARRIER, PORT_DOWN };

struct wall_port {
	const struct mf_config_port *config;
	unsigned int mtu; /**< that of the configuration, or the interface's where that is lower */
	enum port_carrier carrier; /**< as it was said last */
	unsigned int number; /**< in the configuration */
	uint16_t id; /**< of the ethdev */
	uint64_t owner; /**< our id as the owner of the ethdev; 0: it is not ours yet */
	atomic_bool started; /**< the device is; of a memif written by the interrupt thread */
	bool made; /**< the device is of our making */
	struct rte_device *device; /**< then, when the port is closed */
	int watch; /**< a socket that loses the interface as the device does, and 1; 0: none */
	/* Where that is lost */
	bool gone; /**< a thread has the device, to make it again */
	pthread_t replacer;
	atomic_bool replaced; /**< written by it: it is done */
	atomic_bool leaving; /**< read by it: it need not go on */
	pthread_mutex_t *readers; /**< of the fabric */
	int wake; /**< turned from outside: an epoll that says when frames come, and 1; 0: none yet */
	int sniffs; /**< a socket in it, of ours, and 1; 0: its descriptor is the driver's */
	bool may_sleep; /**< turned from outside: its device is to have interrupts, if it can */
	bool wakes; /**< it says so: wake.c */
	struct memif_proxy *memif_proxy; /**< in front of a memif server; NULL: none */
	bool is_memif; /**< a memif: see memif_sync.h */
	bool client; /**< the device has to be started again when its partner is gone */
	/* Of memifs */
	struct memif_sync_pollers *memif_sync;
	atomic_bool busy; /**< written by its lcore: it is in a call of the driver */
	mf_time restart; /**< of a client: not before */
	bool hasty; /**< two switches: a link is lost as soon as the device loses its partner */
	atomic_bool connected; /**< the device has a partner; written by the interrupt thread */
	uint64_t rx_seen; /**< frames that had come when its lcore looked last */
	mf_time turn; /**< when this turn began: time of the run, of the ports before and after it */
	mf_time polled; /**< when the turn before this one began, or was meant to; time of the ports */
	mf_time partners_at; /**< when partners are looked at again */
	mf_time retry; /**< when somebody looks whether it is well */
	mf_time stuck; /**< since when what is pending finds no room */
	mf_time refuse_at; /**< no other refusal before this */
	uint32_t unknown, unknown_said; /**< the last link that was refused, and 1; 0: none */
	uint8_t mac[MF_LINK_MAC];
	struct rte_mempool *rx_pool, *tx_pool;
	struct rte_mbuf **taken; /**< of their buffers, by a fault; NULL: there is no such fault */
	unsigned int takens;
	/* When it is closed */
	bool told; /**< it is known how many of their buffers are somebody's still: */
	unsigned int lost;
	struct port_end *end;
	unsigned int ends;
	/** [link_ids], by which end of the link it is: place in `end` + 1; 0: it is not here. */
	uint16_t *at[MF_LINK_ENDS];
	uint16_t link_ids;
	struct rte_mbuf *pending[PORT_BURST + MF_IMPAIR_OUT]; /**< to be sent */
	unsigned int pendings;
	bool impaired;
	struct mf_impair impair;
	uint8_t flat[MF_LINK_FRAME_MAX]; /**< a frame that came in several pieces */
	struct port_stats stats;
};

/* device.c: the ethdev */
/** Opens and configures the device. @return 0, or -errno with one line in err */
int port_open(struct wall *w, struct wall_port *p, char *err, size_t errlen);
/** @param p  counts then what of its pools has not come back */
void port_close(struct wall_port *p);
/** The device alone: makes it as port_open() does, or again; it is not started. */
int port_device_make(struct wall_port *p, char *err, size_t errlen);
/** Nothing is left of it, so that it can be made again. */
void port_device_drop(struct wall_port *p);
/** Starts the device where it is not, or sees to it that somebody looks after its partner: now and then. */
void port_look_after(const struct wall *w, struct wall_port *p, mf_time now);

/* mbuf_exhaust.c */
/**
 * Room for what port_exhaust() takes; the pools are there. Again: nothing. port_exhaust_fini() follows.
 * @return 0 or -ENOMEM
 */
int port_exhaust_init(struct wall_port *p);
/** Takes all that is free of the port's buffers, or gives it back. By turns; its lcore. */
void port_exhaust(struct wall_port *p, bool on);
/** Gives back what is taken still. */
void port_exhaust_fini(struct wall_port *p);

/* port.c */
/** Time of the ports: from the set-up on, not from the start of the run. */
/** The same of a reading of the TSC. */
static inline mf_time port_now_at(const struct wall *w, uint64_t tsc)
{
	return (mf_time)((unsigned __int128)(tsc - w->port_tsc0) * w->ps_mult >> 32);
}

static inline mf_time port_now(const struct wall *w)
{
	return port_now_at(w, rte_rdtsc());
}

/** Receives and transmits; what arrives is kept by the links. */
void port_exchange(struct wall *w, struct wall_port *p);
/** A turn: what arrives goes to the roles of this process. @return how much work it found */
unsigned int port_poll(struct wall *w, struct wall_lcore *l, struct role *r, mf_time now);

/** When it needs a turn, if nothing comes. @return time of the ports */
mf_time port_next(const struct wall_port *p);
/** Its thread sleeps until then on purpose: the time of the ports. */
void port_sleep(struct wall_port *p, mf_time until);

/* wake.c: turned from outside. Its thread, but for port_wake_end() */
/**
 * Has it said when frames come, where that can be.
 * @return a descriptor, the port's, that becomes readable then; -1: there is none, or it is known already
 */
int port_wake_new(struct wall_port *p);
/** Before a sleep: what has come until now is forgotten, what comes from now on is said. */
void port_wake_arm(struct wall_port *p);
/** Before the device goes. */
void port_wake_end(struct wall_port *p);

/** Whether a descriptor says when frames come. */
static inline bool port_wakes(const struct wall_port *p)
{
	return !p->gone && p->wakes;
}

/* What a role on the other side of the link would be asked, by the number of the end. */
bool port_can_put(const struct wall_port *p, unsigned int end);
void port_put(struct wall_port *p, unsigned int end, const struct mf_span *span);
bool port_waits(const struct wall_port *p, unsigned int end);
struct mf_span *port_take(struct wall_port *p, unsigned int end, mf_time now);

/** The link of an end, in the graph. */
static inline uint32_t port_end_link(const struct wall *w, const struct port_end *e)
{
	return w->graph_end[e->end].link;
}

/** The name of the role at the other end. */
static inline const char *port_end_peer(const struct wall *w, const struct port_end *e)
{
	return fabric_role_name(w->f, w->graph_end[w->graph_end[e->end].peer].role);
}

#define PORT_LINK_NAME (2 * MF_CONFIG_NAME_LEN + 8)
/** How messages name a link: by its node, or "a and b". @param out  room for PORT_LINK_NAME @return out */
const char *port_link_name(const struct mf_fabric *f, uint32_t link, char *out);
/** And the end: "node", "switch", or the switch of a link between two. */
const char *port_end_name(const struct mf_fabric *f, uint32_t end);

/* rendezvous.c: the beginning and the end */
/** The link of a number in frames. @return MF_NONE: there is none */
uint32_t rendezvous_link_of_id(const struct wall *w, unsigned int id);
/** Makes the ports of this process and their links' ends. @return 0, or -errno; w->error says why */
int rendezvous_set_up(struct wall *w);
void rendezvous_tear_down(struct wall *w);
/** Looks for partners, and says whom it waits for. @return all are there, or have been */
bool rendezvous_look(struct wall *w);
/** Waits until all partners are there. @return 0; -EINTR: interrupted */
int rendezvous_wait(struct wall *w);
/**
 * Whether the ends of a node's link, to some switch, that are at our ports have their partners. Any thread.
 */
bool rendezvous_link_up(const struct wall *w, unsigned int node);
/** This process' clients have finished: tells so, and whether all is over. Called now and then. */
bool rendezvous_is_over(struct wall *w);
/** The faults of the file are over with the run: what they cut must not keep the last word. Main lcore */
void rendezvous_mend(struct wall *w);
/** Says goodbye. */
void rendezvous_leave(struct wall *w);

#endif
