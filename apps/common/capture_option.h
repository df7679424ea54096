/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --capture of the command line: FILE[,link=LINK[+LINK...]][,dir=up|down]; a link is NODE, A:B or
 * A:B:NUMBER.
 */
#ifndef CAPTURE_OPTION_H
#define CAPTURE_OPTION_H

#include <stddef.h>

#include "capture/mf_capture.h"
#include "file/mf_files.h"

/**
 * Reads an argument of --capture.
 * @param err  on failure one line
 * @return 0, or -EINVAL
 */
int capture_option_read(const struct mf_config *config, const char *arg, struct mf_capture_request *out,
			char *err, size_t errlen);

/** Adds the files of all --capture. */
void capture_option_files(const char *const *args, unsigned int n, struct mf_files *files);

/**
 * Opens the files of all --capture.
 * @param out  NULL where there are none
 * @return 0, or -EINVAL
 */
int capture_option_open(const struct mf_config *config, const char *const *args, unsigned int n,
			struct mf_captures **out, char *err, size_t errlen);

#endif
