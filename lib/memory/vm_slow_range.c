/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of the slow path: allocate, free, protect. The fast path has the entries, and is told of runs. */
#include <errno.h>

#include "memory/vm_slow.h"

static uint64_t octets_of(const struct vm_task *t)
{
	return t->pages << t->shift;
}

/** The next run of a task's range, at most so many pages. */
static void send_run(struct mf_vm_slow *s, struct vm_task *t, uint8_t kind, uint64_t most)
{
	uint64_t left = t->pages - t->sent, length;
	struct mf_vm_item item = {
		.kind = kind, .value = t->rights, .page_class = (uint8_t)mf_remote_class(t->at)};

	most = most < s->run ? most : s->run;
	length = left < most ? left : most;
	item.length = (uint16_t)length;
	item.run.tag = mf_remote_tag(t->number, t->at, t->shift) + t->sent;
	item.run.serial = (uint32_t)(t - s->task);
	vm_slow_send(s, &item);
	t->sent += length;
}

/** Runs of ADD or PROTECT; a slice is one. DONE: the fast path has been told of all. */
static enum vm_progress send_runs(struct mf_vm_slow *s, struct vm_task *t, uint8_t kind, uint64_t *steps)
{
	uint64_t before = t->sent;

	send_run(s, t, kind, MF_VM_RUN_MAX);
	*steps -= t->sent - before < *steps ? t->sent - before : *steps;
	return t->sent == t->pages ? VM_DONE : VM_MORE;
}

enum vm_progress vm_slow_remove(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	uint64_t before = t->sent;

	if (t->sent < t->pages && s->removes < MF_VM_REMOVES) {
		send_run(s, t, MF_VM_REMOVE, MF_VM_ITEM_PAGES);
		s->removes++;
		*steps -= t->sent - before < *steps ? t->sent - before : *steps;
		return VM_MORE;
	}
	if (t->done < t->pages)
		return VM_WAITS;
	/* It is one range, and no other task has it: this cannot fail. */
	(void)mf_ranges_drop(s->ranges, &t->space->ranges, t->at, octets_of(t), MF_RANGE_GOING);
	return VM_DONE;
}

/* ---- allocate ---- */

/** The hint of the program, or where the last range of the space ended. */
static uint64_t hint_of(const struct vm_task *t, unsigned int page_class)
{
	uint64_t hint = t->arg[1] >> t->shift << t->shift;

	if (t->arg[1] <= MF_ADDR_MAX && t->arg[1] != 0 && mf_remote_class(hint) == page_class)
		return hint;
	return t->space->next[page_class];
}

/** Entries that an allocation is for, of what the maker of its space may have. */
static bool take_entries(struct mf_vm_slow *s, const struct vm_task *t)
{
	uint64_t *has = &s->entries[mf_space_maker(t->number)];

	if (s->config.node_entries != 0 &&
	    (*has > s->config.node_entries || t->pages > s->config.node_entries - *has))
		return false;
	*has += t->pages;
	return true;
}

static enum vm_progress begin_allocation(struct mf_vm_slow *s, struct vm_task *t)
{
	unsigned int page_class = mf_space_arg_class(t->arg[0]);
	uint64_t octets = t->arg[0] & MF_SPACE_OCTETS_MASK;
	struct mf_range_alloc_config c = {.pool = s->ranges,
					  .ranges = &t->space->ranges,
					  .use = s->use,
					  .space = t->number,
					  .page_class = (uint8_t)page_class,
					  .shift = s->layout.of[page_class].shift,
					  .rights = mf_space_arg_rights(t->arg[0]),
					  .retries_max = s->config.retries_max};

	if (c.shift == 0 || octets == 0)
		return vm_slow_done(t, MF_ERR_RANGE, 0);
	t->shift = c.shift;
	t->rights = c.rights;
	t->pages = c.pages = (octets + (UINT64_C(1) << c.shift) - 1) >> c.shift;
	c.from = hint_of(t, page_class);
	if (mf_range_alloc_begin(&t->alloc, &c) != 0)
		return vm_slow_done(t, MF_ERR_RANGE, 0);
	if (!take_entries(s, t)) {
		s->stats.beyond++;
		return vm_slow_done(t, MF_ERR_RESOURCE, 0);
	}
	t->state = VM_TASK_SENDING;
	return VM_MORE;
}

/** Ends an allocation: all its entries are in the queue, and the answer follows them. */
static enum vm_progress end_allocation(struct mf_vm_slow *s, struct vm_task *t)
{
	struct mf_range_kind kind = {MF_RANGE_LIVE, t->rights};

	/* It is one range, and no other task has it: this cannot fail. */
	(void)mf_ranges_change(s->ranges, &t->space->ranges, t->at, octets_of(t), MF_RANGE_MAKING, kind);
	t->space->next[mf_remote_class(t->at)] =
		mf_remote_class(t->at + octets_of(t)) == mf_remote_class(t->at) ? t->at + octets_of(t) : 0;
	return vm_slow_done(t, MF_OK, t->at);
}

enum vm_progress vm_slow_allocate(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	if (t->state == VM_TASK_BEGUN)
		return begin_allocation(s, t);
	if (t->space->ending && t->alloc.state <= MF_ALLOC_TAKING)
		mf_range_alloc_cancel(&t->alloc);
	switch (mf_range_alloc_run(&t->alloc, steps)) {
	case MF_ALLOC_DONE:
		break;
	case MF_ALLOC_FAILED:
		s->entries[mf_space_maker(t->number)] -= t->pages;
		mf_hist_add(&s->stats.retries, t->alloc.retries);
		return vm_slow_done(t, t->space->ending ? MF_ERR_KEY : MF_ERR_RESOURCE, 0);
	default:
		return VM_MORE;
	}
	if (t->sent == 0) {
		mf_hist_add(&s->stats.retries, t->alloc.retries);
		t->at = t->alloc.at;
	}
	return send_runs(s, t, MF_VM_ADD, steps) == VM_DONE ? end_allocation(s, t) : VM_MORE;
}

/* ---- free, protect ---- */

/** The range that is meant gets another state. @return MF_OK or what to answer */
static uint8_t claim(struct mf_vm_slow *s, struct vm_task *t, uint8_t state, uint8_t rights)
{
	uint64_t octets = t->arg[0] & MF_SPACE_OCTETS_MASK, at = t->arg[1];
	int rc;

	if (octets == 0)
		return MF_ERR_RANGE;
	if (at > MF_ADDR_MAX || octets > MF_ADDR_MAX - at + 1)
		return MF_ERR_KEY;
	t->at = at;
	t->rights = rights;
	t->shift = s->layout.of[mf_remote_class(at)].shift;
	if (t->shift == 0 || at % (UINT64_C(1) << t->shift) != 0)
		return MF_ERR_KEY;
	t->pages = (octets + (UINT64_C(1) << t->shift) - 1) >> t->shift;
	if (octets_of(t) > MF_ADDR_MAX - at + 1)
		return MF_ERR_KEY;
	rc = mf_ranges_change(s->ranges, &t->space->ranges, at, octets_of(t), MF_RANGE_LIVE,
			      (struct mf_range_kind){state, rights});
	return rc == 0 ? MF_OK : rc == -ENOENT ? MF_ERR_KEY : MF_ERR_RESOURCE;
}

enum vm_progress vm_slow_free(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	enum vm_progress progress;

	if (t->state == VM_TASK_BEGUN) {
		uint8_t status = claim(s, t, MF_RANGE_GOING, MF_PAGE_NONE);

		if (status != MF_OK)
			return vm_slow_done(t, status, 0);
		t->state = VM_TASK_SENDING;
	}
	progress = vm_slow_remove(s, t, steps);
	return progress == VM_DONE ? vm_slow_done(t, MF_OK, 0) : progress;
}

/** While it is under way the range is MAKING, so that nobody else changes it. */
enum vm_progress vm_slow_protect(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	uint8_t rights = mf_space_arg_rights(t->arg[0]);

	if (t->state == VM_TASK_BEGUN) {
		uint8_t status =
			rights < MF_PAGE_RIGHTS ? claim(s, t, MF_RANGE_MAKING, rights) : MF_ERR_RANGE;

		if (status != MF_OK)
			return vm_slow_done(t, status, 0);
		t->state = VM_TASK_SENDING;
	}
	if (send_runs(s, t, MF_VM_PROTECT, steps) != VM_DONE)
		return VM_MORE;
	(void)mf_ranges_change(s->ranges, &t->space->ranges, t->at, octets_of(t), MF_RANGE_MAKING,
			       (struct mf_range_kind){MF_RANGE_LIVE, rights});
	return vm_slow_done(t, MF_OK, 0);
}
