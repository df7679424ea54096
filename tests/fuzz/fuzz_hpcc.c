/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of HPCC's topology files. Any bytes are either refused in one line that names a line, or
 * what they mean can be written and read again.
 */
#include <inttypes.h>

#include "input.h"
#include "topology/mf_hpcc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** @return NULL: it was refused */
static struct mf_hpcc *parse(const char *text, size_t len)
{
	char err[MF_HPCC_ERROR] = "";
	struct mf_hpcc *h = NULL;

	if (mf_hpcc_parse(text, len, &h, err, sizeof(err)) == 0)
		return h;
	require(strncmp(err, "line ", 5) == 0 && strlen(err) > 8);
	for (const char *c = err; *c != '\0'; c++)
		require(*c >= ' ' && *c < 0x7f);
	return NULL;
}

static void check(const struct mf_hpcc *h)
{
	uint32_t switches = 0;

	require(h->nodes > 0 && h->nodes <= MF_HPCC_NODES);
	for (uint32_t i = 0; i < h->nodes; i++)
		switches += h->is_switch[i];
	require(switches == h->switches);
	for (uint32_t i = 0; i < h->links; i++) {
		const struct mf_hpcc_link *l = &h->link[i];

		require(l->node[0] < h->nodes && l->node[1] < h->nodes && l->node[0] != l->node[1]);
		require(l->rate > 0 && l->rate <= INT64_MAX && l->delay <= INT64_MAX);
		require(l->loss >= 0 && l->loss <= 1);
	}
}

static char *write_text(const struct mf_hpcc *h, size_t *len)
{
	char *text;
	FILE *out = open_memstream(&text, len);

	require(out != NULL);
	fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", h->nodes, h->switches, h->links);
	for (uint32_t i = 0; i < h->nodes; i++) {
		if (h->is_switch[i])
			fprintf(out, "%" PRIu32 " ", i);
	}
	for (uint32_t i = 0; i < h->links; i++)
		fprintf(out, "\n%" PRIu32 " %" PRIu32 " %" PRIu64 "bps %" PRIu64 "ps %.17g",
			h->link[i].node[0], h->link[i].node[1], h->link[i].rate, h->link[i].delay,
			h->link[i].loss);
	require(fclose(out) == 0);
	return text;
}

static void require_same(const struct mf_hpcc *a, const struct mf_hpcc *b)
{
	require(a->nodes == b->nodes && a->switches == b->switches && a->links == b->links);
	require(memcmp(a->is_switch, b->is_switch, a->nodes * sizeof(*a->is_switch)) == 0);
	for (uint32_t i = 0; i < a->links; i++) {
		const struct mf_hpcc_link *x = &a->link[i], *y = &b->link[i];

		require(x->node[0] == y->node[0] && x->node[1] == y->node[1] && x->rate == y->rate);
		require(x->delay == y->delay && !(x->loss < y->loss) && !(x->loss > y->loss));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mf_hpcc *h = parse((const char *)data, size), *again;
	size_t len;
	char *text;

	if (h == NULL)
		return 0;
	check(h);
	text = write_text(h, &len);
	again = parse(text, len);
	require(again != NULL);
	require_same(h, again);
	free(text);
	mf_hpcc_free(again);
	mf_hpcc_free(h);
	return 0;
}
