/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the same file, whatever it is called. */
#include "file/mf_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

static char folder[] = "/tmp/memfab-file-XXXXXX";

static void begin(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(system("echo x >a; echo x >b; ln a hard; ln -s a soft; ln -s new dangling; mkdir d; "
			    "ln -s . here; mkfifo pipe"),
		     0);
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(command), 0);
}

TestSuite(files, .init = begin, .fini = end);

static int compare(const char *read, const char *written, const char *other)
{
	struct mf_files f = {.n = 0};
	char err[512];

	mf_files_read(&f, "FABRIC", read);
	mf_files_written(&f, "--json", written);
	mf_files_written(&f, "--history", other);
	return mf_files_check(&f, err, sizeof(err));
}

Test(files, same)
{
	static const char *const pair[][2] = {
		{"a", "a"},       {"a", "./a"},    {"a", "d/../a"}, {"a", "hard"},        {"a", "soft"},
		{"soft", "hard"}, {"a", "here/a"}, {"new", "new"},  {"new", "here/new"},  {"new", "dangling"},
		{"d", "d/"},      {"d", "here/d"}, {"here", "."},   {"d/new", "./d/new"},
	};

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		const char *a = pair[i][0], *b = pair[i][1];

		cr_assert_eq(compare(NULL, a, b), -EINVAL, "%s, %s", a, b);
		cr_assert_eq(compare(a, b, NULL), -EINVAL, "%s, %s", a, b);
		cr_assert_eq(compare(b, a, "other"), -EINVAL, "%s, %s", a, b);
	}
}

Test(files, different)
{
	static const char *const pair[][2] = {
		{"a", "b"},           {"new", "d/new"},     {"a", "new"},
		{"pipe", "pipe"},     {"d", "d/a"},         {"/dev/null", "/dev/null"},
		{"-", "/dev/stdout"}, {"none/a", "none/a"}, {"/dev/full", "/dev/full"},
	};

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++)
		cr_assert_eq(compare(NULL, pair[i][0], pair[i][1]), 0, "%s, %s", pair[i][0], pair[i][1]);
}

Test(files, both_are_only_read)
{
	struct mf_files f = {.n = 0};
	char err[512];

	mf_files_read(&f, "FABRIC", "a");
	mf_files_read(&f, "trace", "a");
	cr_assert_eq(mf_files_check(&f, err, sizeof(err)), 0);
}

Test(files, both_are_named)
{
	struct mf_files f = {.n = 0};
	char err[512];

	mf_files_written(&f, "--json", "hard");
	mf_files_read(&f, "FABRIC", "a");
	cr_assert_eq(mf_files_check(&f, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "--json hard: is the same file as FABRIC a, which is read");
	mf_files_written(&f, "--json", "b");
	mf_files_written(&f, "--history", "b");
	cr_assert_eq(mf_files_check(&f, err, sizeof(err)), -EINVAL);
	cr_assert_str_eq(err, "--history b: is the same file as --json b, which is written, too");
}

Test(files, streams)
{
	int out = dup(STDOUT_FILENO), fd = open("a", O_WRONLY | O_APPEND);
	struct mf_files f = {.n = 0};
	char err[512];
	int rc[4];

	dup2(fd, STDOUT_FILENO);
	mf_files_streams(&f);
	mf_files_written(&f, "--json", "/dev/stdout");
	rc[0] = mf_files_check(&f, err, sizeof(err)); /* it is asked for */
	mf_files_streams(&f);
	mf_files_written(&f, "--json", "soft");
	rc[1] = mf_files_check(&f, err, sizeof(err));
	mf_files_written(&f, "--json", "-");
	mf_files_read(&f, "TRACE", "a");
	rc[2] = mf_files_check(&f, err, sizeof(err));
	mf_files_streams(&f);
	mf_files_read(&f, "TRACE", "hard");
	rc[3] = mf_files_check(&f, err, sizeof(err));
	dup2(out, STDOUT_FILENO);
	cr_assert_eq(rc[0], 0);
	cr_assert_eq(rc[1], -EINVAL);
	cr_assert_eq(rc[2], -EINVAL);
	cr_assert_eq(rc[3], -EINVAL);
	cr_assert_str_eq(err, "standard output: is the same file as TRACE hard, which is read");
}

/** What is to be read again, and a folder, are that or not there yet. */
Test(files, types)
{
	static const struct {
		const char *path;
		int regular, folder;
	} some[] = {
		{"a", 0, -EINVAL},
		{"soft", 0, -EINVAL},
		{"new", 0, 0},
		{"d", -EINVAL, 0},
		{"pipe", -EINVAL, -EINVAL},
		{"here", -EINVAL, 0},
		{"/dev/null", -EINVAL, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct mf_files f = {.n = 0};
		char err[512];

		mf_files_regular(&f, "--record", some[i].path);
		cr_expect_eq(mf_files_check(&f, err, sizeof(err)), some[i].regular, "%s", some[i].path);
		mf_files_folder(&f, "--record", some[i].path);
		cr_expect_eq(mf_files_check(&f, err, sizeof(err)), some[i].folder, "%s", some[i].path);
	}
}

/** Standard input is a file like any other, where "-" means that. */
Test(files, standard_input)
{
	struct mf_files f = {.n = 0};
	char err[512];

	cr_assert_not_null(freopen("a", "r", stdin));
	mf_files_input(&f, "TRACE", "-");
	mf_files_written(&f, "--json", "hard");
	cr_expect_eq(mf_files_check(&f, err, sizeof(err)), -EINVAL);
	mf_files_input(&f, "TRACE", "-");
	mf_files_written(&f, "--json", "b");
	cr_expect_eq(mf_files_check(&f, err, sizeof(err)), 0);
}
