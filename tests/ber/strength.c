/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Most damage leaves a message what it is for the receiver, blocks of the right kinds in the right order, so
 * that only the check can tell: those go to it at once. The rest goes through the demultiplexer.
 */
#include <errno.h>

#include "wire.h"

#define OTHER_MESSAGE 1024 /* trials with the same message */

const char *ber_shape_name(enum ber_shape shape)
{
	static const char *const names[] = {
		[BER_GRANT] = "grant",
		[BER_RREQ] = "read request",
		[BER_CHUNK_8] = "chunk of 8 B",
		[BER_CHUNK_64] = "chunk of 64 B",
		[BER_CHUNK_256] = "chunk of 256 B",
	};

	return names[shape];
}

static void make(struct mf_rng *rng, const struct mf_proto *proto, enum ber_shape shape, struct wire_image *w)
{
	static const uint32_t size[] = {[BER_CHUNK_8] = 8, [BER_CHUNK_64] = 64, [BER_CHUNK_256] = 256};
	uint64_t r = mf_rng_next(rng), word[WIRE_BLOCKS], data[256 / 8];
	struct mf_msg m = {.id = (uint8_t)r,
			   .src = r >> 8 & 511,
			   .dst = r >> 17 & 511,
			   .size = 1 + (r >> 32) % MF_MESSAGE_MAX,
			   .addr = mf_rng_next(rng) & MF_ADDR_MAX};

	if (shape == BER_GRANT) {
		m.kind = MF_GRANT;
		word[0] = mf_proto_put_single(&m);
		wire_set(w, word, 1);
		return;
	}
	if (shape == BER_RREQ) {
		m.kind = MF_RREQ;
		wire_set(w, word, mf_proto_put_request(proto, &m, word));
		return;
	}
	m.kind = MF_WREQ_ACK;
	m.size = size[shape];
	m.last = true;
	for (unsigned int i = 0; i < m.size / 8; i++)
		data[i] = mf_rng_next(rng);
	wire_set(w, word, mf_proto_put_chunk(proto, &m, data, word));
}

unsigned int ber_shape_bits(enum ber_shape shape, bool check32)
{
	const struct mf_proto proto = {.check32 = check32};
	struct wire_image w;
	struct mf_rng rng;

	mf_rng_init(&rng, 0, "", 0);
	make(&rng, &proto, shape, &w);
	return wire_bits(&w);
}

/** So many different bits of all. */
static void some_bits(struct mf_rng *rng, struct wire_image *w, unsigned int n)
{
	unsigned int bit[8];

	for (unsigned int i = 0; i < n; i++) {
		bool again = false;

		bit[i] = (unsigned int)mf_rng_below(rng, wire_bits(w));
		for (unsigned int k = 0; k < i; k++)
			again |= bit[k] == bit[i];
		if (again)
			i--;
		else
			wire_flip(w, bit[i]);
	}
}

/** From the first to the last of some bits in a row, both of them wrong. */
static void burst(struct mf_rng *rng, struct wire_image *w)
{
	unsigned int len = BER_BURST_MIN + (unsigned int)mf_rng_below(rng, BER_BURST_MAX - BER_BURST_MIN + 1);
	unsigned int from = (unsigned int)mf_rng_below(rng, wire_bits(w) - len + 1);
	uint64_t which = mf_rng_next(rng) | 1 | UINT64_C(1) << (len - 1);

	for (unsigned int i = 0; i < len; i++)
		if (which >> i & 1)
			wire_flip(w, from + i);
}

void wire_receive(struct mf_witness *witness, const struct wire_image *w, const struct wire_image *sent)
{
	struct mf_witness_tag tag[WIRE_BLOCKS + 1];
	struct mf_span s;

	s.start = 0;
	s.period = 0;
	s.count = s.flags = 0;
	for (unsigned int i = 0; i < w->blocks; i++) {
		tag[i] = (struct mf_witness_tag){.word = sent->word[i],
						 .message = i > 0,
						 .index = (uint16_t)(i - 1),
						 .last = i == w->blocks - 1};
		mf_span_put(&s, w->sync[i], w->word[i]);
	}
	tag[w->blocks] = (struct mf_witness_tag){0};
	mf_span_put(&s, MF_SYNC_CTRL, MF_ERROR_WORD);
	mf_witness_see(witness, &s, tag);
}

static int check(const struct mf_proto *proto, const struct wire_image *w)
{
	const uint8_t *data;
	struct mf_msg m;

	return w->blocks == 2 ? mf_proto_get_single(w->word[1], &m)
			      : mf_proto_get(proto, w->word + 1, w->blocks - 1, &m, &data);
}

static void trial(struct ber_strength *s, const struct mf_proto *proto, struct mf_witness *witness,
		  const struct wire_image *w, const struct wire_image *sent)
{
	struct mf_witness_stats before;
	const struct mf_witness_stats *now = mf_witness_stats(witness);

	s->damaged++;
	if (wire_framed(w, sent)) {
		int err = check(proto, w);

		s->passed += err != -EBADMSG;
		s->taken += err == 0;
		return;
	}
	before = *now;
	wire_receive(witness, w, sent);
	s->taken += now->undetected > before.undetected;
	s->passed += now->undetected + now->refused_fields > before.undetected + before.refused_fields;
	s->aborted += now->damaged == before.damaged;
}

int ber_strength(struct ber_strength *s, enum ber_shape shape, bool check32, unsigned int errors, uint64_t n,
		 uint64_t seed, uint64_t number)
{
	const struct mf_proto proto = {.check32 = check32};
	struct mf_witness *witness = mf_witness_new(&proto);
	struct wire_image sent = {.word = {0}}, w;
	struct mf_rng rng;

	if (witness == NULL)
		return -ENOMEM;
	mf_rng_init(&rng, seed, "damaged messages", number);
	for (uint64_t i = 0; n > 0; i++) {
		if (i % OTHER_MESSAGE == 0)
			make(&rng, &proto, shape, &sent);
		w = sent;
		if (errors == BER_BURST)
			burst(&rng, &w);
		else
			some_bits(&rng, &w, errors);
		if (!wire_hurt(&w, &sent))
			continue;
		trial(s, &proto, witness, &w, &sent);
		n--;
	}
	mf_witness_free(witness);
	return 0;
}
