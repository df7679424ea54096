/* SPDX-License-Identifier: BSD-3-Clause */
/* Now and then clients ask for records of a store that all of them share, instead of words of their own. */
#include "generate.h"

#define SHARE 0.1 /* of cases */
#define INSERTS 8 /* of each client */

/**
 * A query is several messages at once and counts on the order of a pair, and a client does not know enough
 * yet of records whose writes have failed. So there is no store where messages are lost or come twice.
 */
bool generate_store(struct draft *d)
{
	static const char *const name[] = {"A", "B", "C", "D", "E", "F"};
	uint64_t records, fields, field, scan = 1, kind = draw(d->rng, 6);
	json_t *w, *all;

	if (!draft_keeps_order(d) || d->has[MF_FAULT_DUPLICATE] || !draw_often(d->rng, SHARE))
		return false;
	all = json_array();
	w = json_object();
	json_array_append_new(all, w);
	json_object_set_new(d->json, "workload", all);
	records = draw_from(d->rng, 2, 64);
	fields = draw_from(d->rng, 1, 4);
	field = 8 * draw_from(d->rng, 3, 25); /* else chunks part words, and histories are of whole ones */
	put_text(w, "ycsb", name[kind]);
	put_number(w, "records", records);
	put_number(w, "fields", fields);
	put_number(w, "field", field);
	put_bool(w, "acknowledge", true);
	put_number(w, "depth", d->depth);
	if (name[kind][0] == 'D' || name[kind][0] == 'E')
		put_number(w, "inserts", INSERTS);
	if (name[kind][0] == 'E')
		put_number(w, "scan", scan = draw_from(d->rng, 1, records < 8 ? records : 8));
	if (d->strangers != NULL)
		json_object_set(w, "nodes", d->askers);
	d->store = true;
	d->octets = fields * field * scan * 2;
	d->span = (records + INSERTS) * fields * (field + 64);
	return true;
}
