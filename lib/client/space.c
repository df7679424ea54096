/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address spaces, as programs have them: made, joined, shared, ended; and what the host is asked for that.
 * The node's layer has the keys (spaces/mf_spaces.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "config/mf_config_query.h"
#include "memory/mf_call.h"
#include "spaces/mf_spaces.h"

/* ---- operations ---- */

/** @return MF_PAGE_CLASSES: there are no such pages */
static unsigned int class_of(const struct mf_config_node *n, uint64_t shift)
{
	unsigned int k = 0;

	while (k < MF_PAGE_CLASSES && (n->vm.vm.page_class[k].shift != shift || shift == 0))
		k++;
	return k;
}

static int allocate_check(const struct mf_config_node *n, const struct memfab_sqe *s)
{
	uint64_t all = UINT64_C(1) << MF_CLASS_SHIFT;

	if (class_of(n, s->arg[0]) == MF_PAGE_CLASSES || s->arg[1] < MF_PAGE_READ ||
	    s->arg[1] >= MF_PAGE_RIGHTS)
		return -EINVAL;
	/* The first page of a class is never given out. */
	return s->len > 0 && s->len <= all - (UINT64_C(1) << s->arg[0]) ? 0 : -EINVAL;
}

static int task_check(const struct mf_config *config, const struct memfab_sqe *s)
{
	if (s->op == MEMFAB_SPACE_ALLOCATE)
		return allocate_check(&config->node[s->node], s);
	if (s->op != MEMFAB_SPACE_FREE && s->op != MEMFAB_SPACE_PROTECT)
		return 0;
	if (s->len == 0 ||
	    (s->op == MEMFAB_SPACE_PROTECT && (s->arg[1] < MF_PAGE_READ || s->arg[1] >= MF_PAGE_RIGHTS)))
		return -EINVAL;
	return s->len > MF_ADDR_MAX - s->addr ? -EACCES : 0;
}

int space_check(const struct mf_config *config, unsigned int node, const struct memfab_sqe *s)
{
	uint64_t len = s->op >= MEMFAB_CAS ? 8 : s->len;
	unsigned int k = 0;

	while (k < s->space->nodes && s->space->node[k] != s->node)
		k++;
	if (k == s->space->nodes || s->addr > MF_ADDR_MAX)
		return -EACCES;
	if (s->node == node)
		return -EINVAL;
	if (space_is_task(s->op))
		return task_check(config, s);
	if (s->op == MEMFAB_CALL)
		return s->len <= config->node[s->node].vm.answer ? 0 : -EINVAL;
	if (s->op >= MEMFAB_CLAIM)
		return -EOPNOTSUPP;
	if (s->op >= MEMFAB_CAS && s->addr % 8 != 0)
		return -EFAULT;
	return len > MF_ADDR_MAX - s->addr + 1 ? -EACCES : 0;
}

/** Whole pages. */
static uint64_t octets_of(const struct mf_config_node *n, const struct memfab_sqe *s)
{
	uint64_t page = UINT64_C(1) << n->vm.vm.page_class[mf_remote_class(s->addr)].shift;

	return (s->len + page - 1) & ~(page - 1) & MF_SPACE_OCTETS_MASK;
}

void space_piece(struct slot *s, const struct mf_config *config, struct mf_op *op)
{
	const struct memfab_sqe *e = &s->sqe;
	const struct mf_config_node *n = &config->node[e->node];

	op->kind = MF_OP_RMW;
	op->rmw = MF_RMW_SPACE;
	op->len = sizeof(s->answer);
	op->buf = s->answer;
	/* Slot and number are the layer's. */
	op->arg[0] =
		e->op == MEMFAB_SPACE_LEAVE ? MF_SPACES_LEAVE : MF_SPACE_ASK(e->op - MEMFAB_SPACE_MAKE, 0, 0);
	switch (e->op) {
	case MEMFAB_SPACE_ALLOCATE:
		op->addr = e->addr;
		op->arg[1] = MF_SPACE_ALLOC(e->len, class_of(n, e->arg[0]), e->arg[1]);
		break;
	case MEMFAB_SPACE_FREE:
		op->addr = e->addr;
		op->arg[1] = octets_of(n, e);
		break;
	case MEMFAB_SPACE_PROTECT:
		op->addr = e->addr;
		op->arg[1] = MF_SPACE_ALLOC(octets_of(n, e), 0, e->arg[1]);
		break;
	default:
		op->arg[1] = e->arg[1];
		break;
	}
}

static_assert((int)MEMFAB_ECHO == MF_CALL_ECHO && (int)MEMFAB_ECHO_FENCED == MF_CALL_ECHO_FENCED &&
		      MEMFAB_ECHO_FENCED + 1 == (int)MF_CALLS,
	      "calls are the same");
static_assert(MEMFAB_SPACE_FENCE - MEMFAB_SPACE_MAKE == MF_SPACE_FENCE &&
		      MEMFAB_SPACE_USAGE - MEMFAB_SPACE_MAKE == MF_SPACE_USAGE,
	      "they follow each other in the same order");

/* ---- spaces ---- */

static int ask(struct memfab_queue *q, const struct memfab_space *s, unsigned int k, enum memfab_op op,
	       uint64_t arg)
{
	struct memfab_sqe what = {.op = (uint8_t)op, .node = s->node[k], .arg = {0, arg}, .space = s};

	return sync_one(q, &what, NULL);
}

static const struct mf_config *config_of(const struct memfab_queue *q)
{
	return mf_session_config(attachment_session(q->attachment));
}

static bool has_spaces(const struct memfab_queue *q, int node)
{
	const struct mf_config *c = config_of(q);

	return node >= 0 && (unsigned int)node < c->slots && c->node[node].up &&
	       mf_config_is_virtual(&c->node[node]) && (unsigned int)node != attachment_node(q->attachment);
}

static bool is_busy(const struct memfab_queue *q)
{
	return q->idles <= q->mask;
}

int space_may_ask(const struct memfab_queue *q)
{
	return mf_session_forked() ? -EPERM : is_busy(q) ? -EBUSY : 0;
}

uint16_t space_node_number(const struct memfab_queue *q, unsigned int node)
{
	if (node >= config_of(q)->slots)
		return UINT16_MAX;
	return mf_fabric_number(mf_session_fabric(attachment_session(q->attachment)), node);
}

/** The number by which memory nodes know it. */
static void name(struct memfab_queue *q, struct memfab_space *s)
{
	s->attachment = q->attachment;
	s->number = mf_space_number(space_node_number(q, s->maker), s->of_maker);
}

static int add_nodes(struct memfab_queue *q, struct memfab_space *s, const int *nodes, unsigned int n)
{
	if (nodes == NULL) {
		for (unsigned int i = 0; i < config_of(q)->slots && s->nodes < MEMFAB_SPACE_NODES; i++)
			if (has_spaces(q, (int)i))
				s->node[s->nodes++] = (uint16_t)i;
		return s->nodes > 0 ? 0 : -EINVAL;
	}
	if (n == 0 || n > MEMFAB_SPACE_NODES)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; k < i; k++)
			if (nodes[k] == nodes[i])
				return -EINVAL;
		if (!has_spaces(q, nodes[i]))
			return -EINVAL;
		s->node[s->nodes++] = (uint16_t)nodes[i];
	}
	return 0;
}

#define ENDS_TRIES 1000
#define ENDS_WAIT 1000 /* us */

/** Where the node has one of this number already, that is of a process before this one, and ends. */
static int make(struct memfab_queue *q, const struct memfab_space *s, unsigned int k)
{
	int rc = ask(q, s, k, MEMFAB_SPACE_MAKE, 0);

	for (int i = 0; rc == -EACCES && i < ENDS_TRIES; i++) {
		rc = ask(q, s, k, MEMFAB_SPACE_END, 0);
		if (rc == -EACCES)
			queue_turn_for(q, ENDS_WAIT);
		if (rc == 0 || rc == -EACCES)
			rc = ask(q, s, k, MEMFAB_SPACE_MAKE, 0);
	}
	return rc;
}

static int make_all(struct memfab_queue *q, struct memfab_space *s)
{
	for (unsigned int k = 0; k < s->nodes; k++) {
		int rc = make(q, s, k);

		if (rc == 0)
			continue;
		for (unsigned int i = 0; i <= k; i++)
			(void)ask(q, s, i, MEMFAB_SPACE_END, 0);
		return rc;
	}
	return 0;
}

int memfab_space_new(struct memfab_queue *q, const int *nodes, unsigned int n, struct memfab_space **out)
{
	int rc = space_may_ask(q);
	struct memfab_space *s;
	uint32_t number;

	if (rc != 0)
		return rc;
	number = attachment_space_take(q->attachment);
	if (number == 0)
		return -ENOBUFS;
	s = calloc(1, sizeof(*s));
	rc = s != NULL ? add_nodes(q, s, nodes, n) : -ENOMEM;
	if (rc == 0) {
		s->maker = (uint16_t)attachment_node(q->attachment);
		s->of_maker = (uint16_t)number;
		name(q, s);
		rc = make_all(q, s);
	}
	if (rc != 0) {
		attachment_space_give(q->attachment, number);
		free(s);
		return rc;
	}
	s->own = true;
	*out = s;
	return 0;
}

int memfab_space_join(struct memfab_queue *q, const struct memfab_token *t, struct memfab_space **out)
{
	int rc = space_may_ask(q);
	struct memfab_space *s;

	if (rc != 0)
		return rc;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	rc = space_of_token(config_of(q), t, s);
	if (rc == 0)
		name(q, s);
	for (unsigned int k = 0; rc == 0 && k < s->nodes; k++)
		rc = ask(q, s, k, MEMFAB_SPACE_JOIN, MF_RIGHT_READ);
	if (rc != 0) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

int memfab_space_grant(struct memfab_queue *q, struct memfab_space *s, int node, enum memfab_rights rights)
{
	const struct mf_config *c = config_of(q);
	int rc = space_may_ask(q);

	if (rc == 0 && (node < 0 || (unsigned int)node >= c->slots || !c->node[node].compute ||
			(unsigned int)rights >= MF_PAGE_RIGHTS ||
			((unsigned int)node == s->maker && rights != MEMFAB_RIGHTS_WRITE)))
		return -EINVAL;
	for (unsigned int k = 0; rc == 0 && k < s->nodes; k++)
		rc = ask(q, s, k, MEMFAB_SPACE_GRANT,
			 MF_SPACE_GRANTED(space_node_number(q, (unsigned int)node), rights));
	return rc;
}

int memfab_space_end(struct memfab_queue *q, struct memfab_space *s)
{
	int rc = space_may_ask(q);

	if (rc != 0)
		return rc;
	for (unsigned int k = 0; k < s->nodes; k++) {
		int err = ask(q, s, k, s->own ? MEMFAB_SPACE_END : MEMFAB_SPACE_LEAVE, 0);

		rc = rc == 0 ? err : rc;
	}
	if (s->own)
		attachment_space_give(s->attachment, s->of_maker);
	free(s);
	return rc;
}
