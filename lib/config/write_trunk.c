/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between switches, in few entries where names and counts allow it; then those between two nodes. The
 * reader sorts them by their switches, so only the links of one pair have to be written in order.
 */
#include <string.h>

#include "config/cfg_write.h"

static json_t *put_link(struct put *p, const char *a, const char *b, const struct mf_config_link *link,
			unsigned int count)
{
	json_t *json = json_object(), *between = cfg_put_set(p, json, "between", json_array());

	cfg_put_append(p, between, json_string(a));
	cfg_put_append(p, between, json_string(b));
	cfg_put_set(p, json, "count", json_integer(count));
	cfg_put_fields(p, json, cfg_link_fields, link);
	if (link->policy != MF_MUX_FAIR)
		json_object_del(json, "quantum");
	cfg_put_disable(p, json, &link->disable);
	cfg_put_tunnel(p, json, true, &link->llr);
	return json;
}

/* Whether two links are written alike. */
static bool alike(struct put *p, const struct mf_config_link *a, const struct mf_config_link *b)
{
	json_t *one, *other;
	bool equal;

	if (memcmp(a, b, sizeof(*a)) == 0)
		return true;
	one = put_link(p, "", "", a, 1);
	other = put_link(p, "", "", b, 1);
	equal = json_equal(one, other);
	json_decref(one);
	json_decref(other);
	return equal;
}

/* The links of two switches, a < b; they follow each other. */
struct pair {
	const struct mf_config_trunk *first;
	unsigned int n;
};

static bool is_before(const struct mf_config_trunk *t, unsigned int a, unsigned int b)
{
	return t->a < a || (t->a == a && t->b < b);
}

/* Links between switches: they come first. */
static unsigned int between_switches(const struct mf_config *config)
{
	unsigned int n = config->trunks;

	while (n > 0 && config->trunk[n - 1].direct)
		n--;
	return n;
}

static struct pair pair_of(const struct mf_config *config, unsigned int a, unsigned int b)
{
	unsigned int low = 0, trunks = between_switches(config), high = trunks;
	struct pair pair;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (is_before(&config->trunk[middle], a, b))
			low = middle + 1;
		else
			high = middle;
	}
	pair = (struct pair){.first = config->trunk + low};
	while (low + pair.n < trunks && pair.first[pair.n].a == a && pair.first[pair.n].b == b)
		pair.n++;
	return pair;
}

static bool pairs_alike(struct put *p, struct pair a, struct pair b)
{
	if (a.n != b.n)
		return false;
	for (unsigned int i = 0; i < a.n; i++)
		if (!alike(p, &a.first[i].link, &b.first[i].link))
			return false;
	return true;
}

static void put_pair(struct put *p, json_t *links, const char *a, const char *b, struct pair pair)
{
	for (unsigned int i = 0, n; i < pair.n; i += n) {
		for (n = 1; i + n < pair.n && n < MF_CONFIG_PARALLEL_MAX; n++)
			if (!alike(p, &pair.first[i].link, &pair.first[i + n].link))
				break;
		cfg_put_append(p, links, put_link(p, a, b, &pair.first[i].link, n));
	}
}

/* An entry of "switches" and where its switches begin in switch_list. */
struct part {
	const struct mf_config_group *group;
	unsigned int first;
};

/* @return whether all pairs of two entries have the same links; *pair is one of them */
static bool is_regular(struct put *p, const struct part *a, const struct part *b, struct pair *pair)
{
	bool found = false;

	for (unsigned int i = a->first; i < a->first + a->group->count; i++)
		for (unsigned int k = a == b ? i + 1 : b->first; k < b->first + b->group->count; k++) {
			struct pair one = pair_of(p->config, i, k);

			if (found && !pairs_alike(p, *pair, one))
				return false;
			*pair = one;
			found = true;
		}
	return true;
}

/* One entry does where all switches of two entries have the same links. */
static void put_parts(struct put *p, json_t *links, const struct part *a, const struct part *b)
{
	const struct mf_config_switch *sw = p->config->switch_list;
	struct pair pair = {0};

	if (is_regular(p, a, b, &pair)) {
		put_pair(p, links, a->group->name, b->group->name, pair);
		return;
	}
	for (unsigned int i = a->first; i < a->first + a->group->count; i++)
		for (unsigned int k = a == b ? i + 1 : b->first; k < b->first + b->group->count; k++)
			put_pair(p, links, sw[i].name, sw[k].name, pair_of(p->config, i, k));
}

/* A link between two nodes. */
static void put_direct(struct put *p, json_t *links, const struct mf_config_trunk *t)
{
	json_t *json = put_link(p, mf_config_trunk_end(p->config, t, 0), mf_config_trunk_end(p->config, t, 1),
				&t->link, 1);

	json_object_del(json, "count");
	if (mf_config_has_tiers(p->config))
		cfg_put_set(p, json, "tier", json_string(p->config->tier[t->tier].name));
	cfg_put_append(p, links, json);
}

void cfg_put_trunks(struct put *p, json_t *links)
{
	const struct mf_config *config = p->config;
	struct part part[MF_CONFIG_SWITCH_LIST_MAX];
	unsigned int first = 0;

	for (unsigned int g = 0; g < config->switch_groups; g++) {
		part[g] = (struct part){&config->switch_group[g], first};
		first += part[g].group->count;
		for (unsigned int i = 0; i <= g && between_switches(config) > 0; i++)
			put_parts(p, links, &part[i], &part[g]);
	}
	for (unsigned int i = between_switches(config); i < config->trunks; i++)
		put_direct(p, links, &config->trunk[i]);
}
