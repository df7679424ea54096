/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver of a link: a message that comes in parts, and what becomes of one that does not come whole. */
#include <criterion/criterion.h>
#include <errno.h>

#include "role/mf_receiver.h"
#include "shortage.h"

#define ROOM 8
#define WINDOW MF_US(125)

static struct mf_receiver r;

static void setup(void)
{
	const struct mf_receiver_config c = {
		.blocks = true, .period = 2560, .ber_window = WINDOW, .room = ROOM};

	cr_assert_eq(mf_receiver_init(&r, &c), 0);
}

static void fini(void)
{
	mf_receiver_fini(&r);
}

/** A part of count words, from, from + 1, .., the first of which comes at `at`. */
static enum mf_assembly part(bool begins, bool ends, uint16_t count, uint64_t from, mf_time at)
{
	uint64_t word[2 * ROOM];
	const struct mf_rx_item it = {
		.kind = MF_RX_RUN, .begins = begins, .ends = ends, .count = count, .word = word, .at = at};

	for (uint16_t i = 0; i < count; i++)
		word[i] = from + i;
	return mf_receiver_part(&r, &it, at);
}

static void assert_message(uint32_t count, uint64_t from, mf_time first)
{
	cr_assert_eq(r.count, count);
	cr_assert_eq(r.first, first);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(r.word[i], from + i, "word %u", i);
}

Test(receiver, whole, .init = setup, .fini = fini)
{
	cr_assert_eq(part(true, true, ROOM, 10, 100), MF_PART_WHOLE);
	assert_message(ROOM, 10, 100);
	cr_assert_eq(part(true, true, 2, 20, 200), MF_PART_WHOLE, "nothing of the one before is left");
	assert_message(2, 20, 200);
}

Test(receiver, parts, .init = setup, .fini = fini)
{
	cr_assert_eq(part(true, false, 1, 10, 100), MF_PART_MORE);
	cr_assert_eq(part(false, false, 4, 11, 200), MF_PART_MORE);
	cr_assert_eq(part(false, true, 3, 15, 300), MF_PART_WHOLE);
	assert_message(8, 10, 100);
}

Test(receiver, stray, .init = setup, .fini = fini)
{
	cr_assert_eq(part(false, true, 2, 10, 100), MF_PART_STRAY, "none has begun");
	cr_assert_eq(part(true, true, 2, 20, 200), MF_PART_WHOLE);
	cr_assert_eq(part(false, true, 2, 30, 300), MF_PART_STRAY, "the last one has ended");
	cr_assert_eq(part(true, false, 2, 40, 400), MF_PART_MORE);
	r.collecting = false;
	cr_assert_eq(part(false, true, 2, 42, 500), MF_PART_STRAY, "it was forgotten");
}

Test(receiver, too_long, .init = setup, .fini = fini)
{
	cr_assert_eq(part(true, true, ROOM + 1, 10, 100), MF_PART_LONG);
	cr_assert_eq(part(true, false, ROOM, 20, 200), MF_PART_MORE, "as long as may be");
	cr_assert_eq(part(false, false, 1, 28, 300), MF_PART_LONG);
	cr_assert_eq(part(false, true, 1, 29, 400), MF_PART_STRAY, "its rest");
	cr_assert_eq(part(true, true, 1, 30, 500), MF_PART_WHOLE);
	assert_message(1, 30, 500);
}

Test(receiver, begun_twice, .init = setup, .fini = fini)
{
	cr_assert_eq(part(true, false, 5, 10, 100), MF_PART_MORE);
	cr_assert_eq(part(true, false, 5, 20, 200), MF_PART_MORE, "the first one is over");
	cr_assert_eq(part(false, true, 3, 25, 300), MF_PART_WHOLE);
	assert_message(8, 20, 200);
}

/** What the demultiplexer gives of two spans is one message. */
Test(receiver, of_spans, .init = setup, .fini = fini)
{
	struct mf_span s = {.start = 1000, .period = 2560};
	struct mf_rx_item it;
	unsigned int pos = 0;

	mf_span_put(&s, MF_SYNC_CTRL, MF_BT_MS);
	mf_span_put(&s, MF_SYNC_DATA, 1);
	cr_assert_eq(mf_demux_span(&r.demux, &s, &pos, &it, 1), 1);
	cr_assert_eq(mf_receiver_part(&r, &it, it.at), MF_PART_MORE);
	s = (struct mf_span){.start = 1000 + 2 * 2560, .period = 2560};
	pos = 0;
	mf_span_put(&s, MF_SYNC_DATA, 2);
	mf_span_put(&s, MF_SYNC_CTRL, MF_BT_MT);
	cr_assert_eq(mf_demux_span(&r.demux, &s, &pos, &it, 1), 1);
	cr_assert_eq(mf_receiver_part(&r, &it, it.at), MF_PART_WHOLE);
	cr_assert_eq(r.count, 4);
	cr_assert_eq(r.first, 1000);
	cr_assert_eq(r.word[0], MF_BT_MS);
	cr_assert_eq(r.word[2], 2);
	cr_assert_eq(r.word[3], MF_BT_MT);
}

/** Where there are only frames there is no room, and blocks of messages are errors. */
Test(receiver, of_frames_alone, .fini = fini)
{
	const struct mf_receiver_config c = {.period = 2560, .ber_window = WINDOW, .room = ROOM};
	struct mf_span s = {.start = 1000, .period = 2560};
	struct mf_rx_item it;
	unsigned int pos = 0;

	cr_assert_eq(mf_receiver_init(&r, &c), 0);
	cr_assert_null(r.word);
	cr_assert_eq(part(true, true, 1, 10, 100), MF_PART_LONG);
	mf_span_put(&s, MF_SYNC_CTRL, MF_BT_N);
	cr_assert_eq(mf_demux_span(&r.demux, &s, &pos, &it, 1), 0);
	cr_assert_eq(r.demux.stats.bad_blocks, 1);
}

Test(receiver, after_a_failure)
{
	mf_receiver_fini(&r);
	cr_assert_eq(mf_receiver_init(&r, &(struct mf_receiver_config){.blocks = true, .room = ROOM}),
		     -EINVAL, "no window");
	mf_receiver_fini(&r);
	mf_receiver_fini(&r);
	setup();
	cr_assert_eq(part(true, true, 1, 10, 100), MF_PART_WHOLE);
	mf_receiver_fini(&r);
}

static int receiver(const void *of)
{
	struct mf_receiver one = {0};
	int rc = mf_receiver_init(&one, of);

	mf_receiver_fini(&one);
	return rc;
}

Test(receiver, without_memory)
{
	const struct mf_receiver_config c = {.blocks = true, .ber_window = WINDOW, .room = ROOM};

	shortage_each(receiver, &c);
}
