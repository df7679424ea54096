/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations from their choice to their submission. */
#include <errno.h>

#include "base/mf_cycles.h"
#include "memory/mf_call.h"
#include "workload/churn.h"
#include "workload/store_client.h"
#include "workload/vectors.h"

bool client_has_more(const struct mf_client *c, mf_time now)
{
	if (__builtin_expect(c->store != NULL, 0))
		return store_has_more(c, now);
	return c->stats.begun_all < c->operations &&
	       (c->open ? c->arrival.next : now) < __atomic_load_n(&c->stop, __ATOMIC_RELAXED);
}

static_assert((int)MF_CLIENT_READ == MF_OP_READ && (int)MF_CLIENT_WRITE == MF_OP_WRITE &&
		      (int)MF_CLIENT_WRITE_ACK == MF_OP_WRITE_ACK && (int)MF_CLIENT_CAS == MF_OP_RMW,
	      "up to the RMW, kinds of clients and of operations are the same");

static inline uint8_t op_kind(uint8_t kind)
{
	return kind < MF_OP_RMW ? kind : kind == MF_CLIENT_CALL ? MF_OP_CALL : MF_OP_RMW;
}

/** The value that an RMW's arguments are made for; any will do where no shadow is needed. */
static uint64_t word_before(const struct mf_client *c, const struct slot *s)
{
	return c->shadow.regions > 0
		       ? lines_word(&c->shadow.lines, shadow_at(&c->shadow, s->region, s->offset))
		       : 0;
}

static void make_rmw(struct mf_client *c, const struct slot *s)
{
	enum mf_client_kind kind = (enum mf_client_kind)s->kind;

	c->op.buf = NULL;
	c->op.rmw = rmw_opcode(kind);
	rmw_arguments(kind, word_before(c, s), &c->args, c->op.arg);
}

static __attribute__((noinline)) void make_call(struct mf_client *c, const struct slot *s)
{
	c->op.arg[0] = MF_CALL_ASK(MF_CALL_ECHO, 0, 0);
	c->op.arg[1] = s->len;
}

/** What is next: drawn, or of the trace. */
static inline struct choice choose(struct mf_client *c)
{
	const struct mf_client_message *m = c->message;

	if (__builtin_expect(m == NULL, 1))
		return choose_next(&c->chooser);
	if (c->address != NULL)
		return (struct choice){.kind = (enum mf_client_kind)m->kind,
				       .target = c->place[m->node],
				       .offset = c->address[m - c->message_end],
				       .len = m->octets};
	return choose_given(&c->chooser, (enum mf_client_kind)m->kind, c->place[m->node], m->octets);
}

static inline struct slot *op_make(struct mf_client *c)
{
	uint32_t i = client_take(c);
	struct slot *s = &c->slot[i];
	struct choice choice;
	const struct mf_client_target *t;

	s->user = c->stats.begun_all << MF_CLIENT_SLOT_BITS | i;
	if (__builtin_expect(c->churn != NULL, 0) && churn_ask(c, s))
		return s;
	choice = choose(c);
	t = client_target(c, choice.target);
	s->offset = choice.offset;
	s->len = choice.len;
	s->region = choice.target;
	s->node = t->node;
	s->kind = (uint8_t)choice.kind;
	c->op.kind = op_kind(s->kind);
	c->op.node = t->node;
	c->op.addr = t->base + c->base + choice.offset;
	c->op.len = choice.len;
	c->op.user = s->user;
	if (__builtin_expect(c->churn != NULL, 0))
		churn_place(c, s);
	if (choose_is_rmw(choice.kind)) {
		make_rmw(c, s);
		return s;
	}
	c->op.buf = client_buffer(c, s);
	if (__builtin_expect(choice.kind == MF_CLIENT_CALL, 0))
		make_call(c, s);
	/* To the end of its last line: that is the buffer's, too. */
	if (__builtin_expect(c->sink, 0) && !client_reads((uint8_t)choice.kind))
		c->op.buf = (void *)(uintptr_t)mf_sink_content(c->op.addr); /* of a write it is only read */
	else if (!client_reads((uint8_t)choice.kind))
		content_fill(c->op.buf, choose_round_up(choice.len) / 8,
			     content_key_of(c->writer, client_number(s)), choice.offset / 8);
	return s;
}

/** A write among reads and RMW that are under way: any of them may be first. */
static void write_races(struct mf_client *c, const struct slot *write)
{
	struct shadow_region *r = shadow_region(&c->shadow, write->region);

	shadow_write(r, client_number(write), write->offset, write->len);
	if (c->order == MF_CLIENT_LOSSY && write->kind == MF_CLIENT_WRITE)
		shadow_race(r, write->offset, write->len);
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (c->busy[i] != write->region + 1 || !client_returns(s->kind) || !client_overlap(s, write))
			continue;
		s->check = false;
		if (!client_reads(s->kind))
			shadow_race(r, s->offset, s->len);
	}
}

/** An RMW, whose effect reads under way may find whose data have not left the memory yet. */
static void rmw_before_reads(struct mf_client *c, const struct slot *rmw)
{
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (c->busy[i] == rmw->region + 1 && client_reads(s->kind) && client_overlap(s, rmw))
			s->check = false;
	}
}

/** Any order: a write or RMW beside another one. Nobody knows what its words hold when both are over. */
static void both_race(struct mf_client *c, struct slot *a, struct slot *b)
{
	uint64_t first = (a->offset > b->offset ? a->offset : b->offset) / 8;
	uint64_t last_a = (a->offset + a->len - 1) / 8, last_b = (b->offset + b->len - 1) / 8;
	uint64_t last = last_a < last_b ? last_a : last_b;

	shadow_race(shadow_region(&c->shadow, a->region), first * 8, (last - first + 1) * 8);
	a->alone = b->alone = a->check = b->check = false;
}

static void change_races(struct mf_client *c, struct slot *change)
{
	change->alone = true;
	shadow_begin(shadow_region(&c->shadow, change->region), client_number(change), change->offset,
		     change->len);
	for (uint32_t i = 0; i < c->used; i++) {
		struct slot *s = &c->slot[i];

		if (c->busy[i] != change->region + 1 || s == change || !client_overlap(s, change))
			continue;
		if (client_reads(s->kind))
			s->check = false;
		else
			both_race(c, s, change);
	}
}

/** Where operations may pass each other: what this one makes unknown. */
static void races(struct mf_client *c, struct slot *s)
{
	bool rmw = choose_is_rmw((enum mf_client_kind)s->kind);

	if (c->order == MF_CLIENT_IN_ORDER)
		return;
	if (c->order == MF_CLIENT_ANY_ORDER) {
		change_races(c, s);
	} else if (!rmw) {
		write_races(c, s);
	} else {
		if (!s->sure)
			shadow_race(shadow_region(&c->shadow, s->region), s->offset, s->len);
		if (c->order == MF_CLIENT_WRITES_IN_ORDER || c->order == MF_CLIENT_LOSSY)
			rmw_before_reads(c, s);
	}
}

/** What a read will find, as far as it is needed for telling whether it has. */
static inline void expect(struct slot *s, const struct lines *lines, uint64_t at)
{
	if (__builtin_expect(at % LINE_OCTETS != 0, 0)) { /* of a trace */
		if (s->len == CLIENT_LINE)
			lines_read(lines, at, s->line, CLIENT_LINE);
		else
			s->expect = lines_hash_any(lines, at, s->len);
	} else if (s->len == CLIENT_LINE) {
		lines_get(lines, at, s->line);
	} else {
		s->expect = lines_hash(lines, at, s->len);
	}
}

/** The operation is in the host's queue: what it will find, and what it will leave behind. */
static void shadow_submit(struct mf_client *c, struct slot *s)
{
	struct shadow_region *r = shadow_region(&c->shadow, s->region);
	struct lines *lines = &c->shadow.lines;
	uint64_t at = shadow_at(&c->shadow, s->region, s->offset), value;

	s->sure = c->verify && shadow_known(r, s->offset, s->len);
	s->check = s->sure || (c->verify && c->order == MF_CLIENT_LOSSY);
	if (client_reads(s->kind)) {
		if (c->constant) /* it is compared with the shadow, which is a line from anywhere */
			__builtin_prefetch(shadow_unwritten(&c->shadow, at));
		else if (s->check)
			expect(s, lines, at);
	} else if (choose_is_rmw((enum mf_client_kind)s->kind)) {
		s->expect = lines_word(lines, at);
		value = rmw_result((enum mf_client_kind)s->kind, s->expect, c->op.arg);
		lines_put(lines, at, &value, sizeof(value));
		races(c, s);
	} else {
		if (__builtin_expect(at % LINE_OCTETS == 0, 1))
			lines_write(lines, at, c->op.buf, s->len);
		else
			lines_put(lines, at, c->op.buf, s->len);
		races(c, s);
	}
}

static void first_measured(struct mf_client *c, mf_time intended)
{
	c->stats.first_begun = intended;
	if (c->measured != 0 && c->measured < c->operations - c->stats.begun_all)
		c->operations = c->stats.begun_all + c->measured;
}

bool mf_client_draw(struct mf_client *c, struct mf_client_message *out, uint64_t *addr)
{
	struct choice choice;

	if (c->open && c->store != NULL)
		return store_draw(c, out);
	if (!c->open || !client_has_more(c, 0))
		return false;
	choice = choose(c);
	*out = (struct mf_client_message){.start = c->arrival.next,
					  .octets = (uint32_t)choice.len,
					  .node = client_target(c, choice.target)->node,
					  .kind = (uint8_t)choice.kind};
	if (addr != NULL && c->address != NULL)
		*addr = client_address(c, choice.target, choice.offset);
	if (out->start >= c->measure && c->stats.first_begun == MF_NEVER)
		first_measured(c, out->start);
	c->stats.begun_all++;
	client_next_start(c);
	return true;
}

static inline void op_begun(struct mf_client *c, struct slot *s, mf_time now)
{
	s->state = SLOT_BUSY;
	if (c->shadow.regions > 0) {
		shadow_submit(c, s);
		client_set_busy(c, s, s->region + 1);
	}
	s->intended = c->arrival.next;
	s->measured = s->intended >= c->measure && s->kind != CHURN_TASK;
	if (s->measured && __builtin_expect(c->stats.first_begun == MF_NEVER, 0))
		first_measured(c, s->intended);
	client_count_begun(c, s, now);
	client_next_start(c);
}

static void op_refused(struct mf_client *c, struct slot *s, int err)
{
	if (err != -EAGAIN) {
		c->stats.submit_error = err;
		c->operations = c->stats.begun_all;
	} else if (c->waiting != s) {
		c->stats.refused++;
	}
	c->waiting = s;
}

static inline bool is_due(const struct mf_client *c, mf_time now, mf_time stop)
{
	return c->arrival.next <= now && c->arrival.next < stop && c->stats.begun_all < c->operations;
}

void client_begin(struct mf_client *c, mf_time now)
{
	if (__builtin_expect(c->store != NULL, 0)) {
		store_begin(c, now);
		return;
	}
	MF_CYCLES(MF_CYCLES_CLIENT_BEGIN);
	mf_time stop = __atomic_load_n(&c->stop, __ATOMIC_RELAXED);

	if (!c->open)
		c->arrival.next = mf_time_max(now, c->start);
	while ((c->waiting != NULL || c->free_count > 0) && is_due(c, now, stop)) {
		struct slot *s = c->waiting != NULL ? c->waiting : op_make(c);
		int err = mf_below_submit(&c->below, now, &c->op);

		if (__builtin_expect(err != 0, 0)) {
			op_refused(c, s, err);
			return;
		}
		c->waiting = NULL;
		op_begun(c, s, now);
	}
}
