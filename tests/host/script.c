/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>

#include "script.h"

static mf_time filter(void *ctx, const struct mf_msg *m)
{
	const struct script *s = ctx;

	return m->kind == s->kind ? s->fate : 0;
}

static void completed(void *ctx, unsigned int host, const struct mf_completion *c)
{
	struct script *s = ctx;

	(void)host;
	assert(s->count < SCRIPT_COMPLETIONS);
	s->done[s->count++] = *c;
	if (s->on_completion)
		s->on_completion(s, c);
}

struct script *script_new(const struct net_config *c)
{
	struct script *s = calloc(1, sizeof(*s));
	struct net_hooks hooks = {.ctx = s, .filter = filter, .completed = completed};

	s->net = net_new(c, &hooks);
	assert(s->net);
	return s;
}

void script_free(struct script *s)
{
	net_free(s->net);
	free(s);
}

int script_op(struct script *s, unsigned int host, const struct mf_op *op)
{
	return mf_host_submit(s->net->host[host], s->net->now, op);
}

struct mf_completion script_do(struct script *s, unsigned int host, const struct mf_op *op)
{
	unsigned int before = s->count;
	int err = script_op(s, host, op);

	assert(!err);
	net_run(s->net, s->net->now + MF_SEC(1));
	assert(s->count == before + 1);
	return s->done[before];
}
