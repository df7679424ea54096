/* SPDX-License-Identifier: BSD-3-Clause */
/* One of two switches on the bench of rig.h. Node 0 asks, node MEMORY has the memory; all obey epoch 0. */
#ifndef REDUNDANT_RIG_H
#define REDUNDANT_RIG_H

#include "rig.h"

#define PORTS 4
#define MEMORY 2
#define AGAIN MF_US(10)
#define LONGEST MF_US(100)

/** Of the switch that was started last: to be changed between rig_stop() and rig_start(). */
extern struct mf_switch_config redundant_config;

/** @param number  which of the two: 0 is active */
void redundant_start(struct rig *r, uint8_t number);
/** An operation takes LONGEST at most. */
void redundant_start_patient(struct rig *r, uint8_t number);
bool redundant_is_active(const struct rig *r);
/** The link of a port is lost, and is there again. */
void redundant_flap(struct rig *r, mf_time at, uint16_t port);

/** TAKE of a node. @param of  what MF_TAKE_TELL has there is its incarnation */
void redundant_say(struct rig *r, mf_time at, unsigned int port, enum mf_take what, uint16_t epoch,
		   uint16_t of);
/** A node says that it knows which incarnation another one has. */
void redundant_hears(struct rig *r, mf_time at, uint16_t port, uint16_t of, uint8_t incarnation);

/** Node 0 asks for a write of 512 octets, and sends a chunk of 256 of it. */
void redundant_notify(struct rig *r, mf_time at, uint8_t id);
void redundant_write(struct rig *r, mf_time at, enum mf_kind kind, uint8_t id, uint32_t offset);
/** Node 0 asks for a read of 64 octets, and is answered. */
void redundant_ask(struct rig *r, mf_time at, uint8_t id);
void redundant_respond(struct rig *r, mf_time at, uint8_t id);

#endif
