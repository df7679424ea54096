/* SPDX-License-Identifier: BSD-3-Clause */
/* HPCC's topology files: what is read, and what is said of what is wrong. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "topology/mf_hpcc.h"

static const char good[] = "5 2 4\n"
			   "3 4\n"
			   "0 3 100Gbps 1000ns 0.000000\n"
			   "1 3 25Gbps 0.001ms 0\n"
			   "2 4 400Mbps 1us 0.01\n"
			   "3 4 2.5Gbps 2.56ns 1e-3\n"
			   "\n"
			   "First line: total node #, switch node #, link #\n"
			   "src0 dst0 rate delay error_rate\n";

static void check_good(const struct mf_hpcc *h)
{
	static const struct mf_hpcc_link links[] = {
		{{0, 3}, 100000000000, 1000000, 0, 0},
		{{1, 3}, 25000000000, 1000000, 0, 0},
		{{2, 4}, 400000000, 1000000, .01, 0},
		{{3, 4}, 2500000000, 2560, .001, 0},
	};

	cr_assert_eq(h->nodes, 5);
	cr_assert_eq(h->switches, 2);
	cr_assert_eq(h->links, 4);
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(h->is_switch[i], i >= 3);
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert_eq(h->link[i].node[0], links[i].node[0]);
		cr_assert_eq(h->link[i].node[1], links[i].node[1]);
		cr_assert_eq(h->link[i].rate, links[i].rate);
		cr_assert_eq(h->link[i].delay, links[i].delay);
		cr_assert_eq(h->link[i].loss, links[i].loss);
	}
}

/** Parses a copy that ends where it ends, so that a sanitizer sees what is read beyond. */
static int parse(const char *text, size_t len, struct mf_hpcc **h, char *err)
{
	char *copy = malloc(len > 0 ? len : 1);
	int rc;

	memcpy(copy, text, len);
	rc = mf_hpcc_parse(copy, len, h, err, MF_HPCC_ERROR);
	free(copy);
	return rc;
}

static void accept(const char *text)
{
	char err[MF_HPCC_ERROR] = "";
	struct mf_hpcc *h;

	cr_assert_eq(parse(text, strlen(text), &h, err), 0, "%s", err);
	check_good(h);
	mf_hpcc_free(h);
}

/** Replaces each of a text by another one. The caller frees the result. */
static char *replaced(const char *text, const char *old, const char *new)
{
	size_t n = 0;
	char *out;

	for (const char *at = text; (at = strstr(at, old)) != NULL; at += strlen(old))
		n++;
	out = calloc(1, strlen(text) + n * strlen(new) + 1);
	for (const char *at; (at = strstr(text, old)) != NULL; text = at + strlen(old)) {
		strncat(out, text, (size_t)(at - text));
		strcat(out, new);
	}
	return strcat(out, text);
}

/** Where its links stand, blank lines included. */
static void assert_lines(void)
{
	char err[MF_HPCC_ERROR] = "";
	struct mf_hpcc *h;

	cr_assert_eq(parse(good, strlen(good), &h, err), 0, "%s", err);
	for (uint32_t i = 0; i < h->links; i++)
		cr_assert_eq(h->link[i].line, 3 + i);
	mf_hpcc_free(h);
}

Test(topology_hpcc, is_read)
{
	static const char *const alike[][2] = {
		{"\n", "\r\n"},           {"\n", "\n\n"},         {" ", " \t "},    {"3 4\n", "3\n4\n"},
		{"3 4\n", "\n 4\n\n3\n"}, {"5 2 4", "\n\n5 2 4"}, {"\n0", " \n 0"}, {"1us", "1000000ps"}};

	accept(good);
	assert_lines();
	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		char *text = replaced(good, alike[i][0], alike[i][1]);

		accept(text);
		free(text);
	}
}

Test(topology_hpcc, needs_no_end_of_the_last_line)
{
	char err[MF_HPCC_ERROR];
	struct mf_hpcc *h;
	size_t len = (size_t)(strstr(good, "\n\n") - good);

	cr_assert_eq(parse(good, len, &h, err), 0, "%s", err);
	check_good(h);
	mf_hpcc_free(h);
	mf_hpcc_free(NULL);
}

Test(topology_hpcc, smallest_files)
{
	char err[MF_HPCC_ERROR];
	struct mf_hpcc *h;

	cr_assert_eq(parse("1 0 0", 5, &h, err), 0, "%s", err);
	cr_assert(h->nodes == 1 && h->switches == 0 && h->links == 0);
	mf_hpcc_free(h);
	cr_assert_eq(parse("2 0 1\n\n1 0 9223372036Gbps 0 1", 29, &h, err), 0, "%s", err);
	cr_assert_eq(h->link[0].rate, UINT64_C(9223372036000000000));
	cr_assert_eq(h->link[0].delay, 0);
	mf_hpcc_free(h);
}

Test(topology_hpcc, units_of_rates)
{
	static const struct {
		const char *text;
		uint64_t rate;
	} rates[] = {{"1bps", 1},          {"7kbps", 7000},        {"7Kbps", 7000},
		     {"1.5Mbps", 1500000}, {"0.000000001Gbps", 1}, {"3Tbps", 3000000000000}};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char text[100], err[MF_HPCC_ERROR];
		struct mf_hpcc *h;

		snprintf(text, sizeof(text), "2 0 1\n0 1 %s 1ns 0\n", rates[i].text);
		cr_assert_eq(parse(text, strlen(text), &h, err), 0, "%s", err);
		cr_assert_eq(h->link[0].rate, rates[i].rate);
		mf_hpcc_free(h);
	}
}

static const struct {
	const char *text, *err;
} bad[] = {
	{"", "line 1: the text is empty"},
	{"\n \r\n\t\n", "line 3: the text is empty"},
	{"5", "line 1: the number of switches is missing"},
	{"5 2", "line 1: the number of links is missing"},
	{"5 2 4 1", "line 1: '1' follows the number of links"},
	{"x 2 4", "line 1: the number of nodes is not a number: 'x'"},
	{"-5 2 4", "line 1: the number of nodes is not a number: '-5'"},
	{"0 0 0", "line 1: there are no nodes"},
	{"65537 2 4", "line 1: the number of nodes is more than 65536: 65537"},
	{"99999999999999999999 2 4", "line 1: the number of nodes is more than 65536: 99999999999999999999"},
	{"5 6 4", "line 1: the number of switches is more than 5: 6"},
	{"5 2 4294967296", "line 1: the number of links is more than 4294967295: 4294967296"},
	{"5 2 4294967295\n3 4\n", "line 2: the text ends after 0 of 4294967295 links"},
	{"5 2 4\n3\n", "line 2: the text ends after 1 of 2 switches"},
	{"5 2 4\n3 5\n", "line 2: the id of a switch is more than 4: 5"},
	{"5 2 4\n\n3\n3\n", "line 4: 3 is named twice as a switch"},
	{"5 2 4\n3 4 1\n", "line 2: '1' follows the last switch"},
	{"5 3 4\n3 4\n0 3 1Gbps 1ns 0\n", "line 3: '3' follows the last switch"},
	{"5 1 2\n4\n0 4 1Gbps 1ns 0\n", "line 3: the text ends after 1 of 2 links"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0\n\n1 4 1Gbps 1ns 0\n", "line 5: more than the 1 links of the first line"},
	{"5 1 1\n4\n0\n", "line 3: the second node of the link is missing"},
	{"5 1 1\n4\n0 4\n", "line 3: the rate is missing"},
	{"5 1 1\n4\n0 4 1Gbps\n", "line 3: the delay is missing"},
	{"5 1 1\n4\n0 4 1Gbps 1ns\n", "line 3: the error rate is missing"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0 0\n", "line 3: '0' follows the error rate"},
	{"5 1 1\n4\n5 4 1Gbps 1ns 0\n", "line 3: the first node of the link is more than 4: 5"},
	{"5 1 1\n4\n0 99 1Gbps 1ns 0\n", "line 3: the second node of the link is more than 4: 99"},
	{"5 1 1\n4\n4 4 1Gbps 1ns 0\n", "line 3: node 4 is linked to itself"},
	{"5 1 1\n4\n0 4 1G 1ns 0\n", "line 3: not a rate such as 100Gbps: '1G'"},
	{"5 1 1\n4\n0 4 Gbps 1ns 0\n", "line 3: not a rate such as 100Gbps: 'Gbps'"},
	{"5 1 1\n4\n0 4 1..2Gbps 1ns 0\n", "line 3: not a rate such as 100Gbps: '1..2Gbps'"},
	{"5 1 1\n4\n0 4 0.5bps 1ns 0\n", "line 3: not a rate such as 100Gbps: '0.5bps'"},
	{"5 1 1\n4\n0 4 1GbpsX 1ns 0\n", "line 3: not a rate such as 100Gbps: '1GbpsX'"},
	{"5 1 1\n4\n0 4 0Gbps 1ns 0\n", "line 3: the rate is 0"},
	{"5 1 1\n4\n0 4 99999999999Gbps 1ns 0\n", "line 3: the rate is too great: 99999999999Gbps"},
	{"5 1 1\n4\n0 4 1Gbps 1 0\n", "line 3: not a delay such as 1000ns, in whole picoseconds: '1'"},
	{"5 1 1\n4\n0 4 1Gbps 0.1ps 0\n",
	 "line 3: not a delay such as 1000ns, in whole picoseconds: '0.1ps'"},
	{"5 1 1\n4\n0 4 1Gbps 9999999999s 0\n", "line 3: the delay is too great: 9999999999s"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 1.1\n", "line 3: the error rate is not a number from 0 to 1: '1.1'"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 1e999\n", "line 3: the error rate is not a number from 0 to 1: '1e999'"},
	{"5 1 1\n4\n0 4 1Gbps 1ns nan\n", "line 3: the error rate is not a number from 0 to 1: 'nan'"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0x1\n", "line 3: the error rate is not a number from 0 to 1: '0x1'"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0\033[1m\n", "line 3: the error rate is not a number from 0 to 1: '0?[1m'"},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0.0000000000000000000000000000000000000\n", NULL},
	{"5 1 1\n4\n0 4 1Gbps 1ns 0.000000000000000000000000000000000000000\n",
	 "line 3: the error rate is not a number from 0 to 1: '0.00000000000000000000000000000000000000...'"},
};

Test(topology_hpcc, says_what_is_wrong)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char err[MF_HPCC_ERROR] = "", few[8];
		struct mf_hpcc *h = NULL;
		int rc = parse(bad[i].text, strlen(bad[i].text), &h, err);

		cr_assert_eq(rc, bad[i].err == NULL ? 0 : -EINVAL, "%s: %s", bad[i].text, err);
		cr_assert_str_eq(err, bad[i].err == NULL ? "" : bad[i].err);
		if (rc == 0) {
			mf_hpcc_free(h);
			continue;
		}
		cr_assert_eq(mf_hpcc_parse(bad[i].text, strlen(bad[i].text), &h, few, sizeof(few)), -EINVAL);
		cr_assert(strlen(few) == 7 && strncmp(few, err, 7) == 0);
	}
}

Test(topology_hpcc, bytes_that_are_no_text)
{
	static const char zero[] = "5 1 1\n4\n0\0 4 1Gbps 1ns 0\n";
	char err[MF_HPCC_ERROR];
	struct mf_hpcc *h;

	cr_assert_eq(parse(zero, sizeof(zero) - 1, &h, err), -EINVAL);
	cr_assert_str_eq(err, "line 3: the first node of the link is not a number: '0?'");
}

/** Alters some bytes and cuts the text: a message of one line, or a topology that holds together. */
Test(topology_hpcc, any_bytes)
{
	unsigned int accepted = 0, refused = 0;

	for (uint64_t seed = 0; seed < 20000; seed++) {
		static const char likely[] = "0123456789 \n\r.Gbpsnums-\0";
		char text[sizeof(good)], err[MF_HPCC_ERROR] = "";
		struct mf_hpcc *h = NULL;
		struct mf_rng rng;
		size_t len;
		int rc;

		mf_rng_init(&rng, seed, "hpcc", 0);
		memcpy(text, good, sizeof(good));
		for (uint64_t n = mf_rng_below(&rng, 4); n > 0; n--)
			text[mf_rng_below(&rng, sizeof(good))] = likely[mf_rng_below(&rng, sizeof(likely))];
		len = mf_rng_below(&rng, 4) == 0 ? mf_rng_below(&rng, sizeof(good)) : sizeof(good) - 1;
		rc = parse(text, len, &h, err);
		if (rc == 0) {
			accepted++;
			for (uint32_t i = 0; i < h->links; i++)
				cr_assert(h->link[i].node[0] < h->nodes && h->link[i].node[1] < h->nodes);
			mf_hpcc_free(h);
			continue;
		}
		refused++;
		cr_assert_eq(rc, -EINVAL);
		cr_assert(strncmp(err, "line ", 5) == 0 && strpbrk(err, "\n\r") == NULL, "%s", err);
	}
	cr_assert(accepted > 2000 && refused > 2000, "%u %u", accepted, refused);
}
