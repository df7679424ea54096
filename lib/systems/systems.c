/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in the list of systems, by its name in the fabric file. */
#include "systems/mf_systems.h"

#include <string.h>

#include "systems/kinds.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define NAME(name) #name,
const char *const mf_stack_names[] = {MF_STACK_EDM, LIST_STACKS(NAME) NULL};
const char *const mf_bridge_names[] = {LIST_BRIDGES(NAME) NULL};
const char *const mf_policy_names[] = {LIST_POLICIES(NAME) NULL};

#define STACK(name) extern const struct mf_stack_ops stack_##name;
LIST_STACKS(STACK)
#define BRIDGE(name) extern const struct mf_bridge_ops bridge_##name;
LIST_BRIDGES(BRIDGE)
#define POLICY(name) extern const struct mf_sched_ops mf_sched_##name;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls" /* mf_sched.h has two of them, for its tests */
LIST_POLICIES(POLICY)
#pragma GCC diagnostic pop

const struct mf_stack_ops *mf_stack_find(const char *name)
{
#undef STACK
#define STACK(name) &stack_##name,
	static const struct mf_stack_ops *const all[] = {LIST_STACKS(STACK)};

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(name, all[i]->name) == 0)
			return all[i];
	return NULL;
}

const struct mf_bridge_ops *mf_bridge_find(const char *name)
{
#undef BRIDGE
#define BRIDGE(name) &bridge_##name,
	static const struct mf_bridge_ops *const all[] = {LIST_BRIDGES(BRIDGE)};

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(name, all[i]->name) == 0)
			return all[i];
	return NULL;
}

const struct mf_sched_ops *mf_policy_find(const char *name)
{
#undef POLICY
#define POLICY(name) &mf_sched_##name,
	static const struct mf_sched_ops *const all[] = {LIST_POLICIES(POLICY)};

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(name, all[i]->name) == 0)
			return all[i];
	return NULL;
}

const struct mf_role_ops *mf_stack_node(const struct mf_stack_ops *stack)
{
	return mf_node_kinds[stack == NULL ? NODE_EDM : NODE_FRAMES];
}

const struct mf_role_ops *mf_bridge_switch(const struct mf_bridge_ops *bridge)
{
	return mf_switch_kinds[bridge == NULL ? SWITCH_EDM : SWITCH_FRAMES];
}

const struct mf_pool_desc *mf_stack_pools(const struct mf_stack_ops *stack)
{
	return stack != NULL ? stack->pools : mf_stack_node(NULL)->pools;
}

const struct mf_pool_desc *mf_bridge_pools(const struct mf_bridge_ops *bridge)
{
	return bridge != NULL ? bridge->pools : mf_bridge_switch(NULL)->pools;
}
