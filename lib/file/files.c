/* SPDX-License-Identifier: BSD-3-Clause */
#include "mf_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mf_output.h"
#include "place.h"

struct mf_files_one {
	char *what, *path;
	bool written, stream;
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
		rc = tells(p.st.st_mode);
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

static void add(struct mf_files *f, bool written, const char *what, const char *path, int fd)
{
	struct mf_files_one one = {.what = strdup(what), .path = strdup(path), .written = written}, *more;
	int rc = -ENOMEM;

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

void mf_files_read(struct mf_files *f, const char *what, const char *path)
{
	if (path != NULL)
		add(f, false, what, path, -1);
}

void mf_files_written(struct mf_files *f, const char *what, const char *path)
{
	if (path != NULL)
		add(f, true, what, path, mf_output_descriptor(path));
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

/** Streams may be one; what is only read may be, too. */
static bool clash(const struct mf_files_one *a, const struct mf_files_one *b)
{
	return (a->written || b->written) && !(a->stream && b->stream) && same(a, b);
}

int mf_files_check(struct mf_files *f, char *err, size_t errlen)
{
	int rc = f->failed ? -ENOMEM : 0;

	if (rc != 0)
		snprintf(err, errlen, "no memory for the names of files");
	for (size_t i = 0; i < f->n && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++) {
			const struct mf_files_one *a = &f->one[k], *b = &f->one[i];
			const struct mf_files_one *w = b->written ? b : a, *o = b->written ? a : b;

			if (!clash(a, b))
				continue;
			rc = -EINVAL;
			snprintf(err, errlen, "%s %s: is the same file as %s %s, which is %s", w->what,
				 w->path, o->what, o->path, o->written ? "written, too" : "read");
		}
	for (size_t i = 0; i < f->n; i++)
		forget(&f->one[i]);
	free(f->one);
	*f = (struct mf_files){.n = 0};
	return rc;
}
