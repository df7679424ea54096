/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host is asked: pieces that wait for room, are under way, or go again later. */
#include <assert.h>
#include <errno.h>

#include "spaces/spaces.h"

#define LATER_FIRST MF_US(1)

static uint32_t place(const struct spaces *s, const struct piece *p)
{
	return (uint32_t)(p - s->piece);
}

struct piece *piece_new(struct spaces *s, enum piece_kind kind)
{
	struct piece *p;

	if (s->free_piece == SPACES_NONE) {
		s->starved = true;
		return NULL;
	}
	p = &s->piece[s->free_piece];
	s->free_piece = p->next;
	*p = (struct piece){.kind = (uint8_t)kind,
			    .state = PIECE_READY,
			    .operation = SPACES_NONE,
			    .worker = SPACES_NONE,
			    .since = s->now};
	p->op.user = place(s, p);
	return p;
}

void piece_free(struct spaces *s, struct piece *p)
{
	p->state = PIECE_FREE;
	p->next = s->free_piece;
	s->free_piece = place(s, p);
	s->look |= s->starved;
}

/** @return false: there is no room */
static bool submit(struct spaces *s, struct piece *p)
{
	int err = mf_node_submit(s->layer.host, s->now, &p->op);

	assert(err == 0 || err == -EAGAIN); /* what clients ask was checked as it came */
	if (err != 0)
		return false;
	p->state = PIECE_BELOW;
	p->former = false;
	return true;
}

void piece_put(struct spaces *s, struct list *list, struct piece *p)
{
	p->next = SPACES_NONE;
	if (list->first == SPACES_NONE)
		list->first = place(s, p);
	else
		s->piece[list->last].next = place(s, p);
	list->last = place(s, p);
}

void piece_go(struct spaces *s, struct piece *p)
{
	p->state = PIECE_READY;
	if (s->ready.first != SPACES_NONE || !submit(s, p))
		piece_put(s, &s->ready, p);
}

void piece_again(struct spaces *s, struct piece *p, mf_time now, mf_time most)
{
	mf_time wait = p->tries == 0 ? 0 : LATER_FIRST << (p->tries < 24 ? p->tries - 1 : 23);

	p->tries += p->tries < UINT8_MAX;
	p->due = now + mf_time_min(wait, most);
	p->state = PIECE_LATER;
	p->next = s->later;
	s->later = place(s, p);
	s->later_due = mf_time_min(s->later_due, p->due);
}

void pieces_lost(struct spaces *s, uint16_t node)
{
	for (uint32_t i = 0; i < s->pieces; i++)
		s->piece[i].former |= s->piece[i].state == PIECE_BELOW && s->piece[i].op.node == node;
}

/** Those that are due, in the order in which they became so. */
static void take_due(struct spaces *s, mf_time now)
{
	uint32_t *from = &s->later;
	mf_time first = MF_NEVER;

	while (*from != SPACES_NONE) {
		struct piece *p = &s->piece[*from];

		if (p->due <= now) {
			*from = p->next;
			piece_go(s, p);
		} else {
			first = mf_time_min(first, p->due);
			from = &p->next;
		}
	}
	s->later_due = first;
}

void pieces_run(struct spaces *s, mf_time now)
{
	/* First, since a host without room ends this: what stays due would call again at the same time for
	 * good. */
	if (s->later_due <= now)
		take_due(s, now);
	while (s->ready.first != SPACES_NONE) {
		struct piece *p = &s->piece[s->ready.first];
		uint32_t next = p->next;

		if (!submit(s, p))
			return;
		s->ready.first = next;
	}
}
