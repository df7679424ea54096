/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks whose check is right and that are no message all the same; garbage of any length. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random_msg.h"
#include "systems/edm/proto/proto_crc.h"
#include "systems/edm/proto/proto_layout.h"

#define SEED 0x5eed0004

static const struct mf_proto p16 = {0}, p32 = {.check32 = true};

/* Makes the checks of n blocks right again. */
static void seal(const struct mf_proto *p, uint64_t *word, unsigned int n)
{
	word[n - 1] &= UINT64_MAX >> 16;
	if (p->check32 && n > 2) {
		word[n - 2] &= ~(uint64_t)UINT32_MAX;
		word[n - 2] |= mf_crc32c(word, n - 2, word[n - 1]);
	}
	word[n - 1] |= field(MSG_CHECK, mf_crc16(word, n) ^ MF_CRC16_GOOD);
}

static int get_sealed(const struct mf_proto *p, uint64_t *word, unsigned int n)
{
	struct mf_msg m;
	const uint8_t *data;

	seal(p, word, n);
	return n == 1 ? mf_proto_get_single(word[0], &m) : mf_proto_get(p, word, n, &m, &data);
}

static void expect_refused(struct mf_msg m, unsigned int block, unsigned int bit, unsigned int width,
			   uint64_t value)
{
	uint64_t word[32];
	uint8_t data[128] = {0};
	unsigned int n = encode(&p16, &m, data, word);

	cr_assert_eq(get_sealed(&p16, word, n), 0);
	block = block < n ? block : n - 1;
	word[block] = (word[block] & ~field(bit, width, UINT64_MAX)) | field(bit, width, value);
	cr_assert_eq(get_sealed(&p16, word, n), -EPROTO, "%s block %u bits %u+%u = %#lx",
		     mf_kind_name(m.kind), block, bit, width, (unsigned long)value);
}

#define MS 0
#define MT 99

/* Every spare bit has to be zero. */
Test(reject, spare_bits)
{
	const struct mf_msg cas = {.kind = MF_RMWREQ}, wreq = {.kind = MF_WREQ, .size = 8, .last = true},
			    rres = {.kind = MF_RRES, .size = 8, .last = true, .ext = true},
			    rmw = {.kind = MF_RMWREQ, .ext = true}, gret = {.kind = MF_GRET, .size = 1},
			    take = {.kind = MF_TAKE}, ask = {.kind = MF_TAKE, .op = MF_TAKE_ASK},
			    grant = {.kind = MF_GRANT, .size = 1}, notify = {.kind = MF_NOTIFY, .size = 1};

	expect_refused(cas, MS, MS_LAST, 1);
	expect_refused(wreq, MT, MT_CHUNK_SPARE, 1);
	for (unsigned int i = 0; i < 12; i++)
		expect_refused(cas, MT, MT_ANSWER, 1u << i);
	for (unsigned int i = 0; i < 28; i++)
		expect_refused(rres, 2, EXT_NUMBER, UINT64_C(1) << i);
	for (unsigned int i = 0; i < 12; i++)
		expect_refused(rmw, 2, EXT_FROM, 1u << i);
	for (unsigned int i = 0; i < 4; i++)
		expect_refused(take, MS, TAKE_SPARE, 1u << i);
	for (unsigned int i = 0; i < 16; i++)
		expect_refused(ask, MS, TAKE_EPOCH, 1u << i);
	for (unsigned int i = 0; i < 6; i++)
		expect_refused(grant, MS, G_SPARE, 1u << i);
	for (unsigned int i = 0; i < 4; i++)
		expect_refused(notify, MS, N_SPARE, 1u << i);
	expect_refused(gret, MS, GRET_SPARE, 1);
}

/* A piece of a transfer with nothing behind it says its size; a mega-message is no piece. */
Test(reject, pieces)
{
	const struct mf_msg rreq = {.kind = MF_RREQ, .size = 1}, notify = {.kind = MF_NOTIFY, .size = 1},
			    mega = {.kind = MF_NOTIFY, .size = 8, .mega = true};

	expect_refused(rreq, MS, MS_MORE, 1);
	expect_refused(notify, MS, N_MORE, 1);
	expect_refused(mega, MS, N_MORE, 1);
}

Test(reject, fields_out_of_range)
{
	const struct mf_msg rreq = {.kind = MF_RREQ, .size = 8},
			    fadd = {.kind = MF_RMWREQ, .op = MF_RMW_FADD},
			    wreq = {.kind = MF_WREQ, .size = 8, .last = true},
			    rres = {.kind = MF_RRES, .size = 8, .last = true},
			    call = {.kind = MF_RMWREQ, .op = MF_RMW_CALL, .size = 32},
			    rest = {.kind = MF_RMWREQ,
				    .op = MF_RMW_CALL,
				    .size = 32,
				    .offset = 16,
				    .ext = true},
			    err = {.kind = MF_ERR, .status = MF_ERR_RANGE}, ack = {.kind = MF_ACK},
			    full = {.kind = MF_ERR, .status = MF_ERR_RESOURCE},
			    demand = {.kind = MF_ERR, .status = MF_ERR_RESOURCE, .of = MF_NOTIFY};

	for (unsigned int kind = 0; kind < 16; kind++) {
		if (kind == MF_KIND_NONE || kind > MF_RRES)
			expect_refused(rreq, MS, MS_KIND, kind);
		if (kind != MF_ACK && kind != MF_ERR && kind != MF_GRET && kind != MF_TAKE)
			expect_refused(ack, MS, MS_KIND, kind);
	}
	for (unsigned int op = MF_RMW_ALL; op < 16; op++)
		expect_refused(fadd, MT, MT_OP, op);
	for (unsigned int status = MF_ERR_GAP + 1; status < 16; status++)
		expect_refused(err, MS, ERR_STATUS, status);
	expect_refused(err, MS, ERR_STATUS, MF_OK);
	expect_refused(err, MS, ERR_STATUS, MF_ERR_TIMEOUT);
	expect_refused(err, MS, ERR_STATUS, MF_ERR_UNKNOWN);
	for (unsigned int of = MF_RMWREQ + 1; of < 16; of++)
		expect_refused(err, MS, ERR_OF, of);
	for (unsigned int of = MF_RMWREQ + 1; of < 16; of++)
		if (of != MF_NOTIFY)
			expect_refused(full, MS, ERR_OF, of);
	expect_refused(call, MT, MT_ANSWER, 0);
	/* Its response would end beyond the longest there is. */
	expect_refused(rest, 2, EXT_FROM, 4095);
	expect_refused(rest, MT, MT_ANSWER, 4095);
	for (unsigned int use = 1; use < 4; use++) /* a switch knows of none */
		expect_refused(demand, MS, ERR_USE, use);
	expect_refused(rres, MS, MS_ADDR, 1);
	expect_refused(rres, MT, MT_ADDR, 1);
	expect_refused(wreq, MS, MS_LAST, 0); /* 8 octets cannot be followed by more */
}

/* A request is for what a message may have: from where it begins to 64 KiB. */
Test(reject, requests_beyond_the_largest_message)
{
	struct mf_msg m = {.kind = MF_RREQ, .ext = true, .offset = MF_MESSAGE_MAX - 32};
	uint64_t word[8];

	for (m.size = 1; m.size <= 64; m.size++) {
		unsigned int n = mf_proto_put_request(&p16, &m, word);

		cr_assert_eq(get_sealed(&p16, word, n), m.size <= 32 ? 0 : -EPROTO, "%u octets", m.size);
	}
	m.size = MF_MESSAGE_MAX;
	for (m.offset = 0; m.offset < MF_MESSAGE_MAX; m.offset += MF_CHUNK_UNIT) {
		unsigned int n = mf_proto_put_request(&p16, &m, word);

		cr_assert_eq(get_sealed(&p16, word, n), m.offset == 0 ? 0 : -EPROTO, "from %u", m.offset);
	}
}

/* Where all messages are extended one that is not is refused, whatever its kind. */
Test(reject, not_extended_where_all_are)
{
	struct test_rng r = {7};
	uint8_t data[4096] = {0};
	uint64_t word[600];

	for (unsigned int i = 0; i < 400; i++) {
		static const uint8_t kinds[] = {MF_RREQ, MF_RMWREQ, MF_WREQ, MF_WREQ_ACK, MF_RRES};
		struct mf_proto ext = {.check32 = i & 1, .ext = true};
		struct mf_msg m = random_msg(&r, kinds[i % 5], 512);
		unsigned int n;

		m.ext = i / 5 & 1;
		n = encode(&ext, &m, data, word);
		cr_assert_eq(get_sealed(&ext, word, n), m.ext ? 0 : -EPROTO, "%s", mf_kind_name(m.kind));
		if (!m.ext)
			continue;
		cr_assert_eq(n, i % 5 < 2 ? mf_proto_request_blocks(&ext, &m)
					  : mf_proto_chunk_blocks(&ext, m.size));
	}
}

/* The number of blocks has to be the one that the kind needs. */
Test(reject, wrong_lengths)
{
	struct mf_msg rreq = {.kind = MF_RREQ, .size = 8}, cas = {.kind = MF_RMWREQ, .op = MF_RMW_CAS};
	const struct mf_msg *msg[] = {&rreq, &cas};

	for (unsigned int i = 0; i < 8; i++) {
		const struct mf_proto *p = i & 1 ? &p32 : &p16;
		struct mf_msg m = *msg[i >> 1 & 1];

		m.ext = i >> 2;
		unsigned int right = mf_proto_request_blocks(p, &m);

		for (unsigned int n = 2; n < 12; n++) {
			uint64_t word[12] = {0};

			mf_proto_put_request(p, &m, word);
			if (n != right) {
				uint64_t mt = word[right - 1];

				word[right - 1] = 0;
				word[n - 1] = mt;
			}
			if (p->check32 && n > 2)
				word[n - 2] = 0;
			cr_assert_eq(get_sealed(p, word, n), n == right ? 0 : -EPROTO, "%u of %u", n, right);
		}
	}
}

Test(reject, chunks)
{
	uint8_t data[16] = {0};
	uint64_t word[5];
	struct mf_msg m = {.kind = MF_WREQ, .size = 16, .last = true}, out;
	const uint8_t *got;

	for (unsigned int tail = 1; tail < 8; tail++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			m.size = 8 + tail;
			mf_proto_put_chunk(&p16, &m, data, word);
			word[2] |= UINT64_C(1) << bit;
			cr_assert_eq(get_sealed(&p16, word, 4), bit < 8 * tail ? 0 : -EPROTO, "padding");
		}
	}
	m.size = 16;
	m.offset = MF_MESSAGE_MAX - 16;
	mf_proto_put_chunk(&p16, &m, data, word);
	cr_assert_eq(mf_proto_get(&p16, word, 4, &out, &got), 0);
	word[4] = word[3];
	word[3] = 0;
	cr_assert_eq(get_sealed(&p16, word, 5), -EPROTO, "reaches beyond the largest message");

	m = (struct mf_msg){.kind = MF_WREQ, .last = true};
	cr_assert_eq(get_sealed(&p16, word, mf_proto_put_chunk(&p16, &m, data, word)), -EPROTO, "no data");
}

Test(reject, checks)
{
	uint64_t word[8];
	struct mf_msg m = {.kind = MF_RREQ, .size = 8}, out;
	const uint8_t *got;
	unsigned int n = mf_proto_put_request(&p32, &m, word);

	word[1] ^= 1;
	cr_assert_eq(mf_proto_get(&p32, word, n, &out, &got), -EBADMSG);
	word[n - 1] &= UINT64_MAX >> 16;
	word[n - 1] |= field(MSG_CHECK, mf_crc16(word, n) ^ MF_CRC16_GOOD);
	cr_assert_eq(mf_proto_get(&p32, word, n, &out, &got), -EBADMSG, "CRC-32C alone");
	word[1] ^= 1 | UINT64_C(1) << 40;
	cr_assert_eq(get_sealed(&p32, word, n), -EPROTO, "spare bits beside the CRC-32C");

	n = mf_proto_put_request(&p16, &m, word);
	cr_assert_eq(mf_proto_get(&p32, word, n, &out, &got), -EPROTO, "a CRC-32C that is not there");
}

/* The CRC-32C covers the header in /MT/, too. */
Test(reject, check32_covers_all_blocks)
{
	struct mf_msg m = {.kind = MF_WREQ, .size = 32, .last = true}, out;
	uint8_t data[32] = {1, 2, 3};
	uint64_t word[7];
	const uint8_t *got;
	unsigned int n = mf_proto_put_chunk(&p32, &m, data, word);

	for (unsigned int bit = 0; bit < 64 * n - 16; bit++) {
		if (bit / 64 == n - 2 && bit % 64 >= 32)
			continue;
		word[bit / 64] ^= UINT64_C(1) << bit % 64;
		word[n - 1] &= UINT64_MAX >> 16;
		word[n - 1] |= field(MSG_CHECK, mf_crc16(word, n) ^ MF_CRC16_GOOD);
		int rc = mf_proto_get(&p32, word, n, &out, &got);

		cr_assert(rc == -EBADMSG || (rc == -EPROTO && bit % 64 < 8), "bit %u", bit);
		word[bit / 64] ^= UINT64_C(1) << bit % 64;
	}
}

/* In a buffer of exactly n words, so that the sanitizer sees any octet too many. */
static void garbage(struct test_rng *r, unsigned int n, bool sealed)
{
	uint64_t *word = malloc(n ? n * sizeof(*word) : 1);
	const struct mf_proto *p = rnd(r) & 1 ? &p32 : &p16;
	struct mf_msg m;
	const uint8_t *data = NULL;

	cr_assert(word != NULL);
	for (unsigned int i = 0; i < n; i++)
		word[i] = rnd(r);
	if (n > 1) {
		word[0] = (word[0] & ~UINT64_C(0xff)) | MF_BT_MS;
		word[n - 1] = (word[n - 1] & ~UINT64_C(0xff)) | MF_BT_MT;
	}
	if (sealed && n > 0)
		seal(p, word, n);
	int rc = mf_proto_get(p, word, n, &m, &data);

	cr_assert(rc == 0 || rc == -EBADMSG || rc == -EPROTO);
	cr_assert(rc == -EPROTO || (n > 1 && n <= MF_BLOCKS_MAX), "no check is looked at");
	if (rc == 0 && (m.kind == MF_WREQ || m.kind == MF_WREQ_ACK || m.kind == MF_RRES))
		cr_assert(data > (uint8_t *)word && data + m.size <= (uint8_t *)(word + n - 1));
	free(word);
}

Test(reject, garbage_of_any_length)
{
	struct test_rng r = {SEED};

	cr_log_info("seed %#x", SEED);
	for (unsigned int i = 0; i < 200000; i++)
		garbage(&r, below(&r, 24), i & 1);
	for (unsigned int n = MF_BLOCKS_MAX - 4; n < MF_BLOCKS_MAX + 4; n++)
		garbage(&r, n, n & 1);
}

/* What was accepted is what the encoder would have made: no second spelling of a message. */
Test(reject, singles_have_one_spelling)
{
	static const uint8_t type[] = {MF_BT_N, MF_BT_G, MF_BT_MST, MF_BT_MS, MF_BT_MT, MF_BT_C, 0};
	struct test_rng r = {SEED};
	unsigned int accepted = 0;

	for (unsigned int i = 0; i < 300000; i++) {
		uint8_t t = type[below(&r, sizeof(type))];
		uint64_t word = (rnd(&r) & ~UINT64_C(0xff)) | t;
		struct mf_msg m;

		if (rnd(&r) & 1)
			word &= ~(UINT64_C(0x3ff) << 38);
		seal(&p16, &word, 1);
		if (mf_proto_get_single(word, &m) != 0)
			continue;
		accepted++;
		cr_assert(t == MF_BT_N || t == MF_BT_G || t == MF_BT_MST);
		cr_assert_eq(mf_proto_put_single(&m), word);
	}
	cr_assert_gt(accepted, 1000);
}
