/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a history says of spaces (docs/history.md): where the octets are that clients ask for, and when pages
 * become zero. Each piece is an operation of its own, since words are checked one by one; a piece that goes
 * again is one. All of these are called only where there is a history.
 */
#include "linear/mf_history.h"
#include "spaces/spaces.h"

#define ALL_OCTETS (MF_ADDR_MAX + 1)

static_assert((int)MF_OP_READ == MF_HISTORY_READ && (int)MF_OP_WRITE == MF_HISTORY_WRITE &&
		      (int)MF_OP_WRITE_ACK == MF_HISTORY_WRITE_ACK && (int)MF_OP_RMW == MF_HISTORY_CAS,
	      "up to the RMW, kinds of operations and of histories are the same");
static_assert(MF_HISTORY_SPACES == MF_SPACES, "they are the same spaces");

void mf_spaces_record(struct mf_layer *l, struct mf_history_log *log)
{
	spaces_of(l)->log = log;
}

static struct mf_history_record record_of(const struct spaces *s, const struct piece *p, uint8_t kind)
{
	return (struct mf_history_record){.call = s->now,
					  .addr = p->op.addr,
					  .len = p->op.kind == MF_OP_RMW ? sizeof(uint64_t) : p->op.len,
					  .client = s->node,
					  .node = p->op.node,
					  .kind = kind,
					  .space = p->op.space};
}

void history_begun(struct spaces *s, struct piece *p)
{
	bool rmw = p->op.kind == MF_OP_RMW;
	uint8_t kind = (uint8_t)(rmw ? MF_HISTORY_CAS + p->op.rmw - MF_RMW_CAS : p->op.kind);
	const struct mf_history_record r = record_of(s, p, kind);

	p->record = mf_history_begin(s->log, &r, rmw ? p->op.arg : p->op.buf);
}

/** Whether one that is refused has done nothing: of more than a chunk the first ones may have been let in. */
static bool is_refused_whole(const struct spaces *s, const struct piece *p, uint8_t status)
{
	return status == MF_ERR_KEY && (p->op.kind == MF_OP_RMW || p->op.len <= s->config.whole);
}

static enum mf_history_outcome outcome_of(const struct spaces *s, const struct piece *p,
					  const struct mf_completion *c)
{
	bool all = p->op.kind != MF_OP_READ || c->len == p->op.len;

	if (c->status == MF_OK)
		return all ? MF_HISTORY_OK : MF_HISTORY_FAILED;
	if (c->status == MF_ERR_RESTARTED)
		return MF_HISTORY_RESTARTED;
	return is_refused_whole(s, p, c->status) ? MF_HISTORY_REFUSED : MF_HISTORY_FAILED;
}

void history_over(struct spaces *s, const struct piece *p, const struct mf_completion *c)
{
	const void *data = p->op.kind == MF_OP_RMW ? (const void *)&c->result : p->op.buf;

	mf_history_end(s->log, p->record, s->now, outcome_of(s, p, c), c->status, data);
}

/** The octets of pages from an address on. */
static uint64_t whole_pages(const struct spaces *s, const struct piece *p, uint64_t addr)
{
	unsigned int shift = s->target[s->target_of[p->op.node]].config.class_shift[mf_remote_class(addr)];
	uint64_t page = UINT64_C(1) << shift, octets = p->op.arg[1] & MF_SPACE_OCTETS_MASK;

	return (octets + page - 1) / page * page;
}

/** What a task makes zero as soon as it is asked. @return false: nothing, or nothing there is */
static bool zeroes(const struct spaces *s, const struct piece *p, struct mf_history_record *r)
{
	switch (mf_space_ask_task(p->op.arg[0])) {
	case MF_SPACE_FREE:
		r->len = r->addr <= MF_ADDR_MAX ? whole_pages(s, p, r->addr) : 0;
		return r->len > 0 && r->len <= ALL_OCTETS - r->addr;
	case MF_SPACE_END:
		r->addr = 0;
		r->len = ALL_OCTETS;
		return true;
	default:
		return false;
	}
}

void history_asked(struct spaces *s, struct piece *p)
{
	struct mf_history_record r = record_of(s, p, MF_HISTORY_ZEROED);

	p->record = zeroes(s, p, &r) ? mf_history_begin(s->log, &r, NULL) : MF_HISTORY_NONE;
}

static bool is_of(const struct piece *p, enum mf_space_task task, const struct mf_completion *c)
{
	return mf_space_ask_task(p->op.arg[0]) == task && c->status == MF_OK && p->word[0] == MF_OK;
}

/** Where pages are allocated is not known before. */
static void allocated(struct spaces *s, const struct piece *p)
{
	struct mf_history_record r = record_of(s, p, MF_HISTORY_ZEROED);
	uint64_t place;

	if (p->word[1] > MF_ADDR_MAX)
		return; /* no such address: what is accessed there is refused */
	r.call = p->since;
	r.addr = p->word[1];
	r.len = whole_pages(s, p, r.addr);
	if (r.len > ALL_OCTETS - r.addr)
		return;
	place = mf_history_begin(s->log, &r, NULL);
	mf_history_end(s->log, place, s->now, MF_HISTORY_OK, MF_OK, NULL);
}

void history_answered(struct spaces *s, const struct piece *p, const struct mf_completion *c)
{
	enum mf_history_outcome outcome = MF_HISTORY_REFUSED; /* a task does all of it, or nothing */

	if (is_of(p, MF_SPACE_ALLOCATE, c))
		allocated(s, p);
	if (c->status != MF_OK)
		outcome = c->status == MF_ERR_RESTARTED ? MF_HISTORY_RESTARTED : MF_HISTORY_FAILED;
	else if (p->word[0] == MF_OK)
		outcome = MF_HISTORY_OK;
	mf_history_end(s->log, p->record, s->now, outcome,
		       c->status != MF_OK ? c->status : (uint8_t)p->word[0], NULL);
}
