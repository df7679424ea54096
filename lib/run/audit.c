/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler in front of the scheduler: it hands everything on, keeps a book of all demands, and holds each
 * grant against it. It knows no policy: what it asks must hold of any.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "run/mf_leaks.h"

/** A demand by its pair, direction and id, and by when it came: since of its grants. */
struct demand {
	uint64_t key; /**< 0: none */
	mf_time since;
	uint32_t size, granted;
	uint32_t others; /**< demands with the same key and time that may be granted yet: see enter() */
	bool twice; /**< there were others */
};

struct audit {
	const struct mf_sched_ops *ops;
	struct mf_sched *sched;
	struct mf_sched_config config;
	struct demand *book; /**< [mask + 1], a hash table */
	size_t mask, used;
	mf_time *pair; /**< [c * ports + m, and by direction]: since of its last grant */
	mf_time from[MF_PORTS_MAX], to[MF_PORTS_MAX]; /**< a port is busy as source, as destination */
	char said[256];
};

static void say(struct audit *a, const struct mf_sched_grant *g, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The first one counts. */
static void say(struct audit *a, const struct mf_sched_grant *g, const char *format, ...)
{
	va_list args;
	size_t n;

	if (a->said[0] != '\0')
		return;
	n = (size_t)snprintf(a->said, sizeof(a->said),
			     "at %llu ps %u octets are granted from port %u to port %u, id %u: ",
			     (unsigned long long)g->at, g->size, g->src, g->dst, g->id);
	va_start(args, format);
	vsnprintf(a->said + n, sizeof(a->said) - n, format, args);
	va_end(args);
}

static uint64_t key_of(unsigned int src, unsigned int dst, bool resp, unsigned int id)
{
	return UINT64_C(1) << 63 | (uint64_t)src << 32 | (uint64_t)dst << 16 | (uint64_t)resp << 8 | id;
}

/** Where a demand is, or may be entered. */
static struct demand *find(const struct audit *a, uint64_t key, mf_time since)
{
	size_t i = mf_hash64(key ^ mf_hash64(since)) & a->mask;

	while (a->book[i].key != 0 && (a->book[i].key != key || a->book[i].since != since))
		i = (i + 1) & a->mask;
	return &a->book[i];
}

/** Twice the room, without those that are granted in full. */
static bool grow(struct audit *a)
{
	struct demand *old = a->book;
	size_t n = old == NULL ? 0 : a->mask + 1;

	a->mask = old == NULL ? 4095 : 2 * a->mask + 1;
	a->used = 0;
	a->book = calloc(a->mask + 1, sizeof(*a->book));
	for (size_t i = 0; i < n && a->book != NULL; i++)
		if (old[i].key != 0 && old[i].granted < old[i].size) {
			*find(a, old[i].key, old[i].since) = old[i];
			a->used++;
		}
	free(old);
	return a->book != NULL;
}

static void enter(struct audit *a, const struct mf_sched_msg *m)
{
	uint64_t key = key_of(m->src, m->dst, m->resp, m->id);
	struct demand *d;

	if (a->book == NULL || (a->used > a->mask / 2 && !grow(a)))
		return;
	d = find(a, key, m->at);
	a->used += d->key == 0;
	/*
	 * Of two with one id that came by one port at one time the scheduler refuses one; if it was stalled
	 * it may take the second when the first is granted. Nobody here can tell, so both are allowed.
	 */
	*d = (struct demand){.key = key,
			     .since = m->at,
			     .size = m->size > d->size ? m->size : d->size,
			     .others = d->others + (d->key != 0),
			     .twice = d->key != 0};
}

static mf_time duration(const struct audit *a, const struct mf_sched_grant *g)
{
	uint32_t x = a->config.period[g->src], y = a->config.period[g->dst], period = x > y ? x : y;

	if (a->config.release == MF_RELEASE_PAPER)
		return ((mf_time)g->size * period + 7) / 8;
	return ((g->size + 7) / 8 + (g->mega ? 0 : a->config.chunk_overhead)) * (mf_time)period;
}

static void hold_against_book(struct audit *a, const struct mf_sched_grant *g)
{
	struct demand *d = find(a, key_of(g->src, g->dst, g->resp, g->id), g->since);

	if (d->key == 0) {
		say(a, g, "nobody asked for it");
		return;
	}
	if (!d->twice && g->first != (d->granted == 0))
		say(a, g, "%s its demand's first", g->first ? "it is told as" : "it is not told as");
	if (g->size > d->size - d->granted)
		say(a, g, "%u of %u were granted already", d->granted, d->size);
	d->granted += g->size;
	if (d->twice && g->last)
		d->granted = d->size;
	if (d->others > 0 && g->last) {
		d->others--;
		d->granted = 0;
		return;
	}
	if (g->last != (d->granted >= d->size))
		say(a, g, "%s its demand's last", g->last ? "it is told as" : "it is not told as");
	if (!g->mega && g->size > a->config.chunk)
		say(a, g, "a chunk has %u", a->config.chunk);
}

/** Step (2) of 3.1.1, and (7): both are free, l / B after what they had before. */
static void hold_against_ports(struct audit *a, const struct mf_sched_grant *g)
{
	if (g->at < a->from[g->src])
		say(a, g, "the source is busy until %llu", (unsigned long long)a->from[g->src]);
	if (g->at < a->to[g->dst])
		say(a, g, "the destination is busy until %llu", (unsigned long long)a->to[g->dst]);
	a->from[g->src] = a->to[g->dst] = g->at + duration(a, g);
}

/** Property 5 of 3.1.1, D9: of a pair, and by order "direction" of each direction. */
static void hold_against_pair(struct audit *a, const struct mf_sched_grant *g)
{
	size_t c = g->resp ? g->dst : g->src, m = g->resp ? g->src : g->dst;
	bool apart = a->config.order == MF_ORDER_DIRECTION && g->resp;
	mf_time *last = &a->pair[2 * (c * a->config.ports + m) + apart];

	if (g->since < *last)
		say(a, g, "its demand is older than the last one granted of its pair");
	*last = g->since;
}

static struct audit *audit_of(const struct mf_sched *s)
{
	return (struct audit *)(uintptr_t)s;
}

static unsigned int inputs(struct mf_sched *s, const struct mf_sched_msg *msgs, unsigned int n)
{
	struct audit *a = audit_of(s);

	n = a->ops->inputs(a->sched, msgs, n);
	for (unsigned int i = 0; i < n; i++)
		if (msgs[i].kind == MF_SCHED_DEMAND)
			enter(a, &msgs[i]);
	return n;
}

static int input(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	struct audit *a = audit_of(s);
	int err = a->ops->input(a->sched, msg);

	if (err == 0 && msg->kind == MF_SCHED_DEMAND)
		enter(a, msg);
	return err;
}

static unsigned int run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	struct audit *a = audit_of(s);
	unsigned int n = a->ops->run(a->sched, now, grants, max);

	for (unsigned int i = 0; i < n && a->book != NULL; i++) {
		if (grants[i].size == 0) /* gives a cookie back, or answers a flush */
			continue;
		hold_against_book(a, &grants[i]);
		hold_against_ports(a, &grants[i]);
		hold_against_pair(a, &grants[i]);
	}
	return n;
}

static unsigned int offer(struct mf_sched *s, const struct mf_sched_msg *msg, mf_time now,
			  struct mf_sched_grant *grants, unsigned int max)
{
	input(s, msg);
	return run(s, now, grants, max);
}

static mf_time next(const struct mf_sched *s)
{
	const struct audit *a = audit_of(s);

	return a->ops->next(a->sched);
}

static void stats(const struct mf_sched *s, struct mf_sched_stats *out)
{
	const struct audit *a = audit_of(s);

	a->ops->stats(a->sched, out);
}

static unsigned int counters(const struct mf_sched *s, struct mf_counter *out)
{
	const struct audit *a = audit_of(s);

	return a->ops->counters != NULL ? a->ops->counters(a->sched, out) : 0;
}

static void destroy(struct mf_sched *s)
{
	struct audit *a = audit_of(s);

	a->ops->destroy(a->sched);
	free(a->book);
	free(a->pair);
	free(a);
}

static const struct mf_sched_ops audit_ops = {
	.name = "audit",
	.destroy = destroy,
	.input = input,
	.inputs = inputs,
	.run = run,
	.offer = offer,
	.next = next,
	.stats = stats,
	.counters = counters,
};

/** @return 0 or -ENOMEM: the scheduler is as before */
static int put_before(const struct mf_fabric *f, struct mf_scheduler *s)
{
	struct audit *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return -ENOMEM;
	a->ops = mf_scheduler_policy(s, &a->sched);
	fabric_sched_config(f->tier, &a->config);
	a->pair = calloc(2 * (size_t)f->nodes * f->nodes, sizeof(*a->pair));
	if (grow(a) && a->pair != NULL) {
		mf_scheduler_set_policy(s, &audit_ops, (struct mf_sched *)a);
		return 0;
	}
	free(a->book);
	free(a->pair);
	free(a);
	return -ENOMEM;
}

int mf_fabric_audit(struct mf_fabric *f)
{
	int err = 0;

	for (unsigned int k = 0; k < f->graph->switches && err == 0; k++)
		err = put_before(f, f->sw[k].sched);
	return err;
}

static bool audited(const struct mf_scheduler *s, char *err, size_t errlen)
{
	struct mf_sched *policy;
	const struct audit *a;

	if (mf_scheduler_policy(s, &policy) != &audit_ops)
		return true;
	a = audit_of(policy);
	if (a->said[0] == '\0')
		return true;
	snprintf(err, errlen, "%s", a->said);
	return false;
}

bool mf_fabric_audited(const struct mf_fabric *f, char *err, size_t errlen)
{
	for (unsigned int k = 0; k < f->graph->switches; k++)
		if (!audited(f->sw[k].sched, err, errlen))
			return false;
	return true;
}
