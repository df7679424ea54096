/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a command line, one by one, and what no option may be. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "argument.h"

/** What has been read so far. */
struct reading {
	const struct argument_reader *r;
	bool given[ARGUMENT_OPTIONS];
	char *err;
	size_t errlen;
};

/**
 * What getopt_long() did not take: opt is '?', or ':' for a missing argument. In optopt is a short option
 * that is not there, or the long one that takes no argument.
 */
static int unknown(const struct reading *g, int opt, const char *last)
{
	const struct option *table = g->r->table;

	if (opt == ':')
		return argument_refuse(g->err, g->errlen, "option '%s' needs an argument, see --help", last);
	if (optopt == 0)
		return argument_refuse(g->err, g->errlen, "there is no option '%s', see --help", last);
	for (; table->name != NULL; table++)
		if (table->val == optopt)
			return argument_refuse(g->err, g->errlen, "option '%s' takes no argument, see --help",
					       last);
	return argument_refuse(g->err, g->errlen, "there is no option '-%c', see --help", optopt);
}

static const char *name_of(const struct argument_reader *r, int opt)
{
	const struct option *t = r->table;

	while (t->name != NULL && t->val != opt)
		t++;
	return t->name != NULL ? t->name : "";
}

static bool among(const int *list, int opt)
{
	for (; list != NULL && *list != 0; list++)
		if (*list == opt)
			return true;
	return false;
}

/** Whether a word says that it is an option: "-1ms" and "-" do not. */
static bool is_option(const struct argument_reader *r, const char *word)
{
	return word[0] == '-' && (word[1] == '-' || (isalpha((unsigned char)word[1]) != 0 &&
						     strchr(r->letters, word[1]) != NULL));
}

/** An argument that is the next word was perhaps not meant as one. */
static int check_argument(const struct reading *g, int opt, const char *word)
{
	const char *name = name_of(g->r, opt);
	bool file = among(g->r->files, opt);

	if (file && *optarg == '\0')
		return argument_refuse(g->err, g->errlen, "--%s wants the name of a file, not an empty one",
				       name);
	if (optarg != word || !is_option(g->r, word))
		return 0;
	if (file)
		return argument_refuse(g->err, g->errlen,
				       "--%s wants a file, and '%s' is an option; write ./%s for such a name",
				       name, word, word);
	return argument_refuse(g->err, g->errlen, "--%s wants an argument, and '%s' is an option", name,
			       word);
}

/** A switch that is given twice says the same twice. */
static int check_given(struct reading *g, int opt)
{
	const struct argument_apart *p = g->r->apart;

	if (g->given[opt] && optarg != NULL && !among(g->r->several, opt))
		return argument_refuse(g->err, g->errlen, "--%s is given twice", name_of(g->r, opt));
	g->given[opt] = true;
	for (; p != NULL && p->a != 0; p++)
		if (g->given[p->a] && g->given[p->b])
			return argument_refuse(g->err, g->errlen,
					       "--%s and --%s do not go together: one undoes the other",
					       name_of(g->r, p->a), name_of(g->r, p->b));
	return 0;
}

static int take(struct reading *g, int opt, const char *word)
{
	int rc = optarg != NULL ? check_argument(g, opt, word) : 0;

	if (rc == 0)
		rc = check_given(g, opt);
	return rc == 0 ? g->r->take(g->r->options, opt, optarg, g->err, g->errlen) : rc;
}

int argument_options(const struct argument_reader *r, int argc, char **argv, char *err, size_t errlen)
{
	struct reading g = {.r = r, .err = err, .errlen = errlen};
	int opt, rc = 0;

	opterr = 0;
	optind = 0; /* from the start, whatever was read before */
	while (rc == 0 && (opt = getopt_long(argc, argv, r->letters, r->table, NULL)) != -1)
		rc = opt == ':' || opt == '?' ? unknown(&g, opt, argv[optind - 1])
					      : take(&g, opt, argv[optind - 1]);
	return rc;
}
