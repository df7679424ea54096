/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes what nodes ask of a memory with spaces: tasks and calls with any arguments, accesses with any
 * address, key and space, by several nodes, while the slow path takes its time. The input is a list of steps.
 * Some steps are well formed, so that spaces are made and used.
 *
 * Each byte that is written is that of its space, a number of its own for each time that the space is made.
 * So a read finds zeros and these bytes, and nothing else. An access passes only with a key that this node
 * was given for this right to this space. Tasks under way are bounded, and each ends. In the end all spaces
 * are ended: nothing is left, and all pages are accounted for.
 */
#include "base/mf_rng.h"
#include "input.h"
#include "memory/mf_vm_timed.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define NODES 4
#define SPACES 6
#define SLOTS 3
#define KEYS 64
#define PLACES 16
#define HOLDS 4
#define LEN_UNIT 36 /* of long accesses: more than a page of 8 KiB */
#define LEN_MAX (UINT8_MAX * LEN_UNIT)
#define STEPS_MAX 4000

static const uint16_t node_of[NODES] = {0, 3, 5, 511};
static const uint32_t space_of[SPACES] = {0, 1, 3 << 13 | 7, 5 << 13, 511 << 13 | 8191, MF_SPACES - 2};

struct key {
	uint64_t key;
	unsigned int space, node;
	uint8_t right, tag;
};

struct asked {
	bool busy;
	struct mf_access a;
	uint64_t arg[2];
};

struct hold {
	bool busy;
	uint8_t tag;
	struct mf_places places;
};

struct run {
	struct input in;
	struct mf_vm_timed_config config;
	struct mf_vm_timed *t;
	mf_time now;
	uint8_t tag[SPACES]; /* of the space, since it was made last; 0: it was not, or nobody has heard */
	uint8_t tags;
	bool tags_over; /* each has been used: they do not tell spaces apart any more */
	struct key key[KEYS]; /* that were given, the last ones */
	unsigned int keys;
	uint64_t place[PLACES]; /* addresses that were given */
	unsigned int places;
	uint32_t number[NODES][SLOTS];
	struct asked asked[NODES][SLOTS];
	struct hold hold[HOLDS];
};

static struct mf_memory *memory(const struct run *r)
{
	return mf_vm_timed_memory(r->t);
}

static void make_memory(struct run *r)
{
	struct mf_rng rng;

	mf_rng_init(&rng, r->config.vm.secrets.tlb, "fuzz secrets", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		r->config.vm.secrets.mix[i] = mf_rng_next(&rng);
	r->config.vm.secrets.key[0] = mf_rng_next(&rng);
	r->config.vm.secrets.key[1] = mf_rng_next(&rng);
	r->config.vm.secrets.tlb = mf_rng_next(&rng);
	r->t = mf_vm_timed_new(&r->config);
	require(r->t != NULL);
}

/* ---- what is answered ---- */

static uint8_t new_tag(struct run *r)
{
	r->tags_over |= r->tags == UINT8_MAX;
	r->tags = r->tags == UINT8_MAX ? 1 : r->tags + 1;
	return r->tags;
}

static unsigned int place_of_space(uint32_t space)
{
	unsigned int i = 0;

	while (i < SPACES && space_of[i] != space)
		i++;
	return i;
}

/** The key of a space: if nobody has heard that it was made, it was all the same. */
static void take_key(struct run *r, const struct asked *e, unsigned int node, uint64_t key, uint8_t right)
{
	unsigned int space = place_of_space(e->a.space);

	require(key != 0 && space < SPACES);
	if (r->tag[space] == 0)
		r->tag[space] = new_tag(r);
	r->key[r->keys++ % KEYS] =
		(struct key){.key = key, .space = space, .node = node, .right = right, .tag = r->tag[space]};
}

static void answered(struct run *r, unsigned int node, struct asked *e, uint8_t status, uint64_t result)
{
	unsigned int space = place_of_space(e->a.space);

	e->busy = false;
	require(status == MF_OK || result == 0);
	if (status != MF_OK)
		return;
	switch (mf_space_ask_task(e->arg[0])) {
	case MF_SPACE_MAKE:
		require(mf_space_maker(e->a.space) == node_of[node] && space < SPACES);
		r->tag[space] = 0;
		take_key(r, e, node, result, MF_SPACE_OWN);
		break;
	case MF_SPACE_END:
		r->tag[space] = 0;
		break;
	case MF_SPACE_GRANT:
		take_key(r, e, node, result, MF_SPACE_OWN);
		break;
	case MF_SPACE_JOIN:
		take_key(r, e, node, result, (uint8_t)e->arg[1]);
		break;
	case MF_SPACE_ALLOCATE:
		require(result != 0 && result <= MF_ADDR_MAX);
		r->place[r->places++ % PLACES] = result;
		break;
	default:
		require(result == 0);
		break;
	}
}

static uint8_t ask_memory(struct run *r, const struct asked *e, uint64_t *result)
{
	struct mf_access a = e->a;
	uint8_t status;

	a.at = r->now;
	a.data = e->arg;
	status = mf_memory_timed.ask(memory(r), MF_RMW_SPACE, &a, result);
	require(status == MF_OK || status == MF_ERR_RANGE || status == MF_ERR_RESOURCE ||
		status == MF_ERR_KEY || status == MF_ERR_PENDING || status == MF_ERR_BUSY);
	require(status == MF_OK || *result == 0);
	return status;
}

static bool polls(const struct asked *e, int rank)
{
	uint8_t task = mf_space_ask_task(e->arg[0]);

	return e->busy && (task == MF_SPACE_END ? 0 : task == MF_SPACE_MAKE ? 1 : 2) == rank;
}

/** Ends first, then what is made, as these may have followed each other. */
static void poll(struct run *r)
{
	for (int rank = 0; rank < 3; rank++)
		for (unsigned int i = 0; i < NODES * SLOTS; i++) {
			struct asked *e = &r->asked[i / SLOTS][i % SLOTS];
			uint64_t result;
			uint8_t status;

			if (!polls(e, rank))
				continue;
			status = ask_memory(r, e, &result);
			require(status != MF_ERR_BUSY);
			if (status != MF_ERR_PENDING)
				answered(r, i / SLOTS, e, status, result);
		}
}

/* ---- tasks ---- */

/** A key that was given, perhaps with a bit wrong; or any. */
static uint64_t take_any_key(struct run *r)
{
	uint8_t how = (uint8_t)take(&r->in, 1);
	uint64_t key = r->key[how % KEYS].key;

	if (how < 0x60)
		return key;
	return how < 0xa0 ? key ^ UINT64_C(1) << (take(&r->in, 1) & 63) : how < 0xb0 ? 0 : take(&r->in, 8);
}

/** The last one that a node was given for a right to a space. */
static uint64_t good_key(const struct run *r, unsigned int node, unsigned int space, uint8_t right)
{
	for (unsigned int i = 1; i <= KEYS && i <= r->keys; i++) {
		const struct key *k = &r->key[(r->keys - i) % KEYS];

		if (k->node == node && k->space == space && k->right == right && k->tag == r->tag[space])
			return k->key;
	}
	return 0;
}

/** No number was counted below 0. */
static void check_usage(uint64_t which, uint8_t status, uint64_t result)
{
	require(status == MF_ERR_KEY || (status == MF_OK) == (which < MF_USAGES));
	require(result <= UINT32_MAX && (status == MF_OK || result == 0));
}

static void begin(struct run *r, unsigned int node, unsigned int slot, const struct asked *e)
{
	struct asked *of = slot < SLOTS ? &r->asked[node][slot] : NULL;
	uint32_t number = mf_space_ask_number(e->arg[0]);
	uint64_t result;
	uint8_t status = ask_memory(r, e, &result);

	require(of != NULL || status == MF_ERR_KEY || mf_space_ask_task(e->arg[0]) >= MF_SPACE_TASKS);
	if (mf_space_ask_task(e->arg[0]) == MF_SPACE_USAGE)
		check_usage(e->arg[1], status, result);
	if (status != MF_ERR_PENDING || (of->busy && number == r->number[node][slot]))
		return;
	require(!of->busy); /* a slot has one task at a time */
	r->number[node][slot] = number;
	*of = *e;
	of->busy = true;
}

/** Any bits. */
static void ask_any(struct run *r)
{
	unsigned int node = take(&r->in, 1) % NODES, slot = take(&r->in, 1) % (SLOTS + 1);
	uint32_t space = (uint32_t)take(&r->in, 3), number = (slot < SLOTS ? r->number[node][slot] : 0);
	struct asked e = {.a = {.node = node_of[node]}};
	uint8_t how = (uint8_t)take(&r->in, 1);

	e.a.space = how & 1 ? space : space_of[space % SPACES];
	e.a.key = take_any_key(r);
	e.a.addr = how & 2 ? take(&r->in, 8) : r->place[take(&r->in, 1) % PLACES];
	number = how & 4 ? (uint32_t)take(&r->in, 4) : number + 1;
	e.arg[0] = MF_SPACE_ASK(take(&r->in, 1), slot, number) | (how & 8 ? take(&r->in, 2) << 48 : 0);
	e.arg[1] = take(&r->in, how & 16 ? 8 : 2);
	if (place_of_space(e.a.space) == SPACES && mf_space_ask_task(e.arg[0]) == MF_SPACE_MAKE)
		e.a.space = space_of[space % SPACES]; /* so that all that are there are known */
	begin(r, node, slot, &e);
}

static uint64_t how_much(struct run *r, uint8_t task)
{
	uint64_t n = take(&r->in, 1);

	switch (task) {
	case MF_SPACE_JOIN:
		return n % MF_SPACE_RIGHTS;
	case MF_SPACE_GRANT:
		return MF_SPACE_GRANTED(node_of[n % NODES], n / NODES % MF_PAGE_RIGHTS);
	case MF_SPACE_ALLOCATE:
		return MF_SPACE_ALLOC((n & 31) << 11, n & 128 ? 5 : 0,
				      (n & 32) ? MF_PAGE_READ : MF_PAGE_WRITE);
	case MF_SPACE_PROTECT:
		return MF_SPACE_ALLOC((n & 31) << 11, 0, n >> 5 & 3);
	case MF_SPACE_FREE:
		return n << 11;
	case MF_SPACE_USAGE:
		return n % (MF_USAGES + 1);
	default:
		return 0;
	}
}

/** As a program asks. */
static void ask_well(struct run *r)
{
	static const uint8_t right[MF_SPACE_TASKS] = {MF_SPACE_OWN,   MF_SPACE_OWN,   0,
						      MF_SPACE_OWN,   MF_RIGHT_WRITE, MF_RIGHT_WRITE,
						      MF_RIGHT_WRITE, MF_RIGHT_READ};
	uint8_t what = (uint8_t)take(&r->in, 1), who = (uint8_t)take(&r->in, 1), task = what % MF_SPACE_TASKS;
	unsigned int space = what / MF_SPACE_TASKS % SPACES, node = who % NODES, slot = who / NODES % SLOTS;
	struct asked e = {.a = {.space = space_of[space]}};

	if (who & 0x80)
		for (node = 0; node + 1 < NODES && node_of[node] != mf_space_maker(space_of[space]);)
			node++;
	e.a.node = node_of[node];
	e.a.key = good_key(r, node, space, right[task]);
	if (task == MF_SPACE_FENCE && who & 0x40)
		task = MF_SPACE_USAGE;
	e.arg[0] = MF_SPACE_ASK(task, slot, r->number[node][slot] + 1);
	e.arg[1] = how_much(r, task);
	if (task >= MF_SPACE_ALLOCATE)
		e.a.addr = r->place[take(&r->in, 1) % PLACES];
	begin(r, node, slot, &e);
}

/* ---- accesses ---- */

static void check_bytes(const struct run *r, const struct mf_places *p, uint8_t tag)
{
	for (int i = 0; i < 2; i++)
		for (uint32_t k = 0; k < p->len[i]; k++)
			require(p->at[i][k] == 0 || r->tags_over || p->at[i][k] == tag);
}

/** Somebody gave it to this node, for this right to this space, since it was made. */
static bool was_given(const struct run *r, const struct mf_access *a, unsigned int node, unsigned int space)
{
	for (unsigned int i = 0; i < KEYS; i++) {
		const struct key *k = &r->key[i];

		if (k->key == a->key && k->node == node && k->space == space && k->right == a->right &&
		    k->tag == r->tag[space])
			return true;
	}
	return r->keys > KEYS; /* perhaps: it is not known any more */
}

static void keep(struct run *r, const struct mf_answer *out, uint8_t tag)
{
	for (unsigned int i = 0; i < HOLDS; i++)
		if (!r->hold[i].busy) {
			r->hold[i] = (struct hold){.busy = true, .tag = tag, .places = out->places};
			return;
		}
	mf_memory_timed.let_go(memory(r), &out->places);
}

/** What it reads is still of its space, whatever has become of the page. */
static void let_go(struct run *r, struct hold *h)
{
	if (!h->busy)
		return;
	check_bytes(r, &h->places, h->tag);
	mf_memory_timed.let_go(memory(r), &h->places);
	h->busy = false;
}

static void access_it(struct run *r, struct mf_access *a, unsigned int node)
{
	static uint8_t data[LEN_MAX];
	unsigned int space = place_of_space(a->space);
	uint8_t tag = space < SPACES ? r->tag[space] : 0, status;
	struct mf_answer out = {.time = 0};

	memset(data, tag, sizeof(data));
	if (a->right == MF_RIGHT_RMW && a->op == MF_RMW_FADD)
		memset(data, 0, 8); /* bytes stay what they are, or become those of the space */
	a->data = data;
	status = mf_memory_timed.access(memory(r), a, &out);
	require(status == MF_OK || status == MF_ERR_KEY || status == MF_ERR_RESOURCE ||
		status == MF_ERR_ALIGN || status == MF_ERR_OPCODE);
	if (status == MF_ERR_KEY)
		require(out.time == 0 && out.second == 0 && out.old == 0 && out.places.len[0] == 0);
	else
		require(space < SPACES && was_given(r, a, node, space));
	if (status != MF_OK || a->dry)
		return;
	if (a->right == MF_RIGHT_READ) {
		require(out.places.len[0] + out.places.len[1] == a->len);
		check_bytes(r, &out.places, tag);
		if (a->hold)
			keep(r, &out, tag);
	} else if (a->right == MF_RIGHT_RMW) {
		for (int i = 0; i < 64; i += 8)
			require((out.old >> i & 0xff) == 0 || r->tags_over || (out.old >> i & 0xff) == tag);
	}
}

static void access_any(struct run *r)
{
	uint8_t how = (uint8_t)take(&r->in, 1), where = (uint8_t)take(&r->in, 1);
	unsigned int node = how & 3, space = where % SPACES;
	struct mf_access a = {.at = r->now,
			      .node = node_of[node],
			      .right = (uint8_t)take(&r->in, 1),
			      .space = space_of[space],
			      .hold = how >> 4 & 1,
			      .dry = how >> 5 & 1};

	a.op = a.right >> 4;
	a.right = a.right % 16 < 15 ? a.right % 16 % MF_RIGHTS : 15;
	a.addr = r->place[where / 8 % PLACES] + take(&r->in, 2);
	a.len = (uint32_t)take(&r->in, 1) * (how & 0x40 ? LEN_UNIT : 1);
	a.key = good_key(r, node, space, a.right);
	if (how & 4)
		a.key = take_any_key(r);
	if (how & 8)
		a.addr = take(&r->in, 8);
	if ((how & 12) == 12)
		a.space = (uint32_t)take(&r->in, 4);
	if (a.right == MF_RIGHT_RMW && !(how & 0x80)) {
		a.addr &= ~UINT64_C(7);
		a.len = 8;
	}
	if (a.dry && (how & 0x40))
		a.len = (uint32_t)take(&r->in, 3);
	access_it(r, &a, node);
}

/* ---- calls ---- */

/** A late call has begun a task in the slot that it names: a fence, which is asked for by that name, too. */
static void call_begun(struct run *r, unsigned int node, const struct mf_access *a, uint64_t ask)
{
	uint32_t number = mf_space_ask_number(ask);
	uint8_t slot = mf_space_ask_slot(ask);
	struct asked *of;

	require(slot < SLOTS && mf_space_ask_task(ask) == MF_CALL_ECHO_FENCED);
	of = &r->asked[node][slot];
	if (of->busy && number == r->number[node][slot])
		return;
	require(!of->busy);
	r->number[node][slot] = number;
	*of = (struct asked){.busy = true, .a = *a, .arg = {MF_SPACE_ASK(MF_SPACE_FENCE, slot, number)}};
}

static void call_it(struct run *r, struct mf_access *a, unsigned int node, const uint64_t arg[2])
{
	unsigned int space = place_of_space(a->space);
	struct mf_answer out;
	uint64_t result;
	uint8_t status;

	a->data = arg;
	status = mf_memory_timed.call(memory(r), a, &result, &out);
	if (status == MF_OK) {
		a->right = MF_RIGHT_READ;
		require(space < SPACES && was_given(r, a, node, space));
		require(mf_call_find(arg[0]) != NULL && result == arg[1] && result > 0 && result <= a->len);
		require(a->len <= r->config.vm.answer);
		if (!a->dry) {
			require(out.places.len[0] + out.places.len[1] == result);
			check_bytes(r, &out.places, r->tag[space]);
		}
		return;
	}
	require(status == MF_ERR_PENDING || status == MF_ERR_BUSY || status == MF_ERR_KEY ||
		status == MF_ERR_RANGE || status == MF_ERR_OPCODE || status == MF_ERR_RESOURCE);
	require(status == MF_ERR_RESOURCE || out.time == 0);
	require(out.places.len[0] == 0 && out.places.len[1] == 0);
	require(result == (status == MF_ERR_PENDING ? arg[0] : 0));
	if (status == MF_ERR_PENDING)
		call_begun(r, node, a, arg[0]);
}

static void call_any(struct run *r)
{
	uint8_t how = (uint8_t)take(&r->in, 1), where = (uint8_t)take(&r->in, 1);
	unsigned int node = how & 3, space = where % SPACES, slot = where >> 3 & 3;
	struct mf_access a = {
		.at = r->now, .node = node_of[node], .space = space_of[space], .dry = how >> 4 & 1};
	uint64_t arg[2] = {MF_CALL_ASK(MF_CALL_ECHO, 0, 0)};

	if (how & 0x20)
		arg[0] = MF_CALL_ASK(MF_CALL_ECHO_FENCED, slot, r->number[node][slot % SLOTS] + (how >> 7));
	a.addr = r->place[where / 8 % PLACES] + take(&r->in, 2);
	a.len = (uint32_t)take(&r->in, 2);
	arg[1] = how & 8 ? take(&r->in, 8) : take(&r->in, 1);
	a.key = how & 4 ? take_any_key(r) : good_key(r, node, space, MF_RIGHT_READ);
	if ((how & 0x48) == 0x48)
		arg[0] = take(&r->in, 8);
	if ((how & 0x44) == 0x44)
		a.addr = take(&r->in, 8);
	call_it(r, &a, node, arg);
}

/* ---- what happens ---- */

/** A node is started again: it has its numbers, and nothing else. */
static void forget(struct run *r, unsigned int node)
{
	mf_memory_timed.forget(memory(r), node_of[node], r->now);
	for (unsigned int i = 0; i < SLOTS; i++)
		r->asked[node][i].busy = false;
}

/** The memory node is started again: keys of before are known, and open nothing. */
static void restart(struct run *r)
{
	for (unsigned int i = 0; i < HOLDS; i++)
		let_go(r, &r->hold[i]);
	mf_vm_timed_free(r->t);
	make_memory(r);
	memset(r->asked, 0, sizeof(r->asked));
	memset(r->tag, 0, sizeof(r->tag));
	mf_vm_timed_advance(r->t, r->now);
}

static void check(const struct run *r)
{
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats fast;

	mf_vm_stats(mf_vm_timed_fast(r->t), &fast);
	mf_vm_slow_stats(mf_vm_timed_slow(r->t), &slow);
	require(fast.strange == 0 && slow.strange == 0);
	require(fast.under_way <= r->config.vm.tasks && slow.under_way <= fast.under_way);
	require(slow.spaces <= r->config.vm.spaces && fast.entries <= slow.slots);
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		require(slow.pages[c].free + slow.pages[c].zeroing + slow.pages[c].fast ==
			r->config.vm.page_class[c].pages);
}

static void step(struct run *r)
{
	uint8_t what = (uint8_t)take(&r->in, 1);

	switch (what & 7) {
	case 0:
		ask_any(r);
		break;
	case 1:
	case 2:
		ask_well(r);
		break;
	case 3:
	case 4:
		access_any(r);
		break;
	case 5:
		(what & 0x80 ? call_any : access_any)(r);
		break;
	case 6:
		let_go(r, &r->hold[what >> 3 & 3]);
		break;
	default:
		if (what == 0xff)
			restart(r);
		else if (what >= 0xf0)
			forget(r, what >> 3 & 1);
		else if (what >= 0xe0)
			(void)mf_vm_timed_stall(r->t, r->now, r->now + MF_US(20));
		else
			r->now += MF_NS(10) << (what >> 3 & 15);
		break;
	}
	r->now += what & 0x40 ? MF_NS(100) : 0;
	poll(r);
}

/* ---- the end ---- */

/** Asks, until there is an answer. */
static uint8_t ask_now(struct run *r, unsigned int space, uint8_t task, uint64_t key, uint64_t how,
		       uint64_t *result)
{
	struct asked e = {
		.a = {.node = mf_space_maker(space_of[space]), .space = space_of[space], .key = key}};
	unsigned int node = 0;
	uint8_t status = MF_ERR_PENDING;

	while (node + 1 < NODES && node_of[node] != e.a.node)
		node++;
	e.arg[0] = MF_SPACE_ASK(task, 0, ++r->number[node][0]);
	e.arg[1] = how;
	for (unsigned int i = 0; i < 100000; i++) {
		status = ask_memory(r, &e, result);
		if (status != MF_ERR_PENDING && status != MF_ERR_BUSY)
			return status;
		r->now += MF_US(1);
	}
	require(false); /* each task ends */
	return status;
}

static void finish(struct run *r)
{
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats fast;
	uint64_t key, none;

	for (unsigned int i = 0; i < HOLDS; i++)
		let_go(r, &r->hold[i]);
	for (unsigned int i = 0; i < 1000; i++, r->now += MF_US(10))
		poll(r);
	for (unsigned int i = 0; i < NODES * SLOTS; i++)
		require(!r->asked[i / SLOTS][i % SLOTS].busy);
	for (unsigned int space = 0; space < SPACES; space++)
		if (ask_now(r, space, MF_SPACE_JOIN, 0, MF_SPACE_OWN, &key) == MF_OK)
			require(ask_now(r, space, MF_SPACE_END, key, 0, &none) == MF_OK);
	mf_vm_timed_advance(r->t, r->now + MF_MS(10));
	check(r);
	mf_vm_stats(mf_vm_timed_fast(r->t), &fast);
	mf_vm_slow_stats(mf_vm_timed_slow(r->t), &slow);
	require(fast.entries == 0 && fast.present == 0 && fast.held == 0 && fast.under_way == 0);
	require(slow.spaces == 0 && slow.slots == 0 && slow.under_way == 0);
	require(slow.ranges_left == r->config.vm.ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct run r;

	memset(&r, 0, sizeof(r));
	r.in = (struct input){input, size};
	r.config = (struct mf_vm_timed_config){
		.vm = {.page_class = {[0] = {.shift = 12, .pages = 24}, [5] = {.shift = 13, .pages = 6}},
		       .slots = 2,
		       .bucket = 4,
		       .tlb_sets = 4,
		       .tlb_ways = 2,
		       .ring = 3,
		       .pins = 3,
		       .tasks = 5,
		       .node_tasks = SLOTS,
		       .spaces = 3,
		       .ranges = 12,
		       .retries_max = 10,
		       .answer = 4096,
		       .dram = MF_NS(82),
		       .fault = MF_NS(12),
		       .secrets.tlb = 1},
		.step = MF_NS(20),
		.zero = MF_NS(400),
		.crossing = MF_NS(100)};
	make_memory(&r);
	for (unsigned int i = 0; r.in.left > 0 && i < STEPS_MAX; i++) {
		step(&r);
		if (i % 16 == 0)
			check(&r);
	}
	finish(&r);
	mf_vm_timed_free(r.t);
	return 0;
}
