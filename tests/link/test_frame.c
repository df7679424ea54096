/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of link frames: a golden frame of each kind, round trips, and all that can be wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "link/crc.h"
#include "link/mf_link_frame.h"
#include "link/sync.h"

#define HEAD sizeof(struct mf_link_head)

static struct mf_span span;
static uint8_t frame[MF_LINK_FRAME_MAX + 64];

static const struct mf_link_head head = {
	.dst = {0x02, 0, 0, 0, 0, 0x02},
	.src = {0x02, 0, 0, 0, 0, 0x01},
	.ethertype = {0x88, 0xb5},
	.version = MF_LINK_VERSION,
	.type = MF_LINK_DATA,
	.link = 0x0102,
	.flags = MF_LINK_FROM_SWITCH,
	.epoch = 0xe1e2e3e4,
	.seq = 0x51525354,
	.ack = 0xa1a2a3a4,
	.limit = 0xb1b2b3b4,
};

static void random_span(struct mf_rng *rng, unsigned int n)
{
	span.count = 0;
	while (span.count < n)
		mf_span_put(&span, (uint8_t)mf_rng_below(rng, 4), mf_rng_next(rng));
}

/** The same frame in memory that ends where it ends, so that a sanitizer sees who reads on. */
static enum mf_link_fault check(const uint8_t *octets, size_t len)
{
	uint8_t *own = malloc(len > 0 ? len : 1);
	enum mf_link_fault fault;

	memcpy(own, octets, len);
	fault = mf_link_frame_check(own, len, MF_LINK_ETHERTYPE);
	if (fault == MF_LINK_GOOD)
		mf_link_frame_good(own);
	free(own);
	return fault;
}

static void expect_hex(const uint8_t *octets, size_t len, const char *hex)
{
	char text[2 * MF_LINK_FRAME_MAX + 1];

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", octets[i]);
	cr_assert_str_eq(text, hex);
}

Test(link_frame, crc_is_that_of_rfc_3720)
{
	uint8_t octets[32] = {0};

	cr_assert_eq(~link_crc(UINT32_MAX, octets, 32), 0x8a9136aa);
	memset(octets, 0xff, 32);
	cr_assert_eq(~link_crc(UINT32_MAX, octets, 32), 0x62a8ab43);
	for (uint8_t i = 0; i < 32; i++)
		octets[i] = i;
	cr_assert_eq(~link_crc(UINT32_MAX, octets, 32), 0x46dd794e);
	cr_assert_eq(~link_crc(UINT32_MAX, (const uint8_t *)"123456789", 9), 0xe3069283);
}

/** Bit by bit, at every length and alignment that vector code could get wrong. */
Test(link_frame, crc_goes_on_anywhere)
{
	static uint8_t octets[5000];
	struct mf_rng rng;
	uint32_t slow = UINT32_MAX;
	size_t len = 0;

	mf_rng_init(&rng, 1, "crc", 0);
	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = (uint8_t)mf_rng_next(&rng);
	for (; len < 4990; len++) {
		cr_assert_eq(link_crc(UINT32_MAX, octets, len), slow, "%zu octets", len);
		slow ^= octets[len];
		for (int bit = 0; bit < 8; bit++)
			slow = slow >> 1 ^ (slow & 1 ? 0x82f63b78 : 0);
	}
	for (int i = 0; i < 1000; i++) {
		size_t from = mf_rng_below(&rng, 16), n = mf_rng_below(&rng, 4900),
		       cut = mf_rng_below(&rng, n + 1);
		uint32_t whole = link_crc(UINT32_MAX, octets + from, n);

		cr_assert_eq(link_crc(link_crc(UINT32_MAX, octets + from, cut), octets + from + cut, n - cut),
			     whole);
	}
}

Test(link_frame, sync_headers_two_bits_a_block)
{
	struct mf_rng rng;
	uint8_t in[40], out[40];

	mf_rng_init(&rng, 2, "sync", 0);
	for (unsigned int n = 1; n <= 32; n++)
		for (int i = 0; i < 100; i++) {
			uint64_t bits = 0;

			for (unsigned int k = 0; k < 40; k++)
				in[k] = (uint8_t)mf_rng_below(&rng, 4);
			for (unsigned int k = 0; k < n; k++)
				bits |= (uint64_t)in[k] << 2 * k;
			cr_assert_eq(sync_pack(in, n), bits);
			memset(out, 0xee, sizeof(out));
			sync_unpack(out, bits, n);
			cr_assert_arr_eq(out, in, n);
			for (unsigned int k = (n + 7) / 8 * 8; k < sizeof(out); k++)
				cr_assert_eq(out[k], 0xee, "%u octets write to octet %u", n, k);
		}
}

Test(link_frame, golden_data)
{
	uint16_t len;

	span.count = 0;
	mf_span_put(&span, MF_SYNC_CTRL, 0x08070605040302ff);
	mf_span_put(&span, MF_SYNC_DATA, 0x1817161514131211);
	mf_span_put(&span, MF_SYNC_CTRL, 0x28272625242322e2);
	len = mf_link_frame_put(frame, &head, &span);
	expect_hex(frame, len,
		   "020000000002"
		   "020000000001"
		   "88b5"
		   "01"
		   "02"
		   "0201"
		   "0100"
		   "e4e3e2e1"
		   "54535251"
		   "a4a3a2a1"
		   "b4b3b2b1"
		   "0300"
		   "2000"
		   "4d5b5f22"
		   "1900000000000000"
		   "ff02030405060708"
		   "1112131415161718"
		   "e222232425262728");
}

Test(link_frame, golden_hello)
{
	const struct mf_link_hello hello = {.epoch = 0x1112131415161718,
					    .partner = 0x2122232425262728,
					    .fabric = 0x3132333435363738,
					    .features = MF_LINK_RETRANSMITS,
					    .period = 2560,
					    .window = 256,
					    .blocks = 520,
					    .state = MF_LINK_READY | MF_LINK_DONE,
					    .echo = MF_LINK_READY,
					    .first = 0x41424344,
					    .node = MF_LINK_NODE_SWITCH,
					    .name = "tor"};
	struct mf_link_head h = head;
	uint16_t len;

	h.type = MF_LINK_HELLO;
	h.epoch = h.seq = h.ack = h.limit = 0;
	len = mf_link_frame_put_control(frame, &h, &hello, sizeof(hello));
	expect_hex(frame, len,
		   "020000000002"
		   "020000000001"
		   "88b5"
		   "01"
		   "01"
		   "0201"
		   "0100"
		   "00000000"
		   "00000000"
		   "00000000"
		   "00000000"
		   "0000"
		   "6000"
		   "8ddfa5a1"
		   "1817161514131211"
		   "2827262524232221"
		   "3837363534333231"
		   "0100000000000000"
		   "000a0000"
		   "0001"
		   "0802"
		   "0300"
		   "0100"
		   "44434241"
		   "ffff"
		   "000000000000"
		   "746f7200000000000000000000000000"
		   "00000000000000000000000000000000"
		   "0000000000000000");
	cr_assert_eq(mf_link_frame_check(frame, len, MF_LINK_ETHERTYPE), MF_LINK_GOOD);
	cr_assert(mf_link_frame_good(frame));
}

Test(link_frame, round_trips)
{
	static struct mf_span out;
	static uint8_t sync[MF_SPAN_MAX];
	static uint64_t word[MF_SPAN_MAX];
	struct mf_rng rng;

	mf_rng_init(&rng, 3, "frame", 0);
	for (unsigned int n = 1; n <= MF_SPAN_MAX; n++) {
		uint16_t len;

		random_span(&rng, n);
		memcpy(sync, span.sync, n);
		memcpy(word, span.word, 8 * (size_t)n);
		len = mf_link_frame_put(frame, &head, &span);
		cr_assert_eq(len, HEAD + MF_LINK_BODY(n));
		cr_assert_leq(len, MF_LINK_FRAME_MAX);
		cr_assert_eq(check(frame, len), MF_LINK_GOOD);
		cr_assert(mf_link_frame_good(frame));
		mf_link_frame_get(frame, &out);
		cr_assert_eq(out.count, n);
		cr_assert_arr_eq(out.sync, sync, n);
		cr_assert_arr_eq(out.word, word, 8 * (size_t)n);
	}
}

/** Padding, as Ethernet makes it of frames below 60 octets, is nobody's. */
Test(link_frame, padding_is_ignored)
{
	struct mf_link_head h = head;
	uint16_t len;

	h.type = MF_LINK_ACK;
	len = mf_link_frame_put_control(frame, &h, NULL, 0);
	cr_assert_eq(len, HEAD);
	for (unsigned int i = 0; i < 16; i++)
		frame[len + i] = 0xa5;
	cr_assert_eq(check(frame, len + 16), MF_LINK_GOOD);
	cr_assert(mf_link_frame_good(frame));
}

Test(link_frame, no_length_is_read_beyond)
{
	struct mf_rng rng;
	uint16_t len;

	mf_rng_init(&rng, 4, "frame", 0);
	random_span(&rng, 40);
	len = mf_link_frame_put(frame, &head, &span);
	for (uint16_t cut = 0; cut < len; cut++)
		cr_assert_eq(check(frame, cut), MF_LINK_FAULT_SHORT, "%u of %u octets", cut, len);
	for (uint32_t length = 0; length <= UINT16_MAX; length++) {
		((struct mf_link_head *)frame)->length = (uint16_t)length;
		cr_assert_eq(check(frame, len), length > len - HEAD    ? MF_LINK_FAULT_SHORT
						: length == len - HEAD ? MF_LINK_GOOD
								       : MF_LINK_FAULT_CRC);
	}
}

Test(link_frame, every_bit_counts)
{
	struct mf_rng rng;
	uint16_t len;

	mf_rng_init(&rng, 5, "frame", 0);
	random_span(&rng, 12);
	len = mf_link_frame_put(frame, &head, &span);
	for (unsigned int bit = 0; bit < 8u * len; bit++) {
		enum mf_link_fault fault;

		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		fault = check(frame, len);
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bit < 8 * 12)
			cr_assert_eq(fault, MF_LINK_GOOD, "the MAC addresses are the port's");
		else if (bit < 8 * 14)
			cr_assert_eq(fault, MF_LINK_FAULT_ETHERTYPE);
		else
			cr_assert(fault == MF_LINK_FAULT_CRC || fault == MF_LINK_FAULT_SHORT, "bit %u", bit);
	}
	cr_assert_eq(check(frame, len), MF_LINK_GOOD);
	cr_assert_eq(mf_link_frame_check(frame, len, 0x88b6), MF_LINK_FAULT_ETHERTYPE);
}

/** Seals the frame after a change, so that what is behind the CRC is looked at. */
static bool good_again(void)
{
	uint16_t len = mf_link_frame_seal(frame);

	cr_assert_eq(check(frame, len), MF_LINK_GOOD);
	return mf_link_frame_good(frame);
}

static struct mf_link_head *begin(uint8_t type, const void *body, uint16_t length)
{
	struct mf_link_head h = head;

	h.type = type;
	mf_link_frame_put_control(frame, &h, body, length);
	return (struct mf_link_head *)frame;
}

Test(link_frame, contents_of_data)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;
	struct mf_rng rng;

	mf_rng_init(&rng, 6, "frame", 0);
	for (unsigned int n = 1; n <= MF_SPAN_MAX; n += 1 + n / 8) {
		random_span(&rng, n);
		mf_link_frame_put(frame, &head, &span);
		cr_assert(good_again());
		for (unsigned int k = 0; k <= UINT16_MAX; k += k < 600 ? 1 : 97) {
			h->blocks = (uint16_t)k;
			cr_assert_eq(good_again(), k == n, "%u for %u blocks", k, n);
		}
		h->blocks = (uint16_t)n;
		for (unsigned int bit = 2 * n; bit < 64 * MF_LINK_SYNC_WORDS(n); bit++) {
			frame[HEAD + bit / 8] ^= (uint8_t)(1 << bit % 8);
			cr_assert(!good_again(), "bit %u of %u blocks", bit, n);
			frame[HEAD + bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (unsigned int bit = 1; bit < 16; bit++) {
			h->flags ^= (uint16_t)(1 << bit);
			cr_assert(!good_again());
			h->flags ^= (uint16_t)(1 << bit);
		}
		cr_assert(good_again());
	}
}

Test(link_frame, contents_of_control)
{
	static const uint8_t body[200] = {1};
	static const uint16_t length[MF_LINK_TYPES] = {[MF_LINK_ACK] = 0, [MF_LINK_BYE] = 8};

	for (unsigned int type = 0; type < 256; type++) {
		if (type == MF_LINK_HELLO || type == MF_LINK_DATA || type == MF_LINK_PROBE)
			continue;
		for (uint16_t n = 0; n < 200; n++) {
			struct mf_link_head *h = begin((uint8_t)type, body, n);
			bool right = type > 0 && type < MF_LINK_REFUSE && n == length[type];

			if (type == MF_LINK_REFUSE) {
				cr_assert_eq(good_again(), n >= sizeof(struct mf_link_refuse));
				continue;
			}
			cr_assert_eq(good_again(), right, "type %u, %u octets", type, n);
			h->flags = MF_LINK_POLL;
			cr_assert_eq(good_again(), type == MF_LINK_ACK && n == 0);
			h->flags = 4;
			cr_assert(!good_again());
			h->flags = 0;
			h->blocks = 1;
			cr_assert(!good_again());
		}
	}
}

Test(link_frame, contents_of_probe)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;

	for (unsigned int n = 1; n <= MF_SPAN_MAX; n += 1 + n / 8) {
		memset(frame, 0, sizeof(frame));
		begin(MF_LINK_PROBE, NULL, 0);
		h->length = (uint16_t)MF_LINK_BODY(n);
		for (unsigned int k = 0; k < 600; k++) {
			h->blocks = (uint16_t)k;
			cr_assert_eq(good_again(), k == n, "%u for %u blocks", k, n);
		}
		h->blocks = (uint16_t)n;
		frame[HEAD + MF_LINK_BODY(n) - 1] = 1;
		cr_assert(!good_again());
		frame[HEAD + MF_LINK_BODY(n) - 1] = 0;
		h->flags = MF_LINK_POLL;
		cr_assert(!good_again());
		h->flags = 0;
		cr_assert(good_again());
	}
}

Test(link_frame, no_frame_holds_more_than_a_span)
{
	static uint8_t longer[MF_LINK_FRAME_MAX + 64] __attribute__((aligned(8)));
	static const uint8_t types[] = {MF_LINK_DATA, MF_LINK_PROBE};
	struct mf_link_head *h = (struct mf_link_head *)longer;

	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int n = MF_SPAN_MAX; n <= MF_SPAN_MAX + 1; n++) {
			*h = head;
			h->type = types[i];
			h->blocks = (uint16_t)n;
			h->length = (uint16_t)MF_LINK_BODY(n);
			cr_expect_eq(mf_link_frame_good(longer), n == MF_SPAN_MAX);
		}
}

Test(link_frame, contents_of_hello)
{
	struct mf_link_hello hello = {.epoch = 1, .window = 1, .blocks = MF_LINK_BLOCKS_MIN};
	static const uint8_t more[200] = {1};

	begin(MF_LINK_HELLO, &hello, sizeof(hello));
	cr_assert(good_again());
	for (uint16_t n = 0; n < 200; n++) {
		begin(MF_LINK_HELLO, more, n);
		cr_assert(!good_again());
	}
#define WITH(change)                                       \
	({                                                 \
		struct mf_link_hello with = hello;         \
		with.change;                               \
		begin(MF_LINK_HELLO, &with, sizeof(with)); \
		good_again();                              \
	})
	cr_assert(!WITH(epoch = 0));
	cr_assert(!WITH(window = 0));
	cr_assert(!WITH(blocks = MF_LINK_BLOCKS_MIN - 1));
	cr_assert(!WITH(blocks = MF_SPAN_MAX + 1));
	cr_assert(WITH(blocks = MF_SPAN_MAX));
	cr_assert(WITH(thread = UINT32_MAX));
	cr_assert(WITH(host = UINT64_MAX));
	cr_assert(WITH(took = UINT16_MAX));
	cr_assert(WITH(state = 0xffff));
	cr_assert(WITH(name[31] = 'x'));
}

/** What has its place in all versions, so that ends of different ones can talk about it. */
Test(link_frame, other_versions)
{
	const struct mf_link_refuse refuse = {.reason = MF_LINK_REASON_VERSION, .have = 9, .got = 1};

	for (unsigned int type = 0; type < 256; type++)
		for (unsigned int version = 0; version < 256; version++) {
			struct mf_link_head *h = begin((uint8_t)type, &refuse, sizeof(refuse));

			h->version = (uint8_t)version;
			mf_link_frame_seal(frame);
			cr_assert_eq(check(frame, HEAD + sizeof(refuse)),
				     version == MF_LINK_VERSION || type == MF_LINK_REFUSE
					     ? MF_LINK_GOOD
					     : MF_LINK_FAULT_VERSION);
		}
	begin(MF_LINK_REFUSE, &refuse, sizeof(refuse))->version = 200;
	cr_assert(good_again());
}

Test(link_frame, names_are_made_printable)
{
	char name[MF_LINK_NAME], out[MF_LINK_NAME + 1];

	memset(name, 'x', sizeof(name));
	mf_link_name_copy(out, name);
	cr_assert_eq(strlen(out), MF_LINK_NAME);
	memcpy(name, "a\x1b[2J\xff\n\0b", 9);
	mf_link_name_copy(out, name);
	cr_assert_str_eq(out, "a?[2J??");
}

Test(link_frame, tag_is_never_zero_and_depends_on_the_side)
{
	struct mf_rng rng;

	mf_rng_init(&rng, 7, "tag", 0);
	cr_assert_eq(mf_link_tag(1, 2), 0x3ef3d4ac);
	for (int i = 0; i < 100000; i++) {
		uint64_t a = mf_rng_next(&rng), b = mf_rng_next(&rng);

		cr_assert_neq(mf_link_tag(a, b), 0);
		cr_assert_neq(mf_link_tag(a, b), mf_link_tag(b, a));
	}
}

Test(link_frame, blocks_of_an_mtu)
{
	cr_assert_geq(mf_link_blocks(MF_LINK_MTU_MIN), MF_LINK_BLOCKS_MIN);
	for (unsigned int mtu = 0; mtu < 9500; mtu++) {
		unsigned int n = mf_link_blocks(mtu);

		cr_assert_leq(n, MF_SPAN_MAX);
		if (n > 0)
			cr_assert_leq(mf_link_mtu(n), mtu);
		if (n < MF_SPAN_MAX)
			cr_assert_gt(mf_link_mtu(n + 1), mtu);
	}
}

Test(link_frame, names_of_what_is_there)
{
	for (unsigned int i = 0; i < 70000; i++) {
		cr_assert_eq(strcmp(mf_link_type_name(i), "?") != 0, i > 0 && i < MF_LINK_TYPES);
		cr_assert_not_null(mf_link_reason_text(i));
	}
	cr_assert_str_eq(mf_link_reason_text(MF_LINK_REASON_FABRIC), "another fabric file");
}
