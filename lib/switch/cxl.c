/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CXL switch of one level: input-buffered, with credits by port and message class, a first-in first-out
 * queue for each ingress and virtual channel, a crossbar.
 *
 *      flit --> link end --> buffers by class --(latency)--> queue of (ingress, VC) --> crossbar --> egress
 *
 * Only the head of a queue can go. If its egress has no credit of its class, it waits, and with it all
 * that is behind it, whatever egress that is for: head-of-line blocking, as in EDM's 4.3.1. Its buffers
 * stay occupied, so the node at the ingress gets no credits back, and what it has for others waits there.
 * Heads of one egress and class go in the order in which they became heads, so ingresses take turns.
 * Responses have a virtual channel of their own, and nodes take them in whatever they do: no cycle of
 * waiting can form.
 *
 * What happens at a time has its effect one picosecond later: so nothing hangs on the order in which
 * ports are called at one time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridges.h"
#include "cxl_param.h"
#include "mf_table.h"

#define NIL UINT32_MAX

enum { LATENCY = CXL_LINK_PARAMS, PARAMS };

static const struct mf_param params[] = {
	{CXL_PARAM_FLIT},
	{CXL_PARAM_REQ},
	{CXL_PARAM_RWD},
	{CXL_PARAM_NDR},
	{CXL_PARAM_DRS},
	{CXL_PARAM_REPLAY},
	{CXL_PARAM_TIMEOUT},
	{CXL_PARAM_TELL},
	{"latency", MF_PARAM_TIME, 70e3, 1, 1e9, "from port to port, its ports included (our choice)"},
	{0}};

/** A message in a buffer. */
struct entry {
	struct cxl_message message;
	mf_time at; /**< when it leaves the pipeline */
	uint32_t next; /**< in the pipeline, its queue, or the free ones */
	uint16_t ingress;
};

/** A queue of an ingress and a virtual channel: number 2 * ingress + VC. */
struct queue {
	uint32_t head, tail; /**< entries */
	uint32_t next; /**< queue whose head is for the same egress and class */
	bool asks; /**< its head stands in the list of its egress */
};

struct list {
	uint32_t head, tail;
};

enum timer { TIMER_TELL, TIMER_REPLAY, TIMER_ASK, TIMERS };

struct timer_node {
	mf_time at; /**< MF_NEVER: not in the list */
	uint32_t prev, next;
};

struct port {
	struct cxl_link link;
	struct list heads[CXL_CLASSES]; /**< queues whose heads are for this egress */
	uint8_t has; /**< classes with such heads, a mask */
	uint8_t freeing[CXL_CLASSES]; /**< buffers that are free from later_at on */
	struct timer_node timer[TIMERS];
	struct timer_node arrival; /**< of the flit below */
	uint16_t blocks;
	uint64_t word[CXL_FLIT_WORDS];
};

struct cxl {
	struct mf_bridge_config config;
	struct port *port;
	struct queue *queue; /**< [2 * ports] */
	struct entry *entry;
	uint32_t entries, fresh, free, inside, inside_max;
	mf_time latency;
	struct list pipeline; /**< entries, by their time */
	struct list timer[TIMERS], arrival; /**< ports, by their time */
	/** What was taken at a time has its effect after it: MF_NEVER where nothing was. */
	mf_time later_at;
	uint64_t *later_queue, *later_port; /**< which, as bits */
	unsigned int words; /**< of later_port; later_queue has twice as many */
	uint64_t forwarded, held_back, drop_destination, drop_source;
};

static struct cxl *cxl_of(struct mf_bridge *b)
{
	return (struct cxl *)b;
}

/* Lists of ports by time */

static struct timer_node *node_of(struct cxl *x, unsigned int kind, unsigned int port)
{
	return kind == TIMERS ? &x->port[port].arrival : &x->port[port].timer[kind];
}

static struct list *list_of(struct cxl *x, unsigned int kind)
{
	return kind == TIMERS ? &x->arrival : &x->timer[kind];
}

static void unset(struct cxl *x, unsigned int kind, unsigned int port)
{
	struct timer_node *t = node_of(x, kind, port);
	struct list *l = list_of(x, kind);

	if (t->at == MF_NEVER)
		return;
	t->at = MF_NEVER;
	if (t->prev == NIL)
		l->head = t->next;
	else
		node_of(x, kind, t->prev)->next = t->next;
	if (t->next == NIL)
		l->tail = t->prev;
	else
		node_of(x, kind, t->next)->prev = t->prev;
}

/** Into the list, by (time, port); nearly always at its end. */
static void set(struct cxl *x, unsigned int kind, unsigned int port, mf_time at)
{
	struct timer_node *t = node_of(x, kind, port);
	struct list *l = list_of(x, kind);
	uint32_t before = l->tail;

	while (before != NIL) {
		struct timer_node *b = node_of(x, kind, before);

		if (b->at < at || (b->at == at && before < port))
			break;
		before = b->prev;
	}
	t->at = at;
	t->prev = before;
	t->next = before != NIL ? node_of(x, kind, before)->next : l->head;
	if (t->next == NIL)
		l->tail = port;
	else
		node_of(x, kind, t->next)->prev = port;
	if (before == NIL)
		l->head = port;
	else
		node_of(x, kind, before)->next = port;
}

static void change(struct cxl *x, unsigned int kind, unsigned int port, mf_time at)
{
	if (node_of(x, kind, port)->at == at)
		return;
	unset(x, kind, port);
	if (at != MF_NEVER)
		set(x, kind, port, at);
}

static mf_time first_of(const struct cxl *x, unsigned int kind)
{
	const struct list *l = kind == TIMERS ? &x->arrival : &x->timer[kind];

	if (l->head == NIL)
		return MF_NEVER;
	return kind == TIMERS ? x->port[l->head].arrival.at : x->port[l->head].timer[kind].at;
}

static void wants(struct cxl *x, unsigned int port)
{
	x->config.wants[port / 64] |= UINT64_C(1) << port % 64;
}

/** Something has changed at a link: has it something to send, and when else must it be looked at? */
static void look(struct cxl *x, unsigned int port, mf_time now)
{
	const struct cxl_link *l = &x->port[port].link;

	if (cxl_link_ready(l) <= now || (cxl_link_may(l) & x->port[port].has) != 0)
		wants(x, port);
	change(x, TIMER_TELL, port, l->tell_at > now ? l->tell_at : MF_NEVER);
	change(x, TIMER_REPLAY, port, l->replay_at);
	change(x, TIMER_ASK, port, l->ask_at);
}

/* Queues and the crossbar */

/** The head of a queue asks its egress. */
static void ask(struct cxl *x, uint32_t queue)
{
	struct queue *q = &x->queue[queue];
	const struct cxl_message *m = &x->entry[q->head].message;
	unsigned int class = cxl_op_class[m->op];
	struct port *p = &x->port[m->dst];
	struct list *l = &p->heads[class];

	q->asks = true;
	q->next = NIL;
	if (p->has & 1 << class)
		x->queue[l->tail].next = queue;
	else
		l->head = queue;
	l->tail = queue;
	p->has |= (uint8_t)(1 << class);
	if (cxl_link_may(&p->link) & 1 << class)
		wants(x, m->dst);
	else
		x->held_back++;
}

/** Out of the pipeline into its queue. */
static void enqueue(struct cxl *x, uint32_t i)
{
	struct entry *e = &x->entry[i];
	uint32_t queue = (uint32_t)e->ingress * CXL_VCS + cxl_vc(cxl_op_class[e->message.op]);
	struct queue *q = &x->queue[queue];

	e->next = NIL;
	if (q->head == NIL)
		q->head = i;
	else
		x->entry[q->tail].next = i;
	q->tail = i;
	if (!q->asks && (x->later_queue[queue / 64] >> queue % 64 & 1) == 0)
		ask(x, queue);
}

static unsigned int has(void *ctx, unsigned int port, mf_time now)
{
	const struct cxl *x = ctx;

	(void)now;
	return x->port[port].has;
}

/** From later on: a head for another egress asks, and the buffer is free. */
static void defer(struct cxl *x, uint32_t queue, bool asks, unsigned int port, unsigned int class,
		  mf_time now)
{
	x->later_at = now + 1;
	if (asks)
		x->later_queue[queue / 64] |= UINT64_C(1) << queue % 64;
	x->later_port[port / 64] |= UINT64_C(1) << port % 64;
	x->port[port].freeing[class]++;
}

static void take(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m)
{
	struct cxl *x = ctx;
	struct port *p = &x->port[port];
	uint32_t queue = p->heads[class].head, i;
	struct queue *q = &x->queue[queue];
	bool other;

	p->heads[class].head = q->next;
	if (q->next == NIL)
		p->has &= (uint8_t) ~(1 << class);
	q->asks = false;
	i = q->head;
	q->head = x->entry[i].next;
	*m = x->entry[i].message;
	other = q->head != NIL && x->entry[q->head].message.dst != port;
	defer(x, queue, other, x->entry[i].ingress, class, now);
	if (q->head != NIL && !other)
		ask(x, queue);
	x->entry[i].next = x->free;
	x->free = i;
	x->inside--;
	x->forwarded++;
}

/** A message has come: it has a buffer, since it had a credit. */
static void deliver(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m)
{
	struct cxl *x = ctx;
	bool known = m->dst < x->config.ports && x->config.up[m->dst] && m->dst != port;
	uint32_t i = x->free;

	if (!known || m->src != port) {
		x->drop_destination += !known;
		x->drop_source += known;
		cxl_link_freed(&x->port[port].link, cxl_op_class[m->op], at);
		return;
	}
	if (i != NIL)
		x->free = x->entry[i].next;
	else
		i = x->fresh++;
	x->entry[i].message = *m;
	x->entry[i].at = at + x->latency;
	x->entry[i].ingress = (uint16_t)port;
	x->entry[i].next = NIL;
	if (x->pipeline.head == NIL)
		x->pipeline.head = i;
	else
		x->entry[x->pipeline.tail].next = i;
	x->pipeline.tail = i;
	if (++x->inside > x->inside_max)
		x->inside_max = x->inside;
}

static const struct cxl_ends ends = {.has = has, .take = take, .deliver = deliver};

/* What happens at its time */

static void arrive(struct cxl *x)
{
	uint32_t port = x->arrival.head;
	struct port *p = &x->port[port];
	mf_time at = p->arrival.at;

	unset(x, TIMERS, port);
	cxl_link_receive(&p->link, at, p->word, p->blocks);
	look(x, port, at);
}

static void come_later(struct cxl *x)
{
	mf_time now = x->later_at;

	x->later_at = MF_NEVER;
	for (unsigned int w = 0; w < x->words; w++)
		for (uint64_t *s = &x->later_port[w]; *s != 0; *s &= *s - 1) {
			unsigned int port = w * 64 + (unsigned int)__builtin_ctzll(*s);
			struct port *p = &x->port[port];

			for (unsigned int c = 0; c < CXL_CLASSES; c++)
				for (; p->freeing[c] != 0; p->freeing[c]--)
					cxl_link_freed(&p->link, c, now);
			look(x, port, now);
		}
	for (unsigned int w = 0; w < CXL_VCS * x->words; w++)
		for (uint64_t *s = &x->later_queue[w]; *s != 0; *s &= *s - 1)
			ask(x, w * 64 + (unsigned int)__builtin_ctzll(*s));
}

static mf_time pipeline_next(const struct cxl *x)
{
	return x->pipeline.head != NIL ? x->entry[x->pipeline.head].at : MF_NEVER;
}

/** All that has its effect by now, in the order of time. */
static void settle(struct cxl *x, mf_time now)
{
	while (true) {
		mf_time piped = pipeline_next(x), arrives = first_of(x, TIMERS);
		mf_time next = mf_time_min(x->later_at, mf_time_min(piped, arrives));
		uint32_t i;

		if (next > now)
			return;
		if (x->later_at == next) {
			come_later(x);
		} else if (arrives == next) {
			arrive(x);
		} else {
			i = x->pipeline.head;
			x->pipeline.head = x->entry[i].next;
			enqueue(x, i);
		}
	}
}

/** Of a port one flit at most is known before its time; the one before has had its. */
static void cxl_message(struct mf_bridge *b, unsigned int port, mf_time at, const uint64_t *word,
			unsigned int n)
{
	struct cxl *x = cxl_of(b);
	struct port *p = &x->port[port];

	if (p->arrival.at != MF_NEVER)
		settle(x, p->arrival.at);
	p->blocks = n <= CXL_FLIT_WORDS ? (uint16_t)n : 0;
	memcpy(p->word, word, p->blocks * sizeof(*word));
	set(x, TIMERS, port, at + 1);
}

static unsigned int cxl_pull(struct mf_bridge *b, unsigned int port, mf_time now, uint64_t *word)
{
	struct cxl *x = cxl_of(b);
	unsigned int n;

	settle(x, now);
	cxl_link_run(&x->port[port].link, now);
	n = cxl_link_pull(&x->port[port].link, now, word);
	look(x, port, now);
	return n;
}

static void cxl_run(struct mf_bridge *b, mf_time now)
{
	struct cxl *x = cxl_of(b);

	settle(x, now);
	for (unsigned int kind = 0; kind < TIMERS; kind++)
		while (first_of(x, kind) <= now) {
			uint32_t port = x->timer[kind].head;

			cxl_link_run(&x->port[port].link, now);
			look(x, port, now);
		}
}

static mf_time cxl_next(const struct mf_bridge *b)
{
	const struct cxl *x = (const struct cxl *)b;
	mf_time next = mf_time_min(x->later_at, pipeline_next(x));

	for (unsigned int kind = 0; kind <= TIMERS; kind++)
		next = mf_time_min(next, first_of(x, kind));
	return next;
}

static bool cxl_busy(const struct mf_bridge *b)
{
	const struct cxl *x = (const struct cxl *)b;

	return x->inside != 0 || x->arrival.head != NIL;
}

/** A frame is nothing that a CXL link carries: the demultiplexers find none. */
static void cxl_frame(struct mf_bridge *b, unsigned int port, mf_time at, const uint8_t *frame, uint16_t len)
{
	(void)b;
	(void)port;
	(void)at;
	(void)frame;
	(void)len;
}

static unsigned int cxl_counters(const struct mf_bridge *b, struct mf_counter *out)
{
	const struct cxl *x = (const struct cxl *)b;
	struct cxl_link_stats sum = {0};
	unsigned int n;

	for (unsigned int i = 0; i < x->config.ports; i++)
		cxl_link_add(&sum, &x->port[i].link.stats);
	n = cxl_link_counters(&sum, out);
	out[n++] = (struct mf_counter){"forwarded", x->forwarded};
	out[n++] = (struct mf_counter){"held_back", x->held_back};
	out[n++] = (struct mf_counter){"inside_max", x->inside_max};
	out[n++] = (struct mf_counter){"drop_destination", x->drop_destination};
	out[n++] = (struct mf_counter){"drop_source", x->drop_source};
	return n;
}

static void cxl_destroy(struct mf_bridge *b)
{
	struct cxl *x = cxl_of(b);

	for (unsigned int i = 0; x->port != NULL && i < x->config.ports; i++)
		cxl_link_fini(&x->port[i].link);
	free((void *)(uintptr_t)x->config.up);
	mf_table_free(x->port);
	mf_table_free(x->queue);
	mf_table_free(x->entry);
	free(x->later_queue);
	free(x);
}

static int make_ports(struct cxl *x, struct cxl_link_config *link)
{
	int err = 0;

	link->ends = &ends;
	link->ctx = x;
	for (unsigned int i = 0; i < x->config.ports && err == 0; i++) {
		struct port *p = &x->port[i];

		link->port = i;
		err = cxl_link_init(&p->link, link);
		p->arrival.at = MF_NEVER;
		for (unsigned int kind = 0; kind < TIMERS; kind++)
			p->timer[kind].at = MF_NEVER;
		for (unsigned int vc = 0; vc < CXL_VCS; vc++)
			x->queue[i * CXL_VCS + vc].head = NIL;
		if (x->config.up[i])
			look(x, i, 0);
	}
	return err;
}

static int allocate(struct cxl *x, const struct mf_bridge_config *c, struct cxl_link_config *link)
{
	bool *up = malloc(c->ports * sizeof(*up));

	for (unsigned int i = 0; i < CXL_CLASSES; i++)
		x->entries += link->buffers[i] * c->ports;
	x->config.up = up;
	x->words = (c->ports + 63) / 64;
	x->port = mf_table_new(c->ports, sizeof(*x->port));
	x->queue = mf_table_new(c->ports * CXL_VCS, sizeof(*x->queue));
	x->entry = mf_table_new(x->entries, sizeof(*x->entry));
	x->later_queue = calloc((1 + CXL_VCS) * (size_t)x->words, sizeof(*x->later_queue));
	if (up == NULL || x->port == NULL || x->queue == NULL || x->entry == NULL || x->later_queue == NULL)
		return -ENOMEM;
	x->later_port = x->later_queue + (size_t)CXL_VCS * x->words;
	memcpy(up, c->up, c->ports * sizeof(*up));
	return make_ports(x, link);
}

static struct mf_bridge *cxl_create(const struct mf_bridge_config *c)
{
	const struct list empty = {NIL, NIL};
	struct cxl *x = calloc(1, sizeof(*x));
	struct cxl_link_config link = {0};

	if (x == NULL)
		return NULL;
	x->config = *c;
	x->config.up = NULL;
	x->latency = (mf_time)c->param[LATENCY];
	x->free = NIL;
	x->later_at = MF_NEVER;
	x->pipeline = x->arrival = x->timer[TIMER_TELL] = x->timer[TIMER_REPLAY] = x->timer[TIMER_ASK] =
		empty;
	if (cxl_param_link(c->param, &link) && allocate(x, c, &link) == 0)
		return (struct mf_bridge *)x;
	cxl_destroy((struct mf_bridge *)x);
	errno = link.format == NULL || link.ends == NULL ? EINVAL : ENOMEM;
	return NULL;
}

const struct mf_bridge_ops bridge_cxl = {.name = "cxl",
					 .params = params,
					 .messages = true,
					 .create = cxl_create,
					 .destroy = cxl_destroy,
					 .frame = cxl_frame,
					 .message = cxl_message,
					 .pull_message = cxl_pull,
					 .run = cxl_run,
					 .next = cxl_next,
					 .busy = cxl_busy,
					 .counters = cxl_counters};
