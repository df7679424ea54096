/* SPDX-License-Identifier: BSD-3-Clause */
/* What people are told of a check. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "linear/mf_history.h"

#define OPS 40

static void says(const struct mf_history_verdict *v, const char *expected)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	mf_history_explain(v, f);
	fclose(f);
	cr_expect_str_eq(text, expected);
	free(text);
}

Test(history_explain, all_is_well)
{
	struct mf_history_verdict v = {
		.answer = MF_HISTORY_YES, .operations = 12, .words = 3, .full = MF_NEVER};

	says(&v, "history: 12 operations on 3 words: linearizable\n");
	v.cuts = 2;
	v.across = 5;
	says(&v,
	     "history: 12 operations on 3 words, 2 times memory may have been lost (5 finds meanwhile, not "
	     "looked at): linearizable\n");
	v.cuts = 0;
	v.full = MF_US(7);
	says(&v, "history: 12 operations on 3 words, until a log was full after 7 us: linearizable\n");
	v.full = MF_NEVER;
	v.parts = 1;
	says(&v, "history: 12 operations on 3 words, 1 words not looked at (in part written, begin unknown): "
		 "linearizable\n");
}

Test(history_explain, some_words_are_not_known)
{
	const struct mf_history_verdict v = {.answer = MF_HISTORY_GAVE_UP,
					     .operations = 12,
					     .words = 3,
					     .full = MF_NEVER,
					     .gave_up = 2,
					     .node = 3,
					     .addr = 64,
					     .ops = 9};

	says(&v, "history: 12 operations on 3 words: linearizable but for 2 words of which it is not known\n"
		 "the first of them: node 3, word at 0x40, 9 operations\n");
}

/** With room for its words. */
static struct {
	struct mf_history_record r;
	uint64_t word[3];
} record[OPS];
static struct mf_history_op op[OPS];

static struct mf_history_op *add(unsigned int i, enum mf_history_kind kind, mf_time ret, uint64_t value)
{
	record[i].r = (struct mf_history_record){
		.client = (uint16_t)(i + 1), .kind = (uint8_t)kind, .outcome = MF_HISTORY_OK};
	op[i] = (struct mf_history_op){.op = &record[i].r,
				       .call = MF_US(i + 1) + MF_NS(20),
				       .ret = ret,
				       .mask = UINT64_MAX,
				       .value = value,
				       .must = true,
				       .found = kind != MF_HISTORY_WRITE && kind != MF_HISTORY_WRITE_ACK};
	return &op[i];
}

static struct mf_history_verdict wrong(unsigned int ops, unsigned int bad)
{
	return (struct mf_history_verdict){.answer = MF_HISTORY_NO,
					   .operations = ops,
					   .words = 1,
					   .full = MF_NEVER,
					   .node = 3,
					   .addr = 64,
					   .initial = 10,
					   .op = op,
					   .ops = ops,
					   .bad = bad};
}

Test(history_explain, each_kind_of_operation)
{
	const struct mf_history_verdict v = wrong(8, 6);

	add(0, MF_HISTORY_WRITE_ACK, MF_US(2), 5);
	add(1, MF_HISTORY_WRITE, MF_US(3), 6)->must = false;
	add(2, MF_HISTORY_READ, MF_US(4), 0)->found = false;
	record[2].r.outcome = MF_HISTORY_FAILED;
	record[2].r.status = 4;
	add(3, MF_HISTORY_CAS, MF_NEVER, 7);
	record[3].word[0] = 1;
	record[3].word[1] = 2;
	add(4, MF_HISTORY_FADD, MF_US(6), 8);
	record[4].word[0] = 3;
	add(5, MF_HISTORY_READ, MF_US(7), 0x900)->mask = 0xff00;
	add(6, MF_HISTORY_READ, MF_US(8), 0x12);
	add(7, MF_HISTORY_ZEROED, MF_US(9), 0);
	says(&v,
	     "history: 8 operations on 1 words: not linearizable\n"
	     "node 3, word at 0x40: no order of its 8 operations from 0xa on explains them all\n"
	     "                               called, us    returned, us\n"
	     "   client 1    write_ack            1.020           2.000  wrote 0x5\n"
	     "   client 2    write                2.020           3.000  wrote 0x6 (at any time from then "
	     "on, or never)\n"
	     "   client 3    read                 3.020           4.000  nobody knows what it found (failed: "
	     "status 4)\n"
	     "   client 4    cas                  4.020           never  0x1 -> 0x2, found 0x7\n"
	     "   client 5    fadd                 5.020           6.000  0x3, found 0x8\n"
	     "   client 6    read                 6.020           7.000  found 0x900 of octets 0xff00\n"
	     " > client 7    read                 7.020           8.000  found 0x12\n"
	     "   client 8    zeroed               8.020           9.000  wrote 0\n");
}

Test(history_explain, a_word_of_a_space)
{
	struct mf_history_verdict v = wrong(1, 0);

	v.space = 0x2001;
	add(0, MF_HISTORY_READ, MF_US(2), 5);
	says(&v, "history: 1 operations on 1 words: not linearizable\n"
		 "node 3, space 0x2001, word at 0x40: no order of its 1 operations from 0xa on "
		 "explains them all\n"
		 "                               called, us    returned, us\n"
		 " > client 1    read                 1.020           2.000  found 0x5\n");
}

/** Lines of operations that are shown, and how many more there are before and after. */
static void shows(unsigned int ops, unsigned int bad, unsigned int before, unsigned int shown,
		  unsigned int more)
{
	const struct mf_history_verdict v = wrong(ops, bad);
	char *text, *marked, line[64];
	unsigned int lines = 0;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (unsigned int i = 0; i < ops; i++)
		add(i, MF_HISTORY_READ, MF_US(i + 2), i);
	mf_history_explain(&v, f);
	fclose(f);
	for (const char *at = text; (at = strstr(at, " client ")) != NULL; at++)
		lines++;
	cr_expect_eq(lines, shown, "%u of %u", lines, ops);
	snprintf(line, sizeof(line), "... %u before\n", before);
	cr_expect_eq(strstr(text, line) != NULL, before > 0, "%s", text);
	cr_expect_eq(strstr(text, "before") != NULL, before > 0, "%s", text);
	snprintf(line, sizeof(line), "... %u more\n", more);
	cr_expect_eq(strstr(text, line) != NULL, more > 0, "%s", text);
	cr_expect_eq(strstr(text, "more") != NULL, more > 0, "%s", text);
	snprintf(line, sizeof(line), " > client %u ", bad + 1);
	marked = strstr(text, " > ");
	cr_assert(marked != NULL && strncmp(marked, line, strlen(line)) == 0, "%s", text);
	cr_expect_null(strstr(marked + 1, " > "));
	free(text);
}

/** The one that is wrong, twelve before it and as many after it. */
Test(history_explain, of_a_long_history_the_part_that_matters)
{
	shows(25, 12, 0, 25, 0);
	shows(26, 12, 0, 25, 1);
	shows(26, 13, 1, 25, 0);
	shows(40, 20, 8, 25, 7);
	shows(40, 39, 27, 13, 0);
	shows(40, 0, 0, 25, 15);
}
