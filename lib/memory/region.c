/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of a memory node. The table begins with an entry that has no octet and no right, and a key that is
 * told to nobody: it is what a search comes to that finds no region, so that every access is compared with
 * the key of some entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_seeded_bug.h"
#include "memory/mf_region.h"

struct region {
	uint64_t at, size;
	uint64_t key[MF_RIGHTS];
	uint16_t owner;
	uint16_t epoch;
	struct mf_region_nodes may[MF_RIGHTS];
};

struct mf_regions {
	unsigned int regions; /**< the entry of nothing included */
	unsigned int steps; /**< of a search */
	unsigned int owned_max;
	const struct mf_memory_ops *memory_ops;
	struct mf_memory *memory;
	mf_region_draw draw;
	void *draw_ctx;
	struct mf_regions_stats stats;
	uint16_t owned[MF_PORTS_MAX];
	struct mf_region_config *first; /**< as at the beginning: all but the entry of nothing */
	struct region region[];
};

/* ---- without branches on what is secret ---- */

/** 1 where a is 0, else 0. */
static inline uint64_t is_zero(uint64_t a)
{
	return ((a | -a) >> 63) ^ 1;
}

/** a < b; both below 2^63, as addresses of 48 bits and their sums are. */
static inline uint64_t is_below(uint64_t a, uint64_t b)
{
	return (a - b) >> 63;
}

/** yes where which is 1, no where it is 0. */
static inline uint64_t choose(uint64_t which, uint64_t yes, uint64_t no)
{
	return no ^ ((yes ^ no) & -which);
}

/** The last entry that does not begin behind an address, in as many steps for any. */
static struct region *find(struct mf_regions *r, uint64_t addr)
{
	uint64_t i = 0, last = r->regions - 1;

	for (uint64_t half = UINT64_C(1) << r->steps; (half >>= 1) != 0;) {
		uint64_t next = choose(is_below(last, i + half), last, i + half);

		i = choose(is_below(addr, r->region[next].at), i, next);
	}
	return &r->region[i];
}

/** Why len octets from addr on, which need not be within an entry, are refused for a node and a right. */
static uint64_t reason_of(const struct region *g, uint16_t src, enum mf_right right, uint64_t addr,
			  uint64_t len)
{
	uint64_t end = g->at + g->size, may = mf_region_nodes_has(&g->may[right], src);
	uint64_t reason = choose(may, MF_REFUSAL_NONE, MF_REFUSAL_RIGHT);

	reason = choose(is_below(end, addr + len), MF_REFUSAL_END, reason);
	return choose(is_below(addr, end), reason, MF_REFUSAL_REGION);
}

static uint8_t status_of(uint64_t reason)
{
	return (uint8_t)choose(is_zero(reason), MF_OK, MF_ERR_KEY);
}

/** Beyond any address all are alike: sums stay below 2^63. */
static uint64_t bounded(uint64_t value)
{
	return choose(is_zero(value >> 49), value, UINT64_C(1) << 49);
}

/** Why a node may not do what it asks for with this key, in the same steps whatever comes of it. */
static uint64_t judge(struct mf_regions *r, uint16_t src, enum mf_right right, uint64_t addr, uint64_t len,
		      uint64_t key)
{
	const struct region *g = find(r, bounded(addr));
	uint64_t reason = reason_of(g, src % MF_PORTS_MAX, right, bounded(addr), bounded(len));
	uint64_t differs = (key ^ g->key[right]) & (MF_SEEDED_BUG(key_in_part) ? UINT32_MAX : UINT64_MAX);
	uint64_t wrong = choose(is_zero(differs), MF_REFUSAL_NONE, MF_REFUSAL_KEY);

	return choose(is_zero(reason), wrong, reason);
}

uint8_t mf_regions_check(struct mf_regions *r, uint16_t src, enum mf_right right, uint64_t addr, uint64_t len,
			 uint64_t key)
{
	uint64_t reason = judge(r, src, right, addr, len, key);

	for (uint64_t i = 0; i < MF_REFUSALS; i++) /* all alike: which one it is is seen nowhere */
		r->stats.refused[i] += is_zero(reason ^ i);
	return status_of(reason);
}

uint8_t mf_regions_attach(struct mf_regions *r, uint16_t src, uint64_t right, uint64_t addr, uint64_t *key)
{
	uint64_t known = is_below(right & 0xff, MF_RIGHTS) & is_zero(right >> 8);
	const struct region *g = find(r, bounded(addr));
	enum mf_right which = (enum mf_right)choose(known, right, MF_RIGHT_READ);
	uint64_t reason = reason_of(g, src % MF_PORTS_MAX, which, bounded(addr), 1);

	reason = choose(known, reason, MF_REFUSAL_RIGHT);
	*key = choose(is_zero(reason), g->key[which], 0);
	r->stats.attach_refused[reason]++;
	r->stats.attached += is_zero(reason);
	return status_of(reason);
}

/* ---- owners ---- */

#define DRAWS 4 /* a source that gives 0 again and again is broken */

/** Keys are never 0: a message without one fits none. @return 0: there are no random bits */
static uint64_t draw_key(const struct mf_regions *r)
{
	uint64_t word = 0;

	for (int i = 0; i < DRAWS && word == 0; i++)
		if (!r->draw(r->draw_ctx, &word, 1))
			return 0;
	return word;
}

/** Without random bits nobody gets in. */
static void renew_keys(struct mf_regions *r, struct region *g)
{
	for (int right = 0; right < MF_RIGHTS; right++) {
		g->key[right] = draw_key(r);
		if (g->key[right] != 0)
			continue;
		memset(&g->may[right], 0, sizeof(g->may[right]));
		r->stats.drawless++;
	}
}

static void set_rights(struct region *g, const struct mf_region_nodes *readers,
		       const struct mf_region_nodes *writers)
{
	g->may[MF_RIGHT_READ] = *readers;
	g->may[MF_RIGHT_WRITE] = *writers;
	if (g->owner != MF_REGION_FREE) {
		mf_region_nodes_set(&g->may[MF_RIGHT_READ], g->owner, true);
		mf_region_nodes_set(&g->may[MF_RIGHT_WRITE], g->owner, true);
	}
	for (unsigned int w = 0; w < MF_PORTS_MAX / 64; w++)
		g->may[MF_RIGHT_RMW].word[w] = g->may[MF_RIGHT_READ].word[w] & g->may[MF_RIGHT_WRITE].word[w];
}

/** Another owner: nothing of the one before is left, neither contents nor rights nor keys. */
static void hand_over(struct mf_regions *r, struct region *g, uint16_t owner,
		      const struct mf_region_nodes *readers, const struct mf_region_nodes *writers)
{
	if (!MF_SEEDED_BUG(not_zeroed))
		r->memory_ops->zero(r->memory, g->at, g->size);
	r->stats.zeroed += g->size;
	if (g->owner != MF_REGION_FREE)
		r->owned[g->owner]--;
	if (owner != MF_REGION_FREE)
		r->owned[owner]++;
	g->owner = owner;
	g->epoch++;
	set_rights(g, readers, writers);
	renew_keys(r, g);
}

/** A region of which something is asked by who has to be its owner. */
static struct region *of_owner(struct mf_regions *r, uint16_t owner, uint64_t addr, uint64_t *reason)
{
	struct region *g = find(r, bounded(addr));

	*reason = choose(is_zero(g->owner ^ owner), MF_REFUSAL_NONE, MF_REFUSAL_RIGHT);
	*reason = choose(is_below(bounded(addr), g->at + g->size), *reason, MF_REFUSAL_REGION);
	return g;
}

uint8_t mf_regions_claim(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t *epoch)
{
	const struct mf_region_nodes none = {{0}};
	uint64_t reason;
	struct region *g = of_owner(r, MF_REGION_FREE, addr, &reason);

	src %= MF_PORTS_MAX;
	if (reason == MF_REFUSAL_NONE && r->owned_max != 0 && r->owned[src] >= r->owned_max)
		reason = MF_REFUSAL_LIMIT;
	r->stats.owner_refused[reason]++;
	if (reason == MF_REFUSAL_NONE) {
		hand_over(r, g, src, &none, &none);
		r->stats.claimed++;
	}
	*epoch = choose(is_zero(reason), g->epoch, 0);
	return status_of(reason);
}

uint8_t mf_regions_release(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t *epoch)
{
	const struct mf_region_nodes none = {{0}};
	uint64_t reason;
	struct region *g = of_owner(r, src % MF_PORTS_MAX, addr, &reason);

	r->stats.owner_refused[reason]++;
	if (reason == MF_REFUSAL_NONE) {
		hand_over(r, g, MF_REGION_FREE, &none, &none);
		r->stats.released++;
	}
	*epoch = choose(is_zero(reason), g->epoch, 0);
	return status_of(reason);
}

uint8_t mf_regions_share(struct mf_regions *r, uint16_t src, uint64_t addr, uint64_t what)
{
	uint16_t node = (uint16_t)what, right = what >> 16 & 3;
	bool good = node < MF_PORTS_MAX && right <= MF_RIGHT_WRITE && what >> 19 == 0;
	uint64_t reason;
	struct region *g = of_owner(r, src % MF_PORTS_MAX, addr, &reason);

	if (reason == MF_REFUSAL_NONE && !good)
		reason = MF_REFUSAL_RIGHT;
	r->stats.owner_refused[reason]++;
	if (reason == MF_REFUSAL_NONE) {
		struct mf_region_nodes readers = g->may[MF_RIGHT_READ], writers = g->may[MF_RIGHT_WRITE];

		mf_region_nodes_set(right == MF_RIGHT_READ ? &readers : &writers, node, what >> 18 & 1);
		set_rights(g, &readers, &writers);
		r->stats.shared++;
	}
	return status_of(reason);
}

int mf_regions_give(struct mf_regions *r, uint64_t at, uint16_t owner, const struct mf_region_nodes *readers,
		    const struct mf_region_nodes *writers)
{
	struct region *g = find(r, bounded(at));

	if (g->size == 0 || g->at != at || (owner != MF_REGION_FREE && owner >= MF_PORTS_MAX))
		return -ENOENT;
	hand_over(r, g, owner, readers, writers);
	return 0;
}

struct mf_region_view mf_regions_look(struct mf_regions *r, uint16_t node, enum mf_right right, uint64_t addr)
{
	const struct region *g = find(r, bounded(addr));

	if (bounded(addr) - g->at >= g->size)
		return (struct mf_region_view){.owner = MF_REGION_FREE};
	return (struct mf_region_view){
		.key = g->key[right], .may = mf_region_nodes_has(&g->may[right], node), .owner = g->owner};
}

void mf_regions_renew(struct mf_regions *r, mf_region_draw draw, void *draw_ctx)
{
	r->draw = draw;
	r->draw_ctx = draw_ctx;
	for (unsigned int i = 0; i < r->regions; i++)
		renew_keys(r, &r->region[i]);
}

/* ---- as a memory ---- */

static struct mf_regions *of(struct mf_memory *m)
{
	return (struct mf_regions *)m;
}

static const struct mf_regions *const_of(const struct mf_memory *m)
{
	return (const struct mf_regions *)m;
}

static uint8_t regions_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	struct mf_regions *r = of(m);
	enum mf_right right = (enum mf_right)a->right;
	uint8_t status;

	if (a->dry) /* it is no access, so it is not counted */
		status = status_of(judge(r, a->node, right, a->addr, a->len, a->key));
	else
		status = mf_regions_check(r, a->node, right, a->addr, a->len, a->key);
	return status == MF_OK ? r->memory_ops->access(r->memory, a, out) : status;
}

static void regions_let_go(struct mf_memory *m, const struct mf_places *places)
{
	of(m)->memory_ops->let_go(of(m)->memory, places);
}

static uint64_t regions_held(const struct mf_memory *m)
{
	return const_of(m)->memory_ops->held(const_of(m)->memory);
}

static void regions_fetch(const struct mf_memory *m, uint64_t addr)
{
	const_of(m)->memory_ops->fetch(const_of(m)->memory, addr);
}

static const void *regions_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	return const_of(m)->memory_ops->at(const_of(m)->memory, addr, len);
}

static uint8_t regions_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return const_of(m)->memory_ops->check(const_of(m)->memory, addr, len);
}

static uint8_t regions_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return of(m)->memory_ops->zero(of(m)->memory, addr, len);
}

static uint8_t regions_ask(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result)
{
	const uint64_t *arg = a->data;

	*result = 0;
	switch (op) {
	case MF_RMW_ATTACH:
		return mf_regions_attach(of(m), a->node, arg[0], a->addr, result);
	case MF_RMW_CLAIM:
		return mf_regions_claim(of(m), a->node, a->addr, result);
	case MF_RMW_RELEASE:
		return mf_regions_release(of(m), a->node, a->addr, result);
	case MF_RMW_SHARE:
		return mf_regions_share(of(m), a->node, a->addr, arg[0]);
	default:
		return MF_ERR_OPCODE;
	}
}

const struct mf_memory_ops mf_memory_regions = {
	.name = "regions",
	.access = regions_access,
	.let_go = regions_let_go,
	.held = regions_held,
	.fetch = regions_fetch,
	.at = regions_at,
	.check = regions_check,
	.zero = regions_zero,
	.ask = regions_ask,
};

/* ---- set-up ---- */

static bool valid(const struct mf_regions_config *c)
{
	uint64_t end = 0;

	if (c->regions == 0 || c->regions > MF_REGIONS_MAX || c->draw == NULL)
		return false;
	for (unsigned int i = 0; i < c->regions; i++) {
		const struct mf_region_config *g = &c->region[i];

		if (g->size == 0 || g->at < end || (g->owner >= MF_PORTS_MAX && g->owner != MF_REGION_FREE) ||
		    c->memory_ops->check(c->memory, g->at, g->size) != MF_OK)
			return false;
		end = g->at + g->size;
	}
	return true;
}

/** As at the beginning, with new keys. */
static void fill(struct mf_regions *r)
{
	memset(r->owned, 0, sizeof(r->owned));
	r->region[0].owner = MF_REGION_FREE;
	for (unsigned int i = 1; i < r->regions; i++) {
		const struct mf_region_config *from = &r->first[i - 1];
		struct region *g = &r->region[i];

		g->at = from->at;
		g->size = from->size;
		g->owner = from->owner;
		if (g->owner != MF_REGION_FREE)
			r->owned[g->owner]++;
		set_rights(g, &from->readers, &from->writers);
	}
	mf_regions_renew(r, r->draw, r->draw_ctx);
}

void mf_regions_restart(struct mf_regions *r, struct mf_memory *memory)
{
	r->memory = memory;
	fill(r);
}

struct mf_regions *mf_regions_new(const struct mf_regions_config *c)
{
	struct mf_regions *r;

	if (!valid(c)) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r) + (c->regions + 1) * sizeof(r->region[0]));
	if (r == NULL)
		return NULL;
	r->regions = c->regions + 1;
	while (1u << r->steps < r->regions)
		r->steps++;
	r->owned_max = c->owned_max;
	r->memory_ops = c->memory_ops;
	r->memory = c->memory;
	r->draw = c->draw;
	r->draw_ctx = c->draw_ctx;
	r->first = calloc(c->regions, sizeof(*r->first));
	if (r->first == NULL) {
		free(r);
		return NULL;
	}
	memcpy(r->first, c->region, c->regions * sizeof(*r->first));
	fill(r);
	return r;
}

void mf_regions_free(struct mf_regions *r)
{
	if (r != NULL)
		free(r->first);
	free(r);
}

const struct mf_regions_stats *mf_regions_stats(const struct mf_regions *r)
{
	return &r->stats;
}

const char *mf_refusal_name(enum mf_refusal reason)
{
	static const char *const names[MF_REFUSALS] = {
		[MF_REFUSAL_NONE] = "none",   [MF_REFUSAL_REGION] = "region", [MF_REFUSAL_END] = "end",
		[MF_REFUSAL_RIGHT] = "right", [MF_REFUSAL_KEY] = "key",       [MF_REFUSAL_LIMIT] = "limit",
	};

	return (unsigned int)reason < MF_REFUSALS ? names[reason] : "?";
}
