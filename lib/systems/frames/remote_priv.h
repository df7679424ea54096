/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of mf_remote.h share. */
#ifndef REMOTE_PRIV_H
#define REMOTE_PRIV_H

#include <string.h>

#include "systems/frames/mf_remote.h"

/** The header of a segment of a message, as on the wire. */
struct remote_header remote_header_of(const struct remote_message *m, uint32_t offset, uint32_t octets);
/** The header on the wire as numbers of this machine. */
void remote_decode(const uint8_t *octets, struct remote_header *h);

/** Copies data of a message, from an offset on. */
static inline void remote_put_data(const struct remote_message *m, uint32_t offset, uint32_t octets,
				   uint8_t *out)
{
	if (m->data.at[0] != NULL)
		mf_places_copy(&m->data, offset, octets, out);
	else
		memcpy(out, (const uint8_t *)m->word + offset, octets);
}

/** A message is to be sent: it is copied, with what it holds. No room: what it holds is let go. */
void remote_send(struct remote *r, mf_time now, struct remote_message *from);
/** A part of a message, or all of it, has come. */
void remote_take(struct remote *r, mf_time at, uint16_t peer, const struct remote_header *h,
		 const uint8_t *data);

/* remote_memory.c */
void remote_read(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h);
void remote_rmw(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		const uint8_t *data);
void remote_write(struct remote *r, mf_time now, mf_time known, uint16_t peer, const struct remote_header *h,
		  const uint8_t *data);

/* remote_compute.c */
/** Data of a response, an acknowledgement, an error. */
void remote_outcome(struct remote *r, mf_time now, mf_time known, uint16_t peer,
		    const struct remote_header *h, const uint8_t *data);

#endif
