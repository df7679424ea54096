/* SPDX-License-Identifier: BSD-3-Clause */
/* "disable" of a link: how much corruption it may show (EDM 3.3). */
#include "config/cfg_write.h"
#include "pcs/mf_guard.h"

#define DISABLE(m) CFG_AT(struct mf_config_disable, m)
static const struct cfg_field disable_fields[] = {
	{.key = "bad", .kind = CFG_U32, DISABLE(bad), CFG_RANGE(0, MF_GUARD_MAX)},
	{.key = "within", .kind = CFG_TIME, DISABLE(within), CFG_RANGE(MF_NS(1), MF_SEC(3600))},
	{.key = "repair", .kind = CFG_TIME, DISABLE(repair), CFG_RANGE(0, MF_SEC(86400))},
	{0},
};

static int read_number(struct cfg *c, const json_t *json, uint32_t *bad)
{
	json_int_t n = json_integer_value(json);

	if (n < 1 || n > MF_GUARD_MAX)
		return cfg_fail(c, "%lld is out of range, 1 to %u", (long long)n, MF_GUARD_MAX);
	*bad = (uint32_t)n;
	return 0;
}

int cfg_disable(struct cfg *c, const json_t *link, struct mf_config_disable *d)
{
	const json_t *json = json_object_get(link, "disable");
	int rc = 0;

	if (json == NULL)
		return 0;
	*d = (struct mf_config_disable){.on = !json_is_false(json), .within = CFG_BY_LINE};
	if (!d->on)
		return 0;
	cfg_push(c, "disable");
	if (json_is_integer(json))
		rc = read_number(c, json, &d->bad);
	else if (json_is_object(json))
		rc = cfg_object(c, json, disable_fields, d);
	else
		rc = cfg_fail(c, "must be false, a number of bad blocks, or an object");
	cfg_pop(c);
	return rc;
}

void cfg_put_disable(struct put *p, json_t *link, const struct mf_config_disable *d)
{
	if (d->on)
		cfg_put_fields(p, cfg_put_set(p, link, "disable", json_object()), disable_fields, d);
}
