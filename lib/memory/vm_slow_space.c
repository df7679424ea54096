/* SPDX-License-Identifier: BSD-3-Clause */
/* Spaces of the slow path: who makes and ends them, and who is a member. */
#include "memory/vm_slow.h"

static void announce(struct mf_vm_slow *s, uint32_t number, uint32_t epoch)
{
	struct mf_vm_item item = {.kind = MF_VM_SPACE};

	item.task.space = number;
	item.task.epoch = epoch;
	vm_slow_send(s, &item);
}

static uint64_t key_of(const struct mf_vm_slow *s, uint32_t number, uint16_t node, uint8_t right)
{
	return mf_space_key(s->config.secrets.key,
			    mf_space_what(number, s->numbered[number].epoch, node, right));
}

static struct vm_space *by_number(const struct mf_vm_slow *s, uint32_t number)
{
	uint32_t record = s->numbered[number].record;

	return record != 0 && !s->space[record - 1].ending ? &s->space[record - 1] : NULL;
}

struct vm_space *vm_slow_space(const struct mf_vm_slow *s, uint32_t number, uint32_t epoch)
{
	return s->numbered[number].epoch == epoch ? by_number(s, number) : NULL;
}

/** A space of who asks, with a number that no space has, also none that ends. */
enum vm_progress vm_slow_make(struct mf_vm_slow *s, struct vm_task *t)
{
	struct vm_numbered *n = &s->numbered[t->number];
	struct vm_space *made;

	if (mf_space_maker(t->number) != t->node || n->record != 0)
		return vm_slow_done(t, MF_ERR_KEY, 0);
	if (s->free_space == s->config.spaces || n->epoch == MF_SPACE_EPOCH_MAX)
		return vm_slow_done(t, MF_ERR_RESOURCE, 0);
	n->record = s->free_space + 1;
	n->epoch++;
	made = &s->space[s->free_space];
	s->free_space = made->next_free;
	s->spaces++;
	*made = (struct vm_space){.number = t->number, .life = s->life[t->node]};
	if (s->records < n->record)
		s->records = n->record;
	mf_region_nodes_set(&made->readers, t->node, true);
	mf_region_nodes_set(&made->writers, t->node, true);
	announce(s, t->number, n->epoch);
	return vm_slow_done(t, MF_OK, key_of(s, t->number, t->node, MF_SPACE_OWN));
}

static bool may(const struct vm_space *sp, uint16_t node, uint64_t right)
{
	if (right == MF_SPACE_OWN)
		return mf_space_maker(sp->number) == node;
	return mf_region_nodes_has(right == MF_RIGHT_READ ? &sp->readers : &sp->writers, node);
}

/** One that is about to end is joined no more: its maker, who asks what is left, would keep to it. */
enum vm_progress vm_slow_join(struct mf_vm_slow *s, struct vm_task *t)
{
	const struct vm_space *sp = by_number(s, t->number);

	if (sp == NULL || vm_slow_is_over(s, sp))
		return vm_slow_done(t, MF_ERR_KEY, 0);
	if (t->arg[0] >= MF_SPACE_RIGHTS || !may(sp, t->node, t->arg[0]))
		return vm_slow_done(t, MF_ERR_KEY, 0);
	return vm_slow_done(t, MF_OK, key_of(s, t->number, t->node, (uint8_t)t->arg[0]));
}

/**
 * A right that is taken ends the epoch: there is no list of keys from which one could be taken. The others
 * get new keys when they ask for them.
 */
enum vm_progress vm_slow_grant(struct mf_vm_slow *s, struct vm_task *t)
{
	struct vm_numbered *n = &s->numbered[t->number];
	struct vm_space *sp = t->space;
	uint16_t node = (uint16_t)t->arg[0];
	bool read = t->arg[1] >= MF_PAGE_READ, write = t->arg[1] >= MF_PAGE_WRITE, takes;

	if (t->arg[0] >= MF_PORTS_MAX || t->arg[1] >= MF_PAGE_RIGHTS ||
	    (node == mf_space_maker(t->number) && !write))
		return vm_slow_done(t, MF_ERR_RANGE, 0);
	takes = (may(sp, node, MF_RIGHT_READ) && !read) || (may(sp, node, MF_RIGHT_WRITE) && !write);
	if (takes && n->epoch == MF_SPACE_EPOCH_MAX)
		return vm_slow_done(t, MF_ERR_RESOURCE, 0);
	mf_region_nodes_set(&sp->readers, node, read);
	mf_region_nodes_set(&sp->writers, node, write);
	if (takes) {
		n->epoch++;
		s->stats.epochs++;
		announce(s, t->number, n->epoch);
	}
	return vm_slow_done(t, MF_OK, key_of(s, t->number, t->node, MF_SPACE_OWN));
}

/** The next range of a space that ends. @return false: there is none */
static bool next_range(struct mf_vm_slow *s, struct vm_task *t)
{
	struct mf_range r;

	if (!mf_ranges_next(s->ranges, &t->space->ranges, 0, &r))
		return false;
	t->at = r.at;
	t->shift = s->layout.of[mf_remote_class(r.at)].shift;
	t->pages = (r.end - r.at) >> t->shift;
	t->sent = t->done = 0;
	/* It is one range as a whole, and no other task has it: this cannot fail. */
	(void)mf_ranges_change(s->ranges, &t->space->ranges, r.at, r.end - r.at, MF_RANGE_LIVE,
			       (struct mf_range_kind){MF_RANGE_GOING, MF_PAGE_NONE});
	return true;
}

/** First nothing opens it any more; then what was begun ends; then all that it has goes. */
enum vm_progress vm_slow_end(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps)
{
	struct vm_space *sp = t->space;

	if (t->state == VM_TASK_BEGUN && !sp->ending) {
		sp->ending = true;
		announce(s, t->number, 0);
		return VM_MORE;
	}
	if (sp->begun > 1)
		return VM_WAITS;
	if (t->state == VM_TASK_SENDING) {
		enum vm_progress progress = vm_slow_remove(s, t, steps);

		if (progress != VM_DONE)
			return progress;
		t->state = VM_TASK_BEGUN;
	}
	if (next_range(s, t)) {
		t->state = VM_TASK_SENDING;
		return VM_MORE;
	}
	s->numbered[t->number].record = 0;
	sp->next_free = s->free_space;
	s->free_space = (uint32_t)(sp - s->space);
	s->spaces--;
	t->space = NULL;
	return vm_slow_done(t, MF_OK, 0);
}
