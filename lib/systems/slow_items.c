/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses between the two paths, as items of a channel. Of a task or of a run they have the same words.
 */
#include "systems/mf_slow_path.h"

#define FIELD(field, check) MF_ITEM_FIELD(struct mf_vm_item, field, check)

static const struct mf_item_field fields[] = {FIELD(at, MF_ITEM_TIME),     FIELD(kind, MF_ITEM_ANY),
					      FIELD(value, MF_ITEM_ANY),   FIELD(page_class, MF_ITEM_ANY),
					      FIELD(pages, MF_ITEM_ANY),   FIELD(node, MF_ITEM_NODE),
					      FIELD(length, MF_ITEM_ANY),  FIELD(word[0], MF_ITEM_ANY),
					      FIELD(word[1], MF_ITEM_ANY), FIELD(word[2], MF_ITEM_ANY),
					      FIELD(word[3], MF_ITEM_ANY), FIELD(word[4], MF_ITEM_ANY),
					      FIELD(word[5], MF_ITEM_ANY), {.name = NULL}};

const struct mf_item mf_vm_item_to_slow = {.name = "task",
					   .size = sizeof(struct mf_vm_item),
					   .packed = sizeof(struct mf_vm_item),
					   .field = fields};
const struct mf_item mf_vm_item_to_node = {.name = "answer",
					   .size = sizeof(struct mf_vm_item),
					   .packed = sizeof(struct mf_vm_item),
					   .field = fields};
static_assert(sizeof(struct mf_vm_item) <= MF_ITEM_MAX, "it crosses a channel");

const struct mf_channel mf_slow_path_channel = {.in = &mf_vm_item_to_slow, .out = &mf_vm_item_to_node};
const struct mf_channel mf_slow_path_node_channel = {.in = &mf_vm_item_to_node, .out = &mf_vm_item_to_slow};
