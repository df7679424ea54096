/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch does when a sender does not keep to its grants: nothing leaks, and nothing is overrun. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "systems/edm/switch/mf_switch.h"

#define CHUNK 128

static struct mf_switch_config config;

static struct mf_switch *new_switch(void)
{
	memset(&config, 0, sizeof(config));
	config.ports = 3;
	config.proto.check32 = false;
	config.x = 3;
	config.window = true;
	config.mac_table = 16;
	for (unsigned int i = 0; i < config.ports; i++)
		config.port[i] = (struct mf_switch_port_config){
			.up = true,
			.memory_enabled = true,
			.ber_window = MF_US(125),
			/* As small as it can be: the last chunk ends with the store. */
			.mux = {.memory_blocks = 64,
				.memory_items = 8,
				.frames = 2,
				.frame_bytes = 9000,
				.quantum = 16,
				.memory_enabled = true},
		};
	return mf_switch_new(&config);
}

static void grant_to(struct mf_switch *sw, uint16_t src, uint8_t id, bool mega, uint32_t size)
{
	mf_switch_grant(sw, 1,
			&(struct mf_sched_grant){.at = 1,
						 .src = src,
						 .dst = 1,
						 .id = id,
						 .first = true,
						 .last = true,
						 .mega = mega,
						 .size = size,
						 .cookie = MF_SCHED_NO_COOKIE});
}

static void grant(struct mf_switch *sw, uint8_t id, bool mega, uint32_t size)
{
	grant_to(sw, 0, id, mega, size);
}

/** @return octets that the switch has told the scheduler to be forwarded */
static uint64_t forwarded(struct mf_switch *sw)
{
	struct mf_sched_msg msg;
	uint64_t octets = 0;

	while (mf_switch_to_sched(sw, &msg, 1) > 0)
		octets += msg.kind == MF_SCHED_FORWARDED ? msg.size : 0;
	return octets;
}

static unsigned int pull(struct mf_switch *sw, unsigned int port)
{
	static struct mf_span out;
	unsigned int blocks = 0, n;

	while ((n = mf_switch_tx(sw, port, 1, MF_SPAN_MAX, &out)) > 0)
		blocks += n;
	return blocks;
}

static unsigned int put_write_of(struct mf_span *s, uint16_t src, uint8_t id, uint32_t size)
{
	static const uint8_t data[2 * CHUNK];
	struct mf_msg m = {.kind = MF_WREQ, .src = src, .dst = 1, .id = id, .size = size, .last = true};
	unsigned int n = mf_proto_put_chunk(&config.proto, &m, data, s->word + s->count);

	memset(s->sync + s->count, MF_SYNC_DATA, n);
	s->sync[s->count] = s->sync[s->count + n - 1] = MF_SYNC_CTRL;
	s->count = (uint16_t)(s->count + n);
	return n;
}

static unsigned int put_write(struct mf_span *s, uint8_t id, uint32_t size)
{
	return put_write_of(s, 0, id, size);
}

/** A chunk that was granted comes, alone in its span. */
static void write_comes(struct mf_switch *sw, uint16_t src, uint8_t id, uint32_t size)
{
	struct mf_span s = {.start = 1};

	grant_to(sw, src, id, false, size);
	put_write_of(&s, src, id, size);
	mf_switch_rx(sw, src, 1, &s);
}

/** What leaves in one span is told by its sources: chunks of one that stand side by side as one. */
Test(switch_grants, several_of_a_source_in_a_span)
{
	struct mf_switch *sw = new_switch();
	struct mf_sched_msg msg;

	cr_assert_not_null(sw);
	write_comes(sw, 0, 1, CHUNK);
	write_comes(sw, 0, 2, CHUNK / 2);
	write_comes(sw, 2, 1, CHUNK / 4);
	cr_assert_gt(pull(sw, 1), 0);
	for (unsigned int i = 0; i < 2; i++) {
		cr_assert_eq(mf_switch_to_sched(sw, &msg, 1), 1);
		cr_expect_eq(msg.kind, MF_SCHED_FORWARDED);
		cr_expect_eq(msg.at, 1);
		cr_expect_eq(msg.dst, 1);
		cr_expect_eq(msg.src, 2 * i);
		cr_expect_eq(msg.size, i == 0 ? CHUNK + CHUNK / 2 : CHUNK / 4);
	}
	cr_expect_eq(mf_switch_to_sched(sw, &msg, 1), 0);
	mf_switch_free(sw);
}

/** A chunk is longer than granted; what came of it before that shows has been sent, or not. */
Test(switch_grants, longer_than_granted)
{
	for (int sent = 0; sent < 2; sent++) {
		struct mf_switch *sw = new_switch();
		static struct mf_span whole, part;
		unsigned int begun = mf_proto_chunk_blocks(&config.proto, CHUNK) - 2, n;

		cr_assert_not_null(sw);
		for (unsigned int round = 0; round < 20; round++) {
			whole = (struct mf_span){.start = 1};
			grant(sw, (uint8_t)round, false, CHUNK);
			pull(sw, 0);
			n = put_write(&whole, (uint8_t)round, 2 * CHUNK);
			part = whole;
			part.count = (uint16_t)begun;
			mf_switch_rx(sw, 0, 1, &part);
			if (sent)
				cr_assert_eq(pull(sw, 1), begun);
			part.count = (uint16_t)(n - begun);
			memcpy(part.word, whole.word + begun, part.count * sizeof(part.word[0]));
			memcpy(part.sync, whole.sync + begun, part.count);
			mf_switch_rx(sw, 0, 1, &part);
			cr_assert_eq(pull(sw, 1), sent ? 1 : 0, "a false /MT/ where it has begun");
			cr_assert_eq(forwarded(sw), CHUNK, "the window comes back once");
		}
		cr_assert_eq(mf_switch_stats(sw)->drop_cut, 20);
		cr_assert_eq(mf_switch_stats(sw)->drop_room, 0);
		mf_switch_free(sw);
	}
}

/** An error about one message of a mega leaves the others alone, and so does one about another write. */
Test(switch_grants, error_within_a_mega)
{
	struct mf_switch *sw = new_switch();
	static struct mf_span s;
	struct mf_msg err = {.kind = MF_ERR, .src = 1, .dst = 0, .status = MF_ERR_RANGE, .of = MF_WREQ_ACK};
	uint32_t octets = 8 * mf_proto_chunk_blocks(&config.proto, 64);

	cr_assert_not_null(sw);
	grant(sw, 7, true, 2 * octets);
	s = (struct mf_span){.start = 1};
	put_write(&s, 7, 64);
	mf_switch_rx(sw, 0, 1, &s);
	for (err.id = 7; err.id <= 9; err.id += 2) {
		s = (struct mf_span){.start = 1, .count = 1, .sync = {MF_SYNC_CTRL}};
		s.word[0] = mf_proto_put_single(&err);
		mf_switch_rx(sw, 1, 1, &s);
	}
	s = (struct mf_span){.start = 1};
	put_write(&s, 8, 64);
	mf_switch_rx(sw, 0, 1, &s);
	cr_assert_eq(pull(sw, 1), octets / 4);
	cr_assert_eq(mf_switch_stats(sw)->drop_ungranted, 0);
	cr_assert_eq(mf_switch_stats(sw)->chunks, 2);
	cr_assert_eq(forwarded(sw), 2 * octets);
	mf_switch_free(sw);
}

/** Without room for descriptors nothing more is taken, and nothing is lost. */
Test(switch_grants, pushes_back)
{
	struct mf_switch *sw = new_switch();
	static struct mf_span s;
	struct mf_msg m = {.kind = MF_NOTIFY, .src = 0, .dst = 1, .size = 64};
	uint64_t told = 0, taken = 0;
	struct mf_sched_msg msg;

	cr_assert_not_null(sw);
	s = (struct mf_span){.start = 1, .count = MF_SPAN_MAX};
	for (unsigned int i = 0; i < MF_SPAN_MAX; i++) {
		s.word[i] = mf_proto_put_single(&m);
		s.sync[i] = MF_SYNC_CTRL;
	}
	for (; mf_switch_can_rx(sw) && taken < 1000000; taken += MF_SPAN_MAX)
		mf_switch_rx(sw, 0, 1, &s);
	while (mf_switch_to_sched(sw, &msg, 1) > 0)
		told++;
	cr_assert_eq(told, taken);
	cr_assert_lt(taken, 1000000);
	cr_assert_eq(mf_switch_stats(sw)->drop_descriptor, 0);
	cr_assert(mf_switch_can_rx(sw));
	mf_switch_free(sw);
}

static void notify(struct mf_switch *sw, unsigned int first, unsigned int n)
{
	static struct mf_span s;

	s = (struct mf_span){.start = 1, .count = (uint16_t)n};
	for (unsigned int i = 0; i < n; i++) {
		const struct mf_msg m = {
			.kind = MF_NOTIFY, .dst = 1, .size = 1 + (first + i) % MF_MESSAGE_MAX};

		s.word[i] = mf_proto_put_single(&m);
		s.sync[i] = MF_SYNC_CTRL;
	}
	mf_switch_rx(sw, 0, 1, &s);
}

/** Descriptors taken in place, in parts, while others come: their order, wherever the ring ends. */
Test(switch_grants, descriptors_in_place)
{
	struct mf_switch *sw = new_switch();
	struct mf_sched_msg copied[5];
	unsigned int put = 0, got = 0, n;
	struct mf_rng rng;

	cr_assert_not_null(sw);
	mf_rng_init(&rng, 1, "descriptors", 0);
	while (got < 200000) {
		const struct mf_sched_msg *msg;

		/* Sometimes emptied, mostly not: the ring goes round. */
		if (mf_switch_can_rx(sw)) {
			n = 1 + (unsigned int)mf_rng_below(&rng, MF_SPAN_MAX);
			notify(sw, put, n);
			put += n;
		}
		msg = mf_switch_sched_peek(sw, &n);
		cr_assert(msg != NULL && n > 0);
		n = 1 + (unsigned int)mf_rng_below(&rng, n < MF_SPAN_MAX ? n : MF_SPAN_MAX);
		for (unsigned int i = 0; i < n; i++, got++)
			cr_assert_eq(msg[i].size, 1 + got % MF_MESSAGE_MAX);
		mf_switch_sched_advance(sw, n);
		n = mf_switch_to_sched(sw, copied, 5);
		for (unsigned int i = 0; i < n; i++, got++)
			cr_assert_eq(copied[i].size, 1 + got % MF_MESSAGE_MAX);
	}
	while ((n = mf_switch_to_sched(sw, copied, 5)) > 0)
		got += n;
	cr_assert_eq(got, put);
	cr_assert_null(mf_switch_sched_peek(sw, &n));
	cr_assert_eq(n, 0);
	mf_switch_free(sw);
}

/** Ports with something to send are in the set until the engine takes them out of it. */
Test(switch_grants, tx_set)
{
	struct mf_switch *sw = new_switch();
	uint16_t port[2];

	cr_assert_not_null(sw);
	cr_assert_eq(*mf_switch_tx_set(sw), 0);
	grant(sw, 1, false, CHUNK);
	cr_assert_eq(*mf_switch_tx_set(sw), 1, "its /G/ goes to port 0");
	cr_assert_eq(pull(sw, 0), 1);
	cr_assert_eq(*mf_switch_tx_set(sw), 1);
	*mf_switch_tx_set(sw) |= 4;
	cr_assert_eq(mf_switch_tx_ports(sw, port, 1), 1);
	cr_assert_eq(port[0], 0);
	cr_assert_eq(mf_switch_tx_ports(sw, port, 2), 1);
	cr_assert_eq(port[0], 2);
	cr_assert_eq(mf_switch_tx_ports(sw, port, 2), 0);
	mf_switch_free(sw);
}
