/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory in a stream of octets: messages one behind the other, each with its header once. */
#include <string.h>

#include "systems/frames/remote_priv.h"

void remote_put_stream(struct remote *r, const struct remote_message *m, uint64_t offset, uint32_t octets,
		       uint8_t *out)
{
	if (offset < REMOTE_HEADER) {
		const struct remote_header h = remote_header_of(m, 0, 0);
		uint32_t n = (uint32_t)(REMOTE_HEADER - offset);

		n = octets < n ? octets : n;
		memcpy(out, (const uint8_t *)&h + offset, n);
		offset += n;
		octets -= n;
		out += n;
	}
	if (octets == 0)
		return;
	remote_put_data(m, (uint32_t)(offset - REMOTE_HEADER), octets, out);
	r->octets_sent += octets;
}

static bool is_write(uint8_t kind)
{
	return kind == REMOTE_WRITE || kind == REMOTE_WRITE_ACK;
}

/** Octets of data that come behind a header and may be taken as they come. */
static uint32_t follows(const struct remote_header *h)
{
	return is_write(h->kind) || h->kind == REMOTE_RESPONSE ? h->len : 0;
}

static bool header_right(const struct remote_header *h)
{
	if (h->kind == 0 || h->kind >= REMOTE_KINDS || h->octets != 0 || h->offset != 0)
		return false;
	return h->len != 0 || h->kind == REMOTE_ACK || h->kind == REMOTE_ERROR;
}

/** @return octets of the head that are to be there before it can be used */
static uint32_t head_size(const struct remote_stream *s)
{
	return s->have >= REMOTE_HEADER && s->header.kind == REMOTE_RMW ? sizeof(s->head) : REMOTE_HEADER;
}

/** The head of a message. @return octets taken */
static uint32_t stream_head(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer,
			    const uint8_t *data, uint32_t octets)
{
	uint32_t n = head_size(s) - s->have;

	n = octets < n ? octets : n;
	if (data == NULL) {
		s->broken = true;
		return n;
	}
	memcpy(s->head + s->have, data, n);
	s->have += n;
	if (s->have == REMOTE_HEADER) {
		remote_decode(s->head, &s->header);
		s->broken = !header_right(&s->header);
	}
	if (s->broken || s->have < head_size(s))
		return n;
	s->taken = 0;
	if (follows(&s->header) != 0)
		return n;
	s->have = 0;
	s->header.octets = s->header.kind == REMOTE_RMW ? sizeof(s->head) - REMOTE_HEADER : 0;
	remote_take(r, at, peer, &s->header, s->head + REMOTE_HEADER);
	return n;
}

/** Data of a message whose header is there. @return octets taken */
static uint32_t stream_data(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer,
			    const uint8_t *data, uint32_t octets)
{
	uint32_t n = s->header.len - s->taken;

	n = octets < n ? octets : n;
	n = n < UINT16_MAX ? n : UINT16_MAX;
	s->header.offset = s->taken;
	s->header.octets = (uint16_t)n;
	if (data != NULL)
		remote_take(r, at, peer, &s->header, data);
	s->taken += n;
	if (s->taken == s->header.len)
		s->have = 0;
	return n;
}

void remote_stream(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer, const uint8_t *data,
		   uint32_t octets)
{
	stack_stamp_rx(&r->config, at);
	while (octets > 0 && !s->broken) {
		uint32_t n = s->have < head_size(s) ? stream_head(r, s, at, peer, data, octets)
						    : stream_data(r, s, at, peer, data, octets);

		data = data != NULL ? data + n : NULL;
		octets -= n;
	}
	r->drop_bad += s->broken;
}
