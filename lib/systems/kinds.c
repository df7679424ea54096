/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kinds of nodes and switches. */
#include "systems/kinds.h"

#include "systems/edm/host/mf_host.h"
#include "systems/edm/switch/mf_switch.h"
#include "systems/frames/mf_frame_host.h"
#include "systems/frames/mf_frame_switch.h"

const struct mf_role_ops *const mf_node_kinds[] = {
	[NODE_EDM] = &mf_host_role, [NODE_FRAMES] = &mf_frame_host_role};
const struct mf_role_ops *const mf_switch_kinds[] = {
	[SWITCH_EDM] = &mf_switch_role, [SWITCH_FRAMES] = &mf_frame_switch_role};
