/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the sample capture of a handshake, as lib/link does it, in virtual time: a node and its switch find
 * each other, a node with another fabric file is refused, a read, its answer, and the node goes.
 *
 *      handshake FILE.pcap
 */
#include <stdio.h>
#include <stdlib.h>

#include "link/mf_link.h"
#include "systems/edm/proto/mf_proto.h"

#define EPOCH UINT64_C(1763764000000000000)
#define FABRIC UINT64_C(0x0123456789abcdef)
#define DELAY MF_US(5)
#define STEP MF_US(1)
#define OCTETS 64
#define WIRE 8

struct end {
	struct mf_link *link;
	struct end *partner;
	unsigned int waiting; /**< frames on their way here */
	struct {
		mf_time at;
		uint8_t octets[MF_LINK_FRAME_MAX];
	} wire[WIRE];
};

static void fail(const char *why)
{
	fprintf(stderr, "handshake: %s\n", why);
	exit(1);
}

static void put(FILE *file, const void *data, size_t octets)
{
	if (fwrite(data, octets, 1, file) != 1)
		fail("cannot write");
}

/** pcap with times in nanoseconds, of Ethernet. */
static void put_header(FILE *file)
{
	const uint16_t version[2] = {2, 4};
	const uint32_t magic = 0xa1b23c4d, rest[4] = {0, 0, 65535, 1};

	put(file, &magic, sizeof(magic));
	put(file, version, sizeof(version));
	put(file, rest, sizeof(rest));
}

static void put_frame(FILE *file, mf_time now, const uint8_t *frame, uint16_t len)
{
	const uint32_t head[4] = {(uint32_t)(now / MF_SEC(1)), (uint32_t)(now % MF_SEC(1) / 1000), len, len};

	put(file, head, sizeof(head));
	put(file, frame, len);
}

static void make(struct end *e, uint16_t id, bool switch_end, const char *name, uint64_t fabric)
{
	struct mf_link_config c;

	mf_link_config_default(&c);
	c.id = id;
	c.switch_end = switch_end;
	c.node = switch_end ? MF_LINK_NODE_SWITCH : id;
	c.name = name;
	c.epoch = EPOCH + 1000U * id + (switch_end ? 500 : 0);
	c.fabric = fabric;
	c.period = 2560;
	c.mac[0] = 2;
	c.mac[3] = switch_end;
	c.mac[5] = (uint8_t)id;
	e->link = mf_link_new(&c, 0);
	if (e->link == NULL)
		fail("no memory");
}

static void receive(struct end *e, mf_time now)
{
	while (e->waiting > 0 && e->wire[0].at <= now) {
		mf_link_rx(e->link, now, e->wire[0].octets);
		e->waiting--;
		memmove(e->wire, e->wire + 1, e->waiting * sizeof(e->wire[0]));
	}
	if (mf_link_next(e->link) <= now)
		mf_link_run(e->link, now);
}

static void transmit(struct end *e, mf_time now, FILE *file)
{
	const uint8_t *frame;
	uint16_t len;

	while ((frame = mf_link_tx(e->link, now, &len)) != NULL) {
		struct end *p = e->partner;

		if (p->waiting == WIRE)
			fail("the wire is full");
		put_frame(file, now, frame, len);
		p->wire[p->waiting].at = now + DELAY;
		memcpy(p->wire[p->waiting++].octets, frame, len);
	}
}

static void run(struct end *e, unsigned int ends, mf_time *now, mf_time until, FILE *file)
{
	for (; *now < until; *now += STEP)
		for (unsigned int i = 0; i < ends; i++) {
			receive(&e[i], *now);
			transmit(&e[i], *now, file);
		}
}

static void put_span(struct mf_link *l, const uint64_t *word, unsigned int n)
{
	static struct mf_span s;

	s.count = 0;
	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	mf_link_put(l, &s);
}

static void ask(struct mf_link *l)
{
	const struct mf_proto p = {0};
	const struct mf_msg m = {.kind = MF_RREQ, .dst = 1, .size = OCTETS, .addr = 0x1000};
	uint64_t word[MF_REQUEST_BLOCKS_MAX];

	put_span(l, word, mf_proto_put_request(&p, &m, word));
}

/** What has come is the request. */
static void answer(struct mf_link *l)
{
	const struct mf_proto p = {0};
	const struct mf_msg m = {.kind = MF_RRES, .src = 1, .size = OCTETS, .last = true};
	uint64_t word[2 + OCTETS / 8];
	uint8_t data[OCTETS];

	if (mf_link_take(l) == NULL)
		fail("the request has not come");
	for (unsigned int i = 0; i < OCTETS; i++)
		data[i] = (uint8_t)i;
	put_span(l, word, mf_proto_put_chunk(&p, &m, data, word));
}

static void play(FILE *file)
{
	static struct end e[4]; /* cn0 and its switch's end, mn0 and its switch's end */
	const unsigned int ends = sizeof(e) / sizeof(e[0]);
	mf_time now = 0;

	for (unsigned int i = 0; i < ends; i++) {
		e[i].partner = &e[i ^ 1];
		make(&e[i], (uint16_t)(i / 2), i % 2,
		     i % 2    ? "sw0"
		     : i == 0 ? "cn0"
			      : "mn0",
		     i == 2 ? 0xbad : FABRIC);
	}
	put_header(file);
	run(e, ends, &now, MF_US(40), file);
	if (!mf_link_up(e[0].link) || !mf_link_up(e[1].link) || mf_link_up(e[2].link) ||
	    mf_link_up(e[3].link))
		fail("not the links that match are up");
	mf_link_set_state(e[0].link, MF_LINK_READY);
	mf_link_set_state(e[1].link, MF_LINK_READY);
	run(e, ends, &now, MF_US(60), file);
	ask(e[0].link);
	run(e, ends, &now, MF_US(70), file);
	answer(e[1].link);
	run(e, ends, &now, MF_US(80), file);
	if (mf_link_take(e[0].link) == NULL)
		fail("the answer has not come");
	run(e, ends, &now, MF_US(200), file);
	mf_link_set_state(e[0].link, MF_LINK_READY | MF_LINK_DONE);
	run(e, ends, &now, MF_US(220), file);
	mf_link_leave(e[0].link, now);
	run(e, ends, &now, MF_US(230), file);
	for (unsigned int i = 0; i < ends; i++)
		mf_link_free(e[i].link);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;

	if (file == NULL)
		fail("handshake FILE.pcap");
	play(file);
	if (fclose(file) != 0)
		fail("cannot write");
	return 0;
}
