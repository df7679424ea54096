/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/frames/mf_retransmit.h"

#include <errno.h>

#include "base/mf_table.h"

#define FIRST 2 /* times the least: the RTO before the first sample */
#define MOST 64 /* times the least */

int retransmit_init(struct retransmit *a, uint32_t operations, mf_time least)
{
	*a = (struct retransmit){
		.head = RETRANSMIT_NIL, .tail = RETRANSMIT_NIL, .least = least, .rto = FIRST * least};
	a->entry = mf_table_new(operations, sizeof(*a->entry));
	return a->entry != NULL ? 0 : -ENOMEM;
}

void retransmit_fini(struct retransmit *a)
{
	mf_table_free(a->entry);
}

static void take_out(struct retransmit *a, uint32_t op)
{
	struct retransmit_entry *e = &a->entry[op];

	if (!e->waits)
		return;
	e->waits = false;
	if (e->prev == RETRANSMIT_NIL)
		a->head = e->next;
	else
		a->entry[e->prev].next = e->next;
	if (e->next == RETRANSMIT_NIL)
		a->tail = e->prev;
	else
		a->entry[e->next].prev = e->prev;
}

void retransmit_sent(struct retransmit *a, uint32_t op, mf_time now)
{
	struct retransmit_entry *e = &a->entry[op];

	take_out(a, op);
	*e = (struct retransmit_entry){
		.sent = now, .next = RETRANSMIT_NIL, .prev = a->tail, .waits = true, .times = e->times};
	if (a->tail == RETRANSMIT_NIL)
		a->head = op;
	else
		a->entry[a->tail].next = op;
	a->tail = op;
}

void retransmit_goes_on(struct retransmit *a, uint32_t op, mf_time now)
{
	if (!a->entry[op].waits)
		return;
	retransmit_sent(a, op, now);
	a->entry[op].partly = true;
}

/** RFC 6298 (2.2), (2.3). */
static void sample(struct retransmit *a, mf_time rtt)
{
	mf_time off = a->srtt > rtt ? a->srtt - rtt : rtt - a->srtt, most = MOST * a->least;

	if (a->srtt == 0) {
		a->srtt = rtt;
		a->var = rtt / 2;
	} else {
		a->var = (3 * a->var + off) / 4;
		a->srtt = (7 * a->srtt + rtt) / 8;
	}
	a->rto = mf_time_min(mf_time_max(a->srtt + 4 * a->var, a->least), most);
}

bool retransmit_over(struct retransmit *a, uint32_t op, mf_time now)
{
	struct retransmit_entry *e = &a->entry[op];

	/* Karn: nobody knows which one was answered. And of what came in parts only the last is timed. */
	if (e->waits && e->times == 0 && !e->partly && now != MF_NEVER)
		sample(a, now - e->sent);
	take_out(a, op);
	return e->times != 0;
}

uint32_t retransmit_expired(struct retransmit *a, mf_time now)
{
	uint32_t op = a->head;

	if (retransmit_next(a) > now)
		return RETRANSMIT_NIL;
	if (a->entry[op].sent >= a->doubled) { /* once for all that were under way */
		a->rto = mf_time_min(2 * a->rto, MOST * a->least);
		a->doubled = now;
	}
	take_out(a, op);
	a->entry[op].times++;
	a->count++;
	return op;
}
