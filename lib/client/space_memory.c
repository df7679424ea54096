/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of address spaces, one call after the other: pages, octets, fences (Clio 3.1, 3.2). */
#include <errno.h>

#include "client/client.h"
#include "memory/mf_space.h"

#define FLAGS_PAGE(flags) ((flags) >> 8 & UINT8_MAX)
#define FLAGS_AT(flags) ((flags) >> 16) /* 1 + node; 0: any */
#define FLAGS_KNOWN (MEMFAB_READ_ONLY | MEMFAB_POPULATE | MEMFAB_SPREAD | MEMFAB_HINT)

static const struct mf_vm_config *memory_of(const struct memfab_queue *q, unsigned int node)
{
	return &mf_session_config(attachment_session(q->attachment))->node[node].vm.vm;
}

/** Log2 of the pages to take: as asked for, or the largest that waste nothing, or the least; 0: none. */
static unsigned int choose_page(const struct mf_vm_config *vm, uint64_t size, unsigned int shift)
{
	unsigned int least = 0, best = 0;

	for (unsigned int k = 0; k < MF_PAGE_CLASSES; k++) {
		unsigned int s = vm->page_class[k].shift;

		if (s == 0)
			continue;
		if (s == shift)
			return s;
		least = least == 0 || s < least ? s : least;
		if (size % (UINT64_C(1) << s) == 0 && s > best)
			best = s;
	}
	return shift != 0 ? 0 : best != 0 ? best : least;
}

/** The place among the nodes of a space where to look first. */
static unsigned int first_node(struct memfab_space *s, unsigned int flags, uint64_t hint)
{
	unsigned int k = 0;

	if (flags & MEMFAB_SPREAD)
		return atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed) % s->nodes;
	if ((flags & MEMFAB_HINT) == 0)
		return atomic_load_explicit(&s->next, memory_order_relaxed) % s->nodes;
	while (k + 1 < s->nodes && s->node[k] != mf_remote_node(hint))
		k++;
	return k;
}

/** Completions of the queue's own reads. @return the first error */
static int take(struct memfab_queue *q, unsigned int n)
{
	int rc = 0;

	for (; n > 0; n--) {
		int64_t res = memfab_rpoll(q, NULL);

		rc = rc == 0 && res < 0 ? (int)res : rc;
	}
	return rc;
}

static int populate(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t size,
		    unsigned int shift)
{
	uint64_t word, page = UINT64_C(1) << shift;
	unsigned int under_way = 0;
	int rc = 0, rest;

	for (uint64_t at = 0; at < size && rc == 0; at += page) {
		struct memfab_sqe *e = memfab_get_sqe(q);

		if (e == NULL) {
			rc = take(q, 1);
			under_way--;
			e = memfab_get_sqe(q);
		}
		memfab_prep_rread(e, s, ptr + at, &word, sizeof(word));
		memfab_submit(q);
		under_way++;
	}
	rest = take(q, under_way);
	return rc != 0 ? rc : rest;
}

static int allocate_at(struct memfab_queue *q, struct memfab_space *s, unsigned int node, uint64_t size,
		       unsigned int flags, uint64_t *ptr)
{
	unsigned int shift = choose_page(memory_of(q, node), size, FLAGS_PAGE(flags));
	struct memfab_sqe what = {0};
	int rc;

	if (shift == 0)
		return -EINVAL;
	memfab_prep_ralloc(&what, s, (int)node, size, shift,
			   flags & MEMFAB_READ_ONLY ? MEMFAB_RIGHTS_READ : MEMFAB_RIGHTS_WRITE);
	if (flags & MEMFAB_HINT)
		what.addr = mf_remote_addr(*ptr);
	rc = sync_one(q, &what, ptr);
	if (rc != 0 || !(flags & MEMFAB_POPULATE))
		return rc;
	rc = populate(q, s, *ptr, size, shift);
	if (rc != 0)
		(void)memfab_rfree(q, s, *ptr, size);
	return rc;
}

/** From one node on to the next while there is no room (Clio 3.2 has several memory nodes of a process). */
static int allocate(struct memfab_queue *q, struct memfab_space *s, uint64_t size, unsigned int flags,
		    uint64_t *ptr)
{
	uint64_t hint = flags & MEMFAB_HINT ? *ptr : 0;
	unsigned int only = FLAGS_AT(flags), first = first_node(s, flags, hint);
	int rc = -EINVAL;

	for (unsigned int i = 0; i < s->nodes; i++) {
		unsigned int k = (first + i) % s->nodes;
		int err;

		if (only != 0 && s->node[k] != only - 1)
			continue;
		*ptr = mf_remote_node(hint) == s->node[k] ? hint : 0;
		err = allocate_at(q, s, s->node[k], size, flags, ptr);
		if (err == 0 && !(flags & MEMFAB_SPREAD))
			atomic_store_explicit(&s->next, k, memory_order_relaxed);
		/* That one node has no such pages does not matter where another one is full. */
		rc = err != -EINVAL || rc == -EINVAL ? err : rc;
		if (err != -ENOBUFS && err != -EINVAL)
			break;
	}
	if (rc != 0)
		*ptr = hint;
	return rc;
}

int memfab_ralloc(struct memfab_queue *q, struct memfab_space *s, uint64_t size, unsigned int flags,
		  uint64_t *ptr)
{
	int rc = space_may_ask(q);

	if (rc != 0)
		return rc;
	if (size == 0 || (flags & UINT8_MAX & ~(unsigned int)FLAGS_KNOWN) != 0)
		return -EINVAL;
	return allocate(q, s, size, flags, ptr);
}

int memfab_rfree(struct memfab_queue *q, struct memfab_space *s, uint64_t ptr, uint64_t size)
{
	struct memfab_sqe what = {0};

	memfab_prep_rfree(&what, s, ptr, size);
	return sync_one(q, &what, NULL);
}

int memfab_rprotect(struct memfab_queue *q, struct memfab_space *s, uint64_t ptr, uint64_t size,
		    enum memfab_rights rights)
{
	struct memfab_sqe what = {0};

	memfab_prep_rprotect(&what, s, ptr, size, rights);
	return sync_one(q, &what, NULL);
}

int memfab_rread(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, void *buf, uint64_t len)
{
	struct memfab_sqe what = {0};

	memfab_prep_rread(&what, s, ptr, buf, len);
	return sync_one(q, &what, NULL);
}

int memfab_rwrite(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, const void *buf,
		  uint64_t len)
{
	struct memfab_sqe what = {0};

	memfab_prep_rwrite(&what, s, ptr, buf, len);
	return sync_one(q, &what, NULL);
}

int memfab_ratomic(struct memfab_queue *q, const struct memfab_space *s, enum memfab_op op, uint64_t ptr,
		   uint64_t operand, uint64_t *old)
{
	struct memfab_sqe what = {0};

	if (op < MEMFAB_CAS || op > MEMFAB_FETCH_AND)
		return -EOPNOTSUPP;
	if (op == MEMFAB_CAS)
		memfab_prep_rcas(&what, s, ptr, *old, operand);
	else
		memfab_prep_ratomic(&what, s, op, ptr, operand);
	return sync_one(q, &what, old);
}

/** Adds what it has at one node. */
static int add_usage(struct memfab_queue *q, const struct memfab_space *s, uint16_t node,
		     struct memfab_usage *sum)
{
	uint64_t *const of[MF_USAGES] = {[MF_USAGE_PAGES] = &sum->pages,
					 [MF_USAGE_OCTETS] = &sum->octets,
					 [MF_USAGE_ENTRIES] = &sum->entries,
					 [MF_USAGE_ALLOCATED] = &sum->allocated,
					 [MF_USAGE_RANGES] = &sum->ranges};
	int rc = 0;

	for (unsigned int i = 0; i < MF_USAGES && rc == 0; i++) {
		struct memfab_sqe what = {.op = MEMFAB_SPACE_USAGE, .node = node, .arg = {0, i}, .space = s};
		uint64_t n;

		rc = sync_one(q, &what, &n);
		*of[i] += rc == 0 ? n : 0;
	}
	return rc;
}

int memfab_rusage(struct memfab_queue *q, const struct memfab_space *s, int node, struct memfab_usage *out)
{
	struct memfab_usage sum = {0};
	bool found = node < 0;
	int rc = space_may_ask(q);

	for (unsigned int k = 0; k < s->nodes && rc == 0; k++) {
		if (node >= 0 && s->node[k] != node)
			continue;
		found = true;
		rc = add_usage(q, s, s->node[k], &sum);
	}
	if (rc == 0 && !found)
		rc = -EACCES;
	if (rc == 0)
		*out = sum;
	return rc;
}

int memfab_rfence(struct memfab_queue *q, const struct memfab_space *s)
{
	int rc = space_may_ask(q);

	for (unsigned int k = 0; rc == 0 && k < s->nodes; k++) {
		struct memfab_sqe what = {.op = MEMFAB_SPACE_FENCE, .node = s->node[k], .space = s};

		rc = sync_one(q, &what, NULL);
	}
	return rc;
}

int64_t memfab_rcall(struct memfab_queue *q, const struct memfab_space *s, enum memfab_call call,
		     uint64_t ptr, uint64_t len, void *answer, uint64_t size)
{
	struct memfab_sqe what = {0};
	uint64_t octets = 0;
	int rc;

	memfab_prep_rcall(&what, s, call, ptr, len, answer, size);
	rc = sync_one(q, &what, &octets);
	return rc != 0 ? rc : (int64_t)octets;
}

int memfab_rrelease(struct memfab_queue *q)
{
	return memfab_wait_cqe(q, memfab_outstanding(q), -1);
}

int64_t memfab_rpoll(struct memfab_queue *q, uint64_t *user_data)
{
	const struct memfab_cqe *c;
	int64_t res;
	int rc = memfab_wait_cqe(q, 1, -1);

	if (rc != 0)
		return rc;
	c = memfab_peek_cqe(q);
	res = c->res;
	if (user_data != NULL)
		*user_data = c->user_data;
	memfab_cq_advance(q, 1);
	return res;
}
