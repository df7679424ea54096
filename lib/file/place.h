/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a path leads to. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct place {
	char *path; /**< links followed as far as they lead; of a file that is not there, too */
	const char *name; /**< its last part */
	char *folder; /**< what is before that */
	bool there;
	struct stat st; /**< if it is there */
};

/** @return 0 or -errno; place_fini() follows in any case */
int place_find(struct place *p, const char *path);
void place_fini(struct place *p);

#endif
