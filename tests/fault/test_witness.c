/* SPDX-License-Identifier: BSD-3-Clause */
/* The witness sees what a check lets pass: messages that are right in themselves, and that nobody sent. */
#include <criterion/criterion.h>
#include <string.h>

#include "systems/edm/fault/mf_witness.h"

static const struct mf_proto proto;
static struct mf_span span;
static struct mf_witness_tag tag[MF_SPAN_MAX];

static void put(uint8_t sync, uint64_t came, uint64_t sent, uint64_t message, uint16_t index, bool last)
{
	tag[span.count] =
		(struct mf_witness_tag){.word = sent, .message = message, .index = index, .last = last};
	mf_span_put(&span, sync, came);
}

/** A chunk of a write with this in it. @return its blocks */
static unsigned int chunk(uint64_t *word, uint8_t id, uint8_t fill)
{
	struct mf_msg m = {.kind = MF_WREQ, .id = id, .src = 1, .dst = 2, .size = 32, .last = true};
	uint8_t data[32];

	memset(data, fill, sizeof(data));
	return mf_proto_put_chunk(&proto, &m, data, word);
}

static uint64_t grant(uint8_t id)
{
	const struct mf_msg m = {.kind = MF_GRANT, .dst = 3, .id = id, .size = 64};

	return mf_proto_put_single(&m);
}

/** What came is `came`, what was sent as message number so and so is `sent`. */
static void put_chunk(const uint64_t *came, const uint64_t *sent, unsigned int n, uint64_t message)
{
	for (unsigned int i = 0; i < n; i++)
		put(i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, came[i], sent[i], message,
		    (uint16_t)i, i == n - 1);
}

static struct mf_witness_stats seen(void)
{
	struct mf_witness *w = mf_witness_new(&proto);
	struct mf_witness_stats s;

	cr_assert_not_null(w);
	mf_witness_see(w, &span, tag);
	s = *mf_witness_stats(w);
	mf_witness_free(w);
	span.count = 0;
	return s;
}

Test(witness, what_was_sent_is_intact)
{
	uint64_t a[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	put_chunk(a, a, n, 1);
	put(MF_SYNC_CTRL, grant(1), grant(1), 2, 0, true);
	put(MF_SYNC_CTRL, MF_IDLE_WORD, MF_IDLE_WORD, 0, 0, false);
	put_chunk(a, a, n, 3);
	s = seen();
	cr_expect_eq(s.intact, 3);
	cr_expect_eq(s.damaged + s.aborted + s.sent_bad, 0);
}

Test(witness, a_message_in_parts_is_one)
{
	uint64_t a[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	for (unsigned int i = 0; i < n; i++) {
		put(i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 1, (uint16_t)i,
		    i == n - 1);
		if (i < n - 1)
			put(MF_SYNC_CTRL, grant((uint8_t)i), grant((uint8_t)i), 2 + i, 0, true);
	}
	s = seen();
	cr_expect_eq(s.intact, n);
	cr_expect_eq(s.damaged, 0);
}

/** The rest comes when the link is there again, as from a node that sends by another link, too. */
Test(witness, a_message_is_not_joined_over_a_cut)
{
	struct mf_witness *w = mf_witness_new(&proto);
	uint64_t a[8];
	unsigned int n = chunk(a, 1, 7), half = n / 2;

	cr_assert_not_null(w);
	for (unsigned int i = 0; i < half; i++)
		put(i == 0 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 1, (uint16_t)i, false);
	mf_witness_see(w, &span, tag);
	mf_witness_cut(w);
	span.count = 0;
	for (unsigned int i = half; i < n; i++) /* of no message that has begun since */
		put(i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 0, 0, false);
	put_chunk(a, a, n, 2);
	mf_witness_see(w, &span, tag);
	span.count = 0;
	cr_expect_eq(mf_witness_stats(w)->intact, 1);
	cr_expect_eq(mf_witness_stats(w)->damaged, 0);
	mf_witness_free(w);
}

Test(witness, damage_is_refused_by_the_check_or_cut)
{
	uint64_t a[8], b[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	memcpy(b, a, sizeof(b));
	b[2] ^= 1;
	put_chunk(b, a, n, 1);
	put_chunk(a, a, n - 1, 2);
	put_chunk(a, a, n, 3); /* in the middle of the one before */
	s = seen();
	cr_expect_eq(s.refused_check, 1);
	cr_expect_eq(s.damaged, 1);
	cr_expect_eq(s.aborted, 1);
	cr_expect_eq(s.intact, 1);
}

/* The bit that was wrong when the switch sent it on is flipped back; or another one is wrong, too. */
Test(witness, what_is_right_again_is_told_apart)
{
	uint64_t a[8], bad[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	memcpy(bad, a, sizeof(bad));
	bad[2] ^= 1 << 5;
	put_chunk(a, bad, n, 1);
	a[3] ^= 1;
	put_chunk(a, bad, n, 2);
	s = seen();
	cr_expect_eq(s.healed, 1);
	cr_expect_eq(s.damaged, 2);
	cr_expect_eq(s.refused_check, 1);
	cr_expect_eq(s.undetected, 0);
}

/* Another message than was sent, with a check that is right for it. */
Test(witness, what_the_check_lets_pass_is_seen)
{
	uint64_t a[8], b[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	cr_assert_eq(chunk(b, 1, 8), n);
	put_chunk(b, a, n, 1); /* other data */
	cr_assert_eq(chunk(b, 2, 7), n);
	put_chunk(b, a, n, 2); /* another id, the same data */
	put(MF_SYNC_CTRL, grant(2), grant(1), 3, 0, true);
	put(MF_SYNC_CTRL, grant(2), MF_IDLE_WORD, 0, 0, false); /* out of nothing */
	s = seen();
	cr_expect_eq(s.undetected, 4);
	cr_expect_eq(s.damaged, 4);
	cr_expect_eq(s.intact, 0);
}

/* No block is other than it was sent; but it is not one message. */
Test(witness, blocks_of_two_messages_and_blocks_that_are_missing_are_seen)
{
	uint64_t a[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	for (unsigned int i = 0; i < n;
	     i++) /* the first half of one, the second of another that is the same */
		put(i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 1 + (i > n / 2),
		    (uint16_t)i, i == n - 1);
	for (unsigned int i = 0; i < n; i++) /* it had a block more */
		put(i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 3,
		    (uint16_t)(i + (i > 2)), i == n - 1);
	for (unsigned int i = 0; i < n; i++) /* it had not ended */
		put(i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, a[i], a[i], 4, (uint16_t)i, false);
	s = seen();
	cr_expect_eq(s.undetected, 3);
	cr_expect_eq(s.intact, 0);
}

/* Right check, but no such message is ever made. */
Test(witness, what_the_fields_refuse_is_told_apart)
{
	const struct mf_msg m = {.kind = 15, .dst = 3, .src = 1};
	struct mf_witness_stats s;

	put(MF_SYNC_CTRL, mf_proto_put_single(&m), grant(1), 1, 0, true);
	s = seen();
	cr_expect_eq(s.refused_fields, 1);
	cr_expect_eq(s.undetected, 0);
}

/* The switch sends on what was damaged on its way to it. */
Test(witness, what_was_bad_when_it_was_sent_is_no_fault_of_this_link)
{
	uint64_t a[8];
	unsigned int n = chunk(a, 1, 7);
	struct mf_witness_stats s;

	a[2] ^= 1;
	put_chunk(a, a, n, 1);
	s = seen();
	cr_expect_eq(s.intact, 1);
	cr_expect_eq(s.sent_bad, 1);
	cr_expect_eq(s.damaged, 0);
}
