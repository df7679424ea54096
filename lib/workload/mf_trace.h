/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: files of messages, a line each, in the formats of others (docs/traces.md). A trace is read line
 * by line, with the same memory for any length, and every complaint names the line.
 */
#ifndef MF_TRACE_H
#define MF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/mf_time.h"
#include "workload/mf_workload.h"

enum mf_trace_format {
	MF_TRACE_MEMFAB, /**< start_ps,kind,src,dst,octets,request_octets[,addr]: all that a message is */
	MF_TRACE_EDM, /**< id,type,src,dst,message bytes,read bytes,start slot */
	MF_TRACE_YCSB, /**< idx,OP,key: operations on keys, which say neither when nor from where */
	MF_TRACE_HPCC, /**< number of flows; then src dst pg [dport] octets start_seconds */
	MF_TRACE_LOG, /**< what YCSB's binding "basic" prints: OP table key [ fields ]. It is only read */
	MF_TRACE_FORMATS,
	MF_TRACE_AUTO = MF_TRACE_FORMATS, /**< what the first line looks like */
};

#define MF_TRACE_SLOT 640 /**< ps of a slot of MF_TRACE_EDM: one block at 100 Gb/s */
#define MF_TRACE_LINE 256 /**< octets of the longest line */
#define MF_TRACE_OCTETS (UINT64_C(1) << 40) /**< most of one message */
#define MF_TRACE_ERROR 512 /**< room for what is wrong, with a path of ordinary length */

/** A line of a trace. */
struct mf_trace_row {
	mf_time start; /**< intended; never before that of the line before. Keys: 0 */
	uint64_t key; /**< keys */
	uint64_t octets; /**< 1..MF_TRACE_OCTETS; atomics: 8. Keys: records of a scan, 0 where the line does
			    not say it */
	uint32_t request; /**< bytes of the request for a read; 0: the trace does not say it, or it is no read
			   */
	uint16_t src, dst; /**< nodes: who asks, and whose memory it is; never the same. Keys: 0 */
	uint8_t kind; /**< enum mf_client_kind; keys: enum mf_query_kind */
	bool has_addr; /**< the trace says where: all lines of it do, or none */
	uint64_t addr; /**< in the memory of dst; with octets below 2^48; atomics: a multiple of 8 */
};

struct mf_trace;

#define MF_TRACE_FORMAT_NAMES "memfab, edm, ycsb, hpcc, ycsb-log" /**< for help and errors */

/** The name of a format, as in the fabric file; NULL: there is none. */
const char *mf_trace_format_name(enum mf_trace_format format);
/** @return MF_TRACE_FORMATS: there is no such format */
enum mf_trace_format mf_trace_format_find(const char *name);

/**
 * Opens a trace and finds out its format by the first line where that is MF_TRACE_AUTO.
 *
 * @param path   a file, a pipe or a device; "-": standard input. Waits for who writes into a pipe
 * @param again  mf_trace_rewind() will be called. What cannot be read twice is then kept in a file without a
 * name (in TMPDIR or /tmp), up to 4 GiB
 * @param err    on failure one line: "PATH: reason" or "PATH:LINE: reason"
 * @return 0; -EINVAL: it is not a trace; -EISDIR; -ENOMEM; what open() says
 */
int mf_trace_open(struct mf_trace **trace, const char *path, enum mf_trace_format format, bool again,
		  char *err, size_t errlen);

/**
 * The same from anywhere.
 * @param fill  as read(): octets into buf, at most room; 0: the end; -errno. Not called again after that
 */
int mf_trace_of(struct mf_trace **trace, ssize_t (*fill)(void *ctx, void *buf, size_t room), void *ctx,
		const char *name, enum mf_trace_format format, char *err, size_t errlen);
void mf_trace_close(struct mf_trace *t);

/**
 * The next line.
 * @return 1; 0: that was all; -EINVAL or what reading said: mf_trace_error() has the reason, and there is
 *         nothing more
 */
int mf_trace_next(struct mf_trace *t, struct mf_trace_row *row);

/**
 * Begins with the first line again, once mf_trace_next() has returned 0. Not for mf_trace_of().
 * @return 0; otherwise mf_trace_error() has the reason
 */
int mf_trace_rewind(struct mf_trace *t);

/** Complains about the line that was read last. @return -EINVAL */
int mf_trace_fail(struct mf_trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** "NAME:LINE: reason", one line of plain ASCII but for the name. */
const char *mf_trace_error(const struct mf_trace *t);

/** Once mf_trace_next() has returned 0: "NAME: what was left out", as with the errors; NULL: nothing. */
const char *mf_trace_note(const struct mf_trace *t);

enum mf_trace_format mf_trace_format(const struct mf_trace *t);
/** Number of the line that was read last, from 1. */
uint64_t mf_trace_line(const struct mf_trace *t);
/** Hash of all octets of the file, once mf_trace_next() has returned 0. */
uint64_t mf_trace_digest(const struct mf_trace *t);

/** A trace that is written. */
struct mf_trace_out {
	FILE *file; /**< the caller's, who looks at ferror() */
	enum mf_trace_format format;
	uint64_t rows; /**< so far */
};

/** Whether the lines of a format are operations on keys, or messages. */
bool mf_trace_keyed(enum mf_trace_format format);

/** Why a format cannot say this; NULL: it can. MF_TRACE_EDM rounds the start down to a slot,
 * and writes a request of 16 bytes where the size is not known. */
const char *mf_trace_lacks(enum mf_trace_format format, const struct mf_trace_row *row);

/** Begins a trace. @param rows  how many there will be. @param addr  each has one (mf_trace_row.has_addr) */
void mf_trace_begin(struct mf_trace_out *out, FILE *file, enum mf_trace_format format, uint64_t rows,
		    bool addr);
/** Writes a line that mf_trace_lacks() has nothing against. */
void mf_trace_put(struct mf_trace_out *out, const struct mf_trace_row *row);

#endif
