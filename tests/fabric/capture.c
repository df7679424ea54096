/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures: their order, what is dropped, what is written; read back by libpcap. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture/mf_tap.h"
#include "base/mf_rng.h"

#define LINKS 4

static struct mf_config_node nodes[LINKS] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
static struct mf_config config = {.node = nodes, .slots = LINKS};
static char folder[] = "/tmp/memfab-capture-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/** Both directions of the links of one file. */
static struct mf_captures *capture_into(const char *name, unsigned int links)
{
	struct mf_capture_request *r = calloc(1, sizeof(*r));
	struct mf_captures *c;
	char err[256];

	r->up = r->down = true;
	snprintf(r->file, sizeof(r->file), "%s", path_of(name));
	for (unsigned int i = 0; i < links; i++)
		r->link[i] = true;
	c = mf_captures_open(&config, r, 1, err, sizeof(err));
	cr_assert_not_null(c, "%s", err);
	free(r);
	return c;
}

static void begin(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void end(void)
{
	unlink(path_of("a.pcap"));
	unlink(path_of("a.pcapng"));
	rmdir(folder);
}

static void make_span(struct mf_span *s, mf_time at, unsigned int count, uint64_t word)
{
	*s = (struct mf_span){.start = at, .period = 1000};
	for (unsigned int i = 0; i < count; i++)
		mf_span_put(s, MF_SYNC_DATA, word + i);
}

static void close_well(struct mf_captures *c)
{
	char err[256] = "";

	cr_assert_eq(mf_captures_close(c, true, err, sizeof(err)), 0, "%s", err);
}

static json_int_t count_of(const struct mf_captures *c, const char *key)
{
	json_t *all = capture_json(c);
	json_int_t n = json_integer_value(json_object_get(json_array_get(all, 0), key));

	json_decref(all);
	return n;
}

/** What a file holds: all of its frames are right, times never go back. */
struct found {
	unsigned int frames;
	uint32_t next[2][LINKS], gaps; /**< numbers that follow; numbers that are missing */
	uint64_t words; /**< sum of all */
};

static struct found read_back(const char *name)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path_of(name), PCAP_TSTAMP_PRECISION_NANO, err);
	struct pcap_pkthdr *h;
	struct found f = {0};
	const uint8_t *frame;
	uint64_t last = 0;
	int more;

	cr_assert_not_null(p, "%s", err);
	while ((more = pcap_next_ex(p, &h, &frame)) == 1) {
		const struct mf_link_head *head = mf_link_frame_head(frame);
		uint64_t ns = (uint64_t)h->ts.tv_sec * 1000000000 + (uint64_t)h->ts.tv_usec;
		unsigned int down = head->flags & MF_LINK_FROM_SWITCH;
		struct mf_span s;

		cr_assert_eq(mf_link_frame_check(frame, h->caplen, MF_LINK_ETHERTYPE), MF_LINK_GOOD);
		cr_assert(mf_link_frame_good(frame));
		cr_assert_geq(ns, last);
		cr_assert_lt(head->link, LINKS);
		last = ns;
		f.gaps += head->seq - f.next[down][head->link];
		f.next[down][head->link] = head->seq + 1;
		mf_link_frame_get(frame, &s);
		for (unsigned int i = 0; i < s.count; i++)
			f.words += s.word[i];
		f.frames++;
	}
	cr_assert_eq(more, PCAP_ERROR_BREAK, "%s", pcap_geterr(p));
	pcap_close(p);
	return f;
}

/* Spans of a direction come in their order, directions in any. */
Test(capture, sorted, .init = begin, .fini = end)
{
	const char *const names[] = {"a.pcap", "a.pcapng"};
	mf_time at[2 * LINKS] = {0}, done = 0;
	uint64_t words = 0, seed = 20261121;
	struct mf_rng rng;

	for (unsigned int k = 0; k < 2; k++) {
		struct mf_captures *c = capture_into(names[k], LINKS);
		struct found f;

		words = 0;
		memset(at, 0, sizeof(at));
		mf_rng_init(&rng, seed, "capture", 0);
		capture_sort_init(c);
		for (unsigned int n = 0; n < 20000; n++) {
			unsigned int i = (unsigned int)mf_rng_below(&rng, 2 * LINKS);
			struct mf_span s;

			at[i] += 1000 + mf_rng_below(&rng, 1000000);
			make_span(&s, at[i], 1 + (unsigned int)mf_rng_below(&rng, MF_SPAN_MAX), n);
			for (unsigned int b = 0; b < s.count; b++)
				words += s.word[b];
			capture_sort_span(capture_tap(c, i / 2, i % 2), &s);
			for (done = MF_NEVER, i = 0; i < 2 * LINKS; i++)
				done = mf_time_min(done, at[i]);
			capture_sort_until(c, done);
		}
		capture_sort_until(c, MF_NEVER);
		cr_assert_eq(count_of(c, "frames"), 20000);
		cr_assert_eq(count_of(c, "dropped"), 0);
		close_well(c);
		f = read_back(names[k]);
		cr_assert_eq(f.frames, 20000, "seed %llu", (unsigned long long)seed);
		cr_assert_eq(f.gaps, 0);
		cr_assert_eq(f.words, words);
	}
}

/* What two lcores have sent is merged. */
Test(capture, merged, .init = begin, .fini = end)
{
	struct mf_captures *c = capture_into("a.pcap", 2);
	struct capture_tap *up = capture_tap(c, 0, false), *down = capture_tap(c, 1, true);
	struct mf_span s;
	struct found f;

	cr_assert_null(capture_tap(c, 2, false));
	cr_assert_eq(capture_ring_tap(up, 0), 0);
	cr_assert_eq(capture_ring_tap(down, 3), 0);
	for (unsigned int i = 0; i < 3000; i++) {
		make_span(&s, 0, 1 + i % 40, i);
		capture_ring_span(up, 10000 * (mf_time)i, &s);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		make_span(&s, 0, MF_SPAN_MAX, i);
		capture_ring_span(down, 31000 * (mf_time)i, &s);
	}
	capture_ring_stop(c);
	close_well(c);
	f = read_back("a.pcap");
	cr_assert_eq(f.frames, 4000);
	cr_assert_eq(f.gaps, 0);
}

/* Frames that come whole stay what they are, between spans. */
Test(capture, whole_frames, .init = begin, .fini = end)
{
	struct mf_captures *c = capture_into("a.pcapng", 1);
	struct capture_tap *tap = capture_tap(c, 0, false);
	const struct mf_link_head head = {
		.ethertype = {0x88, 0xb5}, .version = MF_LINK_VERSION, .type = MF_LINK_DATA};
	uint8_t frame[CAPTURE_FRAME_MAX + 1] = {0};
	struct mf_span s;
	struct found f;
	uint64_t words = 0;

	cr_assert_eq(capture_ring_tap(tap, 0), 0);
	for (unsigned int i = 0; i < 500; i++) {
		struct mf_link_head h = head;
		uint16_t len;

		make_span(&s, 0, 1 + i, i);
		for (unsigned int b = 0; b < s.count; b++)
			words += s.word[b];
		h.seq = i;
		len = mf_link_frame_put(frame, &h, &s);
		if (i % 2 == 0)
			capture_ring_frame(tap, i, frame, len);
		else
			capture_ring_span(tap, i, &s);
	}
	capture_ring_frame(tap, 1000, frame, CAPTURE_FRAME_MAX + 1);
	capture_ring_frame(tap, 1000, frame, 0);
	capture_ring_stop(c);
	cr_assert_eq(count_of(c, "dropped"), 2);
	close_well(c);
	f = read_back("a.pcapng");
	cr_assert_eq(f.frames, 500);
	cr_assert_eq(f.gaps, 0);
	cr_assert_eq(f.words, words);
}

/* A full ring drops, and the numbers of the frames tell. */
Test(capture, dropped, .init = begin, .fini = end)
{
	struct mf_captures *c = capture_into("a.pcapng", 1);
	struct capture_tap *tap = capture_tap(c, 0, true);
	unsigned int sent = 0;
	struct mf_span s;
	struct found f;

	cr_assert_eq(capture_ring_tap(tap, 0), 0);
	make_span(&s, 0, MF_SPAN_MAX, 0);
	for (; tap->dropped < 10; sent++)
		capture_ring_span(tap, sent * 1000, &s);
	make_span(&s, 0, 1, 0);
	for (unsigned int i = 0; i < CELL_WORDS && tap->dropped == 10; i++)
		capture_ring_span(tap, sent++ * 1000, &s);
	cr_assert_gt(tap->dropped, 0);
	capture_ring_stop(c);
	cr_assert_eq(count_of(c, "frames") + count_of(c, "dropped"), sent);
	close_well(c);
	f = read_back("a.pcapng");
	cr_assert_eq(f.gaps + f.frames, f.next[1][0]);
	cr_assert_geq(f.gaps, 10);
}

/* Told when the file is closed. */
Test(capture, disk_full, .init = begin, .fini = end)
{
	const char *const names[] = {"a.pcap", "a.pcapng"};

	for (unsigned int k = 0; k < 2; k++) {
		struct mf_captures *c;
		struct mf_span s;
		char err[256] = "";

		if (symlink("/dev/full", path_of(names[k])) != 0)
			cr_skip_test("no symbolic link: %s", strerror(errno));
		c = capture_into(names[k], 1);
		capture_sort_init(c);
		make_span(&s, 0, MF_SPAN_MAX, 0);
		for (unsigned int i = 0; i < 1000; i++, s.start += 1000000)
			capture_sort_span(capture_tap(c, 0, false), &s);
		capture_sort_until(c, MF_NEVER);
		cr_assert_eq(mf_captures_close(c, true, err, sizeof(err)), -ENOSPC, "%s", err);
		cr_assert_not_null(strstr(err, names[k]), "%s", err);
	}
}

Test(capture, refused, .init = begin, .fini = end)
{
	struct mf_capture_request *r = calloc(1, sizeof(*r));
	char err[256];

	for (unsigned int i = 0; i < 3; i++) {
		static const char *const files[] = {"a.cap", ".pcap", "nowhere/a.pcap"};

		snprintf(r->file, sizeof(r->file), "%s", i == 1 ? files[i] : path_of(files[i]));
		err[0] = '\0';
		cr_assert_null(mf_captures_open(&config, r, 1, err, sizeof(err)), "%s", r->file);
		cr_assert_neq(err[0], '\0');
	}
	free(r);
}
