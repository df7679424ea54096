/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "wire.h"

static unsigned int make(struct mf_rng *rng, const struct mf_proto *proto, unsigned int octets, bool single,
			 uint64_t *word)
{
	uint8_t data[256 + 8];
	uint64_t r = mf_rng_next(rng);
	struct mf_msg m = {.id = (uint8_t)r,
			   .src = r >> 8 & 511,
			   .dst = r >> 17 & 511,
			   .size = octets > 0 ? octets : 1 + (r >> 32) % MF_MESSAGE_MAX,
			   .addr = mf_rng_next(rng) & MF_ADDR_MAX};

	if (single) {
		m.kind = MF_NOTIFY;
		word[0] = mf_proto_put_single(&m);
		return 1;
	}
	if (octets == 0) {
		m.kind = MF_RREQ;
		return mf_proto_put_request(proto, &m, word);
	}
	m.kind = MF_WREQ;
	m.last = true;
	for (unsigned int i = 0; i < octets; i++)
		data[i] = (uint8_t)mf_rng_next(rng);
	return mf_proto_put_chunk(proto, &m, data, word);
}

/** Whether what came is taken, with what it says or without. */
static bool passes(struct mf_witness *witness, const struct mf_proto *proto, const struct wire_image *w,
		   const struct wire_image *sent)
{
	const struct mf_witness_stats *now = mf_witness_stats(witness);
	uint64_t before = now->undetected + now->refused_fields + now->intact;
	const uint8_t *data;
	struct mf_msg m;

	if (!wire_framed(w, sent)) {
		wire_receive(witness, w, sent);
		return now->undetected + now->refused_fields + now->intact > before;
	}
	if (w->blocks == 2)
		return mf_proto_get_single(w->word[1], &m) != -EBADMSG;
	return mf_proto_get(proto, w->word + 1, w->blocks - 1, &m, &data) != -EBADMSG;
}

int ber_pairs(struct ber_pairs *p, unsigned int octets, bool single, bool check32, uint64_t seed)
{
	const struct mf_proto proto = {.check32 = check32};
	struct mf_witness *witness = mf_witness_new(&proto);
	struct wire_image sent, w;
	uint64_t word[WIRE_BLOCKS];
	struct mf_rng rng;

	if (witness == NULL)
		return -ENOMEM;
	mf_rng_init(&rng, seed, "pairs", octets + single);
	*p = (struct ber_pairs){.blocks = make(&rng, &proto, octets, single, word)};
	wire_set(&sent, word, p->blocks);
	w = sent;
	for (unsigned int a = 0; a < wire_bits(&w); a++) {
		wire_flip(&w, a);
		for (unsigned int b = 0; b < a; b++) {
			wire_flip(&w, b);
			if (wire_hurt(&w, &sent)) {
				p->pairs++;
				p->passed += passes(witness, &proto, &w, &sent);
			}
			wire_flip(&w, b);
		}
		wire_flip(&w, a);
	}
	mf_witness_free(witness);
	return 0;
}
