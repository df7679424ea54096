/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of any content through the decoder of messages. The first octet says how: bit 0: with CRC-32C,
 * bit 1: make the checks right first, so that the fields behind them are reached. What is accepted has
 * to be, bit for bit, what the encoder makes of it.
 */
#include <stdlib.h>
#include <string.h>

#include "systems/edm/proto/proto_crc.h"
#include "systems/edm/proto/proto_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t len);

static void seal(const struct mf_proto *p, uint64_t *word, unsigned int n)
{
	word[n - 1] &= UINT64_MAX >> 16;
	if (p->check32 && n > 2)
		word[n - 2] = field(MSG_CRC32, mf_crc32c(word, n - 2, word[n - 1]));
	word[n - 1] |= field(MSG_CHECK, mf_crc16(word, n) ^ MF_CRC16_GOOD);
}

static void expect_same(const uint64_t *word, const uint64_t *again, unsigned int n, unsigned int m)
{
	if (n != m || memcmp(word, again, n * sizeof(*word)) != 0)
		abort();
}

static void many(const struct mf_proto *p, const uint64_t *word, unsigned int n)
{
	uint64_t *again;
	struct mf_msg m;
	const uint8_t *data;

	if (mf_proto_get(p, word, n, &m, &data) != 0)
		return;
	again = malloc(n * sizeof(*again));
	if (!again)
		return;
	if (m.kind == MF_RREQ || m.kind == MF_RMWREQ)
		expect_same(word, again, n, mf_proto_put_request(p, &m, again));
	else
		expect_same(word, again, n, mf_proto_put_chunk(p, &m, data, again));
	free(again);
}

static void single(const uint64_t *word)
{
	struct mf_msg m;
	uint64_t again;

	if (mf_proto_get_single(word[0], &m) != 0)
		return;
	again = mf_proto_put_single(&m);
	expect_same(word, &again, 1, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t len)
{
	struct mf_proto p = {.ext = false};
	unsigned int n;
	uint64_t *word;

	if (len == 0)
		return 0;
	p.check32 = octets[0] & 1;
	p.ext = octets[0] & 4;
	n = (unsigned int)((len - 1) / sizeof(*word));
	word = malloc(n ? n * sizeof(*word) : 1);
	if (!word)
		return 0;
	memcpy(word, octets + 1, n * sizeof(*word));
	if (octets[0] & 2 && n > 0)
		seal(&p, word, n);
	many(&p, word, n);
	if (n > 0)
		single(word);
	free(word);
	return 0;
}
