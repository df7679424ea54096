/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An access: first all is looked up and judged, and nothing changes; then it is done. So what is refused or
 * only asked leaves no trace, and a second page is judged before the first one faults.
 */
#include <string.h>

#include "base/mf_cycles.h"
#include "base/mf_rng.h"
#include "base/mf_seeded_bug.h"
#include "memory/vm.h"

#define RMW_OCTETS sizeof(uint64_t)

enum look_state { LOOK_HIT, LOOK_PRESENT, LOOK_ABSENT };

/** What is known of a page of an access. */
struct look {
	uint64_t tag;
	uint64_t slot; /**< ABSENT: of the page table */
	uint32_t place; /**< HIT: in the TLB */
	struct mf_tlb_page page;
	uint8_t state; /**< enum look_state */
};

/** An access that is judged. */
struct judged {
	uint64_t reason; /**< enum mf_vm_refusal */
	unsigned int page_class;
	uint8_t shift;
	uint64_t pages; /**< that it touches */
	uint64_t misses, absent; /**< of these */
	struct look look[2]; /**< the first two */
};

/** Keeps the page of an access. The next one is some accesses later, so that no stride is seen alone. */
static __attribute__((noinline)) void sample(struct mf_vm *v, uint64_t tag)
{
	v->sampled[v->samples++ % MF_VM_SAMPLES] = tag;
	v->sample_at += 1 + (mf_hash64(v->samples) & (2 * MF_VM_SAMPLE_EVERY - 1));
}

/** An access has passed. */
static inline void note(struct mf_vm *v, uint64_t tag)
{
	if (__builtin_expect(++v->stats.refused[MF_VM_REFUSED_NOT] > v->sample_at, 0))
		sample(v, tag);
}

/** yes where which is 1, no where it is 0. */
static inline uint64_t choose(uint64_t which, uint64_t yes, uint64_t no)
{
	return no ^ ((yes ^ no) & -which);
}

/** What the key for something has to be: computed once, as long as nothing else takes its place. */
static inline uint64_t key_for(const struct mf_vm *v, uint64_t what)
{
	struct vm_known *k = &v->known[what * (v->config.secrets.tlb | 1) >> (64 - VM_KNOWN_BITS)];

	if (k->what != what)
		*k = (struct vm_known){.what = what, .key = mf_space_key(v->config.secrets.key, what)};
	return k->key;
}

uint64_t vm_judge_key(const struct mf_vm *v, uint32_t space, uint16_t node, uint8_t right, uint64_t key)
{
	uint32_t epoch = vm_epoch(v, space % MF_SPACES);
	bool known = space < MF_SPACES && node < MF_PORTS_MAX && right < MF_SPACE_RIGHTS;
	uint64_t what = mf_space_what(space % MF_SPACES, epoch, node % MF_PORTS_MAX, right % MF_SPACE_RIGHTS);
	uint64_t opens = mf_space_opens(epoch, key_for(v, what), key);
	uint64_t no = epoch == 0 ? MF_VM_REFUSED_SPACE : MF_VM_REFUSED_KEY;

	return choose(opens & known, MF_VM_REFUSED_NOT, no);
}

/**
 * Looks a page up.
 * @param missed  the TLB has not got it
 * @return enum mf_vm_refusal
 */
static inline uint64_t look_up(const struct mf_vm *v, uint64_t tag, uint8_t right, bool missed,
			       struct look *out)
{
	struct mf_mapping m;

	*out = (struct look){.tag = tag, .state = LOOK_HIT};
	if (missed || !mf_tlb_look(v->tlb, tag, &out->page, &out->place)) {
		if (!mf_page_table_find(v->table, tag, &m))
			return MF_VM_REFUSED_PAGE;
		out->page = (struct mf_tlb_page){.page = m.page, .rights = m.rights};
		out->slot = m.slot;
		out->state = m.present ? LOOK_PRESENT : LOOK_ABSENT;
	}
	return mf_page_may(out->page.rights, right) ? MF_VM_REFUSED_NOT : MF_VM_REFUSED_RIGHT;
}

/** Judges the pages, as many as it has, or three: more is as much too many. */
static void judge_pages(const struct mf_vm *v, const struct mf_access *a, bool missed, struct judged *j)
{
	uint64_t tag = mf_remote_tag(a->space % MF_SPACES, a->addr, j->shift);
	uint64_t most = a->dry || j->pages < 3 ? j->pages : 3;
	struct look more;

	for (uint64_t i = 0; i < most && j->reason == MF_VM_REFUSED_NOT; i++) {
		struct look *l = i < 2 ? &j->look[i] : &more;

		j->reason = look_up(v, tag + i, a->right, missed && i == 0, l);
		if (MF_SEEDED_BUG(second_page_unchecked) && i == 1)
			j->reason = MF_VM_REFUSED_NOT;
		j->misses += l->state != LOOK_HIT;
		j->absent += l->state == LOOK_ABSENT;
	}
}

/**
 * Without a change of anything. An access that leaves its class, or the addresses, is in no page.
 * @param key     enum mf_vm_refusal: what the key is
 * @param missed  the TLB has not got its first page
 */
static void judge(const struct mf_vm *v, const struct mf_access *a, uint64_t key, bool missed,
		  struct judged *j)
{
	uint64_t last = a->addr + a->len - 1;

	j->misses = j->absent = 0;
	j->reason = MF_VM_REFUSED_PAGE;
	if (a->len > 0 && a->addr <= MF_ADDR_MAX && last <= MF_ADDR_MAX && a->right < MF_RIGHTS) {
		j->page_class = mf_remote_class(a->addr);
		j->shift = v->layout.of[j->page_class].shift;
		if (j->shift != 0 && mf_remote_class(last) == j->page_class) {
			j->pages = (last >> j->shift) - (a->addr >> j->shift) + 1;
			j->reason = MF_VM_REFUSED_NOT;
			judge_pages(v, a, missed, j);
		}
	}
	j->reason = choose(((key | -key) >> 63) & 1, key, j->reason);
}

static uint8_t *octets_of(const struct mf_vm *v, unsigned int page_class, uint32_t page)
{
	return v->octets + mf_vm_layout_at(&v->layout, page_class, page);
}

/** Whether the maker of a space would have more than it may, with some octets of pages more. */
static bool is_beyond(const struct mf_vm *v, uint32_t space, uint64_t octets)
{
	return v->config.node_octets != 0 &&
	       v->node[mf_space_maker(space)].octets + octets > v->config.node_octets;
}

/** Whether there is all that the access takes: a page of the ring for each that is absent, and pins. */
static uint8_t has_room(struct mf_vm *v, const struct mf_access *a, const struct judged *j)
{
	const struct vm_ready *ready = &v->ready[j->page_class];

	if (j->pages > 2) {
		v->stats.many++;
		return MF_ERR_RESOURCE;
	}
	if (j->absent > ready->ring->pages) {
		*(ready->supply ? &v->stats.dry : &v->stats.full) += 1;
		return MF_ERR_RESOURCE;
	}
	if (j->absent > 0 && is_beyond(v, a->space, j->absent << j->shift)) {
		v->stats.beyond++;
		return MF_ERR_RESOURCE;
	}
	if (a->hold && a->right == MF_RIGHT_READ && v->config.pins - mf_pins_pages(v->pins) < j->pages) {
		v->stats.unpinned++;
		return MF_ERR_RESOURCE;
	}
	return MF_OK;
}

/** The page's first access: it gets a physical page, which is there (4.3). */
static void fault(struct mf_vm *v, struct look *l, unsigned int page_class)
{
	struct vm_ready *ready = &v->ready[page_class];

	(void)mf_page_ring_take(ready->ring, &l->page.page);
	ready->taken++;
	mf_page_table_map(v->table, l->slot, l->page.page);
	vm_used(v, l->tag, MF_USAGE_PAGES, true);
	v->space[mf_remote_tag_space(l->tag)].faults++;
	v->stats.faults++;
	vm_tell_taken(v, page_class);
}

/** The pages are there and in the TLB, the last one used last. */
static void make_present(struct mf_vm *v, struct judged *j)
{
	for (unsigned int i = 0; i < j->pages; i++) {
		struct look *l = &j->look[i];

		if (l->state == LOOK_ABSENT)
			fault(v, l, j->page_class);
		/* A hit is used, or put in again where the other page of the access has taken its place. */
		if (l->state != LOOK_HIT || !mf_tlb_use(v->tlb, l->tag, l->place))
			mf_tlb_add(v->tlb, l->tag, l->page);
	}
	v->space[mf_remote_tag_space(j->look[0].tag)].hits += j->pages - j->misses;
	v->stats.hits += j->pages - j->misses;
	v->stats.misses += j->misses;
}

static struct mf_places places_of(const struct mf_vm *v, const struct mf_access *a, const struct judged *j)
{
	uint64_t size = UINT64_C(1) << j->shift, in = a->addr & (size - 1);
	struct mf_places p = {.at = {octets_of(v, j->page_class, j->look[0].page.page) + in},
			      .len = {a->len}};

	if (j->pages > 1) {
		p.at[1] = octets_of(v, j->page_class, j->look[1].page.page);
		p.len[0] = (uint32_t)(size - in);
		p.len[1] = a->len - p.len[0];
	}
	return p;
}

/** The octets of a place are the memory's own: only who reads them may not write them. */
static void put(const struct mf_places *p, const void *from)
{
	memcpy((uint8_t *)(uintptr_t)p->at[0], from, p->len[0]);
	if (p->len[1] != 0)
		memcpy((uint8_t *)(uintptr_t)p->at[1], (const uint8_t *)from + p->len[0], p->len[1]);
}

/** It reads, and then writes what comes of it (EDM 3.2.1). A word is within a page. */
static void modify(const struct mf_access *a, const struct mf_places *p, struct mf_answer *out)
{
	uint64_t word, arg[2];

	memcpy(arg, a->data, sizeof(arg));
	memcpy(&out->old, p->at[0], RMW_OCTETS);
	word = mf_memory_modified(a->op, out->old, arg);
	memcpy((uint8_t *)(uintptr_t)p->at[0], &word, RMW_OCTETS);
}

static void count(const struct mf_vm *v, const struct mf_access *a)
{
	if (v->config.use == NULL)
		return;
	if (a->right != MF_RIGHT_WRITE)
		mf_memory_count(&v->config.use->read, a->len);
	if (a->right != MF_RIGHT_READ)
		mf_memory_count(&v->config.use->written, a->len);
}

static void execute(struct mf_vm *v, const struct mf_access *a, const struct judged *j, struct mf_answer *out)
{
	struct mf_places p = places_of(v, a, j);

	count(v, a);
	if (a->right == MF_RIGHT_WRITE) {
		put(&p, a->data);
	} else if (a->right == MF_RIGHT_RMW) {
		modify(a, &p, out);
	} else {
		out->places = p;
		if (!a->hold)
			return;
		v->held++;
		for (unsigned int i = 0; i < j->pages; i++) /* has_room() */
			(void)mf_pins_hold(v->pins, j->look[i].page.page);
	}
}

/** A miss is one access to memory more (4.2); a page of the ring takes some steps (4.3). */
static void tell_time(const struct mf_vm *v, const struct mf_access *a, const struct judged *j,
		      struct mf_answer *out)
{
	unsigned int accesses = a->right == MF_RIGHT_WRITE ? 0 : a->right == MF_RIGHT_READ ? 1 : 2;

	out->time = (mf_time)(accesses + j->misses) * v->config.dram + (mf_time)j->absent * v->config.fault;
	out->second = a->right == MF_RIGHT_RMW ? v->config.dram : 0;
}

/**
 * The octets of a read or a write within a page that is in the TLB.
 * @param missed  set where the page is not
 * @return NULL: it is none
 */
static inline uint8_t *octets_of_hit(const struct mf_vm *v, const struct mf_access *a, struct look *l,
				     bool *missed)
{
	unsigned int page_class = mf_remote_class(a->addr & MF_ADDR_MAX);
	uint8_t shift = v->layout.of[page_class].shift;
	uint64_t size = UINT64_C(1) << shift, in = a->addr & (size - 1);

	/* A length of 0 is the largest one here, and a class that there is not has pages of one octet. */
	if (a->addr > MF_ADDR_MAX || a->len - UINT64_C(1) >= size - in || shift == 0 || a->dry || a->hold ||
	    a->right > MF_RIGHT_WRITE)
		return NULL;
	l->tag = mf_remote_tag(a->space % MF_SPACES, a->addr, shift);
	*missed = !mf_tlb_look(v->tlb, l->tag, &l->page, &l->place);
	if (*missed)
		return NULL;
	return octets_of(v, page_class, l->page.page) + in;
}

/**
 * What most accesses are: judged and done at once. What is refused has not changed anything.
 * @param key     enum mf_vm_refusal: what the key is
 * @param missed  set where the TLB has not got its page
 * @return false: the access is something else, or refused
 */
static inline bool access_hit(struct mf_vm *v, const struct mf_access *a, uint64_t key, bool *missed,
			      struct mf_answer *out)
{
	struct look l;
	uint8_t *at = octets_of_hit(v, a, &l, missed);

	if (at == NULL || key != MF_VM_REFUSED_NOT || !mf_page_may(l.page.rights, a->right))
		return false;
	vm_use(v, a->space, a->node);
	(void)mf_tlb_use(v->tlb, l.tag, l.place);
	note(v, l.tag);
	v->stats.hits++;
	v->space[a->space].hits++;
	count(v, a);
	out->second = 0;
	if (a->right == MF_RIGHT_WRITE) {
		out->time = 0;
		memcpy(at, a->data, a->len);
	} else {
		out->time = v->config.dram;
		out->places = (struct mf_places){.at = {at}, .len = {a->len}};
	}
	return true;
}

/** Of a space that is not there nothing is kept, or who guesses would take memory. */
static void count_judged(struct mf_vm *v, const struct mf_access *a, const struct judged *j)
{
	if (j->reason == MF_VM_REFUSED_NOT) {
		note(v, j->look[0].tag);
		return;
	}
	v->stats.refused[j->reason]++;
	if (vm_epoch(v, a->space % MF_SPACES) != 0)
		v->space[a->space % MF_SPACES].refused++;
}

static uint8_t vm_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	MF_CYCLES(MF_CYCLES_MEMORY);
	struct mf_vm *v = vm_of(m);
	uint64_t key = vm_judge_key(v, a->space, a->node, a->right, a->key);
	bool missed = false;
	struct judged j;
	uint8_t status;

	vm_date(v, a->at);
	if (access_hit(v, a, key, &missed, out))
		return MF_OK;
	judge(v, a, key, missed, &j);
	if (!a->dry)
		count_judged(v, a, &j);
	if (j.reason != MF_VM_REFUSED_NOT)
		return MF_ERR_KEY;
	if (a->right == MF_RIGHT_RMW && a->op >= MF_RMW_OPS)
		return MF_ERR_OPCODE;
	if (a->right == MF_RIGHT_RMW && (a->addr % RMW_OCTETS != 0 || a->len != RMW_OCTETS))
		return MF_ERR_ALIGN;
	tell_time(v, a, &j, out);
	if (a->dry)
		return MF_OK;
	status = has_room(v, a, &j);
	if (status != MF_OK)
		return status;
	vm_use(v, a->space, a->node);
	make_present(v, &j);
	execute(v, a, &j, out);
	return MF_OK;
}

/** The page that has an octet of the memory. */
static uint32_t page_at(const struct mf_vm *v, const uint8_t *octet, unsigned int *page_class)
{
	uint64_t at = (uint64_t)(octet - v->octets);
	unsigned int c = MF_PAGE_CLASSES - 1;

	while (v->layout.of[c].pages == 0 || at < v->layout.of[c].at)
		c--;
	*page_class = c;
	return v->layout.of[c].first + (uint32_t)((at - v->layout.of[c].at) >> v->layout.of[c].shift);
}

static void vm_let_go(struct mf_memory *m, const struct mf_places *places)
{
	struct mf_vm *v = vm_of(m);

	for (int i = 0; i < 2 && places->len[i] != 0; i++) {
		unsigned int page_class;
		uint32_t page = page_at(v, places->at[i], &page_class);

		if (mf_pins_let_go(v->pins, page))
			vm_give_back(v, page, page_class);
	}
	v->held--;
}

static uint64_t vm_held(const struct mf_memory *m)
{
	return ((const struct mf_vm *)m)->held;
}

/** Without the space it is not known which page that is. */
static void vm_fetch(const struct mf_memory *m, uint64_t addr)
{
	(void)m, (void)addr;
}

static const void *vm_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	(void)m, (void)addr, (void)len;
	return NULL;
}

static uint8_t vm_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	(void)m, (void)addr, (void)len;
	return MF_ERR_RANGE;
}

static uint8_t vm_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	(void)m, (void)addr, (void)len;
	return MF_ERR_RANGE;
}

static void vm_forget(struct mf_memory *m, uint16_t node, mf_time at)
{
	vm_date(vm_of(m), at);
	mf_vm_forget_node(vm_of(m), node);
}

static void vm_destroy(struct mf_memory *m)
{
	mf_vm_free(vm_of(m));
}

const struct mf_memory_ops mf_memory_virtual = {
	.name = "virtual",
	.destroy = vm_destroy,
	.access = vm_access,
	.let_go = vm_let_go,
	.held = vm_held,
	.fetch = vm_fetch,
	.at = vm_at,
	.check = vm_check,
	.zero = vm_zero,
	.ask = vm_ask,
	.call = vm_call,
	.forget = vm_forget,
};
