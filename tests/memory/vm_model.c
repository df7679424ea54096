/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "vm_model.h"
#include "vm_rig.h"

#define SPACES 4
#define NODES 4
#define CLASSES 2
#define NUMBERS 2048 /* addresses that are looked at, in pages of a class */
#define WINDOW 4 /* words at each end of a page that are written; the others stay zero */
#define TASKS 6
#define HOLDS 12
#define OLD_KEYS 64
#define PAGE_MAX 8192
#define FEW_RANGES 12
#define FEW_SPACES 2

static const uint16_t node_of[NODES] = {0, 3, 5, 511};
static const unsigned int class_of[CLASSES] = {0, 5}, shift_of[CLASSES] = {12, 13};

struct page {
	bool there, touched; /* a physical page is there for sure */
	bool busy; /* a task is under way that frees or protects it */
	uint8_t least, most, was; /* rights: what they may be, and were before the task */
	uint64_t serial; /* of what was allocated */
	uint64_t word[2 * WINDOW];
};

struct space {
	uint32_t number;
	bool there, ending;
	unsigned int allocating;
	uint8_t may[NODES]; /* enum mf_page_right */
	uint64_t key[NODES][MF_SPACE_RIGHTS]; /* 0: none */
	struct page page[CLASSES][NUMBERS];
};

struct task {
	bool busy, may_fail;
	unsigned int space, node, cls;
	uint64_t first, pages, ticket, order;
	struct mf_vm_request request;
};

struct hold {
	bool busy;
	uint64_t serial[2];
	struct mf_places places;
	uint8_t seen[64];
};

/** The last page that was freed: many accesses try it, as a translation that stayed would be there. */
static struct {
	unsigned int space, cls;
	uint64_t page;
} freed;

static struct mf_rng rng;
static struct vm_rig rig;
static struct space space[SPACES];
static struct task task[TASKS];
static struct hold hold[HOLDS];
static uint64_t old_key[OLD_KEYS], serials, words, orders, refused, restarts, base_seed;
static struct vm_model_seen *seen;
static char wrong[256];

static uint64_t draw(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

__attribute__((format(printf, 2, 3))) static bool expect(bool good, const char *format, ...)
{
	va_list args;

	if (good || wrong[0] != '\0')
		return good;
	va_start(args, format);
	vsnprintf(wrong, sizeof(wrong), format, args);
	va_end(args);
	return false;
}

/** Most pages can be written. */
static uint8_t some_rights(void)
{
	return (uint8_t)(draw(3) == 0 ? draw(MF_PAGE_RIGHTS) : MF_PAGE_WRITE);
}

static void turn(void)
{
	vm_rig_turn(&rig, 1 + (unsigned int)draw(4), 1 + draw(60), draw(2) * draw(2000));
}

/* ---- tasks ---- */

static void forget_keys(struct space *s)
{
	for (unsigned int i = 0; i < NODES * MF_SPACE_RIGHTS; i++) {
		uint64_t *key = &s->key[i / MF_SPACE_RIGHTS][i % MF_SPACE_RIGHTS];

		if (*key != 0)
			old_key[draw(OLD_KEYS)] = *key;
		*key = 0;
	}
}

static void wipe(struct space *s)
{
	struct space left = {.number = s->number, .allocating = s->allocating};

	forget_keys(s);
	*s = left;
}

/** What a range that was freed or protected is now. */
static void settle_range(const struct task *t, bool done)
{
	if (done && t->request.what == MF_SPACE_FREE) {
		freed.space = t->space;
		freed.cls = t->cls;
		freed.page = t->first + draw(t->pages);
	}
	for (uint64_t i = t->first; i < t->first + t->pages; i++) {
		struct page *p = &space[t->space].page[t->cls][i];

		p->busy = false;
		if (!done)
			p->least = p->most = p->was;
		else if (t->request.what == MF_SPACE_FREE)
			*p = (struct page){.there = false};
		else
			p->least = p->most = mf_space_arg_rights(t->request.arg[0]);
	}
}

static void settle_allocation(const struct task *t, uint64_t addr)
{
	struct space *s = &space[t->space];
	uint64_t first = (addr - mf_remote_class_base(class_of[t->cls])) >> shift_of[t->cls];

	if (!expect(mf_remote_class(addr) == class_of[t->cls] && first > 0 && first + t->pages <= NUMBERS,
		    "an allocation at %lx", addr))
		return;
	for (uint64_t i = first; i < first + t->pages; i++) {
		expect(!s->page[t->cls][i].there, "page %lu of space %u twice", i, t->space);
		s->page[t->cls][i] = (struct page){.there = true,
						   .least = mf_space_arg_rights(t->request.arg[0]),
						   .most = mf_space_arg_rights(t->request.arg[0]),
						   .serial = ++serials};
	}
	seen->allocated++;
}

/** Nothing that was asked of the space before is under way. */
static void check_fence(const struct task *t)
{
	for (unsigned int i = 0; i < TASKS; i++)
		expect(!task[i].busy || task[i].space != t->space || task[i].order > t->order ||
			       task[i].request.what == MF_SPACE_FENCE,
		       "a fence before task %u", task[i].request.what);
	seen->fenced++;
}

/** Whether what a task needs may be used up: a part of a range is one range more. */
static bool may_lack(uint8_t what)
{
	return what == MF_SPACE_ALLOCATE ||
	       ((what == MF_SPACE_FREE || what == MF_SPACE_PROTECT) && rig.config.ranges == FEW_RANGES);
}

static void settle(struct task *t, uint8_t status, uint64_t result)
{
	struct space *s = &space[t->space];
	bool ok = status == MF_OK;

	t->busy = false;
	expect(ok || result == 0, "a result without success");
	expect(ok || (t->may_fail && status == MF_ERR_KEY) ||
		       (status == MF_ERR_RESOURCE && may_lack(t->request.what)),
	       "task %u: status %u", t->request.what, status);
	seen->range_failed += status == MF_ERR_RESOURCE && t->request.what != MF_SPACE_ALLOCATE;
	switch (t->request.what) {
	case MF_SPACE_ALLOCATE:
		s->allocating--;
		if (ok && !s->ending)
			settle_allocation(t, result);
		seen->alloc_failed += !ok;
		break;
	case MF_SPACE_FREE:
	case MF_SPACE_PROTECT:
		settle_range(t, ok);
		*(t->request.what == MF_SPACE_FREE ? &seen->freed : &seen->protected) += ok;
		break;
	case MF_SPACE_END:
		expect(ok, "the end of a space failed");
		wipe(s);
		seen->ended++;
		break;
	default:
		if (ok)
			check_fence(t);
		break;
	}
}

/** In which order answers that are there at a time are looked at. */
static unsigned int rank_of(const struct task *t)
{
	static const unsigned int rank[MF_SPACE_TASKS] = {
		[MF_SPACE_ALLOCATE] = 1, [MF_SPACE_FENCE] = 2, [MF_SPACE_END] = 3};

	return rank[t->request.what];
}

/** An allocation may have what was freed just before; a fence and an end come behind all. */
static void poll(void)
{
	for (unsigned int rank = 0; rank < 4; rank++)
		for (unsigned int i = 0; i < TASKS; i++) {
			uint64_t result;
			uint8_t status;

			if (task[i].busy && rank_of(&task[i]) == rank &&
			    vm_rig_answer(&rig, node_of[task[i].node], task[i].ticket, &status, &result))
				settle(&task[i], status, result);
		}
}

/** @return the task, which was accepted; NULL: there is no place */
static struct task *ask(unsigned int sp, unsigned int node, uint8_t what, uint64_t key, uint64_t arg0,
			uint64_t arg1)
{
	struct task *t = NULL;
	unsigned int others = 0;
	uint8_t status;

	for (unsigned int i = 0; i < TASKS; i++) {
		others += task[i].busy;
		t = task[i].busy ? t : &task[i];
	}
	if (t == NULL)
		return NULL;
	*t = (struct task){.space = sp, .node = node, .order = orders + 1};
	t->request = (struct mf_vm_request){.what = what,
					    .node = node_of[node],
					    .space = space[sp].number,
					    .key = key,
					    .arg = {arg0, arg1}};
	status = vm_rig_begin(&rig, &t->request, &t->ticket);
	if (status == MF_ERR_KEY) {
		expect(space[sp].ending, "task %u was refused at once", what);
		return NULL;
	}
	if (!expect(status == MF_OK, "task %u: %u at once", what, status))
		return NULL;
	orders++;
	t->busy = true;
	t->may_fail = space[sp].ending;
	seen->overlapped += others > 1;
	return t;
}

/** Asks, and has others go on until there is an answer. */
static uint8_t ask_now(unsigned int sp, unsigned int node, uint8_t what, uint64_t key, uint64_t arg0,
		       uint64_t arg1, uint64_t *result)
{
	const struct mf_vm_request r = {.what = what,
					.node = node_of[node],
					.space = space[sp].number,
					.key = key,
					.arg = {arg0, arg1}};
	uint64_t ticket;
	uint8_t status = vm_rig_begin(&rig, &r, &ticket);

	*result = 0;
	if (!expect(status == MF_OK, "task %u: %u, now", what, status))
		return status;
	for (unsigned int i = 0; !vm_rig_answer(&rig, node_of[node], ticket, &status, result); i++) {
		if (!expect(i < 100000, "task %u is never answered", what))
			return MF_ERR_TIMEOUT;
		turn();
	}
	return status;
}

/** Each node asks for each key: it gets what it may have. */
static void join_all(unsigned int sp)
{
	struct space *s = &space[sp];

	for (unsigned int n = 0; n < NODES; n++)
		for (uint8_t right = 0; right < MF_SPACE_RIGHTS; right++) {
			bool may = right == MF_SPACE_OWN ? mf_space_maker(s->number) == node_of[n]
							 : mf_page_may(s->may[n], right);
			uint8_t status =
				ask_now(sp, n, MF_SPACE_JOIN, draw(1000), right, 0, &s->key[n][right]);

			expect(status == (may ? MF_OK : MF_ERR_KEY), "join %u: %u", right, status);
			expect((s->key[n][right] != 0) == may, "a key for right %u", right);
		}
}

static unsigned int maker_of(unsigned int sp)
{
	unsigned int n = 0;

	while (node_of[n] != mf_space_maker(space[sp].number))
		n++;
	return n;
}

static unsigned int spaces_there(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SPACES; i++)
		n += space[i].there;
	return n;
}

static void make_space(unsigned int sp)
{
	unsigned int n = (unsigned int)draw(NODES), maker = maker_of(sp);
	uint64_t key;
	uint8_t status;

	if (space[sp].there) {
		if (!space[sp].ending)
			expect(ask_now(sp, maker, MF_SPACE_MAKE, 0, 0, 0, &key) == MF_ERR_KEY,
			       "a space was made twice");
		return;
	}
	status = ask_now(sp, n, MF_SPACE_MAKE, 0, 0, 0, &key);
	if (status == MF_ERR_RESOURCE && n == maker && spaces_there() >= rig.config.spaces) {
		seen->space_failed++;
		return;
	}
	expect(status == (n == maker ? MF_OK : MF_ERR_KEY), "make: %u", status);
	if (status != MF_OK)
		return;
	space[sp].there = true;
	space[sp].may[n] = MF_PAGE_WRITE;
	join_all(sp);
	expect(space[sp].key[n][MF_SPACE_OWN] == key, "the owner's key");
	seen->made++;
}

static void grant(unsigned int sp)
{
	struct space *s = &space[sp];
	unsigned int n = (unsigned int)draw(NODES), maker = maker_of(sp);
	uint8_t rights = (uint8_t)draw(MF_PAGE_RIGHTS);
	uint64_t key;

	if (!s->there || s->ending || n == maker)
		return;
	expect(ask_now(sp, maker, MF_SPACE_GRANT, s->key[maker][MF_SPACE_OWN], node_of[n], rights, &key) ==
		       MF_OK,
	       "grant");
	if (rights < s->may[n]) {
		expect(key != s->key[maker][MF_SPACE_OWN], "no new epoch");
		forget_keys(s);
		for (unsigned int i = 0; i < TASKS; i++)
			task[i].may_fail = task[i].may_fail || task[i].space == sp;
		seen->taken++;
	}
	s->may[n] = rights;
	join_all(sp);
}

static void end_space(unsigned int sp)
{
	struct space *s = &space[sp];
	unsigned int n = maker_of(sp);
	struct task *t = NULL;

	if (s->there && !s->ending)
		t = ask(sp, n, MF_SPACE_END, s->key[n][MF_SPACE_OWN], 0, 0);
	if (t == NULL)
		return;
	s->ending = true;
	for (unsigned int i = 0; i < TASKS; i++)
		task[i].may_fail = task[i].may_fail || task[i].space == sp;
	for (unsigned int i = 0; i < CLASSES * NUMBERS; i++)
		s->page[i / NUMBERS][i % NUMBERS].least = MF_PAGE_NONE;
}

static unsigned int writer_of(unsigned int sp)
{
	unsigned int n = (unsigned int)draw(NODES);

	return space[sp].key[n][MF_RIGHT_WRITE] != 0 ? n : maker_of(sp);
}

static void allocate(unsigned int sp)
{
	unsigned int cls = draw(4) == 0, n = writer_of(sp);
	uint64_t pages = draw(20) == 0 ? 60 : 1 + draw(8), hint = (1 + draw(150)) << shift_of[cls];
	struct task *t;

	if (!space[sp].there)
		return;
	t = ask(sp, n, MF_SPACE_ALLOCATE, space[sp].key[n][MF_RIGHT_WRITE],
		MF_SPACE_ALLOC((pages << shift_of[cls]) - draw(4096), class_of[cls], some_rights()),
		mf_remote_class_base(class_of[cls]) + hint + draw(4096));
	if (t == NULL)
		return;
	t->cls = cls;
	t->pages = pages;
	space[sp].allocating++;
}

/** A page that is there, or a page of any kind. */
static uint64_t some_page(const struct space *s, unsigned int cls)
{
	uint64_t i = draw(200);

	if (draw(16) == 0)
		return i;
	for (unsigned int tries = 0; tries < 200 && !s->page[cls][i].there; tries++)
		i = (i + 1) % 400;
	return i;
}

static void change(unsigned int sp, uint8_t what)
{
	struct space *s = &space[sp];
	unsigned int cls = draw(4) == 0, n = writer_of(sp);
	uint64_t first = some_page(s, cls), pages = 0, most = 1 + draw(12);
	uint8_t rights = what == MF_SPACE_FREE ? MF_PAGE_NONE : some_rights();
	struct task *t;

	while (pages < most && s->page[cls][first + pages].there && !s->page[cls][first + pages].busy)
		pages++;
	if (pages == 0 || s->ending)
		return;
	t = ask(sp, n, what, s->key[n][MF_RIGHT_WRITE], MF_SPACE_ALLOC(pages << shift_of[cls], 0, rights),
		mf_remote_class_base(class_of[cls]) + (first << shift_of[cls]));
	if (t == NULL)
		return;
	t->cls = cls;
	t->first = first;
	t->pages = pages;
	for (uint64_t i = first; i < first + pages; i++) {
		struct page *p = &s->page[cls][i];

		p->busy = true;
		p->was = p->most;
		p->least = rights < p->was ? rights : p->was;
		p->most = rights > p->was ? rights : p->was;
	}
}

static void fence(unsigned int sp)
{
	unsigned int n = maker_of(sp);

	if (space[sp].there && !space[sp].ending)
		(void)ask(sp, n, MF_SPACE_FENCE, space[sp].key[n][MF_RIGHT_READ], 0, 0);
}

/* ---- accesses ---- */

/** Words of an access: `count` from `from` on, of `page` and perhaps of the one behind it. */
struct attempt {
	struct mf_access a;
	unsigned int space, cls;
	uint64_t page;
	unsigned int from, count; /* words; at the end of the page where it crosses */
	bool crosses, good_key;
	uint64_t data[2 * WINDOW];
};

/** The word of an access: of the model. */
static uint64_t *word_of(const struct attempt *t, unsigned int i)
{
	struct page *p = space[t->space].page[t->cls];
	unsigned int w = t->from + i;

	return w < 2 * WINDOW ? &p[t->page].word[w] : &p[t->page + 1].word[w - 2 * WINDOW];
}

static void choose_key(struct attempt *t, unsigned int n)
{
	const struct space *s = &space[t->space];
	unsigned int kind = (unsigned int)draw(40);
	uint8_t right = t->a.right;

	t->a.key = s->key[n][right];
	switch (kind) {
	case 0:
		t->a.key = s->key[(n + 1 + draw(NODES - 1)) % NODES][right];
		break;
	case 1:
		t->a.key = s->key[n][(right + 1 + draw(MF_SPACE_RIGHTS - 1)) % MF_SPACE_RIGHTS];
		break;
	case 2:
		t->a.key = space[(t->space + 1 + draw(SPACES - 1)) % SPACES].key[n][right];
		break;
	case 3:
		t->a.key ^= UINT64_C(1) << draw(64);
		break;
	case 4:
		t->a.key = mf_rng_next(&rng);
		break;
	case 5:
		t->a.key = 0;
		break;
	case 6:
		t->a.key = old_key[draw(OLD_KEYS)];
		break;
	default:
		break;
	}
	t->good_key = s->there && t->a.key != 0 && t->a.key == s->key[n][right];
	if (kind < 7 && !t->good_key)
		seen->forged[kind]++;
}

static void choose_place(struct attempt *t)
{
	uint64_t size = UINT64_C(1) << shift_of[t->cls], at;

	t->count = t->a.right == MF_RIGHT_RMW ? 1 : 1 + (unsigned int)draw(WINDOW);
	t->crosses = t->count > 1 && draw(3) == 0;
	if (t->crosses) {
		t->from = 2 * WINDOW - 1 - (unsigned int)draw(t->count - 1);
		at = size - (2 * WINDOW - t->from) * sizeof(uint64_t);
	} else if (draw(2) == 0) {
		t->from = (unsigned int)draw(WINDOW - t->count + 1);
		at = t->from * sizeof(uint64_t);
	} else {
		t->from = WINDOW + (unsigned int)draw(WINDOW - t->count + 1);
		at = size - (2 * WINDOW - t->from) * sizeof(uint64_t);
	}
	t->a.addr = mf_remote_class_base(class_of[t->cls]) + (t->page << shift_of[t->cls]) + at;
	t->a.len = t->count * sizeof(uint64_t);
}

enum verdict { MUST, MAY, MUST_NOT };

static enum verdict judge_page(const struct space *s, const struct page *p, uint8_t right)
{
	if (!p->there)
		return s->allocating > 0 || s->ending ? MAY : MUST_NOT;
	if (!mf_page_may(p->most, right))
		return MUST_NOT;
	return mf_page_may(p->least, right) ? MUST : MAY;
}

static enum verdict judge(const struct attempt *t)
{
	const struct space *s = &space[t->space];
	const struct page *p = &s->page[t->cls][t->page];
	enum verdict v = t->good_key ? judge_page(s, p, t->a.right) : MUST_NOT, second;

	if (v != MUST_NOT && t->crosses) {
		second = judge_page(s, p + 1, t->a.right);
		seen->second_refused += second == MUST_NOT && v == MUST;
		v = second > v ? second : v;
	}
	return v == MUST && s->ending ? MAY : v;
}

/** Nobody writes what is held: the model knows what the holder should see. */
static bool is_held(const struct attempt *t)
{
	const struct page *p = &space[t->space].page[t->cls][t->page];

	for (unsigned int i = 0; i < HOLDS; i++)
		for (unsigned int k = 0; k < 2 && hold[i].busy; k++)
			if (hold[i].serial[k] != 0 && (hold[i].serial[k] == p->serial ||
						       (t->crosses && hold[i].serial[k] == p[1].serial)))
				return true;
	return false;
}

static void let_go(struct hold *h)
{
	uint8_t now[64];

	mf_places_copy(&h->places, 0, h->places.len[0] + h->places.len[1], now);
	expect(memcmp(now, h->seen, h->places.len[0] + h->places.len[1]) == 0, "what is held has changed");
	mf_memory_virtual.let_go(rig.memory, &h->places);
	h->busy = false;
}

static void check_read(struct attempt *t, const struct mf_answer *out)
{
	const struct page *p = &space[t->space].page[t->cls][t->page];
	uint64_t got[2 * WINDOW];

	mf_places_copy(&out->places, 0, t->a.len, got);
	for (unsigned int i = 0; i < t->count; i++)
		expect(got[i] == *word_of(t, i), "space %u page %lu word %u: %lx, not %lx", t->space, t->page,
		       t->from + i, got[i], *word_of(t, i));
	if (!t->a.hold)
		return;
	for (unsigned int i = 0; i < HOLDS; i++)
		if (!hold[i].busy) {
			hold[i] = (struct hold){.busy = true, .places = out->places};
			hold[i].serial[0] = p->serial;
			hold[i].serial[1] = t->crosses ? p[1].serial : 0;
			memcpy(hold[i].seen, got, t->a.len);
			seen->holds++;
			return;
		}
	mf_memory_virtual.let_go(rig.memory, &out->places);
}

static void done(struct attempt *t, const struct mf_answer *out)
{
	struct page *p = &space[t->space].page[t->cls][t->page];

	seen->passed++;
	seen->crossings += t->crosses;
	p->touched = p->touched || p->there;
	if (t->crosses)
		p[1].touched = p[1].touched || p[1].there;
	if (t->a.right == MF_RIGHT_READ) {
		check_read(t, out);
	} else if (t->a.right == MF_RIGHT_RMW) {
		expect(out->old == *word_of(t, 0), "an atomic found %lx, not %lx", out->old, *word_of(t, 0));
		*word_of(t, 0) += t->data[0];
	} else {
		for (unsigned int i = 0; i < t->count; i++)
			*word_of(t, i) = t->data[i];
	}
}

/** A request that was refused for want of something: it is so. */
static void check_resource(const struct attempt *t, const struct mf_vm_stats *before)
{
	const struct page *p = &space[t->space].page[t->cls][t->page];
	bool all = p->touched && (!t->crosses || p[1].touched);
	struct mf_vm_stats now;

	mf_vm_stats(rig.fast, &now);
	expect(now.dry + now.full + now.unpinned == before->dry + before->full + before->unpinned + 1,
	       "refused without a reason");
	expect(!all || (now.unpinned > before->unpinned && t->a.hold), "refused, though the page is there");
	expect(now.faults == before->faults && now.present == before->present, "a fault of what was refused");
	seen->dry_ring += now.dry - before->dry;
	seen->full_ring += now.full - before->full;
	seen->unpinned += now.unpinned - before->unpinned;
}

/** The same as a question: the same answer and time, and nothing changes. */
static void ask_dry(const struct attempt *t, uint8_t *status, mf_time *time)
{
	struct mf_vm_stats before, after;
	struct mf_access a = t->a;
	struct mf_answer out = {.time = 0};

	mf_vm_stats(rig.fast, &before);
	a.dry = true;
	*status = mf_memory_virtual.access(rig.memory, &a, &out);
	*time = out.time;
	mf_vm_stats(rig.fast, &after);
	expect(memcmp(&before, &after, sizeof(before)) == 0, "a question has changed something");
}

static void execute(struct attempt *t)
{
	enum verdict v = judge(t);
	struct mf_vm_stats before;
	struct mf_answer out;
	mf_time time;
	uint8_t status, dry;

	if (v == MAY && t->a.right != MF_RIGHT_READ)
		return; /* it would not be known what there is then */
	/* Nor who may write what is held of a page that is being allocated. */
	t->a.hold = t->a.hold && v != MAY;
	ask_dry(t, &dry, &time);
	mf_vm_stats(rig.fast, &before);
	status = mf_memory_virtual.access(rig.memory, &t->a, &out);
	expect(dry == status || (dry == MF_OK && status == MF_ERR_RESOURCE), "asked %u, done %u", dry,
	       status);
	refused += status == MF_ERR_KEY;
	if (status == MF_ERR_KEY) {
		seen->refused++;
		expect(v != MUST, "refused: space %u page %lu right %u", t->space, t->page, t->a.right);
		return;
	}
	seen->unsure += v == MAY;
	if (!expect(v != MUST_NOT, "let in: space %u page %lu right %u, status %u", t->space, t->page,
		    t->a.right, status))
		return;
	if (status == MF_ERR_RESOURCE) {
		check_resource(t, &before);
	} else if (expect(status == MF_OK, "status %u", status)) {
		expect(out.time == time, "it took %lu, not %lu", (uint64_t)out.time, (uint64_t)time);
		done(t, &out);
	}
}

static void attempt(unsigned int sp)
{
	struct attempt t = {.space = sp, .cls = draw(4) == 0};
	unsigned int n;

	t.page = some_page(&space[sp], t.cls);
	if (draw(8) == 0) {
		t.space = sp = freed.space;
		t.cls = freed.cls;
		t.page = freed.page;
	}
	n = draw(4) == 0 ? (unsigned int)draw(NODES) : writer_of(sp);
	t.a.right = (uint8_t)draw(MF_RIGHTS);
	t.a.op = MF_RMW_FADD;
	t.a.space = space[sp].number;
	t.a.node = node_of[n];
	t.a.data = t.data;
	choose_place(&t);
	choose_key(&t, n);
	for (unsigned int i = 0; i < t.count; i++)
		t.data[i] = ++words;
	t.a.hold = t.a.right == MF_RIGHT_READ && draw(3) == 0;
	if (t.a.right != MF_RIGHT_READ && is_held(&t))
		return;
	execute(&t);
}

/** A whole page: what is not written is zero. */
static void look(unsigned int sp)
{
	unsigned int cls = draw(4) == 0, n = maker_of(sp);
	uint64_t i = some_page(&space[sp], cls), word[PAGE_MAX / sizeof(uint64_t)];
	const struct page *p = &space[sp].page[cls][i];
	struct mf_access a = {.addr = mf_remote_class_base(class_of[cls]) + (i << shift_of[cls]),
			      .space = space[sp].number,
			      .node = node_of[n],
			      .key = space[sp].key[n][MF_RIGHT_READ],
			      .right = MF_RIGHT_READ,
			      .len = 1u << shift_of[cls]};
	struct mf_answer out;
	unsigned int last = a.len / sizeof(word[0]);
	uint8_t status = mf_memory_virtual.access(rig.memory, &a, &out);

	refused += status == MF_ERR_KEY;
	if (status != MF_OK)
		return;
	mf_places_copy(&out.places, 0, a.len, word);
	for (unsigned int w = 0; w < last; w++) {
		uint64_t want = w < WINDOW          ? p->word[w]
				: w < last - WINDOW ? 0
						    : p->word[w - last + 2 * WINDOW];

		expect(word[w] == want, "space %u page %lu word %u: %lx, not %lx", sp, i, w, word[w], want);
	}
}

/* ---- as a whole ---- */

static int by_address(const void *a, const void *b)
{
	const uint8_t *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

/** No physical page is in two entries, or in one and held of an owner before. */
static void check_exclusive(void)
{
	static const uint8_t *at[SPACES * CLASSES * NUMBERS + 2 * HOLDS];
	size_t found = 0;

	for (unsigned int i = 0; i < SPACES * CLASSES * NUMBERS; i++) {
		struct space *s = &space[i / (CLASSES * NUMBERS)];
		unsigned int cls = i / NUMBERS % CLASSES, n = maker_of(i / (CLASSES * NUMBERS));
		const struct page *p = &s->page[cls][i % NUMBERS];
		struct mf_access a = {.space = s->number, .node = node_of[n], .len = 8};
		struct mf_answer out;

		if (!p->touched || !mf_page_may(p->least, MF_RIGHT_READ) || s->ending)
			continue;
		a.key = s->key[n][MF_RIGHT_READ];
		a.addr = mf_remote_class_base(class_of[cls]) + ((uint64_t)(i % NUMBERS) << shift_of[cls]);
		if (expect(mf_memory_virtual.access(rig.memory, &a, &out) == MF_OK, "a page is lost"))
			at[found++] = out.places.at[0];
	}
	qsort(at, found, sizeof(at[0]), by_address);
	for (size_t i = 1; i < found; i++)
		expect(at[i] != at[i - 1], "a page is in two entries");
}

static void check(void)
{
	struct mf_vm_slow_stats s;
	struct mf_vm_stats f;
	uint64_t sum = 0;

	mf_vm_stats(rig.fast, &f);
	mf_vm_slow_stats(rig.slow, &s);
	expect(f.strange == 0 && s.strange == 0, "%lu, %lu items that cannot be", f.strange, s.strange);
	for (int i = 1; i < MF_VM_REFUSALS; i++)
		sum += f.refused[i];
	expect(sum == refused, "%lu are counted of %lu that were refused", sum, refused);
	expect(f.hits + f.misses >= f.refused[MF_VM_REFUSED_NOT] - f.dry - f.full - f.unpinned &&
		       f.faults <= f.misses,
	       "hits, misses, faults");
	expect(f.entries <= s.slots, "%lu entries, %lu slots", f.entries, s.slots);
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		expect(s.pages[c].free + s.pages[c].zeroing + s.pages[c].fast ==
			       rig.config.page_class[c].pages,
		       "pages of class %u", c);
	check_exclusive();
}

static void begin(void)
{
	struct mf_vm_config c = vm_rig_config(base_seed + restarts++);

	c.touch = restarts % 2 == 0;
	c.tasks = TASKS + 1;
	c.ranges = draw(3) == 0 ? FEW_RANGES : c.ranges;
	c.spaces = draw(3) == 0 ? FEW_SPACES : c.spaces;
	refused = 0;
	expect(vm_rig_make(&rig, &c), "no memory");
}

/** Tasks end, what is held is let go, spaces end: then nothing that is counted may be missing. */
static void expect_back(void)
{
	struct mf_vm_slow_stats s;
	struct mf_vm_stats f;

	for (unsigned int i = 0; i < SPACES; i++) {
		vm_rig_settle(&rig);
		poll();
		end_space(i);
	}
	vm_rig_settle(&rig);
	poll();
	for (unsigned int i = 0; i < HOLDS; i++)
		if (hold[i].busy)
			let_go(&hold[i]);
	vm_rig_settle(&rig);
	mf_vm_stats(rig.fast, &f);
	mf_vm_slow_stats(rig.slow, &s);
	expect(f.entries == 0 && f.present == 0 && s.slots == 0, "%lu entries, %lu slots are left", f.entries,
	       s.slots);
	expect(s.ranges_left == rig.config.ranges && s.spaces == 0 && s.under_way == 0 && f.under_way == 0,
	       "ranges, spaces or tasks are left");
	expect(mf_memory_virtual.held(rig.memory) == 0 && f.held == 0, "pins are left");
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		expect(s.pages[c].fast == f.ring[c] && s.pages[c].zeroing == 0, "pages of class %u are lost",
		       c);
	if (wrong[0] == '\0')
		check();
	seen->come_back++;
}

static void end_life(void)
{
	struct mf_vm_stats f;

	mf_vm_stats(rig.fast, &f);
	seen->late += f.late;
	vm_rig_free(&rig);
}

static void finish(void)
{
	expect_back();
	end_life();
}

/** The node is started again: all is gone, and no key is good any more. Some have freed all before it. */
static void restart(void)
{
	if (draw(2) == 0)
		expect_back();
	for (unsigned int i = 0; i < HOLDS; i++)
		if (hold[i].busy)
			let_go(&hold[i]);
	end_life();
	for (unsigned int i = 0; i < SPACES; i++) {
		space[i].allocating = 0;
		wipe(&space[i]);
	}
	memset(task, 0, sizeof(task));
	begin();
	seen->restarts++;
}

static void step(void)
{
	unsigned int sp = (unsigned int)draw(SPACES);
	uint64_t what = draw(1000);

	if (what < 30)
		allocate(sp);
	else if (what < 60)
		change(sp, MF_SPACE_FREE);
	else if (what < 70)
		change(sp, MF_SPACE_PROTECT);
	else if (what < 76)
		fence(sp);
	else if (what < 82)
		make_space(sp);
	else if (what < 86)
		grant(sp);
	else if (what < 87 && draw(3) == 0)
		end_space(sp);
	else if (what < 250)
		turn();
	else if (what < 270 && hold[what % HOLDS].busy)
		let_go(&hold[what % HOLDS]);
	else if (what < 320)
		look(sp);
	else
		attempt(sp);
	poll();
}

const char *vm_model_run(uint64_t seed, unsigned int steps, struct vm_model_seen *out)
{
	static const uint32_t number[SPACES] = {0, 1, 3 << 13 | 7, 511 << 13 | 8191};

	mf_rng_init(&rng, seed, "vm model", 0);
	base_seed = seed * 1000;
	wrong[0] = '\0';
	seen = out;
	memset(&freed, 0, sizeof(freed));
	serials = words = orders = restarts = 0;
	memset(space, 0, sizeof(space));
	memset(task, 0, sizeof(task));
	memset(hold, 0, sizeof(hold));
	for (unsigned int i = 0; i < SPACES; i++)
		space[i].number = number[i];
	begin();
	for (unsigned int i = 0; i < steps && wrong[0] == '\0'; i++) {
		step();
		if (i % 512 == 0)
			check();
		if (draw(20000) == 0)
			restart();
		else if (draw(5000) == 0)
			expect_back();
	}
	if (wrong[0] == '\0')
		finish();
	else
		vm_rig_free(&rig);
	return wrong[0] != '\0' ? wrong : NULL;
}
