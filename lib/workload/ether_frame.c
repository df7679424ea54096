/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <string.h>

#include "workload/vectors.h"
#include "workload/ether_frame.h"
#include "op/mf_op.h"
#include "workload/mf_workload.h"

#define MAGIC UINT32_C(0x6261666d) /* "mfab" */
#define HEADER 14

/** All fields of a frame, as they stand in it. */
struct frame_header {
	uint8_t dst[6], src[6];
	uint8_t type[2];
	uint16_t len;
	uint32_t magic;
	uint16_t sender, target;
	uint64_t number;
	uint64_t intended;
};

static_assert(sizeof(struct frame_header) == 40, "the fill starts at a word");

static void mac_put(uint8_t mac[6], uint16_t node)
{
	const uint8_t octets[6] = {0x02, 0, 0, 0, (uint8_t)(node >> 8), (uint8_t)node};

	memcpy(mac, octets, sizeof(octets));
}

static void header_make(struct frame_header *h, uint16_t len, const struct ether_fields *f)
{
	*h = (struct frame_header){.type = {MF_ETHER_TYPE >> 8, MF_ETHER_TYPE & 0xff},
				   .len = len,
				   .magic = MAGIC,
				   .sender = f->sender,
				   .target = f->target,
				   .number = f->number,
				   .intended = f->intended};
	mac_put(h->dst, f->target);
	mac_put(h->src, f->sender);
}

static uint64_t fill_key(uint16_t len, const struct ether_fields *f)
{
	uint64_t writer = (uint64_t)len << 32 | (uint64_t)f->target << 16 | f->sender;

	return content_key(writer ^ mf_hash64(f->intended), f->number);
}

void ether_frame_put(uint8_t *frame, uint16_t len, const struct ether_fields *f)
{
	uint64_t key = fill_key(len, f);
	struct frame_header h;

	header_make(&h, len, f);
	memcpy(frame, &h, sizeof(h));
	content_fill((void *)(frame + sizeof(h)), (len - sizeof(h) + 7) / 8, key, 0);
}

static bool fill_equal(const uint8_t *fill, unsigned int len, uint64_t key)
{
	unsigned int words = len / 8;
	uint64_t last = content_word(key, words);

	return vectors->is(fill, words, key) && memcmp(fill + words * 8, &last, len % 8) == 0;
}

/** A flooded frame may be anybody's. Ours but for a wrong octet is damaged, whatever it says. */
static bool is_foreign(const uint8_t *frame, uint16_t len, uint16_t node)
{
	static const uint8_t type[2] = {MF_ETHER_TYPE >> 8, MF_ETHER_TYPE & 0xff};
	uint8_t mac[6];

	mac_put(mac, node);
	return len < HEADER || memcmp(frame, mac, sizeof(mac)) != 0 ||
	       memcmp(frame + HEADER - sizeof(type), type, sizeof(type)) != 0;
}

enum ether_verdict ether_frame_get(const uint8_t *frame, uint16_t len, uint16_t node, struct ether_fields *f)
{
	struct frame_header h, expected;

	if (is_foreign(frame, len, node))
		return ETHER_FOREIGN;
	if (len < ETHER_FRAME_MIN)
		return ETHER_DAMAGED;
	memcpy(&h, frame, sizeof(h));
	*f = (struct ether_fields){
		.sender = h.sender, .target = h.target, .number = h.number, .intended = h.intended};
	header_make(&expected, len, f);
	if (memcmp(&h, &expected, sizeof(h)) != 0)
		return ETHER_DAMAGED;
	return fill_equal(frame + sizeof(h), len - sizeof(h), fill_key(len, f)) ? ETHER_OURS : ETHER_DAMAGED;
}
