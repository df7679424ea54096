/* SPDX-License-Identifier: BSD-3-Clause */
/* IRD, sending: what is credited goes, of all messages that with the least octets left first. */
#include "systems/ird/ird.h"

static void append(struct ird *d, struct ird_list *l, uint32_t m)
{
	d->remote.message[m].next = IRD_NIL;
	if (l->first == IRD_NIL)
		l->first = m;
	else
		d->remote.message[l->last].next = m;
	l->last = m;
}

void ird_send(struct remote *r, uint32_t m, mf_time now)
{
	struct ird *d = (struct ird *)r;
	struct remote_message *msg = &r->message[m];

	(void)now;
	if (msg->len == 0) {
		append(d, &d->control, m);
		return;
	}
	msg->extra = IRD_LIVE;
	msg->prev = d->order++;
	msg->first = ird_board_put(d->board, r->config.node, m, msg->peer, msg->len, msg->ready);
}

static void unlist(struct ird *d, uint32_t m)
{
	struct remote_message *msg = &d->remote.message[m];

	if (msg->extra & IRD_LISTED)
		mf_heap_remove(&d->heap, &d->credited, m);
	msg->extra &= ~(uint32_t)IRD_LISTED;
}

/** Its demand is over, too: it is free, but where it stands among those that may send soon. */
static void end(struct ird *d, uint32_t m)
{
	struct remote_message *msg = &d->remote.message[m];

	unlist(d, m);
	if (msg->extra & IRD_SOON) {
		msg->extra = IRD_SOON;
		return;
	}
	msg->extra = 0;
	remote_free_message(&d->remote, m);
}

void ird_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct ird *d = (struct ird *)r;
	uint32_t m = r->operations.op[op].message;
	struct remote_message *msg = m != REMOTE_NIL ? &r->message[m] : NULL;

	if (msg == NULL || !(msg->extra & IRD_LIVE))
		return;
	unlist(d, m);
	msg->extra = (msg->extra & IRD_SOON) | IRD_ENDED;
	if (ird_board_demand(d->board, r->config.node, m)->state != IRD_OVER)
		ird_board_withdraw(d->board, r->config.node, m, now);
}

/** A message with data that a frame names. @return NULL: there is none */
static struct remote_message *find(const struct ird *d, const struct ird_frame *f)
{
	struct remote_message *m = f->h.number < d->remote.fresh ? &d->remote.message[f->h.number] : NULL;

	if (m == NULL || !(m->extra & IRD_LIVE) || m->first != f->h.generation || m->peer != f->src)
		return NULL;
	return m;
}

void ird_credited(struct ird *d, mf_time at, const struct ird_frame *f)
{
	struct remote_message *m = find(d, f);

	if (m == NULL) {
		d->drop_duplicate++;
		return;
	}
	d->credits_received++;
	if (f->h.offset > m->len || f->h.octets > m->len - f->h.offset) {
		d->drop_frame++;
		return;
	}
	if (f->h.offset < m->sent) { /* it was lost */
		unlist(d, f->h.number);
		m->sent = f->h.offset;
		d->resent++;
	}
	if (f->h.offset + f->h.octets > m->acked)
		m->acked = f->h.offset + f->h.octets;
	m->due = at + 2 * d->mac;
	if (m->extra & (IRD_SOON | IRD_LISTED))
		return;
	m->extra |= IRD_SOON;
	append(d, &d->soon, f->h.number);
}

void ird_acknowledged(struct ird *d, mf_time at, const struct ird_frame *f)
{
	struct remote_message *m = find(d, f);

	if (m == NULL || m->kind != REMOTE_WRITE ||
	    ird_board_demand(d->board, f->dst, f->h.number)->state != IRD_CAME) {
		d->drop_duplicate++;
		return;
	}
	remote_sent(&d->remote, m, at + d->remote.cost_rx);
	ird_board_acknowledged(d->board, f->dst, f->h.number);
	end(d, f->h.number);
}

void ird_learn(struct ird *d, mf_time now)
{
	uint32_t m;

	while ((m = ird_board_learn(d->board, d->remote.config.node, now)) != IRD_NIL)
		end(d, m);
}

void ird_ripen(struct ird *d, mf_time now)
{
	while (d->soon.first != IRD_NIL && d->remote.message[d->soon.first].due <= now) {
		uint32_t i = d->soon.first;
		struct remote_message *m = &d->remote.message[i];

		d->soon.first = m->next;
		m->extra &= ~(uint32_t)IRD_SOON;
		if (m->extra & IRD_LIVE && m->sent < m->acked) {
			m->extra |= IRD_LISTED;
			mf_heap_push(&d->heap, &d->credited, i, ird_rank(m->len - m->sent, m->prev));
		} else if (m->extra == 0) {
			remote_free_message(&d->remote, i);
		}
	}
}

uint16_t ird_pull_control(struct ird *d, uint8_t *frame)
{
	struct remote *r = &d->remote;
	uint32_t i = d->control.first;
	struct remote_message *m = &r->message[i];
	uint32_t segment = remote_put_segment(r, m, 0, 0, frame + IRD_HEADERS);
	uint16_t len = ird_put_headers(frame, r->config.node, m->peer, IRD_CLASS_CONTROL,
				       &(struct ird_header){.kind = IRD_DATA}, segment);

	d->control.first = m->next;
	remote_free_message(r, i);
	return len;
}

/** Where all that is credited has gone, others are first; else less is left of it. */
static void sent(struct ird *d, uint32_t i)
{
	struct remote_message *m = &d->remote.message[i];

	m->link.key = ird_rank(m->len - m->sent, m->prev);
	if (m->sent == m->acked)
		unlist(d, i);
}

uint16_t ird_pull_data(struct ird *d, mf_time now, uint8_t *frame)
{
	struct remote *r = &d->remote;
	uint32_t i = d->credited;
	struct remote_message *m = &r->message[i];
	uint32_t rest = m->acked - m->sent, octets = rest < d->mtu ? rest : d->mtu, offset = m->sent;

	remote_begun(r, m, now);
	remote_put_segment(r, m, offset, octets, frame + IRD_HEADERS);
	m->sent += octets;
	sent(d, i);
	return ird_put_headers(frame, r->config.node, m->peer, IRD_CLASS_DATA,
			       &(struct ird_header){.kind = IRD_DATA,
						    .generation = (uint16_t)m->first,
						    .number = i,
						    .offset = offset,
						    .octets = octets},
			       REMOTE_HEADER + octets);
}
