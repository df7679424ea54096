/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is written. A regular one is written beside its place, under a name of its own, and put there
 * when it is whole: until then, and where that fails, what was there before stays. Symbolic links are
 * followed; an old file's rights are kept. What is no regular file (a pipe, a terminal, /dev/null), what
 * another file system is mounted on, and what stands in a folder that takes no new file is written where it
 * is. "-", /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are the descriptors of this process, and
 * what is written goes on from where they are.
 */
#ifndef MF_OUTPUT_H
#define MF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** Zeroed: none. While it is open it must not be moved. */
struct mf_output {
	FILE *file; /**< to write to; who has closed it sets it to NULL */
	bool open;
	/* The rest is output.c's. */
	int fd;
	char *target, *beside; /* NULL: written where it is */
	bool regular, replaces;
	pid_t owner;
	struct mf_output *next;
};

/** Opens it; nothing of an old file is changed yet. @return 0, or -errno */
int mf_output_open(struct mf_output *o, const char *path);

/**
 * Closes it, and puts it in its place if all was written.
 * @param o   of one that is not open nothing is done
 * @param rc  0: it is whole; otherwise what it came to (-errno): it is given up, and the old file stays
 * @return rc, or if that is 0 the first -errno of writing and closing
 */
int mf_output_close(struct mf_output *o, int rc);

/** The descriptor of this process that a path names. @return it, or -1: it names none */
int mf_output_descriptor(const char *path);

/**
 * Removes what this process has written beside places, since it is to end at once. May be called by the
 * handler of a signal.
 */
void mf_output_give_up_all(void);

#endif
