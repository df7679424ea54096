/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcapng files (draft-ietf-opsawg-pcapng), in the byte order of the machine: a section, an interface for
 * each link and direction, the frames, and at the end what was captured and dropped of each interface.
 * libpcap does not write them, and DPDK's rte_pcapng takes nothing but mbufs.
 */
#include <errno.h>
#include <string.h>

#include "capture/file.h"

enum block_type { SECTION = 0x0a0d0d0a, INTERFACE = 1, STATISTICS = 5, PACKET = 6 };
enum { END_OF_OPTIONS = 0, SECTION_APPLICATION = 4, INTERFACE_NAME = 2, INTERFACE_RESOLUTION = 9 };
enum { STATISTICS_RECEIVED = 4, STATISTICS_DROPPED = 5 };

#define BYTE_ORDER_MAGIC 0x1a2b3c4dU
#define ETHERNET 1
#define NANOSECONDS 9 /* 10^-9 s */

struct section {
	uint32_t magic;
	uint16_t major, minor;
	int64_t length; /**< -1: not told */
} __attribute__((packed));

struct interface {
	uint16_t link_type, zero;
	uint32_t snap;
} __attribute__((packed));

struct statistics {
	uint32_t interface, high, low;
} __attribute__((packed));

struct packet {
	uint32_t interface, high, low, captured, length;
} __attribute__((packed));

struct head {
	uint32_t type, length;
} __attribute__((packed));

/** A block that is short: options fit behind what is fixed. */
struct block {
	uint8_t octet[256];
	uint32_t length;
};

static uint32_t padded(uint32_t octets)
{
	return (octets + 3) & ~3U;
}

static void add(struct block *b, const void *data, uint32_t len)
{
	if (len == 0)
		return;
	memcpy(b->octet + b->length, data, len);
	memset(b->octet + b->length + len, 0, padded(len) - len);
	b->length += padded(len);
}

static void add_option(struct block *b, uint16_t code, const void *data, uint16_t len)
{
	const uint16_t head[2] = {code, len};

	add(b, head, sizeof(head));
	add(b, data, len);
}

/** A block: its head, what is in it, and its length once more. */
static void write_block(FILE *out, uint32_t type, const void *fixed, uint32_t fixed_len, const void *data,
			uint32_t len)
{
	static const uint8_t zero[4];
	uint32_t length = (uint32_t)sizeof(struct head) + fixed_len + padded(len) + 4;
	const struct head head = {type, length};

	fwrite(&head, sizeof(head), 1, out);
	fwrite(fixed, fixed_len, 1, out);
	fwrite(data, len, 1, out);
	fwrite(zero, padded(len) - len, 1, out);
	fwrite(&length, sizeof(length), 1, out);
}

static void write_section(FILE *out)
{
	const struct section s = {BYTE_ORDER_MAGIC, 1, 0, -1};
	static const char application[] = "memfab " MF_VERSION;
	struct block b = {.length = 0};

	add_option(&b, SECTION_APPLICATION, application, sizeof(application) - 1);
	add_option(&b, END_OF_OPTIONS, NULL, 0);
	write_block(out, SECTION, &s, sizeof(s), b.octet, b.length);
}

static int begin(struct capture_file *f)
{
	const struct interface fixed = {ETHERNET, 0, CAPTURE_SNAP};
	static const uint8_t resolution = NANOSECONDS;

	write_section(f->out);
	for (unsigned int i = 0; i < f->interfaces; i++) {
		const char *name = f->interface[i].name;
		struct block b = {.length = 0};

		add_option(&b, INTERFACE_NAME, name, (uint16_t)strlen(name));
		add_option(&b, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
		add_option(&b, END_OF_OPTIONS, NULL, 0);
		write_block(f->out, INTERFACE, &fixed, sizeof(fixed), b.octet, b.length);
	}
	return 0;
}

static void put(struct capture_file *f, unsigned int interface, uint64_t ns, const uint8_t *frame,
		uint32_t len)
{
	const struct packet p = {interface, (uint32_t)(ns >> 32), (uint32_t)ns, len, len};

	write_block(f->out, PACKET, &p, sizeof(p), frame, len);
}

static void write_statistics(struct capture_file *f, uint64_t ns)
{
	for (unsigned int i = 0; i < f->interfaces; i++) {
		const struct capture_interface *n = &f->interface[i];
		const struct statistics s = {i, (uint32_t)(ns >> 32), (uint32_t)ns};
		const uint64_t seen = n->frames + n->dropped;
		struct block b = {.length = 0};

		add_option(&b, STATISTICS_RECEIVED, &seen, sizeof(seen));
		add_option(&b, STATISTICS_DROPPED, &n->dropped, sizeof(n->dropped));
		add_option(&b, END_OF_OPTIONS, NULL, 0);
		write_block(f->out, STATISTICS, &s, sizeof(s), b.octet, b.length);
	}
}

static int close_file(struct capture_file *f, uint64_t ns)
{
	write_statistics(f, ns);
	(void)fflush(f->out);
	return capture_file_error(f);
}

const struct capture_format capture_pcapng = {
	.suffix = ".pcapng", .begin = begin, .put = put, .close = close_file};
