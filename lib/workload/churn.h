/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that share address spaces (mf_workload.h, struct mf_churn). Each has made some at each target. What
 * it reads and writes is anywhere in the pages of all of them, whoever has made them, and whether somebody
 * has allocated these pages or not. Now and then it asks something of a space instead.
 *
 * A space of its own that is wanted is made by steps, one after the other, while other operations go on:
 *
 *      END ──> MAKE ──> GRANT to each other client ──> ALLOCATE all of its pages
 *       └─── there is one of before
 */
#ifndef CHURN_H
#define CHURN_H

#include "workload/client_priv.h"

/** What a slot asks of a space: it has no kind of its own. */
#define CHURN_TASK MF_CLIENT_KINDS

/** @return 0, -EINVAL, -ENOMEM */
int churn_init(struct mf_client *c, const struct mf_client_config *config);
void churn_fini(struct churn *ch);

/** Puts what is asked of a space into c->op, of slot s. @return false: octets are to be accessed */
bool churn_ask(struct mf_client *c, struct slot *s);
/** That has completed. */
void churn_done(struct mf_client *c, const struct slot *s, const struct mf_completion *done);
/** Puts space and address of the octets of a slot into c->op. */
void churn_place(struct mf_client *c, const struct slot *s);
/** Spaces at a target may be gone. */
void churn_lose(struct mf_client *c, uint32_t target);

#endif
