/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fast path says to the slow path, and does for it. */
#include <string.h>

#include "base/mf_seeded_bug.h"
#include "memory/vm.h"

/* ---- to the slow path: there is a place for each (mf_vm_item.h) ---- */

static void send(struct mf_vm *v, struct mf_vm_item item)
{
	item.at = v->now;
	v->stats.strange += !mf_vm_queue_put(v->out, &item);
}

void vm_tell_taken(struct mf_vm *v, unsigned int page_class)
{
	struct vm_ready *r = &v->ready[page_class];
	struct mf_vm_item item = {.kind = MF_VM_TAKEN, .page_class = (uint8_t)page_class};

	item.run.serial = r->taken;
	if (r->telling || r->taken == 0)
		return;
	r->telling = true;
	r->serial++;
	r->taken = 0;
	send(v, item);
}

void vm_give_back(struct mf_vm *v, uint32_t page, unsigned int page_class)
{
	const struct mf_vm_item item = {
		.kind = MF_VM_PAGE_BACK, .page_class = (uint8_t)page_class, .pages = 1, .run.page = {page}};

	v->stats.late++;
	if (!MF_SEEDED_BUG(late_page_leaked))
		send(v, item);
}

/* ---- tasks ---- */

/** The right that a key has to be of; MF_SPACE_RIGHTS: none is needed. */
static uint8_t right_for(const struct mf_vm_request *r)
{
	static const uint8_t right[MF_SPACE_ASKS] = {
		[MF_SPACE_MAKE] = MF_SPACE_RIGHTS,    [MF_SPACE_END] = MF_SPACE_OWN,
		[MF_SPACE_JOIN] = MF_SPACE_RIGHTS,    [MF_SPACE_GRANT] = MF_SPACE_OWN,
		[MF_SPACE_ALLOCATE] = MF_RIGHT_WRITE, [MF_SPACE_FREE] = MF_RIGHT_WRITE,
		[MF_SPACE_PROTECT] = MF_RIGHT_WRITE,  [MF_SPACE_FENCE] = MF_RIGHT_READ,
		[MF_SPACE_LIFE] = MF_RIGHT_READ,      [MF_SPACE_USAGE] = MF_RIGHT_READ,
	};

	if (r->what == MF_SPACE_RENEW)
		return r->arg[0] < MF_SPACE_RIGHTS ? (uint8_t)r->arg[0] : MF_RIGHT_READ;
	return right[r->what];
}

static uint64_t judge_request(const struct mf_vm *v, const struct mf_vm_request *r)
{
	if (r->what >= MF_SPACE_ASKS || r->space >= MF_SPACES || r->node >= MF_PORTS_MAX)
		return MF_VM_REFUSED_SPACE;
	if (right_for(r) == MF_SPACE_RIGHTS)
		return MF_VM_REFUSED_NOT; /* the slow path knows who may */
	return vm_judge_key(v, r->space, r->node, right_for(r), r->key);
}

/** The entry of a slot; NULL: the node has no such slot. */
static struct vm_asked *slot_of(const struct mf_vm *v, const struct mf_vm_request *r)
{
	if (r->node >= MF_PORTS_MAX || r->slot >= v->config.node_tasks)
		return NULL;
	return &v->asked[(uint32_t)r->node * v->config.node_tasks + r->slot];
}

/** Whether a request is of the task that a slot has. */
static bool is_of(const struct vm_asked *e, const struct mf_vm_request *r)
{
	if (MF_SEEDED_BUG(stale_answer) && e->state == VM_ASKED_DONE)
		return e->number / 2 == r->number / 2;
	return (e->state == VM_ASKED_UNDER_WAY || e->state == VM_ASKED_DONE) && e->number == r->number;
}

static bool is_old(const struct vm_asked *e, const struct mf_vm_request *r)
{
	return e->state != VM_ASKED_NONE && e->state != VM_ASKED_FORGOTTEN &&
	       (int32_t)(r->number - e->number) < 0;
}

static void begin_task(struct mf_vm *v, struct vm_asked *e, const struct mf_vm_request *r)
{
	struct mf_vm_item item = {.kind = MF_VM_TASK, .value = r->what, .node = r->node};

	*e = (struct vm_asked){.number = r->number, .state = VM_ASKED_UNDER_WAY};
	item.task.ticket = (uint64_t)r->number << 32 | (uint32_t)(e - v->asked);
	item.task.arg[0] = r->arg[0];
	item.task.arg[1] = r->arg[1];
	item.task.space = r->space;
	item.task.epoch = vm_epoch(v, r->space);
	item.task.life = v->node[r->node].begun;
	v->stats.asked++;
	v->tasks++;
	send(v, item);
}

static uint64_t life_of(const struct mf_vm *v, uint64_t node)
{
	const struct vm_node *n = &v->node[node % MF_PORTS_MAX];

	if (node >= MF_PORTS_MAX || v->config.lease == 0)
		return 0;
	return mf_space_life(n->begun, n->used || n->idle < MF_VM_SWEEPS);
}

/** What the fast path knows by itself. */
static uint8_t ask_fast(struct mf_vm *v, const struct mf_vm_request *r, uint64_t *result)
{
	uint64_t reason = judge_request(v, r);

	v->stats.ask_refused[reason]++;
	if (reason != MF_VM_REFUSED_NOT)
		return MF_ERR_KEY;
	if (r->what == MF_SPACE_USAGE && r->arg[0] >= MF_USAGES)
		return MF_ERR_RANGE;
	vm_use(v, r->space, r->node);
	v->stats.renewed += r->what == MF_SPACE_RENEW;
	if (r->what == MF_SPACE_LIFE)
		*result = life_of(v, r->arg[0]);
	else if (r->what == MF_SPACE_USAGE)
		*result = r->arg[0] == MF_USAGE_RANGES ? v->space[r->space].ranges
						       : v->space[r->space].used[r->arg[0]];
	return MF_OK;
}

uint8_t mf_vm_ask(struct mf_vm *v, const struct mf_vm_request *r, uint64_t *result)
{
	struct vm_asked *e = slot_of(v, r);
	uint64_t reason;

	*result = 0;
	vm_date(v, r->at);
	if (r->what >= MF_SPACE_TASKS && r->what < MF_SPACE_ASKS)
		return ask_fast(v, r, result);
	if (e != NULL && is_of(e, r)) {
		if (e->state == VM_ASKED_UNDER_WAY)
			return MF_ERR_PENDING;
		*result = e->result;
		return e->status;
	}
	reason = e == NULL || is_old(e, r) ? MF_VM_REFUSED_KEY : judge_request(v, r);
	v->stats.ask_refused[reason]++;
	if (reason != MF_VM_REFUSED_NOT)
		return MF_ERR_KEY;
	if (v->tasks == v->config.tasks || e->state == VM_ASKED_UNDER_WAY || e->state == VM_ASKED_FORGOTTEN) {
		v->stats.ask_full++;
		return MF_ERR_BUSY;
	}
	if (r->what != MF_SPACE_MAKE && r->what != MF_SPACE_JOIN)
		vm_use(v, r->space, r->node);
	begin_task(v, e, r);
	return MF_ERR_PENDING;
}

/** Tells the slow path that a node has begun anew, unless it is being told. */
static void tell_begun(struct mf_vm *v, uint16_t node)
{
	struct vm_node *n = &v->node[node];
	struct mf_vm_item item = {.kind = MF_VM_FORGET, .node = node};

	if (n->telling || n->told == n->begun)
		return;
	n->telling = true;
	n->told = n->begun;
	item.task.life = n->begun;
	send(v, item);
}

void mf_vm_forget_node(struct mf_vm *v, uint16_t node)
{
	if (node < MF_PORTS_MAX) {
		v->node[node].begun++;
		tell_begun(v, node);
	}
	for (uint32_t i = 0; node < MF_PORTS_MAX && i < v->config.node_tasks; i++) {
		struct vm_asked *e = &v->asked[(uint32_t)node * v->config.node_tasks + i];

		if (e->state == VM_ASKED_UNDER_WAY)
			e->state = VM_ASKED_FORGOTTEN;
		else if (e->state == VM_ASKED_DONE)
			e->state = VM_ASKED_NONE;
	}
}

/* ---- from the slow path ---- */

static void take_pages(struct mf_vm *v, const struct mf_vm_item *item)
{
	struct vm_ready *r = &v->ready[item->page_class];

	for (unsigned int i = 0; i < item->pages; i++) {
		unsigned int which = MF_SEEDED_BUG(page_twice_in_ring) && i > 0 ? i - 1 : i;

		if (v->zeroes)
			memset(v->octets + mf_vm_layout_at(&v->layout, item->page_class, item->run.page[i]),
			       0, UINT64_C(1) << v->layout.of[item->page_class].shift);
		v->stats.strange += !mf_page_ring_put(r->ring, item->run.page[which]);
	}
	r->telling = r->telling && item->run.serial != r->serial;
	vm_tell_taken(v, item->page_class);
}

static void add(struct mf_vm *v, const struct mf_vm_item *item)
{
	for (unsigned int i = 0; i < item->length; i++) {
		uint64_t tag = item->run.tag + i;

		if (mf_page_table_add(v->table, tag, item->value) == 0)
			vm_used(v, tag, MF_USAGE_ENTRIES, true);
		else
			v->stats.strange++;
	}
}

static void protect(struct mf_vm *v, const struct mf_vm_item *item)
{
	for (unsigned int i = 0; i < item->length; i++) {
		uint64_t tag = item->run.tag + i;

		v->stats.strange += mf_page_table_protect(v->table, tag, item->value) != 0;
		mf_tlb_protect(v->tlb, tag, item->value);
	}
}

/** Entry, then TLB, then the page: it goes back when nothing finds it any more. */
static void remove_run(struct mf_vm *v, const struct mf_vm_item *item)
{
	struct mf_vm_item back = *item;
	struct mf_mapping was;

	back.kind = MF_VM_REMOVED;
	back.pages = 0;
	for (unsigned int i = 0; i < item->length && i < MF_VM_ITEM_PAGES; i++) {
		uint64_t tag = item->run.tag + i;

		if (mf_page_table_remove(v->table, tag, &was) != 0) {
			v->stats.strange++;
			continue;
		}
		if (!MF_SEEDED_BUG(tlb_not_cleared))
			(void)mf_tlb_remove(v->tlb, tag);
		vm_used(v, tag, MF_USAGE_ENTRIES, false);
		if (was.present)
			vm_used(v, tag, MF_USAGE_PAGES, false);
		if (was.present && mf_pins_unmap(v->pins, was.page))
			back.run.page[back.pages++] = was.page;
	}
	send(v, back);
}

static void answer(struct mf_vm *v, const struct mf_vm_item *item)
{
	uint64_t slot = (uint32_t)item->task.ticket, slots = (uint64_t)MF_PORTS_MAX * v->config.node_tasks;
	struct vm_asked *e = slot < slots ? &v->asked[slot] : NULL;

	if (e == NULL || e->number != item->task.ticket >> 32 ||
	    (e->state != VM_ASKED_UNDER_WAY && e->state != VM_ASKED_FORGOTTEN)) {
		v->stats.strange++;
		return;
	}
	if (item->task.epoch != 0)
		v->space[item->task.space].ranges = (uint32_t)item->task.arg[1];
	v->tasks--;
	e->state = e->state == VM_ASKED_FORGOTTEN ? VM_ASKED_NONE : VM_ASKED_DONE;
	e->status = item->value;
	e->result = item->task.arg[0];
}

/** Says whether a space was used, and looks anew from now on. */
static void tell_used(struct mf_vm *v, const struct mf_vm_item *item)
{
	struct mf_vm_item used = {.kind = MF_VM_LEASED, .value = v->space[item->task.space].epoch >> 31};

	used.task.space = item->task.space;
	v->space[item->task.space].epoch &= ~VM_USED;
	send(v, used);
}

static void sweep_nodes(struct mf_vm *v)
{
	for (unsigned int i = 0; i < MF_PORTS_MAX; i++) {
		struct vm_node *n = &v->node[i];

		n->idle = n->used ? 0 : n->idle < UINT8_MAX ? (uint8_t)(n->idle + 1) : n->idle;
		n->used = false;
	}
}

static bool is_class(const struct mf_vm_layout *l, const struct mf_vm_item *item)
{
	return item->page_class < MF_PAGE_CLASSES && l->of[item->page_class].pages > 0;
}

static bool are_pages(const struct mf_vm_layout *l, const struct mf_vm_item *item)
{
	for (unsigned int i = 0; i < item->pages; i++)
		if (item->run.page[i] - l->of[item->page_class].first >= l->of[item->page_class].pages)
			return false;
	return true;
}

bool mf_vm_may_take(const struct mf_vm *v, const struct mf_vm_item *item)
{
	switch (item->kind) {
	case MF_VM_PAGES:
		return is_class(&v->layout, item) && item->pages <= MF_VM_ITEM_PAGES &&
		       are_pages(&v->layout, item);
	case MF_VM_SUPPLY:
		return is_class(&v->layout, item);
	case MF_VM_ADD:
	case MF_VM_PROTECT:
		return item->length <= MF_VM_RUN_MAX && item->value < MF_PAGE_RIGHTS;
	case MF_VM_REMOVE:
		return item->length <= MF_VM_ITEM_PAGES;
	case MF_VM_SPACE:
		return item->task.space < MF_SPACES && item->task.epoch <= MF_SPACE_EPOCH_MAX;
	case MF_VM_LEASE:
		return item->task.space < MF_SPACES;
	case MF_VM_FORGOTTEN:
		return item->node < MF_PORTS_MAX && v->node[item->node].telling;
	case MF_VM_ANSWER:
		return item->task.space < MF_SPACES;
	case MF_VM_SWEEP:
		return true;
	default:
		return false;
	}
}

void mf_vm_take(struct mf_vm *v, const struct mf_vm_item *item)
{
	vm_date(v, item->at);
	switch (item->kind) {
	case MF_VM_PAGES:
		take_pages(v, item);
		break;
	case MF_VM_SUPPLY:
		v->ready[item->page_class].supply = item->value != 0;
		break;
	case MF_VM_ADD:
		add(v, item);
		break;
	case MF_VM_PROTECT:
		protect(v, item);
		break;
	case MF_VM_REMOVE:
		remove_run(v, item);
		break;
	case MF_VM_SPACE:
		if (vm_epoch(v, item->task.space) == 0) /* it is new, whatever had its number */
			v->space[item->task.space] = (struct vm_space_state){.epoch = 0};
		v->space[item->task.space].epoch = item->task.epoch;
		break;
	case MF_VM_LEASE:
		tell_used(v, item);
		break;
	case MF_VM_SWEEP:
		sweep_nodes(v);
		break;
	case MF_VM_FORGOTTEN:
		v->node[item->node].telling = false;
		tell_begun(v, item->node);
		break;
	case MF_VM_ANSWER:
		answer(v, item);
		break;
	default:
		v->stats.strange++;
		break;
	}
}
