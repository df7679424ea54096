/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of the slow path: rings, zeroing, tasks. */
#include "base/mf_seeded_bug.h"
#include "memory/vm_slow.h"

void vm_slow_send(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	s->stats.strange += !mf_vm_queue_put(s->out, item);
}

/* ---- pages ---- */

/** Pages for the ring of a class, as there are places for them and pages that are zero. */
static bool fill_ring(struct mf_vm_slow *s, struct vm_class_pages *p)
{
	bool any = false;

	while (p->credit > 0 && vm_slow_has_place(s)) {
		struct mf_vm_item item = {.kind = MF_VM_PAGES, .page_class = (uint8_t)p->page_class};

		while (p->credit > 0 && item.pages < MF_VM_ITEM_PAGES &&
		       mf_page_pool_take(p->pool, &item.run.page[item.pages])) {
			item.pages++;
			p->credit--;
		}
		if (item.pages == 0)
			break;
		item.run.serial = p->heard;
		vm_slow_send(s, &item);
		any = true;
	}
	return any;
}

/** Says whether pages will come, where that has changed. */
static bool tell_supply(struct mf_vm_slow *s, struct vm_class_pages *p)
{
	bool supply = mf_page_pool_left(p->pool) > 0;
	const struct mf_vm_item item = {
		.kind = MF_VM_SUPPLY, .value = supply, .page_class = (uint8_t)p->page_class};

	if (supply == p->supply || !vm_slow_has_place(s))
		return false;
	p->supply = supply;
	vm_slow_send(s, &item);
	return true;
}

/** Classes take turns in who is zeroed first, so that a large page holds up no small one for long. */
static bool work_on_pages(struct mf_vm_slow *s, uint64_t octets)
{
	bool any = false;

	for (unsigned int i = 0; i < MF_PAGE_CLASSES; i++) {
		struct vm_class_pages *p = &s->pages[(s->next_class + i) % MF_PAGE_CLASSES];
		uint64_t done;

		if (p->pool == NULL)
			continue;
		done = mf_page_pool_work(p->pool, octets);
		octets -= done;
		s->stats.octets += done;
		any |= done > 0;
		any |= fill_ring(s, p);
		any |= tell_supply(s, p);
	}
	if (any) /* a call that does nothing changes nothing */
		s->next_class = (s->next_class + 1) % MF_PAGE_CLASSES;
	return any;
}

/* ---- tasks ---- */

/** Of the task whose turn it is, or comes after so many others; of .tasks and above: one that is free. */
static uint32_t *place_of(const struct mf_vm_slow *s, uint32_t turns)
{
	uint32_t place = s->first + turns;

	return &s->place[place < s->places ? place : place - s->places];
}

static struct vm_task *task_at(const struct mf_vm_slow *s, uint32_t turns)
{
	return &s->task[*place_of(s, turns)];
}

struct vm_task *vm_slow_new_task(struct mf_vm_slow *s)
{
	s->waiting = 0;
	return task_at(s, s->tasks++);
}

static bool is_of_range(uint8_t what)
{
	return what == MF_SPACE_FREE || what == MF_SPACE_PROTECT;
}

/** Whether a task has to wait for one that was asked before. Each that a fence looks at is a step. */
static bool is_blocked(const struct mf_vm_slow *s, const struct vm_task *t, uint64_t *steps)
{
	if (is_of_range(t->what))
		return t->changes_before != s->numbered[t->number].changes_done;
	if (t->what != MF_SPACE_FENCE)
		return false;
	for (uint32_t i = 0; i < s->tasks; i++) {
		const struct vm_task *other = task_at(s, i);

		*steps -= *steps > 0;
		if (other->number == t->number && other->order < t->order)
			return true;
	}
	return false;
}

/** @return VM_MORE: it has begun */
static enum vm_progress begin(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	if (is_blocked(s, t, steps))
		return VM_WAITS;
	if (t->own) /* whatever rights were taken since */
		t->epoch = s->numbered[t->number].epoch;
	if (t->what != MF_SPACE_MAKE && t->what != MF_SPACE_JOIN) {
		t->space = vm_slow_space(s, t->number, t->epoch);
		/* Who is told that it is done would keep to a space that soon ends. */
		if (t->space == NULL || (vm_slow_is_over(s, t->space) && !t->own)) {
			t->space = NULL;
			return vm_slow_done(t, MF_ERR_KEY, 0);
		}
		t->space->begun++;
	}
	t->state = VM_TASK_BEGUN;
	return VM_MORE;
}

static enum vm_progress slice(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	enum vm_progress begun = t->state == VM_TASK_ASKED ? begin(s, t, steps) : VM_MORE;

	if (begun != VM_MORE)
		return begun;
	switch (t->what) {
	case MF_SPACE_MAKE:
		return vm_slow_make(s, t);
	case MF_SPACE_END:
		return vm_slow_end(s, t, steps);
	case MF_SPACE_JOIN:
		return vm_slow_join(s, t);
	case MF_SPACE_GRANT:
		return vm_slow_grant(s, t);
	case MF_SPACE_ALLOCATE:
		return vm_slow_allocate(s, t, steps);
	case MF_SPACE_FREE:
		return vm_slow_free(s, t, steps);
	case MF_SPACE_PROTECT:
		return vm_slow_protect(s, t, steps);
	default: /* MF_SPACE_FENCE: it has waited */
		return vm_slow_done(t, MF_OK, 0);
	}
}

static void count(struct mf_vm_slow *s, const struct vm_task *t)
{
	uint64_t *counter = t->status == MF_OK          ? s->stats.tasks
			    : t->status == MF_ERR_KEY   ? s->stats.refused
			    : t->status == MF_ERR_RANGE ? s->stats.wrong
							: s->stats.failed;

	counter[t->what]++;
}

/** There is room in the queue. */
static void answer(struct mf_vm_slow *s, const struct vm_task *t)
{
	struct mf_vm_item item = {.kind = MF_VM_ANSWER, .value = t->status, .node = t->node};

	item.task.ticket = t->ticket;
	item.task.arg[0] = t->result;
	if (t->space != NULL) {
		item.task.space = t->number;
		item.task.epoch = t->epoch;
		item.task.arg[1] = t->space->ranges.ranges;
	}
	if (t->own) {
		s->ending = false;
	} else {
		vm_slow_send(s, &item);
		count(s, t);
	}
	if (t->space != NULL)
		t->space->begun--;
	if (is_of_range(t->what))
		s->numbered[t->number].changes_done++;
}

/** The next one's turn. The one that had it is free, or comes last. */
static void pass_turn(struct mf_vm_slow *s, bool done)
{
	uint32_t *now = place_of(s, 0), *last = place_of(s, s->tasks), task = *now;

	if (done) {
		s->tasks--;
	} else {
		*now = *last;
		*last = task;
	}
	s->first = s->first + 1 < s->places ? s->first + 1 : 0;
}

/** An answer follows what a slice has sent. So two places are needed; no slice asks for more than one. */
static bool can_turn(const struct mf_vm_slow *s)
{
	return s->waiting < s->tasks && mf_vm_queue_left(s->out) >= 2;
}

/** The task whose turn it is goes on. */
static enum vm_progress turn(struct mf_vm_slow *s, uint64_t *steps)
{
	uint64_t most = *steps < VM_SLOW_SLICE ? *steps : VM_SLOW_SLICE, left = most;
	struct vm_task *t = task_at(s, 0);
	enum vm_progress progress;

	progress = slice(s, t, &left);
	*steps -= left < most ? most - left : 1;
	if (progress == VM_DONE)
		answer(s, t);
	pass_turn(s, progress == VM_DONE);
	return progress;
}

bool mf_vm_slow_work(struct mf_vm_slow *s, uint64_t steps, uint64_t octets)
{
	bool any = work_on_pages(s, octets);
	uint64_t most = steps;

	s->run = steps;
	any |= vm_slow_leases(s);

	while (steps > 0 && can_turn(s)) {
		enum vm_progress progress = turn(s, &steps);

		s->waiting = progress == VM_WAITS ? s->waiting + 1 : 0;
		any |= progress != VM_WAITS;
	}
	s->stats.steps += most - steps;
	return any || can_turn(s);
}

/* ---- what the fast path says ---- */

static void take_task(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	struct vm_task *t;

	if (s->tasks - s->ending == s->config.tasks || item->value >= MF_SPACE_TASKS ||
	    item->task.space >= MF_SPACES) {
		s->stats.strange++;
		return;
	}
	vm_slow_lives(s, item->node, item->task.life);
	t = vm_slow_new_task(s);
	*t = (struct vm_task){.what = item->value,
			      .node = item->node,
			      .number = item->task.space,
			      .epoch = item->task.epoch,
			      .ticket = item->task.ticket,
			      .arg = {item->task.arg[0], item->task.arg[1]},
			      .order = s->order++};
	if (is_of_range(t->what))
		t->changes_before = s->numbered[t->number].changes_asked++;
}

static void take_back(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	struct mf_page_pool *pool = s->pages[item->page_class % MF_PAGE_CLASSES].pool;

	for (unsigned int i = 0; i < item->pages && i < MF_VM_ITEM_PAGES; i++)
		s->stats.strange += pool == NULL || mf_page_pool_give(pool, item->run.page[i]) != 0;
}

/** The entries are gone, so their slots are free. */
static void take_removed(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	for (unsigned int i = 0; i < item->length && !MF_SEEDED_BUG(slot_leaked); i++)
		mf_bucket_use_let_go(s->use, item->run.tag + i);
	s->entries[mf_space_maker(mf_remote_tag_space(item->run.tag))] -= item->length;
	s->task[item->run.serial].done += item->length;
	s->removes--;
	take_back(s, item);
}

bool mf_vm_slow_may_take(const struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	const struct vm_task *t;

	switch (item->kind) {
	case MF_VM_TASK:
		return item->value < MF_SPACE_TASKS && item->task.space < MF_SPACES &&
		       item->node < MF_PORTS_MAX;
	case MF_VM_REMOVED:
		if (item->run.serial >= s->places || item->length > MF_VM_ITEM_PAGES || s->removes == 0)
			return false;
		t = &s->task[item->run.serial]; /* its runs come back in their order */
		return t->done + item->length <= t->sent &&
		       item->run.tag == mf_remote_tag(t->number, t->at, t->shift) + t->done;
	case MF_VM_LEASED:
		return item->task.space < MF_SPACES && s->leases > 0;
	case MF_VM_FORGET:
		return item->node < MF_PORTS_MAX;
	case MF_VM_PAGE_BACK:
		return item->page_class < MF_PAGE_CLASSES;
	case MF_VM_TAKEN:
		return item->page_class < MF_PAGE_CLASSES &&
		       item->run.serial <= s->config.ring - s->pages[item->page_class].credit;
	default:
		return false;
	}
}

void mf_vm_slow_take(struct mf_vm_slow *s, const struct mf_vm_item *item)
{
	s->waiting = 0;
	s->stats.steps++;
	switch (item->kind) {
	case MF_VM_TASK:
		take_task(s, item);
		break;
	case MF_VM_REMOVED:
		take_removed(s, item);
		break;
	case MF_VM_PAGE_BACK:
		take_back(s, item);
		break;
	case MF_VM_LEASED:
		vm_slow_leased(s, item);
		break;
	case MF_VM_FORGET:
		vm_slow_forget(s, item);
		break;
	case MF_VM_TAKEN:
		s->pages[item->page_class % MF_PAGE_CLASSES].credit += item->run.serial;
		s->pages[item->page_class % MF_PAGE_CLASSES].heard++;
		break;
	default:
		s->stats.strange++;
		break;
	}
}
