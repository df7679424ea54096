/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 by itself: no congestion control. What the switch drops is sent again by go-back-N. */
#include "systems/rdma/mf_rdma.h"
#include "systems/rdma/roce.h"

/* clang-format off */
static const struct mf_param params[] = {
	{ROCE_PARAM_MTU},
	{ROCE_PARAM_TIMEOUT},
	{ROCE_PARAM_RETRIES},
	{ROCE_PARAM_READS},
	{ROCE_PARAM_ACK_EVERY},
	{ROCE_PARAM_CLASS},
	{0}};
/* clang-format on */

static struct mf_stack *rocev2_create(const struct mf_stack_config *c)
{
	return roce_new(c, ROCE_PARAMS, NULL, 0);
}

const struct mf_stack_ops stack_rocev2 = {.name = "rocev2",
					  .bridge = "fifo",
					  .params = params,
					  .wall = true,
					  .create = rocev2_create,
					  .pfc_classes = roce_pfc_classes,
					  ROCE_OPS};
