/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems/mf_layer.h"

/** Layer first: what the client asks next finds nothing of the node that was. */
static void lost(void *ctx, uint16_t node)
{
	struct mf_layer *l = ctx;

	l->ops->lost(l, node);
	if (l->restarted != NULL)
		l->restarted(l->ctx, node);
}

struct mf_layer *mf_layer_new(const struct mf_layer_ops *ops, struct mf_node *host,
			      const struct mf_layer_config *config)
{
	struct mf_layer *l = ops->create(config);

	if (l == NULL)
		return NULL;
	*l = (struct mf_layer){.ops = ops, .host = host};
	mf_node_on_restart(host, lost, l);
	return l;
}

void mf_layer_free(struct mf_layer *l)
{
	if (l == NULL)
		return;
	mf_node_on_restart(l->host, NULL, NULL);
	l->ops->destroy(l);
}
