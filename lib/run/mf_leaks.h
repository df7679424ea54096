/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a fabric of EDM under the virtual clock from outside: whether its schedule keeps the rules while
 * it runs, and whether it holds anything when it is over. For campaigns; neither changes what happens.
 */
#ifndef MF_LEAKS_H
#define MF_LEAKS_H

#include "run/mf_fabric.h"

/**
 * Whether anything is held that nobody will ever give back: ids, active notifications, circuits, buffered
 * requests, demands, data buffers, what waits to be sent. Of a run with mf_run_options.settle longer than any
 * timer that may hold something back.
 * @param err  the first of it, one line
 */
bool mf_fabric_leaks(const struct mf_fabric *f, char *err, size_t errlen);

/**
 * From now on each grant is held against the rules (EDM 3.1.1): that it is for a demand, and not for more
 * than that; that both its ports are free; that those of a pair come in order. Before mf_fabric_run().
 * @return 0 or -ENOMEM
 */
int mf_fabric_audit(struct mf_fabric *f);
/** Whether all grants kept them. @param err  the first one that did not, one line */
bool mf_fabric_audited(const struct mf_fabric *f, char *err, size_t errlen);

#endif
