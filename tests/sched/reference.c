/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

struct demand {
	struct mf_sched_msg m;
	uint32_t remaining;
	bool started;
	bool head; /* of its pair */
};

struct port {
	mf_time until, left;
	uint64_t outstanding;
	bool matched, held;
	uint32_t debt;
};

struct ref {
	const struct mf_sched_config *c;
	struct mf_sched_msg *msgs; /* in the order in which they take effect */
	size_t n, applied;
	struct demand *demands; /* in order of arrival */
	size_t held;
	struct port src[512], dst[512];
	bool *seen;
	mf_time *pair_left; /* last grant of each pair, or pair and direction */
	mf_time clock;
	struct mf_sched_grant *grants;
	size_t granted, room;
};

mf_time reference_effective(const struct mf_sched_config *config, const struct mf_sched_msg *msg)
{
	bool inserts =
		msg->kind == MF_SCHED_DEMAND || msg->kind == MF_SCHED_CANCEL || msg->kind == MF_SCHED_FLUSH;

	return msg->at + (inserts ? config->insert : 0);
}

static mf_time period_of(const struct mf_sched_config *config, const struct mf_sched_grant *g)
{
	mf_time a = config->period[g->src], b = config->period[g->dst];

	return a > b ? a : b;
}

static mf_time duration(const struct mf_sched_config *config, const struct mf_sched_grant *g, uint32_t octets)
{
	mf_time period = period_of(config, g);

	if (config->release == MF_RELEASE_PAPER)
		return (mf_time)ceil((double)octets * period / 8);
	return ((mf_time)ceil(octets / 8.0) + (g->mega ? 0 : config->chunk_overhead)) * period;
}

/* The first end of a slot that is not before t. */
static mf_time slot_end(const struct mf_sched_config *config, const struct mf_sched_grant *g, mf_time t)
{
	mf_time slot = duration(config, g, config->chunk);

	return (t + slot - 1) / slot * slot;
}

mf_time reference_until(const struct mf_sched_config *config, const struct mf_sched_grant *g)
{
	mf_time until = g->at + duration(config, g, g->size), end = slot_end(config, g, until);

	return config->slots && !g->last && end - until < 2 * period_of(config, g) ? end : until;
}

/* The longest chunk that ends with the slot; where that is nearly over, the first half of both. */
uint32_t reference_size(const struct mf_sched_config *config, uint32_t remaining,
			const struct mf_sched_grant *g)
{
	uint32_t most = g->mega || remaining < config->chunk ? remaining : config->chunk, cut = 0;
	mf_time slot = duration(config, g, config->chunk), left = slot_end(config, g, g->at + 1) - g->at;
	mf_time period = period_of(config, g);

	if (!config->slots || most == remaining || (g->resp && g->first))
		return most;
	if (left / period < slot / period / 4)
		left = (left / period * period + slot) / 2;
	while (cut + 16 <= most && duration(config, g, cut + 16) <= left)
		cut += 16;
	return cut ? cut : most;
}

unsigned int reference_origin(const struct mf_sched_msg *m)
{
	if (m->kind == MF_SCHED_FLUSH)
		return 512; /* behind all that came with it */
	if (m->kind == MF_SCHED_HOLD || m->kind == MF_SCHED_UNHOLD)
		return m->dst;
	if (m->kind == MF_SCHED_HOLD_SRC || m->kind == MF_SCHED_UNHOLD_SRC)
		return m->src;
	return m->resp ? m->dst : m->src;
}

static void sort_messages(struct ref *r, const struct mf_sched_msg *msgs, size_t n)
{
	r->msgs = malloc((n + 1) * sizeof(*msgs));
	for (size_t i = 0; i < n; i++) {
		mf_time t = reference_effective(r->c, &msgs[i]);
		size_t j = r->n++;

		for (; j > 0; j--) {
			mf_time u = reference_effective(r->c, &r->msgs[j - 1]);

			if (u < t ||
			    (u == t && reference_origin(&r->msgs[j - 1]) <= reference_origin(&msgs[i])))
				break;
			r->msgs[j] = r->msgs[j - 1];
		}
		r->msgs[j] = msgs[i];
	}
}

static bool same(const struct mf_sched_msg *a, const struct mf_sched_msg *b)
{
	return a->src == b->src && a->dst == b->dst && a->resp == b->resp;
}

static void add(struct ref *r, const struct mf_sched_msg *m)
{
	unsigned int active = 0;

	if (!m->size || m->size > 65536)
		return;
	for (size_t i = 0; i < r->held; i++) {
		if (!same(&r->demands[i].m, m))
			continue;
		if (r->demands[i].m.id == m->id)
			return;
		active++;
	}
	if (active < r->c->x)
		r->demands[r->held++] = (struct demand){.m = *m, .remaining = m->size};
}

static void drop(struct ref *r, size_t i)
{
	memmove(r->demands + i, r->demands + i + 1, (--r->held - i) * sizeof(*r->demands));
}

static void cancel(struct ref *r, const struct mf_sched_msg *m)
{
	for (size_t i = 0; i < r->held; i++) {
		if (same(&r->demands[i].m, m) && r->demands[i].m.id == m->id) {
			drop(r, i);
			return;
		}
	}
}

static void flush(struct ref *r, unsigned int port)
{
	for (size_t i = r->held; i-- > 0;)
		if (r->demands[i].m.src == port || r->demands[i].m.dst == port)
			drop(r, i);
}

static void give_back(struct port *p, uint32_t size)
{
	p->outstanding = p->outstanding > size ? p->outstanding - size : 0;
}

static void hold(const struct ref *r, struct port *ports, unsigned int p, bool held)
{
	if (p < r->c->ports)
		ports[p].held = held;
}

static void apply(struct ref *r, const struct mf_sched_msg *m)
{
	if (m->kind == MF_SCHED_HOLD || m->kind == MF_SCHED_UNHOLD)
		hold(r, r->dst, m->dst, m->kind == MF_SCHED_HOLD);
	if (m->kind == MF_SCHED_HOLD_SRC || m->kind == MF_SCHED_UNHOLD_SRC)
		hold(r, r->src, m->src, m->kind == MF_SCHED_HOLD_SRC);
	if (m->src >= r->c->ports || m->dst >= r->c->ports)
		return;
	if (m->kind == MF_SCHED_FLUSH)
		flush(r, m->src);
	if (m->kind == MF_SCHED_DEMAND)
		add(r, m);
	if (m->kind == MF_SCHED_CANCEL)
		cancel(r, m);
	if (m->kind == MF_SCHED_FORWARDED) {
		give_back(&r->src[m->src], m->size);
		give_back(&r->dst[m->dst], m->size);
	}
}

static size_t pair(const struct ref *r, const struct mf_sched_msg *m)
{
	size_t cn = m->resp ? m->dst : m->src, mn = m->resp ? m->src : m->dst;

	return 2 * (cn * r->c->ports + mn) + (r->c->order == MF_ORDER_DIRECTION && m->resp);
}

/* Property 5 of 3.1.1 and D9: only the first of a pair. */
static void mark_heads(struct ref *r)
{
	size_t n = r->c->ports;

	memset(r->seen, 0, 2 * n * n);
	for (size_t i = 0; i < r->held; i++) {
		struct demand *d = &r->demands[i];
		bool *seen = &r->seen[pair(r, &d->m)];

		d->head = !*seen;
		*seen = true;
	}
}

static uint32_t next_size(const struct ref *r, const struct demand *d)
{
	return d->m.mega || d->remaining < r->c->chunk ? d->remaining : r->c->chunk;
}

static bool port_free(const struct ref *r, const struct port *p, uint32_t size)
{
	if (p->held || p->matched)
		return false;
	if (r->c->release == MF_RELEASE_WINDOW)
		return !p->outstanding || p->outstanding + size <= r->c->window;
	return p->until <= r->clock + r->c->ahead && p->left <= r->clock;
}

static bool eligible(const struct ref *r, const struct demand *d)
{
	uint32_t size = next_size(r, d);

	return d->head && port_free(r, &r->src[d->m.src], size) && port_free(r, &r->dst[d->m.dst], size);
}

static uint64_t octets(const struct ref *r, const struct demand *d)
{
	return d->remaining + (r->c->srpt_transfer ? d->m.behind * UINT64_C(256) : 0);
}

/* a has a higher priority than b. */
static bool precedes(const struct ref *r, const struct demand *a, const struct demand *b)
{
	if (a->m.excess != b->m.excess)
		return b->m.excess;
	if (r->c->priority == MF_SCHED_SRPT && octets(r, a) != octets(r, b))
		return octets(r, a) < octets(r, b);
	if (a->m.at != b->m.at)
		return a->m.at < b->m.at;
	if (a->m.src != b->m.src)
		return a->m.src < b->m.src;
	if (a->m.id != b->m.id)
		return a->m.id < b->m.id;
	if (a->m.resp != b->m.resp)
		return b->m.resp;
	return a->m.dst < b->m.dst;
}

static struct mf_sched_grant *append(struct ref *r)
{
	if (r->granted == r->room) {
		r->room = 2 * r->room + 64;
		r->grants = realloc(r->grants, r->room * sizeof(*r->grants));
	}
	return &r->grants[r->granted++];
}

static mf_time latest(mf_time a, mf_time b, mf_time c)
{
	a = a > b ? a : b;
	return a > c ? a : c;
}

/* Steps (4) and (5). */
static void grant(struct ref *r, struct demand *d, unsigned int iteration)
{
	struct port *s = &r->src[d->m.src], *t = &r->dst[d->m.dst];
	struct mf_sched_grant *g = append(r);
	mf_time *left = &r->pair_left[pair(r, &d->m)];
	mf_time decided = r->clock + iteration * r->c->iteration;

	*g = (struct mf_sched_grant){
		.at = latest(decided > *left ? decided : *left, s->until, t->until),
		.since = d->m.at,
		.src = d->m.src,
		.dst = d->m.dst,
		.id = d->m.id,
		.resp = d->m.resp,
		.first = !d->started,
		.mega = d->m.mega,
		.cookie = d->m.cookie,
		.iteration = iteration,
	};
	g->size = reference_size(r->c, d->remaining, g);
	g->last = g->size == d->remaining;
	*left = g->at;
	d->started = true;
	d->remaining -= g->size;
	s->matched = t->matched = true;
	if (r->c->release == MF_RELEASE_WINDOW) {
		s->outstanding += g->size;
		t->outstanding += g->size;
		return;
	}
	s->left = t->left = g->at;
	s->until = t->until = reference_until(r->c, g);
}

/* D2: forwarded requests and /G/ take the source's link in the other direction, a chunk at a time. */
static void charge(struct ref *r, const struct demand *d, const struct mf_sched_grant *g)
{
	const uint32_t chunk = (r->c->chunk + 7) / 8 + r->c->chunk_overhead;
	struct port *p = &r->dst[d->m.src];
	uint32_t blocks;

	if (r->c->release != MF_RELEASE_WIRE)
		return;
	p->debt += g->resp && g->first ? d->m.request_blocks : 1;
	if (p->debt < chunk)
		return;
	blocks = r->c->slots ? chunk : p->debt;
	p->until = (p->until > g->at ? p->until : g->at) + blocks * (mf_time)r->c->period[d->m.src];
	p->debt -= blocks;
}

static void settle(struct ref *r, size_t from)
{
	for (size_t g = from; g < r->granted; g++) {
		for (size_t i = 0; i < r->held; i++) {
			struct demand *d = &r->demands[i];

			if (r->grants[g].src == d->m.src && r->grants[g].dst == d->m.dst &&
			    r->grants[g].id == d->m.id && r->grants[g].resp == d->m.resp) {
				charge(r, d, &r->grants[g]);
				if (!d->remaining)
					drop(r, i);
				break;
			}
		}
	}
}

/* 3.1.2: the best of each destination, of those the best of each source. */
static bool iterate(struct ref *r, unsigned int iteration)
{
	struct demand *request[512] = {NULL}, *accept[512] = {NULL};
	size_t before = r->granted;

	mark_heads(r);
	for (size_t i = 0; i < r->held; i++) {
		struct demand *d = &r->demands[i], **best = &request[d->m.dst];

		if (eligible(r, d) && (!*best || precedes(r, d, *best)))
			*best = d;
	}
	for (unsigned int p = 0; p < r->c->ports; p++) {
		struct demand *d = request[p];

		if (d && (!accept[d->m.src] || precedes(r, d, accept[d->m.src])))
			accept[d->m.src] = d;
	}
	for (unsigned int p = 0; p < r->c->ports; p++)
		if (accept[p])
			grant(r, accept[p], iteration);
	settle(r, before);
	return r->granted > before;
}

/* 3.1.1, step (3). */
static bool greedy_select(struct ref *r)
{
	struct demand *best = NULL;
	size_t before = r->granted;

	mark_heads(r);
	for (size_t i = 0; i < r->held; i++)
		if (eligible(r, &r->demands[i]) && (!best || precedes(r, &r->demands[i], best)))
			best = &r->demands[i];
	if (!best)
		return false;
	grant(r, best, 1);
	settle(r, before);
	return true;
}

/* @return whether anything was granted; clock is at the end of the matching */
static bool matching(struct ref *r, bool greedy)
{
	unsigned int k = 0;

	if (greedy)
		k = greedy_select(r);
	else
		while ((!r->c->iterations || k < r->c->iterations) && iterate(r, k + 1))
			k++;
	for (unsigned int p = 0; p < r->c->ports; p++)
		r->src[p].matched = r->dst[p].matched = false;
	r->clock += k * r->c->iteration;
	return k;
}

static void earlier(mf_time *next, mf_time clock, mf_time t)
{
	if (t > clock && t < *next)
		*next = t;
}

static void port_event(const struct ref *r, mf_time *next, const struct port *p)
{
	earlier(next, r->clock, p->left);
	earlier(next, r->clock, p->until > r->c->ahead ? p->until - r->c->ahead : 0);
}

static mf_time next_event(const struct ref *r)
{
	mf_time next = MF_NEVER;

	if (r->applied < r->n)
		earlier(&next, r->clock, reference_effective(r->c, &r->msgs[r->applied]));
	for (unsigned int p = 0; r->held && p < r->c->ports; p++) {
		port_event(r, &next, &r->src[p]);
		port_event(r, &next, &r->dst[p]);
	}
	return next;
}

static void sort_grants(struct mf_sched_grant *g, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct mf_sched_grant x = g[i];
		size_t j = i;

		for (; j && g[j - 1].at > x.at; j--)
			g[j] = g[j - 1];
		g[j] = x;
	}
}

size_t reference_run(const struct mf_sched_config *config, bool greedy, const struct mf_sched_msg *msgs,
		     size_t n, struct mf_sched_grant **grants)
{
	struct ref *r = calloc(1, sizeof(*r));
	size_t granted;

	r->c = config;
	sort_messages(r, msgs, n);
	r->demands = calloc(n + 1, sizeof(*r->demands));
	r->seen = calloc(2 * config->ports, config->ports);
	r->pair_left = calloc(2 * config->ports, config->ports * sizeof(mf_time));
	while (r->clock != MF_NEVER) {
		while (r->applied < r->n && reference_effective(config, &r->msgs[r->applied]) <= r->clock)
			apply(r, &r->msgs[r->applied++]);
		if (!matching(r, greedy))
			r->clock = next_event(r);
	}
	sort_grants(r->grants, r->granted);
	*grants = r->grants;
	granted = r->granted;
	free(r->msgs);
	free(r->demands);
	free(r->seen);
	free(r->pair_left);
	free(r);
	return granted;
}
