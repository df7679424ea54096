/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the client's calls: the input is a list of steps, an octet that says what and for which of two
 * queues, then its arguments. Operations are whatever the input makes of them, but for the buffers, which are
 * ours; their places, lengths and the addresses in memory are the input's.
 *
 * Each operation that was submitted completes once, by itself or when its queue is freed; its result is one
 * of those that the header names; nothing is written behind the buffers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "memfab.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define QUEUES 2
#define ENTRIES 16
#define BUFFER 4096
#define PATTERN 0x5a

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
	sqe->op = (uint8_t)take(&r->in, 1) % 11;
	sqe->flags = (uint8_t)(shape & 7);
	sqe->node = (uint16_t)(shape & 8 ? take(&r->in, 2) : 2 + (shape >> 4 & 1));
	sqe->addr = shape & 32 ? take(&r->in, 8) : take(&r->in, 2);
	sqe->arg[0] = take(&r->in, 1);
	if (shape & 64)
		vector(r, s, sqe);
	sqe->user_data = sqe->len;
}

static bool is_result(const struct memfab_cqe *c)
{
	static const int error[] = {EINVAL, ERANGE, EFAULT, EOPNOTSUPP, ECANCELED};

	if (c->res >= 0)
		return c->res == 0 || (uint64_t)c->res == c->user_data;
	for (size_t i = 0; i < sizeof(error) / sizeof(error[0]); i++)
		if (c->res == -error[i])
			return true;
	return false;
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
