/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memfab-bench-program: what a program sees of a fabric that it uses by the client library. memfab-bench
 * starts it, since each repetition wants an EAL, a fabric and a memory of its own.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <memfab.h>

#include "base/mf_hist.h"
#include "bench.h"

#define PROGRAM_PAGE 4096 /* bytes; of all pages of address spaces that are measured */
#define PROGRAM_FIGURES 4

struct program {
	struct memfab *fabric;
	int memory; /**< number of the memory node */
	double seconds; /**< of what is measured */
	unsigned long threads, depth; /**< of a test that has them */
	bool apart; /**< a thread of the library turns the fabric, on another CPU */
	struct bench_sample cost; /**< set by the test: CPU time that its threads got and wanted */
	double figure[PROGRAM_FIGURES]; /**< set by the test */
	unsigned int figures;
};

/** Ends the program with a line on stderr, unless rc is 0. @param rc  0 or -errno of the client library */
void program_must(int rc, const char *what);
/** A queue at a compute node; the program ends where there is none. */
struct memfab_queue *program_queue(struct program *p, const char *node, unsigned int entries);
double program_ns(void);
/** CPU time is that of the whole process, from program_start() to program_stop(). */
void program_start(struct program *p, struct bench_watch *w);
void program_stop(struct program *p, const struct bench_watch *w);

/* Tests: each sets figures and cost. */
/** p50 in ns of memfab_ralloc() of a page, and of 100 pages, where 90 % of the memory are allocated. */
void program_ralloc(struct program *p);
/** p99 in ns of 64 B reads of a tenant, alone and while another one allocates and frees 10,000
 * pages at a time. */
void program_neighbour(struct program *p);
/** p50 in ns of 64 B reads, one at a time; of an address space if the memory has these. */
void program_read(struct program *p);
/** Million additions a second to counters of an address space, by threads with as many under way each. */
void program_count(struct program *p);

#endif
