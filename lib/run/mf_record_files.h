/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files a record is made of. */
#ifndef MF_RECORD_FILES_H
#define MF_RECORD_FILES_H

#include <stdbool.h>

struct mf_config;
struct mf_files;

/** Adds the files of a record of all roles in a folder, to be written or read. @param dir  NULL: none */
void mf_record_files(const struct mf_config *config, const char *dir, bool written, struct mf_files *files);

#endif
