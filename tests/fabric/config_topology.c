/* SPDX-License-Identifier: BSD-3-Clause */
/* "topology": which switches, links and places of nodes it stands for, and that they are written out. */
#include <errno.h>
#include <unistd.h>

#include "config/mf_config_query.h"

#include "config_back.h"

#define FOLDER "fabric/switches"

static const char nodes_of[] = "{\"stack\": \"rocev2\", \"topology\": {%s},\n \"nodes\": [{\"name\": \"c\", "
			       "\"count\": %u, \"role\": \"both\"}]}";

static int parse_tree(struct mf_config *c, char *err, const char *topology, unsigned int nodes)
{
	char text[1024];

	snprintf(text, sizeof(text), nodes_of, topology, nodes);
	return parse(text, c, err, 512);
}

static unsigned int joins(const struct mf_config *c, const char *a, const char *b)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->trunks; i++) {
		const struct mf_config_trunk *t = &c->trunk[i];
		const char *from = c->switch_list[t->a].name, *to = c->switch_list[t->b].name;

		n += (strcmp(from, a) == 0 && strcmp(to, b) == 0) ||
		     (strcmp(from, b) == 0 && strcmp(to, a) == 0);
	}
	return n;
}

static const char *at(const struct mf_config *c, const char *node)
{
	int n = mf_config_node(c, node);

	cr_assert_geq(n, 0, "%s", node);
	return c->switch_list[c->node[n].to].name;
}

/* Four pods of two ToR and two aggregation switches; each core switch has a link into each pod. */
Test(config_topology, fat_tree)
{
	struct mf_config c;

	load(&c, FOLDER, "topology_tree.json");
	cr_assert_eq(c.switches, 24);
	cr_assert_eq(c.switch_groups, 3);
	cr_expect_eq(c.trunks, 8 * 2 + 8 * 4);
	for (unsigned int tor = 0; tor < 8; tor++)
		for (unsigned int agg = 0; agg < 8; agg++) {
			char a[16], b[16];

			snprintf(a, sizeof(a), "tor%u", tor);
			snprintf(b, sizeof(b), "agg%u", agg);
			cr_expect_eq(joins(&c, a, b), tor / 2 == agg / 2, "%s %s", a, b);
		}
	for (unsigned int i = 0; i < c.trunks; i++) {
		cr_expect_eq(c.trunk[i].link.period, 160);
		cr_expect_eq(c.trunk[i].link.propagation, MF_US(1));
	}
	for (unsigned int i = 0; i < 24; i++)
		cr_expect_eq(c.switch_list[i].ports,
			     i < 7    ? 2 + 2
			     : i == 7 ? 1 + 2
			     : i < 16 ? 2 + 4
				      : 4,
			     "%u", i);
	/* Two servers a ToR, in the order of the file. */
	cr_expect_str_eq(at(&c, "cn0"), "tor0");
	cr_expect_str_eq(at(&c, "cn1"), "tor0");
	cr_expect_str_eq(at(&c, "cn10"), "tor5");
	cr_expect_str_eq(at(&c, "mn0"), "tor5");
	cr_expect_str_eq(at(&c, "mn1"), "tor6");
	cr_expect_str_eq(at(&c, "mn3"), "tor7");
	for (unsigned int i = 0; i < 15; i++) {
		cr_expect_eq(c.node[i].link.period, 640);
		cr_expect_eq(c.node[i].link.propagation, MF_US(1));
	}
	assert_reads_back(&c, "topology_tree");
	mf_config_free(&c);
}

/* Nodes that say which switch they are at, beside others that take what is free. */
Test(config_topology, placed)
{
	static const char *const want[][2] = {{"mn0", "tor3"}, {"mn1", "tor1"}, {"cn0", "tor0"},
					      {"cn1", "tor0"}, {"cn2", "tor1"}, {"cn3", "tor2"},
					      {"cn4", "tor2"}, {"last", "tor3"}};
	struct mf_config c;

	load(&c, FOLDER, "topology_placed.json");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		cr_expect_str_eq(at(&c, want[i][0]), want[i][1], "%s", want[i][0]);
	cr_expect_eq(c.trunks, 8);
	cr_expect_eq(c.trunk[0].link.period, 1280);
	cr_expect_eq(c.node[mf_config_node(&c, "last")].link.period, 6400);
	cr_expect_eq(c.node[mf_config_node(&c, "cn4")].link.period, 1280);
	assert_reads_back(&c, "topology_placed");
	mf_config_free(&c);
}

/* SRNIC 6.3, as far as 512 nodes go. */
Test(config_topology, of_srnic)
{
	static const struct {
		const char *tree;
		unsigned int nodes, switches, trunks;
	} rows[] = {
		{"\"fat-tree\": {\"servers\": 16, \"tor\": 1}", 16, 1, 0},
		{"\"fat-tree\": {\"servers\": 64, \"tor\": 4, \"aggregation\": 4}", 64, 8, 16},
		{"\"fat-tree\": {\"servers\": 256, \"tor\": 8, \"aggregation\": 8}", 256, 16, 64},
		{"\"fat-tree\": {\"servers\": 512, \"tor\": 64, \"aggregation\": 64, \"core\": 16, "
		 "\"pods\": 16}",
		 512, 144, 64 * 4 + 16 * 16},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char err[512] = "";
		struct mf_config c;

		cr_assert_eq(parse_tree(&c, err, rows[i].tree, rows[i].nodes), 0, "%s", err);
		cr_expect_eq(c.switches, rows[i].switches);
		cr_expect_eq(c.trunks, rows[i].trunks);
		for (unsigned int n = 0; n < rows[i].nodes; n++)
			cr_assert_eq(c.node[n].to,
				     n * (i == 3 ? 64 : rows[i].switches / (i > 0 ? 2 : 1)) / rows[i].nodes);
		assert_reads_back(&c, rows[i].tree);
		mf_config_free(&c);
	}
}

/* Nodes in the order of their ids, which need not be that of their links; parallel links stay. */
Test(config_topology, file_of_hpcc)
{
	struct mf_config c;

	load(&c, FOLDER, "topology_hpcc.json");
	cr_assert_eq(c.switches, 3);
	cr_expect_str_eq(c.switch_list[0].name, "s1");
	cr_expect_str_eq(c.switch_list[1].name, "s4");
	cr_expect_str_eq(c.switch_list[2].name, "s6");
	cr_expect_eq(joins(&c, "s1", "s6"), 1);
	cr_expect_eq(joins(&c, "s4", "s6"), 2);
	cr_expect_eq(joins(&c, "s1", "s4"), 0);
	cr_expect_eq(c.trunk[0].link.period, 160);
	cr_expect_eq(c.trunk[0].link.propagation, MF_US(2));
	cr_expect_str_eq(at(&c, "cn0"), "s1");
	cr_expect_str_eq(at(&c, "cn1"), "s1");
	cr_expect_str_eq(at(&c, "mn0"), "s4");
	cr_expect_str_eq(at(&c, "mn1"), "s4");
	cr_expect_eq(c.node[0].link.period, 640);
	cr_expect_eq(c.node[3].link.period, 2560);
	cr_expect_eq(c.node[3].link.propagation, MF_NS(500));
	assert_reads_back(&c, "topology_hpcc");
	mf_config_free(&c);
}

/* A message for each kind of fault of a file, behind its name. */
Test(config_topology, faults_of_a_file)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"3 1 2\n2\n0 2 100Gbps 1us 0\n0 1 100Gbps 1us 0\n",
		 "line 4: the link of 0 and 1 is between nodes: so far a node's link leads to a switch"},
		{"3 1 2\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n",
		 "line 4: the link of 0 and 2 is the second of a node: so far a node has one"},
		{"3 1 1\n2\n0 2 100Gbps 1us 0\n", "node 1 has no link"},
		{"3 1 2\n2\n0 2 30000000001bps 1us 0\n1 2 100Gbps 1us 0\n",
		 "line 3: the link of 0 and 2 has a rate at which a block would not take whole ps; the "
		 "nearest are 25.6G and 31.25G"},
		{"3 1 2\n2\n0 2 999999bps 1us 0\n1 2 100Gbps 1us 0\n",
		 "line 3: the link of 0 and 2 has a rate that is out of range: 1M to 1000G"},
		{"3 1 2\n2\n0 2 2000Gbps 1us 0\n1 2 100Gbps 1us 0\n",
		 "line 3: the link of 0 and 2 has a rate that is out of range: 1M to 1000G"},
		{"3 1 2\n2\n0 2 100Gbps 1ms 0\n1 2 100Gbps 1us 0\n",
		 "line 3: the link of 0 and 2 has a delay of more than 100us"},
		{"3 1 2\n2\n0 2 100Gbps 1us 0.5\n1 2 100Gbps 1us 0\n",
		 "line 3: the link of 0 and 2 loses packets: 'faults' of class \"lose\" can say that"},
		{"3 1 2\n2\n0 2 100Gbps\n1 2 100Gbps 1us 0\n", "line 3: "},
		{"", "line 1: "},
	};
	char name[] = "/tmp/topologyXXXXXX", topology[256], want[512], err[512];
	int fd = mkstemp(name);

	cr_assert_geq(fd, 0);
	snprintf(topology, sizeof(topology), "\"file\": \"%s\"", name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mf_config c;

		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, rows[i].text, strlen(rows[i].text), 0),
			     (ssize_t)strlen(rows[i].text));
		cr_expect_eq(parse_tree(&c, err, topology, 2), -EINVAL, "%s", rows[i].why);
		snprintf(want, sizeof(want), "%s: %s", name, rows[i].why);
		cr_expect_eq(strncmp(err, want, strlen(want)), 0, "%s, not %s", err, want);
		assert_one_line(err);
	}
	close(fd);
	unlink(name);
	{
		struct mf_config c;

		cr_expect_eq(parse_tree(&c, err, topology, 2), -EINVAL);
		snprintf(want, sizeof(want), "%s: No such file or directory", name);
		cr_expect_str_eq(err, want);
	}
}

Test(config_topology, every_key_is_documented)
{
	static const char *const keys[] = {"topology", "fat-tree",    "file", "servers",
					   "tor",      "aggregation", "core", "pods",
					   "rates",    "propagation", NULL};

	assert_documented(keys);
}
