/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether all clients were let in where they may, and nowhere else. */
#ifndef JUDGE_ACCESS_H
#define JUDGE_ACCESS_H

#include "mf_config.h"
#include "mf_history.h"
#include "verdict.h"

/** @param h  of a run of this configuration, which is over */
void judge_access(const struct mf_config *config, const struct mf_history *h, struct verdict *v);

#endif
