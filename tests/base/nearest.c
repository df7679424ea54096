/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_nearest.h"
#include "base/mf_rng.h"

static const char *nearest(const char *word, const char *const *there)
{
	struct mf_nearest n;

	mf_nearest_begin(&n, word);
	for (; *there != NULL; there++)
		mf_nearest_look(&n, *there);
	return n.best;
}

static unsigned int edits(const char *a, const char *b)
{
	struct mf_nearest n;

	mf_nearest_begin(&n, a);
	mf_nearest_look(&n, b);
	return n.best != NULL ? n.edits : 0;
}

Test(nearest, words)
{
	static const char *const keys[] = {"seed", "memory", "nodes", "links", "switch", "l2_latency", NULL};

	cr_expect_str_eq(nearest("sede", keys), "seed");
	cr_expect_str_eq(nearest("node", keys), "nodes");
	cr_expect_str_eq(nearest("lniks", keys), "links");
	cr_expect_str_eq(nearest("l2latency", keys), "l2_latency");
	cr_expect_str_eq(nearest("Memory", keys), "memory");
	cr_expect_null(nearest("x", keys));
	cr_expect_null(nearest("", keys));
	cr_expect_str_eq(nearest("latency", keys), "l2_latency");
	cr_expect_null(nearest("latenc", keys), "four of ten octets are too many");
	cr_expect_null(nearest("anything else", keys));
}

Test(nearest, first_of_those_as_near)
{
	static const char *const keys[] = {"cn1", "cn2", NULL};

	cr_expect_str_eq(nearest("cn3", keys), "cn1");
}

Test(nearest, edits)
{
	cr_expect_eq(edits("ab", "ba"), 1);
	cr_expect_eq(edits("a", "b"), 1);
	cr_expect_eq(edits("a", "ab"), 1);
	cr_expect_eq(edits("abcdef", "abdcfe"), 2);
	cr_expect_eq(edits("abcdef", "bcdefg"), 2);
	cr_expect_eq(edits("abc", "abc"), 0, "the word itself is not meant");
	cr_expect_eq(edits("", "a"), 1);
}

Test(nearest, long_words)
{
	char word[MF_NEAREST_LEN + 2], other[MF_NEAREST_LEN + 2];

	memset(word, 'a', sizeof(word));
	memset(other, 'a', sizeof(other));
	word[MF_NEAREST_LEN + 1] = other[MF_NEAREST_LEN + 1] = '\0';
	other[7] = 'b';
	cr_expect_eq(edits(word, other), 0, "too long");
	word[MF_NEAREST_LEN] = other[MF_NEAREST_LEN] = '\0';
	cr_expect_eq(edits(word, other), 1);
}

/** The longest common prefix aside, by the definition: all that can be done first. */
static unsigned int slowly(const char *a, const char *b)
{
	unsigned int e, n;

	if (*a == '\0' || *b == '\0')
		return (unsigned int)(strlen(a) + strlen(b));
	e = (*a != *b) + slowly(a + 1, b + 1);
	n = 1 + slowly(a + 1, b);
	e = n < e ? n : e;
	n = 1 + slowly(a, b + 1);
	e = n < e ? n : e;
	if (a[0] == b[1] && a[1] == b[0] && a[1] != '\0') {
		n = 1 + slowly(a + 2, b + 2);
		e = n < e ? n : e;
	}
	return e;
}

Test(nearest, against_the_definition)
{
	unsigned int near = 0;
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "words", 0);
	for (unsigned int i = 0; i < 20000; i++) {
		char word[2][8];
		unsigned int e;
		size_t longer = 0;

		for (unsigned int k = 0; k < 2; k++) {
			size_t len = (size_t)mf_rng_below(&rng, 7);

			for (size_t j = 0; j < len; j++)
				word[k][j] = (char)('a' + mf_rng_below(&rng, 3));
			word[k][len] = '\0';
			longer = len > longer ? len : longer;
		}
		e = slowly(word[0], word[1]);
		if (e > (longer < 3 ? 1 : longer / 3))
			e = 0;
		near += e > 0;
		cr_assert_eq(edits(word[0], word[1]), e, "%s %s", word[0], word[1]);
	}
	cr_expect_gt(near, 1000);
}
