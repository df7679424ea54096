/* SPDX-License-Identifier: BSD-3-Clause */
/* An open fabric for the tests of the client: two compute nodes, two memory nodes of 4 MiB. */
#ifndef RIG_H
#define RIG_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "client/memfab.h"

#define RIG_MEMORY (UINT64_C(4) << 20)

extern struct memfab *rig;
extern int mn0, mn1;
extern char rig_err[MEMFAB_ERR_LEN];

/** Path of the fabric file. */
const char *rig_file(void);
/** Opens it; where EAL cannot start, the test is skipped with its reason. */
void rig_open(const struct memfab_options *options);
/** For TestSuite: with no options, and closed again. */
void rig_init(void);
void rig_fini(void);
struct memfab_queue *rig_queue(const char *node, unsigned int entries);
/** A slot, which has to be there. */
struct memfab_sqe *rig_sqe(struct memfab_queue *q);
/** Waits for the oldest completion and takes it. */
struct memfab_cqe rig_take(struct memfab_queue *q);
/** Submits what has been prepared, one operation, and waits for it. @return its result */
int64_t rig_do(struct memfab_queue *q);
void rig_fill(struct mf_rng *rng, uint8_t *buf, size_t len);

#endif
