/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses between switch and scheduler, as items of a channel. */
#include <assert.h>

#include "role/mf_item.h"
#include "systems/edm/sched/mf_sched.h"

#define MSG(field, check) MF_ITEM_FIELD(struct mf_sched_msg, field, check)
#define GRANT(field, check) MF_ITEM_FIELD(struct mf_sched_grant, field, check)

/* What an item is about comes first: where two differ in it, that they differ in time says no more. */

static const struct mf_item_field of_msg[] = {
	MSG(kind, MF_ITEM_ANY),
	MSG(src, MF_ITEM_NODE),
	MSG(dst, MF_ITEM_NODE),
	MSG(id, MF_ITEM_ANY),
	MSG(resp, MF_ITEM_BOOL),
	MSG(mega, MF_ITEM_BOOL),
	MSG(size, MF_ITEM_ANY),
	MSG(cookie, MF_ITEM_ANY),
	MSG(at, MF_ITEM_TIME),
	MSG(behind, MF_ITEM_ANY),
	MSG(excess, MF_ITEM_BOOL),
	MSG(request_blocks, MF_ITEM_ANY),
	{0},
};

static const struct mf_item_field of_grant[] = {
	GRANT(src, MF_ITEM_NODE),      GRANT(dst, MF_ITEM_NODE),
	GRANT(id, MF_ITEM_ANY),        GRANT(resp, MF_ITEM_BOOL),
	GRANT(size, MF_ITEM_ANY),      GRANT(cookie, MF_ITEM_ANY),
	GRANT(first, MF_ITEM_BOOL),    GRANT(last, MF_ITEM_BOOL),
	GRANT(mega, MF_ITEM_BOOL),     GRANT(refused, MF_ITEM_BOOL),
	GRANT(at, MF_ITEM_TIME),       GRANT(since, MF_ITEM_TIME),
	GRANT(iteration, MF_ITEM_ANY), {0},
};

const struct mf_item mf_sched_msg_item = {"descriptor", sizeof(struct mf_sched_msg), 28, of_msg};
const struct mf_item mf_sched_grant_item = {"grant", sizeof(struct mf_sched_grant), 36, of_grant};

static_assert(offsetof(struct mf_sched_msg, at) == 0 && offsetof(struct mf_sched_grant, at) == 0,
	      "an item begins with its time");
static_assert(sizeof(struct mf_sched_msg) <= MF_ITEM_MAX && sizeof(struct mf_sched_grant) <= MF_ITEM_MAX,
	      "room for an item");
