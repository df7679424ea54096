/* SPDX-License-Identifier: BSD-3-Clause */
/* "tiers" and several "ends" of a node: what the file makes of them, and that all of it is written again. */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "config/mf_config_query.h"

#include "config_back.h"

#define FOLDER "fabric/tiers"

static const char *const files[] = {"rack.json", "dealt.json",  "servers.json",
				    "one.json",  "direct.json", "topology.json"};
#define FILES (sizeof(files) / sizeof(files[0]))

/** What config_back.h does not compare. */
static void assert_same_tiers(const struct mf_config *a, const struct mf_config *b)
{
	cr_assert_eq(a->tiers, b->tiers);
	for (unsigned int t = 0; t < a->tiers; t++) {
		const struct mf_config_tier *x = &a->tier[t], *y = &b->tier[t];

		cr_assert(x->first_switch == y->first_switch && x->switches == y->switches &&
			  x->direct == y->direct);
		cr_assert(x->nodes == y->nodes && x->server == y->server && x->own_switch == y->own_switch);
		cr_assert_arr_eq(x->node, y->node, x->nodes * sizeof(*x->node));
	}
	cr_assert_eq(a->ends, b->ends);
	for (unsigned int i = 0; i < a->slots; i++)
		for (unsigned int k = 0; k < a->node[i].ends; k++) {
			const struct mf_config_end *x = mf_config_end(a, i, k), *y = mf_config_end(b, i, k);

			cr_assert(x->tier == y->tier && x->to == y->to && x->number == y->number &&
				  x->direct == y->direct);
			cr_assert(x->link.period == y->link.period);
			cr_assert(x->link.propagation == y->link.propagation);
			cr_assert(x->link.policy == y->link.policy && x->link.ring == y->link.ring);
		}
}

static void assert_back(const struct mf_config *c, const char *what)
{
	char err[512] = "", *text = effective(c);
	struct mf_config again;

	assert_reads_back(c, what);
	cr_assert_eq(parse(text, &again, err, sizeof(err)), 0, "%s: %s", what, err);
	assert_same_tiers(c, &again);
	mf_config_free(&again);
	free(text);
}

/** Numbers and places of nodes name each other; a node has an end where its tier knows it. */
static void assert_numbers(const struct mf_config *c)
{
	unsigned int ends = 0, known = 0;

	for (unsigned int t = 0; t < c->tiers; t++)
		for (unsigned int n = 0; n < c->tier[t].nodes; n++, known++) {
			const struct mf_config_end *e = NULL;

			for (unsigned int k = 0; k < c->node[c->tier[t].node[n]].ends; k++)
				if (mf_config_end(c, c->tier[t].node[n], k)->tier == t &&
				    (e == NULL || e->number != n))
					e = mf_config_end(c, c->tier[t].node[n], k);
			cr_assert_not_null(e);
			cr_assert_eq(e->number, n);
			cr_assert_eq(e->direct, c->tier[t].direct);
			cr_assert_eq(e->direct ? c->trunk[e->to].tier : c->switch_list[e->to].tier, t);
			cr_assert(n == 0 || c->tier[t].node[n - 1] <= c->tier[t].node[n]);
		}
	for (unsigned int i = 0; i < c->slots; i++)
		ends += c->node[i].ends;
	cr_assert_eq(ends, known);
	cr_assert_eq(c->ends, ends - c->nodes);
}

Test(config_tiers, two_networks_of_a_rack)
{
	static const uint16_t mem[] = {0, 1, 2, 3, 4, 5}, eth[] = {0, 1, 2, 3, 6};
	const struct mf_config_tier *t;
	struct mf_config c;

	load(&c, FOLDER, "rack.json");
	cr_assert_eq(c.tiers, 2);
	t = c.tier;
	cr_expect(strcmp(t[0].name, "mem") == 0 && t[0].stack_ops == NULL && t[0].bridge_ops == NULL);
	cr_expect(strcmp(t[1].name, "eth") == 0 && strcmp(t[1].stack.name, "rocev2") == 0);
	cr_expect(t[0].sched.x == 4 && t[1].sched.x == 3);
	cr_expect(t[0].timing.cost[MF_STAGE_FORWARD] == MF_NS(10) + 240 &&
		  t[1].timing.cost[MF_STAGE_MAC] == 7680);
	cr_expect(t[0].proto.check32 && !t[1].proto.check32);
	cr_assert(c.switches == 4 && t[0].own_switch && !t[1].own_switch);
	cr_expect(t[0].first_switch == 0 && t[0].switches == 1 && t[1].first_switch == 1 &&
		  t[1].switches == 3);
	cr_expect_str_eq(c.switch_list[0].name, "mem.sw0");
	cr_expect_str_eq(mf_config_switch_name(&c, 3), "spine");
	cr_expect(c.switch_list[0].l2_latency == MF_NS(300) && c.switch_list[1].l2_latency == MF_NS(400));
	cr_expect(c.switch_list[0].ports == 6 && c.switch_list[1].ports == 3 && c.switch_list[2].ports == 4);
	cr_assert(t[0].nodes == 6 && t[1].nodes == 5);
	cr_expect_arr_eq(t[0].node, mem, sizeof(mem));
	cr_expect_arr_eq(t[1].node, eth, sizeof(eth));
	assert_numbers(&c);
	mf_config_free(&c);
}

/** "link", "link" of the tier, "links", "ends": each over those before. */
Test(config_tiers, links_of_ends)
{
	struct mf_config c;

	load(&c, FOLDER, "rack.json");
	for (unsigned int i = 0; i < 4; i++) {
		const struct mf_config_end *mem = mf_config_end(&c, i, 0), *eth = mf_config_end(&c, i, 1);

		cr_assert(c.node[i].ends == 2 && mem->tier == 0 && eth->tier == 1);
		cr_expect(mem->to == 0 && eth->to == (i < 2 ? 1 : 2));
		cr_expect(mem->link.period == 2560 && eth->link.period == 1280, "cn%u", i);
		cr_expect_eq(mem->link.propagation, i == 2 ? MF_NS(20) : MF_NS(5));
		cr_expect_eq(eth->link.propagation, MF_NS(5));
		cr_expect_eq(eth->link.ring, 32, "of the tier");
		cr_expect(mem == &c.node[i].first && &mem->link == &c.node[i].link &&
			  mem->to == c.node[i].to);
	}
	cr_expect(c.node[6].ends == 1 && c.node[6].tier == 1 && c.node[6].link.period == 640);
	cr_expect(c.trunks == 2 && c.trunk[0].link.period == 640 && c.trunk[0].link.ring == 32);
	mf_config_free(&c);
}

/** Each end has a number; "end" of "links" says which of them an entry is about. */
Test(config_tiers, several_ends_in_a_network)
{
	static const uint16_t node[] = {0, 0, 1, 1, 2, 2, 2, 3};
	static const uint32_t period[] = {2560, 1280, 2560, 1280, 640, 6400, 2560, 2560};
	char err[512] = "";
	struct mf_config c;

	cr_assert_eq(
		parse("{\"stack\": \"tcp\", \"switches\": [{\"name\": \"l\", \"count\": 2}], \"nodes\": ["
		      "{\"name\": \"c\", \"count\": 2, \"role\": \"compute\", \"ends\": [{\"to\": \"l0\"}, "
		      "{\"to\": \"l1\"}]}, {\"name\": \"m\", \"role\": \"memory\", \"ends\": [{\"to\": "
		      "\"l0\"}, {\"to\": \"l1\", \"rate\": \"10G\"}, {\"to\": \"l1\"}]}, {\"name\": \"x\", "
		      "\"role\": \"memory\", \"ends\": [{\"to\": \"l1\"}]}], "
		      "\"links\": [{\"between\": [\"l\", \"l\"]}, "
		      "{\"node\": \"c\", \"end\": 1, \"rate\": \"50G\"}, {\"node\": \"m\", \"end\": 0, "
		      "\"rate\": \"100G\"}, {\"node\": \"*\"}]}",
		      &c, err, sizeof(err)),
		0, "%s", err);
	cr_assert(c.tier->nodes == 8 && c.tier->several);
	cr_expect_arr_eq(c.tier->node, node, sizeof(node));
	for (unsigned int n = 0, k = 0; n < 8; n++) {
		const struct mf_config_end *e;

		k = n > 0 && node[n] == node[n - 1] ? k + 1 : 0;
		e = mf_config_end(&c, node[n], k);
		cr_expect(e->number == n && e->link.period == period[n], "%u", n);
	}
	assert_back(&c, "several ends");
	assert_numbers(&c);
	mf_config_free(&c);
}

/** Nodes with an end in its tier take its places in their order, or at the switch that they name. */
Test(config_tiers, topology_of_a_tier)
{
	static const uint16_t tor[] = {0, 0, 1, 3, 2, 3}; /* cn0 to cn2, mn, far0, far1 */
	struct mf_config c;

	load(&c, FOLDER, "topology.json");
	cr_assert(c.tiers == 3 && c.switches == 9 && c.tier[0].switches == 1);
	cr_assert(c.tier[1].first_switch == 1 && c.tier[1].switches == 6 && c.tier[2].first_switch == 7);
	cr_expect_str_eq(c.switch_list[1].name, "tor0");
	cr_expect_str_eq(c.switch_list[6].name, "agg1");
	for (unsigned int i = 0; i < 6; i++) {
		const struct mf_config_end *e = mf_config_end_in(&c, i, 1);

		cr_assert_eq(e->to, 1 + tor[i], "%u", i);
		cr_expect_eq(e->link.period, i == 3 ? 2560 : 640, "%u", i);
		cr_expect_eq(e->link.propagation, MF_NS(30));
	}
	cr_expect_eq(mf_config_end_in(&c, 0, 0)->link.period, 2560, "the place is of another tier");
	cr_expect_eq(mf_config_end_in(&c, 4, 2)->link.period, 6400);
	cr_assert_eq(c.trunks, 9);
	for (unsigned int i = 0; i < 8; i++)
		cr_expect(c.trunk[i].tier == 1 && c.trunk[i].link.period == 1280);
	cr_expect(c.trunk[8].tier == 2 && c.trunk[8].link.period == 640);
	assert_numbers(&c);
	mf_config_free(&c);
}

/** A link between two nodes stands behind those between switches; both ends are like it. */
Test(config_tiers, links_between_nodes)
{
	static const char *const name[][2] = {{"b", "m"}, {"a", "x"}};
	struct mf_config c;

	load(&c, FOLDER, "direct.json");
	cr_assert(c.tiers == 4 && c.switches == 3 && c.trunks == 3);
	cr_assert(!c.trunk[0].direct && c.trunk[0].tier == 3);
	for (unsigned int k = 1; k < c.trunks; k++) {
		const struct mf_config_trunk *t = &c.trunk[k];

		cr_assert(t->direct && t->tier == k && c.tier[k].direct && c.tier[k].switches == 0);
		for (int side = 0; side < 2; side++) {
			const struct mf_config_end *e =
				mf_config_end_in(&c, side == 0 ? t->a : t->b, t->tier);

			cr_expect_str_eq(mf_config_trunk_end(&c, t, side), name[k - 1][side]);
			cr_assert(e != NULL && e->direct && e->to == k);
			cr_expect(e->link.period == t->link.period && e->link.ring == t->link.ring &&
				  e->link.propagation == t->link.propagation);
		}
	}
	cr_expect(c.trunk[1].link.period == 640 && c.trunk[1].link.propagation == MF_NS(100));
	cr_expect(c.trunk[1].link.disable.bad == 1000 && c.trunk[1].link.ring == 16);
	cr_expect(c.trunk[2].link.period == 2560 && c.trunk[2].link.propagation == MF_NS(5));
	cr_expect(c.trunk[2].link.ring == 32 && !c.trunk[2].link.disable.on);
	cr_expect_eq(mf_config_common_tier(&c, 0, 3), 2, "by its first end");
	assert_numbers(&c);
	mf_config_free(&c);
}

/** Which of two nodes "ends" name first, and in which order "carried" has their ports. */
Test(config_tiers, ports_of_a_link_between_nodes)
{
	static const char *const link[] = {
		"\"links\": [{\"between\": [\"a\", \"b\"], \"carried\": {\"between\": [\"p\", \"q\"]}}]",
		"\"links\": [{\"between\": [\"b\", \"a\"], \"carried\": {\"between\": [\"q\", \"p\"]}}]",
	};
	static const char *const ends[][2] = {
		{", \"ends\": [{\"to\": \"b\", \"carried\": {\"between\": [\"p\", \"q\"]}}]", ""},
		{"", ", \"ends\": [{\"to\": \"a\", \"carried\": {\"between\": [\"q\", \"p\"]}}]"},
	};

	for (int k = 0; k < 4; k++) {
		const char *a = k < 2 ? "" : ends[k - 2][0], *b = k < 2 ? "" : ends[k - 2][1];
		char text[1024], err[512] = "";
		struct mf_config c;

		snprintf(text, sizeof(text),
			 "{\"stack\": \"tcp\", \"ports\": [{\"name\": \"p\", \"device\": \"net_null0\"}, "
			 "{\"name\": \"q\", \"device\": \"net_null1\"}], "
			 "\"nodes\": [{\"name\": \"a\", \"role\": "
			 "\"compute\"%s}, {\"name\": \"b\", \"role\": \"memory\"%s}]%s%s}",
			 a, b, k < 2 ? ", " : "", k < 2 ? link[k] : "");
		cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s\n%s", err, text);
		cr_assert(c.trunks == 1 && c.trunk[0].direct && mf_config_switch_count(&c) == 0);
		cr_expect(c.trunk[0].link.llr.port[0] == 0 && c.trunk[0].link.llr.port[1] == 1, "%s", text);
		assert_back(&c, text);
		mf_config_free(&c);
	}
}

Test(config_tiers, who_can_talk)
{
	struct mf_config c;

	load(&c, FOLDER, "rack.json");
	cr_expect_eq(mf_config_common_tier(&c, 0, 1), 0);
	cr_expect_eq(mf_config_common_tier(&c, 0, 4), 0);
	cr_expect_eq(mf_config_common_tier(&c, 0, 6), 1);
	cr_expect_eq(mf_config_common_tier(&c, 6, 0), 1);
	cr_expect_eq(mf_config_common_tier(&c, 4, 6), -1);
	mf_config_free(&c);
	load(&c, FOLDER, "dealt.json");
	cr_expect_eq(mf_config_common_tier(&c, 0, 1), 2, "the order of the first one's ends");
	mf_config_free(&c);
}

/** A fault's rule names the link of a node by both ends. */
Test(config_tiers, faults_at_ends)
{
	struct mf_config c;
	const struct mf_config_fault *f;

	load(&c, FOLDER, "rack.json");
	cr_assert_eq(c.faults, 3);
	f = c.fault;
	for (unsigned int i = 0; i < c.slots; i++)
		for (unsigned int k = 0; k < c.node[i].ends; k++) {
			bool mem = mf_config_end(&c, i, k)->tier == 0;

			cr_expect_eq(mf_config_fault_at(&c, &f[0], i, k), i == 0, "all ends of cn0");
			cr_expect_eq(mf_config_fault_at(&c, &f[1], i, k), i < 4 && mem, "%u.%u", i, k);
			cr_expect_eq(mf_config_fault_at(&c, &f[2], i, k), i < 4 && !mem, "%u.%u", i, k);
		}
	cr_expect(f[1].direction == MF_CONFIG_UP && f[2].direction == MF_CONFIG_UP, "down from the switch");
	mf_config_free(&c);
}

Test(config_tiers, nodes_dealt_in_several_tiers)
{
	struct mf_config c;

	load(&c, FOLDER, "dealt.json");
	cr_assert(c.tiers == 3 && c.switches == 6);
	for (unsigned int i = 0; i < 8; i++) {
		cr_assert_eq(c.node[i].ends, 3);
		cr_expect_eq(mf_config_end(&c, i, 0)->tier, 2);
		cr_expect_eq(mf_config_end_in(&c, i, 0)->to, c.tier[0].first_switch + i / 4);
		cr_expect_eq(mf_config_end_in(&c, i, 2)->to, c.tier[2].first_switch + (i % 2));
	}
	assert_numbers(&c);
	mf_config_free(&c);
}

/** Each tier whose stack has a server has one of its own. */
Test(config_tiers, servers)
{
	struct mf_config c;

	load(&c, FOLDER, "servers.json");
	cr_assert(c.tiers == 3 && c.nodes == 6);
	cr_expect_eq(c.tier[0].server, -1);
	cr_expect_str_eq(c.node[c.tier[1].server].name, "judge");
	cr_expect_str_eq(c.node[c.tier[2].server].name, "fast-arbiter");
	cr_expect_eq(c.node[c.tier[2].server].link.period, 640);
	cr_expect(c.tier[2].nodes == 3 && c.node[c.tier[2].server].number == 2);
	assert_numbers(&c);
	mf_config_free(&c);
}

/** A file without the key is one tier: every node has its number there. */
Test(config_tiers, without_the_key)
{
	struct mf_config c;
	char err[512] = "";

	cr_assert_eq(parse("{\"nodes\": [{\"name\": \"c\", \"role\": \"compute\"},"
			   "{\"name\": \"m\", \"role\": \"memory\"}],"
			   "\"links\": [{\"node\": \"c\", \"port\": 3}, {\"node\": \"m\"}]}",
			   &c, err, sizeof(err)),
		     0, "%s", err);
	cr_expect(c.tiers == 1 && c.tier->name[0] == '\0' && !mf_config_has_tiers(&c));
	cr_assert(c.slots == 4 && c.tier->nodes == 4 && c.switches == 0);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(c.tier->node[i], i);
	cr_expect(c.node[3].ends == 1 && c.node[3].number == 3 && c.node[1].ends == 0);
	cr_expect_eq(mf_config_common_tier(&c, 3, 0), 0);
	cr_expect_eq(mf_config_common_tier(&c, 3, 1), -1, "no node is there");
	mf_config_free(&c);
}

/** What "ends" say of a link counts more than "links", without tiers, too. */
Test(config_tiers, link_of_the_only_end)
{
	struct mf_config c;
	char err[512] = "";

	cr_assert_eq(parse("{\"stack\": \"tcp\", \"switches\": [{\"name\": \"s\"}], \"nodes\": ["
			   "{\"name\": \"c\", \"role\": \"compute\","
			   "\"ends\": [{\"to\": \"s\", \"rate\": \"50G\"}]},"
			   "{\"name\": \"m\", \"role\": \"memory\"}],"
			   "\"links\": [{\"node\": \"*\", \"rate\": \"10G\", \"propagation\": \"7ns\"}]}",
			   &c, err, sizeof(err)),
		     0, "%s", err);
	cr_expect(c.node[0].link.period == 1280 && c.node[1].link.period == 6400);
	cr_expect(c.node[0].link.propagation == MF_NS(7) && c.node[1].link.propagation == MF_NS(7));
	assert_reads_back(&c, "the only end");
	mf_config_free(&c);
}

Test(config_tiers, all_is_written)
{
	for (size_t i = 0; i < FILES; i++) {
		struct mf_config c;

		load(&c, FOLDER, files[i]);
		assert_back(&c, files[i]);
		mf_config_free(&c);
	}
}

static unsigned int below(struct mf_rng *r, unsigned int n)
{
	return (unsigned int)mf_rng_below(r, n);
}

#define TIERS 5

/** Random tiers and how many switches each has: 0: its own. */
static unsigned int draw_tiers(struct mf_rng *r, FILE *out, unsigned int *switches)
{
	static const char *const stacks[] = {"edm", "cxl", "rocev2", "tcp", "ethernet"};
	unsigned int tiers = 1 + below(r, TIERS);
	const char *comma = "";

	for (unsigned int t = 0; t < tiers; t++) {
		unsigned int stack = below(r, 5);

		switches[t] = below(r, stack < 2 ? 2 : 4);
		fprintf(out, "%s{\"name\": \"t%u\", \"stack\": \"%s\", \"switch\": {\"frames\": %u}, ", comma,
			t, stacks[stack], 256U << below(r, 4));
		fprintf(out, "\"link\": {\"ring\": %u}}", 8U << below(r, 3));
		comma = ", ";
	}
	return tiers;
}

/** The last tier's come first; those of a tier are in a row. */
static void draw_switches(struct mf_rng *r, FILE *out, unsigned int tiers, const unsigned int *switches)
{
	const char *comma = "], \"switches\": [";

	for (unsigned int t = tiers; t-- > 0;)
		if (switches[t] > 0) {
			fprintf(out, "%s{\"name\": \"s%u-\", \"count\": %u, \"tier\": \"t%u\"}", comma, t,
				switches[t], t);
			comma = ", ";
		}
	fprintf(out, "], \"links\": [{\"node\": \"*\", \"propagation\": \"%uns\"}", 1 + below(r, 50));
	for (unsigned int t = 0; t < tiers; t++)
		for (unsigned int i = 1; i < switches[t]; i++)
			fprintf(out, ", {\"between\": [\"s%u-%u\", \"s%u-%u\"], \"count\": %u}", t, i - 1, t,
				i, 1 + below(r, 3));
}

/** The first two entries have ends everywhere, the others here and there. */
static void draw_nodes(struct mf_rng *r, FILE *out, unsigned int tiers, const unsigned int *switches)
{
	for (unsigned int n = 0, nodes = 2 + below(r, 6); n < nodes; n++) {
		const char *comma = "";

		fprintf(out, "%s{\"name\": \"n%u-\", \"count\": %u, \"role\": \"both\", \"ends\": [",
			n > 0 ? ", " : "", n, 1 + below(r, 3));
		for (unsigned int t = 0; t < tiers; t++) {
			if (n >= 2 && below(r, 2) == 0 && (t + 1 < tiers || comma[0] != '\0'))
				continue;
			fprintf(out, "%s{\"tier\": \"t%u\"", comma, t);
			if (switches[t] > 1)
				fprintf(out, ", \"to\": \"s%u-%u\"", t, below(r, switches[t]));
			fprintf(out, "%s}", below(r, 3) == 0 ? ", \"quantum\": 8" : "");
			comma = ", ";
		}
		fputs("]}", out);
	}
}

static char *draw(uint64_t seed)
{
	unsigned int switches[TIERS], tiers;
	struct mf_rng r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	mf_rng_init(&r, seed, "tiers", 0);
	fputs("{\"tiers\": [", out);
	tiers = draw_tiers(&r, out, switches);
	draw_switches(&r, out, tiers, switches);
	fputs("], \"nodes\": [", out);
	draw_nodes(&r, out, tiers, switches);
	fputs("]}", out);
	fclose(out);
	return text;
}

Test(config_tiers, drawn)
{
	for (unsigned int seed = 0; seed < 300; seed++) {
		char err[512] = "", *text = draw(seed);
		struct mf_config c;

		cr_assert_eq(parse(text, &c, err, sizeof(err)), 0, "%s\n%s", err, text);
		assert_back(&c, text);
		assert_numbers(&c);
		mf_config_free(&c);
		free(text);
	}
}

Test(config_tiers, keys_are_documented)
{
	static const char *const keys[] = {"tiers", "tier", "ends", "to", "link", NULL};

	assert_documented(keys);
}
