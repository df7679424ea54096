/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that is an address space (Clio 3.1), which it joins by a token. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dma.h"

#define STAGES ((uint64_t)VCHANS_MAX * STAGE)
#define NODE_BITS 48 /* of a pointer: the memory node is above them */

bool dma_space_has(uint64_t pointer, uint32_t length)
{
	uint64_t addr = pointer & ((UINT64_C(1) << NODE_BITS) - 1);

	return pointer != 0 && addr + length <= UINT64_C(1) << NODE_BITS;
}

/** Reads the token at the beginning of a file. What a program has put behind it is left alone. */
static int read_token(const struct dma_device *d, const char *path, struct memfab_token *token)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	if (file == NULL) {
		DMA_LOG(ERR, d->name, "space=%s: %s", path, strerror(errno));
		return -ENOENT;
	}
	n = fread(token, 1, sizeof(*token), file);
	fclose(file);
	if (n == sizeof(*token))
		return 0;
	DMA_LOG(ERR, d->name, "space=%s: a token has %zu octets, not %zu", path, sizeof(*token), n);
	return -EINVAL;
}

int dma_space_open(struct dma_device *d, const char *path)
{
	struct memfab_token token;
	char err[MEMFAB_ERR_LEN];
	int rc = read_token(d, path, &token);

	if (rc != 0)
		return rc;
	rc = memfab_queue_new(d->fabric, d->node, 1, &d->queue, err, sizeof(err));
	if (rc != 0) {
		DMA_LOG(ERR, d->name, "%s", err);
		return rc;
	}
	rc = memfab_space_join(d->queue, &token, &d->space);
	if (rc != 0) {
		DMA_LOG(ERR, d->name, "space=%s: %s", path,
			rc == -EINVAL ? "this is no token of a space of the fabric" : memfab_strerror(rc));
		return rc;
	}
	/* Who may not write, or finds no room, has no copies from memory to memory. */
	d->staging = memfab_ralloc(d->queue, d->space, STAGES, 0, &d->stages) == 0;
	return 0;
}

void dma_space_close(struct dma_device *d)
{
	if (d->staging && d->space != NULL)
		memfab_rfree(d->queue, d->space, d->stages, STAGES);
	if (d->space != NULL)
		memfab_space_end(d->queue, d->space);
	memfab_queue_free(d->queue);
	d->space = NULL;
	d->queue = NULL;
	d->staging = false;
}
