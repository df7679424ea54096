/* SPDX-License-Identifier: BSD-3-Clause */
/* fabric=FILE[,node=NAME][,target=NAME][,window=OCTETS][,space=FILE][,workload=0|1][,only=0|1] */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_kvargs.h>

#include "dma.h"

/** Where a value goes, and whose it is. */
struct taker {
	const char *name;
	void *out;
};

static int take_text(const char *key, const char *value, void *opaque)
{
	const struct taker *t = opaque;
	char **text = t->out;

	if (value == NULL || *value == '\0') {
		DMA_LOG(ERR, t->name, "%s: has no value", key);
		return -EINVAL;
	}
	*text = strdup(value);
	return *text != NULL ? 0 : -ENOMEM;
}

static int take_bool(const char *key, const char *value, void *opaque)
{
	const struct taker *t = opaque;
	bool *flag = t->out;

	if (value == NULL || (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)) {
		DMA_LOG(ERR, t->name, "%s: is 0 or 1", key);
		return -EINVAL;
	}
	*flag = *value == '1';
	return 0;
}

static int take_octets(const char *key, const char *value, void *opaque)
{
	const struct taker *t = opaque;
	uint64_t *octets = t->out;
	char *end = NULL;

	if (value != NULL && *value >= '0' && *value <= '9') {
		errno = 0;
		*octets = strtoull(value, &end, strncmp(value, "0x", 2) == 0 ? 16 : 10);
	}
	if (end == NULL || *end != '\0' || errno != 0 || *octets == 0) {
		DMA_LOG(ERR, t->name, "%s: is a number of octets above 0", key);
		return -EINVAL;
	}
	return 0;
}

int dma_args_parse(const char *name, const char *text, struct dma_args *args)
{
	static const struct {
		const char *key;
		arg_handler_t take;
		size_t at;
	} key[] = {
		{"fabric", take_text, offsetof(struct dma_args, fabric)},
		{"node", take_text, offsetof(struct dma_args, node)},
		{"target", take_text, offsetof(struct dma_args, target)},
		{"window", take_octets, offsetof(struct dma_args, window)},
		{"space", take_text, offsetof(struct dma_args, space)},
		{"workload", take_bool, offsetof(struct dma_args, workload)},
		{"only", take_bool, offsetof(struct dma_args, only)},
	};
	static const char *const keys[] = {"fabric", "node",     "target", "window",
					   "space",  "workload", "only",   NULL};
	struct rte_kvargs *list = rte_kvargs_parse(text != NULL ? text : "", keys);
	int rc = 0;

	if (list == NULL) {
		DMA_LOG(ERR, name,
			"takes fabric=, node=, target=, window=, space=, workload=, only=, not '%s'", text);
		return -EINVAL;
	}
	for (size_t i = 0; i < RTE_DIM(key) && rc == 0; i++) {
		struct taker t = {.name = name, .out = (char *)args + key[i].at};
		unsigned int n = rte_kvargs_count(list, key[i].key);

		if (n == 1)
			rc = rte_kvargs_process(list, key[i].key, key[i].take, &t);
		else if (n > 1 || i == 0)
			rc = -EINVAL;
		if (rc != 0 && n != 1)
			DMA_LOG(ERR, name, "%s=: is %s", key[i].key,
				n > 1 ? "given more than once" : "needed");
	}
	if (rc == 0 && args->only && args->node == NULL) {
		DMA_LOG(ERR, name, "only=1 needs node=");
		rc = -EINVAL;
	}
	if (rc == 0 && args->space != NULL && (args->target != NULL || args->window != 0)) {
		DMA_LOG(ERR, name, "space=: pointers of a space name their target; without target=, window=");
		rc = -EINVAL;
	}
	rte_kvargs_free(list);
	return rc;
}

void dma_args_free(struct dma_args *args)
{
	free(args->fabric);
	free(args->node);
	free(args->target);
	free(args->space);
}
