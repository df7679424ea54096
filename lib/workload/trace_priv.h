/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the traces: a reader of lines, and a table of functions for each format. */
#ifndef TRACE_PRIV_H
#define TRACE_PRIV_H

#include <xxhash.h>

#include "workload/mf_trace.h"

#define TRACE_COLUMNS 8 /**< most of any format, and one more */
#define TRACE_NAME 256
#define TRACE_BUFFER 65536

/** A format; trace_memfab.c, trace_edm.c, ... */
struct trace_format {
	const char *name;
	char separator; /**< ',', or ' ': blanks, as many as one likes */
	unsigned int columns; /**< of each line */
	unsigned int optional; /**< more that a line may have */
	bool header; /**< the first line is no message */
	bool keyed; /**< lines are operations on keys */
	bool loose; /**< any lines may stand between, with any octets and of any length: row() tells them
		       apart */
	/** Whether a first line of so many columns is of this format. */
	bool (*is)(char **column, unsigned int columns);
	/** Reads the first line, where that is a header. @return 0, or -EINVAL and has complained */
	int (*head)(struct mf_trace *t, char **column, unsigned int columns);
	/** @return 0; TRACE_SKIP: it is no row, and none is missing; or -EINVAL and has complained */
	int (*row)(struct mf_trace *t, char **column, unsigned int columns, struct mf_trace_row *row);
	/** At the end of the file; NULL: any end will do. */
	int (*end)(struct mf_trace *t);
	const char *(*lacks)(const struct mf_trace_row *row);
	void (*put_head)(FILE *file, uint64_t rows, bool addr);
	void (*put)(FILE *file, uint64_t number, const struct mf_trace_row *row);
};

#define TRACE_SKIP 1

extern const struct trace_format trace_memfab, trace_edm, trace_ycsb, trace_hpcc, trace_log;

const struct trace_format *trace_format_at(enum mf_trace_format format);

struct mf_trace {
	const struct trace_format *format;
	ssize_t (*fill)(void *ctx, void *buf, size_t room);
	void *ctx;
	struct trace_file *file; /**< NULL: the caller's ctx */
	uint32_t from, to; /**< of what is in the buffer and was not yet given out */
	bool ended; /**< nothing more to read */
	int failed; /**< why there is not: -errno, told once all before it was given out; 0: it is the end */
	bool inside; /**< loose formats: of a long line that was given out the rest is still to be passed over
		      */
	bool over; /**< the end was told, or an error */
	bool again; /**< the line that was given out last is given out once more */
	uint64_t line; /**< number of the one that was given out last */
	uint64_t blank; /**< number of the first blank line; 0: none so far */
	uint64_t rows; /**< messages so far */
	uint64_t left; /**< lines that are no messages and were left out */
	unsigned int width; /**< columns of each line by the header; 0: any that the format may have */
	uint64_t promised; /**< by the header; UINT64_MAX: it does not say */
	mf_time last; /**< start of the message before */
	XXH64_state_t *digest;
	char name[TRACE_NAME];
	char error[MF_TRACE_ERROR];
	char note[MF_TRACE_ERROR]; /**< what was left out; "": nothing */
	char text[MF_TRACE_LINE]; /**< the line that was given out last, cut into columns */
	char buffer[TRACE_BUFFER];
};

/* trace_file.c: what a trace is read from, and once more */

struct trace_file;

/**
 * @param again  it will be read a second time: what cannot be, such as a pipe, is kept in a file of its own
 * @return 0; -EINVAL: it is none that has lines, and err says so; -ENOMEM; what open() says
 */
int trace_file_open(struct trace_file **file, const char *path, bool again, char *err, size_t errlen);
/** fill() of a trace. */
ssize_t trace_file_read(void *file, void *buf, size_t room);
/** Once all of it was read. @return 0 or -errno */
int trace_file_rewind(struct trace_file *file);
void trace_file_close(struct trace_file *file);

/* trace_line.c */

/** Reads until the buffer is full, or there is no more. */
void trace_fill(struct mf_trace *t);
/** Reads to the end. @return lines with text in them, or -errno, and has complained */
int64_t trace_rest(struct mf_trace *t);

/** The next line into t->text. @return 1; 0: no more; -errno, and has complained */
int trace_line(struct mf_trace *t);

/**
 * Cuts the line into columns, where it stands.
 * @return how many, at most TRACE_COLUMNS: then there may be more
 */
unsigned int trace_cut(char *text, char separator, char *column[TRACE_COLUMNS]);

/* trace_field.c: each returns 0, or -EINVAL and has complained about the column of that name */

/** A whole number from lo to hi. */
int trace_number(struct mf_trace *t, const char *s, const char *name, uint64_t lo, uint64_t hi,
		 uint64_t *out);
/** Decimal seconds, with point and exponent, to the nearest picosecond. */
int trace_seconds(struct mf_trace *t, const char *s, const char *name, mf_time *out);
int trace_src_dst(struct mf_trace *t, const char *src, const char *dst, struct mf_trace_row *row);
/** 1 octet to 1 TiB. */
int trace_octets(struct mf_trace *t, const char *s, struct mf_trace_row *row);
/** The key of a record, "user7" or "7". */
int trace_key(struct mf_trace *t, const char *s, struct mf_trace_row *row);
/** Records of a scan. */
int trace_scan(struct mf_trace *t, const char *s, struct mf_trace_row *row);
/** Time does not go backwards. */
int trace_start(struct mf_trace *t, mf_time start, struct mf_trace_row *row);

#endif
