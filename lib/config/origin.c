/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an entry that a rack has made comes from: its place in the template, for messages. */
#include <string.h>

#include "config/cfg.h"

/* The place in the template of what is read now, in the place of that in the section. */
static unsigned int put_origin(struct cfg_step *out, const struct cfg_origin *o, const char *section)
{
	out[0] = (struct cfg_step){.key = "racks"};
	out[1] = (struct cfg_step){.index = o->rack};
	out[2] = (struct cfg_step){.key = "of"};
	out[3] = (struct cfg_step){.key = section};
	return 4;
}

unsigned int cfg_steps(const struct cfg *c, struct cfg_step out[CFG_DEPTH + 3])
{
	unsigned int n = 0, from = 0;

	for (int s = 0; s < CFG_RACK_SECTIONS && n == 0; s++) {
		const struct cfg_rack_section *r = &c->racks.section[s];
		bool entry = c->depth >= 2 && c->step[1].key == NULL;

		if (c->depth == 0 || r->origins == 0 || c->step[0].key == NULL ||
		    strcmp(c->step[0].key, cfg_rack_sections[s]) != 0)
			continue;
		if (entry && c->step[1].index >= r->own && c->step[1].index - r->own < r->origins) {
			const struct cfg_origin *o = &r->origin[c->step[1].index - r->own];

			n = put_origin(out, o, cfg_rack_sections[s]);
			out[n++] = (struct cfg_step){.index = o->entry};
			from = 2;
		} else if (!entry && !r->there) {
			n = put_origin(out, &r->origin[0], cfg_rack_sections[s]);
			from = 1;
		}
	}
	memcpy(out + n, c->step + from, (c->depth - from) * sizeof(*out));
	return n + c->depth - from;
}
