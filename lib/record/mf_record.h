/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of what a role was given and gave (D19).
 *
 * A record is a file DIR/ROLE.rec: a header, one entry a call in the order of the calls, and an entry
 * that says that this was all. Native byte order, spans without their unused room, items field by field:
 * no byte of a record is left to chance.
 *
 * Header and entries carry a check. That of an entry covers all but the data of an output: what drives
 * a role is refused when it is damaged, what it gave is compared.
 *
 * One thread calls for a record, or for a reader; those of different roles share nothing.
 */
#ifndef MF_RECORD_H
#define MF_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mf_time.h"
#include "pcs/mf_block.h"
#include "role/mf_item.h"

enum record_call {
	RECORD_RX = 1, /**< in: a span */
	RECORD_RUN, /**< in: the time */
	RECORD_TX, /**< out: a span, or nothing */
	RECORD_GIVE, /**< in: an item, by a channel */
	RECORD_TAKE, /**< out: items of a channel, or none */
	RECORD_SHORT_SPANS, /**< in: a port's spans stay short */
	RECORD_LINK_LOST, /**< in: a port's link is lost */
	RECORD_LINK_BACK, /**< in: and asked for again */
	RECORD_CRASH, /**< in: the process of the role is gone */
	RECORD_TAKE_AWAY, /**< in: free room is taken away: role_exhaust() */
	RECORD_GIVE_BACK, /**< in: and given back */
	RECORD_BEAR, /**< in: the node of a port has had no turn for so long: role_bear() */
	RECORD_ROUTE, /**< in: a link of the graph goes down or up: role_route() */
	RECORD_END, /**< the record is whole */
	RECORD_CALLS
};

struct record_entry {
	uint8_t call; /**< enum record_call */
	/**
	 * GIVE, TAKE: its number; TAKE_AWAY, GIVE_BACK: that of the pool; TX: most blocks that were asked
	 * for, 0: MF_SPAN_MAX; else 0
	 */
	uint8_t channel;
	/** TAKE: items asked for; RX, TX, SHORT_SPANS, LINK_*, BEAR, TAKE_AWAY, GIVE_BACK: port */
	uint16_t count;
	uint32_t size; /**< octets of data that follow */
	mf_time now;
	uint32_t number; /**< of the entry, from 0 */
	uint32_t check; /**< CRC-32 of the entry, with this as 0, and of the data of an input */
};

static_assert(sizeof(struct record_entry) == 24, "without padding");

/** Most items of an entry. */
#define RECORD_ITEMS_MAX 32
/** Bytes of the largest span in a record, and of the data of any entry. */
#define RECORD_SPAN_MAX (16 + MF_SPAN_MAX * 9)
#define RECORD_DATA_MAX \
	(RECORD_SPAN_MAX > RECORD_ITEMS_MAX * MF_ITEM_MAX ? RECORD_SPAN_MAX : RECORD_ITEMS_MAX * MF_ITEM_MAX)

#define RECORD_ROLE_LEN 64 /**< of a role's name, with the terminating zero */

struct record_header {
	char magic[16];
	char role[RECORD_ROLE_LEN];
	uint32_t config; /**< what it shares with the run that repeats it: mf_config_hash() */
	uint32_t check; /**< CRC-32 of what stands before */
};

/** An entry and its data, as they stand in the file. */
struct record_buffer {
	struct record_entry entry;
	uint8_t data[RECORD_DATA_MAX];
};

#define RECORD_MAGIC "memfab record 10" /**< the 16 octets of magic, without a zero */

void record_path(char *path, size_t len, const char *dir, const char *role);
uint32_t record_header_check(const struct record_header *h);
uint32_t record_check(const struct record_buffer *b);

/* record.c: writing */
struct record;

/** Makes the folder where it is not there. @return 0, -errno */
int record_folder(const char *dir);
/** Begins the record of a role. @return NULL with errno set */
struct record *record_open(const char *dir, const char *role, uint32_t config);
/** Writes its end. @param r  or NULL @return 0, or the -errno of what could not be written */
int record_end(struct record *r);
/**
 * @param r   or NULL
 * @param rc  0: the record takes its place; otherwise it is given up, and what was there before stays
 * @return rc, or the -errno of closing it
 */
int record_close(struct record *r, int rc);
/** @param data  of `size` bytes, RECORD_DATA_MAX at most; NULL: none */
void record_call(struct record *r, enum record_call call, unsigned int count, mf_time now, const void *data,
		 size_t size);
/**
 * The same of items by a channel.
 * @param call   GIVE or TAKE
 * @param count  TAKE: how many were asked for
 * @param items  n of them, RECORD_ITEMS_MAX at most; GIVE: 1
 */
void record_items(struct record *r, enum record_call call, unsigned int channel, unsigned int count,
		  mf_time now, const struct mf_item *item, const void *items, unsigned int n);

/**
 * The same of a TX.
 * @param most  blocks that were asked for, up to 255; 0: any
 * @param span  packed; or size 0
 */
void record_tx(struct record *r, unsigned int most, unsigned int port, mf_time now, const void *span,
	       size_t size);
/** The same of a pool: TAKE_AWAY or GIVE_BACK. @param pool  of the role's kind, up to 255 */
void record_pool(struct record *r, enum record_call call, unsigned int pool, unsigned int port, mf_time now);

/* pack.c: spans in the data */
size_t record_pack_span(const struct mf_span *span, void *out);
/** @return 0; -EINVAL: that is none */
int record_unpack_span(const void *data, size_t size, struct mf_span *span);
/** Says in one line in what a span, or none, differs from what is recorded. */
void record_differ_span(const void *is, size_t is_size, const void *was, size_t was_size, char *text,
			size_t len);

/* read.c: reading */
struct record_reader {
	FILE *file;
	uint64_t number; /**< entries read */
	struct record_buffer now; /**< the last one */
	char err[512]; /**< on failure: one line */
};

/** @return 0; -EINVAL: no record, or not of this role and configuration; or what opening said */
int record_reader_open(struct record_reader *r, const char *dir, const char *role, uint32_t config);
void record_reader_close(struct record_reader *r);
/** Reads the next entry into now. @return 1; 0: that was all; -EINVAL: damaged; -EIO */
int record_next(struct record_reader *r);

#endif
