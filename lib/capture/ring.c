/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures under the wall clock: from the lcores to a thread that makes frames and writes them. Each ring is
 * in the order of time, since an lcore dates what it sends by its turn; the thread merges them.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_branch_prediction.h>
#include <rte_lcore.h>

#include "base/mf_table.h"
#include "capture/mf_tap.h"

#define CELLS (1U << 18) /* 16 MiB an lcore: of a chunk of 64 octets three, so 87,000 of them */
#define LATE MF_MS(10) /* what an lcore that lost its CPU in a turn may still bring */
#define NAP 1000000 /* ns that the thread sleeps where it finds nothing */

/** In front of each span or frame, in a cell of its own. LEN: octets of a frame, 0: it is a span. */
enum { HEAD_AT, HEAD_TAP, HEAD_LEN, HEAD_WORDS };

static_assert(CAPTURE_FRAME_MAX / 8 <= CROSSING_WORDS, "a frame is put at a time");

/** The ring of one more lcore. @return NULL: no memory */
static struct capture_ring *add_ring(struct mf_captures *c, unsigned int lcore)
{
	struct capture_ring *r = NULL;

	if (c->rings < CAPTURE_RINGS_MAX)
		r = aligned_alloc(__alignof__(*r), sizeof(*r));
	if (r == NULL)
		return NULL;
	r->lcore = lcore;
	r->cells = mf_table_new_dense(CELLS, sizeof(*r->cells));
	c->ring[c->rings++] = r;
	crossing_init(&r->crossing, r->cells, CELLS);
	return r->cells != NULL ? r : NULL;
}

int capture_ring_tap(struct capture_tap *tap, unsigned int lcore)
{
	struct mf_captures *c = tap->captures;

	for (unsigned int i = 0; i < c->rings; i++)
		if (c->ring[i]->lcore == lcore)
			tap->ring = c->ring[i];
	if (tap->ring == NULL)
		tap->ring = add_ring(c, lcore);
	return tap->ring != NULL ? 0 : -ENOMEM;
}

/** Puts the head of what has so many words. @return false: there is no room for both */
static bool put_head(struct capture_tap *tap, mf_time now, uint16_t len, unsigned int words)
{
	uint32_t cells = 1 + CROSSING_CELLS(words);
	const uint64_t head[CELL_WORDS] = {
		[HEAD_AT] = now + tap->captures->shift,
		[HEAD_TAP] = (uint64_t)tap->seq++ << 32 | (uint32_t)(tap - tap->captures->tap),
		[HEAD_LEN] = len,
	};

	if (unlikely(crossing_room(&tap->ring->crossing, cells) < cells)) {
		tap->dropped++;
		return false;
	}
	crossing_put(&tap->ring->crossing, head, HEAD_WORDS);
	return true;
}

void capture_ring_span(struct capture_tap *tap, mf_time now, const struct mf_span *span)
{
	if (put_head(tap, now, 0, span->count))
		crossing_put_span(&tap->ring->crossing, span);
}

void capture_ring_frame(struct capture_tap *tap, mf_time now, const uint8_t *frame, uint16_t len)
{
	uint64_t word[CAPTURE_FRAME_MAX / 8 + CELL_WORDS];
	unsigned int words = (len + 7U) / 8;

	if (len == 0 || len > CAPTURE_FRAME_MAX) {
		tap->dropped++;
		return;
	}
	if (!put_head(tap, now, len, words))
		return;
	memcpy(word, frame, len);
	crossing_put(&tap->ring->crossing, word, words);
}

/** The ring whose next span is the earliest of all. @return NULL: all are empty */
static struct crossing *earliest(const struct mf_captures *c, mf_time *at)
{
	struct crossing *first = NULL;

	*at = MF_NEVER;
	for (unsigned int i = 0; i < c->rings; i++) {
		const struct cell *cell = crossing_peek(&c->ring[i]->crossing);

		if (cell != NULL && (first == NULL || cell->word[HEAD_AT] < *at)) {
			first = &c->ring[i]->crossing;
			*at = cell->word[HEAD_AT];
		}
	}
	return first;
}

static void take_one(struct mf_captures *c, struct crossing *ring)
{
	uint64_t head[2 * CELL_WORDS];
	const struct capture_tap *tap;

	crossing_take(ring, head);
	/* Its lcore is between the two: it may have lost its CPU there. */
	while (crossing_peek(ring) == NULL)
		sched_yield();
	tap = &c->tap[(uint32_t)head[HEAD_TAP]];
	if (head[HEAD_LEN] != 0) {
		crossing_take(ring, c->raw);
		capture_write(c, tap, head[HEAD_AT], (const uint8_t *)c->raw, (uint16_t)head[HEAD_LEN]);
		return;
	}
	crossing_take_span(ring, &c->span);
	capture_write(c, tap, head[HEAD_AT], c->frame,
		      capture_frame(c, tap, (uint32_t)(head[HEAD_TAP] >> 32), &c->span));
}

/** Writes what was sent before then. @return spans */
static unsigned int drain(struct mf_captures *c, mf_time until)
{
	struct crossing *ring;
	unsigned int n = 0;
	mf_time at;

	while ((ring = earliest(c, &at)) != NULL && at < until) {
		take_one(c, ring);
		n++;
	}
	return n;
}

/** What there is can be looked at while the fabric runs. */
static void flush(struct mf_captures *c)
{
	for (unsigned int i = 0; i < c->files; i++) {
		fflush(c->file[i].out);
		capture_file_error(&c->file[i]);
	}
}

static void *writer_main(void *arg)
{
	const struct timespec nap = {.tv_nsec = NAP};
	struct mf_captures *c = arg;

	while (!atomic_load_explicit(&c->over, memory_order_acquire)) {
		mf_time now = c->now(c->ctx);

		/* Those of one ring have nobody to wait for. */
		if (drain(c, c->rings == 1 ? MF_NEVER : now > LATE ? now - LATE : 0) > 0)
			continue;
		flush(c);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int capture_ring_start(struct mf_captures *c, mf_time (*now)(const void *ctx), const void *ctx)
{
	struct timespec t;
	int rc;

	clock_gettime(CLOCK_REALTIME, &t);
	c->origin = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - now(ctx) / 1000;
	c->now = now;
	c->ctx = ctx;
	/* Away from the lcores' CPUs, where there are others. */
	rc = rte_ctrl_thread_create(&c->writer, "capture", NULL, writer_main, c);
	c->written_by_thread = rc == 0;
	return rc;
}

void capture_ring_shift(struct mf_captures *c, mf_time shift)
{
	c->shift = shift;
}

void capture_ring_stop(struct mf_captures *c)
{
	if (c->written_by_thread) {
		atomic_store_explicit(&c->over, true, memory_order_release);
		pthread_join(c->writer, NULL);
		c->written_by_thread = false;
	}
	drain(c, MF_NEVER);
	for (unsigned int i = 0; i < c->rings; i++) {
		mf_table_free(c->ring[i]->cells);
		free(c->ring[i]);
	}
	c->rings = 0;
	capture_end(c);
}
