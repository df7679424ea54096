/* SPDX-License-Identifier: BSD-3-Clause */
/* A file is there whole or not at all, and what was there before stays until then. */
#include "file/mf_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

static char folder[] = "/tmp/memfab-file-XXXXXX";

static void begin(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	umask(022);
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(command), 0);
}

TestSuite(output, .init = begin, .fini = end);

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	cr_assert_eq(fclose(f), 0);
}

static void is(const char *path, const char *text)
{
	char found[128] = "";
	FILE *f = fopen(path, "r");

	cr_assert_not_null(f, "%s is not there", path);
	found[fread(found, 1, sizeof(found) - 1, f)] = '\0';
	fclose(f);
	cr_assert_str_eq(found, text, "%s", path);
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/** How many entries there are. */
static int entries(void)
{
	FILE *f = popen("ls -A | wc -l", "r");
	int n;

	cr_assert_eq(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static int write_text(const char *path, const char *text, int rc)
{
	struct mf_output o;
	int err = mf_output_open(&o, path);

	if (err != 0)
		return err;
	fputs(text, o.file);
	return mf_output_close(&o, rc);
}

Test(output, new_one)
{
	cr_assert_eq(write_text("a", "new", 0), 0);
	is("a", "new");
	cr_assert_eq(mode_of("a"), 0644, "%o", mode_of("a"));
	cr_assert_eq(entries(), 1);
}

Test(output, nothing_is_there_until_it_is_whole)
{
	struct mf_output o;

	cr_assert_eq(mf_output_open(&o, "a"), 0);
	fputs("new", o.file);
	cr_assert_neq(access("a", F_OK), 0);
	cr_assert_eq(mf_output_close(&o, 0), 0);
	is("a", "new");
}

Test(output, given_up)
{
	cr_assert_eq(write_text("a", "new", -EIO), -EIO);
	cr_assert_eq(entries(), 0);
	put("a", "old");
	cr_assert_eq(write_text("a", "new", -EIO), -EIO);
	is("a", "old");
	cr_assert_eq(entries(), 1);
}

Test(output, old_one_keeps_its_rights)
{
	put("a", "old one, and longer");
	cr_assert_eq(chmod("a", 0640), 0);
	cr_assert_eq(write_text("a", "new", 0), 0);
	is("a", "new");
	cr_assert_eq(mode_of("a"), 0640);
}

Test(output, links_are_followed)
{
	struct stat st;

	cr_assert_eq(mkdir("d", 0777), 0);
	put("d/a", "old");
	cr_assert_eq(symlink("d/a", "l"), 0);
	cr_assert_eq(symlink("d/b", "m"), 0);
	cr_assert_eq(symlink("m", "n"), 0);
	cr_assert_eq(write_text("l", "new", 0), 0);
	cr_assert_eq(write_text("n", "newer", 0), 0);
	is("d/a", "new");
	is("d/b", "newer");
	cr_assert(lstat("l", &st) == 0 && S_ISLNK(st.st_mode));
	cr_assert(lstat("n", &st) == 0 && S_ISLNK(st.st_mode));
	cr_assert_eq(symlink("o", "o"), 0);
	cr_assert_eq(write_text("o", "new", 0), -ELOOP);
}

Test(output, what_cannot_be_written)
{
	cr_assert_eq(mkdir("d", 0777), 0);
	cr_assert_eq(write_text("d", "new", 0), -EISDIR);
	cr_assert_eq(write_text("none/a", "new", 0), -ENOENT);
	cr_assert_eq(write_text("", "new", 0), -ENOENT);
	cr_assert_eq(write_text("new/", "new", 0), -EISDIR);
	put("a", "old");
	cr_assert_eq(write_text("a/b", "new", 0), -ENOTDIR);
	if (geteuid() == 0) { /* who may do all is asked nothing */
		cr_assert_eq(seteuid(65534), 0);
		cr_assert_eq(write_text("a", "new", 0), -EACCES);
		cr_assert_eq(seteuid(0), 0);
	} else {
		cr_assert_eq(chmod("a", 0444), 0);
		cr_assert_eq(write_text("a", "new", 0), -EACCES);
	}
	is("a", "old");
}

Test(output, full)
{
	cr_assert_eq(write_text("/dev/full", "new", 0), -ENOSPC);
	cr_assert_eq(write_text("/dev/null", "new", 0), 0);
}

Test(output, too_long)
{
	struct mf_output o;

	put("a", "old");
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, RLIM_INFINITY}), 0);
	cr_assert_eq(mf_output_open(&o, "a"), 0);
	for (int i = 0; i < 10000; i++)
		fputs("new", o.file);
	cr_assert_eq(mf_output_close(&o, 0), -EFBIG);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
	is("a", "old");
	cr_assert_eq(entries(), 1);
}

Test(output, a_name_as_long_as_can_be)
{
	char name[256] = "";

	memset(name, 'x', 255);
	cr_assert_eq(write_text(name, "new", 0), 0);
	is(name, "new");
	cr_assert_eq(entries(), 1);
}

/** Of a folder that takes no new file: in place, and what is left of the old one goes. */
Test(output, folder_takes_nothing)
{
	if (geteuid() != 0)
		cr_skip("needs root");
	cr_assert_eq(mkdir("d", 0777), 0);
	put("d/a", "old one, and longer");
	cr_assert_eq(chown("d/a", 65534, 65534), 0);
	cr_assert_eq(chmod("d", 0755), 0);
	cr_assert_eq(chmod(".", 0755), 0);
	cr_assert_eq(seteuid(65534), 0);
	cr_assert_eq(write_text("d/b", "new", 0), -EACCES);
	cr_assert_eq(write_text("d/a", "new", 0), 0);
	cr_assert_eq(seteuid(0), 0);
	is("d/a", "new");
}

Test(output, what_came_meanwhile_stays)
{
	struct mf_output o;

	cr_assert_eq(mf_output_open(&o, "a"), 0);
	cr_assert_eq(mkfifo("a", 0666), 0);
	cr_assert_eq(mf_output_close(&o, 0), -EEXIST);
	cr_assert_eq(entries(), 1);
}

Test(output, descriptors)
{
	int fd = open("a", O_RDWR | O_CREAT | O_APPEND, 0666), closed = dup(fd);
	char path[64];

	cr_assert_eq(dprintf(fd, "before, "), 8);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	cr_assert_eq(mf_output_descriptor(path), fd);
	cr_assert_eq(write_text(path, "behind", 0), 0);
	is("a", "before, behind");
	close(closed);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", closed);
	cr_assert_eq(write_text(path, "x", 0), -EBADF);
	cr_assert_eq(mf_output_descriptor("-"), STDOUT_FILENO);
	cr_assert_eq(mf_output_descriptor("/dev/stderr"), STDERR_FILENO);
	cr_assert_eq(mf_output_descriptor("/dev/fd/x"), -1);
	cr_assert_eq(mf_output_descriptor("/dev/fd/1x"), -1);
	cr_assert_eq(mf_output_descriptor("./-"), -1);
}

Test(output, all_are_given_up_but_those_of_the_parent)
{
	struct mf_output a, b;
	int status;

	cr_assert_eq(mf_output_open(&a, "a"), 0);
	cr_assert_eq(mf_output_open(&b, "b"), 0);
	if (fork() == 0) {
		mf_output_give_up_all();
		_exit(0);
	}
	wait(&status);
	cr_assert_eq(entries(), 2);
	mf_output_give_up_all();
	cr_assert_eq(entries(), 0);
	cr_assert_eq(mf_output_close(&a, 0), -ENOENT);
	cr_assert_eq(mf_output_close(&b, -EIO), -EIO);
}
