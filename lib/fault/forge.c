/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "forge.h"

#define IDS (MF_IDS - MF_FAULT_FORGE_ID)
#define RIGHTS 3 /* to read, to write, both: as mf_region.h numbers them */
#define HEARD_MAX 64 /* blocks of a message that is listened to: answers to what is asked here are shorter */
#define OCTETS_MAX 64
#define SPIES 3 /* of so many messages one is a spy's, where it has something to do */
#define BORDER 16 /* octets before an end where something is asked for that goes beyond it */

/** What is wrong with a message; all else of it is right. */
enum flaw {
	FLAW_RANDOM, /**< the key is any */
	FLAW_NONE, /**< there is no key */
	FLAW_BIT, /**< one bit of it is wrong */
	FLAW_LOW, /**< its low half is right, */
	FLAW_HIGH, /**< its high half is */
	FLAW_RIGHT, /**< it is that of another right, */
	FLAW_REGION, /**< of another region, */
	FLAW_FORMER, /**< of an epoch that is over */
	FLAW_BORDER, /**< the key is right, but what is asked for goes beyond the region */
	FLAW_OUTSIDE, /**< it is in no region */
	FLAW_NODE, /**< the node has no such right, but the key */
	FLAW_OWNER, /**< keys and owners are asked for by who may not have them */
	FLAWS
};

enum spy_phase {
	SPY_NONE,
	SPY_CLAIMS, /**< and waits for the answer, as in all that follow but OWNS, READ, WROTE */
	SPY_OWNS,
	SPY_READS,
	SPY_READ,
	SPY_WRITES,
	SPY_WROTE,
	SPY_RELEASES
};

/** A region that is claimed, looked at and given up. */
struct spy {
	enum spy_phase phase;
	unsigned int region;
	unsigned int turn; /**< of the phase */
	uint8_t id;
};

struct forged {
	bool honest; /**< who spies has the right to it */
	uint16_t dst, use;
	struct mf_msg write; /**< kind MF_KIND_NONE: it is none */
	uint64_t data[OCTETS_MAX / 8];
	bool granted;
};

struct fault_forge {
	struct mf_fault_secrets secrets;
	struct mf_proto proto;
	uint16_t node;
	unsigned int turn;
	struct forged out[IDS];
	struct spy spy;
	unsigned int granted; /**< how many wait to be sent */
	uint64_t (*last)[RIGHTS], (*former)[RIGHTS]; /**< keys of each region, as far as they were seen */
	uint64_t heard[HEARD_MAX]; /**< the message that is coming */
	unsigned int blocks; /**< of it; 0: none is */
	struct mf_forge_stats stats;
};

struct fault_forge *forge_new(const struct mf_fault_config *c)
{
	struct fault_forge *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->secrets = *c->secrets;
	g->proto = *c->proto;
	g->node = c->node;
	g->last = calloc(c->secrets->regions, sizeof(*g->last));
	g->former = calloc(c->secrets->regions, sizeof(*g->former));
	if (g->last != NULL && g->former != NULL)
		return g;
	forge_free(g);
	return NULL;
}

void forge_free(struct fault_forge *g)
{
	if (g == NULL)
		return;
	free(g->last);
	free(g->former);
	free(g);
}

const struct mf_forge_stats *forge_stats(const struct fault_forge *g)
{
	return &g->stats;
}

/* ---- what is asked ---- */

/** What there is to know of a right; the key of the epoch before is kept. */
static struct mf_fault_secret look_up(struct fault_forge *g, unsigned int region, unsigned int right)
{
	struct mf_fault_secret s = g->secrets.look(g->secrets.ctx, region, g->node, right);
	uint64_t *last = &g->last[region][right];

	if (*last != s.key) {
		g->former[region][right] = *last;
		*last = s.key;
	}
	return s;
}

/** What is asked of a region, but for its key. */
static struct mf_msg request(const struct fault_forge *g, struct mf_rng *rng, unsigned int region)
{
	static const uint8_t kinds[RIGHTS][2] = {
		{MF_RREQ, MF_RREQ}, {MF_WREQ, MF_WREQ_ACK}, {MF_RMWREQ, MF_RMWREQ}};
	static const uint8_t ops[] = {MF_RMW_FADD, MF_RMW_SWAP, MF_RMW_FOR, MF_RMW_FAND};
	const struct mf_fault_region *r = &g->secrets.region[region];
	unsigned int right = (unsigned int)mf_rng_below(rng, RIGHTS);
	uint64_t first = (r->at + 7) / 8 * 8, end = r->at + r->size;
	struct mf_msg m = {.kind = kinds[right][mf_rng_below(rng, 2)],
			   .src = g->node,
			   .dst = r->node,
			   .ext = true,
			   .last = true,
			   .op = ops[mf_rng_below(rng, sizeof(ops))],
			   .size = 8,
			   .arg = {mf_rng_next(rng), 0}};

	if (first + 8 > end) { /* it has no aligned word */
		m.addr = r->at;
		m.size = 1;
	} else {
		m.addr = first + 8 * mf_rng_below(rng, (end - first) / 8);
	}
	return m;
}

static unsigned int right_of(const struct mf_msg *m)
{
	return m->kind == MF_RREQ ? 0 : m->kind == MF_RMWREQ ? 2 : 1;
}

/** The first address of a node, beginning at a region's end, that is in no region. */
static uint64_t beyond(const struct fault_forge *g, unsigned int region)
{
	const struct mf_fault_secrets *s = &g->secrets;
	uint64_t end = s->region[region].at + s->region[region].size;

	for (unsigned int i = region + 1; i < s->regions && s->region[i].node == s->region[region].node; i++)
		if (s->region[i].at < end + 8)
			end = s->region[i].at + s->region[i].size;
	return (end + 7) / 8 * 8;
}

/** Across the end of a region; atomics are within a word, so it is read or written. */
static void across(struct mf_msg *m, const struct mf_fault_region *r)
{
	if (m->kind == MF_RMWREQ)
		m->kind = MF_RREQ;
	m->addr = r->size > BORDER ? r->at + r->size - BORDER : r->at;
	m->size = OCTETS_MAX;
}

/** What only an owner may ask for, or who has a right. */
static void of_owners(struct mf_msg *m, struct mf_rng *rng, unsigned int right,
		      const struct mf_fault_secret *secret)
{
	m->kind = MF_RMWREQ;
	m->op = MF_RMW_ATTACH;
	m->arg[0] =
		secret->may ? RIGHTS + mf_rng_below(rng, 5) : right; /* who may: a right that there is not */
	if (secret->owns || mf_rng_below(rng, 2) == 0)
		return;
	m->op = mf_rng_below(rng, 2) == 0 ? MF_RMW_RELEASE : MF_RMW_SHARE;
	m->arg[0] = m->op == MF_RMW_SHARE ? m->src | right % 2 << 16 | 1 << 18 : 0;
}

/** Makes it wrong. @return false: it cannot be, in this manner */
static bool spoil(struct fault_forge *g, struct mf_rng *rng, enum flaw flaw, unsigned int region,
		  struct mf_msg *m)
{
	const struct mf_fault_region *r = &g->secrets.region[region];
	unsigned int right = right_of(m);
	uint64_t random = mf_rng_next(rng);
	struct mf_fault_secret secret = look_up(g, region, right);

	m->key = secret.key;
	switch (flaw) {
	case FLAW_RANDOM:
		m->key = random;
		return true;
	case FLAW_NONE:
		m->key = 0;
		return true;
	case FLAW_BIT:
		m->key ^= UINT64_C(1) << random % 64;
		return true;
	case FLAW_LOW:
		m->key ^= (random | 1) << 32;
		return true;
	case FLAW_HIGH:
		m->key ^= (random | 1) & UINT32_MAX;
		return true;
	case FLAW_RIGHT:
		m->key = look_up(g, region, (right + 1 + (unsigned int)(random & 1)) % RIGHTS).key;
		return true;
	case FLAW_REGION:
		m->key = look_up(g, (region + 1) % g->secrets.regions, right).key;
		return g->secrets.regions > 1;
	case FLAW_FORMER:
		m->key = g->former[region][right];
		return m->key != 0;
	case FLAW_BORDER:
		across(m, r);
		m->key = look_up(g, region, right_of(m)).key;
		return true;
	case FLAW_OUTSIDE:
		m->addr = beyond(g, region);
		return true;
	case FLAW_NODE:
		return !secret.may;
	default: /* what may be claimed may be its own by the time that this comes */
		of_owners(m, rng, right, &secret);
		return !secret.claimable;
	}
}

static unsigned int put(const struct fault_forge *g, const struct mf_msg *m, const void *data, uint64_t *word)
{
	if (m->kind == MF_RREQ || m->kind == MF_RMWREQ)
		return mf_proto_put_request(&g->proto, m, word);
	return mf_proto_put_chunk(&g->proto, m, data, word);
}

/** The chunk of a write that was granted. */
static unsigned int chunk(struct fault_forge *g, uint64_t *word)
{
	unsigned int i = 0;

	while (!g->out[i].granted)
		i++;
	g->out[i].granted = false;
	g->granted--;
	return put(g, &g->out[i].write, g->out[i].data, word);
}

/** A write is asked for before its chunk may go. */
static unsigned int notify(const struct mf_msg *m, uint64_t *word)
{
	const struct mf_msg n = {
		.kind = MF_NOTIFY, .src = m->src, .dst = m->dst, .id = m->id, .size = m->size, .ext = true};

	word[0] = mf_proto_put_single(&n);
	return 1;
}

/** Nobody asks himself. */
static unsigned int some_region(const struct fault_forge *g, struct mf_rng *rng)
{
	unsigned int i = (unsigned int)mf_rng_below(rng, g->secrets.regions);

	while (g->secrets.region[i].node == g->node)
		i = (i + 1) % g->secrets.regions;
	return i;
}

bool forge_can(const struct fault_forge *g)
{
	for (unsigned int i = 0; i < g->secrets.regions; i++)
		if (g->secrets.region[i].node != g->node)
			return true;
	return false;
}

/** Gives a message the next id, and its use. */
static struct forged *number(struct fault_forge *g, struct mf_msg *m)
{
	struct forged *o = &g->out[g->turn % IDS];

	m->id = (uint8_t)(MF_FAULT_FORGE_ID + g->turn++ % IDS);
	m->epoch = (uint16_t)(o->use + 1);
	*o = (struct forged){.dst = m->dst, .use = m->epoch};
	return o;
}

static unsigned int forge(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	struct forged *o;
	struct mf_msg m;
	unsigned int region;

	do {
		region = some_region(g, rng);
		m = request(g, rng, region);
	} while (!spoil(g, rng, (enum flaw)mf_rng_below(rng, FLAWS), region, &m));
	o = number(g, &m);
	g->stats.sent++;
	if (m.kind == MF_RREQ || m.kind == MF_RMWREQ)
		return put(g, &m, NULL, word);
	o->write = m;
	for (unsigned int i = 0; i < OCTETS_MAX / 8; i++)
		o->data[i] = mf_rng_next(rng);
	return notify(&m, word);
}

/* ---- who spies ---- */

static unsigned int spy_send(struct fault_forge *g, struct mf_msg m, enum spy_phase phase, uint64_t *word)
{
	struct spy *s = &g->spy;

	m.src = g->node;
	m.dst = g->secrets.region[s->region].node;
	m.ext = true;
	number(g, &m)->honest = true;
	s->phase = phase;
	s->turn = g->turn;
	s->id = m.id;
	return put(g, &m, NULL, word);
}

static unsigned int spy_ask(struct fault_forge *g, uint8_t op, enum spy_phase phase, uint64_t *word)
{
	const struct mf_msg m = {
		.kind = MF_RMWREQ, .op = op, .size = 8, .addr = g->secrets.region[g->spy.region].at};

	return spy_send(g, m, phase, word);
}

/** Anywhere in it. */
static unsigned int spy_access(struct fault_forge *g, struct mf_rng *rng, bool write, uint64_t *word)
{
	const struct mf_fault_region *r = &g->secrets.region[g->spy.region];
	uint64_t first = (r->at + 7) / 8 * 8, words = (r->at + r->size - first) / 8;
	uint64_t count = write || words < OCTETS_MAX / 8 ? 1 : OCTETS_MAX / 8;
	struct mf_msg m = {.kind = write ? MF_RMWREQ : MF_RREQ,
			   .op = MF_RMW_SWAP,
			   .size = (uint32_t)count * 8,
			   .addr = first + 8 * mf_rng_below(rng, words - count + 1),
			   .arg = {mf_rng_next(rng) | 1, 0}};

	m.key = look_up(g, g->spy.region, right_of(&m)).key;
	return spy_send(g, m, write ? SPY_WRITES : SPY_READS, word);
}

/** Takes one that is nobody's; one that it has without knowing, since an answer was lost, it gives up. */
static unsigned int spy_begin(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	unsigned int region = some_region(g, rng);
	struct mf_fault_secret secret = look_up(g, region, 0);

	if (!secret.claimable || g->secrets.region[region].size < 16 || (!secret.free && !secret.owns))
		return 0;
	g->spy.region = region;
	if (secret.owns)
		return spy_ask(g, MF_RMW_RELEASE, SPY_RELEASES, word);
	return spy_ask(g, MF_RMW_CLAIM, SPY_CLAIMS, word);
}

/** Its next step. @return blocks; 0: it has none */
static unsigned int spy(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	switch (g->spy.phase) {
	case SPY_NONE:
		return spy_begin(g, rng, word);
	case SPY_OWNS:
		return spy_access(g, rng, false, word);
	case SPY_READ:
		return spy_access(g, rng, true, word);
	case SPY_WROTE:
		return spy_ask(g, MF_RMW_RELEASE, SPY_RELEASES, word);
	default: /* the answer may have been lost */
		if (g->turn - g->spy.turn >= IDS)
			g->spy.phase = SPY_NONE;
		return 0;
	}
}

static bool all_zero(const uint8_t *data, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (data[i] != 0)
			return false;
	return true;
}

static void spy_answered(struct fault_forge *g, const struct mf_msg *m, const uint8_t *data)
{
	struct spy *s = &g->spy;

	if (m->id != s->id)
		return;
	if (m->kind != MF_RRES) {
		s->phase = SPY_NONE;
		return;
	}
	if (s->phase == SPY_READS)
		g->stats.found += !all_zero(data, m->size);
	if (!m->last)
		return;
	g->stats.claimed += s->phase == SPY_CLAIMS;
	if (s->phase == SPY_RELEASES)
		s->phase = SPY_NONE;
	else if (s->phase == SPY_CLAIMS || s->phase == SPY_READS || s->phase == SPY_WRITES)
		s->phase++;
}

unsigned int forge_next(struct fault_forge *g, struct mf_rng *rng, uint64_t *word)
{
	unsigned int n = 0;

	if (g->granted > 0)
		return chunk(g, word);
	if (mf_rng_below(rng, SPIES) == 0)
		n = spy(g, rng, word);
	return n > 0 ? n : forge(g, rng, word);
}

bool forge_granted(const struct fault_forge *g)
{
	return g->granted > 0;
}

/* ---- what comes ---- */

static struct forged *asked(struct fault_forge *g, uint16_t dst, uint8_t id)
{
	struct forged *o = id >= MF_FAULT_FORGE_ID ? &g->out[id - MF_FAULT_FORGE_ID] : NULL;

	return o != NULL && o->use != 0 && o->dst == dst ? o : NULL;
}

static void grant(struct fault_forge *g, const struct mf_msg *m)
{
	struct forged *o = asked(g, m->dst, m->id);

	if (o == NULL || m->resp || o->granted || o->write.kind == MF_KIND_NONE || m->size < o->write.size)
		return;
	o->granted = true;
	g->granted++;
}

/** Whether an answer is of this use of its id, and not of one long ago. */
static bool names(const struct forged *o, const struct mf_msg *m)
{
	unsigned int bits = m->kind == MF_ACK ? MF_ACK_USE_BITS : m->kind == MF_ERR ? MF_ERR_USE_BITS : 16;

	return ((m->epoch ^ o->use) & ((1u << bits) - 1)) == 0;
}

/** The word of a switch about a node, and its own refusals, are no answers of who was asked. */
static void answer(struct fault_forge *g, const struct mf_msg *m, const uint8_t *data)
{
	const struct forged *o = asked(g, m->src, m->id);

	if (o == NULL || !names(o, m) || (m->kind == MF_ERR && m->status == MF_ERR_RESTARTED))
		return;
	if (o->honest)
		spy_answered(g, m, data);
	else if (m->kind == MF_RRES || m->kind == MF_ACK)
		g->stats.let_in++;
	else if (m->kind == MF_ERR && m->status == MF_ERR_KEY)
		g->stats.refused++;
	else if (m->kind == MF_ERR && m->status != MF_ERR_RESOURCE)
		g->stats.told++;
}

static void single(struct fault_forge *g, uint64_t word)
{
	struct mf_msg m;

	if (mf_proto_get_single(word, &m) != 0)
		return;
	if (m.kind == MF_GRANT)
		grant(g, &m);
	else
		answer(g, &m, NULL);
}

static void several(struct fault_forge *g)
{
	const uint8_t *data;
	struct mf_msg m;

	if (g->blocks <= HEARD_MAX && mf_proto_get(&g->proto, g->heard, g->blocks, &m, &data) == 0)
		answer(g, &m, data);
	g->blocks = 0;
}

static void listen(struct fault_forge *g, uint8_t sync, uint64_t word)
{
	uint8_t type = mf_block_type(word);

	if (sync == MF_SYNC_CTRL && type == MF_BT_MS)
		g->blocks = 0;
	else if (sync == MF_SYNC_CTRL && type != MF_BT_MT) {
		if (type == MF_BT_G || type == MF_BT_MST)
			single(g, word);
		return;
	} else if (g->blocks == 0) {
		return;
	}
	if (g->blocks < HEARD_MAX)
		g->heard[g->blocks] = word;
	g->blocks++;
	if (sync == MF_SYNC_CTRL && type == MF_BT_MT)
		several(g);
}

void forge_hear(struct fault_forge *g, const struct mf_span *span)
{
	for (unsigned int i = 0; i < span->count; i++)
		listen(g, span->sync[i], span->word[i]);
}
