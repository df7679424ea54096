/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures, as the engines use them. A tap is one direction of a link that is captured; where there is none,
 * nothing is. What passes a tap becomes a link frame, and that goes into all files that want it, in the order
 * of time.
 *
 *     virtual clock   the nodes and the switch are called for stretches of time, one after the other: frames
 *                     wait in a queue by time until nothing earlier can come (sort.c)
 *     wall clock      each lcore has a ring, into which it copies spans; a thread that is no lcore makes
 *                     frames of them and writes (ring.c). A full ring drops, and counts
 */
#ifndef MF_TAP_H
#define MF_TAP_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/mf_heap.h"
#include "capture/file.h"
#include "capture/mf_capture.h"
#include "link/mf_link_frame.h"
#include "role/mf_cell_ring.h"

/** One direction of a link that goes into some file. Its sender's thread writes it. */
struct capture_tap {
	struct mf_captures *captures;
	uint32_t files; /**< which of them: bits */
	uint16_t link;
	bool down;
	uint32_t seq; /**< of the next frame: those that are dropped count, too */
	uint64_t dropped; /**< the ring was full, or there was no memory */
	struct capture_ring *ring; /**< wall clock: its sender's */
};

/** A frame that waits for those before it. */
struct capture_held {
	struct mf_heap_link by_time;
	const struct capture_tap *tap;
	uint8_t *frame;
	uint16_t len;
	uint32_t next_free;
};

struct capture_sort {
	struct capture_held *held;
	uint32_t capacity, free, first; /**< entries, and of them the first free one and the earliest */
};

/** What an lcore has captured, on its way to the thread that writes. */
struct capture_ring {
	struct crossing crossing;
	struct cell *cells;
	unsigned int lcore;
};

#define CAPTURE_FRAME_MAX 9216 /**< octets of a link frame that comes whole */
#define CAPTURE_RINGS_MAX 128 /**< lcores */

struct mf_captures {
	struct capture_file file[MF_CAPTURES_MAX];
	char name[MF_CAPTURES_MAX][4096];
	unsigned int files, links;
	struct capture_tap *tap; /**< [2 * links]: up, then down */
	uint16_t *interface[MF_CAPTURES_MAX]; /**< of a tap in a file */
	uint64_t origin; /**< ns from 1970 to time 0 of the run */
	uint64_t last; /**< of the frames written so far, ns since 1970 */
	uint8_t frame[MF_LINK_FRAME_MAX] __attribute__((aligned(64)));
	/* virtual clock */
	struct capture_sort sort;
	/* wall clock */
	struct capture_ring *ring[CAPTURE_RINGS_MAX]; /**< of the lcores that capture anything */
	unsigned int rings;
	struct mf_span span; /**< of the thread that writes */
	uint64_t raw[CAPTURE_FRAME_MAX / 8 + 2 * CELL_WORDS];
	pthread_t writer;
	bool written_by_thread;
	atomic_bool over;
	mf_time (*now)(const void *ctx);
	const void *ctx;
	mf_time shift; /**< how much later the clock of now() is than that of who captures */
};

/** The tap of one direction of a link, or NULL: it goes into no file. */
struct capture_tap *capture_tap(struct mf_captures *c, unsigned int link, bool down);

/** What tap has sent, as a frame in c->frame. @return its octets */
uint16_t capture_frame(struct mf_captures *c, const struct capture_tap *tap, uint32_t seq,
		       const struct mf_span *span);
/** Writes a frame into the tap's files. @param at  of its first block, time of the run */
void capture_write(struct mf_captures *c, const struct capture_tap *tap, mf_time at, const uint8_t *frame,
		   uint16_t len);
/** All has been written: counts what the taps have dropped. */
void capture_end(struct mf_captures *c);
/** "run/captures" of the result. */
json_t *capture_json(const struct mf_captures *c);

/* sort.c: virtual clock, in which the run begins in 1970 */
void capture_sort_init(struct mf_captures *c);
void capture_sort_fini(struct mf_captures *c);
/** A span is sent. */
void capture_sort_span(struct capture_tap *tap, const struct mf_span *span);
/** No span that starts before then is still to come; MF_NEVER: none at all. */
void capture_sort_until(struct mf_captures *c, mf_time until);

/* ring.c: wall clock */
/** @param lcore  that sends, as the engine counts them @return 0 or -ENOMEM */
int capture_ring_tap(struct capture_tap *tap, unsigned int lcore);
/** Begins to write. @param now  what time it is, for any thread @return 0 or -errno */
int capture_ring_start(struct mf_captures *c, mf_time (*now)(const void *ctx), const void *ctx);
/**
 * From now on who captures has another clock, so much behind now()'s; 0: the same. Called while none of them
 * runs.
 */
void capture_ring_shift(struct mf_captures *c, mf_time shift);
/** All lcores have ended: writes what is left. */
void capture_ring_stop(struct mf_captures *c);
/** A span is sent, on the lcore of the tap. */
void capture_ring_span(struct capture_tap *tap, mf_time now, const struct mf_span *span);
/**
 * A link frame crosses a port, on the lcore of the tap: it goes into the files as it is. For links that ports
 * carry, in the place of the spans that it is made of.
 * @param len  1..CAPTURE_FRAME_MAX; others are counted as dropped
 */
void capture_ring_frame(struct capture_tap *tap, mf_time now, const uint8_t *frame, uint16_t len);

#endif
