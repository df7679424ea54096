/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/mf_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/mf_output.h"
#include "file/place.h"

struct mf_files_one {
	char *what, *path;
	bool written, stream;
	mode_t type; /**< S_IFREG, S_IFDIR: what it has to be, if it is there; 0: anything */
	bool other; /**< it is there, and something else */
	bool there; /**< id is that of the file; false: id is that of its folder, name its name in there */
	dev_t dev;
	ino_t ino;
	char *name;
};

static void forget(struct mf_files_one *one)
{
	free(one->what);
	free(one->path);
	free(one->name);
}

/** A file or folder: what may be the same one. Of others there is nothing to tell. */
static bool tells(mode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode);
}

/** @return 1: it is known which one it is; 0: nothing can be the same; -ENOMEM */
static int identify(struct mf_files_one *one)
{
	struct stat folder;
	struct place p;
	int rc = place_find(&p, one->path);

	one->there = p.there;
	if (rc == 0 && p.there) {
		one->dev = p.st.st_dev;
		one->ino = p.st.st_ino;
		one->other = one->type != 0 && (p.st.st_mode & S_IFMT) != one->type;
		rc = tells(p.st.st_mode) || one->other;
	} else if (rc == 0 && stat(p.folder, &folder) == 0) {
		one->dev = folder.st_dev;
		one->ino = folder.st_ino;
		one->name = strdup(p.name);
		rc = one->name != NULL ? 1 : -ENOMEM;
	}
	place_fini(&p);
	return rc == -ENOMEM || rc > 0 ? rc : 0;
}

static int identify_stream(struct mf_files_one *one, int fd)
{
	struct stat st;

	one->stream = one->there = true;
	if (fstat(fd, &st) != 0)
		return 0;
	one->dev = st.st_dev;
	one->ino = st.st_ino;
	return tells(st.st_mode);
}

/** @param one  what is known of it */
static void add_one(struct mf_files *f, struct mf_files_one one, const char *what, const char *path, int fd)
{
	struct mf_files_one *more;
	int rc = -ENOMEM;

	one.what = strdup(what);
	one.path = strdup(path);
	if (one.what != NULL && one.path != NULL)
		rc = fd >= 0 ? identify_stream(&one, fd) : identify(&one);
	more = rc == 1 ? realloc(f->one, (f->n + 1) * sizeof(*more)) : NULL;
	if (more != NULL) {
		f->one = more;
		f->one[f->n++] = one;
		return;
	}
	f->failed |= rc != 0;
	forget(&one);
}

static void add(struct mf_files *f, bool written, const char *what, const char *path, int fd)
{
	add_one(f, (struct mf_files_one){.written = written}, what, path, fd);
}

void mf_files_read(struct mf_files *f, const char *what, const char *path)
{
	if (path != NULL)
		add(f, false, what, path, -1);
}

void mf_files_input(struct mf_files *f, const char *what, const char *path)
{
	if (path != NULL)
		add(f, false, what, path, strcmp(path, "-") == 0 ? STDIN_FILENO : -1);
}

void mf_files_written(struct mf_files *f, const char *what, const char *path)
{
	if (path != NULL)
		add(f, true, what, path, mf_output_descriptor(path));
}

void mf_files_regular(struct mf_files *f, const char *what, const char *path)
{
	add_one(f, (struct mf_files_one){.written = true, .type = S_IFREG}, what, path, -1);
}

void mf_files_folder(struct mf_files *f, const char *what, const char *path)
{
	add_one(f, (struct mf_files_one){.written = true, .type = S_IFDIR}, what, path, -1);
}

void mf_files_streams(struct mf_files *f)
{
	add(f, true, "standard", "output", STDOUT_FILENO);
	add(f, true, "standard", "error", STDERR_FILENO);
}

static bool same(const struct mf_files_one *a, const struct mf_files_one *b)
{
	if (a->there != b->there || a->dev != b->dev || a->ino != b->ino)
		return false;
	return a->there || strcmp(a->name, b->name) == 0;
}

/** Streams that are written may be one; what is only read may be, too. */
static bool clash(const struct mf_files_one *a, const struct mf_files_one *b)
{
	bool both = a->written && b->written;

	return (a->written || b->written) && !(both && a->stream && b->stream) && same(a, b);
}

static int check_type(const struct mf_files_one *one, char *err, size_t errlen)
{
	if (!one->other)
		return 0;
	snprintf(err, errlen, "%s %s: is no %s", one->what, one->path,
		 one->type == S_IFDIR ? "folder" : "regular file");
	return -EINVAL;
}

static int check_pair(const struct mf_files_one *a, const struct mf_files_one *b, char *err, size_t errlen)
{
	const struct mf_files_one *w = b->written ? b : a, *o = b->written ? a : b;

	if (!clash(a, b))
		return 0;
	snprintf(err, errlen, "%s %s: is the same file as %s %s, which is %s", w->what, w->path, o->what,
		 o->path, o->written ? "written, too" : "read");
	return -EINVAL;
}

int mf_files_check(struct mf_files *f, char *err, size_t errlen)
{
	int rc = f->failed ? -ENOMEM : 0;

	if (rc != 0)
		snprintf(err, errlen, "no memory for the names of files");
	for (size_t i = 0; i < f->n && rc == 0; i++) {
		rc = check_type(&f->one[i], err, errlen);
		for (size_t k = 0; k < i && rc == 0; k++)
			rc = check_pair(&f->one[k], &f->one[i], err, errlen);
	}
	for (size_t i = 0; i < f->n; i++)
		forget(&f->one[i]);
	free(f->one);
	*f = (struct mf_files){.n = 0};
	return rc;
}
