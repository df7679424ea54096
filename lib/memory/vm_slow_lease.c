/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spaces that end by themselves. Nobody tells a memory node that a client has died, so a space has a lease:
 * several times in it each space is asked whether it was used since the last time (LEASE), and one that was
 * not for long enough ends. When the node that made a space begins anew nobody has its keys, and it ends at
 * once. One space at a time ends like that, by a task that nobody has asked.
 */
#include "memory/vm_slow.h"

#define LOOKS 16 /**< records of spaces that are looked at in a slice */

/** The space of a record, if it is there and not about to end. */
static struct vm_space *live(struct mf_vm_slow *s, uint32_t record)
{
	struct vm_space *sp = &s->space[record];

	return s->numbered[sp->number].record == record + 1 && !sp->ending ? sp : NULL;
}

bool vm_slow_is_over(const struct mf_vm_slow *s, const struct vm_space *sp)
{
	return sp->expired || sp->life != s->life[mf_space_maker(sp->number)];
}

/* ---- leases ---- */

static bool is_sweeping(const struct mf_vm_slow *s)
{
	return s->sweep < s->sweep_end || s->leases > 0;
}

static bool begin_sweep(struct mf_vm_slow *s)
{
	const struct mf_vm_item item = {.kind = MF_VM_SWEEP};

	if (is_sweeping(s) || s->now < s->sweep_at || !vm_slow_has_place(s))
		return false;
	vm_slow_send(s, &item);
	s->sweep = 0;
	s->sweep_end = s->records;
	s->sweep_at = s->now + s->config.lease / MF_VM_SWEEPS;
	return true;
}

/** Asks some spaces whether they were used. */
static bool sweep(struct mf_vm_slow *s)
{
	bool any = begin_sweep(s);

	for (unsigned int i = 0; i < LOOKS && s->sweep < s->sweep_end; i++) {
		struct mf_vm_item item = {.kind = MF_VM_LEASE};
		const struct vm_space *sp;

		if (s->leases == MF_VM_LEASES || !vm_slow_has_place(s))
			break;
		any = true;
		sp = live(s, s->sweep++);
		if (sp == NULL)
			continue;
		item.task.space = sp->number;
		s->leases++;
		vm_slow_send(s, &item);
	}
	return any;
}

void vm_slow_leased(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	uint32_t record = s->numbered[item->task.space].record;
	struct vm_space *sp = record != 0 ? live(s, record - 1) : NULL;

	s->leases--;
	if (sp == NULL)
		return;
	sp->idle = item->value ? 0 : (uint8_t)(sp->idle + 1);
	if (sp->idle < MF_VM_SWEEPS || sp->expired)
		return;
	sp->expired = true;
	s->over = true;
	s->stats.expired++;
}

mf_time mf_vm_slow_next(const struct mf_vm_slow *s)
{
	return s->config.lease == 0 || is_sweeping(s) ? MF_NEVER : s->sweep_at;
}

void mf_vm_slow_date(struct mf_vm_slow *s, mf_time now)
{
	s->now = mf_time_max(s->now, now);
}

/* ---- nodes that begin anew ---- */

void vm_slow_lives(struct mf_vm_slow *s, uint16_t node, uint64_t life)
{
	if ((int32_t)((uint32_t)life - s->life[node]) <= 0)
		return;
	s->life[node] = (uint32_t)life;
	s->over = true;
}

void vm_slow_forget(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	vm_slow_lives(s, item->node, item->task.life);
	s->stats.strange += s->forgets == MF_PORTS_MAX;
	if (s->forgets < MF_PORTS_MAX)
		s->forget[s->forgets++] = item->node;
}

static bool tell_forgotten(struct mf_vm_slow *s)
{
	bool any = false;

	for (; s->forgets > 0 && vm_slow_has_place(s); any = true) {
		const struct mf_vm_item item = {.kind = MF_VM_FORGOTTEN, .node = s->forget[--s->forgets]};

		vm_slow_send(s, &item);
	}
	return any;
}

/* ---- spaces end ---- */

/** A task that ends a space: as one of its node, but nobody is answered. */
static void end_space(struct mf_vm_slow *s, const struct vm_space *sp)
{
	struct vm_task *t = vm_slow_new_task(s);

	*t = (struct vm_task){.what = MF_SPACE_END,
			      .node = mf_space_maker(sp->number),
			      .number = sp->number,
			      .epoch = s->numbered[sp->number].epoch,
			      .order = s->order++,
			      .own = true};
	s->ending = true;
	s->stats.left += !sp->expired;
}

/** Looks for a space that has to end; all are looked at once more when something has changed. */
static bool end_spaces(struct mf_vm_slow *s)
{
	if (s->ending || (!s->over && s->look == s->records))
		return false;
	if (s->look == s->records) {
		s->over = false;
		s->look = 0;
	}
	for (unsigned int i = 0; i < LOOKS && s->look < s->records; i++) {
		const struct vm_space *sp = live(s, s->look++);

		if (sp != NULL && vm_slow_is_over(s, sp)) {
			end_space(s, sp);
			break;
		}
	}
	return true;
}

bool vm_slow_leases(struct mf_vm_slow *s)
{
	bool any = s->config.lease != 0 && sweep(s);

	any |= tell_forgotten(s);
	any |= end_spaces(s);
	return any;
}
