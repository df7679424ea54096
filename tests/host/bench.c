/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "bench.h"

static const struct mf_proto proto = {.ext = true};

static void begin(struct bench *b, uint16_t node, bool redundant, unsigned int retries, bool in_order)
{
	const struct mf_memory_config memory = {.size = SIZE, .numa_node = -1};
	struct mf_host_config config = alone_config(node, 64);

	config.compute = node == US || redundant;
	config.read_timeout = config.write_timeout = TIMEOUT;
	config.quarantine = QUARANTINE;
	config.retries = retries;
	config.retry_timeout = RETRY;
	config.redundant = config.begins = redundant;
	config.in_order = in_order;
	config.take_again = MF_US(10);
	config.timing.cost[MF_STAGE_MAKE_REQUEST] = MF_US(1) / 100;
	*b = (struct bench){.now = MF_US(1)};
	if (node == MEMORY) {
		b->memory = mf_memory_flat.create(&memory);
		config.memory_ops = &mf_memory_flat;
		config.memory = b->memory;
	}
	b->host = mf_host_new(&config);
	cr_assert_not_null(b->host);
}

void bench_begin_with(struct bench *b, uint16_t node, bool redundant, unsigned int retries)
{
	begin(b, node, redundant, retries, true);
}

void bench_begin_direction(struct bench *b, uint16_t node)
{
	begin(b, node, true, 2, false);
}

void bench_begin(struct bench *b, uint16_t node, bool redundant)
{
	bench_begin_with(b, node, redundant, 2);
}

void bench_start(struct bench *b, uint16_t node)
{
	bench_begin(b, node, false);
}

void bench_stop(struct bench *b)
{
	mf_host_free(b->host);
	if (b->memory != NULL)
		mf_memory_flat.destroy(b->memory);
}

/** What a span that was sent says: whole messages. */
static void see(struct bench *b, const struct mf_span *s)
{
	const uint8_t *data;
	struct mf_msg m;

	for (unsigned int i = 0, from = 0; i < s->count; i++) {
		uint8_t type = (uint8_t)s->word[i];

		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MST &&
		    mf_proto_get_single(s->word[i], &m) == 0) {
			b->acks += m.kind == MF_ACK;
			b->refusals += m.kind == MF_ERR && m.src == MEMORY && m.status < MF_ERR_INCARNATION;
			if (m.kind == MF_ERR && m.status == MF_ERR_GAP) {
				b->gaps++;
				b->gap = m;
			}
			if (m.kind == MF_ERR && m.of == MF_NOTIFY && m.src == US && m.status != MF_ERR_GAP) {
				b->passed_on++;
				b->passed_behind = b->messages;
			}
		}
		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_N &&
		    mf_proto_get_single(s->word[i], &m) == 0) {
			b->asked = m.id;
			b->asked_size = m.size;
			b->demands++;
		}
		if (s->sync[i] == MF_SYNC_CTRL && type == MF_BT_MS)
			from = i;
		if (s->sync[i] != MF_SYNC_CTRL || type != MF_BT_MT)
			continue;
		cr_assert_eq(mf_proto_get(&proto, s->word + from, i + 1 - from, &b->sent, &data), 0);
		b->messages++;
	}
}

void bench_run(struct bench *b, mf_time until)
{
	struct mf_span s;

	for (; b->now < until; b->now += ALONE_PERIOD) {
		mf_host_run(b->host, b->now);
		while (mf_host_tx(b->host, b->now, MF_SPAN_MAX, &s) > 0)
			see(b, &s);
	}
}

void bench_give_by(struct bench *b, unsigned int link, const struct mf_msg *m, const void *data)
{
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD};

	s.count = (uint16_t)mf_proto_put_chunk(&proto, m, data, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx_by(b->host, link, s.start, &s);
	bench_run(b, b->now + MF_US(1));
}

void bench_give(struct bench *b, const struct mf_msg *m, const void *data)
{
	bench_give_by(b, 0, m, data);
}

void bench_request_by(struct bench *b, unsigned int link, const struct mf_msg *m)
{
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD};

	s.count = (uint16_t)mf_proto_put_request(&proto, m, s.word);
	for (unsigned int i = 0; i < s.count; i++)
		s.sync[i] = i == 0 || i + 1u == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_host_rx_by(b->host, link, s.start, &s);
}

void bench_expect(const struct bench *b, unsigned int from, unsigned int to, uint8_t value)
{
	uint8_t found[SIZE];

	cr_assert_eq(mf_memory_read(&mf_memory_flat, b->memory, 0, SIZE, found), MF_OK);
	for (unsigned int i = from; i < to; i++)
		cr_assert_eq(found[i], value, "octet %u is %u, should be %u", i, found[i], value);
}

struct mf_msg bench_chunk(uint16_t src, uint8_t id, uint32_t offset, uint32_t size, bool last)
{
	return (struct mf_msg){.kind = MF_WREQ_ACK,
			       .src = src,
			       .dst = MEMORY,
			       .id = id,
			       .ext = true,
			       .epoch = 7,
			       .addr = offset,
			       .offset = offset,
			       .size = size,
			       .last = last};
}

void bench_tell_epoch(struct bench *b, unsigned int link, uint16_t epoch)
{
	bench_tell_epoch_knowing(b, link, epoch, 0);
}

void bench_tell_epoch_knowing(struct bench *b, unsigned int link, uint16_t epoch, uint16_t since)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_HEARD, .epoch = epoch, .dst = since};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx_by(b->host, link, b->now, &s);
	bench_run(b, b->now + MF_US(1));
}

void bench_tell_incarnation(struct bench *b, uint16_t node, unsigned int link, uint16_t incarnation,
			    enum mf_status status)
{
	const struct mf_msg m = {.kind = MF_ERR,
				 .src = node,
				 .dst = node == US ? MEMORY : US,
				 .id = (uint8_t)incarnation,
				 .epoch = incarnation >> 8,
				 .status = (uint8_t)status};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx_by(b->host, link, b->now, &s);
}
