/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>

#include "topology/mf_classes.h"

#define NO_CLASS 2

/**
 * Gives the roles of a connected part the parity of their distance to the first one.
 * @return how many they are
 */
static uint32_t spread(const struct mf_topology *t, uint32_t first, uint8_t *class, uint32_t *part)
{
	uint32_t head = 0, tail = 0;

	class[first] = t->role[first].kind != t->role[0].kind;
	part[tail++] = first;
	while (head < tail) {
		uint32_t role = part[head++];

		for (uint32_t port = 0; port < t->role[role].ends; port++) {
			uint32_t peer = mf_topology_peer(t, mf_topology_end(t, role, port));

			if (class[peer] != NO_CLASS)
				continue;
			class[peer] = !class[role];
			part[tail++] = peer;
		}
	}
	return tail;
}

/** Links of a role to roles of its class. */
static uint32_t links_within(const struct mf_topology *t, uint32_t role, const uint8_t *class)
{
	uint32_t n = 0;

	for (uint32_t port = 0; port < t->role[role].ends; port++)
		n += class[mf_topology_peer(t, mf_topology_end(t, role, port))] == class[role];
	return n;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/**
 * Lets each role that has more links within its class than out of it change class, until there is none. Each
 * change makes at least one link fewer within classes, so this ends. Roles are asked in their own order,
 * since that in which they were found depends on the order of links.
 */
static void improve(const struct mf_topology *t, uint32_t *part, uint32_t n, uint8_t *class)
{
	uint8_t first;
	bool again = true;

	qsort(part, n, sizeof(*part), by_number);
	first = class[part[0]];
	while (again) {
		again = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t role = part[i];

			if (2 * links_within(t, role, class) <= t->role[role].ends)
				continue;
			class[role] = !class[role];
			again = true;
		}
	}
	for (uint32_t i = 0, turn = class[part[0]] ^ first; i < n; i++)
		class[part[i]] ^= (uint8_t)turn;
}

uint32_t mf_topology_classes(const struct mf_topology *t, uint8_t *class_of_role)
{
	uint32_t *part = malloc((t->roles + UINT64_C(1)) * sizeof(*part));
	uint32_t within = 0;

	if (part == NULL)
		return MF_NONE;
	for (uint32_t role = 0; role < t->roles; role++)
		class_of_role[role] = NO_CLASS;
	for (uint32_t role = 0; role < t->roles; role++) {
		if (class_of_role[role] == NO_CLASS)
			improve(t, part, spread(t, role, class_of_role, part), class_of_role);
	}
	free(part);
	for (uint32_t role = 0; role < t->roles; role++)
		within += links_within(t, role, class_of_role);
	return within / 2;
}
