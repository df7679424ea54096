/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/mf_table.h"
#include "systems/edm/switch/outstanding.h"

#define KINDS 2 /* writes and responses: their ids are apart */
#define PAIR_WORDS (KINDS * MF_IDS / 64)

int outstanding_init(struct mf_switch *sw)
{
	size_t pairs = (size_t)sw->shell.ports * sw->shell.ports;

	if (sw->limit.outstanding == 0)
		return 0;
	sw->outstanding = mf_table_new(sw->shell.ports, sizeof(*sw->outstanding));
	sw->demanded = mf_table_new(pairs * PAIR_WORDS, sizeof(*sw->demanded));
	return sw->outstanding != NULL && sw->demanded != NULL ? 0 : -ENOMEM;
}

void outstanding_fini(struct mf_switch *sw)
{
	mf_table_free(sw->outstanding);
	mf_table_free(sw->demanded);
}

static uint64_t *ids_of(const struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	return &sw->demanded[((size_t)cn * sw->shell.ports + mn) * PAIR_WORDS];
}

bool outstanding_take(struct mf_switch *sw, uint16_t cn, uint16_t mn, uint8_t id, bool resp)
{
	unsigned int bit = resp * MF_IDS + id;

	if (sw->outstanding == NULL || test_bit(ids_of(sw, cn, mn), bit))
		return true;
	if (sw->outstanding[cn] >= sw->limit.outstanding)
		return false;
	sw->outstanding[cn]++;
	set_bit(ids_of(sw, cn, mn), bit);
	return true;
}

void outstanding_over(struct mf_switch *sw, uint16_t src, uint16_t dst, uint8_t id, bool resp)
{
	uint16_t cn = resp ? dst : src, mn = resp ? src : dst;
	unsigned int bit = resp * MF_IDS + id;

	if (sw->outstanding == NULL || !test_bit(ids_of(sw, cn, mn), bit))
		return;
	sw->outstanding[cn]--;
	clear_bit(ids_of(sw, cn, mn), bit);
}

static void forget(struct mf_switch *sw, uint16_t cn, uint16_t mn)
{
	uint64_t *ids = ids_of(sw, cn, mn);

	for (unsigned int w = 0; w < PAIR_WORDS; w++) {
		sw->outstanding[cn] -= (uint32_t)__builtin_popcountll(ids[w]);
		ids[w] = 0;
	}
}

void outstanding_flush(struct mf_switch *sw, uint16_t port)
{
	for (uint16_t other = 0; sw->outstanding != NULL && other < sw->shell.ports; other++) {
		forget(sw, port, other);
		forget(sw, other, port);
	}
}
