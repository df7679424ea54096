/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of link frames. */
#include "link/mf_link_frame.h"

#include <xxhash.h>

#include "link/crc.h"
#include "link/sync.h"

#define HEAD sizeof(struct mf_link_head)
#define COVERED offsetof(struct mf_link_head, version) /* first octet under the CRC */
#define ETHERNET COVERED /* octets of an Ethernet header */

/** The header is taken at its words, which begin at octet 16. */
static uint32_t crc_of(const uint8_t *frame)
{
	uint32_t crc = link_crc_1(link_crc_1(UINT32_MAX, frame[COVERED]), frame[COVERED + 1]);

	static_assert(COVERED == 14 && offsetof(struct mf_link_head, crc) == 40 && HEAD == 44, "places");
	for (unsigned int i = 16; i < 40; i += 8)
		crc = link_crc_word(crc, frame + i);
	crc = link_crc_4(crc, 0);
	return ~link_crc(crc, frame + HEAD, mf_link_frame_head(frame)->length);
}

enum mf_link_fault mf_link_frame_check(const uint8_t *frame, size_t len, uint16_t ethertype)
{
	const struct mf_link_head *h = mf_link_frame_head(frame);

	if (len < ETHERNET)
		return MF_LINK_FAULT_SHORT;
	if (h->ethertype[0] != ethertype >> 8 || h->ethertype[1] != (ethertype & 0xff))
		return MF_LINK_FAULT_ETHERTYPE;
	if (len < HEAD || h->length > len - HEAD)
		return MF_LINK_FAULT_SHORT;
	if (h->crc != crc_of(frame))
		return MF_LINK_FAULT_CRC;
	if (h->version != MF_LINK_VERSION && h->type != MF_LINK_REFUSE)
		return MF_LINK_FAULT_VERSION;
	return MF_LINK_GOOD;
}

static bool data_good(const uint8_t *frame, const struct mf_link_head *h)
{
	unsigned int n = h->blocks;
	uint64_t last;

	if (n == 0 || n > MF_SPAN_MAX || h->length != MF_LINK_BODY(n))
		return false;
	memcpy(&last, frame + HEAD + 8 * (MF_LINK_SYNC_WORDS(n) - 1), sizeof(last));
	return n % 32 == 0 || last >> 2 * (n % 32) == 0;
}

static bool zero(const uint8_t *octet, size_t n)
{
	while (n > 0 && octet[n - 1] == 0)
		n--;
	return n == 0;
}

/** As long as a DATA frame of so many blocks, and empty. */
static bool probe_good(const uint8_t *body, const struct mf_link_head *h)
{
	return h->blocks != 0 && h->blocks <= MF_SPAN_MAX && h->length == MF_LINK_BODY(h->blocks) &&
	       zero(body, h->length);
}

static bool hello_good(const struct mf_link_hello *b, const struct mf_link_head *h)
{
	return h->length == sizeof(*b) && b->epoch != 0 && b->window != 0 &&
	       b->blocks >= MF_LINK_BLOCKS_MIN && b->blocks <= MF_SPAN_MAX;
}

static bool bye_good(const struct mf_link_bye *b, const struct mf_link_head *h)
{
	return h->length == sizeof(*b) && zero(b->zero, sizeof(b->zero));
}

bool mf_link_frame_good(const uint8_t *frame)
{
	const struct mf_link_head *h = mf_link_frame_head(frame);

	if (h->type == MF_LINK_REFUSE)
		return h->length >= sizeof(struct mf_link_refuse);
	if ((h->flags & ~MF_LINK_FROM_SWITCH) != (h->type == MF_LINK_ACK ? h->flags & MF_LINK_POLL : 0))
		return false;
	if (h->type == MF_LINK_DATA)
		return data_good(frame, h);
	if (h->type == MF_LINK_PROBE)
		return probe_good(mf_link_frame_body(frame), h);
	if (h->blocks != 0)
		return false;
	switch (h->type) {
	case MF_LINK_HELLO:
		return hello_good(mf_link_frame_body(frame), h);
	case MF_LINK_ACK:
	case MF_LINK_NACK:
		return h->length == 0;
	case MF_LINK_BYE:
		return bye_good(mf_link_frame_body(frame), h);
	default:
		return false;
	}
}

void mf_link_name_copy(char out[MF_LINK_NAME + 1], const char name[MF_LINK_NAME])
{
	unsigned int i;

	for (i = 0; i < MF_LINK_NAME && name[i] != '\0'; i++)
		out[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	out[i] = '\0';
}

void mf_link_frame_get(const uint8_t *frame, struct mf_span *out)
{
	unsigned int n = mf_link_frame_head(frame)->blocks;
	const uint8_t *at = frame + HEAD;
	uint64_t bits;

	out->start = 0;
	out->period = 0;
	out->flags = 0;
	out->count = (uint16_t)n;
	for (unsigned int i = 0; i < n; i += 32, at += sizeof(bits)) {
		memcpy(&bits, at, sizeof(bits));
		sync_unpack(out->sync + i, bits, n - i < 32 ? n - i : 32);
	}
	memcpy(out->word, at, 8 * (size_t)n);
}

uint16_t mf_link_frame_put(uint8_t *frame, const struct mf_link_head *head, const struct mf_span *span)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;
	unsigned int n = span->count;
	uint8_t *at = frame + HEAD;
	uint64_t bits;

	*h = *head;
	h->type = MF_LINK_DATA;
	h->blocks = (uint16_t)n;
	h->length = (uint16_t)MF_LINK_BODY(n);
	for (unsigned int i = 0; i < n; i += 32, at += sizeof(bits)) {
		bits = sync_pack(span->sync + i, n - i < 32 ? n - i : 32);
		memcpy(at, &bits, sizeof(bits));
	}
	memcpy(at, span->word, 8 * (size_t)n);
	return mf_link_frame_seal(frame);
}

uint16_t mf_link_frame_put_control(uint8_t *frame, const struct mf_link_head *head, const void *body,
				   uint16_t length)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;

	*h = *head;
	h->blocks = 0;
	h->length = length;
	if (length > 0)
		memcpy(frame + HEAD, body, length);
	return mf_link_frame_seal(frame);
}

uint16_t mf_link_frame_seal(uint8_t *frame)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;

	h->crc = crc_of(frame);
	return (uint16_t)(HEAD + h->length);
}

uint32_t mf_link_tag(uint64_t node_epoch, uint64_t switch_epoch)
{
	const uint64_t both[2] = {node_epoch, switch_epoch};
	uint32_t tag = (uint32_t)XXH64(both, sizeof(both), 0);

	return tag != 0 ? tag : 1;
}

unsigned int mf_link_blocks(unsigned int mtu)
{
	unsigned int words, n;

	if (mtu + ETHERNET < HEAD)
		return 0;
	words = (mtu + ETHERNET - HEAD) / 8;
	/* 33 words are 32 blocks, and what is left has a word of sync headers, too. */
	n = words / 33 * 32 + (words % 33 > 0 ? words % 33 - 1 : 0);
	return n < MF_SPAN_MAX ? n : MF_SPAN_MAX;
}

unsigned int mf_link_mtu(unsigned int blocks)
{
	return (unsigned int)(HEAD - ETHERNET + MF_LINK_BODY(blocks));
}

const char *mf_link_type_name(unsigned int type)
{
	static const char *const name[MF_LINK_TYPES] = {
		[MF_LINK_HELLO] = "HELLO", [MF_LINK_DATA] = "DATA", [MF_LINK_ACK] = "ACK",
		[MF_LINK_NACK] = "NACK",   [MF_LINK_BYE] = "BYE",   [MF_LINK_REFUSE] = "REFUSE",
		[MF_LINK_PROBE] = "PROBE"};

	return type > 0 && type < MF_LINK_TYPES ? name[type] : "?";
}

const char *mf_link_reason_text(unsigned int reason)
{
	static const char *const text[MF_LINK_REASONS] = {
		[MF_LINK_REASON_VERSION] = "another version of the link frames",
		[MF_LINK_REASON_FABRIC] = "another fabric file",
		[MF_LINK_REASON_RATE] = "another rate of the link",
		[MF_LINK_REASON_STALE] = "a stale epoch: another process is, or was, this end",
		[MF_LINK_REASON_LINK] = "a link that is not on this port",
		[MF_LINK_REASON_FEATURES] = "other features: retransmission on one side only",
		[MF_LINK_REASON_MTU] = "an MTU on the way is below that of the port"};

	return reason > 0 && reason < MF_LINK_REASONS ? text[reason]
						      : "a reason that only a later version knows";
}
