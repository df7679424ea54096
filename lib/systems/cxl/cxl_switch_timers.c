/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports by time: of each kind a list, since what is set is nearly always the last. */
#include "systems/cxl/cxl_switch.h"

static struct cxl_timer_node *node_of(struct cxl *x, enum cxl_timer kind, unsigned int port)
{
	return &x->port[port].timer[kind];
}

static void unset(struct cxl *x, enum cxl_timer kind, unsigned int port)
{
	struct cxl_timer_node *t = node_of(x, kind, port);
	struct cxl_list *l = &x->timer[kind];

	if (t->at == MF_NEVER)
		return;
	t->at = MF_NEVER;
	if (t->prev == CXL_NIL)
		l->head = t->next;
	else
		node_of(x, kind, t->prev)->next = t->next;
	if (t->next == CXL_NIL)
		l->tail = t->prev;
	else
		node_of(x, kind, t->next)->prev = t->prev;
}

/** Into the list, by (time, port); nearly always at its end. */
static void set(struct cxl *x, enum cxl_timer kind, unsigned int port, mf_time at)
{
	struct cxl_timer_node *t = node_of(x, kind, port);
	struct cxl_list *l = &x->timer[kind];
	uint32_t before = l->tail;

	while (before != CXL_NIL) {
		const struct cxl_timer_node *b = node_of(x, kind, before);

		if (b->at < at || (b->at == at && before < port))
			break;
		before = b->prev;
	}
	t->at = at;
	t->prev = before;
	t->next = before != CXL_NIL ? node_of(x, kind, before)->next : l->head;
	if (t->next == CXL_NIL)
		l->tail = port;
	else
		node_of(x, kind, t->next)->prev = port;
	if (before == CXL_NIL)
		l->head = port;
	else
		node_of(x, kind, before)->next = port;
}

void cxl_timer_set(struct cxl *x, enum cxl_timer kind, unsigned int port, mf_time at)
{
	if (node_of(x, kind, port)->at == at)
		return;
	unset(x, kind, port);
	if (at != MF_NEVER)
		set(x, kind, port, at);
}

void cxl_timers_init(struct cxl *x)
{
	for (unsigned int kind = 0; kind < CXL_TIMERS; kind++) {
		x->timer[kind] = (struct cxl_list){CXL_NIL, CXL_NIL};
		for (unsigned int i = 0; i < x->config.ports; i++)
			x->port[i].timer[kind].at = MF_NEVER;
	}
}
