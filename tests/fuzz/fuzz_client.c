/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the client's calls: the input is a list of steps, an octet that says what and for which of two
 * queues, then its arguments. Operations are whatever the input makes of them, but for the buffers, which are
 * ours; their places, lengths and the addresses in memory are the input's. Some are what there is not:
 * unknown operations and flags, buffers that are NULL, lengths beyond all memory, or that are not those of
 * their parts.
 *
 * Each operation that was submitted completes once, by itself or when its queue is freed. It is refused where
 * the header says so, and only there; nothing is written behind the buffers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/memfab.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define QUEUES 2
#define ENTRIES 16
#define BUFFER 4096
#define PATTERN 0x5a
#define MEMORY 65536
#define FIRST_MEMORY 2 /* number of mn0; there are two */
#define ADDR_END (UINT64_C(1) << 48)
#define BAD (UINT64_C(1) << 63) /* in user_data, beside the length: it must be refused */

static const char fabric_text[] = "{\"nodes\": [{\"name\": \"cn0\", \"role\": \"compute\"},"
				  "{\"name\": \"cn1\", \"role\": \"compute\", \"host\": {\"queue\": 2}},"
				  "{\"name\": \"mn\", \"role\": \"memory\", \"count\": 2}],"
				  "\"memory\": {\"size\": \"64KiB\"}}";

struct side {
	struct memfab_queue *q;
	unsigned int prepared, under_way;
	uint8_t buf[BUFFER + 64];
	struct iovec iov[ENTRIES * 4];
	unsigned int iovs;
};

struct run {
	struct input in;
	struct side side[QUEUES];
};

static struct memfab *fabric;

static void close_fabric(void)
{
	memfab_close(fabric);
}

/** Once in a process, as EAL is. */
static void open_fabric(void)
{
	char path[] = "/tmp/fuzz_client_XXXXXX", err[MEMFAB_ERR_LEN];
	int fd = mkstemp(path);

	require(fd >= 0 && write(fd, fabric_text, sizeof(fabric_text) - 1) == sizeof(fabric_text) - 1);
	close(fd);
	if (memfab_open(path, NULL, &fabric, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}
	unlink(path);
	atexit(close_fabric);
}

static void begin(struct run *r, unsigned int i)
{
	char err[MEMFAB_ERR_LEN];

	r->side[i] = (struct side){.q = NULL};
	memset(r->side[i].buf, PATTERN, sizeof(r->side[i].buf));
	require(memfab_queue_new(fabric, i == 0 ? "cn0" : "cn1", 1 + (unsigned int)take(&r->in, 1) % ENTRIES,
				 &r->side[i].q, err, sizeof(err)) == 0);
}

static void end(struct side *s)
{
	memfab_queue_free(s->q);
	for (size_t i = BUFFER; i < sizeof(s->buf); i++)
		require(s->buf[i] == PATTERN);
}

static void place(struct run *r, struct side *s, uint8_t **buf, uint64_t *len)
{
	uint64_t at = take(&r->in, 2) % BUFFER;

	*buf = s->buf + at;
	*len = take(&r->in, 2) % (BUFFER - at + 1);
}

static void vector(struct run *r, struct side *s, struct memfab_sqe *sqe)
{
	unsigned int n = (unsigned int)take(&r->in, 1) % 5;

	if (s->iovs + n > ENTRIES * 4)
		return;
	sqe->iov = s->iov + s->iovs;
	sqe->iovs = n;
	sqe->len = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *buf;
		uint64_t len;

		place(r, s, &buf, &len);
		s->iov[s->iovs++] = (struct iovec){buf, len};
		sqe->len += len;
	}
	if (n == 0)
		sqe->buf = NULL;
}

/** Makes it one that there is not, mostly. */
static void alter(struct run *r, struct memfab_sqe *sqe)
{
	struct iovec *last = sqe->iovs > 0 ? (struct iovec *)(uintptr_t)sqe->iov + sqe->iovs - 1 : NULL;
	uint64_t how = take(&r->in, 1);

	switch (how & 7) {
	case 0:
		sqe->op = (uint8_t)take(&r->in, 1);
		break;
	case 1:
		sqe->flags = (uint8_t)take(&r->in, 1);
		break;
	case 2:
		sqe->buf = NULL;
		break;
	case 3:
		sqe->len = how & 8 ? UINT64_MAX - take(&r->in, 2) : MEMORY + 1 + take(&r->in, 4);
		break;
	case 4:
		sqe->addr = ADDR_END - 8 + take(&r->in, 1);
		break;
	case 5:
		if (last != NULL)
			last->iov_len += how & 8 ? UINT64_MAX - take(&r->in, 2) : take(&r->in, 2);
		break;
	case 6:
		if (last != NULL)
			last->iov_base = NULL;
		break;
	default:
		sqe->len = 0;
	}
}

static bool takes_buffers(const struct memfab_sqe *sqe)
{
	return sqe->op >= MEMFAB_READ && sqe->op <= MEMFAB_WRITE_ACK;
}

/** Lengths are compared without a sum: it might be too large for a number. */
static bool bad_buffers(const struct memfab_sqe *sqe)
{
	uint64_t left = sqe->len;

	if (sqe->buf == NULL || sqe->len == 0)
		return true;
	for (uint32_t i = 0; i < sqe->iovs; i++) {
		if (sqe->iov[i].iov_len > left || (sqe->iov[i].iov_base == NULL && sqe->iov[i].iov_len > 0))
			return true;
		left -= sqe->iov[i].iov_len;
	}
	return sqe->iovs > 0 && left > 0;
}

/** Whether it must be refused, as the header has it. */
static bool is_bad(const struct memfab_sqe *sqe)
{
	uint64_t len = takes_buffers(sqe) ? sqe->len : 8;

	if (sqe->op > MEMFAB_SHARE || (sqe->flags & ~(MEMFAB_FENCE | MEMFAB_LINK)) != 0)
		return true;
	if (sqe->op == MEMFAB_NOP)
		return false;
	if (sqe->node < FIRST_MEMORY || sqe->node >= FIRST_MEMORY + 2 || len > MEMORY ||
	    sqe->addr > MEMORY - len)
		return true;
	return takes_buffers(sqe) ? bad_buffers(sqe) : sqe->op < MEMFAB_CLAIM && sqe->addr % 8 != 0;
}

static void prepare(struct run *r, struct side *s)
{
	struct memfab_sqe *sqe = memfab_get_sqe(s->q);
	uint8_t *buf;
	uint64_t shape = take(&r->in, 1);

	if (sqe == NULL)
		return;
	s->prepared++;
	place(r, s, &buf, &sqe->len);
	sqe->buf = buf;
	sqe->op = (uint8_t)(take(&r->in, 1) % (MEMFAB_SHARE + 1));
	sqe->flags = (uint8_t)(shape & 7);
	sqe->node = (uint16_t)(shape & 8 ? take(&r->in, 2) : 2 + (shape >> 4 & 1));
	sqe->addr = shape & 32 ? take(&r->in, 8) : take(&r->in, 2);
	sqe->arg[0] = take(&r->in, 1);
	if (shape & 64)
		vector(r, s, sqe);
	if (shape & 128)
		alter(r, sqe);
	sqe->user_data = is_bad(sqe) ? BAD : takes_buffers(sqe) ? sqe->len : 0;
	if (sqe->op >= MEMFAB_CLAIM && sqe->op <= MEMFAB_SHARE) /* there are no regions to be had */
		sqe->user_data = BAD;
}

static bool is_refusal(int64_t res)
{
	static const int error[] = {EINVAL, ERANGE, EFAULT, EOPNOTSUPP, EACCES};

	for (size_t i = 0; i < sizeof(error) / sizeof(error[0]); i++)
		if (res == -error[i])
			return true;
	return false;
}

static bool is_result(const struct memfab_cqe *c)
{
	if (c->res == -ECANCELED)
		return true;
	return c->user_data & BAD ? is_refusal(c->res) : c->res == (int64_t)c->user_data;
}

static void look(struct side *s, unsigned int max)
{
	const struct memfab_cqe *c[8];
	unsigned int n = memfab_peek_batch_cqe(s->q, c, max);

	require(n <= max && n <= s->under_way);
	for (unsigned int i = 0; i < n; i++)
		require(is_result(c[i]));
	memfab_cq_advance(s->q, n);
	s->under_way -= n;
	if (s->under_way == 0 && s->prepared == 0)
		s->iovs = 0;
}

/**
 * Operations that are waited for. Whatever else is under way or prepared is in their way; one before them
 * that has failed may be linked to them.
 */
static void call_and_wait(struct run *r, struct side *s, bool atomic)
{
	int node = (int)take(&r->in, 4), rc;
	uint64_t addr = take(&r->in, 8), len, old;
	unsigned int op = (unsigned int)take(&r->in, 4);
	bool busy = s->prepared + s->under_way > 0, bad;
	uint8_t *buf;

	place(r, s, &buf, &len);
	if (atomic)
		rc = memfab_atomic(s->q, (enum memfab_op)op, node, addr, op, &old);
	else
		rc = memfab_read(s->q, node, addr, op & 1 ? buf : NULL, len);
	bad = node < FIRST_MEMORY || node >= FIRST_MEMORY + 2 || addr >= MEMORY;
	if (atomic)
		bad |= op < MEMFAB_FETCH_ADD || op >= MEMFAB_CLAIM || addr % 8 != 0;
	else
		bad |= !(op & 1) || len == 0 || addr > MEMORY - len;
	if (rc == -ECANCELED)
		return;
	require(bad ? is_refusal(rc) || (busy && rc == -EBUSY) : rc == (busy ? -EBUSY : 0));
}

/** Calls with arguments that there are not. */
static void call(struct run *r, struct side *s)
{
	static const char *const name[] = {"cn0", "cn1", "mn0", "mn2", "", NULL};
	uint64_t what = take(&r->in, 1), number = take(&r->in, 4);
	const char *node = name[number % (sizeof(name) / sizeof(name[0]))];
	uint64_t size = memfab_memory(fabric, (int)number), addr;
	char err[MEMFAB_ERR_LEN];
	struct memfab_queue *q;

	switch (what % 6) {
	case 0:
		require(memfab_strerror((int)number) != NULL);
		break;
	case 1:
		require(size == (number >= FIRST_MEMORY && number < FIRST_MEMORY + 2 ? MEMORY : 0));
		break;
	case 2:
		require(memfab_losses(s->q, (int)number) == 0);
		break;
	case 3:
		require(memfab_queue_new(fabric, node, what & 128 ? 0 : 4097 + (unsigned int)number % 65536,
					 &q, err, sizeof(err)) == -EINVAL);
		require(memfab_region(fabric, "region", (int)number, &addr, &size) == -ENOENT);
		break;
	default:
		call_and_wait(r, s, what % 6 == 4);
	}
}

static void step(struct run *r)
{
	uint64_t what = take(&r->in, 1);
	struct side *s = &r->side[what & 1];

	switch (what >> 1 & 7) {
	case 0:
		require(memfab_submit(s->q) == s->prepared);
		s->under_way += s->prepared;
		s->prepared = 0;
		require(memfab_outstanding(s->q) == s->under_way);
		break;
	case 1:
	case 2:
		look(s, (unsigned int)(what >> 4 & 7));
		break;
	case 3:
		if ((what & 0xf0) != 0xf0)
			break;
		end(s);
		begin(r, (unsigned int)(what & 1));
		break;
	case 4:
		require(memfab_wait_cqe(s->q, s->under_way + 1, -1) == -ENOENT);
		break;
	case 5:
		if (what & 128) {
			call(r, s);
			break;
		}
		__attribute__((fallthrough));
	default:
		prepare(r, s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct run *r = calloc(1, sizeof(*r));

	require(r != NULL);
	if (fabric == NULL)
		open_fabric();
	r->in = (struct input){input, size};
	for (unsigned int i = 0; i < QUEUES; i++)
		begin(r, i);
	while (r->in.left > 0)
		step(r);
	for (unsigned int i = 0; i < QUEUES; i++) {
		struct side *s = &r->side[i];

		require(memfab_wait_cqe(s->q, s->under_way, -1) == 0);
		while (s->under_way > 0)
			look(s, 8);
		end(s);
	}
	free(r);
	return 0;
}
