/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens, by which other nodes join a space. Numbers have their lowest octet first:
 *
 *      "MFS1" | nodes 1 | 0 | maker 2 | number 2 | 0 0 | memory nodes, 2 each | 0 ...
 *
 * Nodes are numbers of the fabric file. A token may come from anybody, so all of it is looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "config/mf_config_query.h"
#include "memory/mf_space.h"

#define MAGIC "MFS1"
#define NODES 4
#define MAKER 6
#define NUMBER 8
#define HEAD 12
static_assert(HEAD + 2 * MEMFAB_SPACE_NODES == MEMFAB_TOKEN_LEN, "all nodes of a space find room");

static void put(uint8_t *at, unsigned int value)
{
	at[0] = value & UINT8_MAX;
	at[1] = value >> 8 & UINT8_MAX;
}

static unsigned int get(const uint8_t *at)
{
	return at[0] | (unsigned int)at[1] << 8;
}

void memfab_space_token(const struct memfab_space *s, struct memfab_token *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->octets, MAGIC, NODES);
	out->octets[NODES] = (uint8_t)s->nodes;
	put(out->octets + MAKER, s->maker);
	put(out->octets + NUMBER, s->of_maker);
	for (unsigned int k = 0; k < s->nodes; k++)
		put(out->octets + HEAD + 2 * k, s->node[k]);
}

/** Whether a node can have a space, or, as a maker, have made one. */
static bool is_node(const struct mf_config *c, unsigned int node, bool maker)
{
	return node < c->slots && c->node[node].up &&
	       (maker ? c->node[node].compute : mf_config_is_virtual(&c->node[node]));
}

static bool is_twice(const struct memfab_space *s, unsigned int node)
{
	for (unsigned int k = 0; k < s->nodes; k++)
		if (s->node[k] == node)
			return true;
	return false;
}

int space_of_token(const struct mf_config *c, const struct memfab_token *t, struct memfab_space *s)
{
	const uint8_t *at = t->octets;
	struct memfab_token again;
	unsigned int n = at[NODES];

	*s = (struct memfab_space){.maker = (uint16_t)get(at + MAKER),
				   .of_maker = (uint16_t)get(at + NUMBER)};
	if (n == 0 || n > MEMFAB_SPACE_NODES || !is_node(c, s->maker, true) || s->of_maker == 0 ||
	    s->of_maker >= 1 << MF_SPACE_OF_NODE_BITS)
		return -EINVAL;
	for (unsigned int k = 0; k < n; k++) {
		unsigned int node = get(at + HEAD + 2 * k);

		if (!is_node(c, node, false) || is_twice(s, node))
			return -EINVAL;
		s->node[s->nodes++] = (uint16_t)node;
	}
	memfab_space_token(s, &again); /* nothing else is in it, and nothing is left out */
	return memcmp(&again, t, sizeof(again)) == 0 ? 0 : -EINVAL;
}
