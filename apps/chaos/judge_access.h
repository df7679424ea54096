/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges whether clients were let in where they have the right, and nowhere else. */
#ifndef JUDGE_ACCESS_H
#define JUDGE_ACCESS_H

#include "config/mf_config.h"
#include "linear/mf_history.h"
#include "verdict.h"

/** Adds what is wrong to v. @param h  of a run with this configuration that is over */
void judge_access(const struct mf_config *config, const struct mf_history *h, struct verdict *v);

#endif
