/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of histories, checked together: what programs say and return. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "linear/mf_history.h"

#define NAME "/tmp/mf_history_XXXXXX"

/** What is said on standard error goes into a file. */
static void catch_errors(void)
{
	FILE *errors = tmpfile();

	cr_assert_not_null(errors);
	dup2(fileno(errors), STDERR_FILENO);
}

TestSuite(history_files, .init = catch_errors);

/** A write of 5, and a read of what was found. */
static void write_file(char *path, uint64_t fabric, uint8_t machine, uint64_t found)
{
	const struct mf_history_clock clock = {.hz = 1000000000, .machine = {machine}};
	const struct mf_history_config config = {.fingerprint = fabric};
	struct mf_history *h = mf_history_new(&config, 1, 4096);
	struct mf_history_log *l = mf_history_log(h, 0);
	struct mf_history_record r = {.call = 1, .len = 8, .kind = MF_HISTORY_WRITE_ACK};
	uint64_t value = 5;
	FILE *f;

	mf_history_set_clock(h, &clock);
	mf_history_end(l, mf_history_begin(l, &r, &value), 2, MF_HISTORY_OK, 0, NULL);
	r.kind = MF_HISTORY_READ;
	r.call = 3;
	mf_history_end(l, mf_history_begin(l, &r, NULL), 4, MF_HISTORY_OK, 0, &found);
	strcpy(path, NAME);
	f = fdopen(mkstemp(path), "w");
	cr_assert_not_null(f);
	cr_assert_eq(mf_history_write(h, f), 0);
	fclose(f);
	mf_history_free(h);
}

/** Status, and what is said: on standard output if there is an answer, else on standard error. */
static void says(const char *const *path, unsigned int n, int status, const char *what)
{
	char *text, error[512] = {0};
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(ftruncate(STDERR_FILENO, 0), 0);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	cr_expect_eq(mf_history_check_files("program", path, n, out), status);
	fclose(out);
	fflush(stderr);
	cr_assert_geq(pread(STDERR_FILENO, error, sizeof(error) - 1, 0), 0);
	cr_expect_not_null(strstr(status < 2 ? text : error, what), "%s%s", text, error);
	cr_expect_eq(status < 2 ? error[0] : text[0], '\0');
	free(text);
}

Test(history_files, one)
{
	char good[sizeof(NAME)], wrong[sizeof(NAME)];

	write_file(good, 1, 1, 5);
	write_file(wrong, 1, 1, 6);
	says((const char *const[]){good}, 1, 0, "history: 2 operations on 1 words: linearizable\n");
	says((const char *const[]){wrong}, 1, 1, "not linearizable\n");
	unlink(good);
	unlink(wrong);
}

Test(history_files, several)
{
	char one[sizeof(NAME)], two[sizeof(NAME)], elsewhere[sizeof(NAME)], other[sizeof(NAME)];

	write_file(one, 1, 1, 5);
	write_file(two, 1, 1, 5);
	write_file(elsewhere, 1, 2, 5);
	write_file(other, 2, 1, 5);
	says((const char *const[]){one, two}, 2, 0, "history: 4 operations on 1 words: linearizable\n");
	says((const char *const[]){one, other}, 2, 2, "program: these are not histories of one fabric\n");
	says((const char *const[]){one, elsewhere}, 2, 2,
	     "program: these histories have no clock in common\n");
	unlink(two);
	says((const char *const[]){one, two}, 2, 2, two);
	unlink(one);
	unlink(elsewhere);
	unlink(other);
}

Test(history_files, none)
{
	says(NULL, 0, 2, "program: no file of a history\n");
}
