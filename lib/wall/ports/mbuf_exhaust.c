/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port whose pools are empty (fault "exhaust"): what is free of their mbufs is taken away. What comes free
 * meanwhile is there to be used.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "wall/ports/mf_port.h"

int port_exhaust_init(struct wall_port *p)
{
	if (p->taken == NULL)
		p->taken = calloc(p->rx_pool->size + p->tx_pool->size, sizeof(struct rte_mbuf *));
	return p->taken != NULL ? 0 : -ENOMEM;
}

static void take_from(struct wall_port *p, struct rte_mempool *pool)
{
	void *m;

	while (rte_mempool_get(pool, &m) == 0)
		p->taken[p->takens++] = m;
}

void port_exhaust(struct wall_port *p, bool on)
{
	if (on) {
		take_from(p, p->rx_pool);
		take_from(p, p->tx_pool);
		return;
	}
	while (p->takens > 0) {
		struct rte_mbuf *m = p->taken[--p->takens];

		rte_mempool_put(m->pool, m);
	}
}

void port_exhaust_fini(struct wall_port *p)
{
	port_exhaust(p, false);
	free(p->taken);
	p->taken = NULL;
}
