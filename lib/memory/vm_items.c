/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fast path says to the slow path, and does for it. */
#include "base/mf_seeded_bug.h"
#include "memory/vm.h"

/* ---- to the slow path: there is a place for each (mf_vm_item.h) ---- */

static void send(struct mf_vm *v, const struct mf_vm_item *item)
{
	v->stats.strange += !mf_vm_queue_put(v->out, item);
}

void vm_tell_taken(struct mf_vm *v, unsigned int page_class)
{
	struct vm_ready *r = &v->ready[page_class];
	struct mf_vm_item item = {
		.kind = MF_VM_TAKEN, .page_class = (uint8_t)page_class, .run.serial = r->taken};

	if (r->telling || r->taken == 0)
		return;
	r->telling = true;
	r->serial++;
	r->taken = 0;
	send(v, &item);
}

void vm_give_back(struct mf_vm *v, uint32_t page, unsigned int page_class)
{
	const struct mf_vm_item item = {
		.kind = MF_VM_PAGE_BACK, .page_class = (uint8_t)page_class, .pages = 1, .run.page = {page}};

	v->stats.late++;
	send(v, &item);
}

/* ---- tasks ---- */

/** The right that a key has to be of; MF_SPACE_RIGHTS: none is needed. */
static uint8_t right_for(uint8_t what)
{
	static const uint8_t right[MF_SPACE_TASKS] = {
		[MF_SPACE_MAKE] = MF_SPACE_RIGHTS,    [MF_SPACE_END] = MF_SPACE_OWN,
		[MF_SPACE_JOIN] = MF_SPACE_RIGHTS,    [MF_SPACE_GRANT] = MF_SPACE_OWN,
		[MF_SPACE_ALLOCATE] = MF_RIGHT_WRITE, [MF_SPACE_FREE] = MF_RIGHT_WRITE,
		[MF_SPACE_PROTECT] = MF_RIGHT_WRITE,  [MF_SPACE_FENCE] = MF_RIGHT_READ,
	};

	return right[what];
}

static uint64_t judge_request(const struct mf_vm *v, const struct mf_vm_request *r)
{
	if (r->what >= MF_SPACE_TASKS || r->space >= MF_SPACES || r->node >= MF_PORTS_MAX)
		return MF_VM_REFUSED_SPACE;
	if (right_for(r->what) == MF_SPACE_RIGHTS)
		return MF_VM_REFUSED_NOT; /* the slow path knows who may */
	return vm_judge_key(v, r->space, r->node, right_for(r->what), r->key);
}

uint8_t mf_vm_ask(struct mf_vm *v, const struct mf_vm_request *r, uint64_t *ticket)
{
	uint64_t reason = judge_request(v, r);
	struct mf_vm_item item = {.kind = MF_VM_TASK, .value = r->what, .node = r->node};
	struct vm_ticket *t = &v->ticket[v->free_ticket];

	*ticket = 0;
	v->stats.ask_refused[reason]++;
	if (reason != MF_VM_REFUSED_NOT)
		return MF_ERR_KEY;
	if (v->free_ticket == v->config.tasks ||
	    (v->config.node_tasks != 0 && v->node_tickets[r->node] >= v->config.node_tasks)) {
		v->stats.ask_full++;
		return MF_ERR_RESOURCE;
	}
	*ticket = (uint64_t)++t->use << 32 | v->free_ticket;
	v->free_ticket = (uint32_t)t->result;
	*t = (struct vm_ticket){.use = t->use, .node = r->node, .state = VM_TICKET_ASKED};
	item.task.ticket = *ticket;
	item.task.arg[0] = r->arg[0];
	item.task.arg[1] = r->arg[1];
	item.task.space = r->space;
	item.task.epoch = v->epoch[r->space];
	v->stats.asked++;
	v->stats.tickets++;
	v->node_tickets[r->node]++;
	send(v, &item);
	return MF_OK;
}

/** The ticket of a number; NULL: it is none that is in use. */
static struct vm_ticket *ticket_of(const struct mf_vm *v, uint64_t number)
{
	uint32_t place = (uint32_t)number;
	struct vm_ticket *t = place < v->config.tasks ? &v->ticket[place] : NULL;

	return t != NULL && t->use == number >> 32 && t->state != VM_TICKET_FREE ? t : NULL;
}

static void free_ticket(struct mf_vm *v, struct vm_ticket *t)
{
	v->node_tickets[t->node]--;
	v->stats.tickets--;
	t->state = VM_TICKET_FREE;
	t->result = v->free_ticket;
	v->free_ticket = (uint32_t)(t - v->ticket);
}

void mf_vm_forget_node(struct mf_vm *v, uint16_t node)
{
	for (uint32_t i = 0; i < v->config.tasks; i++) {
		struct vm_ticket *t = &v->ticket[i];

		if (t->node == node && t->state == VM_TICKET_ANSWERED)
			free_ticket(v, t);
		else if (t->node == node && t->state == VM_TICKET_ASKED)
			t->state = VM_TICKET_FORGOTTEN;
	}
}

bool mf_vm_answer(struct mf_vm *v, uint16_t node, uint64_t ticket, uint8_t *status, uint64_t *result)
{
	struct vm_ticket *t = ticket_of(v, ticket);

	*status = MF_ERR_KEY;
	*result = 0;
	if (t == NULL || t->node != node || t->state == VM_TICKET_FORGOTTEN)
		return true;
	if (t->state == VM_TICKET_ASKED)
		return false;
	*status = t->status;
	*result = t->result;
	free_ticket(v, t);
	return true;
}

/* ---- from the slow path ---- */

static void take_pages(struct mf_vm *v, const struct mf_vm_item *item)
{
	struct vm_ready *r = &v->ready[item->page_class];

	for (unsigned int i = 0; i < item->pages; i++) {
		unsigned int which = MF_SEEDED_BUG(page_twice_in_ring) && i > 0 ? i - 1 : i;

		v->stats.strange += !mf_page_ring_put(r->ring, item->run.page[which]);
	}
	r->telling = r->telling && item->run.serial != r->serial;
	vm_tell_taken(v, item->page_class);
}

static void add(struct mf_vm *v, const struct mf_vm_item *item)
{
	for (unsigned int i = 0; i < item->length; i++)
		v->stats.strange += mf_page_table_add(v->table, item->run.tag + i, item->value) != 0;
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
		if (was.present && mf_pins_unmap(v->pins, was.page))
			back.run.page[back.pages++] = was.page;
	}
	send(v, &back);
}

static void answer(struct mf_vm *v, const struct mf_vm_item *item)
{
	struct vm_ticket *t = ticket_of(v, item->task.ticket);

	if (t == NULL || t->state == VM_TICKET_ANSWERED) {
		v->stats.strange++;
		return;
	}
	if (t->state == VM_TICKET_FORGOTTEN) {
		free_ticket(v, t);
		return;
	}
	t->state = VM_TICKET_ANSWERED;
	t->status = item->value;
	t->result = item->task.arg[0];
}

void mf_vm_take(struct mf_vm *v, const struct mf_vm_item *item)
{
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
		v->epoch[item->task.space] = item->task.epoch;
		break;
	case MF_VM_ANSWER:
		answer(v, item);
		break;
	default:
		v->stats.strange++;
		break;
	}
}
