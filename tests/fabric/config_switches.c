/* SPDX-License-Identifier: BSD-3-Clause */
/* Several switches in the fabric file: what it makes of them, and that all of it is written again. */
#include <errno.h>

#include "base/mf_rng.h"
#include "config/mf_config_query.h"

#include "config_back.h"

#define FOLDER "fabric/switches"

static const char *const files[] = {"leaf_spine.json", "two_racks.json", "one.json", "fat_tree.json",
				    "carried.json"};
#define FILES (sizeof(files) / sizeof(files[0]))

static void assert_link(const struct mf_config_link *l, uint32_t period, mf_time propagation)
{
	cr_expect_eq(l->period, period);
	cr_expect_eq(l->propagation, propagation);
	cr_expect_not(l->disable.on);
	cr_expect(l->llr.port[0] == -1 && l->llr.port[1] == -1 && !l->llr.pace);
}

static void assert_trunk(const struct mf_config_trunk *t, unsigned int a, unsigned int b, uint32_t period,
			 mf_time propagation)
{
	cr_expect(t->a == a && t->b == b, "%u-%u, not %u-%u", t->a, t->b, a, b);
	assert_link(&t->link, period, propagation);
}

Test(config_switches, leaves_and_spines)
{
	static const char *const names[] = {"leaf0", "leaf1", "spine0", "spine1"};
	struct mf_config_switch_set set;
	struct mf_config c;

	load(&c, FOLDER, "leaf_spine.json");
	cr_assert_eq(c.switches, 4);
	for (unsigned int i = 0; i < 4; i++) {
		const struct mf_config_switch *s = &c.switch_list[i];

		cr_expect_str_eq(s->name, names[i]);
		cr_expect_eq(s->l2_latency, i < 2 ? MF_NS(500) : MF_NS(300));
		cr_expect_eq(s->frames, i < 2 ? 512 : 2048);
		cr_expect_eq(s->frame_queue, i < 2 ? 512 << 10 : 256 << 10);
		cr_expect_eq(mf_config_switches(&c, names[i], &set), 1);
		cr_expect(mf_config_has_switch(&set, i));
	}
	cr_expect_eq(c.switch_list[0].ports, 3 + 1 + 1 + 1 + 4 + 1);
	cr_expect_eq(c.switch_list[1].ports, 3 + 1 + 1 + 1 + 4);
	cr_expect_eq(c.switch_list[2].ports, 4);
	cr_expect_eq(c.switch_list[3].ports, 5);
	cr_assert_eq(c.switch_groups, 2);
	cr_expect(strcmp(c.switch_group[0].name, "leaf") == 0 && c.switch_group[0].count == 2);
	cr_expect(strcmp(c.switch_group[1].name, "spine") == 0 && c.switch_group[1].count == 2);
	cr_expect(mf_config_switches(&c, "leaf", &set) == 2 && set.word[0] == 3);
	cr_expect(mf_config_switches(&c, "spine", &set) == 2 && set.word[0] == 12);
	cr_expect_eq(mf_config_switches(&c, "cn", &set), 0);
	cr_expect_eq(c.routing, MF_ROUTING_HASH);
	cr_expect_eq(c.tier->sw.l2_latency, MF_NS(500));
	mf_config_free(&c);
}

/** Each port is at the switch that stands at its place, whichever of the two comes first in the file. */
Test(config_switches, links_between_that_ports_carry)
{
	struct mf_config c;
	const struct mf_config_llr *l;

	load(&c, FOLDER, "carried.json");
	cr_assert_eq(c.trunks, 3);
	for (unsigned int i = 0; i < 2; i++) {
		l = &c.trunk[i].link.llr;
		cr_expect(c.trunk[i].a == 0 && c.trunk[i].b == 2);
		cr_expect(l->port[0] == 0 && l->port[1] == 1, "p at tor0, q at spine");
		cr_expect(l->carry == MF_CARRY_AUTO && l->hello == MF_MS(20) && l->silence == MF_SEC(1));
	}
	l = &c.trunk[2].link.llr;
	cr_expect(c.trunk[2].a == 1 && c.trunk[2].b == 2);
	cr_expect(l->port[0] == 2 && l->port[1] == 2 && l->carry == MF_CARRY_ALWAYS);
	mf_config_free(&c);
}

Test(config_switches, nodes_at_leaves)
{
	/* By number, which "links" has set: host, cn0 to cn5, mn0, mn1, plain. */
	static const char *const names[] = {"host", "cn0", "cn1", "cn2", "cn3",
					    "cn4",  "cn5", "mn0", "mn1", "plain"};
	static const uint16_t to[] = {1, 0, 0, 0, 1, 1, 1, 0, 1, 0};
	struct mf_config c;

	load(&c, FOLDER, "leaf_spine.json");
	cr_assert_eq(c.nodes, 10);
	cr_assert_eq(c.slots, 10);
	for (unsigned int i = 0; i < 10; i++) {
		cr_expect_str_eq(c.node[i].name, names[i]);
		cr_expect_eq(c.node[i].to, to[i], "%s", names[i]);
		cr_expect_eq(c.node[i].link.period, i == 0 ? 1280 : 2560);
		cr_expect_eq(c.node[i].link.propagation, MF_NS(20));
		cr_expect(c.node[i].link.disable.on && c.node[i].link.disable.bad == 4);
	}
	mf_config_free(&c);
}

Test(config_switches, links_between)
{
	struct mf_config c;
	const struct mf_config_trunk *t;

	load(&c, FOLDER, "leaf_spine.json");
	cr_assert_eq(c.trunks, 10);
	t = c.trunk;
	assert_trunk(&t[0], 0, 1, 1600, MF_NS(20));
	assert_trunk(&t[1], 0, 2, 640, MF_NS(50));
	assert_trunk(&t[2], 0, 2, 640, MF_NS(50));
	assert_trunk(&t[3], 0, 3, 640, MF_NS(50));
	assert_trunk(&t[4], 0, 3, 640, MF_NS(50));
	assert_trunk(&t[5], 0, 3, 6400, MF_NS(20));
	for (unsigned int i = 6; i < 10; i++)
		assert_trunk(&t[i], 1, i < 8 ? 2 : 3, 640, MF_NS(50));
	for (unsigned int i = 0; i < 10; i++) {
		cr_expect_eq(t[i].link.policy, i == 0 ? MF_MUX_MEMORY_FIRST : MF_MUX_FAIR);
		cr_expect_eq(t[i].link.quantum, i == 5 ? 8 : 16);
		cr_expect_eq(t[i].link.scramble, i == 0);
		cr_expect_eq(t[i].link.align8, i == 5);
		cr_expect_eq(t[i].link.ber_window, i == 5 ? MF_US(1) : MF_US(125));
		cr_expect_eq(t[i].link.ring, i == 0 || i == 5 ? 16 : 64);
	}
	mf_config_free(&c);
}

/* A stack that works with one switch only may name it. */
Test(config_switches, one_switch)
{
	struct mf_config c;

	load(&c, FOLDER, "one.json");
	cr_assert_eq(c.switches, 1);
	cr_expect_eq(c.trunks, 0);
	cr_expect_eq(c.nodes, 4);
	cr_expect_eq(c.switch_list[0].ports, 4);
	cr_expect_eq(c.switch_list[0].l2_latency, MF_NS(400));
	mf_config_free(&c);
}

Test(config_switches, without_them_nothing_is_there)
{
	struct mf_config c;
	char *text;

	load(&c, "fabric/good", "groups.json");
	cr_expect_eq(c.switches + c.trunks + c.switch_groups, 0);
	cr_expect(c.switch_list == NULL && c.switch_group == NULL && c.trunk == NULL);
	for (unsigned int i = 0; i < c.slots; i++)
		cr_expect_eq(c.node[i].to, 0);
	text = effective(&c);
	cr_expect_null(strstr(text, "switches"));
	cr_expect_null(strstr(text, "routing"));
	cr_expect_null(strstr(text, "ends"));
	free(text);
	mf_config_free(&c);
}

Test(config_switches, effective_configuration_reads_back)
{
	for (size_t i = 0; i < FILES; i++) {
		struct mf_config c;

		load(&c, FOLDER, files[i]);
		assert_reads_back(&c, files[i]);
		mf_config_free(&c);
	}
}

static size_t entries_of(const struct mf_config *c, const char *key)
{
	json_t *json = mf_config_to_json(c);
	size_t n = json_array_size(json_object_get(json, key));

	json_decref(json);
	return n;
}

/* Names and counts stay together where they can. */
Test(config_switches, written_in_few_entries)
{
	struct mf_config c;

	load(&c, FOLDER, "two_racks.json");
	cr_expect_eq(entries_of(&c, "switches"), 2);
	cr_expect_eq(entries_of(&c, "links"), 2 + 1);
	mf_config_free(&c);
	load(&c, FOLDER, "fat_tree.json");
	cr_expect_eq(entries_of(&c, "switches"), 9);
	cr_expect_eq(entries_of(&c, "links"), 4 + 4 + 16);
	mf_config_free(&c);
}

static const char head[] =
	"{\"stack\": \"rocev2\", \"switches\": [%s],\n \"nodes\": [{\"name\": \"c\", \"count\": %u, "
	"\"role\": \"both\", \"ends\": [{\"to\": \"%s\"}]}],\n \"links\": [%s]}";

static int parse_of(struct mf_config *c, char *err, const char *switches, unsigned int nodes, const char *to,
		    const char *links)
{
	char text[1024];

	cr_assert_lt((size_t)snprintf(text, sizeof(text), head, switches, nodes, to, links), sizeof(text));
	return parse(text, c, err, 512);
}

/* Every number of nodes for every number of switches: equal parts, or the counts that are. */
Test(config_switches, nodes_are_dealt_in_equal_parts)
{
	for (unsigned int switches = 2; switches <= 9; switches++) {
		for (unsigned int nodes = 2; nodes <= 40; nodes++) {
			char err[512] = "", some[64], want[64];
			struct mf_config c;
			int rc;

			snprintf(some, sizeof(some), "{\"name\": \"s\", \"count\": %u}", switches);
			rc = parse_of(&c, err, some, nodes, "s", "{\"between\": [\"s\", \"s\"]}");
			if (nodes % switches != 0) {
				unsigned int less = nodes / switches * switches;

				if (less > 0)
					snprintf(want, sizeof(want), ": %u and %u are", less,
						 less + switches);
				else
					snprintf(want, sizeof(want), ": %u is", switches);
				cr_assert_eq(rc, -EINVAL);
				cr_assert(strstr(err, "x:2: nodes[0].ends[0].to: ") == err, "%s", err);
				cr_assert_str_eq(err + strlen(err) - strlen(want), want, "%s", err);
				continue;
			}
			cr_assert_eq(rc, 0, "%s", err);
			for (unsigned int i = 0; i < nodes; i++)
				cr_assert_eq(c.node[i].to, i * switches / nodes);
			cr_assert_eq(c.trunks, switches * (switches - 1) / 2);
			for (unsigned int i = 0; i < switches; i++)
				cr_assert_eq(c.switch_list[i].ports, nodes / switches + switches - 1);
			mf_config_free(&c);
		}
	}
}

Test(config_switches, as_many_ports_as_there_can_be)
{
	static const char
		two[] = "{\"name\": \"a\"}, {\"name\": \"b\"}",
		link[] = "{\"between\": [\"a\", \"b\"], \"count\": 64}, {\"between\": [\"b\", \"a\"]}";
	char err[512] = "";
	struct mf_config c;

	cr_assert_eq(parse_of(&c, err, two, 4096 - 65, "b", link), 0, "%s", err);
	cr_expect_eq(c.switch_list[0].ports, 65);
	cr_expect_eq(c.switch_list[1].ports, 4096);
	cr_expect_eq(c.trunks, 65);
	assert_reads_back(&c, "4096 ports");
	mf_config_free(&c);
	cr_assert_eq(parse_of(&c, err, two, 4096 - 64, "b", link), -EINVAL);
	cr_expect_str_eq(err, "x:3: links[1]: switch 'b' has 4097 ports with it, at most 4096");
}

/* 512 switches, each with a link to each. */
Test(config_switches, the_largest_fabric)
{
	char err[512] = "";
	struct mf_config c;

	cr_assert_eq(parse_of(&c, err, "{\"name\": \"s\", \"count\": 512}", 512, "s",
			      "{\"between\": [\"s\", \"s\"]}"),
		     0, "%s", err);
	cr_expect_eq(c.trunks, 512 * 511 / 2);
	cr_expect_eq(c.switch_list[511].ports, 512);
	cr_expect_eq(c.node[511].to, 511);
	cr_expect_eq(entries_of(&c, "links"), 2);
	assert_reads_back(&c, "512 switches");
	mf_config_free(&c);
}

/* What all processes of a fabric must have the same. */
Test(config_switches, fingerprint)
{
	static const struct {
		const char *from, *to;
		bool differs;
	} changes[] = {
		{"\"rate\": \"100G\"", "\"rate\": \"50G\"", false},
		{"\"ring\": 64", "\"ring\": 32", false},
		{"\"propagation\": \"50ns\"", "\"propagation\": \"60ns\"", true},
		{"\"count\": 2, \"rate\"", "\"count\": 3, \"rate\"", true},
		{"\"to\": \"leaf1\"", "\"to\": \"spine1\"", true},
		{"\"leaf0\", \"spine1\"", "\"leaf1\", \"spine1\"", true},
		{"\"l2_latency\": \"300ns\"", "\"l2_latency\": \"301ns\"", true},
		{"\"name\": \"plain\"", "\"name\": \"plane\"", true},
	};
	size_t len;
	char *text = slurp(FOLDER, "leaf_spine.json", &len), *copy = malloc(len + 64), err[512] = "";
	struct mf_config c;
	uint64_t before = 0, after;

	cr_assert_not_null(copy);
	cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s", err);
	cr_assert_eq(mf_config_fingerprint(&c, &before), 0);
	mf_config_free(&c);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char *at = strstr(text, changes[i].from);

		cr_assert_not_null(at, "%s", changes[i].from);
		snprintf(copy, len + 64, "%.*s%s%s", (int)(at - text), text, changes[i].to,
			 at + strlen(changes[i].from));
		if (strstr(copy, "\"from\": \"plain\"") != NULL && strstr(changes[i].to, "plane") != NULL)
			memcpy(strstr(copy, "\"from\": \"plain\""), "\"from\": \"plane\"", 15);
		cr_assert_eq(parse(copy, &c, err, sizeof(err)), 0, "%s: %s", changes[i].to, err);
		cr_assert_eq(mf_config_fingerprint(&c, &after), 0);
		cr_expect_eq(before != after, changes[i].differs, "%s", changes[i].to);
		mf_config_free(&c);
	}
	free(text);
	free(copy);
}

#define GROUPS 5
#define ENTRIES 12
#define SWITCHES_MAX (GROUPS * 4)

/** A graph that is drawn, and what must come of it. */
struct drawn {
	unsigned int count[GROUPS], first[GROUPS + 1];
	char entry[ENTRIES][128]; /* of "links" */
	unsigned int links[SWITCHES_MAX][SWITCHES_MAX]; /* a < b */
};

/** A name of an entry, or of one of its switches. */
static void draw_name(struct mf_rng *r, const struct drawn *d, unsigned int group, char *name,
		      unsigned int *from, unsigned int *n)
{
	unsigned int one = (unsigned int)mf_rng_below(r, d->count[group]);
	bool all = d->count[group] == 1 || mf_rng_below(r, 2) == 0;

	snprintf(name, 16, all ? "g%u-" : "g%u-%u", group, one);
	*from = d->first[group] + (all ? 0 : one);
	*n = all ? d->count[group] : 1;
}

/** Of the first entries each joins two groups, so that all are joined. */
static void draw_links(struct mf_rng *r, struct drawn *d, unsigned int i)
{
	unsigned int g = i < GROUPS ? 0 : (unsigned int)mf_rng_below(r, GROUPS), h, from[2], n[2];
	unsigned int count = 1 + (unsigned int)mf_rng_below(r, 3);
	char name[2][16];

	h = i < GROUPS ? (i + 1) % GROUPS : (g + (unsigned int)mf_rng_below(r, GROUPS)) % GROUPS;
	if (g == h && d->count[g] == 1)
		h = (g + 1) % GROUPS;
	draw_name(r, d, g, name[0], &from[0], &n[0]);
	draw_name(r, d, h, name[1], &from[1], &n[1]);
	if (i < GROUPS || g == h)
		for (int side = 0; side < 2; side++) {
			unsigned int group = side == 0 ? g : h;

			snprintf(name[side], sizeof(name[side]), "g%u-", group);
			from[side] = d->first[group];
			n[side] = d->count[group];
		}
	snprintf(d->entry[i], sizeof(d->entry[i]), "{\"between\": [\"%s\", \"%s\"], \"count\": %u}", name[0],
		 name[1], count);
	for (unsigned int a = from[0]; a < from[0] + n[0]; a++)
		for (unsigned int b = from[1]; b < from[1] + n[1]; b++)
			if (g != h)
				d->links[a < b ? a : b][a < b ? b : a] += count;
			else if (a < b)
				d->links[a][b] += count;
}

static void draw(struct mf_rng *r, struct drawn *d)
{
	*d = (struct drawn){0};
	for (unsigned int g = 0; g < GROUPS; g++) {
		d->count[g] = 1 + (unsigned int)mf_rng_below(r, 4);
		d->first[g + 1] = d->first[g] + d->count[g];
	}
	for (unsigned int i = 0; i < ENTRIES; i++)
		draw_links(r, d, i);
}

/** @param backwards  its links from the last entry to the first */
static void parse_drawn(const struct drawn *d, bool backwards, struct mf_config *c)
{
	char switches[512] = "", links[4096] = "", text[8192], err[512] = "";

	for (unsigned int g = 0; g < GROUPS; g++)
		snprintf(switches + strlen(switches), sizeof(switches) - strlen(switches),
			 "%s{\"name\": \"g%u-\", \"count\": %u}", g > 0 ? ", " : "", g, d->count[g]);
	for (unsigned int i = 0; i < ENTRIES; i++)
		snprintf(links + strlen(links), sizeof(links) - strlen(links), "%s%s", i > 0 ? ",\n" : "",
			 d->entry[backwards ? ENTRIES - 1 - i : i]);
	snprintf(text, sizeof(text), head, switches, 12 * d->count[1], "g1-", links);
	cr_assert_eq(parse(text, c, err, sizeof(err)), 0, "%s\n%s", err, text);
}

/* Links of each pair are counted by other code. The order of entries does not matter. */
Test(config_switches, random_graphs)
{
	const uint64_t seed = 7;
	struct mf_rng r;

	mf_rng_init(&r, seed, "switches", 0);
	for (int i = 0; i < 300; i++) {
		unsigned int all = 0, ports[SWITCHES_MAX] = {0}, at = 0;
		struct mf_config c, other;
		struct drawn d;

		draw(&r, &d);
		parse_drawn(&d, false, &c);
		cr_assert_eq(c.switches, d.first[GROUPS]);
		for (unsigned int a = 0; a < c.switches; a++)
			for (unsigned int b = 0; b < c.switches; b++) {
				for (unsigned int k = 0; k < d.links[a][b]; k++, at++)
					cr_assert(at < c.trunks && c.trunk[at].a == a && c.trunk[at].b == b);
				all += d.links[a][b];
				ports[a] += d.links[a][b];
				ports[b] += d.links[a][b];
			}
		cr_assert_eq(c.trunks, all, "seed %lu, %d", seed, i);
		for (unsigned int a = 0; a < c.switches; a++)
			cr_assert_eq(c.switch_list[a].ports,
				     ports[a] + (a >= d.first[1] && a < d.first[2] ? 12 : 0));
		assert_reads_back(&c, "random");
		parse_drawn(&d, true, &other);
		assert_same(&c, &other);
		mf_config_free(&c);
		mf_config_free(&other);
	}
}

/** Rules of "faults" by the two ends of links: of one or several switches, one or all links of a pair. */
Test(config_switches, faults_between)
{
	static const char text[] =
		"{\"stack\": \"tcp\", \"switches\": [{\"name\": \"tor\", \"count\": 2}, "
		"{\"name\": \"spine\"}],"
		"\"nodes\": [{\"name\": \"c\", \"role\": \"both\", \"count\": 2, "
		"\"ends\": [{\"to\": \"tor\"}]}],"
		"\"links\": [{\"between\": [\"tor\", \"spine\"], \"count\": 3}],"
		"\"faults\": ["
		"{\"class\": \"lose\", \"rate\": 0.1, \"between\": [\"tor1\", \"spine\"], \"number\": 1},"
		"{\"class\": \"lose\", \"rate\": 0.1, \"between\": [\"spine\", \"tor0\"]},"
		"{\"class\": \"link_down\", \"from\": \"1us\", \"between\": [\"tor\", \"spine\"], "
		"\"number\": 0},"
		"{\"class\": \"lose\", \"rate\": 0.1, \"link\": \"c0\"}]}";
	/* By link: three of tor0, three of tor1. + and -: UP is from the ToR, or to it. */
	static const char *const want[] = {"....+.", "---...", "+..+..", "......"};
	char err[512] = "";
	struct mf_config c;

	cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s", err);
	cr_assert_eq(c.trunks, 6);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int t = 0; t < 6; t++) {
			bool up = false, has = mf_config_fault_has(&c, &c.fault[i], t, &up);

			cr_expect_eq(has ? up ? '+' : '-' : '.', want[i][t], "rule %u, link %u", i, t);
			cr_expect_eq(mf_config_parallel(&c, t), t % 3);
		}
	assert_reads_back(&c, "faults between switches");
	mf_config_free(&c);
}

Test(config_switches, every_key_is_documented)
{
	static const char *const keys[] = {"switches", "routing", "ends", "to",    "between", "count",
					   "hash",     "spray",   "node", "links", NULL};

	assert_documented(keys);
}

/* Memory that runs out at the nth allocation of jansson. */
static long allocations;

static void *scarce(size_t size)
{
	return allocations-- > 0 ? malloc(size) : NULL;
}

Test(config_switches, no_memory)
{
	size_t len;
	char *text = slurp(FOLDER, "leaf_spine.json", &len), err[512];
	struct mf_config c;
	json_t *json = NULL;
	int rc = -1;

	json_set_alloc_funcs(scarce, free);
	for (long n = 0; rc != 0 && n < 10000; n++) {
		allocations = n;
		rc = mf_config_parse(text, len, "scarce", &c, err, sizeof(err));
		if (rc != 0)
			assert_one_line(err);
	}
	cr_assert_eq(rc, 0, "%s", err);
	for (long n = 0; json == NULL && n < 10000; n++) {
		allocations = n;
		json = mf_config_to_json(&c);
	}
	allocations = 1 << 20;
	cr_assert_not_null(json);
	json_decref(json);
	mf_config_free(&c);
	free(text);
}
