/* SPDX-License-Identifier: BSD-3-Clause */
/* "racks" in the fabric file: what a template makes, what names mean, and that it is written again. */
#include "base/mf_rng.h"
#include "config/mf_config_query.h"

#include "config_back.h"

/* Two kinds of racks: r0, r1 with two switches and three nodes each, and "edge" alone. */
static const char two_kinds[] =
	"{\"stack\": \"rocev2\", \"switches\": [{\"name\": \"spine\", \"count\": 2}],\n"
	" \"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"ends\": [{\"to\": \"r1.tor1\"}]}],\n"
	" \"racks\": [{\"name\": \"r\", \"count\": 2, \"of\": {\n"
	"   \"links\": [{\"between\": [\"tor\", \"spine\"], \"rate\": \"100G\"},\n"
	"             {\"node\": \"mn\", \"rate\": \"50G\"},\n"
	"             {\"node\": \"*\", \"rate\": \"10G\"}],\n"
	"   \"nodes\": [{\"name\": \"cn\", \"count\": 2, \"role\": \"compute\",\n"
	"              \"ends\": [{\"to\": \"tor\"}]},\n"
	"             {\"name\": \"mn\", \"role\": \"memory\", \"ends\": [{\"to\": \"tor1\"}]}],\n"
	"   \"switches\": [{\"name\": \"tor\", \"count\": 2}]}},\n"
	"  {\"name\": \"edge\", \"of\": {\n"
	"   \"switches\": [{\"name\": \"spine\"}],\n"
	"   \"nodes\": [{\"name\": \"x\", \"role\": \"both\", \"ends\": [{\"to\": [\"spine\"]}]}],\n"
	"   \"links\": [{\"between\": [\"spine\", \"r.tor0\"], \"count\": 2}]}}],\n"
	" \"links\": [{\"node\": \"*\"}],\n"
	" \"workload\": [{\"nodes\": %s, \"targets\": %s, \"mix\": {\"read\": 1}, \"size\": 64}]}";

static int parse_of(struct mf_config *c, char *err, const char *nodes, const char *targets)
{
	char text[4096];

	cr_assert_lt((size_t)snprintf(text, sizeof(text), two_kinds, nodes, targets), sizeof(text));
	return parse(text, c, err, 512);
}

static void read_it(struct mf_config *c)
{
	char err[512] = "";

	cr_assert_eq(parse_of(c, err, "\"*\"", "\"*\""), 0, "%s", err);
}

/* First what the file has itself, then rack by rack, in each as the template has it. */
Test(config_racks, order_of_names)
{
	static const char *const switches[] = {"spine0",  "spine1",  "r0.tor0",   "r0.tor1",
					       "r1.tor0", "r1.tor1", "edge.spine"};
	static const char *const nodes[] = {"cn",     "r0.cn0", "r0.cn1", "r0.mn",
					    "r1.cn0", "r1.cn1", "r1.mn",  "edge.x"};
	static const uint16_t to[] = {5, 2, 3, 3, 4, 5, 5, 6};
	static const uint32_t period[] = {2560, 6400, 6400, 1280, 6400, 6400, 1280, 2560};
	struct mf_config c;

	read_it(&c);
	cr_assert_eq(c.switches, 7);
	for (unsigned int i = 0; i < 7; i++) {
		cr_expect_str_eq(c.switch_list[i].name, switches[i]);
		cr_expect_eq(c.switch_list[i].rack, i < 2 ? 0 : i < 6 ? 1 : 2);
	}
	cr_assert_eq(c.nodes, 8);
	for (unsigned int i = 0; i < 8; i++) {
		cr_expect_str_eq(c.node[i].name, nodes[i]);
		cr_expect_eq(c.node[i].to, to[i], "%s", nodes[i]);
		cr_expect_eq(c.node[i].link.period, period[i], "%s", nodes[i]);
	}
	mf_config_free(&c);
}

/* A name within a template is its own, else one outside. */
Test(config_racks, links_between)
{
	/* By both switches: those of tors and spines, then of "edge". */
	static const uint16_t ends[][2] = {{0, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 2}, {1, 3},
					   {1, 4}, {1, 5}, {2, 6}, {2, 6}, {4, 6}, {4, 6}};
	struct mf_config c;

	read_it(&c);
	cr_assert_eq(c.trunks, 12);
	for (unsigned int i = 0; i < 12; i++) {
		cr_expect(c.trunk[i].a == ends[i][0] && c.trunk[i].b == ends[i][1], "%u", i);
		cr_expect_eq(c.trunk[i].link.period, i < 8 ? 640 : 2560);
	}
	mf_config_free(&c);
}

struct meaning {
	const char *name;
	uint64_t switches, nodes; /* a bit each */
};

Test(config_racks, meanings_of_names)
{
	static const struct meaning names[] = {
		{"spine", 0x03, 0},  {"spine1", 0x02, 0},  {"cn", 0, 0x01},         {"r0.tor1", 0x08, 0},
		{"r0.tor", 0x0c, 0}, {"r.tor", 0x3c, 0},   {"r.tor1", 0x28, 0},     {"r0", 0x0c, 0x0e},
		{"r", 0x3c, 0x7e},   {"r1.cn", 0, 0x30},   {"r.cn", 0, 0x36},       {"r.cn1", 0, 0x24},
		{"r.mn", 0, 0x48},   {"edge", 0x40, 0x80}, {"edge.spine", 0x40, 0}, {"edge.x", 0, 0x80},
		{"r2", 0, 0},        {"r.", 0, 0},         {"r0.", 0, 0},           {"r0.t", 0, 0},
		{"tor", 0, 0},       {"tor0", 0, 0},       {".tor", 0, 0},          {"", 0, 0},
		{"r0.cn2", 0, 0},    {"r00.cn0", 0, 0},    {"edge0.x", 0, 0},
	};
	struct mf_config c;

	read_it(&c);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name = names[i].name;
		struct mf_config_switch_set set;
		uint64_t nodes = 0;

		cr_expect_eq(mf_config_switches(&c, name, &set),
			     (unsigned int)__builtin_popcountll(names[i].switches), "%s", name);
		cr_expect_eq(set.word[0], names[i].switches, "%s", name);
		for (unsigned int n = 0; n < c.slots; n++) {
			struct mf_config_member m = mf_config_node_member(&c, n);

			nodes |= (uint64_t)mf_config_means(&c, name, strlen(name), &m) << n;
		}
		cr_expect_eq(nodes, names[i].nodes, "%s: %llx", name, (unsigned long long)nodes);
	}
	mf_config_free(&c);
}

/* Of a rack those nodes are meant that have the role. */
Test(config_racks, nodes_of_a_workload)
{
	struct mf_config c;
	char err[512] = "";

	cr_assert_eq(parse_of(&c, err, "[\"r0\", \"r1.cn\"]", "[\"r\"]"), 0, "%s", err);
	cr_assert_eq(c.workload[0].clients.n, 4);
	cr_expect(c.workload[0].clients.node[0] == 1 && c.workload[0].clients.node[3] == 5);
	cr_assert_eq(c.workload[0].targets.n, 2);
	cr_expect(c.workload[0].targets.node[0] == 3 && c.workload[0].targets.node[1] == 6);
	mf_config_free(&c);
	cr_assert_eq(parse_of(&c, err, "[\"r0\", \"r.cn1\"]", "\"r\""), -EINVAL);
	cr_expect_not_null(strstr(err, "workload[0].nodes[1]: node 'r0.cn1' is named twice"), "%s", err);
}

/* What is written has all of it at the top level, and is read again. */
Test(config_racks, effective_configuration_reads_back)
{
	struct mf_config c;
	json_t *json;

	read_it(&c);
	assert_reads_back(&c, "two kinds of racks");
	json = mf_config_to_json(&c);
	cr_expect_eq(json_array_size(json_object_get(json, "racks")), 2);
	cr_expect_null(json_object_get(json_array_get(json_object_get(json, "racks"), 0), "of"));
	cr_expect_eq(json_array_size(json_object_get(json, "switches")), 4);
	json_decref(json);
	mf_config_free(&c);
}

/*
 * Racks with networks of their own: "a" has a switch that it names, "b" one in "switches", "f" one without a
 * name, and a server. Names mean those of the rack, and what says no tier is in the first one of the rack.
 */
static const char own_tiers[] =
	"{\"tiers\": [{\"name\": \"eth\", \"stack\": \"rocev2\"}],\n"
	" \"racks\": [{\"name\": \"r\", \"count\": 2, \"of\": {\n"
	"   \"tiers\": [{\"name\": \"a\", \"stack\": \"edm\", \"switch\": {\"name\": \"box\"}},\n"
	"             {\"name\": \"b\", \"stack\": \"rocev2\", \"link\": {\"rate\": \"100G\"}},\n"
	"             {\"name\": \"f\", \"stack\": \"fastpass\"}],\n"
	"   \"switches\": [{\"name\": \"tor\", \"tier\": \"b\"}],\n"
	"   \"nodes\": [{\"name\": \"cn\", \"count\": 2, \"role\": \"compute\",\n"
	"              \"ends\": [{\"to\": \"box\"}, {\"to\": \"tor\"}, {\"tier\": \"eth\"}]},\n"
	"             {\"name\": \"mn\", \"role\": \"memory\", \"ends\": [{\"tier\": \"f\"}, {}]},\n"
	"             {\"name\": \"x\", \"role\": \"both\", \"ends\": [{\"to\": \"f.sw0\"}]},\n"
	"             {\"name\": \"near\", \"role\": \"memory\"}],\n"
	"   \"links\": [{\"node\": \"mn\", \"tier\": \"a\", \"rate\": \"10G\"}, {\"node\": \"*\"}]}}],\n"
	" \"nodes\": [{\"name\": \"pool\", \"role\": \"memory\",\n"
	"            \"ends\": [{\"tier\": \"r1.a\"}, {\"tier\": \"eth\"}]}],\n"
	" \"workload\": [{\"nodes\": \"r.cn\", \"targets\": \"pool\", \"mix\": {\"read\": 1},\n"
	"               \"size\": 64}]}";

Test(config_racks, tiers_of_a_rack)
{
	static const char *const tiers[] = {"eth", "r0.a", "r0.b", "r0.f", "r1.a", "r1.b", "r1.f"};
	static const char *const switches[] = {"eth.sw0", "r0.box", "r0.tor",  "r0.f.sw0",
					       "r1.box",  "r1.tor", "r1.f.sw0"};
	static const struct {
		const char *name;
		int tier[3]; /* of its ends; -1: none */
	} nodes[] = {{"pool", {4, 0, -1}},         {"r0.cn0", {1, 2, 0}},    {"r0.cn1", {1, 2, 0}},
		     {"r0.mn", {3, 1, -1}},        {"r0.x", {3, -1, -1}},    {"r0.near", {1, -1, -1}},
		     {"r1.cn0", {4, 5, 0}},        {"r1.cn1", {4, 5, 0}},    {"r1.mn", {6, 4, -1}},
		     {"r1.x", {6, -1, -1}},        {"r1.near", {4, -1, -1}}, {"r0.f-arbiter", {3, -1, -1}},
		     {"r1.f-arbiter", {6, -1, -1}}};
	struct mf_config c;
	char err[512] = "";

	cr_assert_eq(parse(own_tiers, &c, err, sizeof(err)), 0, "%s", err);
	cr_assert(c.tiers == 7 && c.switches == 7);
	for (unsigned int i = 0; i < 7; i++) {
		cr_expect_str_eq(c.tier[i].name, tiers[i]);
		cr_expect_eq(c.tier[i].rack, i > 0);
		cr_expect_str_eq(c.switch_list[i].name, switches[i]);
		cr_expect(c.switch_list[i].rack == (i > 0) && c.switch_list[i].tier == i);
	}
	cr_assert_eq(c.nodes, 13);
	for (unsigned int i = 0; i < 13; i++) {
		cr_expect_str_eq(c.node[i].name, nodes[i].name);
		cr_expect_eq(c.node[i].rack, i > 0);
		for (unsigned int k = 0; k < 3; k++) {
			int tier = k < c.node[i].ends ? mf_config_end(&c, i, k)->tier : -1;

			cr_expect_eq(tier, nodes[i].tier[k], "%s: end %u", nodes[i].name, k);
		}
	}
	cr_expect_eq(mf_config_end(&c, 3, 1)->link.period, 6400, "links[].tier is the rack's");
	cr_expect_eq(mf_config_end(&c, 3, 0)->link.period, 2560);
	cr_expect_eq(mf_config_end(&c, 1, 1)->link.period, 640, "tiers[].link");
	assert_reads_back(&c, "tiers of racks");
	mf_config_free(&c);
}

static const char any_number[] =
	"{\"stack\": \"tcp\", \"switches\": [{\"name\": \"s\", \"count\": %u}], \"nodes\": [],\n"
	" \"racks\": [{\"name\": \"q\", \"count\": %u, \"of\": {\n"
	"   \"switches\": [{\"name\": \"t\", \"count\": %u}],\n"
	"   \"nodes\": [{\"name\": \"n\", \"count\": %u, \"role\": \"both\",\n"
	"              \"ends\": [{\"to\": \"t\"}]}]}}],\n"
	" \"links\": [{\"between\": [\"q.t\", \"s\"]}]}";

/* Racks of an entry are the same in all but their names, however many there are. */
Test(config_racks, any_number_of_racks)
{
	struct mf_rng rng;

	mf_rng_init(&rng, 5, "racks", 0);
	for (int round = 0; round < 60; round++) {
		unsigned int racks = 1 + (unsigned int)mf_rng_below(&rng, 12),
			     tors = 1 + (unsigned int)mf_rng_below(&rng, 3),
			     nodes = tors * (2 + (unsigned int)mf_rng_below(&rng, 3)),
			     spines = 1 + (unsigned int)mf_rng_below(&rng, 3);
		char text[1024], err[512] = "";
		struct mf_config c;

		snprintf(text, sizeof(text), any_number, spines, racks, tors, nodes);
		cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s", err);
		cr_assert_eq(c.switches, spines + racks * tors);
		cr_assert_eq(c.nodes, racks * nodes);
		cr_assert_eq(c.trunks, spines * racks * tors);
		for (unsigned int i = 0; i < c.nodes; i++) {
			unsigned int rack = i / nodes, n = i % nodes;
			char name[64];

			snprintf(name, sizeof(name), racks > 1 ? "q%u.n%u" : "q.n%u", racks > 1 ? rack : n,
				 n);
			cr_assert_str_eq(c.node[i].name, name);
			cr_assert_eq(c.node[i].to, spines + rack * tors + n / (nodes / tors));
		}
		assert_reads_back(&c, text);
		mf_config_free(&c);
	}
}

Test(config_racks, keys_are_documented)
{
	static const char *const keys[] = {"racks", "of", NULL};

	assert_documented(keys);
}
