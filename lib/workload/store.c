/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the records of a store lie. */
#include "workload/mf_workload.h"
#include "workload/store_value.h"

/** Records at each target: as many as at the fullest. */
static uint64_t share(const struct mf_store *s)
{
	return (mf_store_room(s) + s->targets - 1) / s->targets;
}

uint64_t mf_store_extent(const struct mf_store *s)
{
	return share(s) * mf_store_record(s);
}

void mf_store_find(const struct mf_store *s, uint64_t key, uint32_t *target, uint64_t *offset)
{
	uint64_t per = s->place == MF_STORE_RANGE ? share(s) : s->targets, high = key / per, low = key % per;

	*target = (uint32_t)(s->place == MF_STORE_RANGE ? high : low);
	*offset = (s->place == MF_STORE_RANGE ? low : high) * mf_store_record(s);
}

uint64_t store_key(const struct mf_store *s, uint32_t target, uint64_t offset)
{
	uint64_t n = offset / mf_store_record(s);

	return s->place == MF_STORE_RANGE ? target * share(s) + n : n * s->targets + target;
}

uint64_t store_step(const struct mf_store *s)
{
	return s->place == MF_STORE_RANGE ? 1 : s->targets;
}

uint32_t mf_store_scan_parts(const struct mf_store *s, uint32_t records)
{
	uint64_t parts = s->place == MF_STORE_RANGE ? (records - 1) / share(s) + 2 : records;

	return parts < s->targets ? (uint32_t)parts : s->targets;
}

uint64_t mf_store_scan_octets(const struct mf_store *s, uint32_t records)
{
	uint64_t most = s->place == MF_STORE_RANGE ? records : (records + s->targets - 1) / s->targets;

	return (most < share(s) ? most : share(s)) * mf_store_record(s);
}

/** Records of part i of a range: up to the end of its target. */
static uint64_t range_part(const struct mf_store *s, uint64_t key, uint32_t records, uint32_t i,
			   uint64_t *first)
{
	uint64_t per = share(s), end = key + records, node = key / per + i;
	uint64_t from = i == 0 ? key : node * per, to = (node + 1) * per;

	*first = from;
	to = to < end ? to : end;
	return from < to ? to - from : 0;
}

uint64_t mf_store_scan_part(const struct mf_store *s, uint64_t key, uint32_t records, uint32_t i,
			    uint32_t *target, uint64_t *offset)
{
	uint64_t first = key + i, n;

	if (s->place == MF_STORE_RANGE)
		n = range_part(s, key, records, i, &first);
	else
		n = i < records ? (records - i + s->targets - 1) / s->targets : 0;
	if (n > 0)
		mf_store_find(s, first, target, offset);
	return n * mf_store_record(s);
}

void mf_store_fill(const struct mf_store *s, uint64_t key, void *record)
{
	for (uint32_t f = 0; f < s->fields; f++)
		store_put((uint8_t *)record + f * s->field, s->field, store_cell(s, key, f), STORE_LOADED);
}
