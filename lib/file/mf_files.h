/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a program, so that it does not write what it reads, or twice to one file. They are told apart
 * by device and inode; those that are not there yet by their folder and name. Pipes, terminals and devices
 * may be shared.
 */
#ifndef MF_FILES_H
#define MF_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct mf_files_one;
/** Zeroed: none. */
struct mf_files {
	struct mf_files_one *one;
	size_t n;
	bool failed; /**< there was no memory for one of them */
};

/**
 * @param what  what the path stands behind on the command line: "--json", "FABRIC"
 * @param path  NULL: there is none, and nothing is done
 */
void mf_files_read(struct mf_files *f, const char *what, const char *path);
/** The same where "-" is standard input. */
void mf_files_input(struct mf_files *f, const char *what, const char *path);
void mf_files_written(struct mf_files *f, const char *what, const char *path);
/** A file that is written to be read again: if something else is there, that is refused. */
void mf_files_regular(struct mf_files *f, const char *what, const char *path);
/** A folder that is written into; the same. */
void mf_files_folder(struct mf_files *f, const char *what, const char *path);
/** Standard output and error, where they are files. */
void mf_files_streams(struct mf_files *f);

/**
 * Compares all, and forgets them.
 * @param err  on failure one line that names both
 * @return 0, -EINVAL or -ENOMEM
 */
int mf_files_check(struct mf_files *f, char *err, size_t errlen);

#endif
