/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "systems/cxl/cxl_param.h"
#include "systems/cxl/cxl_switch.h"
#include "systems/cxl/mf_cxl.h"

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

static struct cxl *cxl_of(struct mf_bridge *b)
{
	return (struct cxl *)b;
}

/** Something has changed at a link: has it something to send, and when else must it be looked at? */
static void look(struct cxl *x, unsigned int port, mf_time now)
{
	const struct cxl_link *l = &x->port[port].link;

	if (cxl_link_ready(l) <= now || (cxl_link_may(l) & x->port[port].has) != 0)
		cxl_wants(x, port);
	cxl_timer_set(x, CXL_TIMER_TELL, port, l->tell_at > now ? l->tell_at : MF_NEVER);
	cxl_timer_set(x, CXL_TIMER_REPLAY, port, l->replay_at);
	cxl_timer_set(x, CXL_TIMER_ASK, port, l->ask_at);
}

/* What happens at its time */

static void arrive(struct cxl *x)
{
	uint32_t port = x->timer[CXL_ARRIVAL].head;
	struct cxl_link *l = &x->port[port].link;
	mf_time at = l->arrival;

	cxl_timer_set(x, CXL_ARRIVAL, port, MF_NEVER);
	cxl_link_arrive(l);
	look(x, port, at);
}

static void come_later(struct cxl *x)
{
	mf_time now = x->later_at;

	x->later_at = MF_NEVER;
	for (unsigned int w = 0; w < x->words; w++)
		for (uint64_t *s = &x->later_port[w]; *s != 0; *s &= *s - 1) {
			unsigned int port = w * 64 + (unsigned int)__builtin_ctzll(*s);
			struct cxl_port *p = &x->port[port];

			for (unsigned int c = 0; c < CXL_CLASSES; c++)
				for (; p->freeing[c] != 0; p->freeing[c]--)
					cxl_link_freed(&p->link, c, now);
			look(x, port, now);
		}
	for (unsigned int w = 0; w < CXL_VCS * x->words; w++)
		for (uint64_t *s = &x->later_queue[w]; *s != 0; *s &= *s - 1)
			cxl_ask(x, w * 64 + (unsigned int)__builtin_ctzll(*s));
}

static mf_time pipeline_next(const struct cxl *x)
{
	return x->pipeline.head != CXL_NIL ? x->entry[x->pipeline.head].at : MF_NEVER;
}

/** All that has its effect by now, in the order of time. */
static void settle(struct cxl *x, mf_time now)
{
	while (true) {
		mf_time piped = pipeline_next(x), arrives = cxl_timer_first(x, CXL_ARRIVAL);
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
			if (x->pipeline.head != CXL_NIL)
				__builtin_prefetch(&x->entry[x->pipeline.head], 1);
			cxl_enqueue(x, i);
		}
	}
}

/** Of a port one flit at most is known before its time; the one before has had its. */
static void cxl_message(struct mf_bridge *b, unsigned int port, mf_time at, const uint64_t *word,
			unsigned int n)
{
	struct cxl *x = cxl_of(b);
	struct cxl_link *l = &x->port[port].link;

	if (l->arrival != MF_NEVER)
		settle(x, l->arrival);
	cxl_link_hold(l, at + 1, word, n);
	cxl_timer_set(x, CXL_ARRIVAL, port, l->arrival);
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
	for (enum cxl_timer kind = 0; kind < CXL_ARRIVAL; kind++)
		while (cxl_timer_first(x, kind) <= now) {
			uint32_t port = x->timer[kind].head;

			cxl_link_run(&x->port[port].link, now);
			look(x, port, now);
		}
}

static mf_time cxl_next(const struct mf_bridge *b)
{
	const struct cxl *x = (const struct cxl *)b;
	mf_time next = mf_time_min(x->later_at, pipeline_next(x));

	for (enum cxl_timer kind = 0; kind < CXL_TIMERS; kind++)
		next = mf_time_min(next, cxl_timer_first(x, kind));
	return next;
}

static bool cxl_busy(const struct mf_bridge *b)
{
	const struct cxl *x = (const struct cxl *)b;

	return x->inside != 0 || x->timer[CXL_ARRIVAL].head != CXL_NIL;
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
	out[n++] = mf_counter_sum("forwarded", x->forwarded);
	out[n++] = mf_counter_sum("held_back", x->held_back);
	out[n++] = mf_counter_max("inside_max", x->inside_max);
	out[n++] = mf_counter_sum("drop_destination", x->drop_destination);
	out[n++] = mf_counter_sum("drop_source", x->drop_source);
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

	link->ends = &cxl_crossbar;
	link->ctx = x;
	for (unsigned int i = 0; i < x->config.ports && err == 0; i++) {
		struct cxl_port *p = &x->port[i];

		link->port = i;
		err = cxl_link_init(&p->link, link);
		for (unsigned int vc = 0; vc < CXL_VCS; vc++)
			x->queue[i * CXL_VCS + vc].head = CXL_NIL;
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
	cxl_timers_init(x);
	return make_ports(x, link);
}

static struct mf_bridge *cxl_create(const struct mf_bridge_config *c)
{
	struct cxl *x = calloc(1, sizeof(*x));
	struct cxl_link_config link = {0};
	int err;

	if (x == NULL)
		return NULL;
	x->config = *c;
	x->config.up = NULL;
	x->latency = (mf_time)c->param[LATENCY];
	x->free = CXL_NIL;
	x->later_at = MF_NEVER;
	x->pipeline = (struct cxl_list){CXL_NIL, CXL_NIL};
	err = cxl_param_link(c->param, &link) ? allocate(x, c, &link) : -EINVAL;
	if (err == 0)
		return (struct mf_bridge *)x;
	cxl_destroy((struct mf_bridge *)x);
	errno = -err;
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
