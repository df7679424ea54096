/* SPDX-License-Identifier: BSD-3-Clause */
/* What a campaign says when it is over. */
#ifndef PRINT_H
#define PRINT_H

#include "campaign.h"

/** @param on  of each class: whether it was wanted; NULL: all are */
void print_tally(const struct trial *t, const struct tally *tally, const bool *on);

/** A class that was wanted and never fired; NULL: there is none. */
const char *print_never(const struct trial *t, const struct tally *tally, const bool *on);

/** How far it is, on a terminal only; for struct campaign. */
void print_progress(void *ctx, uint64_t runs, uint64_t fired);
void print_progress_end(void);

#endif
