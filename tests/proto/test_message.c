/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages there and back, their sizes in blocks, their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random_msg.h"

#define SEED 0x5eed0001

static void there_and_back(struct test_rng *r, uint8_t kind, const struct mf_proto *p, uint32_t max_octets,
			   const uint8_t *data, uint64_t *word)
{
	struct mf_msg in = random_msg(r, kind, max_octets), out;
	const uint8_t *got = NULL;
	unsigned int n = encode(p, &in, data, word);

	cr_assert_eq(decode(p, word, n, &out, &got), 0, "%s", mf_kind_name(kind));
	expect_equal(&in, &out);
	if (kind == MF_WREQ || kind == MF_WREQ_ACK || kind == MF_RRES) {
		cr_assert_eq(n, mf_proto_chunk_blocks(p, in.size) + (in.ext ? MF_EXT_BLOCKS : 0));
		cr_assert(memcmp(got, data, in.size) == 0);
	} else if (!is_single(kind)) {
		cr_assert_eq(n, mf_proto_request_blocks(p, &in));
		cr_assert_leq(n, MF_REQUEST_BLOCKS_MAX);
	}
	if (is_single(kind))
		return;

	struct mf_msg peeked = {0};

	mf_proto_peek(word[0], &peeked);
	cr_assert(peeked.kind == kind && peeked.src == in.src && peeked.dst == in.dst && peeked.id == in.id);
}

Test(message, there_and_back)
{
	struct test_rng r = {SEED};
	uint64_t *word = malloc(MF_BLOCKS_MAX * sizeof(*word));
	uint8_t *data = malloc(MF_MESSAGE_MAX);

	cr_log_info("seed %#x", SEED);
	cr_assert(word && data);
	for (unsigned int i = 0; i < MF_MESSAGE_MAX; i++)
		data[i] = (uint8_t)rnd(&r);
	for (unsigned int i = 0; i < 40000; i++) {
		struct mf_proto p = {.check32 = i & 1};
		uint8_t kind = 1 + i / 2 % (MF_KINDS - 1);

		there_and_back(&r, kind, &p, i % 64 < 2 ? MF_MESSAGE_MAX : 600, data, word);
	}
	free(word);
	free(data);
}

Test(message, every_chunk_size)
{
	static uint64_t word[2 + 4096 / 8 + 1];
	static uint8_t data[4096];
	struct test_rng r = {SEED};

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = 1 + below(&r, 255);
	for (uint32_t size = 1; size <= sizeof(data); size++) {
		struct mf_proto p = {.check32 = size & 1};
		struct mf_msg in = {.kind = MF_WREQ, .last = true, .size = size, .dst = 1}, out;
		const uint8_t *got;
		unsigned int n = mf_proto_put_chunk(&p, &in, data, word);

		cr_assert_eq(n, mf_proto_chunk_blocks(&p, size));
		cr_assert_eq(mf_proto_get(&p, word, n, &out, &got), 0);
		cr_assert(out.size == size && memcmp(got, data, size) == 0);
	}
}

/* The largest and smallest value of each field reach the other side and touch no other field. */
Test(message, edges)
{
	const struct mf_proto p = {0};
	struct mf_msg in = {.kind = MF_RREQ, .size = MF_MESSAGE_MAX}, out;
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	const uint8_t *data;

	cr_assert_eq(mf_proto_put_request(&p, &in, word), 2, "an RREQ takes two blocks (D13)");
	cr_assert_eq(mf_proto_get(&p, word, 2, &out, &data), 0);
	expect_equal(&in, &out);
	in = (struct mf_msg){.kind = MF_RREQ,
			     .size = 1,
			     .addr = MF_ADDR_MAX,
			     .src = MF_PORTS_MAX - 1,
			     .dst = MF_PORTS_MAX - 1,
			     .id = MF_IDS - 1};
	mf_proto_put_request(&p, &in, word);
	cr_assert_eq(mf_proto_get(&p, word, 2, &out, &data), 0);
	expect_equal(&in, &out);

	for (uint8_t kind = MF_RREQ; kind <= MF_NOTIFY; kind += MF_NOTIFY - MF_RREQ) {
		in = (struct mf_msg){.kind = kind, .size = MF_MESSAGE_MAX, .behind = MF_BEHIND_MAX};
		cr_assert_eq(decode(&p, word, encode(&p, &in, NULL, word), &out, &data), 0);
		expect_equal(&in, &out);
		cr_assert(out.dst == 0 && !out.mega && !out.ext && !out.last);
	}
}

Test(message, blocks_by_kind)
{
	const struct mf_proto p16 = {0}, p32 = {.check32 = true};
	struct mf_msg m = {.kind = MF_RMWREQ, .op = MF_RMW_CAS};

	cr_assert_eq(mf_proto_request_blocks(&p16, &m), 4);
	cr_assert_eq(mf_proto_request_blocks(&p32, &m), 5, "a CAS fits five");
	for (m.op = MF_RMW_FADD; m.op < MF_RMW_SPACE; m.op++)
		cr_assert_eq(mf_proto_request_blocks(&p16, &m), 3);
	cr_assert_eq(mf_proto_request_blocks(&p16, &m), 4, "of a space: what, and how much");
	m.op = MF_RMW_CALL;
	cr_assert_eq(mf_proto_request_blocks(&p16, &m), 4, "a call: which, and of how much");
	cr_assert_eq(mf_proto_chunk_blocks(&p16, 64), 10, "a 64 B chunk (D17)");
}

/* By the text of docs/wire-format.md, computed without this library. */
Test(message, a_call_on_the_wire)
{
	static const uint64_t right[] = {UINT64_C(0x12345856a580341d), UINT64_C(0x1122334455667788),
					 UINT64_C(0x000600500001beef), UINT64_C(0x0000deadbeef0201),
					 UINT64_C(0x0000000000000040), UINT64_C(0x29f4005a400000e2)};
	const struct mf_proto p = {.ext = true};
	const struct mf_msg m = {.kind = MF_RMWREQ,
				 .op = MF_RMW_CALL,
				 .dst = 3,
				 .src = 300,
				 .id = 0x5a,
				 .ext = true,
				 .key = UINT64_C(0x1122334455667788),
				 .epoch = 0xbeef,
				 .again = 1,
				 .space = 3 << 13 | 5,
				 .addr = UINT64_C(0x400000123458),
				 .arg = {UINT64_C(0xdeadbeef0201), 64},
				 .size = 16 + 64};
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	const uint8_t *data;
	struct mf_msg out;

	cr_assert_eq(mf_proto_put_request(&p, &m, word), 6);
	for (unsigned int i = 0; i < 6; i++)
		cr_expect_eq(word[i], right[i], "block %u: %#lx", i, word[i]);
	cr_assert_eq(mf_proto_get(&p, right, 6, &out, &data), 0);
	expect_equal(&m, &out);
	cr_expect_eq(mf_proto_response_size(&out), 80);
}

/* What a call says of its response, from the least to the most. */
Test(message, the_answer_to_a_call_has_any_size)
{
	const struct mf_proto p = {0};
	const uint8_t *data;

	for (uint32_t len = 1; len <= MF_CALL_MAX; len += len < 100 ? 1 : 997) {
		struct mf_msg m = {.kind = MF_RMWREQ, .op = MF_RMW_CALL, .size = mf_call_size(len)}, out;
		uint64_t word[MF_REQUEST_BLOCKS_MAX];
		unsigned int n = mf_proto_put_request(&p, &m, word);

		cr_assert(m.size >= len + MF_CALL_HEAD && m.size < len + MF_CALL_HEAD + MF_CALL_UNIT);
		cr_assert_eq(mf_proto_get(&p, word, n, &out, &data), 0);
		cr_assert_eq(mf_proto_response_size(&out), m.size);
	}
	cr_assert_eq(mf_call_size(MF_CALL_MAX), 4095 * 16, "the most that 12 bits say");
}

Test(message, names)
{
	cr_assert_str_eq(mf_kind_name(MF_RREQ), "RREQ");
	cr_assert_str_eq(mf_kind_name(MF_KINDS), "?");
	cr_assert_str_eq(mf_rmw_name(MF_RMW_CAS), "cas");
	cr_assert_str_eq(mf_rmw_name(MF_RMW_ALL), "?");
	cr_assert_str_eq(mf_status_name(MF_ERR_RANGE), "range");
	cr_assert_str_eq(mf_status_name(255), "?");
	for (uint8_t k = 1; k < MF_KINDS; k++)
		for (uint8_t j = 0; j < k; j++)
			cr_assert_str_neq(mf_kind_name(k), mf_kind_name(j));
	for (uint8_t s = 0; s < MF_STATUS_WORDS; s++)
		cr_assert_str_neq(mf_status_name(s), "?");
	for (uint8_t op = 0; op < MF_RMW_ALL; op++) {
		cr_assert_str_neq(mf_rmw_name(op), "?");
		cr_assert_eq(mf_rmw_size(op), op == MF_RMW_SPACE ? 16 : op == MF_RMW_CALL ? 0 : 8);
	}
	cr_assert_eq(mf_rmw_size(MF_RMW_ALL), 0);
}
