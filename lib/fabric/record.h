/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of what a role was given and gave (D19), and their replay through the library alone.
 *
 * A record is a file: a header, then one entry a call, in the order of the calls. Native byte order:
 * a record is replayed by the program that made it.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mf_block.h"
#include "mf_time.h"

enum record_call {
	RECORD_RX = 1, /**< in: a span */
	RECORD_RUN, /**< in: the time */
	RECORD_TX, /**< out: a span */
	RECORD_TO_SCHED, /**< out: descriptors */
	RECORD_GRANT, /**< in: a grant */
	RECORD_INPUT, /**< in: a descriptor */
	RECORD_MATCH, /**< out: grants */
};

struct record_entry {
	uint8_t call; /**< enum record_call */
	uint8_t pad;
	uint16_t count; /**< port, or number of descriptors or grants */
	uint32_t size; /**< octets that follow */
	mf_time now;
};

struct record;
struct mf_fabric;

/** Begins the record of a role in folder dir. @return NULL with errno set */
struct record *record_open(const char *dir, const char *role);
/** @return 0, or -EIO where not all could be written */
int record_close(struct record *r);

void record_call(struct record *r, enum record_call call, unsigned int count, mf_time now, const void *data,
		 size_t size);
void record_span(struct record *r, enum record_call call, unsigned int port, mf_time now,
		 const struct mf_span *span);

/** Reads the next entry. @return 1, 0 at the end, -errno where the file is damaged. */
int record_next(FILE *file, struct record_entry *entry, void *data, size_t max);

/** A span as it stands in a record. */
size_t record_pack_span(const struct mf_span *span, void *out);
int record_unpack_span(const void *data, size_t size, struct mf_span *span);
/** Most octets of a packed span. */
#define RECORD_SPAN_MAX (24 + MF_SPAN_MAX * 9)

#endif
