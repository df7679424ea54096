/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations from their choice to their submission. */
#include <errno.h>

#include "client_priv.h"
#include "content.h"

bool client_has_more(const struct mf_client *c, mf_time now)
{
	if (c->stats.submit_error != 0 || c->begun == c->operations)
		return false;
	return (c->open ? c->arrival.next : now) < __atomic_load_n(&c->stop, __ATOMIC_RELAXED);
}

static bool is_due(const struct mf_client *c, mf_time now)
{
	return client_has_more(c, now) && (c->open ? c->arrival.next : c->start) <= now;
}

static enum mf_op_kind op_kind(enum mf_client_kind kind)
{
	switch (kind) {
	case MF_CLIENT_READ:
		return MF_OP_READ;
	case MF_CLIENT_WRITE:
		return MF_OP_WRITE;
	case MF_CLIENT_WRITE_ACK:
		return MF_OP_WRITE_ACK;
	default:
		return MF_OP_RMW;
	}
}

/** The value that an RMW's arguments are made for; any will do where no shadow is needed. */
static uint64_t word_before(const struct mf_client *c, const struct slot *s)
{
	return c->shadow.regions > 0 ? shadow_word(&c->shadow.region[s->region], s->offset) : 0;
}

static void op_make(struct mf_client *c)
{
	uint32_t i = c->free[--c->free_count];
	struct slot *s = &c->slot[i];
	const struct mf_client_target *t;
	struct choice choice;

	choose_next(&c->chooser, &choice);
	t = &c->target[choice.target];
	s->number = c->begun;
	s->offset = choice.offset;
	s->len = choice.len;
	s->region = choice.target;
	s->kind = (uint8_t)choice.kind;
	c->op.kind = op_kind(choice.kind);
	c->op.node = t->node;
	c->op.addr = t->base + s->offset;
	c->op.len = s->len;
	c->op.user = s->number << c->slot_bits | i;
	if (choose_is_rmw(choice.kind)) {
		c->op.buf = NULL;
		c->op.rmw = rmw_opcode(choice.kind);
		rmw_arguments(choice.kind, word_before(c, s), &c->args, c->op.arg);
	} else {
		c->op.buf = client_buffer(c, i);
		if (choice.kind != MF_CLIENT_READ)
			content_fill(c->op.buf, (s->len + 7) / 8, content_key(c->node, s->number),
				     s->offset / 8);
	}
	c->waiting = true;
	c->waiting_counted = false;
}

/** A write among reads and RMW that are under way: any of them may be first. */
static void write_races(struct mf_client *c, const struct slot *write)
{
	struct shadow_region *r = &c->shadow.region[write->region];

	shadow_write(r, write->number, write->offset, write->len);
	for (uint32_t i = 0; i < c->depth; i++) {
		struct slot *s = &c->slot[i];
		bool rmw = choose_is_rmw((enum mf_client_kind)s->kind);

		if (s->state != SLOT_BUSY || (s->kind != MF_CLIENT_READ && !rmw) || !client_overlap(s, write))
			continue;
		s->check = false;
		if (rmw)
			shadow_race(r, s->offset, s->len);
	}
}

/** The operation is in the host's queue: what it will find, and what it will leave behind. */
static void shadow_submit(struct mf_client *c, struct slot *s)
{
	struct shadow_region *r = &c->shadow.region[s->region];
	uint64_t value;

	s->check = c->verify && shadow_known(r, s->offset, s->len);
	if (s->kind == MF_CLIENT_READ) {
		if (s->check)
			s->expect = shadow_hash(r->octets + s->offset, s->len);
	} else if (choose_is_rmw((enum mf_client_kind)s->kind)) {
		s->expect = shadow_word(r, s->offset);
		value = rmw_result((enum mf_client_kind)s->kind, s->expect, c->op.arg);
		memcpy(r->octets + s->offset, &value, sizeof(value));
		if (c->unordered && !s->check)
			shadow_race(r, s->offset, s->len);
	} else {
		memcpy(r->octets + s->offset, c->op.buf, s->len);
		if (c->unordered)
			write_races(c, s);
	}
}

static void first_measured(struct mf_client *c, mf_time intended)
{
	c->stats.first_begun = intended;
	if (c->measured != 0 && c->measured < c->operations - c->begun)
		c->operations = c->begun + c->measured;
}

static void count_begun(struct mf_client *c, struct slot *s, mf_time now)
{
	s->intended = c->open ? c->arrival.next : now;
	s->measured = s->intended >= c->measure;
	if (s->measured && c->stats.first_begun == MF_NEVER)
		first_measured(c, s->intended);
	c->stats.begun_all++;
	c->stats.kind[s->kind].begun += s->measured;
}

/** When the operation behind this one may be begun, or is intended. */
static void next_start(struct mf_client *c, mf_time now)
{
	if (!c->open) {
		c->start = now + c->delay;
	} else if (--c->burst_left == 0) {
		c->burst_left = c->burst;
		arrival_advance(&c->arrival);
	}
}

static bool op_submit(struct mf_client *c, mf_time now)
{
	struct slot *s = &c->slot[c->op.user & ((UINT64_C(1) << c->slot_bits) - 1)];
	int err = mf_host_submit(c->host, now, &c->op);

	if (err == -EAGAIN) {
		c->stats.refused += !c->waiting_counted;
		c->waiting_counted = true;
		return false;
	}
	if (err != 0) {
		c->stats.submit_error = err;
		return false;
	}
	s->state = SLOT_BUSY;
	if (c->shadow.regions > 0)
		shadow_submit(c, s);
	count_begun(c, s, now);
	c->waiting = false;
	c->begun++;
	next_start(c, now);
	return true;
}

void client_begin(struct mf_client *c, mf_time now)
{
	while (is_due(c, now) && (c->waiting || c->free_count > 0)) {
		if (!c->waiting)
			op_make(c);
		if (!op_submit(c, now))
			return;
	}
}
